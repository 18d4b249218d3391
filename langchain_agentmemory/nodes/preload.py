"""Preload: the right memories stand in the request before the model reads it."""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Final, NotRequired, get_args

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AnyMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.channels import UntrackedValue
from langgraph.graph import MessagesState
from langgraph.store.base import BaseStore

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.nodes.injection import InjectionMode, as_messages, inject
from langchain_agentmemory.nodes.loading import Gate, MemoryLoader, Run
from langchain_agentmemory.nodes.model_input import model_input
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.types import MemoryReader, User
from langchain_agentmemory.users import UserResolver, UserSource

_logger = logging.getLogger(__name__)

_SAVED: Final = (
    "The state key %r is saved in every checkpoint, and the user's memories with it: "
    "annotate it as %s: NotRequired[PreloadedBlock], or use PreloadState, both of "
    "langchain_agentmemory.nodes.preload."
)

HOOK_KEY = "llm_input_messages"
"""The `output_key` that makes `PreloadMemories` a `pre_model_hook`."""

PreloadedBlock = Annotated[str, UntrackedValue(str, guard=False)]
"""Type of a state key for the rendered block: readable by later nodes of the run, never
written into a checkpoint, and safe to be written by parallel branches."""


class PreloadState(MessagesState):
    """Messages, and the block that `PreloadMemories` leaves for later nodes."""

    memories: NotRequired[PreloadedBlock]


