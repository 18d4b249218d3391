"""Evidence: the same meaning whatever the embedder, and never harmful."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.calibration import (
    BOUNDARY,
    Calibration,
    Level,
)
from langchain_agentmemory.search.formula import score_of
from langchain_agentmemory.search.probes import PROBES
from langchain_agentmemory.search.scripts import HAN
from langchain_agentmemory.search.standard import DefaultTokenizer

USE = Level(0.10, 0.08, 0.51, 0.14)
E5 = Level(0.74, 0.025, 0.84, 0.03)
E5_CHINESE = Level(0.83, 0.02, 0.89, 0.02)
MINILM_CHINESE = Level(0.60, 0.08, 0.66, 0.09)
LEVELS = [USE, E5, E5_CHINESE, MINILM_CHINESE]
PAIRS = Path("benchmarks/retrieval/ours/pairs.jsonl")

cosines = st.floats(-1, 1, width=32)
levels = st.builds(
    Level,
    mean=st.floats(-0.5, 1),
    deviation=st.floats(1e-3, 0.3),
    related_mean=st.floats(-0.5, 1),
    related_deviation=st.floats(1e-3, 0.3),
)


def array(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def pairs_at(angle: float, count: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Statements at right angles, each with a twin at an angle of its own plane."""
    statements = np.eye(2 * count)[:count]
    twins = np.cos(angle) * statements + np.sin(angle) * np.eye(2 * count)[count:]
    return unit(statements), unit(twins)


def test_a_level_is_read_off_the_diagonal_and_the_rest() -> None:
    square = np.full((4, 4), 0.2)
    square[0, 1], square[1, 0] = 0.1, 0.3
    np.fill_diagonal(square, (0.5, 0.6, 0.7, 0.8))
    level = Level.measured(square)
    assert level.mean == pytest.approx(0.2)
    assert level.deviation == pytest.approx(np.sqrt(0.02 / 12))
    assert level.related_mean == pytest.approx(0.65)
    assert level.related_deviation == pytest.approx(np.sqrt(0.0125))


def test_the_boundary_is_half_way_between_most_unrelated_and_most_related() -> None:
    upper, lower = 0.10 + 1.645 * 0.08, 0.51 - 1.282 * 0.14
    assert USE.boundary == pytest.approx((upper + lower) / 2)
    # where they overlap, 95 % of the unrelated stay below it
    assert MINILM_CHINESE.boundary == pytest.approx(0.60 + 1.645 * 0.08)


@pytest.mark.parametrize("level", LEVELS)
def test_the_boundary_has_the_same_evidence_under_each_embedder(level: Level) -> None:
    evidence = level.evidence(array(level.boundary, level.mean - level.deviation, 1))
    assert evidence.tolist() == pytest.approx([BOUNDARY, 0, 1], abs=1e-4)
    assert score_of(float(evidence[0])) == pytest.approx(0.5, abs=1e-3)


@given(level=levels, given=st.lists(cosines, min_size=1, max_size=30))
def test_evidence_is_a_share_that_never_falls(level: Level, given: list) -> None:
    evidence = level.evidence(array(*sorted(given)))
    assert evidence.dtype == np.float32
    assert ((evidence >= 0) & (evidence <= 1)).all()
    assert (np.diff(evidence) >= -1e-6).all()


@pytest.mark.parametrize("level", [USE, E5, E5_CHINESE])
def test_nearly_equal_texts_are_still_told_apart(level: Level) -> None:
    evidence = level.evidence(np.linspace(level.boundary, 1, 50, dtype=np.float32))
    assert np.diff(evidence).min() > 0.002


def test_what_has_no_vector_has_no_evidence_and_the_given_array_stays() -> None:
    cosines = array(-np.inf, np.nan, 0.5)
    assert USE.evidence(cosines)[:2].tolist() == [0, 0]
    assert cosines[0] == -np.inf
    assert cosines[2] == 0.5


def test_each_document_is_read_against_the_level_of_its_script() -> None:
    calibration = Calibration(han=E5_CHINESE, other=E5, across=USE)
    cosines, han = array(0.8, 0.85, 0.9, 0.3), np.array([True, False, True, False])
    found = calibration.evidence(cosines, han_query=True, han_documents=han)
    chinese, across = E5_CHINESE.evidence(cosines), USE.evidence(cosines)
    assert found.tolist() == np.where(han, chinese, across).tolist()
    found = calibration.evidence(cosines, han_query=False, han_documents=han)
    assert found.tolist() == np.where(han, across, E5.evidence(cosines)).tolist()


@pytest.mark.parametrize("han_query", [True, False])
@pytest.mark.parametrize("han_documents", [True, False])
def test_one_answer_for_all_documents_is_that_for_each(
    *, han_query: bool, han_documents: bool
) -> None:
    calibration = Calibration(han=MINILM_CHINESE, other=E5, across=USE)
    cosines, each = array(0.2, 0.7, 0.9), np.full(3, han_documents)
    ways = [
        calibration.evidence(cosines, han_query=han_query, han_documents=documents)
        for documents in (han_documents, each)
    ]
    assert ways[0].tolist() == ways[1].tolist()
    one = calibration.reliability(han_query=han_query, han_documents=han_documents)
    many = calibration.reliability(han_query=han_query, han_documents=each)
    assert many.tolist() == pytest.approx([one] * 3)


def test_a_calibration_takes_an_empty_shelf() -> None:
    calibration = Calibration(USE, USE, USE)
    nothing, no_scripts = array(), np.zeros(0, bool)
    for documents in (no_scripts, True):
        found = calibration.evidence(nothing, han_query=True, han_documents=documents)
        assert found.shape == (0,)


