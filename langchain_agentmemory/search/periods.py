"""Stretches of the calendar that people name: a day, a week, last summer, a decade."""

import calendar
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

Unit = Literal["day", "weekday", "around", "week", "month", "season", "year", "span"]
"""How a period was named.

`"weekday"` is a day of the week alone, whose week was chosen; `"around"` a week whose
fourth day was meant ("two weeks ago"); `"season"` any few months; `"span"` any other
stretch ("the past two weeks").
"""


class Period(NamedTuple):
    """A stretch of days.

    Attributes:
        start: Its first day.
        end: The day after its last.
        unit: How it was named.
        span: Where in the text it was found, as `start, end` of a slice.
        floating: Whether its year was not named, but chosen.
    """

    start: date
    end: date
    unit: Unit
    span: tuple[int, int] = (0, 0)
    floating: bool = False


Tense = Literal["past", "future"]
"""Where a date without a year lies: at or before today, or at or after it."""

_THIRDS: Final = {"early": 0, "middle": 1, "late": 2}
_DAY: Final = timedelta(days=1)


def day(first: date) -> Period:
    """Return one day."""
    return Period(first, first + _DAY, "day")


def days(first: date, count: int, unit: Unit = "week") -> Period:
    """Return so many days."""
    return Period(first, first + timedelta(days=count), unit)


def around(middle: date) -> Period:
    """Return the seven days with this one in the middle."""
    return days(middle - timedelta(days=3), 7, "around")


def month(year: int, number: int, count: int = 1) -> Period:
    """Return a month, or several from it on; numbers above 12 or below 1 carry over."""
    first = year * 12 + number - 1
    start = date(first // 12, first % 12 + 1, 1)
    last = first + count
    return Period(
        start, date(last // 12, last % 12 + 1, 1), "month" if count == 1 else "season"
    )


def year(number: int, count: int = 1) -> Period:
    """Return a year, or several."""
    return Period(date(number, 1, 1), date(number + count, 1, 1), "year")


def monday(today: date) -> date:
    """Return the first day of a day's week."""
    return today - timedelta(days=today.weekday())


def week(today: date, away: int = 0) -> Period:
    """Return the week of a day, or one so many weeks away, Monday to Sunday."""
    return days(monday(today) + timedelta(weeks=away), 7)


def weekend(today: date, away: int = 0) -> Period:
    """Return Saturday and Sunday of a day's week, or of one so many weeks away."""
    return days(monday(today) + timedelta(weeks=away, days=5), 2)


def weekday(today: date, wanted: int, tense: Tense) -> Period:
    """Return the nearest such day of the week (0 = Monday), today or further."""
    if tense == "future":
        return days(
            today + timedelta(days=(wanted - today.weekday()) % 7), 1, "weekday"
        )
    return days(today - timedelta(days=(today.weekday() - wanted) % 7), 1, "weekday")


def back(today: date, count: int, unit: str) -> Period:
    """Return what "so many units ago" means: as exact as the unit.

    Args:
        today: The day to count from.
        count: How many; negative ones lie ahead.
        unit: `"day"`, `"week"`, `"month"`, `"year"` or `"decade"`.
    """
    if unit == "day":
        return day(today - timedelta(days=count))
    if unit == "week":
        return around(today - timedelta(weeks=count))
    if unit == "month":
        return month(today.year, today.month - count)
    return year(today.year - count * (10 if unit == "decade" else 1))


def shifted(today: date, count: int, unit: str) -> date:
    """Return the day so many units before, cut to the length of its month."""
    if unit in ("day", "week"):
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    months = today.year * 12 + today.month - 1
    months -= count * {"month": 1, "year": 12, "decade": 120}[unit]
    last = calendar.monthrange(months // 12, months % 12 + 1)[1]
    return date(months // 12, months % 12 + 1, min(today.day, last))


def until(today: date, count: int, unit: str) -> Period:
    """Return the stretch of so many units that ends today."""
    return Period(shifted(today, count, unit), today + _DAY, "span")


def part(period: Period, name: str) -> Period:
    """Return the `"early"`, `"middle"` or `"late"` third of a period."""
    third = (period.end - period.start) // 3
    start = period.start + _THIRDS[name] * third
    end = period.end if name == "late" else start + third
    return period._replace(start=start, end=max(end, start + _DAY))


def placed(
    build: Callable[[int], Period], today: date, tense: Tense = "past"
) -> Period:
    """Return a yearly period in the year that was meant.

    Args:
        build: The period of a year. A year without it (29 February) is skipped.
        today: The present day.
        tense: `"past"`: the latest that has begun. `"future"`: the first that has not
            ended.

    Raises:
        ValueError: If none of eight years has it.
    """
    step = -1 if tense == "past" else 1
    for number in range(today.year - step, today.year + 8 * step, step):
        try:
            found = build(number)
        except ValueError:
            continue
        if found.start <= today if step < 0 else found.end > today:
            return found._replace(floating=True)
    msg = "no such day"
    raise ValueError(msg)


def ended(build: Callable[[int], Period], today: date) -> Period:
    """Return the latest period of a year that is over ("last May").

    Raises:
        ValueError: If none of eight years has it.
    """
    for number in range(today.year, today.year - 8, -1):
        try:
            found = build(number)
        except ValueError:
            continue
        if found.end <= today:
            return found
    msg = "no such day"
    raise ValueError(msg)


def free(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Tell whether a stretch of text has not been read yet."""
    return all(span[1] <= start or span[0] >= end for start, end in taken)


def in_order(found: list[Period]) -> Iterator[Period]:
    """Yield periods in the order of the text."""
    yield from sorted(found, key=lambda period: period.span)
