"""The extraction subgraph: recall → extract → assistant episodes → reconcile → write.

A plain LangGraph graph: it can be run, drawn and streamed by itself, and nodes can be
added or replaced before it is compiled. The worker runs it for every turn.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict, runtime_checkable

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime

from langchain_agentmemory.errors import (
    BackendUnavailable,
    ExtractionFailed,
    InvalidInput,
)
from langchain_agentmemory.extraction.applying import Applier, Outcome
from langchain_agentmemory.extraction.base import Extractor
from langchain_agentmemory.extraction.learner import Extracted, Extraction
from langchain_agentmemory.extraction.messages import existing_query, role_of
from langchain_agentmemory.extraction.operations import ForgetScope, Operations, Skipped
from langchain_agentmemory.extraction.retries import ExtractionStopped
from langchain_agentmemory.lazy import lazy_property
from langchain_agentmemory.policies.base import Decision
from langchain_agentmemory.search.lexical import reference_scores
from langchain_agentmemory.service.plans import run as run_plan
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import (
    MemoryEntry,
    Operation,
    SearchOptions,
    Source,
    UserKey,
)

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from langchain_agentmemory.service.service import Service

RECALLED: Final = 20
"""Existing memories that an extractor is shown: all, or those that matter most."""

COMPARED: Final = 1_000
"""Newest memories among which a policy looks for similar ones."""

COUNTED: Final = 10_000
"""Users of whom it is remembered how many memories they have, the latest ones."""

NODES: Final = ("recall", "extract", "assistant_episodes", "reconcile", "write")
"""The nodes, in order."""


class ExtractionState(TypedDict, total=False):
    """What travels through the subgraph.

    Attributes:
        user: Whose conversation it is: a `UserKey`, or an id. Required.
        messages: What was said since the last extraction. Required.
        thread_id: The conversation.
        position: The place of the first message in it.
        said_at: When it was said; now if missing.
        existing: Memories that may matter.
        operations: What the extractor wants done.
        scope: What of the conversation itself the user wants forgotten.
        skipped: Calls of the model that were not followed.
        decisions: What the policy made of the operations.
        outcomes: What became of them in the store.
        model_calls: How often a model was asked.
        input_tokens: Tokens that it read.
        output_tokens: Tokens that it wrote.
    """

    user: UserKey | str | int
    messages: list[BaseMessage]
    thread_id: str | None
    position: int | None
    said_at: datetime
    existing: list[MemoryEntry]
    operations: list[Operation]
    scope: ForgetScope
    skipped: list[Skipped]
    decisions: list[Decision]
    outcomes: list[Outcome]
    model_calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ExtractionRuntime:
    """The context in which the worker runs the subgraph.

    Attributes:
        write: Does operations under the worker's claim.
    """

    write: Callable[[Sequence[Operation]], list[Outcome]]


@runtime_checkable
class TwoStages(Protocol):
    """An extractor that looks at user and assistant separately."""

    def first_stage(self, *args: Any, **kwargs: Any) -> Operations:
        """Return what the user's words lead to."""
        ...

    async def afirst_stage(self, *args: Any, **kwargs: Any) -> Operations:
        """Async twin of `first_stage`."""
        ...

    def second_stage(self, *args: Any, **kwargs: Any) -> Operations:
        """Return what the assistant's results lead to."""
        ...

    async def asecond_stage(self, *args: Any, **kwargs: Any) -> Operations:
        """Async twin of `second_stage`."""
        ...


ExtractionGraph = StateGraph[ExtractionState, ExtractionRuntime, Any, Any]

ChangeGraph = Callable[
    [ExtractionGraph], "ExtractionGraph | CompiledStateGraph[Any, Any, Any, Any]"
]


def insert_node(
    graph: ExtractionGraph, name: str, node: Any, *, before: str
) -> ExtractionGraph:
    """Put a node into the subgraph, in front of another one.

    Args:
        graph: The subgraph before it is compiled.
        name: The new node's name.
        node: A function of the state that returns an update, or a runnable.
        before: The node that it goes in front of: one of `NODES`, or one that was
            inserted.

    Returns:
        The same graph.

    Raises:
        InvalidInput: If there is no such node.
    """
    sources = [start for start, end in graph.edges if end == before]
    if before not in graph.nodes or not sources:
        msg = f"There is no node {before!r}: use one of {', '.join(graph.nodes)}."
        raise InvalidInput(msg)
    graph.add_node(name, node)
    for source in sources:
        graph.edges.discard((source, before))
        graph.add_edge(source, name)
    graph.add_edge(name, before)
    return graph


