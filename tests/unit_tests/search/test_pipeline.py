"""Filter, order, kind fallback and de-duplication happen before the cut."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.pipeline import (
    Candidate,
    Criteria,
    decayed,
    find_page,
    ordered,
    select,
    without_near_duplicates,
)

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def candidate(id_: str, score: float = 0.5, **fields: Any) -> Candidate[str]:
    defaults = {"text": id_, "kind": "fact", "event_time": None}
    times = {"created_at": NOW, "updated_at": NOW}
    return Candidate(item=id_, id=id_, score=score, **defaults | times | fields)


def ids(entries: Sequence[Candidate[str]]) -> list[str]:
    return [entry.id for entry in entries]


def page(candidates: Sequence[Candidate[str]], **criteria: Any) -> list[str]:
    return ids(select(candidates, Criteria(**criteria), words))


def test_a_full_page_comes_back_although_duplicates_were_removed() -> None:
    same = [candidate(f"s{n}", 0.9, text="red boat") for n in range(20)]
    other = [candidate(f"o{n}", 0.1, text=f"text {n} x{n}") for n in range(5)]
    found = page([*same, *other], limit=3, deduplicate=True)
    assert found == ["s0", "o0", "o1"]


def test_limits() -> None:
    entries = [candidate("a"), candidate("b")]
    assert page(entries, limit=0) == []
    assert page(entries, limit=1) == ["a"]
    assert page(entries, limit=None) == ["a", "b"]


def test_a_threshold_keeps_what_equals_it_and_zero_drops_zero_scores() -> None:
    entries = [candidate("a", 0.3), candidate("b", 0.29), candidate("c", 0.0)]
    assert page(entries, threshold=0.3) == ["a"]
    assert page(entries) == ["a", "b"]


def test_time_bounds_are_inclusive_and_undated_entries_pass() -> None:
    dated = [
        candidate(str(day), event_time=NOW + timedelta(days=day)) for day in range(4)
    ]
    entries = [*dated, candidate("undated")]
    after, before = NOW + timedelta(days=1), NOW + timedelta(days=2)
    assert page(entries, time_after=after, time_before=before) == ["1", "2", "undated"]


def test_events_are_compared_across_offsets() -> None:
    local = NOW.astimezone(tz=None)
    assert page([candidate("a", event_time=local)], time_before=NOW) == ["a"]


def test_kind_fallback_fills_up_only_when_fewer_than_three_match() -> None:
    episodes = [candidate(f"e{n}", 0.1, kind="episode") for n in range(3)]
    facts = [candidate("f", 0.9)]
    options = {"kind": "episode", "kind_fallback": True}
    assert page([*facts, *episodes[:2]], **options) == ["e0", "e1", "f"]
    assert page([*facts, *episodes], **options) == ["e0", "e1", "e2"]
    assert page([*facts, *episodes[:2]], kind="episode") == ["e0", "e1"]


def test_an_entry_without_kind_is_a_fact() -> None:
    assert page([candidate("a", kind="")], kind="fact") == ["a"]


def test_near_duplicates_follow_the_chain_rule() -> None:
    entries = [
        candidate("A", 0.9, text="a b c d e f g h i j"),
        candidate("B", 0.8, text="b c d e f g h i j k"),
        candidate("C", 0.7, text="c d e f g h i j k l"),
    ]
    assert ids(without_near_duplicates(entries, words)) == ["A"]


def test_exactly_four_fifths_is_a_duplicate_at_every_size() -> None:
    for size in range(5, 130, 5):
        long = [f"w{n}" for n in range(size)]
        short = long[: size * 4 // 5]
        entries = [
            candidate("long", 0.9, text=" ".join(long)),
            candidate("short", 0.8, text=" ".join(short)),
            candidate("shorter", 0.7, text=" ".join(short[: size // 2])),
        ]
        kept = ids(without_near_duplicates(entries, words))
        assert kept == ["long", "shorter"], size


def test_entries_without_tokens_are_nobodys_duplicates() -> None:
    entries = [candidate("a", text=""), candidate("b", text="")]
    assert ids(without_near_duplicates(entries, words)) == ["a", "b"]


def test_order_among_equal_scores() -> None:
    later = NOW + timedelta(seconds=1)
    entries = [
        candidate("b"),
        candidate("a"),
        candidate("created later", created_at=later),
        candidate("updated later", updated_at=later),
        candidate("event", event_time=NOW - timedelta(days=1)),
        candidate("earlier event", event_time=NOW - timedelta(days=2)),
        candidate("better", 0.6),
    ]
    expected = ["better", "earlier event", "event", "updated later", "created later"]
    assert ids(ordered(entries, by_event_time=True)) == [*expected, "a", "b"]
    plain = ids(ordered(entries))
    assert plain == [
        "better",
        "updated later",
        "created later",
        "a",
        "b",
        "earlier event",
        "event",
    ]


def test_decay_halves_a_score_for_each_half_life_since_the_last_write() -> None:
    old = candidate("old", 0.8, updated_at=NOW - timedelta(days=20))
    future = candidate("future", 0.8, updated_at=NOW + timedelta(days=20))
    found = decayed([old, future], timedelta(days=10), NOW)
    assert [entry.score for entry in found] == [0.2, 0.8]


def test_a_decayed_search_puts_the_newer_of_equals_first() -> None:
    old = candidate("old", 0.6, updated_at=NOW - timedelta(days=30))
    entries = [old, candidate("new", 0.5)]
    assert page(entries, decay=timedelta(days=30), now=NOW) == ["new", "old"]


class Source:
    """Gives the best candidates as a shelf would, and counts how many it gave."""

    def __init__(self, candidates: Sequence[Candidate[str]]) -> None:
        self._sorted = ordered(candidates)
        self.given = 0

    def __call__(self, k: int | None) -> tuple[list[Candidate[str]], bool]:
        best = self._sorted[:k]
        self.given = max(self.given, len(best))
        return best, len(best) == len(self._sorted)


_candidates = st.lists(
    st.builds(
        candidate,
        id_=st.uuids().map(str),
        score=st.sampled_from([0.1, 0.2, 0.3, 0.31, 0.5, 0.9]),
        text=st.sampled_from(["a b", "a b c", "d e f g", "h i", "j k l", ""]),
        kind=st.sampled_from(["fact", "episode", "", "dream"]),
        event_time=st.sampled_from([None, NOW, NOW + timedelta(days=3)]),
        updated_at=st.sampled_from([NOW, NOW - timedelta(days=9)]),
    ),
    max_size=400,
)
_criteria = st.builds(
    Criteria,
    limit=st.sampled_from([None, 0, 1, 2, 3, 5, 40]),
    threshold=st.sampled_from([0.0, 0.3]),
    kind=st.sampled_from([None, "fact", "episode", "dream"]),
    kind_fallback=st.booleans(),
    time_after=st.sampled_from([None, NOW + timedelta(days=1)]),
    time_before=st.sampled_from([None, NOW + timedelta(days=2)]),
    order_by_event_time=st.booleans(),
    deduplicate=st.booleans(),
    decay=st.sampled_from([None, timedelta(days=5)]),
    now=st.just(NOW),
)


@settings(max_examples=150, deadline=None)
@given(candidates=_candidates, criteria=_criteria)
def test_looking_at_the_best_candidates_first_changes_no_page(
    candidates: list[Candidate[str]], criteria: Criteria
) -> None:
    found = find_page(Source(candidates), criteria, words)
    assert found == select(candidates, criteria, words)


def test_a_page_of_many_candidates_looks_at_few() -> None:
    source = Source([candidate(f"{n}", 0.1 + n / 100_000) for n in range(20_000)])
    assert len(find_page(source, Criteria(limit=10), words)) == 10
    assert source.given < 200


@given(st.lists(st.frozensets(st.integers(0, 9)), max_size=80))
def test_a_near_duplicate_is_recognised_among_few_and_among_many(sets) -> None:
    texts = [" ".join(map(str, sorted(tokens))) for tokens in sets]
    entries = [candidate(str(n), text=text) for n, text in enumerate(texts)]

    def overlaps(one: frozenset[int], other: frozenset[int]) -> bool:
        return bool(one) and 5 * len(one & other) >= 4 * len(one | other)

    first = [
        str(n)
        for n, tokens in enumerate(sets)
        if not any(overlaps(tokens, earlier) for earlier in sets[:n])
    ]
    assert ids(without_near_duplicates(entries, words)) == first
