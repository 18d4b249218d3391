"""How `chat`, `demo` and `worker` learn by themselves, and what they tell of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from queue import Empty, SimpleQueue
from typing import Any, Final

from langgraph.graph import END

from langchain_agentmemory.cli.opening import ChosenModel
from langchain_agentmemory.cli.options import PolicyName
from langchain_agentmemory.cli.screen import SHORT_ID, shortened
from langchain_agentmemory.extraction.applying import Outcome
from langchain_agentmemory.extraction.base import Extractor
from langchain_agentmemory.extraction.extractor import MemoryExtractor
from langchain_agentmemory.extraction.graph import (
    ChangeGraph,
    ExtractionGraph,
    ExtractionState,
)
from langchain_agentmemory.extraction.messages import Role
from langchain_agentmemory.extraction.verbatim import VerbatimExtractor
from langchain_agentmemory.extraction.worth import worth_keeping
from langchain_agentmemory.offline.reading import read_message
from langchain_agentmemory.policies.append_only import AppendOnly
from langchain_agentmemory.policies.base import Policy
from langchain_agentmemory.policies.merge_similar import MergeSimilar
from langchain_agentmemory.policies.preserve_history import PreserveHistory
from langchain_agentmemory.types import UserKey
from langchain_agentmemory.users import as_user_key

_POLICIES: Final[dict[PolicyName, Callable[[], Policy]]] = {
    PolicyName.MERGE_SIMILAR: MergeSimilar,
    PolicyName.PRESERVE_HISTORY: PreserveHistory,
    PolicyName.APPEND_ONLY: AppendOnly,
}

_NOT_WRITTEN: Final = frozenset({"greet", "other", "ask"})
"""Acts of which the offline model writes nothing; a question may tell something."""

_DONE: Final = {"add": "learnt", "update": "updated"}

Tell = Callable[[UserKey, str], None]
"""Is given a user and a line about what was learnt from them. From any thread."""


def is_left_over(sentence: str, role: Role = "user") -> bool:
    """Tell whether a sentence is worth keeping and no rule keeps it.

    The offline model keeps, corrects and deletes through its tools what its rules
    understand. Storing that once more would double it, keep what was corrected, and
    bring back what was forgotten.
    """
    # Which rule applies does not depend on the day.
    acts = read_message(sentence, date.min)
    unwritten = all(act.type in _NOT_WRITTEN for act in acts)
    return unwritten and worth_keeping(sentence, role)


@dataclass(slots=True)
class News:
    """What was learnt in the background, until somebody asks."""

    _lines: SimpleQueue[tuple[UserKey, str]] = field(default_factory=SimpleQueue)

    def tell(self, user: UserKey, line: str) -> None:
        """Add a line."""
        self._lines.put((user, line))

    def of(self, user: UserKey) -> list[str]:
        """Return what is new about a user; what concerns others is dropped."""
        found: list[str] = []
        while True:
            try:
                owner, line = self._lines.get_nowait()
            except Empty:
                return found
            if owner == user:
                found.append(line)


@dataclass(frozen=True, slots=True)
class Learning:
    """How a chat learns.

    Attributes:
        extractor: What learns.
        label: What it is, for the banner.
        by_rules: It stands beside the offline model, which writes most itself.
        news: What was learnt.
    """

    extractor: Extractor
    label: str
    by_rules: bool
    news: News = field(default_factory=News)

    def options(self) -> dict[str, Any]:
        """Return what the constructor of `MemoryStore` is to be given."""
        options: dict[str, Any] = {
            "extractor": self.extractor,
            "extraction_graph": telling(self.news.tell),
        }
        if self.by_rules:
            # Takes milliseconds. And what an application with a language model left in
            # the outbox of the same store is not worked off without one.
            options["extraction_mode"] = "inline"
            options["exposed_tools"] = ("memory_add", "memory_update", "memory_delete")
        return options


def chat_learning(
    chosen: ChosenModel, policy: PolicyName | None, *, assistant_episodes: bool
) -> Learning:
    """Return how a chat learns that a model answers.

    Args:
        chosen: The model that answers.
        policy: What may be written, `None` = what the extractor does by default.
        assistant_episodes: Also remember useful answers; a language model's only.
    """
    name = f", {policy.value}" if policy else ""
    if chosen.offline:
        leftovers = VerbatimExtractor(policy=policy_named(policy), keep=is_left_over)
        label = f"what the rules do not understand, word for word{name}"
        return Learning(leftovers, label, by_rules=True)
    extractor = MemoryExtractor(
        chosen.model,
        policy=policy_named(policy),
        assistant_episodes=assistant_episodes,
    )
    answers = ", useful answers too" if assistant_episodes else ""
    label = f"after each answer, with the same model{name}{answers}"
    return Learning(extractor, label, by_rules=False)


def policy_named(name: PolicyName | None) -> Policy | None:
    """Return the policy of a name."""
    return None if name is None else _POLICIES[name]()


def telling(tell: Tell) -> ChangeGraph:
    """Return a change of the extraction subgraph that tells what was written."""

    def report(state: ExtractionState) -> dict[str, Any]:
        for outcome in state.get("outcomes", []):
            if line := _line(outcome):
                tell(as_user_key(state["user"]), line)
        return {}

    def change(graph: ExtractionGraph) -> ExtractionGraph:
        graph.edges.discard(("write", END))
        graph.add_node("report", report)
        graph.add_edge("write", "report")
        graph.add_edge("report", END)
        return graph

    return change


def _line(outcome: Outcome) -> str:
    """Return what a person is told, `""` where nothing happened."""
    operation = outcome.operation
    if outcome.status == "refused":
        return f"! not learnt: {shortened(outcome.reason)}"
    if outcome.status == "skipped":
        return ""
    if operation.type == "clear":
        return "− everything forgotten"
    if operation.type == "delete":
        return f"− forgotten: {(operation.memory_id or '')[:SHORT_ID]}"
    text = outcome.entry.memory if outcome.entry else operation.memory or ""
    sign = "+" if operation.type == "add" else "~"
    return f"{sign} {_DONE[operation.type]}: “{shortened(text)}”"