class Subgraph:
    """Builds the subgraph for one store, and runs it for the worker.

    Args:
        service: The store's service.
        extractor: What extracts.
        enabled: Returns the names of the tools that may be used, `None` = all.
        change: Changes the built-in graph.
    """

    def __init__(
        self,
        service: "Service",
        extractor: Extractor | None,
        enabled: Callable[[], frozenset[str] | None],
        change: "ChangeGraph | None" = None,
    ) -> None:
        """Remember the parts; the graph is built when it is needed."""
        self._service = service
        self._extractor = extractor
        self._enabled = enabled
        self._change = change
        self.counts: dict[UserKey, int] = {}
        """How many memories those users have for whom something was written."""

    @lazy_property
    def compiled(self) -> "CompiledStateGraph[Any, Any, Any, Any]":
        """The graph, changed as was wished.

        Raises:
            ExtractionFailed: If there is no extractor.
            InvalidInput: If the change returned no graph.
        """
        graph = self.build()
        changed = graph if self._change is None else self._change(graph)
        if isinstance(changed, StateGraph):
            return changed.compile()
        if not hasattr(changed, "invoke"):
            msg = (
                f"extraction_graph must return a graph, not "
                f"{type(changed).__name__}: return the one it was given."
            )
            raise InvalidInput(msg)
        return changed

    def build(self) -> ExtractionGraph:
        """Return the built-in graph before it is compiled.

        Raises:
            ExtractionFailed: If there is no extractor.
        """
        if self._extractor is None:
            msg = "There is no extractor: open the store with extractor=…."
            raise ExtractionFailed(msg)
        graph = StateGraph(ExtractionState, context_schema=ExtractionRuntime)
        graph.add_node("recall", self.recall)
        graph.add_node("extract", RunnableLambda(self.extract_node, self.aextract_node))
        graph.add_node(
            "assistant_episodes", RunnableLambda(self.episodes, self.aepisodes)
        )
        graph.add_node("reconcile", self.reconcile)
        graph.add_node("write", self.write)
        for before, after in zip((START, *NODES), (*NODES, END), strict=True):
            graph.add_edge(before, after)
        return graph

    def extract(self, extraction: Extraction) -> Extracted:
        """Run the subgraph for a turn.

        Raises:
            ExtractionStopped: If the graph waits for a human, whom nobody asks here.
        """
        state: ExtractionState = {
            "user": extraction.user,
            "messages": extraction.messages,
            "thread_id": extraction.thread_id,
            "position": extraction.position,
            "said_at": from_us(extraction.said_at),
        }
        config: RunnableConfig = {
            "tags": ["nostream"],
            "run_name": "agentmemory_extraction",
            # For graphs that were compiled with a checkpointer.
            "configurable": {"thread_id": f"agentmemory-{uuid.uuid4().hex}"},
        }
        context = ExtractionRuntime(extraction.write)
        if _needs_a_loop(self.compiled):
            result = asyncio.run(self.compiled.ainvoke(state, config, context=context))
        else:
            result = self.compiled.invoke(state, config, context=context)
        if result.get("__interrupt__"):
            msg = (
                "The extraction graph stopped for an answer that nobody gives in the "
                "background: run it yourself with a checkpointer, or approve without "
                "an interrupt."
            )
            raise ExtractionStopped(msg)
        return Extracted(
            result.get("model_calls", 0),
            result.get("input_tokens", 0),
            result.get("output_tokens", 0),
        )

    # -- nodes -----------------------------------------------------------------------

    def recall(self, state: ExtractionState) -> ExtractionState:
        """Find the memories that matter for what was said.

        Up to `RECALLED` memories all are shown. If the search fails, the newest are;
        if they cannot be read either, nothing is extracted: without them a model would
        write down what is known already.

        Raises:
            BackendUnavailable: If the store cannot be read.
        """
        user = self._user(state)
        newest = list(self._service.read(user, RECALLED + 1))
        if len(newest) <= RECALLED:
            return {"existing": newest}
        extractor = self._required()
        query = existing_query(state["messages"], extractor.policy)
        if not query.strip():
            return {"existing": []}
        options = SearchOptions(limit=RECALLED, rerank=False)
        try:
            search = self._service.search(user, query, options)
            found = run_plan(search, self._service.answer)
        except BackendUnavailable:
            found = self._service.read(user, RECALLED)
        return {"existing": list(found)}

    def extract_node(
        self, state: ExtractionState, config: RunnableConfig
    ) -> ExtractionState:
        """Ask the extractor what to do."""
        extractor = self._required()
        ask = (
            extractor.first_stage
            if isinstance(extractor, TwoStages)
            else extractor.extract
        )
        found = ask(
            state["messages"], state.get("existing", ()), **self._told(state, config)
        )
        return self._found(state, found)

    async def aextract_node(
        self, state: ExtractionState, config: RunnableConfig
    ) -> ExtractionState:
        """Async twin of `extract_node`."""
        extractor = self._required()
        ask = (
            extractor.afirst_stage
            if isinstance(extractor, TwoStages)
            else extractor.aextract
        )
        found = await ask(
            state["messages"], state.get("existing", ()), **self._told(state, config)
        )
        return self._found(state, found)

    def episodes(
        self, state: ExtractionState, config: RunnableConfig
    ) -> ExtractionState:
        """Ask the extractor what the assistant said that is worth keeping."""
        extractor = self._required()
        if not isinstance(extractor, TwoStages):
            return {}
        first = _first(state)
        found = extractor.second_stage(
            state["messages"], first, **self._told(state, config)
        )
        return self._found(state, found, before=first)

    async def aepisodes(
        self, state: ExtractionState, config: RunnableConfig
    ) -> ExtractionState:
        """Async twin of `episodes`."""
        extractor = self._required()
        if not isinstance(extractor, TwoStages):
            return {}
        first = _first(state)
        found = await extractor.asecond_stage(
            state["messages"], first, **self._told(state, config)
        )
        return self._found(state, found, before=first)

    def reconcile(self, state: ExtractionState) -> ExtractionState:
        """Let the policy decide what may be written."""
        decisions = self._required().policy.decide(
            state.get("operations", []),
            state.get("existing", []),
            search=partial(self._similar, self._user(state)),
            enabled=self._enabled(),
        )
        return {"decisions": decisions}

    def write(self, state: ExtractionState) -> ExtractionState:
        """Do what the policy let through."""
        user = self._user(state)
        operations = [
            decision.operation
            for decision in state.get("decisions", [])
            if decision.operation is not None
        ]
        runtime: Runtime[ExtractionRuntime | None] = get_runtime()
        if runtime.context is not None:
            outcomes = runtime.context.write(operations)
        else:
            applier = Applier(self._service, user, enabled=self._enabled())
            outcomes = [applier.apply(operation) for operation in operations]
        head = self._service.verbs.head(user)
        self._count(user, head.active if head else 0)
        return {"outcomes": outcomes}

    # -- inside ----------------------------------------------------------------------

    def _count(self, user: UserKey, memories: int) -> None:
        self.counts.pop(user, None)
        self.counts[user] = memories
        while len(self.counts) > COUNTED:
            self.counts.pop(next(iter(self.counts), user), None)

    def _user(self, state: ExtractionState) -> UserKey:
        given: object = state["user"]
        if isinstance(given, UserKey):
            return given
        return UserKey(self._service.settings.app_name, given)  # type: ignore[arg-type]  # checked there

    def _required(self) -> Extractor:
        if self._extractor is None:
            msg = "There is no extractor: open the store with extractor=…."
            raise ExtractionFailed(msg)
        return self._extractor

    def _told(self, state: ExtractionState, config: RunnableConfig) -> dict[str, Any]:
        return {
            "enabled": self._enabled(),
            "said_at": state.get("said_at"),
            "timezone": self._service.settings.timezone,
            "config": config,
        }

    def _found(
        self,
        state: ExtractionState,
        found: Operations,
        before: Operations | None = None,
    ) -> ExtractionState:
        source = _source(state)
        sourced = [
            operation
            if operation.source is not None and operation.source.thread_id is not None
            else replace(operation, source=_completed(operation.source, source))
            for operation in found
        ]
        usage: Mapping[str, Any] = found.usage or {}
        return {
            "operations": [*(before or ()), *sourced],
            "scope": found.scope if before is None else before.scope,
            "skipped": [*state.get("skipped", ()), *found.skipped],
            "model_calls": state.get("model_calls", 0) + found.model_calls,
            "input_tokens": state.get("input_tokens", 0) + usage.get("input_tokens", 0),
            "output_tokens": state.get("output_tokens", 0)
            + usage.get("output_tokens", 0),
        }

    def _similar(self, user: UserKey, query: str) -> list[MemoryEntry]:
        """Return memories like a text, best first, scored by the reference formula."""
        entries = list(self._service.read(user, COMPARED))
        documents = [(entry.memory, " ".join(entry.topics)) for entry in entries]
        scores = reference_scores(query, documents)
        ranked = sorted(zip(scores, entries, strict=True), key=lambda pair: -pair[0])
        return [entry.with_score(score) for score, entry in ranked[:10] if score > 0]


def _needs_a_loop(graph: "CompiledStateGraph[Any, Any, Any, Any]") -> bool:
    """Tell whether a node of a graph can only be run in an event loop."""
    bound = [node.bound for node in getattr(graph, "nodes", {}).values()]
    return any(
        getattr(node, "afunc", None) is not None and getattr(node, "func", 0) is None
        for node in bound
    )


def _first(state: ExtractionState) -> Operations:
    return Operations(state.get("operations", ()), scope=state.get("scope"))


def _source(state: ExtractionState) -> Source:
    ids = tuple(
        message.id
        for message in state["messages"]
        if message.id is not None and role_of(message) == "user"
    )
    return Source(
        state.get("thread_id"), ids, state.get("position"), "user", state.get("said_at")
    )


def _completed(given: Source | None, turn: Source) -> Source:
    """Return a source with what is known of the turn where it says nothing itself."""
    if given is None:
        return turn
    return Source(
        turn.thread_id,
        given.message_ids or turn.message_ids,
        given.position if given.position is not None else turn.position,
        given.role or turn.role,
        given.said_at or turn.said_at,
    )
