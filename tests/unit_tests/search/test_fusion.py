"""Hybrid scores: a half that is missing changes nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.fusion import (
    hybrid_scores,
    reciprocal_rank_fusion,
    vector_scores,
)

_shares = st.floats(0, 1, width=32)
_cosines = st.one_of(st.floats(-1, 1, width=32), st.just(-np.inf))
_slots = st.lists(st.tuples(_shares, _cosines), max_size=20)


def arrays(slots: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(slots, np.float32).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@given(_slots)
def test_hybrid_scores_lie_between_zero_and_one(
    slots: list[tuple[float, float]],
) -> None:
    scores = hybrid_scores(*arrays(slots))
    assert scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()


@given(_slots)
def test_without_any_vector_the_lexical_scores_stand(
    slots: list[tuple[float, float]],
) -> None:
    lexical, _ = arrays(slots)
    nothing = np.full(len(lexical), -np.inf, np.float32)
    assert hybrid_scores(lexical, nothing).tolist() == lexical.tolist()


@given(_slots)
def test_without_any_lexical_match_the_vector_scores_stand(
    slots: list[tuple[float, float]],
) -> None:
    _, cosines = arrays(slots)
    scores = hybrid_scores(np.zeros(len(cosines), np.float32), cosines)
    assert scores.tolist() == vector_scores(cosines).tolist()


def test_an_item_without_vector_keeps_its_lexical_score() -> None:
    lexical = np.array([0.8, 0.4, 0.1], np.float32)
    scores = hybrid_scores(lexical, np.array([-np.inf, 0.9, 0.1], np.float32))
    assert scores[0] == pytest.approx(0.8)
    assert scores[2] < scores[1]


def test_both_halves_together_beat_each_alone() -> None:
    lexical = np.array([0.8, 0.8, 0.0], np.float32)
    scores = hybrid_scores(lexical, np.array([0.9, 0.1, 0.9], np.float32))
    assert scores[0] > max(scores[1], scores[2])


def test_a_weak_half_does_not_decide() -> None:
    lexical = np.array([0.05, 0.0, 0.0], np.float32)
    scores = hybrid_scores(lexical, np.array([0.1, 0.9, 0.2], np.float32))
    assert scores.argmax() == 1
    assert scores[0] < 0.3


def test_nothing_scores_above_the_better_half() -> None:
    lexical, cosines = np.array([[0.3, 0.1, 0], [0.2, 0.25, 0.1]], np.float32)
    assert hybrid_scores(lexical, cosines).max() <= 0.3 + 1e-6


def test_cosines_below_zero_are_worth_nothing() -> None:
    found = vector_scores(np.array([-0.5, 0.25, -np.inf], np.float32))
    assert found.tolist() == [0, 0.25, 0]


def test_entries_of_no_id_take_a_rank_and_are_left_out() -> None:
    fused = reciprocal_rank_fusion([None, "a"], ["", "a"], str)
    assert fused == [("a", pytest.approx(2 / 62))]


def test_a_repetition_within_one_ranking_counts_twice() -> None:
    assert reciprocal_rank_fusion(["a", "a"], [], str) == [
        ("a", pytest.approx(1 / 61 + 1 / 62))
    ]
