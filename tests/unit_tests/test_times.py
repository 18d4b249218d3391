"""Points in time: what can be read, what cannot, and how exact it is."""

# ruff: noqa: DTZ001, DTZ901 - naive datetimes are part of what is tested

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.times import (
    ACCEPTED_FORMS,
    end_of_period,
    format_event_time,
    from_us,
    parse_event_time,
    to_us,
    zone,
)

SHANGHAI = ZoneInfo("Asia/Shanghai")
CHINA = timezone(timedelta(hours=8))
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("text", "expected", "precision"),
    [
        ("2024-05-07T10:30:00Z", datetime(2024, 5, 7, 10, 30), "instant"),
        ("2024-05-07T10:30:00", datetime(2024, 5, 7, 10, 30), "instant"),
        ("2024-05-07 10:30:00", datetime(2024, 5, 7, 10, 30), "instant"),
        ("2024-05-07T10:30:00.5", datetime(2024, 5, 7, 10, 30, 0, 500_000), "instant"),
        (
            "2024-05-07 10:30:00.1234567",
            datetime(2024, 5, 7, 10, 30, 0, 123_456),
            "instant",
        ),
        ("2024-05-07", datetime(2024, 5, 7), "day"),
        ("7 May 2024", datetime(2024, 5, 7), "day"),
        ("07 may 2024", datetime(2024, 5, 7), "day"),
        ("7 Sep 2024", datetime(2024, 9, 7), "day"),
        ("September 7, 2024", datetime(2024, 9, 7), "day"),
        ("SEP 7, 2024", datetime(2024, 9, 7), "day"),
        ("December 2023", datetime(2023, 12, 1), "month"),
        ("Dec 2023", datetime(2023, 12, 1), "month"),
        ("2024-05", datetime(2024, 5, 1), "month"),
        ("2024", datetime(2024, 1, 1), "year"),
        ("2024年5月7日", datetime(2024, 5, 7), "day"),
        ("2024 年 05 月 07 日", datetime(2024, 5, 7), "day"),
        ("2024年5月7号", datetime(2024, 5, 7), "day"),
        ("2024年5月", datetime(2024, 5, 1), "month"),
        ("2024年", datetime(2024, 1, 1), "year"),
        ("  2024-02-29\n", datetime(2024, 2, 29), "day"),
    ],
)
def test_every_accepted_form_is_read_with_its_precision(text, expected, precision):
    assert parse_event_time(text, UTC) == (expected.replace(tzinfo=UTC), precision)


@pytest.mark.parametrize("month", range(1, 13))
def test_full_and_short_english_month_names_are_read(month):
    full = date(2024, month, 1).strftime("%B")
    for name in (full, full[:3], full.lower(), full.upper()):
        expected = (datetime(2024, month, 1, tzinfo=UTC), "month")
        assert parse_event_time(f"{name} 2024", UTC) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "2024-05-07T10:30",  # minutes without seconds
        "2024-05-07 10:30",
        "2024/05/07",
        "05/07/2024",
        "20240507",
        "2024-5-7",
        "2024-05-7",
        "May 7 2024",  # no comma
        "May 7th, 2024",
        "7th May 2024",
        "Sept 2024",
        "Tuesday, May 7, 2024",
        "yesterday",
        "last spring",
        "2024-02-30",
        "2023-02-29",
        "30 February 2024",
        "2024-13",
        "2024-05-07T25:00:00",
        "2024-05-07T10:60:00",
        "2024-05-07T10:30:00+24:00",
        "2024-05-07T10:30:00+08:60",
        "2024-05-07t10:30:00z",
        "0000-01-01",
        "99999",
        "5月7日",
        "2024年13月",
        "2024年2月30日",
        "２０２４",  # full-width digits
        "昨天",
        "2024-05-07; DROP",
        "2024-05-07\x00",
        "\ud800",
        "nan",
        "infinity",
    ],
)
def test_what_cannot_be_read_is_an_error_that_lists_what_can(text):
    with pytest.raises(InvalidInput) as caught:
        parse_event_time(text, UTC)
    assert ACCEPTED_FORMS in str(caught.value)
    str(caught.value).encode()  # the message itself can be printed and stored


