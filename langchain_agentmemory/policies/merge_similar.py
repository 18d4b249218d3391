"""`MergeSimilar`: one memory per subject, with the current conclusion."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.identity import trim
from langchain_agentmemory.policies.apart import reason_apart
from langchain_agentmemory.policies.base import Decision, Decisions, Search
from langchain_agentmemory.policies.content import (
    Content,
    has_new_topic,
    is_same,
    said,
)
from langchain_agentmemory.policies.difference import changed, only_a_value_differs
from langchain_agentmemory.policies.outcomes import allows, passed, repetition
from langchain_agentmemory.policies.rewriting import as_update
from langchain_agentmemory.policies.standing import Standing, StandingMemories
from langchain_agentmemory.policies.text import jaccard
from langchain_agentmemory.search.lexical import reference_scores
from langchain_agentmemory.types import MemoryEntry, Operation

_LOGGER = logging.getLogger(__name__)

_DROP: Final = 2
_UPDATE: Final = 1


class _Match(NamedTuple):
    """A memory that an add was compared with."""

    standing: Standing
    score: float | None
    jaccard: float
    tier: int
    same: bool

    @property
    def measures(self) -> dict[str, float]:
        known = {} if self.score is None else {"score": self.score}
        return {**known, "jaccard": self.jaccard}

    @property
    def rank(self) -> tuple[float, ...]:
        return (self.same, self.tier, self.score or 0.0, self.jaccard)


@dataclass(frozen=True, kw_only=True)
class MergeSimilar:
    """Keeps one memory per subject: what is similar to a memory replaces or repeats it.

    Each add is compared with the most relevant memories. What says nothing new is
    dropped; what is similar, or has another value (a number, a negation, a status),
    replaces the memory's text, which goes to the history of a store that deletes
    softly. What differs in kind, in event date or in who does what to whom is never
    merged. Updates and deletions are done as the extractor asked.

    The cut-offs are those of the reference system and apply to the reference score
    (`search.lexical.reference_scores`) and to the Jaccard index of the tokens.

    Args:
        least_score: Memories with less are not looked at.
        update_score: From here on a memory is the same subject.
        drop_score: From here on it says the same.
        update_jaccard: The same by common tokens.
        drop_jaccard: The same by common tokens.
        candidates: How many memories are looked at.

    Raises:
        InvalidInput: If a cut-off lies outside 0 to 1, or the order is not least ≤
            update ≤ drop.

    Example:
        ```python
        from langchain_agentmemory import MemoryStore, MergeSimilar, Operation

        store = MemoryStore()
        store.add_memory("ann", "The project requires Go 1.21")
        said = Operation("add", "The project requires Go 1.23")
        print(MergeSimilar().decide([said], store.read_memories("ann")))
        ```
    """

    least_score: float = 0.30
    update_score: float = 0.60
    drop_score: float = 0.90
    update_jaccard: float = 0.40
    drop_jaccard: float = 0.70
    candidates: int = 3
    name: str = "merge_similar"
    instructions: str = ""
    operations: frozenset[str] = frozenset({"add", "update", "delete", "clear"})

    def __post_init__(self) -> None:
        """Check the cut-offs."""
        scores = (self.least_score, self.update_score, self.drop_score)
        shares = (self.update_jaccard, self.drop_jaccard)
        for ascending in (scores, shares):
            if not all(0 <= x <= 1 for x in ascending) or sorted(ascending) != [
                *ascending
            ]:
                msg = (
                    f"The cut-offs {ascending} must lie between 0 and 1 and ascend: "
                    f"least_score ≤ update_score ≤ drop_score, update_jaccard ≤ "
                    f"drop_jaccard."
                )
                raise InvalidInput(msg)
        if self.candidates < 1:
            msg = f"candidates must be at least 1, not {self.candidates}."
            raise InvalidInput(msg)

    def decide(
        self,
        operations: Sequence[Operation | None],
        existing: Sequence[MemoryEntry],
        *,
        search: Search | None = None,
        enabled: frozenset[str] | None = None,
    ) -> Decisions:
        """Judge the operations of one batch, in order. See `Policy.decide`."""
        batch = _Batch(self, existing, search, enabled)
        wanted = (one for one in operations if one is not None)
        return Decisions([batch.judge(one) for one in wanted])

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


class _Batch:
    """One call of `decide`."""

    def __init__(
        self,
        policy: MergeSimilar,
        existing: Sequence[MemoryEntry],
        search: Search | None,
        enabled: frozenset[str] | None,
    ) -> None:
        self.policy = policy
        self.existing = [entry for entry in existing if entry is not None]
        self.search = search
        self.enabled = enabled
        self.memories = StandingMemories(existing)

    def judge(self, given: Operation) -> Decision:
        if given.type == "add":
            return self._add(given)
        if given.type == "update":
            return self._update(given)
        return passed(given, self.memories, self.enabled)

    def _update(self, given: Operation) -> Decision:
        target = self.memories.find(given.memory_id)
        reason = "an update is carried out as the extractor asked"
        if target is None:
            return Decision(given, given, "pass", reason)
        shown, now = target.shown, target.id
        operation = given
        if now != given.memory_id:
            operation = replace(given, memory_id=now)
        if allows(self.enabled, "memory_update"):
            self.memories.update(target, said(given, target.content))
        return Decision(operation, given, "pass", reason, shown)

    def _add(self, given: Operation) -> Decision:
        if not allows(self.enabled, "memory_add"):
            reason = "adding is switched off, so nothing was compared"
            return Decision(given, given, "pass", reason)
        query = trim(given.memory or "")
        if not query:
            return Decision(given, given, "add", "there is no text to compare")
        content = said(given)
        if repeated := self.memories.repeated_in_batch(content):
            return repetition(given, repeated)
        try:
            found = self._found(query)
        except Exception as error:  # noqa: BLE001 - whatever a search of theirs raises
            _LOGGER.warning("The search for similar memories failed: %s", error)
            return self._keep(given, "the search for similar memories failed")
        return self._decide(given, content, found)

    def _found(self, query: str) -> list[tuple[MemoryEntry, float | None]]:
        """Return memories that may say the same, best first, with their scores."""
        if self.search is not None:
            hits = [hit for hit in self.search(query) if hit is not None]
            return [(hit, hit.score) for hit in hits]
        texts = [(entry.memory, " ".join(entry.topics)) for entry in self.existing]
        scores = reference_scores(query, texts)
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return [(self.existing[index], scores[index]) for index in order]

    def _decide(
        self,
        given: Operation,
        content: Content,
        found: Sequence[tuple[MemoryEntry, float | None]],
    ) -> Decision:
        matches, apart = [], None
        nearest: tuple[_Match, str] | None = None
        for standing, score in self._holding(found):
            match = self._match(standing, score, content)
            if not match.tier:
                nearest = nearest or (match, "the nearest memory is not similar enough")
            elif reason := reason_apart(
                standing.content, content, kind_known=bool(given.kind)
            ):
                apart = apart or (match, f"kept apart: {reason}")
            else:
                matches.append(match)
        if matches:
            best = max(matches, key=lambda match: match.rank)
            return self._merge(given, content, best)
        if compared := apart or nearest:
            match, reason = compared
            return self._keep(given, reason, match)
        return self._keep(given, "nothing like it is stored")

    def _holding(
        self, found: Sequence[tuple[MemoryEntry, float | None]]
    ) -> list[tuple[Standing, float | None]]:
        """Return the candidates: what is near, not deleted and not outdated."""
        least = self.policy.least_score
        near = [
            (self.memories.meet(entry), score)
            for entry, score in found
            if score is None or score >= least
        ]
        holding = [
            (standing, score)
            for standing, score in near
            if standing is not None and standing.replaced_by is None
        ]
        return holding[: self.policy.candidates]

    def _match(
        self, standing: Standing, score: float | None, content: Content
    ) -> _Match:
        if standing.written:
            score = None  # it was given to the text that the batch has replaced
        policy = self.policy
        share = jaccard(standing.content.text, content.text)
        known = score or 0.0
        tier = 0
        if (
            known >= policy.update_score
            or share >= policy.update_jaccard
            or only_a_value_differs(standing.content, content)
        ):
            tier = _UPDATE
        if known >= policy.drop_score or share >= policy.drop_jaccard:
            tier = _DROP
        same = is_same(standing.content, content)
        return _Match(standing, score, share, tier, same)

    def _merge(self, given: Operation, content: Content, match: _Match) -> Decision:
        standing, measures, shown = match.standing, match.measures, match.standing.shown
        if not standing.id:
            return self._keep(given, "the similar memory has no id", match)
        if standing.written:
            reason = "this batch has already written the similar memory"
            return self._keep(given, reason, match)
        alike = match.jaccard >= self.policy.drop_jaccard
        news = changed(standing.content, content, alike=alike)
        if has_new_topic(standing.content.topics, content.topics):
            news.append("topic")
        if match.tier == _DROP and (match.same or not news) and "topic" not in news:
            reason = "says nothing that the memory does not say"
            return Decision(None, given, "drop", reason, shown, measures)
        if not allows(self.enabled, "memory_update"):
            reason = "would replace a memory, but updating is switched off"
            return self._keep(given, reason, match)
        if self.memories.is_outdated(content):
            reason = "what held earlier holds again, instead of a newer memory"
            again = replace(given, supersedes=(*given.supersedes, standing.id))
            self.memories.add(content, again.supersedes)
            return Decision(again, given, "add", reason, shown, measures)
        update = as_update(given, standing)
        self.memories.update(standing, said(update, standing.content))
        differing = f": another {', '.join(news)}" if news else ""
        reason = f"replaces what was known of the same subject{differing}"
        return Decision(update, given, "update", reason, shown, measures)

    def _keep(
        self, given: Operation, reason: str, match: _Match | None = None
    ) -> Decision:
        self.memories.add(said(given), given.supersedes)
        if match is None:
            return Decision(given, given, "add", reason)
        shown = match.standing.shown
        return Decision(given, given, "add", reason, shown, match.measures)