@pytest.mark.parametrize(("level", "expected"), [
    (USE, 1), (E5, 1), (E5_CHINESE, 1), (MINILM_CHINESE, 0.03),
    (Level(0, 0.1, 0.1, 0.1), 0.03), (Level(0, 0.1, 0.175, 0.1), 0.515),
    (Level(0, 0.1, 0.25, 0.1), 1), (Level(0.5, 0.1, 0.2, 0.1), 0.03),
])  # fmt: skip
def test_reliability_grows_with_the_distance_of_both_levels(
    level: Level, expected: float
) -> None:
    assert level.reliability == pytest.approx(expected)


def test_levels_across_languages_are_those_of_both_ways() -> None:
    english, chinese = pairs_at(0.5), pairs_at(1.0)
    calibration = Calibration.measured(other=english, han=chinese)
    assert calibration.other.related_mean == pytest.approx(np.cos(0.5), abs=1e-5)
    assert calibration.han.related_mean == pytest.approx(np.cos(1.0), abs=1e-5)
    there = float(np.mean(np.sum(english[0] * chinese[1], axis=1)))
    back = float(np.mean(np.sum(chinese[0] * english[1], axis=1)))
    expected = pytest.approx((there + back) / 2, abs=1e-5)
    assert calibration.across.related_mean == expected


def test_an_embedder_that_answers_always_the_same_does_no_harm() -> None:
    same = unit(np.ones((8, 3)))
    calibration = Calibration.measured(other=(same, same), han=(same, same))
    assert calibration.reliability(han_query=False, han_documents=False) < 0.05
    evidence = calibration.evidence(array(1), han_query=False, han_documents=False)
    assert evidence[0] < BOUNDARY / 2


def test_an_embedder_that_answers_at_random_is_not_trusted() -> None:
    rng = np.random.default_rng(1)
    drawn = [unit(rng.normal(size=(16, 64))) for _ in range(4)]
    calibration = Calibration.measured(other=tuple(drawn[:2]), han=tuple(drawn[2:]))
    for one in (calibration.other, calibration.han, calibration.across):
        assert one.reliability < 0.1


def test_few_cosines_are_read_as_those_of_a_usual_embedder() -> None:
    alone = Calibration.from_pool(array()).other
    assert (alone.mean, alone.deviation) == pytest.approx((0.1, 0.1))
    one = Calibration.from_pool(array(0.9))
    assert one.other.mean == pytest.approx((100 / 11 * 0.1 + 0.9) / (100 / 11 + 1))
    assert one.evidence(array(0.9), han_query=False, han_documents=False)[0] > BOUNDARY


@pytest.mark.parametrize("count", [50, 200, 2_000])
def test_many_cosines_speak_for_themselves(count: int) -> None:
    rng = np.random.default_rng(2)
    pool = rng.normal(0.75, 0.025, count).astype(np.float32)
    calibration = Calibration.from_pool(pool)
    assert calibration.other.mean == pytest.approx(0.75, abs=0.04)
    assert calibration.other.deviation == pytest.approx(0.025, abs=0.012)
    assert calibration.reliability(han_query=True, han_documents=False) == 1
    evidence = calibration.evidence(pool, han_query=False, han_documents=False)
    assert (evidence < BOUNDARY).mean() > 0.9


def test_what_has_no_vector_does_not_count_in_a_pool() -> None:
    with_gaps = Calibration.from_pool(array(0.5, -np.inf, 0.7, -np.inf))
    assert with_gaps == Calibration.from_pool(array(0.5, 0.7))
    assert Calibration.from_pool(array(-np.inf)) == Calibration.from_pool(array())


def test_a_calibration_survives_json() -> None:
    calibration = Calibration(han=E5_CHINESE, other=E5, across=USE)
    assert Calibration.from_json(calibration.to_json()) == calibration
    assert Calibration.from_json(calibration.to_json().encode()) == calibration


@pytest.mark.parametrize("change", [
    {"han": None}, {"han": 3}, {"han": {}}, {"han": {"mean": 1}},
    {"han": dict.fromkeys(("mean", "deviation"), "x")},
    {"han": {"mean": 0, "deviation": 0, "related_mean": 0, "related_deviation": 1}},
    {"han": {"mean": 0, "deviation": 1, "related_mean": 0, "related_deviation": -1}},
    {"han": dict.fromkeys(asdict(USE), np.nan)},
])  # fmt: skip
def test_what_is_no_calibration_is_refused(change: dict) -> None:
    given = json.loads(Calibration(USE, USE, USE).to_json())
    with pytest.raises(ValueError, match="calibration"):
        Calibration.from_json(json.dumps(given | change))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", b"\xff\xfe", "null"])
def test_text_that_is_no_calibration_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Calibration.from_json(text)


def test_probes_are_all_different_and_in_their_language() -> None:
    english = [text for probe in PROBES for text in probe[:2]]
    chinese = [text for probe in PROBES for text in probe[2:]]
    assert len(set(english + chinese)) == 4 * len(PROBES)
    assert not any(HAN.search(text) for text in english)
    assert all(HAN.search(text) for text in chinese)


def test_twins_share_hardly_a_word() -> None:
    words = DefaultTokenizer().token_set
    for probe in PROBES:
        shared = words(probe.english) & words(probe.english_twin)
        assert len(shared) <= 3, (probe.english, shared)


@pytest.mark.skipif(not PAIRS.exists(), reason="the benchmark is not there")
def test_probes_are_not_the_texts_that_test_them() -> None:
    tested = {
        text
        for line in PAIRS.read_text("utf-8").splitlines()
        for text in (json.loads(line)["a"], json.loads(line)["b"])
    }
    assert not tested & {text for probe in PROBES for text in probe}
