"""From scored candidates to the page that a search returns.

Filter, order, kind fallback and removal of near-duplicates all happen before the cut to
the limit, so that a full page comes back whenever there is one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from operator import gt
from typing import Any, Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")

KIND_FALLBACK_BELOW: Final = 3
"""Other kinds fill up a search by kind that finds fewer than this."""
DUPLICATE_NUMERATOR: Final = 4
DUPLICATE_DENOMINATOR: Final = 5
"""Two memories whose token sets overlap by 4/5 (Jaccard) are near-duplicates."""

_FACT: Final = "fact"
_GROWTH: Final = 4
_FIRST_FETCH: Final = 64  # Where a filter may drop many, at least.


class Candidate(NamedTuple, Generic[T]):
    """A scored item, with what filters and ordering look at.

    Attributes:
        item: What the caller wants back.
        id: Its id: the last tie-breaker, and what makes it one candidate.
        text: What near-duplicates are recognised by.
        score: Relevance, positive.
        kind: Its kind; `""` counts as a fact.
        event_time: When it happened, aware; `None` for the undated.
        created_at: First write, aware.
        updated_at: Last write, aware.
    """

    item: T
    id: str
    text: str
    score: float
    kind: str
    event_time: datetime | None
    created_at: datetime
    updated_at: datetime


class Criteria(NamedTuple):
    """What to keep of the candidates and in which order: search options, parsed.

    Attributes:
        limit: How many at most, `None` = all.
        threshold: Scores below it are dropped; 0 keeps every positive one.
        kind: Keep only this kind.
        kind_fallback: Fill up with other kinds when fewer than 3 of `kind` match.
        time_after: Events before it are dropped. Undated entries pass.
        time_before: Events after it are dropped. Undated entries pass.
        order_by_event_time: Earlier events first among equal scores.
        deduplicate: Drop near-duplicates of better entries.
        decay: Half-life of a score since the last write.
        now: The time from which `decay` counts; now if not given.
    """

    limit: int | None = 10
    threshold: float = 0.0
    kind: str | None = None
    kind_fallback: bool = False
    time_after: datetime | None = None
    time_before: datetime | None = None
    order_by_event_time: bool = False
    deduplicate: bool = False
    decay: timedelta | None = None
    now: datetime | None = None


Tokens = frozenset[str] | frozenset[int]
TokenSet = Callable[[str], Tokens]
"""Returns the tokens of a text, as words or as hashes, but all of them alike."""
Fetch = Callable[[int | None], tuple[Sequence[Candidate[T]], bool]]
"""Takes a number `k` (`None` = all) and returns the first `k` candidates in the order
of `ordered` (fewer, if some may not be shown), and whether there are no more."""


def find_page(
    fetch: Fetch[T], criteria: Criteria, token_set: TokenSet
) -> list[Candidate[T]]:
    """Return the page of a search, looking at no more candidates than it takes.

    Args:
        fetch: Gives the best candidates.
        criteria: What to keep.
        token_set: Returns the tokens by which near-duplicates are recognised.
    """
    limit = criteria.limit
    if limit is not None and limit <= 0:
        return []
    # Age and event time change the order: then everything has to be looked at.
    reordered = criteria.decay is not None or criteria.order_by_event_time
    k = None if limit is None or reordered else _first_fetch(limit, criteria)
    tokens = token_set
    if criteria.deduplicate:
        tokens = cache(token_set)  # a larger fetch meets the same texts again
    while True:
        candidates, complete = fetch(k)
        entries, scarce = _narrowed(candidates, criteria)
        page = _cut(entries, criteria, tokens, best_first=not scarce)
        if k is None or complete:
            return page
        if candidates and candidates[-1].score < criteria.threshold:
            return page
        # What was not fetched stands behind a full page, unless one more of the
        # wanted kind would end the fallback to other kinds.
        if len(page) == limit and not scarce:
            return page
        k *= _GROWTH


def _first_fetch(limit: int, criteria: Criteria) -> int:
    """Return how many candidates are looked at first: looking at one is not free."""
    if criteria.kind or criteria.time_after or criteria.time_before:
        return max(_FIRST_FETCH, 2 * limit)
    return 2 * limit if criteria.deduplicate else limit


def select(
    candidates: Iterable[Candidate[T]], criteria: Criteria, token_set: TokenSet
) -> list[Candidate[T]]:
    """Filter, order, fall back to other kinds, remove near-duplicates, and cut."""
    entries, scarce = _narrowed(candidates, criteria)
    return _cut(entries, criteria, token_set, best_first=not scarce)


def _narrowed(
    candidates: Iterable[Candidate[T]], criteria: Criteria
) -> tuple[list[Candidate[T]], bool]:
    """Return what may be shown, in order, and whether other kinds had to fill up."""
    if criteria.decay is not None:
        candidates = decayed(candidates, criteria.decay, criteria.now)
    least = criteria.threshold
    within = [entry for entry in candidates if entry.score >= least and entry.score > 0]
    if criteria.time_after is not None or criteria.time_before is not None:
        within = [entry for entry in within if _is_in_time(entry, criteria)]
    entries = ordered(within, by_event_time=criteria.order_by_event_time)
    if not criteria.kind:
        return entries, False
    kind = criteria.kind
    preferred = [entry for entry in entries if _is_kind(entry, kind)]
    if not criteria.kind_fallback or len(preferred) >= KIND_FALLBACK_BELOW:
        return preferred, False
    return merge_fallback(preferred, entries, kind), True


def _cut(
    entries: list[Candidate[T]],
    criteria: Criteria,
    token_set: TokenSet,
    *,
    best_first: bool,
) -> list[Candidate[T]]:
    if criteria.limit == 0:
        return []
    if criteria.deduplicate and best_first:
        # Only a better entry can make a duplicate of one: stop when the page is full.
        seen = _SeenSets()
        distinct = (e for e in entries if not seen.add_and_compare(token_set(e.text)))
        return list(islice(distinct, criteria.limit))
    if criteria.deduplicate:
        entries = without_near_duplicates(entries, token_set)
    return entries[: criteria.limit]


_MOST_HALVINGS: Final = 50  # 1e-15 of the score: lower, but never gone


def decayed(
    candidates: Iterable[Candidate[T]], half_life: timedelta, now: datetime | None
) -> list[Candidate[T]]:
    """Return the candidates with scores halved for each half-life of their age."""
    moment = now or datetime.now(UTC)
    return [
        entry._replace(
            score=entry.score * age_factor(entry.updated_at, half_life, moment)
        )
        for entry in candidates
    ]


def age_factor(written: datetime, half_life: timedelta, moment: datetime) -> float:
    """Return what a score is multiplied by for when a memory was last written."""
    age = max(moment - written, timedelta(0))
    return float(0.5 ** min(age / half_life, _MOST_HALVINGS))


def _is_in_time(entry: Candidate[T], criteria: Criteria) -> bool:
    """Tell whether the event time, if there is one, is within bounds."""
    event = entry.event_time
    if event is None:
        return True
    if criteria.time_after is not None and event < criteria.time_after:
        return False
    return criteria.time_before is None or event <= criteria.time_before


def _is_kind(entry: Candidate[T], kind: str) -> bool:
    return (entry.kind or _FACT) == kind


def ordered(
    entries: Iterable[Candidate[T]], *, by_event_time: bool = False
) -> list[Candidate[T]]:
    """Return best first; ties by event (if asked), newest write, creation, id."""
    result = list(entries)
    scores = [entry.score for entry in result]
    if all(map(gt, scores, scores[1:])):
        return result  # as most searches find them: best first, and no ties
    result.sort(key=lambda entry: entry.id)
    result.sort(key=lambda entry: entry.created_at, reverse=True)
    result.sort(key=lambda entry: entry.updated_at, reverse=True)
    if by_event_time:
        dated = [entry for entry in result if entry.event_time is not None]
        dated.sort(key=lambda entry: entry.event_time or entry.updated_at)
        result = dated + [entry for entry in result if entry.event_time is None]
    result.sort(key=lambda entry: entry.score, reverse=True)
    return result


def kind_first(
    entries: Iterable[Candidate[T]], kind: str | None, *, by_event_time: bool = False
) -> list[Candidate[T]]:
    """Return entries of a kind in order, then the others in order."""
    everything = ordered(entries, by_event_time=by_event_time)
    if not kind:
        return everything
    # `sort` is stable, and False comes before True.
    everything.sort(key=lambda entry: not _is_kind(entry, kind))
    return everything


def merge_fallback(
    primary: Sequence[Candidate[T]], others: Iterable[Candidate[T]], kind: str
) -> list[Candidate[T]]:
    """Return a list, then what it lacks of the other one, a kind's entries first."""
    seen = {entry.id for entry in primary}
    new = [entry for entry in others if entry.id not in seen]
    new.sort(key=lambda entry: not _is_kind(entry, kind))
    return [*primary, *new]


