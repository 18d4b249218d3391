"""Versions of one statement, recognised at search time."""

from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.standing import (
    COMPARED,
    First,
    Terms,
    Version,
    redealt,
    version_groups,
)


def scores_of(
    versions: list[Version],
    terms: Terms,
    first: First,
    *,
    past: Any = None,
    parted: bool = True,
    **options: Any,
) -> list[float]:
    """Return the scores as they are dealt out anew."""
    groups = version_groups(versions, terms, first, **options)
    return redealt(versions, groups, first, past=past, parted=parted)


TERMS = Terms([2.0, 2.0, 2.0, 2.0])


def version(
    score: float,
    year: int,
    matched: int = 0b0011,
    thread: str | None = None,
    participants: tuple[str, ...] = (),
) -> Version:
    """Return a result that held from a year on."""
    when = datetime(year, 1, 1, tzinfo=UTC).timestamp()
    return Version(score, when, thread, participants, matched)


versions = st.lists(
    st.builds(
        Version,
        st.floats(0.0625, 1, width=32),
        st.integers(0, 5).map(float),
        st.sampled_from([None, "a", "b", "c"]),
        st.sampled_from([(), ("Ann",), ("Bo",), ("Ann", "Bo")]),
        st.integers(0, 15),
    ),
    max_size=10,
).map(lambda found: sorted(found, key=lambda v: -v.score))
terms = st.builds(
    Terms,
    st.lists(st.floats(0, 12, width=32), min_size=4, max_size=4),
    st.integers(0, 15),
)
firsts = st.sampled_from(["newest", "oldest"])


@settings(deadline=None)
@given(versions, terms, firsts, st.booleans())
def test_scores_are_a_permutation_and_the_best_stays_the_best(
    found: list[Version],
    words: Terms,
    first: First,
    event: bool,  # noqa: FBT001 - hypothesis passes it by place
) -> None:
    dealt = scores_of(found, words, first, event=event)
    assert sorted(dealt) == pytest.approx(sorted(v.score for v in found), rel=1e-3)
    assert dealt == scores_of(found, words, first, event=event)
    if found:
        assert max(dealt) == found[0].score
        assert dealt[COMPARED:] == [v.score for v in found[COMPARED:]]


@settings(deadline=None)
@given(versions, terms)
def test_what_is_equally_old_keeps_its_order(
    found: list[Version], words: Terms
) -> None:
    same = [v._replace(when=1.0) for v in found]
    assert scores_of(same, words, "newest") == [v.score for v in found]
    assert scores_of(same, words, "oldest") == [v.score for v in found]


def test_the_newest_version_gets_the_best_score() -> None:
    found = [version(0.9, 2021), version(0.8, 2023), version(0.6, 2022)]
    assert scores_of(found, TERMS, "newest") == [0.6, 0.9, 0.8]
    assert scores_of(found, TERMS, "oldest") == [0.9, 0.6, 0.8]


def test_versions_with_one_score_are_in_order_too() -> None:
    found = [version(0.9, 2021), version(0.9, 2023)]
    newest = scores_of(found, TERMS, "newest")
    assert newest[1] > newest[0] == pytest.approx(0.9, rel=1e-3)
    oldest = scores_of(found, TERMS, "oldest")
    assert oldest[0] > oldest[1] == pytest.approx(0.9, rel=1e-3)


def test_one_conversation_holds_one_version() -> None:
    found = [version(0.9, 2021, thread="a"), version(0.8, 2023, thread="a")]
    assert scores_of(found, TERMS, "newest") == [0.9, 0.8]


def test_statements_about_other_people_are_no_versions() -> None:
    ann, bo = ("Ann",), ("Bo",)
    found = [version(0.9, 2021, participants=ann), version(0.8, 2023, participants=bo)]
    assert scores_of(found, TERMS, "newest") == [0.9, 0.8]
    found[1] = version(0.8, 2023)
    assert scores_of(found, TERMS, "newest") == [0.8, 0.9]


def test_much_lower_scores_are_no_versions() -> None:
    assert (
        scores_of([version(0.9, 2021), version(0.4, 2023)], TERMS, "newest")[0] == 0.9
    )


def test_results_that_stand_out_may_differ_in_words() -> None:
    found = [version(0.9, 2021, 0b0111), version(0.7, 2023, 0b1011)]
    assert scores_of(found, TERMS, "newest") == [0.7, 0.9]
    crowd = [*found, version(0.6, 2020, 0b1000)]
    assert scores_of(crowd, TERMS, "newest") == [0.9, 0.7, 0.6]


def test_words_that_many_results_match_name_no_statement() -> None:
    many = [version(0.9 - 0.1 * place, 2020 + place) for place in range(4)]
    assert scores_of(many, TERMS, "newest") == [v.score for v in many]


def test_what_lacks_an_identifier_is_about_something_else() -> None:
    found = [version(0.9, 2021, 0b0111), version(0.8, 2023, 0b0011)]
    assert scores_of(found, TERMS, "newest") == [0.8, 0.9]
    assert scores_of(found, TERMS._replace(exact=0b0100), "newest") == [0.9, 0.8]
    found = [version(0.9, 2023, 0b0111), version(0.8, 2021, 0b0011)]
    assert scores_of(found, TERMS._replace(exact=0b0100), "oldest") == [0.8, 0.9]


def test_events_are_versions_only_if_nearly_the_same() -> None:
    found = [version(0.9, 2021), version(0.6, 2023)]
    assert scores_of(found, TERMS, "newest", event=True) == [0.9, 0.6]
    found[1] = version(0.8, 2023)
    assert scores_of(found, TERMS, "newest", event=True) == [0.8, 0.9]


def test_searches_by_meaning_compare_meanings() -> None:
    found = [version(0.9, 2021, 0), version(0.8, 2022, 0), version(0.7, 2023, 0)]
    none = Terms([])
    assert scores_of(found, none, "newest") == [0.9, 0.8, 0.7]
    alike = {(0, 2)}
    dealt = scores_of(found, none, "newest", alike=lambda i, j: (i, j) in alike)
    assert dealt == [0.7, 0.8, 0.9]


@pytest.mark.parametrize(
    ("words", "matched"), [(Terms([]), 0), (Terms([0.0, 0.0]), 0b11)]
)
def test_without_rare_words_nothing_is_dealt(words: Terms, matched: int) -> None:
    found = [version(0.9, 2021, matched), version(0.8, 2023, matched)]
    assert scores_of(found, words, "newest") == [0.9, 0.8]


def test_nothing_found_is_nothing_dealt() -> None:
    assert scores_of([], TERMS, "newest") == []


def test_comparing_costs_little() -> None:
    found = [version(0.9 - place / 50, 2020, 1 << place % 4) for place in range(10)]
    best = min(_seconds(found) for _ in range(50))
    assert best < 0.001  # 20 µs; the bound leaves room for a busy machine


def _seconds(found: list[Version]) -> float:
    started = perf_counter()
    scores_of(found, TERMS, "newest")
    return perf_counter() - started
