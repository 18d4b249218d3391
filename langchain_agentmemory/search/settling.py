"""The last word on scores: when things happened, and which version comes first.

It looks at a handful of results, after words and meaning are one score per memory, and
runs without numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from langchain_agentmemory.search.links import linked
from langchain_agentmemory.search.moments import TimePreference
from langchain_agentmemory.search.past import Standing, asks_about
from langchain_agentmemory.search.standing import (
    EVENTS,
    MOST_VERSIONS,
    STATES,
    Alike,
    First,
    Version,
    asks_for_event,
    redealt,
)
from langchain_agentmemory.search.timeliness import time_factor
from langchain_agentmemory.types import EventPrecision, MemoryEntry


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query says about time and versions.

    Attributes:
        standing: Which version it asks for.
        event: Whether it asks what happened, not how something is.
        preference: When it wants things to have happened, `None` if it names no time.
    """

    standing: Standing
    event: bool
    preference: TimePreference | None

    @property
    def past(self) -> bool:
        """Whether what was replaced comes before what replaced it."""
        return self.standing == "past"


def wanted(query: str, preference: TimePreference | None = None) -> Wanted:
    """Read what a query says about versions.

    Args:
        query: A question in English or Chinese.
        preference: Its time words: see `moments.time_preference`. One with an anchor
            that has got no date counts for nothing.
    """
    return Wanted(asks_about(query), asks_for_event(query), preference)


def settled(
    entries: Sequence[MemoryEntry],
    scores: Sequence[float],
    query: Wanted,
    rarities: Sequence[float],
    matched: Callable[[int], int] | None,
    alike: Alike | None = None,
) -> list[float]:
    """Return the final scores of the best results of a search.

    First each score is multiplied by how well its time fits the query
    (`timeliness.time_factor`). Then the best `MOST_VERSIONS` of them are looked through
    for versions of one statement, whose scores are dealt out anew
    (`standing.redealt`), and what is linked as versions is put in order
    (`links.linked`).

    Args:
        entries: The results, in any order.
        scores: Their scores, shape (results,), positive.
        query: What the query says about time and versions.
        rarities: Of each term of the query: its weight times its rarity, shape
            (terms,).
        matched: Returns which terms the result at a place matches, as bits: bit *i*
            stands for term *i*. Asked only for the best.
        alike: Tells whether the results at two places mean the same. Used in place of
            `matched` where that is `None`: for searches by meaning alone. Without
            either only links make versions.

    Returns:
        As many scores, in the order of `entries`; they may exceed 1 where the time
        fits. Sort by them.
    """
    final = list(map(float, scores))
    if query.preference is not None:
        for place, entry in enumerate(entries):
            final[place] *= time_factor(query.preference, *_dated(entry))
    if query.standing != "both":
        _deal_versions(entries, final, query, rarities, matched, alike)
        _follow_links(entries, final, past=query.past)
    return final


def _deal_versions(
    entries: Sequence[MemoryEntry],
    final: list[float],
    query: Wanted,
    rarities: Sequence[float],
    matched: Callable[[int], int] | None,
    alike: Alike | None,
) -> None:
    if matched is None and alike is None:
        return
    places = sorted(range(len(final)), key=lambda place: -final[place])[:MOST_VERSIONS]
    versions = [
        Version(
            final[place],
            _held_at(entries[place], query),
            _thread(entries[place]),
            matched(place) if matched is not None else 0,
        )
        for place in places
    ]
    by_meaning: Alike | None = None
    if matched is None and alike is not None:
        same = alike

        def by_meaning(one: int, other: int) -> bool:
            return same(places[one], places[other])

    first: First = "oldest" if query.past else "newest"
    limits = EVENTS if query.event and not query.past else STATES
    dealt = redealt(versions, rarities, first, limits, by_meaning)
    for place, score in zip(places, dealt, strict=True):
        final[place] = score


def _follow_links(
    entries: Sequence[MemoryEntry], final: list[float], *, past: bool
) -> None:
    links = {e.id: e.superseded_by for e in entries if e.superseded_by is not None}
    if links:
        scores = {e.id: final[place] for place, e in enumerate(entries)}
        linked(scores, links, past=past)
        final[:] = [scores[entry.id] for entry in entries]


_LATER: Final = 1e12  # seconds, more than datetimes have


def _held_at(entry: MemoryEntry, query: Wanted) -> float:
    """Return what versions are ordered by: the time, in seconds.

    At the end of a period that the query names, the newest version of that time held;
    what came to hold only later comes after it, the nearest first.
    """
    when, _ = _dated(entry)
    moment = (entry.created_at if when is None else when).timestamp()
    end = None if query.preference is None else query.preference.end
    if query.past or end is None or moment < end.timestamp():
        return moment
    return -_LATER - moment


def _thread(entry: MemoryEntry) -> str | None:
    return None if entry.source is None else entry.source.thread_id


def _dated(entry: MemoryEntry) -> tuple[datetime | None, EventPrecision | None]:
    if entry.event_time is not None:
        return entry.event_time, entry.event_precision
    return (None if entry.source is None else entry.source.said_at), "instant"
