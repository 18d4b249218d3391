"""What an update policy is: operations and memories in, decisions out.

A policy is pure: it neither reads nor writes a store, keeps no state between calls and
never waits. What it needs of the store is handed in: the memories that the extractor
saw, and a function that finds others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.types import MemoryEntry, Operation

Action = Literal["add", "update", "drop", "pass"]

Search = Callable[[str], Sequence[MemoryEntry]]
"""Finds memories like a text, best first, with `score` by the reference formula."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy decided about one operation, and why.

    Attributes:
        operation: What will be done. `None` if nothing.
        given: What the extractor wanted.
        action: `"add"`, `"update"`, `"drop"`, or `"pass"` for what the policy does
            not judge.
        reason: Why, in a few words that a person understands.
        candidate: The memory that the operation was compared with, if any.
        measures: The figures that decided, by name, for example `{"jaccard": 0.8}`.
    """

    operation: Operation | None
    given: Operation
    action: Action
    reason: str
    candidate: MemoryEntry | None = None
    measures: Mapping[str, float] = field(default_factory=dict)


class Decisions(list[Decision]):
    """The decisions about one batch: a list that shows itself as a table."""

    @property
    def operations(self) -> list[Operation]:
        """What remains to be done, in order."""
        return [d.operation for d in self if d.operation is not None]

    def __repr__(self) -> str:
        """Return two lines per decision: what was wanted, and what became of it."""
        if not self:
            return "Decisions([])"
        noun = "decision" if len(self) == 1 else "decisions"
        lines = [f"Decisions({len(self)} {noun})"]
        for decision in self:
            lines.append(f"  {_wanted(decision.given)}")
            measures = _measured(decision)
            became = f"    → {_became(decision)}: {decision.reason}"
            lines.append(f"{became}  ({measures})" if measures else became)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html  # noqa: PLC0415 - only for notebooks

        rows = [
            (
                _wanted(decision.given),
                _became(decision),
                decision.reason,
                decision.candidate.memory if decision.candidate else "",
                _measured(decision),
            )
            for decision in self
        ]
        heads = ("wanted", "decided", "why", "compared with memory", "measures")
        left = 'style="text-align:left"'
        head = "".join(f"<th {left}>{name}</th>" for name in heads)
        body = "".join(
            "<tr>"
            + "".join(f"<td {left}>{html.escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in rows
        )
        label = "1 decision" if len(self) == 1 else f"{len(self)} decisions"
        return (
            f"<table><caption>{label}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


_SHOWN_ID: Final = 8


def _wanted(operation: Operation) -> str:
    named = f" {operation.memory_id[:_SHOWN_ID]}" if operation.memory_id else ""
    text = f": {operation.memory}" if operation.memory else ""
    return f"{operation.type}{named}{text}"


def _became(decision: Decision) -> str:
    operation = decision.operation
    if operation is None:
        return "drop"
    if decision.action == "pass":
        return "as it is"
    if operation.type == "update" and operation.memory_id:
        return f"update {operation.memory_id[:_SHOWN_ID]}"
    if operation.supersedes:
        olds = ", ".join(old[:_SHOWN_ID] for old in operation.supersedes)
        return f"{operation.type}, supersedes {olds}"
    return operation.type


def _measured(decision: Decision) -> str:
    pairs = decision.measures.items()
    return ", ".join(f"{name} {value:.2f}" for name, value in pairs)


@runtime_checkable
class Policy(Protocol):
    """Decides what an extractor may write."""

    @property
    def name(self) -> str:
        """A stable name, for logs and status."""
        ...

    @property
    def instructions(self) -> str:
        """Text that joins the extraction prompt, `""` for none."""
        ...

    @property
    def operations(self) -> frozenset[str]:
        """The types of operation that it lets through at all."""
        ...

    def decide(
        self,
        operations: Sequence[Operation | None],
        existing: Sequence[MemoryEntry],
        *,
        search: Search | None = None,
        enabled: frozenset[str] | None = None,
    ) -> list[Decision]:
        """Judge the operations of one batch, in order.

        Args:
            operations: What the extractor wants. `None` members are ignored.
            existing: The memories that the extractor was shown.
            search: Finds memories that it was not shown. Without it, only `existing`
                are looked at.
            enabled: Names of the memory tools that may be used (`"memory_add"`, …).
                `None` = all.
        """
        ...

    def reconcile(
        self,
        operations: Sequence[Operation | None],
        existing: Sequence[MemoryEntry],
        *,
        search: Search | None = None,
        enabled: frozenset[str] | None = None,
    ) -> list[Operation]:
        """Return what remains of `decide`: the operations to do, in order."""
        ...


def as_policy(given: object, default: Callable[[], Policy]) -> Policy:
    """Return what was given if it is a policy, the default if it is `None`.

    Raises:
        InvalidInput: If it is something else.
    """
    if given is None:
        return default()
    if not isinstance(given, Policy):
        msg = (
            f"policy must be MergeSimilar(), PreserveHistory(), AppendOnly() or an "
            f"object with the same attributes, not {given!r}."
        )
        raise InvalidInput(msg)
    return given