def without_near_duplicates(
    entries: Sequence[Candidate[T]], token_set: TokenSet
) -> list[Candidate[T]]:
    """Drop entries that are near-duplicates of a better one, kept or dropped itself.

    The order stays. Entries without tokens are nobody's duplicates.
    """
    ranks = sorted(range(len(entries)), key=lambda index: -entries[index].score)
    seen = _SeenSets()
    dropped = {
        index for index in ranks if seen.add_and_compare(token_set(entries[index].text))
    }
    return [entry for index, entry in enumerate(entries) if index not in dropped]


_FEW_SETS: Final = 32  # Fewer are compared in half the time that filing them takes.


class _SeenSets:
    """Token sets met so far. Many are found again by a few tokens of each.

    Sets that overlap by 4/5 share one of any fifth of their tokens and one more, if
    both choose them in one order (prefix filtering: Chaudhuri, Ganti, Kaushik, 2006).
    """

    def __init__(self) -> None:
        self._sets: list[Tokens] = []
        self._holders: dict[Any, list[int]] = {}
        self._filed = 0

    def add_and_compare(self, tokens: Tokens) -> bool:
        """Remember a set; tell whether an earlier one is a near-duplicate of it."""
        earlier: Iterable[Tokens] = self._sets
        if len(self._sets) >= _FEW_SETS:
            earlier = self._sharing(tokens)
        duplicate = any(_overlap(tokens, other) for other in earlier)
        self._sets.append(tokens)
        return duplicate

    def _sharing(self, tokens: Tokens) -> Iterator[Tokens]:
        """Yield the earlier sets that share one of a few tokens with a set."""
        for number in range(self._filed, len(self._sets)):
            for token in _prefix(self._sets[number]):
                self._holders.setdefault(token, []).append(number)
        self._filed = len(self._sets)
        for token in _prefix(tokens):
            for number in self._holders.get(token, ()):
                yield self._sets[number]


def _prefix(tokens: Tokens) -> list[Any]:
    kept = -(-len(tokens) * DUPLICATE_NUMERATOR // DUPLICATE_DENOMINATOR)
    ordered: list[Any] = sorted(tokens)
    return ordered[: len(tokens) - kept + 1] if tokens else []


def _overlap(one: Tokens, other: Tokens) -> bool:
    here, there = len(one), len(other)
    least = DUPLICATE_NUMERATOR * max(here, there)
    if not here or min(here, there) * DUPLICATE_DENOMINATOR < least:
        return False
    common = len(one & other)
    union = here + there - common
    return common * DUPLICATE_DENOMINATOR >= DUPLICATE_NUMERATOR * union
