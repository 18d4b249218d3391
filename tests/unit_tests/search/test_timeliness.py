"""What time words do to scores, and events in place of dates."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.moments import TimePreference, time_preference
from langchain_agentmemory.search.timeliness import (
    STRONGEST,
    Dated,
    anchored_by,
    time_factor,
)

NOW = datetime(2024, 5, 10, tzinfo=UTC)


def read(query: str) -> TimePreference:
    """Return the preference of a query."""
    found = time_preference(query, NOW, UTC)
    assert found is not None
    return found


def test_the_factor_is_between_its_bounds() -> None:
    may = read("What did I plant last May?")
    assert time_factor(may, datetime(2023, 5, 9, tzinfo=UTC)) == STRONGEST
    far = time_factor(may, datetime(2013, 5, 9, tzinfo=UTC))
    assert far == pytest.approx(1 / STRONGEST)


def test_the_undated_is_neither_raised_nor_lowered() -> None:
    assert time_factor(read("last May"), None) == 1.0


@settings(deadline=None)
@given(st.integers(0, 2000), st.integers(0, 2000))
def test_nearer_is_never_lower(one: int, other: int) -> None:
    may = read("last May")
    near, far = sorted((one, other))
    end = datetime(2023, 6, 1, tzinfo=UTC)
    factors = [time_factor(may, end + timedelta(days=d)) for d in (near, far)]
    assert STRONGEST >= factors[0] >= factors[1] >= 1 / STRONGEST


def test_an_event_gives_its_date() -> None:
    trip = read("What did I buy before the trip to Kyoto?")
    when = datetime(2023, 4, 1, tzinfo=UTC)
    found = anchored_by(
        trip,
        [
            Dated(0.4, datetime(2022, 1, 1, tzinfo=UTC)),
            Dated(0.8, when, "day"),
            Dated(0.8, datetime(2023, 6, 1, tzinfo=UTC)),
        ],
    )
    assert found is not None
    assert (found.start, found.end) == (None, when)
    assert time_factor(found, when - timedelta(days=300)) == STRONGEST
    assert time_factor(found, when + timedelta(days=30)) < 1


def test_what_follows_an_event_begins_after_its_last_day() -> None:
    trip = read("What did I buy after the trip to Kyoto?")
    found = anchored_by(trip, [Dated(0.8, datetime(2023, 4, 1, tzinfo=UTC), "month")])
    assert found is not None
    assert found.start == datetime(2023, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("score", [0.0, 0.29])
def test_what_hardly_matches_an_event_gives_no_date(score: float) -> None:
    trip = read("What did I buy before the trip to Kyoto?")
    assert anchored_by(trip, [Dated(score, NOW)]) is None
    assert anchored_by(trip, []) is None


def test_a_query_that_names_no_event_has_no_anchor() -> None:
    assert anchored_by(read("last May"), [Dated(1.0, NOW)]) is None
