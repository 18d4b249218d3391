"""What a question that is nothing but a time finds: what lies in that time.

Neither words nor cosines say so; the dates of the memories do, or their own texts.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.backends.base import Record
from langchain_agentmemory.explanation import TimePart
from langchain_agentmemory.search.formula import SCORE_ROOT
from langchain_agentmemory.search.moments import TimePreference
from langchain_agentmemory.search.settling import dated
from langchain_agentmemory.search.shelf import Shelf, top
from langchain_agentmemory.search.time_questions import (
    asks_only_for_time,
    fit,
    named_in,
)
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.explained_parts import time_part
from langchain_agentmemory.service.shelves import Held
from langchain_agentmemory.types import MemoryEntry

Scores = NDArray[np.float32]

_DATES: Final = re.compile(rb'"(?:event_time|said_at)":"(?:([0-9]{4})-)?')
"""The year of each date; nothing for one that is written in another way."""
_LAST_YEAR: Final = 10_000
_READ: Final = 50
"""So many of the texts that match the time words best are read for times."""
_PARTED: Final = 1e-3
"""What the evidence of the last one that is found is lowered by, the others less, so
that what fits alike is in order: newest first."""
_OTHERS: Final = 0.999
"""What is not found by its time has at most this share of the least that is."""


class Found(NamedTuple):
    """A memory that lies in the time that was asked for.

    Attributes:
        fit: How well, in (0, 1].
        when: When that was.
        by: What says so: its date, or a time that its text names.
    """

    fit: float
    when: datetime
    by: Literal["date", "text"]


class TimeQuestion:
    """A question that is nothing but a time, asked of one index.

    Args:
        query: The question, with its time words.
        preference: The time.
        timezone: Whose days are meant.
    """

    def __init__(
        self, query: Query, preference: TimePreference, timezone: tzinfo
    ) -> None:
        """Remember what is asked; nothing is looked for yet."""
        self._query = query
        self._preference = preference
        self._timezone = timezone
        self._found: dict[int, Found] = {}

    @property
    def words(self) -> Query:
        """The query, without words that are looked for."""
        return without_words(self._query)

    def settle(self, shelf: Shelf[Held], total: Scores, *, parted: bool) -> Scores:
        """Look for what lies in the time, and return evidence with it first.

        Args:
            shelf: The index.
            total: Evidence by slot.
            parted: See `with_found`.
        """
        self._found = found_by_time(
            shelf, self._query, self._preference, self._timezone
        )
        return with_found(total, self._found, parted=parted)

    def part(self, slot: int, entry: MemoryEntry) -> TimePart | None:
        """Return what found a result, `None` if its time did not."""
        found = self._found.get(slot)
        if found is None:
            return None
        part = time_part(self._preference, entry)
        return replace(part, factor=1.0, found_by=found.by)


def time_question(
    query: Query, preference: TimePreference, timezone: tzinfo
) -> TimeQuestion | None:
    """Return a question for a time, `None` where more than a time is asked for."""
    if asks_only_for_time(preference):
        return TimeQuestion(query, preference, timezone)
    return None


def without_words(query: Query) -> Query:
    """Return a query that looks for no words."""
    return query._replace(words=(), terms=(), weights=(), phrase=(), fallback=None)


def found_by_time(
    shelf: Shelf[Held], query: Query, preference: TimePreference, timezone: tzinfo
) -> dict[int, Found]:
    """Return the memories that lie in a time, by slot, best first.

    Args:
        shelf: The index.
        query: The question, with its time words.
        preference: The time.
        timezone: Whose days are meant.
    """
    found = dict(_by_date(shelf, preference, timezone))
    for slot in top(shelf.lexical(query), _READ).tolist()[:_READ]:
        held = shelf.item(slot)
        if slot in found or not held.listed:
            continue
        entry = held.entry(timezone)
        named = named_in(entry.memory, preference, _told(entry), timezone)
        if named is not None:
            found[slot] = Found(*named, "text")
    order = sorted(found.items(), key=lambda item: item[1][:2], reverse=True)
    return dict(order)


def with_found(total: Scores, found: dict[int, Found], *, parted: bool) -> Scores:
    """Return evidence in which what was found by its time comes first.

    Args:
        total: Evidence by slot.
        found: What was found, best first.
        parted: Whether what fits alike gets an order, newest first.

    Returns:
        Evidence by slot, in [0, 1]: a memory that was found has its fit for a score.
    """
    if not found:
        return total
    count = len(found)
    step = _PARTED / count if parted else 0.0
    fits = np.array([one.fit for one in found.values()])
    evidence = fits ** (1 / SCORE_ROOT) * (1 - step * np.arange(count))
    changed = np.minimum(total, np.float32(_OTHERS * evidence.min()))
    changed[list(found)] = evidence
    return np.asarray(changed, np.float32)


def _by_date(
    shelf: Shelf[Held], preference: TimePreference, timezone: tzinfo
) -> Iterator[tuple[int, Found]]:
    years = _years(preference)
    for key, held in shelf.items():
        if not held.listed or not _may_lie_in(held.record, years):
            continue
        when, precision = dated(held.entry(timezone))
        worth = fit(preference, when, precision)
        slot = shelf.slot(key)
        if when is not None and worth and slot is not None:
            yield slot, Found(worth, when, "date")


def _years(preference: TimePreference) -> range:
    """Return the years of a time, and those beside it: elsewhere it is another day."""
    start, end = preference.start, preference.end
    first = 0 if start is None else start.year - 1
    return range(first, _LAST_YEAR if end is None else end.year + 2)


def _may_lie_in(record: Record, years: range) -> bool:
    """Tell whether a record has a date that may lie in some years.

    Reading a memory takes ten times as long, and most have another date, or none.
    """
    found = _DATES.findall(record.value)
    if record.meta is not None:
        found += _DATES.findall(record.meta)
    return any(not year or int(year) in years for year in found)


def _told(entry: MemoryEntry) -> list[datetime]:
    """Return what the "last week" of a text may be counted from.

    That is when it was said. Where that is not known, it was written at some time after
    it happened, and nobody knows which of both its words are counted from.
    """
    if entry.source is not None and entry.source.said_at is not None:
        return [entry.source.said_at]
    written = entry.created_at
    return [written] if entry.event_time is None else [written, entry.event_time]
