"""Dates in sentences, on Friday, 10 May 2024."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.offline.dates import find_date
from langchain_agentmemory.times import parse_event_time, zone

TODAY = date(2024, 5, 10)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I went there today", "2024-05-10"),
        ("I went there yesterday", "2024-05-09"),
        ("the day before yesterday I swam", "2024-05-08"),
        ("I fly tomorrow", "2024-05-11"),
        ("last Monday we met", "2024-05-06"),
        ("last Friday we met", "2024-05-03"),
        ("three days ago", "2024-05-07"),
        ("2 weeks ago", "2024-04-26"),
        ("a month ago", "2024-04"),
        ("six months ago", "2023-11"),
        ("two years ago", "2022"),
        ("last month", "2024-04"),
        ("last year", "2023"),
        ("on May 7, 2021", "2021-05-07"),
        ("on 7 May 2021", "2021-05-07"),
        ("on the 7th of August 2021", "2021-08-07"),
        ("on December 24", "2023-12-24"),
        ("in March", "2024-03"),
        ("last October", "2023-10"),
        ("in June 2019", "2019-06"),
        ("in 2019", "2019"),
        ("on 2020-02-29", "2020-02-29"),
        ("今天去了", "2024-05-10"),
        ("昨天去了", "2024-05-09"),
        ("前天去了", "2024-05-08"),
        ("明天去", "2024-05-11"),
        ("后天去", "2024-05-12"),
        ("三天前", "2024-05-07"),
        ("两个月前", "2024-03"),
        ("上周三", "2024-05-01"),
        ("上个月", "2024-04"),
        ("去年", "2023"),
        ("2021年5月7日", "2021-05-07"),
        ("2021年5月", "2021-05"),
        ("2021年", "2021"),
        ("12月24日", "2023-12-24"),
    ],
)
def test_a_named_date_is_read_as_exactly_as_it_is_named(sentence, expected):
    assert find_date(sentence, TODAY) == expected


@pytest.mark.parametrize(
    "sentence",
    ["I like tea", "on 31 February 2024", "I may go", "我喜欢茶", "2024年13月40日"],
)
def test_no_calendar_date_is_none(sentence):
    assert find_date(sentence, TODAY) is None


@given(
    st.text(alphabet="0123456789 -/年月日天前上个周一二三agodys,May", max_size=30),
    st.dates(),
)
def test_what_is_found_is_always_a_date_that_the_tools_accept(sentence, today):
    found = find_date(sentence, today)
    if found is not None:
        try:
            parse_event_time(found, zone("UTC"))
        except InvalidInput as error:
            # Years before 1 or after 9999 cannot be counted back to.
            assert "year" in str(error)  # noqa: PT017
