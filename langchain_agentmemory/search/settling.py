"""The last word on scores: when things happened, and which version comes first.

It looks at a handful of results, after words and meaning are one score per memory, and
runs without numpy.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from langchain_agentmemory.search.cues import may_be_told_as_past, version_asked
from langchain_agentmemory.search.events import asks_for_event
from langchain_agentmemory.search.links import linked
from langchain_agentmemory.search.scripts import LazyPattern
from langchain_agentmemory.search.standing import (
    COMPARED,
    Alike,
    First,
    Terms,
    Version,
    redealt,
    version_groups,
)
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.types import EventPrecision, MemoryEntry

if TYPE_CHECKING:
    from langchain_agentmemory.search.moments import TimePreference
    from langchain_agentmemory.search.past import Standing

_IDENTIFIER: Final = 2.0  # the weight from which a term is one: words have 1 at most
_DIGIT: Final = re.compile(r"\d")
_AT_ONCE: Final = 60.0
"""Seconds: what was written within them was not said in this order, but imported.

An import of a thousand memories takes a second on SQLite, and minutes with a remote
embedder; two versions in it are seldom a minute apart.
"""
NO_LONGER: Final = 0.1
"""What the evidence of a statement that says itself that it is past counts where the
question asks for what holds now: less than half as a score (`formula.score_of`)."""
_STILL: Final = LazyPattern(r"\b(?:still|yet|any ?more)\b|仍|[还還]|依然|依旧|依舊")
"""Whether something still holds is answered by the statement that it does no longer."""
_LATER: Final = 1e12  # seconds, more than datetimes have


class Wanted(NamedTuple):
    """What a query says about time and versions.

    Attributes:
        standing: Which version it asks for.
        event: Whether it asks what happened, not how something is.
        terms: What it looks for.
        preference: When it wants things to have happened, `None` if it names no time.
        parted: Whether versions with one score are parted, so that they have an order;
            not where results with one score are to be ordered otherwise.
        now: Whether it asks for what holds now, and not whether it still does.
    """

    standing: "Standing"
    event: bool
    terms: Terms
    preference: "TimePreference | None"
    parted: bool = True
    now: bool = False

    @property
    def past(self) -> bool:
        """Whether what was replaced comes before what replaced it."""
        return self.standing == "past"


def wanted(
    query: Query,
    rarities: Sequence[float],
    preference: "TimePreference | None" = None,
    *,
    parted: bool = True,
) -> Wanted:
    """Read what a query says about time and versions.

    Args:
        query: The query.
        rarities: What each of its terms counts: its weight times its rarity, shape
            (terms,).
        preference: Its time words: see `moments.time_preference`. One with an anchor
            that has got no date (`timeliness.anchored_by`) changes nothing.
        parted: See `Wanted`.
    """
    text = query.text
    terms, standing = Terms(rarities, _exact(query)), version_asked(text)
    dated_question = preference is not None and preference.end is not None
    now = standing == "present" and not dated_question
    now = now and _STILL.search(text.lower()) is None
    return Wanted(standing, asks_for_event(text), terms, preference, parted, now)


def _exact(query: Query) -> int:
    """Return the terms that are identifiers or have digits, as bits."""
    exact = 0
    if max(query.weights, default=0.0) >= _IDENTIFIER or _DIGIT.search(query.text):
        pairs = zip(query.words, query.weights, strict=True)
        for place, (word, weight) in enumerate(pairs):
            if weight >= _IDENTIFIER or _DIGIT.search(word):
                exact |= 1 << place
    return exact


class Settled(NamedTuple):
    """What became of the scores of some results.

    Attributes:
        timed: After their times were looked at, shape (results,).
        final: What to sort by, shape (results,). They may exceed 1 where the time fits.
        groups: Places of results that were taken for versions of one statement.
        over: Places of results that say themselves that they are past, where that
            counts.
    """

    timed: list[float]
    final: list[float]
    groups: list[list[int]]
    over: list[int]


def settled(
    entries: Sequence[MemoryEntry],
    scores: Sequence[float],
    query: Wanted,
    matched: Callable[[int], int] | None = None,
    alike: Alike | None = None,
) -> Settled:
    """Return the final scores of the best results of a search.

    First each score is multiplied by how well its time fits the query
    (`timeliness.time_factor`). Then versions of one statement are looked for among the
    best, and their scores dealt out anew (`standing.redealt`). Then what is linked as
    versions is put in order (`links.linked`). A query that asks for both versions
    leaves them as they are. At last, where it asks for what holds now, what says itself
    that it is past counts a tenth.

    Args:
        entries: The results, in any order.
        scores: Their scores, shape (results,), positive.
        query: What the query says about time and versions.
        matched: Returns which terms the result at a place matches, as bits: bit *i*
            stands for term *i*. Asked only for the best.
        alike: Tells whether the results at two places mean the same. Used where
            `matched` is `None`. Words tell versions better, also in a search by
            meaning: this is for queries without any. Without either only links make
            versions.

    Returns:
        The scores, in the order of `entries`, and how they came about.
    """
    final = list(map(float, scores))
    groups: list[list[int]] = []
    over: list[int] = []
    if query.preference is not None:
        from langchain_agentmemory.search.timeliness import (  # noqa: PLC0415 - rare
            time_factor,
        )

        for place, entry in enumerate(entries):
            final[place] *= time_factor(query.preference, *dated(entry))
    timed = final.copy()
    if query.standing != "both":
        if matched is not None or alike is not None:
            groups = _deal(entries, final, query, matched, alike)
        _follow_links(entries, final, past=query.past)
    if query.now:
        over = _over(entries, query)
        for place in over:
            final[place] *= NO_LONGER
    return Settled(timed, final, groups, over)


def dated(entry: MemoryEntry) -> tuple[datetime | None, EventPrecision | None]:
    """Return when a memory happened, else when it was said, and how exactly.

    Both are `None` if neither is known.
    """
    if entry.event_time is not None:
        return entry.event_time, entry.event_precision
    if entry.source is not None and entry.source.said_at is not None:
        return entry.source.said_at, "instant"
    return None, None


def _deal(
    entries: Sequence[MemoryEntry],
    final: list[float],
    query: Wanted,
    matched: Callable[[int], int] | None,
    alike: Alike | None,
) -> list[list[int]]:
    """Deal out the best scores anew, in place, and return who are versions."""
    if len(final) < 2:  # noqa: PLR2004 - versions are two or more
        return []
    places = sorted(range(len(final)), key=final.__getitem__, reverse=True)
    del places[COMPARED + 1 :]
    best = [entries[place] for place in places]
    versions = [
        Version(
            final[place],
            0.0,
            None if entry.source is None else entry.source.thread_id,
            entry.participants,
            0 if matched is None else matched(place),
        )
        for place, entry in zip(places, best, strict=True)
    ]
    by_meaning: Alike | None = None
    if matched is None and alike is not None:
        same = alike

        def by_meaning(one: int, other: int) -> bool:
            return same(places[one], places[other])

    first: First = "oldest" if query.past else "newest"
    event = query.event and not query.past
    groups = version_groups(versions, query.terms, first, event=event, alike=by_meaning)
    if not groups:
        return []
    times = _held_since(best, query)
    versions = [v._replace(when=at) for v, at in zip(versions, times, strict=True)]

    def past(group: Sequence[int]) -> list[int]:
        return [place for place in group if _is_over(place, group, best, times)]

    dated_question = query.preference is not None and query.preference.end is not None
    scores = redealt(
        versions,
        groups,
        first,
        past=None if dated_question else past,
        parted=query.parted,
    )
    for place, score in zip(places, scores, strict=True):
        final[place] = score
    return [[places[member] for member in group] for group in groups]


def _over(entries: Sequence[MemoryEntry], query: Wanted) -> list[int]:
    """Return the places of what says itself that it is past."""
    if not any(may_be_told_as_past(entry.memory) for entry in entries):
        return []
    times, places = _held_since(entries, query), range(len(entries))
    return [place for place in places if _is_over(place, places, entries, times)]


def _is_over(
    place: int,
    group: Sequence[int],
    entries: Sequence[MemoryEntry],
    times: Sequence[float],
) -> bool:
    """Tell whether one of several versions says itself that it is past.

    What was said later than the same statement without such words is the news that it
    no longer holds.
    """
    text = entries[place].memory
    if not may_be_told_as_past(text):
        return False
    from langchain_agentmemory.search.past_statements import (  # noqa: PLC0415 - rare
        say_the_same,
        told_as_past,
    )

    return told_as_past(text) and not any(
        times[other] < times[place] and say_the_same(text, entries[other].memory)
        for other in group
        if other != place
    )


def _held_since(entries: Sequence[MemoryEntry], query: Wanted) -> list[float]:
    """Return what versions are ordered by: times, in seconds, shape (entries,).

    What has no date is ordered by when it was written, but what was written in one go
    is equally old.

    At the end of a period that the query names, the newest version of that time held;
    what came to hold only later comes after it, the nearest first.
    """
    moments = []
    undated = []
    for place, entry in enumerate(entries):
        when, _ = dated(entry)
        if when is None:
            undated.append(place)
            when = entry.created_at
        moments.append(when.timestamp())
    if len(undated) > 1:
        undated.sort(key=moments.__getitem__)
        before = begun = moments[undated[0]]
        for place in undated:
            if moments[place] - before >= _AT_ONCE:
                begun = moments[place]
            before, moments[place] = moments[place], begun
    end = None if query.preference is None else query.preference.end
    if query.past or end is None:
        return moments
    last = end.timestamp()
    return [when if when < last else -_LATER - when for when in moments]


def _follow_links(
    entries: Sequence[MemoryEntry], final: list[float], *, past: bool
) -> None:
    links = {e.id: e.superseded_by for e in entries if e.superseded_by is not None}
    if links:
        scores = {e.id: final[place] for place, e in enumerate(entries)}
        linked(scores, links, past=past)
        final[:] = [scores[entry.id] for entry in entries]
