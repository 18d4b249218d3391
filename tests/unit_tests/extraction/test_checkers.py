from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.messages import HumanMessage

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.extraction.checkers import (
    all_of,
    any_of,
    message_threshold,
    time_interval,
)
from langchain_agentmemory.extraction.context import ExtractionContext
from langchain_agentmemory.types import UserKey
from tests.unit_tests.extraction.doubles import scripted

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def context(messages=1, last=None):
    waiting = [HumanMessage("hi")] * messages
    return ExtractionContext(UserKey("default", "ann"), waiting, last_extract_at=last)


def yes(context):
    return True


def no(context):
    return False


def never_asked(context):
    raise AssertionError


@pytest.mark.parametrize(("waiting", "due"), [(2, False), (3, False), (4, True)])
def test_the_threshold_must_be_exceeded(waiting, due):
    assert message_threshold(3)(context(waiting)) is due


@pytest.mark.parametrize(
    ("ago", "due"),
    [
        (timedelta(minutes=3), False),
        (timedelta(minutes=3, microseconds=1), True),
        (timedelta(minutes=-5), False),
    ],
)
def test_the_interval_must_be_exceeded(ago, due):
    checker = time_interval(180, clock=lambda: NOW)

    assert checker(context(last=NOW - ago)) is due


def test_what_was_never_extracted_is_due():
    assert time_interval(timedelta(days=1))(context()) is True


def test_the_machine_has_a_clock():
    checker = time_interval(0.5)

    assert checker(context(last=datetime.now(UTC))) is False
    assert checker(context(last=datetime.now(UTC) - timedelta(seconds=1))) is True


def test_all_of_stops_at_the_first_no_and_any_of_at_the_first_yes():
    assert all_of(yes, no, never_asked)(context()) is False
    assert any_of(no, yes, never_asked)(context()) is True


def test_of_nothing_all_is_true_and_any_is_false():
    assert all_of()(context()) is True
    assert any_of()(context()) is False


def test_combinations_nest_and_can_be_read():
    checker = any_of(message_threshold(5), all_of(time_interval(60), yes))

    assert checker(context()) is True
    assert repr(checker) == (
        "any_of(message_threshold(5), "
        f"all_of(time_interval(datetime.timedelta(seconds=60)), {yes!r}))"
    )


def test_equal_checkers_are_equal():
    assert time_interval(60) == time_interval(timedelta(minutes=1))
    assert all_of(message_threshold(1)) != any_of(message_threshold(1))


@pytest.mark.parametrize("count", [-1, 1.5, "3", None, True])
def test_a_threshold_that_is_no_count_is_refused(count):
    with pytest.raises(InvalidInput, match="message_threshold"):
        message_threshold(count)


@pytest.mark.parametrize(
    "interval",
    [-1, timedelta(seconds=-1), float("nan"), float("inf"), "1m", None, True],
)
def test_an_interval_that_is_no_length_of_time_is_refused(interval):
    with pytest.raises(InvalidInput, match="time_interval"):
        time_interval(interval)


@pytest.mark.parametrize("combine", [all_of, any_of])
def test_what_cannot_be_called_is_no_checker(combine):
    with pytest.raises(InvalidInput, match="A checker is a callable"):
        combine(yes, 3)


def test_an_extractor_asks_all_its_checkers():
    assert scripted(checkers=[yes, yes])[0].should_extract(context())
    assert not scripted(checkers=[no, never_asked])[0].should_extract(context())
    assert not scripted(checkers=no)[0].should_extract(context())
    assert scripted()[0].should_extract(context())
