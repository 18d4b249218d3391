"""What an update policy is: operations and memories in, decisions out.

A policy is pure: it neither reads nor writes a store, keeps no state between calls and
never waits. What it needs of the store is handed in: the memories that the extractor
saw, and a function that finds others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

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