def test_every_listed_form_is_accepted():
    forms = ACCEPTED_FORMS.replace("May 7, 2024", "May 7+ 2024").split(", ")
    for form in forms:
        parse_event_time(form.replace("+ ", ", "), UTC)


@pytest.mark.parametrize("value", [None, 2024, 1.5, float("nan"), True, b"2024", []])
def test_other_types_are_refused(value):
    with pytest.raises(InvalidInput):
        parse_event_time(value, UTC)


def test_an_error_quotes_only_the_beginning_of_a_long_text():
    with pytest.raises(InvalidInput) as caught:
        parse_event_time("x" * 5_000_000, UTC)
    assert len(str(caught.value)) < 600


def test_what_carries_no_zone_is_taken_in_the_given_one():
    midnight = datetime(2024, 5, 7, tzinfo=CHINA)
    for value in ("2024-05-07", date(2024, 5, 7), datetime(2024, 5, 7), "2024年5月7日"):
        moment, _ = parse_event_time(value, SHANGHAI)
        assert moment == midnight
        assert moment.utcoffset() == timedelta(hours=8)


def test_what_carries_an_offset_keeps_it():
    moment, _ = parse_event_time("2024-05-07T10:30:00-07:00", SHANGHAI)
    assert moment.isoformat() == "2024-05-07T10:30:00-07:00"
    moment, _ = parse_event_time(datetime(2024, 7, 1, 12, tzinfo=NEW_YORK), SHANGHAI)
    assert moment.isoformat() == "2024-07-01T12:00:00-04:00"


def test_a_date_is_a_day_and_a_datetime_an_instant():
    assert parse_event_time(date(2024, 5, 7), UTC)[1] == "day"
    assert parse_event_time(datetime(2024, 5, 7), UTC)[1] == "instant"


def test_a_time_in_the_repeated_hour_equals_the_same_instant_elsewhere():
    repeated = datetime(2024, 11, 3, 1, 30, tzinfo=NEW_YORK)
    moment, _ = parse_event_time(repeated, UTC)
    assert moment == datetime(2024, 11, 3, 5, 30, tzinfo=UTC)


def test_the_offset_of_local_mean_time_survives_writing_and_reading():
    moment, _ = parse_event_time("1900-01-01T00:00:00", SHANGHAI)
    assert parse_event_time(format_event_time(moment), UTC) == (moment, "instant")


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ("0001-01-01", CHINA),
        ("9999-12-31T23:59:59-01:00", UTC),
        (datetime.min, CHINA),
        (datetime.max, NEW_YORK),
    ],
)
def test_moments_that_utc_cannot_express_are_refused(value, where):
    with pytest.raises(InvalidInput, match="between the years 1 and 9999"):
        parse_event_time(value, where)


def test_a_datetime_that_is_no_time_is_refused():
    class NotATime(datetime):
        @property
        def year(self):
            return float("nan")

    with pytest.raises(InvalidInput):
        parse_event_time(NotATime(2024, 1, 1, tzinfo=UTC), UTC)


def test_a_tzinfo_without_an_offset_counts_as_naive():
    class Nowhere(tzinfo):
        def utcoffset(self, _):
            return None

    naive = datetime(2024, 5, 7, tzinfo=Nowhere())
    assert parse_event_time(naive, CHINA)[0] == datetime(2024, 5, 7, tzinfo=CHINA)


@pytest.mark.parametrize(
    ("value", "last_day"),
    [
        ("2024", (2024, 12, 31)),
        ("2024年", (2024, 12, 31)),
        ("2024-02", (2024, 2, 29)),
        ("Feb 2023", (2023, 2, 28)),
        ("2024年2月", (2024, 2, 29)),
        ("2024-05-07", (2024, 5, 7)),
        ("7 May 2024", (2024, 5, 7)),
        (date(2024, 5, 7), (2024, 5, 7)),
    ],
)
def test_a_period_ends_with_its_last_microsecond(value, last_day):
    expected = datetime(*last_day, 23, 59, 59, 999_999, tzinfo=CHINA)
    assert end_of_period(value, SHANGHAI) == expected


