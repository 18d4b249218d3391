"""`PreserveHistory`: a later statement does not erase an earlier one."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_agentmemory.policies.base import Decision, Decisions, Search
from langchain_agentmemory.policies.content import Content, said
from langchain_agentmemory.policies.difference import is_new_version, likeness
from langchain_agentmemory.policies.enrichment import Verdict, compare
from langchain_agentmemory.policies.outcomes import allows, passed, repetition
from langchain_agentmemory.policies.rewriting import as_add, as_update
from langchain_agentmemory.policies.standing import Standing, StandingMemories
from langchain_agentmemory.types import MemoryEntry, Operation


@dataclass(frozen=True, kw_only=True)
class PreserveHistory:
    """Lets an update through only where the old text loses nothing by it.

    What adds detail without contradiction goes into the memory that it completes. All
    else is added beside it. Where the extractor named a memory whose value has changed,
    the new one `supersedes` it: both stay, and which one holds is known.

    Args:
        old_coverage: The least share of the stored text's tokens that the new text must
            contain to complete it.
        new_coverage: The least share of the new text's tokens that the stored text must
            contain. The defaults are those of the reference system.

    Example:
        ```python
        from langchain_agentmemory import MemoryStore, Operation, PreserveHistory

        store = MemoryStore()
        store.add_memory("ann", "Alice visited Bob on December 1st, 2025")
        said = Operation("add", "Alice visited Bob at 4pm on December 1st, 2025")
        print(PreserveHistory().decide([said], store.read_memories("ann")))
        ```
    """

    old_coverage: float = 0.95
    new_coverage: float = 0.70
    name: str = "preserve_history"
    instructions: str = (
        "What was true earlier stays worth knowing. Update a memory only to complete "
        "it: same fact or same event, nothing of the old text lost or contradicted. "
        "When a value or a state has changed, name the memory in an update with the "
        "new statement in full; the old one is kept as an earlier version. Whatever "
        "is another event, or only perhaps the same, is an addition. That something "
        "newer was said is no reason to delete: delete a memory only when the user "
        "asks to forget it, clear all only when the user asks to forget everything. "
        "When something is stored already, word for word, do nothing."
    )
    operations: frozenset[str] = frozenset({"add", "update", "delete", "clear"})

    def decide(
        self,
        operations: Sequence[Operation | None],
        existing: Sequence[MemoryEntry],
        *,
        search: Search | None = None,  # noqa: ARG002 - the protocol's; nothing is searched
        enabled: frozenset[str] | None = None,
    ) -> Decisions:
        """Judge the operations of one batch, in order. See `Policy.decide`."""
        memories = StandingMemories(existing)
        wanted = (one for one in operations if one is not None)
        return Decisions([self._judge(one, memories, enabled) for one in wanted])

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

    def _judge(
        self,
        given: Operation,
        memories: StandingMemories,
        enabled: frozenset[str] | None,
    ) -> Decision:
        if given.type not in {"add", "update"}:
            return passed(given, memories, enabled)
        if given.type == "add":
            return self._add(given, given, memories, enabled)
        target = memories.find(given.memory_id)
        if target is not None:
            return self._update(given, target, memories, enabled)
        if given.memory is None:
            reason = "it names no known memory and has no text to add"
            return Decision(None, given, "drop", reason)
        return self._add(given, as_add(given), memories, enabled)

    def _add(
        self,
        given: Operation,
        operation: Operation,
        memories: StandingMemories,
        enabled: frozenset[str] | None,
    ) -> Decision:
        content = said(operation)
        if repeated := memories.repeated(content):
            return repetition(given, repeated)
        if not allows(enabled, "memory_add"):
            reason = "adding is switched off, so nothing was compared"
            return Decision(operation, given, "pass", reason)
        nearest, verdict = self._nearest(content, memories)
        if nearest is None or verdict is None:
            memories.add(content, operation.supersedes)
            return Decision(operation, given, "add", "nothing like it is stored")
        shown, measures = nearest.shown, verdict.measures
        if verdict.failed is None and allows(enabled, "memory_update"):
            update = as_update(operation, nearest)
            memories.update(nearest, said(update, nearest.content))
            return Decision(update, given, "update", verdict.reason, shown, measures)
        reason = f"kept apart from the nearest memory: {verdict.reason}"
        if verdict.failed is None:
            reason = "would complete a memory, but updating is switched off"
        memories.add(content, operation.supersedes)
        return Decision(operation, given, "add", reason, shown, measures)

    def _nearest(
        self, content: Content, memories: StandingMemories
    ) -> tuple[Standing | None, Verdict | None]:
        """Return the memory that the content completes best, else the most alike."""
        best: tuple[Standing | None, Verdict | None] = (None, None)
        best_rank: tuple[float, ...] = ()
        for standing in memories.holding():
            if standing.entry is None:
                continue  # statements of one batch are never joined with each other
            verdict = self._compare(standing.content, content)
            figures = verdict.measures
            rank = (
                float(verdict.failed is None),
                figures["old_coverage"] if verdict.failed is None else 0.0,
                figures["new_coverage"] if verdict.failed is None else 0.0,
                figures["jaccard"] if verdict.failed is not None else 0.0,
                standing.entry.score or 0.0,
            )
            if (verdict.failed is None or figures["jaccard"] > 0) and rank > best_rank:
                best, best_rank = (standing, verdict), rank
        return best

    def _update(
        self,
        given: Operation,
        target: Standing,
        memories: StandingMemories,
        enabled: frozenset[str] | None,
    ) -> Decision:
        content = said(given, target.content)
        repeated = memories.repeated(content)
        if repeated is not None:
            return repetition(given, repeated)
        shown = target.shown
        verdict = self._compare(target.content, content)
        measures = {
            **verdict.measures,
            "likeness": likeness(target.content.text, content.text),
        }
        completes = verdict.failed is None and not verdict.same
        if completes and allows(enabled, "memory_update"):
            update = as_update(given, target)
            memories.update(target, said(update, target.content))
            return Decision(update, given, "update", verdict.reason, shown, measures)
        head = memories.head(target)
        closer = _closer(content, head, memories)
        newer = closer is None and is_new_version(head.content, content)
        added = as_add(given, target, supersedes=[head.id] if newer else ())
        memories.add(said(added), added.supersedes)
        if newer:
            reason = f"a newer version, the older one stays: {verdict.reason}"
        else:
            reason = f"another statement, the older one still holds: {verdict.reason}"
        if closer is not None:
            reason = f"closer to “{closer.content.memory}” than to the memory it names"
        if verdict.failed is None:
            reason = "would complete the memory, but updating is switched off"
        return Decision(added, given, "add", reason, shown, measures)

    def _compare(self, old: Content, new: Content) -> Verdict:
        return compare(
            old, new, old_coverage=self.old_coverage, new_coverage=self.new_coverage
        )


def _closer(
    content: Content, named: Standing, memories: StandingMemories
) -> Standing | None:
    """Return a memory that a content is rather a version of than of the named one.

    Then the extractor has perhaps named the wrong one, and nothing is linked: what was
    named in error must not count as outdated.
    """
    share = likeness(named.content.text, content.text)
    return next(
        (
            other
            for other in memories.holding()
            if other is not named
            and likeness(other.content.text, content.text) > share
            and is_new_version(other.content, content)
        ),
        None,
    )
