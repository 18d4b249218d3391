"""Dates that people say: "yesterday", "last March", 前天, 2024年5月3日.

The memory tools take absolute dates only, so the offline model works out what a
relative one means on the day it is said.
"""

from datetime import date, timedelta
from typing import Final

from langchain_agentmemory.search.chinese_dates import read_chinese, simplified
from langchain_agentmemory.search.english_dates import read_english, words_of
from langchain_agentmemory.search.periods import Period, in_order
from langchain_agentmemory.search.scripts import LazyPattern

# "Before 2019" is no date at which something happened.
_OPEN: Final = LazyPattern(r"\b(?:before|after|until|till|by) (?:the )?$")


def find_date(text: str, today: date) -> str | None:
    """Return the date that a sentence names, as the memory tools accept it.

    Args:
        text: One sentence, English or Chinese.
        today: The day that relative words are counted from.

    Returns:
        `YYYY-MM-DD`, `YYYY-MM` or `YYYY`, as exact as the sentence is. `None` if it
        names none, or one that is no calendar date. A day without a year is the
        latest one that is not after `today`.
    """
    lowered = simplified(text.lower())
    found = [
        *read_english(lowered, words_of(lowered), today),
        *read_chinese(lowered, today),
    ]
    for period in in_order(found):
        if not _OPEN.search(lowered[: period.span[0]][-20:]) and (
            written := _written(period)
        ):
            return written
    return None


def _written(period: Period) -> str | None:
    """Return a period as a date, `None` if it is none: a week, a season, a decade."""
    if period.unit == "around":
        return (period.start + timedelta(days=3)).isoformat()
    length = {"day": 10, "month": 7, "year": 4}.get(period.unit)
    if length is None or (
        period.unit == "year" and period.end.year != period.start.year + 1
    ):
        return None
    return period.start.isoformat()[:length]
