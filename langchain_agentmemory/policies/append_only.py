"""`AppendOnly`: nothing that was stored is ever touched."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_agentmemory.policies.base import Decision, Decisions, Search
from langchain_agentmemory.policies.content import said
from langchain_agentmemory.policies.outcomes import repetition
from langchain_agentmemory.policies.rewriting import as_add
from langchain_agentmemory.policies.standing import Standing, StandingMemories
from langchain_agentmemory.types import MemoryEntry, Operation


@dataclass(frozen=True)
class AppendOnly:
    """Only adds. For memories that must never be lost, at the price of many of them.

    An update becomes an add that `supersedes` the memory it named: both stay, and which
    one holds is known. Exact duplicates are dropped, deletions are not carried out.

    Example:
        ```python
        from langchain_agentmemory import AppendOnly, Operation

        wanted = [Operation("add", "Sings alto"), Operation("delete", memory_id="m1")]
        print(AppendOnly().decide(wanted, existing=[]))
        ```
    """

    name: str = "append_only"
    instructions: str = (
        "Memories are only ever added here. State what is new or different as a memory "
        "of its own and leave the stored ones alone: no update, no deletion, no "
        "clearing. When something is stored already, word for word, do nothing."
    )
    operations: frozenset[str] = frozenset({"add"})

    def decide(
        self,
        operations: Sequence[Operation | None],
        existing: Sequence[MemoryEntry],
        *,
        search: Search | None = None,  # noqa: ARG002 - the protocol's; nothing is searched
        enabled: frozenset[str] | None = None,  # noqa: ARG002 - adding is all there is
    ) -> Decisions:
        """Judge the operations of one batch, in order. See `Policy.decide`."""
        memories = StandingMemories(existing)
        wanted = (one for one in operations if one is not None)
        return Decisions([self._judge(one, memories) for one in wanted])

    def reconcile(
        self,
        operations: Sequence[Operation | None],
        existing: Sequence[MemoryEntry],
        *,
        search: Search | None = None,
        enabled: frozenset[str] | None = None,
    ) -> list[Operation]:
        """Return what remains of `decide`."""
        found = self.decide(operations, existing, search=search, enabled=enabled)
        return found.operations

    def _judge(self, given: Operation, memories: StandingMemories) -> Decision:
        if given.type == "add":
            return self._add(given, given, memories, None)
        if given.type != "update":
            reason = f"only additions are allowed, no {given.type}"
            return Decision(None, given, "drop", reason)
        target = memories.find(given.memory_id)
        if target is None:
            if given.memory is None:
                reason = "it names no known memory and has no text to add"
                return Decision(None, given, "drop", reason)
            return self._add(given, as_add(given), memories, None)
        return self._add(
            given,
            as_add(given, target, supersedes=[memories.head(target).id]),
            memories,
            target,
        )

    def _add(
        self,
        given: Operation,
        operation: Operation,
        memories: StandingMemories,
        target: Standing | None,
    ) -> Decision:
        content = said(given, target.content if target else None)
        repeated = memories.repeated(content)
        if repeated is not None:
            return repetition(given, repeated)
        candidate = target.shown if target else None
        memories.add(said(operation), operation.supersedes)
        reason = "not known yet" if target is None else _NEWER
        if target is None and given.type == "update":
            reason = "names no known memory, so it is added"
        return Decision(operation, given, "add", reason, candidate)


_NEWER = "stands beside the memory that it was to change, and holds instead of it"
