"""Time, versions and links in one step."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.moments import time_preference
from langchain_agentmemory.search.settling import Wanted, settled, wanted
from langchain_agentmemory.search.timeliness import STRONGEST
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.types import MemoryEntry, Source

NOW = datetime(2024, 5, 10, tzinfo=UTC)
RUN = "How far do I run every day?"
RAN = "How far did I run every day before?"


def scores_of(*given: Any, **options: Any) -> list[float]:
    """Return what results are sorted by."""
    return settled(*given, **options).final


def entry(name: str, year: int, superseded_by: str | None = None) -> MemoryEntry:
    """Return a memory of what held from a year on."""
    said = datetime(year, 3, 1, tzinfo=UTC)
    return MemoryEntry(
        id=name,
        app_name="app",
        user_id="ann",
        memory=name,
        topics=(),
        kind="fact",
        event_time=None,
        event_precision=None,
        participants=(),
        location=None,
        created_at=NOW,
        updated_at=NOW,
        source=Source(said_at=said),
        superseded_by=superseded_by,
    )


def asked(text: str, *words: str, weights: Sequence[float] = ()) -> Wanted:
    """Return what a query wants, with its time words."""
    given_weights = tuple(weights) or (1.0,) * len(words)
    hashes = tuple(range(len(words)))
    query = Query(text, words, hashes, given_weights, hashes)
    rarities = [3.0 * weight for weight in given_weights]
    return wanted(query, rarities, time_preference(text, NOW, UTC))


def ask(text: str) -> Wanted:
    """Return what a query of two words wants."""
    return asked(text, "run", "day")


def both_words(place: int) -> int:
    """Return that a result matches both words."""
    del place
    return 0b11


def in_order(
    entries: Sequence[MemoryEntry],
    scores: Sequence[float],
    query: Wanted,
    matched: Callable[[int], int] | None = both_words,
) -> list[str]:
    """Return the ids of results, best first."""
    final = scores_of(entries, scores, query, matched)
    places = sorted(range(len(final)), key=lambda place: -final[place])
    return [entries[place].id for place in places]


OLD, NEW = entry("5 km", 2022), entry("8 km", 2023)


def test_the_newer_statement_is_first() -> None:
    assert in_order([OLD, NEW], [0.9, 0.8], ask(RUN)) == ["8 km", "5 km"]
    assert in_order([NEW, OLD], [0.8, 0.9], ask(RUN)) == ["8 km", "5 km"]


def test_a_question_about_the_past_gets_the_older_first() -> None:
    assert in_order([OLD, NEW], [0.8, 0.9], ask(RAN)) == ["5 km", "8 km"]


def test_a_question_about_a_change_gets_both_as_they_are() -> None:
    query = ask("Do I run more every day than before?")
    linked = [entry("5 km", 2022, "8 km"), NEW]
    assert scores_of(linked, [0.9, 0.8], query, both_words) == [0.9, 0.8]


def test_a_date_in_the_past_gets_what_held_then() -> None:
    oldest = entry("3 km", 2020)
    query = ask("How far did I run every day in 2022?")
    found = in_order([NEW, OLD, oldest], [0.9, 0.89, 0.88], query)
    assert found[0] == "5 km"
    states = query._replace(event=False)
    found = in_order([NEW, OLD, oldest], [0.9, 0.89, 0.88], states)
    assert found == ["5 km", "3 km", "8 km"]


def test_the_time_that_fits_raises_a_score() -> None:
    query = ask("What did I say in March 2022?")
    final = scores_of([OLD, NEW], [0.5, 0.5], query)
    assert final[0] == pytest.approx(0.5 * STRONGEST)
    assert final[1] < 0.5


def test_event_time_counts_before_the_time_it_was_said() -> None:
    told_late = replace(
        OLD, event_time=datetime(2019, 1, 1, tzinfo=UTC), event_precision="year"
    )
    query = ask("What did I do in 2019?")
    assert scores_of([told_late], [0.5], query)[0] == pytest.approx(0.5 * STRONGEST)


def test_what_was_only_stored_on_one_day_keeps_its_order() -> None:
    first = replace(OLD, source=None)
    later = replace(NEW, source=None, created_at=NOW + timedelta(seconds=1))
    assert in_order([first, later], [0.9, 0.8], ask(RUN)) == ["5 km", "8 km"]
    later = replace(later, created_at=NOW + timedelta(days=1))
    assert in_order([first, later], [0.9, 0.8], ask(RUN)) == ["8 km", "5 km"]


def test_links_are_certain_where_dates_mislead() -> None:
    misdated = [entry("5 km", 2024, "8 km"), NEW]
    assert in_order(misdated, [0.9, 0.2], ask(RUN)) == ["8 km", "5 km"]
    assert in_order(misdated, [0.2, 0.9], ask(RAN)) == ["5 km", "8 km"]


def test_without_matched_words_only_links_make_versions() -> None:
    assert scores_of([OLD, NEW], [0.9, 0.8], ask(RUN)) == [0.9, 0.8]


def test_meaning_is_compared_by_the_places_of_the_results() -> None:
    other = entry("tea", 2021)
    final = scores_of(
        [NEW, other, OLD],
        [0.7, 0.8, 0.9],
        ask(RUN),
        alike=lambda one, two: {one, two} == {0, 2},
    )
    assert final == [0.9, 0.8, 0.7]


@pytest.mark.parametrize(
    ("word", "weight"), [("go1.23", 3.0), ("2", 1.0), ("user_id", 3.0)]
)
def test_identifiers_and_numbers_name_one_thing(word: str, weight: float) -> None:
    query = asked(f"What is {word}?", "run", "day", word, weights=(1.0, 1.0, weight))
    masks = [0b111, 0b011]
    order = in_order([OLD, NEW], [0.9, 0.8], query, masks.__getitem__)
    assert order == ["5 km", "8 km"]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0.0625, 1, width=32),
            st.integers(2000, 2024),
            st.integers(0, 3),
            st.one_of(st.none(), st.integers(0, 14)),
        ),
        max_size=15,
    ),
    st.sampled_from([RUN, RAN, "run in 2020", "last May", "跑步的变化", ""]),
)
def test_every_result_keeps_a_positive_score(
    found: list[tuple[float, int, int, int | None]], text: str
) -> None:
    entries = [
        entry(str(place), year, None if newer is None else str(newer))
        for place, (_, year, _, newer) in enumerate(found)
    ]
    scores = [score for score, *_ in found]
    masks = [mask for *_, mask, _ in found]
    final = scores_of(entries, scores, ask(text), masks.__getitem__)
    assert len(final) == len(scores)
    assert final == scores_of(entries, scores, ask(text), masks.__getitem__)
    for score in final:
        assert 0 < score <= max(scores) * STRONGEST


def told(name: str, text: str, when: datetime, *, dated: bool = False) -> MemoryEntry:
    """Return a memory with a text, written or said at some time."""
    source = Source(said_at=when) if dated else None
    plain = replace(entry(name, 2024), memory=text, source=source)
    return plain if dated else replace(plain, created_at=when)


NOON = datetime(2024, 5, 9, 12, tzinfo=UTC)
MOVED = [
    ("I used to live in Boston", "I live in Denver", "Where do I live now?", "before"),
    ("我以前住在上海", "我搬到杭州了，住在滨江", "我现在住在哪里", "我以前住在哪里"),
]


@pytest.mark.parametrize(("past", "present", "now", "before"), MOVED)
def test_what_says_that_it_is_past_is_older(
    past: str, present: str, now: str, before: str
) -> None:
    for dated, later in ((False, 0), (False, 300), (True, 300), (True, 86_400 * 9)):
        old = told("old", past, NOON + timedelta(seconds=later), dated=dated)
        new = told("new", present, NOON, dated=dated)
        for entries in ([old, new], [new, old]):
            assert in_order(entries, [0.9, 0.9], ask(now)) == ["new", "old"]
            query = ask(f"Where did I live {before}?") if before.isascii() else None
            query = query or ask(before)
            assert query.past
            assert in_order(entries, [0.9, 0.89], query) == ["old", "new"]


def test_news_that_something_is_over_is_newer_than_what_is_over() -> None:
    smoked = told("smoked", "I smoke five a day", NOON - timedelta(days=90), dated=True)
    over = told("over", "I used to smoke", NOON, dated=True)
    assert in_order([smoked, over], [0.9, 0.89], ask("Do I smoke?")) == [
        "over",
        "smoked",
    ]


@pytest.mark.parametrize(
    ("past", "other", "question", "counts"),
    [
        ("I used to live in Boston", "I moved to Denver", "Where do I live now?", 0.1),
        ("I used to live in Boston", "I moved to Denver", "My current home", 0.1),
        ("我以前住在上海", "我搬到杭州了", "我现在住在哪里？", 0.1),
        ("我以前住在上海", "我搬到杭州了", "我目前的住址", 0.1),
        ("I used to live in Boston", "I moved to Denver", "Where do I live?", 1),
        ("I used to smoke", "I like tea", "Do I still smoke now?", 1),
        ("我以前抽烟", "我喜欢喝茶", "我现在还抽烟吗？", 1),
        (
            "I used to live in Boston",
            "I moved to Denver",
            "Where did I live before?",
            1,
        ),
        ("I used to live in Boston", "I moved to Denver", "Now that I am here", 1),
        ("I live in Boston now", "I moved to Denver", "Where do I live now?", 1),
    ],
)
def test_what_is_past_counts_little_where_the_present_is_asked_for(
    past: str, other: str, question: str, counts: float
) -> None:
    entries = [told("past", past, NOON), told("other", other, NOON)]
    matched = [0b11, 0].__getitem__  # they share no word
    found = settled(entries, [0.8, 0.12], ask(question), matched)
    assert found.final == pytest.approx([0.8 * counts, 0.12])
    assert found.over == ([0] if counts < 1 else [])


def test_news_that_something_is_over_counts_where_the_present_is_asked_for() -> None:
    lived = told("lived", "I live in Boston", NOON - timedelta(days=90), dated=True)
    over = told("over", "I used to live in Boston", NOON, dated=True)
    query = ask("Where do I live now?")
    assert in_order([lived, over], [0.9, 0.89], query) == ["over", "lived"]


def test_a_period_is_asked_of_dates_and_not_of_such_words() -> None:
    old = told("old", "I used to live in Boston", datetime(2022, 3, 1, tzinfo=UTC))
    old = replace(old, event_time=datetime(2022, 3, 1, tzinfo=UTC))
    new = replace(entry("new", 2020), memory="I live in Denver")
    query = ask("Where do I live in 2022?")
    assert in_order([old, new], [0.9, 0.8], query) == ["old", "new"]


def test_what_was_written_minutes_apart_is_in_order() -> None:
    first = told("first", "I live in Boston", NOON)
    second = told("second", "I live in Denver", NOON + timedelta(minutes=2))
    assert in_order([first, second], [0.9, 0.8], ask(RUN)) == ["second", "first"]


def test_what_was_written_in_one_go_is_in_no_order() -> None:
    midnight = datetime(2024, 5, 9, 23, 59, 59, tzinfo=UTC)
    for start in (NOON, midnight):
        entries = [
            told(str(n), f"I live in {n}", start + timedelta(seconds=50 * n))
            for n in range(3)
        ]
        assert in_order(entries, [0.9, 0.89, 0.88], ask(RUN)) == ["0", "1", "2"]
