"""Questions that are nothing but a time, and what lies in it."""

from datetime import UTC, datetime

import pytest

from langchain_agentmemory.search.moments import time_preference
from langchain_agentmemory.search.time_questions import (
    asks_only_for_time,
    fit,
    named_in,
)

NOW = datetime(2025, 8, 20, 12, tzinfo=UTC)
BARE = """
What happened in May 2025?
what did I do last week
What have I been up to lately?
Where was I on 8 May 2025?
Where did I go last weekend?
How was my day yesterday?
Tell me about last summer
What events took place in Q3 2023?
What's on my calendar tomorrow?
What are my plans for next week?
What did we talk about yesterday?
What happened since 2021?
May 2025
去年五月做了什么
上周发生了什么事
上周发生了什么事情？
我上個月做了什麼
還記得去年夏天發生的事嗎
最近怎么样
上周末去了哪里
下周有什么安排
前天干嘛了
昨天我们聊了什么
2025年5月
国庆做了什么
国慶做了什麼
七月我在哪里
七月我说了什么
去年七月在哪里
冬天做了什么
去年夏天想去哪
说说2020年
上星期有啥事儿
25年5月发生了什么
2025年5月你记了什么
what's on next week
What did you note for May 2025?
What was on in 2020?
"""
MORE = """
What did Ann do in May 2025?
What did I eat last Friday?
What happened on my birthday last year?
What happened after the trip to Kyoto?
How much did I spend last week?
How old was I last year?
What time do I get up tomorrow?
Will it rain tomorrow?
去年五月安妮做了什么
上周五吃了什么
搬家之后发生了什么
我去年多重
昨天花了多少钱
国庆是谁
國慶是誰
谁是国庆
七月是谁
七月说了什么
七月跟我说了什么
国庆说什么
中秋是谁
九月在哪里
九月在忙什么
夏天想去哪
冬天我去哪
春天在哪
What happened to 1984?
Was it more than in 2020?
Was it the same in 2020?
Что было в May 2025?
"""


def read(query):
    """Return the time that a query names."""
    found = time_preference(query, NOW, UTC)
    assert found is not None, query
    return found


@pytest.mark.parametrize("query", BARE.strip().splitlines())
def test_what_asks_for_nothing_but_a_time(query):
    assert asks_only_for_time(read(query))


@pytest.mark.parametrize("query", MORE.strip().splitlines())
def test_what_asks_for_something_else_as_well(query):
    assert not asks_only_for_time(read(query))


@pytest.mark.parametrize(
    ("query", "year"),
    [("25年5月", 2025), ("98年12月做了什么", 1998), ("2025年5月", 2025)],
)
def test_two_digits_before_a_month_are_a_year(query, year):
    assert read(query).start.year == year


@pytest.mark.parametrize("query", ["工作了25年", "125年5月", "25年5月前"])
def test_other_two_digits_are_none(query):
    found = time_preference(query, NOW, UTC)
    assert found is None or "25年5月" not in found.words


def day(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_fit_is_1_inside_and_0_outside():
    may = read("What happened in May 2025?")
    for text in ("2025-05-01", "2025-05-31T23:59"):
        assert fit(may, day(text)) == 1
    for text in ("2025-04-30T23:59", "2025-06-01", "2024-05-10"):
        assert fit(may, day(text)) == 0
    assert fit(may, None) == 0


def test_what_is_known_less_exactly_fits_by_its_share():
    may = read("What happened in May 2025?")
    assert 0.5 < fit(may, day("2025-01-01"), "year") < 0.6
    assert fit(may, day("2024-01-01"), "year") == 0
    assert fit(may, day("2025-05-01"), "month") == 1
    assert fit(read("what happened since May 2025?"), day("2025-01-01"), "year") > 0.5
    assert fit(read("what happened before 2020?"), day("2019-12-31")) == 1


def named(text, *told):
    return named_in(text, read("What happened in May 2025?"), map(day, told), UTC)


def test_a_text_names_the_time_by_itself():
    assert named("In May 2025 we moved", "2025-08-01") == (1, day("2025-05-01"))
    assert named("我们上个月搬家了", "2025-06-10") == (1, day("2025-05-01"))
    assert named("We moved last month", "2025-08-10") is None
    assert named("May is our daughter", "2025-08-10") is None
    assert named("All of 2025 I learnt Spanish", "2025-08-10")[0] < 0.6


def test_what_is_named_must_be_so_whatever_it_is_counted_from():
    assert named("In May we moved", "2025-08-01", "2024-05-10") is None
    assert named("The visa ends on 2025-05-20", "2025-08-01", "2024-05-10") == (
        1,
        day("2025-05-20"),
    )


def test_up_to_something_is_no_end():
    lately = read("What have I been up to lately?")
    assert lately.start is not None
    assert read("What did I do up to May 2025?").start is None
