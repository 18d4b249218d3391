"""Dates that people say: "yesterday", "last March", 前天, 2024年5月3日.

The memory tools take absolute dates only, so the offline model works out what a
relative one means on the day it is said.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1
    )
}
_MONTH: Final = (
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|e|y|ust|t?ember|ober|t)?"
)
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_ZH_DAYS: Final = {c: i % 7 for i, c in enumerate("一二三四五六日")} | {"天": 6}
_NUMBERS: Final = {
    **{
        word: n for n, word in enumerate("one two three four five six".split(), start=1)
    },
    **{char: n for n, char in enumerate("一二三四五六七八九十", start=1)},
    "a": 1,
    "a couple of": 2,
    "两": 2,
}
_COUNT: Final = (
    r"(?P<count>\d{1,3}|[一二两三四五六七八九十]|one|two|three|four|five|six"
    r"|a couple of|a)"
)

Reading = Callable[[re.Match[str], date], str]


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
    for pattern, read in _READINGS:
        if match := pattern.search(text):
            try:
                return read(match, today)
            except (ValueError, OverflowError):  # 31 February, year 0
                return None
    return None


def _shifted(days: int) -> Reading:
    return lambda _, today: (today + timedelta(days=days)).isoformat()


def _ago(match: re.Match[str], today: date) -> str:
    given = match["count"].lower()
    count = int(given) if given.isdigit() else _NUMBERS[given]
    unit = match["unit"].lower()
    if unit.startswith(("day", "天")):
        return (today - timedelta(days=count)).isoformat()
    if unit.startswith(("week", "周", "星期")):
        return (today - timedelta(weeks=count)).isoformat()
    if unit.startswith(("year", "年")):
        return f"{today.year - count:04d}"
    months = today.year * 12 + today.month - 1 - count
    return f"{months // 12:04d}-{months % 12 + 1:02d}"


def _last_month(_: re.Match[str], today: date) -> str:
    return (today.replace(day=1) - timedelta(days=1)).isoformat()[:7]


def _last_weekday(match: re.Match[str], today: date) -> str:
    wanted = _DAYS.index(match["weekday"].lower())
    back = (today.weekday() - wanted) % 7 or 7
    return (today - timedelta(days=back)).isoformat()


def _zh_last_weekday(match: re.Match[str], today: date) -> str:
    monday = today - timedelta(days=today.weekday() + 7)
    return (monday + timedelta(days=_ZH_DAYS[match["weekday"]])).isoformat()


def _calendar_date(match: re.Match[str], today: date) -> str:
    groups = match.groupdict()
    month = match["month"].lower()
    number = int(month) if month.isdigit() else _MONTHS[month[:3]]
    day = int(groups["day"]) if groups.get("day") else None
    if groups.get("year"):
        year = int(match["year"])
    elif day is None:
        year = today.year if number <= today.month else today.year - 1
    else:
        year = (
            today.year if (number, day) <= (today.month, today.day) else today.year - 1
        )
    whole = date(year, number, day or 1).isoformat()
    return whole if day else whole[:7]


def _year(match: re.Match[str], _: date) -> str:
    return match["year"]


_READINGS: Final[tuple[tuple[re.Pattern[str], Reading], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b", _calendar_date),
        (
            r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]",
            _calendar_date,
        ),
        (r"(?P<year>\d{4})年(?P<month>\d{1,2})月", _calendar_date),
        (r"(?P<year>\d{4})年", _year),
        (
            (
                rf"\b{_MONTH}\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
                r"(?:,?\s+(?P<year>\d{4}))?\b(?!:)"
            ),
            _calendar_date,
        ),
        (
            (
                rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}"
                r"(?:,?\s+(?P<year>\d{4}))?\b"
            ),
            _calendar_date,
        ),
        (rf"\b{_MONTH}\s+(?P<year>\d{{4}})\b", _calendar_date),
        (rf"\b(?:in|last)\s+{_MONTH}\b", _calendar_date),
        (r"(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]", _calendar_date),
        (r"day before yesterday|前天", _shifted(-2)),
        (r"\byesterday\b|\blast night\b|昨[天晚日]", _shifted(-1)),
        (r"day after tomorrow|后天", _shifted(2)),
        (r"\btomorrow\b|明[天晚早日]", _shifted(1)),
        (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", _shifted(0)),
        (r"今[天晚早日]", _shifted(0)),
        (rf"\b{_COUNT}\s+(?P<unit>days?|weeks?|months?|years?)\s+ago\b", _ago),
        (rf"{_COUNT}(?P<unit>天|个星期|个月|周|年|星期)(?:之?前|以前)", _ago),
        (rf"\blast\s+(?P<weekday>{'|'.join(_DAYS)})\b", _last_weekday),
        (r"上(?:个)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _zh_last_weekday),
        (r"\blast month\b|上个?月", _last_month),
        (r"\blast year\b|去年", lambda _, today: f"{today.year - 1:04d}"),
        (r"前年", lambda _, today: f"{today.year - 2:04d}"),
        (r"\b(?:in|since|during)\s+(?P<year>(?:19|20)\d{2})\b", _year),
    )
)