def test_a_period_ends_in_the_offset_that_holds_at_its_end():
    assert end_of_period("2024-11", NEW_YORK).utcoffset() == timedelta(hours=-5)
    assert parse_event_time("2024-11", NEW_YORK)[0].utcoffset() == timedelta(hours=-4)


@pytest.mark.parametrize("whole_day", [False, True])
def test_a_datetime_bound_is_that_instant(whole_day):
    instant = datetime(2024, 5, 7, 10, 30, tzinfo=CHINA)
    assert end_of_period(instant, UTC, whole_day=whole_day) == instant


def test_text_with_a_time_of_day_is_extended_only_on_request():
    text = "2025-04-05T01:02:03-07:00"
    exact = end_of_period(text, UTC)
    assert exact.isoformat() == "2025-04-05T01:02:03-07:00"
    widened = end_of_period(text, UTC, whole_day=True)
    assert widened.isoformat() == "2025-04-05T23:59:59.999999-07:00"


def test_the_end_of_the_calendar_is_the_last_bound():
    assert end_of_period("9999", NEW_YORK) == datetime.max.replace(tzinfo=UTC)


def test_zones_are_found_by_name_and_fixed_offset():
    assert zone("Asia/Shanghai") == SHANGHAI
    assert zone("+08:00").utcoffset(None) == timedelta(hours=8)
    assert zone("-03:30").utcoffset(None) == timedelta(hours=-3, minutes=-30)
    assert zone(SHANGHAI) is SHANGHAI


def test_utc_needs_no_tz_database(monkeypatch):
    def missing(name):
        raise KeyError(name)

    monkeypatch.setattr("langchain_agentmemory.times.ZoneInfo", missing)
    assert zone("UTC") is UTC
    assert zone("utc") is UTC


@pytest.mark.parametrize(
    "name",
    ["Mars/Olympus", "", "America", "../etc/passwd", "a\x00b", "\ud800", 8, None],
)
def test_an_unknown_zone_is_refused(name):
    with pytest.raises(InvalidInput, match="timezone"):
        zone(name)


def test_a_naive_datetime_can_neither_be_written_nor_counted():
    for function in (format_event_time, to_us):
        with pytest.raises(InvalidInput, match="naive"):
            function(datetime(2024, 5, 7))


AWARE = st.datetimes(
    min_value=datetime(1, 1, 3),
    max_value=datetime(9999, 12, 29),
    timezones=st.sampled_from([UTC, CHINA, timezone(timedelta(hours=-7, minutes=-30))]),
)


@given(AWARE)
def test_microseconds_are_exact_both_ways(moment):
    assert from_us(to_us(moment)) == moment
    assert from_us(to_us(moment)).tzinfo is UTC


@given(AWARE)
def test_what_is_written_is_read_back_with_its_offset(moment):
    again, precision = parse_event_time(format_event_time(moment), SHANGHAI)
    assert (again, again.utcoffset()) == (moment, moment.utcoffset())
    assert precision == "instant"


@given(st.text() | st.from_regex(r"[0-9T:. Z+-]{4,30}"))
def test_any_text_is_either_read_or_refused(text):
    try:
        moment, _ = parse_event_time(text, SHANGHAI)
    except InvalidInput:
        return
    assert moment.utcoffset() is not None
    assert end_of_period(text, SHANGHAI) >= moment


def test_microseconds_beyond_the_calendar_are_refused():
    assert from_us(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert to_us(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1
    for beyond in (10**18, -(10**18), 10**30):
        with pytest.raises(InvalidInput, match="years 1 to 9999"):
            from_us(beyond)
