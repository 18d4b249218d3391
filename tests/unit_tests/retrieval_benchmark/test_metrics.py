"""Metrics and intervals of the retrieval benchmark, against hand-computed numbers."""

from math import log2

import pytest

pytest.importorskip("benchmarks.retrieval")

from benchmarks.retrieval.intervals import difference, interval
from benchmarks.retrieval.metrics import (
    METRICS,
    measures,
    ndcg,
    recall,
    reciprocal_rank,
    stands_above,
)


def ranking(*hits):
    return [frozenset(hit.split()) for hit in hits]


def test_recall_is_the_part_of_the_evidence_that_was_found():
    assert recall(ranking("a", "x", "b"), {"a", "b", "c", "d"}) == 0.5
    assert recall([], {"a"}) == 0.0


def test_a_fact_finds_all_turns_that_it_names_and_repeats_add_nothing():
    assert recall(ranking("a b", "a"), {"a", "b"}) == 1.0
    assert recall(ranking("a", "a"), {"a", "b"}) == 0.5


def test_reciprocal_rank_goes_by_the_first_right_result():
    assert reciprocal_rank(ranking("x", "y", "b", "a"), {"a", "b"}) == pytest.approx(
        1 / 3
    )
    assert reciprocal_rank(ranking("x"), {"a"}) == 0.0


def test_ndcg_discounts_by_place_and_is_one_for_the_ideal():
    assert ndcg(ranking("a", "b"), {"a", "b"}) == pytest.approx(1)
    expected = (1 + 1 / log2(4)) / (1 + 1 / log2(3))
    assert ndcg(ranking("a", "x", "b"), {"a", "b"}) == pytest.approx(expected)


def test_ndcg_gains_only_from_evidence_that_is_new():
    once = ndcg(ranking("a", "x"), {"a", "b"})
    assert ndcg(ranking("a", "a"), {"a", "b"}) == once
    assert ndcg(ranking("a b"), {"a", "b"}) <= 1


def test_all_metrics_of_a_question_at_their_depths():
    found = measures(ranking(*(["x"] * 5), "a", *(["x"] * 20), "b"), {"a", "b"})

    assert tuple(found) == METRICS
    assert found["recall@5"] == 0
    assert found["recall@10"] == found["recall@20"] == 0.5
    assert found["recall@30"] == 1
    assert (found["hit@1"], found["hit@10"]) == (0, 1)
    assert found["mrr"] == pytest.approx(1 / 6)


def test_a_version_stands_above_one_that_is_lower_or_not_found():
    new, old = {"n"}, {"o1", "o2"}
    assert stands_above(ranking("x", "n", "o2"), new, old)
    assert not stands_above(ranking("o1", "n", "o2"), new, old)
    assert stands_above(ranking("n"), new, old)
    assert not stands_above(ranking("x"), new, old)


def test_an_interval_is_the_same_every_time_and_has_the_mean_inside():
    values = [0.0, 1.0] * 50
    found = interval(values)

    assert found == interval(values)
    assert found.mean == 0.5
    # The mean of 100 fair coins: standard error 0.05, so ± 0.098.
    assert found.low == pytest.approx(0.402, abs=0.02)
    assert found.high == pytest.approx(0.598, abs=0.02)


def test_what_is_always_the_same_has_no_width():
    assert interval([0.25] * 7) == pytest.approx((0.25, 0.25, 0.25))


def test_pairing_takes_out_how_hard_questions_are():
    easy_and_hard = [0.0, 1.0] * 50
    better = [value + 0.1 for value in easy_and_hard]

    assert difference(better, easy_and_hard) == pytest.approx((0.1, 0.1, 0.1))
    apart = interval(better).high - interval(better).low
    assert apart > 0.1


def test_rankings_over_different_questions_are_not_compared():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        difference([1.0, 0.0], [1.0])