class PreloadMemories(Runnable[Any, dict[str, Any]]):
    """Load what is known about the user, as a graph node, a hook or around a model.

    With up to `limit` memories all of them are loaded, newest first; with more, those
    that fit the current user message best. A store that fails costs the turn its
    memories and leaves a warning in the log; it never fails the turn.

    * **A graph node.** Writes the rendered block to the state under `output_key`, or
      `""` when there is nothing to show. Use `PreloadState`, or annotate your own key
      as `PreloadedBlock`, so that the block never lands in a checkpoint. For that
      reason it is also gone after an interrupt: a node that runs after a resume finds
      no block. Use `.wrap(model)` in graphs that pause between loading and calling,
      or that stream their state to people who should not see the block.
    * **A `pre_model_hook`** of `create_react_agent`, with
      `output_key="llm_input_messages"`. Runs before every model call, after a resume
      too. The block is merged into the one system message, the agent's `prompt=`
      included, and is left out of what checkpointers save. After a pause exactly
      between hook and model (`interrupt_before=["agent"]`) it is therefore missing
      once.
    * **Around a model**, with `.wrap(model)`: injects at the call, so nothing is kept
      anywhere and nothing is lost at an interrupt.
    * **A plain function**: `.render(user, "a question")` returns the block.

    Example:
        ```python
        from langchain_core.messages import SystemMessage
        from langgraph.graph import START, StateGraph

        from langchain_agentmemory import MemoryStore, PreloadMemories
        from langchain_agentmemory.nodes.preload import PreloadState

        store = MemoryStore()


        def chat(state: PreloadState) -> dict:
            system = SystemMessage(state["memories"] or "You are a helpful assistant.")
            return {"messages": model.invoke([system, *state["messages"]])}


        graph = StateGraph(PreloadState)
        graph.add_node("load", PreloadMemories(store))
        graph.add_node("chat", chat)
        graph.add_edge(START, "load")
        graph.add_edge("load", "chat")
        ```
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        store: MemoryReader | BaseStore | None = None,
        *,
        limit: int = 10,
        mode: InjectionMode = "system",
        playbook: str | None = None,
        user: UserSource | UserResolver = None,
        when: Gate | None = None,
        output_key: str = "memories",
    ) -> None:
        """Choose what is loaded, and where it goes.

        Args:
            store: A `MemoryStore`, any other `MemoryReader`, or any LangGraph store.
                `None` is the store of the run.
            limit: 0 loads nothing, N at most N memories, a negative number all.
            mode: Where the hook and `.wrap(model)` put the block: `"system"` merges it
                into the system message, `"user"` puts it at the beginning of the
                current user message (the system prompt stays cacheable).
            playbook: What the model is told about its memories, in place of our words.
            user: Whose memories: a user, a function of the runtime that returns one, or
                a `UserResolver`.
                `None` finds the user of the run.
            when: `(state or messages, runtime) -> bool`; False skips this turn, and
                so does an error, which is logged.
            output_key: The state key to write. `"llm_input_messages"` makes this a
                `pre_model_hook`.

        Raises:
            InvalidInput: If an option has a value that is not listed here.
        """
        self.mode = checked_mode(mode)
        if not isinstance(output_key, str) or not output_key:
            msg = (
                f"output_key must be the name of a state key, not {quoted(output_key)}."
            )
            raise InvalidInput(msg)
        self.output_key = output_key
        self._warned = False
        self._loader = MemoryLoader(
            store, limit=limit, playbook=playbook, user=user, when=when
        )

    def invoke(
        self,
        input: Any,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Return the update of the state: `{output_key: block or messages}`.

        Args:
            input: The state, with `messages`, or a list of messages.
            config: The config of the run.

        Raises:
            UserNotResolved: If it is not known who the user is.
            InvalidInput: If there is no store.
        """
        run = Run.current(config)
        return self._update(input, self._loader.block(input, run), run)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Async twin of `invoke`."""
        run = Run.current(config)
        return self._update(input, await self._loader.ablock(input, run), run)

    def __call__(
        self, state: Any, config: RunnableConfig | None = None
    ) -> dict[str, Any]:
        """Do what `invoke` does, for nodes that call this one as a function."""
        return self.invoke(state, config)

    def render(self, user: User | None, messages_or_query: Any = "") -> str:
        """Return the block for a user and what they just said, `""` for no memories.

        The `when` gate is not asked: whoever calls this has decided.

        Args:
            user: Whose memories. `None` finds the user of the run.
            messages_or_query: A question, a list of messages, or a state.
        """
        run = Run.current()
        reader = self._loader.reader(run)
        key = self._loader.user(reader, run, user)
        return self._loader.render(reader, key, messages_or_query)

    async def arender(self, user: User | None, messages_or_query: Any = "") -> str:
        """Async twin of `render`."""
        run = Run.current()
        reader = self._loader.reader(run)
        key = self._loader.user(reader, run, user)
        return await self._loader.arender(reader, key, messages_or_query)

    def wrap(self, model: Runnable[LanguageModelInput, Any]) -> "PreloadedModel":
        """Return the model with memories: loaded and injected at every call.

        Bind tools or a structured output first, or call `bind_tools` on the result.

        Args:
            model: A chat model, or any runnable that takes messages.
        """
        return PreloadedModel(model, self)

    def injected(self, given: Any, run: Run) -> list[AnyMessage]:
        """Load, and return the messages that the model should read."""
        messages = as_messages(given)
        return inject(messages, self._loader.block(messages, run), self.mode)

    async def ainjected(self, given: Any, run: Run) -> list[AnyMessage]:
        """Async twin of `injected`."""
        messages = as_messages(given)
        block = await self._loader.ablock(messages, run)
        return inject(messages, block, self.mode)

    def _update(self, state: Any, block: str, run: Run) -> dict[str, Any]:
        if self.output_key == HOOK_KEY:
            return {HOOK_KEY: model_input(as_messages(state), block, self.mode)}
        if block and not self._warned and run.saves(self.output_key):
            self._warned = True
            _logger.warning(_SAVED, self.output_key, self.output_key)
        return {self.output_key: block}


class PreloadedModel(Runnable[LanguageModelInput, Any]):
    """A model that finds the user's memories in its request. See `PreloadMemories`."""

    def __init__(
        self, model: Runnable[LanguageModelInput, Any], preload: PreloadMemories
    ) -> None:
        """Put the two together. `PreloadMemories.wrap` is the way to make one."""
        self.model = model
        self._preload = preload

    def bind_tools(self, *args: Any, **kwargs: Any) -> "PreloadedModel":
        """Return the same around the model with these tools bound to it."""
        bound = self.model.bind_tools(*args, **kwargs)  # type: ignore[attr-defined]
        return PreloadedModel(bound, self._preload)

    def invoke(
        self,
        input: LanguageModelInput,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Call the model with memories."""
        messages = self._preload.injected(input, Run.current(config))
        return self.model.invoke(messages, config, **kwargs)

    async def ainvoke(
        self,
        input: LanguageModelInput,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Async twin of `invoke`."""
        messages = await self._preload.ainjected(input, Run.current(config))
        return await self.model.ainvoke(messages, config, **kwargs)

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Call the model with memories, and stream its answer."""
        messages = self._preload.injected(input, Run.current(config))
        yield from self.model.stream(messages, config, **kwargs)

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Async twin of `stream`."""
        messages = await self._preload.ainjected(input, Run.current(config))
        async for chunk in self.model.astream(messages, config, **kwargs):
            yield chunk


def checked_mode(mode: InjectionMode) -> InjectionMode:
    """Return the mode.

    Raises:
        InvalidInput: If it is none.
    """
    if mode not in get_args(InjectionMode):
        msg = f'mode must be "system" or "user", not {quoted(mode)}.'
        raise InvalidInput(msg)
    return mode
