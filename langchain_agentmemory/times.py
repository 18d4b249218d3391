"""Reading and writing points in time.

People and models write dates in many ways and to different degrees of exactness. This
module reads them into an aware `datetime` and says how exact they were, so that a
birthday stays a day and "2024" stays a year. Whatever carries no zone of its own is
taken in the zone that the caller names. It never guesses: what cannot be read is an
error that lists what can.
"""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from datetime import timezone as fixed_offset
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.types import EventPrecision, TimeInput

ACCEPTED_FORMS: Final = (
    "2024-05-07T10:30:00+08:00, 2024-05-07T10:30:00, 2024-05-07 10:30:00, 2024-05-07, "
    "7 May 2024, May 7, 2024, May 2024, 2024-05, 2024, 2024年5月7日, 2024年5月, 2024年"
)
"""One example of each way to write a point in time, for messages and descriptions."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LAST_MOMENT: Final = time.max

# English names spelt out: those of `calendar` follow the locale of the process.
_MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS: Final = {
    spelling: number
    for number, name in enumerate(_MONTH_NAMES, start=1)
    for spelling in (name, name[:3])
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"

# Digits are ASCII on purpose: `\d` would take any script's digits.
_INSTANT: Final = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:T(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-5][0-9](?::[0-5][0-9])?)?"
    r"| +(?P<clock2>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,](?P<fraction2>[0-9]+))?)"
)
_CHINESE_MONTH = r" *(?P<month>[0-9]{1,2}) *月"
_CHINESE_DAY = r" *(?P<day>[0-9]{1,2}) *[日号]"
_REDUCED: Final = (
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?",
    rf"(?:(?P<day>[0-9]{{1,2}}) +)?{_MONTH} +(?P<year>[0-9]{{4}})",
    rf"{_MONTH} +(?P<day>[0-9]{{1,2}}), +(?P<year>[0-9]{{4}})",
    rf"(?P<year>[0-9]{{4}}) *年(?:{_CHINESE_MONTH}(?:{_CHINESE_DAY})?)?",
)
_OFFSET: Final = re.compile(
    r"(?P<sign>[+-])(?P<hours>[01][0-9]|2[0-3]):(?P<minutes>[0-5][0-9])"
)


def parse_event_time(
    value: TimeInput, timezone: tzinfo
) -> tuple[datetime, EventPrecision]:
    """Read a point in time.

    Args:
        value: A `datetime`, a `date`, or text in one of `ACCEPTED_FORMS` (English
            month names may be shortened to three letters, in any case; seconds may
            have a fraction, of which microseconds are kept).
        timezone: Where values without a zone of their own are taken.

    Returns:
        The moment, or the first moment of the day, month or year, with its offset
        from UTC; and how exactly it was given. A `date` is a day, a `datetime` an
        instant.

    Raises:
        InvalidInput: If it cannot be read, is not a date of the calendar, or lies
            outside the years 1 to 9999 (also when expressed in UTC).
    """
    if isinstance(value, datetime):
        return _anchored(value, timezone), "instant"
    if isinstance(value, date):
        return _start_of(value, timezone), "day"
    given: object = value
    if not isinstance(given, str):
        msg = (
            f"A point in time must be a datetime, a date or text, not "
            f"{type(given).__name__}. Accepted texts look like: {ACCEPTED_FORMS}."
        )
        raise InvalidInput(msg)
    text = given.strip()
    try:
        if instant := _INSTANT.fullmatch(text):
            return _anchored(_read_instant(instant), timezone), "instant"
        for pattern in _reduced():
            if reduced := pattern.fullmatch(text):
                day, precision = _read_reduced(reduced)
                return _start_of(day, timezone), precision
    except ValueError as error:  # no such day, hour or offset
        raise _unreadable(value, str(error)) from error
    raise _unreadable(value)


def end_of_period(
    value: TimeInput, timezone: tzinfo, *, whole_day: bool = False
) -> datetime:
    """Return the last moment that an upper bound includes.

    "Before May 2024" includes all of May: text that names a year, a month or a day,
    and `date` objects, mean their last microsecond. A `datetime` means that instant.

    Args:
        value: What `parse_event_time` accepts.
        timezone: Where values without a zone of their own are taken.
        whole_day: Also extend text with a time of day to the end of that day, in its
            own offset. The search tool does so: models tend to write
            `2024-05-07T00:00:00` for "until the 7th". It never extends a `datetime`.

    Raises:
        InvalidInput: As `parse_event_time` does.
    """
    start, precision = parse_event_time(value, timezone)
    if precision == "instant" and not (whole_day and isinstance(value, str)):
        return start
    month = 12 if precision == "year" else start.month
    day = start.day
    if precision in {"year", "month"}:
        day = calendar.monthrange(start.year, month)[1]
    last = datetime.combine(date(start.year, month, day), _LAST_MOMENT)
    offset = start.tzinfo if precision == "instant" else timezone
    try:
        return _anchored(last, offset or timezone)
    except InvalidInput:  # the end of 9999 west of Greenwich is beyond the calendar
        return datetime.max.replace(tzinfo=UTC)


def zone(name: str | tzinfo) -> tzinfo:
    """Return a time zone by its name.

    Args:
        name: An IANA name such as `"Asia/Shanghai"`, `"UTC"`, a fixed offset such as
            `"+08:00"`, or a `tzinfo`, which is returned as it is.

    Raises:
        InvalidInput: If no such zone is known on this machine.
    """
    if isinstance(name, tzinfo):
        return name
    given: object = name
    if not isinstance(given, str):
        msg = f"timezone must be a name or a tzinfo, not {type(given).__name__}."
        raise InvalidInput(msg)
    if name.upper() in {"UTC", "ETC/UTC", "Z"}:
        return UTC  # known without the tz database, which some machines lack
    if match := _OFFSET.fullmatch(name):
        size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
        return fixed_offset(-size if match["sign"] == "-" else size)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        msg = (
            f"Unknown timezone {quoted(name)}: use an IANA name such as "
            f"'Europe/Berlin' or 'Asia/Shanghai', a fixed offset such as '+08:00', or "
            f"'UTC'. (If the name is right, this machine lacks the tz database: "
            f"install the package tzdata.)"
        )
        raise InvalidInput(msg) from error


def format_event_time(value: datetime) -> str:
    """Write a moment as ISO 8601 with its own offset; `parse_event_time` reads it back.

    Raises:
        InvalidInput: If it has no offset.
    """
    if value.utcoffset() is None:
        msg = "A naive datetime has no offset to write: attach a timezone first."
        raise InvalidInput(msg)
    return value.isoformat()


def to_us(value: datetime) -> int:
    """Return microseconds since the Unix epoch, exactly.

    Raises:
        InvalidInput: If the datetime is naive.
    """
    if value.utcoffset() is None:
        msg = "A naive datetime is no point in time: attach a timezone first."
        raise InvalidInput(msg)
    return (value - _EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """Return the UTC datetime of microseconds since the Unix epoch, exactly.

    Raises:
        InvalidInput: If it lies outside the years 1 to 9999.
    """
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError as error:
        msg = f"{microseconds} µs since 1970 lies outside the years 1 to 9999."
        raise InvalidInput(msg) from error


def _read_instant(match: re.Match[str]) -> datetime:
    clock = match["clock"] or match["clock2"]
    fraction = (match["fraction"] or match["fraction2"] or "")[:6].ljust(6, "0")
    return datetime.fromisoformat(
        f"{match['day']}T{clock}.{fraction}{match['zone'] or ''}"
    )


def _read_reduced(match: re.Match[str]) -> tuple[date, EventPrecision]:
    year, month, day = match["year"], _group(match, "month"), _group(match, "day")
    if month is None:
        return date(int(year), 1, 1), "year"
    number = _MONTHS.get(month.lower()) or int(month)
    if day is None:
        return date(int(year), number, 1), "month"
    return date(int(year), number, int(day)), "day"


@cache
def _reduced() -> tuple[re.Pattern[str], ...]:
    """Return what dates without a time look like; slow to compile."""
    flags = re.IGNORECASE | re.ASCII
    return tuple(re.compile(pattern, flags) for pattern in _REDUCED)


def _group(match: re.Match[str], name: str) -> str | None:
    return match.groupdict().get(name)


def _start_of(day: date, timezone: tzinfo) -> datetime:
    return _anchored(datetime.combine(day, time.min), timezone)


def _anchored(value: datetime, timezone: tzinfo) -> datetime:
    """Return a plain datetime with a fixed offset that UTC can express too.

    The offset is fixed because Python never finds a time in the repeated hour of a
    zone equal to the same instant written in another zone (PEP 495).
    """
    try:
        if value.utcoffset() is None:
            value = value.replace(tzinfo=timezone)
        offset = value.utcoffset() or timedelta(0)
        # Also turns subclasses, whose "not a time" values fail here, into datetimes.
        plain = datetime(
            value.year,
            value.month,
            value.day,
            value.hour,
            value.minute,
            value.second,
            value.microsecond,
            tzinfo=UTC if not offset else fixed_offset(offset),
        )
        plain.astimezone(UTC)
    except (OverflowError, TypeError, ValueError) as error:
        msg = (
            f"{quoted(str(value))} is not a point in time between the years 1 and "
            f"9999 UTC."
        )
        raise InvalidInput(msg) from error
    return plain


def _unreadable(value: str, reason: str = "") -> InvalidInput:
    because = f" ({reason})" if reason else ""
    return InvalidInput(
        f"Cannot read {quoted(value)} as a point in time{because}. Write an absolute "
        f"date in one of these forms: {ACCEPTED_FORMS}. Relative words, slashes, and "
        f"days without a year are not understood."
    )
