"""Time words of a query, on Friday, 10 May 2024."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.chinese_dates import chinese_number
from langchain_agentmemory.search.moments import (
    NEUTRAL,
    TimePreference,
    closeness,
    time_preference,
)

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))


def days(query, now=NOW, zone=UTC):
    """Return the first day and the day after the last, as text."""
    found = time_preference(query, now, zone)
    if found is None:
        return None
    return tuple(
        None if m is None else f"{m:%Y-%m-%d}" for m in (found.start, found.end)
    )


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("Where was I yesterday?", "2024-05-09", "2024-05-10"),
        ("the day before yesterday", "2024-05-08", "2024-05-09"),
        ("What did I do last week?", "2024-04-29", "2024-05-06"),
        ("What did I do last weekend?", "2024-05-04", "2024-05-06"),
        ("What did I do this weekend?", "2024-05-11", "2024-05-13"),
        ("Who did I meet two weeks ago?", "2024-04-23", "2024-04-30"),
        ("Where did I go a few months ago?", "2023-12-01", "2024-04-01"),
        ("What did I do last May?", "2023-05-01", "2023-06-01"),
        ("What did I do last March?", "2024-03-01", "2024-04-01"),
        ("What happened in May 2023?", "2023-05-01", "2023-06-01"),
        ("Where was I in June?", "2023-06-01", "2023-07-01"),
        ("on 8 May, 2023", "2023-05-08", "2023-05-09"),
        ("on May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("on 2023-05-08", "2023-05-08", "2023-05-09"),
        ("on 7/22", "2023-07-22", "2023-07-23"),
        ("last Friday", "2024-05-03", "2024-05-04"),
        ("on Monday I was late", "2024-05-06", "2024-05-07"),
        ("What will I do on Monday?", "2024-05-13", "2024-05-14"),
        ("in 2021", "2021-01-01", "2022-01-01"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("this summer", "2024-06-01", "2024-09-01"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("in the summer of 2019", "2019-06-01", "2019-09-01"),
        ("last winter", "2023-12-01", "2024-03-01"),
        ("last Christmas", "2023-12-24", "2023-12-27"),
        ("in Q3 2023", "2023-07-01", "2023-10-01"),
        ("in mid-August 2023", "2023-08-11", "2023-08-21"),
        ("in the second week of November 2023", "2023-11-08", "2023-11-15"),
        ("over the past two weeks", "2024-04-26", "2024-05-11"),
        ("What have I bought recently?", "2024-04-10", "2024-05-11"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
        ("the week before August 3, 2023", "2023-07-27", "2023-08-03"),
        ("two days after 8 May 2023", "2023-05-10", "2023-05-11"),
        ("between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("last month, as said on November 6, 2023", "2023-11-06", "2023-11-07"),
        ("昨天我去了哪里", "2024-05-09", "2024-05-10"),
        ("前天", "2024-05-08", "2024-05-09"),
        ("大前天", "2024-05-07", "2024-05-08"),
        ("上周我做了什么", "2024-04-29", "2024-05-06"),
        ("上个周末", "2024-05-04", "2024-05-06"),
        ("上上周三", "2024-04-24", "2024-04-25"),
        ("上個禮拜五", "2024-05-03", "2024-05-04"),
        ("三个月前", "2024-02-01", "2024-03-01"),
        ("兩週前", "2024-04-23", "2024-04-30"),
        ("去年五月", "2023-05-01", "2023-06-01"),
        ("今年夏天", "2024-06-01", "2024-09-01"),
        ("去年冬天", "2023-12-01", "2024-03-01"),
        ("2023年5月8日", "2023-05-08", "2023-05-09"),
        ("二〇二三年五月八日", "2023-05-08", "2023-05-09"),
        ("十二月二十五号", "2023-12-25", "2023-12-26"),
        ("大前年", "2021-01-01", "2022-01-01"),
        ("去年年底", "2023-09-01", "2024-01-01"),
        ("今年第一季度", "2024-01-01", "2024-04-01"),
        ("去年国庆", "2023-10-01", "2023-10-09"),
        ("过去三个月", "2024-02-10", "2024-05-11"),
        ("最近我在看什么书", "2024-04-10", "2024-05-11"),
        ("2020年到2022年", "2020-01-01", "2023-01-01"),
        ("去年五月到八月", "2023-05-01", "2023-09-01"),
    ],
)
def test_a_time_is_read_as_the_days_it_names(query, start, end):
    assert days(query) == (start, end)


@pytest.mark.parametrize(
    ("query", "start", "end", "side"),
    [
        ("before May 2023", None, "2023-05-01", "before"),
        ("until May 2023", None, "2023-06-01", "before"),
        ("as of 27 March, 2022", None, "2022-03-28", "before"),
        ("after 8 May 2023", "2023-05-09", None, "after"),
        ("since 2021", "2021-01-01", None, "after"),
        ("五月八号之前", None, "2024-05-08", "before"),
        ("2021年以来", "2021-01-01", None, "after"),
        ("截至去年", None, "2024-01-01", "before"),
        ("上周五之后", "2024-05-04", None, "after"),
    ],
)
def test_before_and_after_a_date_are_open_on_one_side(query, start, end, side):
    assert days(query) == (start, end)
    assert time_preference(query, NOW, UTC).side == side


@pytest.mark.parametrize(
    ("query", "anchor", "side"),
    [
        ("What did I pack before the trip to Kyoto?", "the trip to Kyoto", "before"),
        ("Before the trip to Kyoto what did I pack?", "the trip to Kyoto", "before"),
        ("After the wedding, where did we go?", "the wedding", "after"),
        ("What have I read since I moved to Rome?", "I moved to Rome", "after"),
        ("How many did Ann buy after her move did Bo", "her move", "after"),
        ("搬家之前我住哪", "搬家", "before"),
        ("我去京都旅行之前买了什么", "去京都旅行", "before"),
        ("結婚後我住哪", "結婚", "after"),
    ],
)
def test_an_event_in_place_of_a_date_is_the_anchor(query, anchor, side):
    found = time_preference(query, NOW, UTC)
    assert (found.anchor, found.side) == (anchor, side)
    assert (found.start, found.end) == (None, None)


@pytest.mark.parametrize(
    "query",
    [
        "Where does Ann live?",
        "May I ask who may come?",
        "Who did I march with?",
        "What do I read before bed?",
        "Who was I named after?",
        "Do I like winter?",
        "Do I go to the gym on Saturday mornings?",
        "Which of the 2000 stamps is blue?",
        "How many days before the trip did I book?",
        "on 31 February 2024",
        "What is in the 2nd drawer?",
        "我喜欢喝什么茶",
        "我以前住在哪里",
        "睡觉之前我喜欢做什么",
        "每周三我去哪",
        "离我最近的地铁站是哪个",
        "2024年13月40日",
        "",
    ],
)
def test_a_query_without_a_time_has_no_preference(query):
    assert days(query) is None


def test_days_are_those_of_the_timezone():
    late = datetime(2024, 5, 10, 20, tzinfo=UTC)  # the 11th in Shanghai
    found = time_preference("yesterday", late, SHANGHAI)
    assert found.start == datetime(2024, 5, 10, tzinfo=SHANGHAI)
    assert found.end == datetime(2024, 5, 11, tzinfo=SHANGHAI)


def test_time_words_can_be_left_out_of_the_query():
    found = time_preference("What did Ann bake on 8 May, 2023 for Bo?", NOW, UTC)
    assert found.words == ("on 8 May, 2023",)
    assert found.rest == "What did Ann bake for Bo?"
    assert time_preference("去年五月我做了什么", NOW, UTC).rest == "我做了什么"


def test_a_longer_period_narrows_down_what_it_overlaps():
    assert days("last summer in July") == ("2023-07-01", "2023-08-01")
    assert days("after 3 May in May 2024") == ("2024-05-04", "2024-06-01")


MAY = time_preference("in May 2023", NOW, UTC)


def test_closeness_is_one_inside_and_halves_with_the_length_of_the_period():
    length = timedelta(days=31)
    assert closeness(MAY, MAY.start) == 1
    assert closeness(MAY, MAY.end - timedelta(seconds=1)) == 1
    assert closeness(MAY, MAY.end) == 1  # at distance 0
    assert closeness(MAY, MAY.end + length) == pytest.approx(0.5)
    assert closeness(MAY, MAY.start - 2 * length) == pytest.approx(0.25)


def test_closeness_of_a_day_to_its_own_date_is_one():
    day = time_preference("on 8 May 2023", NOW, UTC)
    assert closeness(day, datetime(2023, 5, 8, tzinfo=UTC), "day") == 1
    assert closeness(day, datetime(2023, 5, 7, tzinfo=UTC), "day") == 1 / 2**0
    assert closeness(day, datetime(2023, 5, 6, tzinfo=UTC), "day") == pytest.approx(0.5)


def test_what_is_known_less_exactly_lies_between_neutral_and_one():
    year = closeness(MAY, datetime(2023, 1, 1, tzinfo=UTC), "year")
    assert (
        NEUTRAL < year < closeness(MAY, datetime(2023, 5, 1, tzinfo=UTC), "month") == 1
    )


def test_the_undated_and_the_unresolved_are_neutral():
    trip = time_preference("before the trip", NOW, UTC)
    assert closeness(MAY, None) == closeness(trip, NOW) == NEUTRAL


def test_an_anchor_gets_its_date_later():
    trip = datetime(2023, 4, 3, tzinfo=UTC)
    before = time_preference("before the trip", NOW, UTC).anchored(trip, "day")
    after = time_preference("after the trip", NOW, UTC).anchored(trip, "day")
    assert (before.start, before.end) == (None, trip)
    assert (after.start, after.end) == (trip + timedelta(days=1), None)
    assert closeness(before, trip - timedelta(days=9)) == 1
    assert closeness(after, trip - timedelta(days=9)) < 0.01


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("十", 10), ("十二", 12), ("二十", 20), ("三十一", 31), ("两", 2),
     ("一百零五", 105), ("二〇二三", 2023), ("一九九八", 1998), ("两千零一", 2001)],
)  # fmt: skip
def test_chinese_numerals(text, number):
    assert chinese_number(text) == number


@pytest.mark.parametrize("text", ["", "几", "十几", "x"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match=r"^"):
        chinese_number(text)


PIECES = st.sampled_from(
    """last|next|this|past|week|weekend|month|May|march|8|31|2023|0001|9999|before|after
    |since|until|between|and|the|trip|of|ago|years|999|days|two|a few|Friday|summer|Q3
    |年|月|日|五|十|百|上|下|个|周|去年|之前|以后|前|后|到|从|三|〇|初|底|夏天|国庆|大前天
    |過去|İ|\U0001f600|-|/|,|'|the 90s|end of""".replace("\n    ", "").split("|")
)
TEXTS = (
    st.text(max_size=60)
    | st.lists(PIECES, max_size=12).map(" ".join)
    | st.lists(PIECES, max_size=12).map("".join)
)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(TEXTS, MOMENTS, st.sampled_from([UTC, SHANGHAI]))
def test_no_query_is_refused_and_what_is_found_is_in_order(query, now, zone):
    try:
        now.astimezone(zone)
    except OverflowError:
        return
    found = time_preference(query, now, zone)
    if found is None:
        return
    assert isinstance(found, TimePreference)
    assert found.anchor or found.start or found.end
    if found.start and found.end:
        assert found.start < found.end
    assert found.softness >= timedelta(days=1)
    assert all(word and word in query for word in found.words)
    for precision in ("year", "month", "day", "instant", None):
        assert 0 <= closeness(found, now, precision) <= 1
        assert 0 <= closeness(found.anchored(now, precision), now, precision) <= 1
