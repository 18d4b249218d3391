"""Hybrid scores: a half that is missing changes nothing."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from langchain_agentmemory.search.calibration import BOUNDARY
from langchain_agentmemory.search.formula import (
    DEFAULT_FORMULA,
    REFERENCE_FORMULA,
    score_of,
)
from langchain_agentmemory.search.fusion import (
    fused_evidence,
    hybrid_scores,
    reciprocal_rank_fusion,
    vector_scores,
    with_labels,
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


_reliabilities = st.floats(0, 1, width=32)


@given(_slots, _reliabilities)
def test_fused_evidence_lies_between_zero_and_one(
    slots: list[tuple[float, float]], reliability: float
) -> None:
    lexical, cosines = arrays(slots)
    fused = fused_evidence(lexical, vector_scores(cosines), reliability)
    assert fused.dtype == np.float32
    assert ((fused >= 0) & (fused <= 1)).all()


@given(_slots, _reliabilities)
def test_an_empty_half_changes_no_evidence(
    slots: list[tuple[float, float]], reliability: float
) -> None:
    lexical, cosines = arrays(slots)
    semantic, nothing = vector_scores(cosines), np.zeros(len(lexical), np.float32)
    alone = fused_evidence(lexical, nothing, reliability)
    assert alone.tolist() == lexical.tolist()
    assert fused_evidence(nothing, semantic, reliability).tolist() == semantic.tolist()


@given(_slots.filter(bool), st.data())
def test_more_evidence_in_either_half_is_never_less_together(
    slots: list[tuple[float, float]], data: st.DataObject
) -> None:
    lexical, cosines = arrays(slots)
    assume(lexical.any())  # cosines alone stand as they are, whatever their reliability
    semantic = vector_scores(cosines)
    reliability = data.draw(_reliabilities)
    place = data.draw(st.integers(0, len(slots) - 1))
    before = fused_evidence(lexical, semantic, reliability)
    half = data.draw(st.sampled_from((lexical, semantic)))
    half[place] = data.draw(st.floats(float(half[place]), 1, width=32))
    after = fused_evidence(lexical, semantic, reliability)
    assert after[place] >= before[place] - 1e-6


def test_beside_an_identifier_cosines_count_half() -> None:
    lexical = np.array([0.1, 0.0], np.float32)
    semantic = np.array([0.0, 0.2], np.float32)
    plain = fused_evidence(lexical, semantic, 1.0, (1.0, 0.5))
    assert plain.tolist() == pytest.approx([0.1, 0.2])
    named = fused_evidence(lexical, semantic, 1.0, (3.0, 0.5))
    assert named.tolist() == pytest.approx([0.1, 0.1])


def test_cosines_count_as_far_as_they_can_be_relied_on_each() -> None:
    lexical = np.array([0.5, 0.0, 0.0], np.float32)
    semantic = np.array([0.0, 0.4, 0.4], np.float32)
    fused = fused_evidence(lexical, semantic, np.array([1, 1, 0.25], np.float32))
    assert fused.tolist() == pytest.approx([0.5, 0.4, 0.1])


def test_labels_raise_evidence_once_and_leave_the_given_array() -> None:
    evidence = np.array([0.1, 0.2, 0.9, 0.3], np.float32)
    slots = np.array([1, 2, 1], np.int64)
    raised = with_labels(evidence, DEFAULT_FORMULA, slots)
    assert raised.tolist() == pytest.approx([0.1, 0.28, 1.0, 0.3])
    assert evidence.tolist() == pytest.approx([0.1, 0.2, 0.9, 0.3])
    assert with_labels(evidence, REFERENCE_FORMULA, slots) is evidence
    assert with_labels(evidence, DEFAULT_FORMULA, slots[:0]) is evidence


@given(st.floats(-1, 2), st.floats(-1, 2))
def test_a_score_keeps_the_order_of_evidence(one: float, other: float) -> None:
    assert 0 <= score_of(one) <= 1
    if one <= other:
        assert score_of(one) <= score_of(other)


def test_a_score_of_one_half_is_the_boundary() -> None:
    assert score_of(BOUNDARY) == pytest.approx(0.5)
    assert score_of(0) == 0
    assert score_of(1) == 1
