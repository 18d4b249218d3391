"""Time words of a query, as soft preferences relative to a stated now.

"What did I do last May?" prefers memories of that month without excluding others:
people misremember dates, and a memory may be dated by when it was told. "Before the
trip" names no date; it gives the anchor, whose date the user's own memories may know.
"""

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from langchain_agentmemory.search.chinese_dates import read_chinese, simplified
from langchain_agentmemory.search.cues import MOST_CHARACTERS
from langchain_agentmemory.search.english_dates import read_english, words_of
from langchain_agentmemory.search.periods import Tense
from langchain_agentmemory.search.time_relations import Bounds, Side, relate
from langchain_agentmemory.types import EventPrecision

NEUTRAL: Final = 0.5
"""Closeness of what has no date: neither for nor against."""

_DAY: Final = timedelta(days=1)
_FUTURE: Final = frozenset(
    "will going next upcoming plan planning should due must need tomorrow".split()
)
_PAST: Final = frozenset("did was were had didn".split())
_SIDES: Final = frozenset("before after since until till prior following".split())
_ZH_FUTURE: Final = re.compile(r"[将要得]|打算|计划|准备|应该|会(?!议)")
_ZH_PAST: Final = re.compile(r"[了过]")
_LOOSE_MARK: Final = re.compile(r" ([?.!,;])(?= |$)")
_ZH_SIDE: Final = re.compile(r"[前后]")


@dataclass(frozen=True, slots=True)
class TimePreference:
    """When a query wants the things it asks for to have happened.

    Attributes:
        start: The first moment. `None` = no lower bound.
        end: The moment after the last. `None` = no upper bound.
        softness: How far outside closeness has halved: the length of the period that
            was named, at least a day.
        side: Whether the query wants what lies in the named period, before it or after
            it. It is already part of `start` and `end`.
        anchor: What the query names in place of a date ("the trip to Kyoto"); then
            `start` and `end` are `None` unless it names a date as well.
        words: The words that were read as time words, in the order of the query.
        rest: The query without them.
    """

    start: datetime | None = None
    end: datetime | None = None
    softness: timedelta = _DAY
    side: Side = "during"
    anchor: str | None = None
    words: tuple[str, ...] = ()
    rest: str = ""

    def anchored(
        self, when: datetime, precision: EventPrecision | None = "instant"
    ) -> "TimePreference":
        """Return the preference with the date of its anchor.

        Args:
            when: When the anchor happened, aware.
            precision: How exactly that is known.
        """
        last = _end_of(when, precision)
        if self.side == "before":
            return replace(self, end=_earlier(self.end, when))
        if self.side == "after":
            return replace(self, start=_later(self.start, last))
        return replace(self, start=when, end=last)


def closeness(
    preference: TimePreference,
    when: datetime | None,
    precision: EventPrecision | None = "instant",
) -> float:
    """Return how well a time fits a preference.

    Args:
        preference: What the query wants.
        when: When something happened, aware. `None` if that is not known.
        precision: How exactly it is known: a year is all of its days.

    Returns:
        1 inside; outside it halves with every `softness` of distance; `NEUTRAL` for the
        undated, and for a preference whose anchor has no date yet. What is known less
        exactly than asked (a year, when a month was asked) lies between `NEUTRAL` and
        1, by the share of it that fits.
    """
    start, end = preference.start, preference.end
    if when is None or (start is None and end is None):
        return NEUTRAL
    last = _end_of(when, precision)
    if start is not None and last <= start and when < start:
        return float(0.5 ** ((start - last) / preference.softness))
    if end is not None and when >= end:
        return float(0.5 ** ((when - end) / preference.softness))
    length = last - when
    if not length:
        return 1.0
    inside = (min(last, end) if end else last) - (max(when, start) if start else when)
    return NEUTRAL + (1 - NEUTRAL) * min(1.0, inside / length)


def overlaps(
    preference: TimePreference,
    when: datetime,
    precision: EventPrecision | None = "instant",
) -> bool:
    """Tell whether a time may lie in the one that is wanted: all of it, or a part."""
    start, end = preference.start, preference.end
    if end is not None and when >= end:
        return False
    return start is None or when >= start or _end_of(when, precision) > start


def time_preference(
    query: str, now: datetime, timezone: tzinfo
) -> TimePreference | None:
    """Read the time words of a query.

    Of several periods the shortest counts, and the others as far as they overlap it.

    Args:
        query: English or Chinese, simplified or traditional.
        now: What relative words are counted from, aware.
        timezone: Whose days are meant.

    Returns:
        The preference, or `None` if the query names no time. It never raises for any
        query.
    """
    text = query[:MOST_CHARACTERS]
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" becomes two characters
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    chinese = not text.isascii()
    if chinese:
        lowered = simplified(lowered)
    today = now.astimezone(timezone).date()
    words = words_of(lowered)
    tense = _tense(lowered, words, chinese=chinese)
    found = read_english(lowered, words, today, tense)
    if chinese:
        found = [*found, *read_chinese(lowered, today, tense)]
        found.sort(key=lambda period: period.span)
    sided = words & _SIDES or (chinese and _ZH_SIDE.search(lowered))
    if not found and not sided:
        return None
    bounds = relate(lowered, text, found)
    return None if bounds is None else _preference(query, bounds, timezone)


def _tense(text: str, words: frozenset[str], *, chinese: bool) -> Tense:
    ahead, behind = bool(words & _FUTURE), bool(words & _PAST)
    if chinese:
        ahead = ahead or _ZH_FUTURE.search(text) is not None
        behind = behind or _ZH_PAST.search(text) is not None
    return "future" if ahead and not behind else "past"


def _preference(query: str, bounds: Bounds, timezone: tzinfo) -> TimePreference:
    rest, at = [], 0
    for start, end in bounds.spans:
        rest.append(query[at:start])
        at = end
    rest.append(query[at:])
    return TimePreference(
        start=_midnight(bounds.start, timezone),
        end=_midnight(bounds.end, timezone),
        softness=max(bounds.length, _DAY),
        side=bounds.side,
        anchor=bounds.anchor,
        words=tuple(query[start:end] for start, end in bounds.spans),
        rest=_LOOSE_MARK.sub(r"\1", " ".join(" ".join(rest).split())),
    )


def _midnight(day: date | None, timezone: tzinfo) -> datetime | None:
    return None if day is None else datetime.combine(day, time.min, timezone)


def _end_of(when: datetime, precision: EventPrecision | None) -> datetime:
    """Return the moment after all that a time as exact as this may mean."""
    try:
        if precision == "year":
            return when.replace(year=when.year + 1)
        if precision == "month":
            return when + timedelta(days=monthrange(when.year, when.month)[1])
        return when + _DAY if precision == "day" else when
    except (OverflowError, ValueError):  # 29 February, year 9999
        return when


def _earlier(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else min(one, other)


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else max(one, other)
