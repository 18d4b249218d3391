"""Compressed vectors: how far off they are, and that no search shows it."""

import numpy as np
import pytest

from langchain_agentmemory.search import compressed, vectors
from langchain_agentmemory.search.compressed import CompressedQuery, CompressedRows
from langchain_agentmemory.search.vectors import VectorColumn, normalized

pytest.importorskip("simsimd", reason="install the extra 'fast' to compress vectors")


def random_rows(count, dims=64, seed=1):
    rows = np.random.default_rng(seed).standard_normal((count, dims))
    return normalized(rows.astype(np.float32))


def column(rows):
    made = VectorColumn(rows.shape[1], lambda *_: None)
    made.add_one_each(range(len(rows)), rows)
    return made


@pytest.fixture
def compresses(monkeypatch):
    monkeypatch.setattr(vectors, "_COMPRESSED_FROM", 100)


def warmed(made, size, query):
    """Search until everything is compressed."""
    for _ in range(8):
        made.estimates(query, size)
    return made.estimates(query, size)


@pytest.mark.parametrize("dims", [3, 64, 384, 1536])
@pytest.mark.parametrize("spiky", [False, True])
def test_no_estimate_is_further_off_than_said(dims, spiky):
    rows = random_rows(2000, dims)
    if spiky:  # as embedders have them: a few dimensions are far larger than the others
        rows[:, : max(dims // 50, 1)] *= 30
        rows = normalized(rows)
    copies = CompressedRows(len(rows), dims)
    copies.extend(rows[:700])
    copies.extend(rows[700:])
    for row in rows[:20]:
        query = CompressedQuery(row)
        off = np.abs(copies.cosines(query) - rows @ row).max()
        assert 0 < off <= copies.error(query) < 0.05


def test_rows_of_zeros_have_a_cosine_of_zero():
    copies = CompressedRows(2, 8)
    copies.extend(np.zeros((2, 8), np.float32))
    assert copies.cosines(CompressedQuery(random_rows(1, 8)[0])).tolist() == [0, 0]


@pytest.mark.usefixtures("compresses")
def test_a_column_estimates_all_its_slots_after_a_few_searches():
    rows = random_rows(5000)
    made = column(rows)
    first = made.estimates(rows[3], 5000)
    assert first.error == 0
    assert np.array_equal(first.values, made.similarities(rows[3], 5000))
    bare = made.nbytes
    last = warmed(made, 5000, rows[3])
    assert 0 < last.error < 0.02
    assert made.nbytes - bare == 5000 * (64 + 4)
    off = np.abs(last.values - made.similarities(rows[3], 5000))
    assert 0 < off.max() <= last.error


@pytest.mark.usefixtures("compresses")
def test_estimates_follow_what_is_added_and_removed():
    rows = random_rows(300)
    made = column(rows)
    query = random_rows(1, seed=2)[0]
    warmed(made, 300, query)
    made.remove(7)
    made.remove(299)
    for slot, row in enumerate(random_rows(50, seed=3), 300):
        made.add(slot, row)
    for found in (made.estimates(query, 350), warmed(made, 350, query)):
        exact = made.similarities(query, 350)
        assert np.isneginf(found.values[[7, 299]]).all()
        alive = np.isfinite(exact)
        assert np.isfinite(found.values).tolist() == alive.tolist()
        assert np.abs(found.values[alive] - exact[alive]).max() <= found.error


@pytest.mark.usefixtures("compresses")
def test_rows_that_moved_are_estimated_where_they_are_now():
    rows = random_rows(9000)
    made = column(rows)
    query = random_rows(1, seed=2)[0]
    warmed(made, 9000, query)
    for slot in range(3000):
        made.remove(slot)
    made.add(9000, query)
    found = warmed(made, 9001, query)
    exact = made.similarities(query, 9001)
    alive = np.isfinite(exact)
    assert alive.sum() == 6001
    assert np.abs(found.values[alive] - exact[alive]).max() <= found.error
    assert found.values[9000] == pytest.approx(1, abs=found.error)


@pytest.mark.usefixtures("compresses")
def test_slots_with_several_vectors_have_the_best():
    made = column(random_rows(200))
    several = random_rows(3, seed=4)
    made.add(200, several)
    found = warmed(made, 201, several[1])
    assert found.values[200] == pytest.approx(1, abs=found.error)
    slots = np.array([200, 3, 199, 200])
    exact = made.similarities(several[1], 201)[slots]
    assert made.cosines_of(slots, several[1]) == pytest.approx(exact, abs=1e-6)


@pytest.mark.usefixtures("compresses")
@pytest.mark.parametrize("count", [1, 10, 300, 999, 1000])
def test_the_nearest_are_exact_and_first(count):
    made = column(random_rows(1000))
    for slot in range(0, 1000, 9):
        made.remove(slot)
    for query in random_rows(10, seed=7):
        warmed(made, 1000, query)
        exact = made.similarities(query, 1000)
        found = made.nearest(query, 1000, count)
        best = np.argsort(-exact)[: min(count, 888)]
        assert np.argsort(-found)[: len(best)].tolist() == best.tolist()
        assert found[best] == pytest.approx(exact[best], abs=1e-6)


@pytest.mark.usefixtures("compresses")
def test_where_all_are_about_equally_near_all_are_compared():
    one = random_rows(1)[0]
    rows = normalized(one + 1e-4 * random_rows(1000, seed=8))
    made = column(rows)
    warmed(made, 1000, one)
    exact = made.similarities(one, 1000)
    assert made.nearest(one, 1000, 10).tolist() == exact.tolist()


def test_some_cosines_are_those_of_all():
    made = column(random_rows(6000))
    for slot in range(0, 6000, 7):
        made.remove(slot)
    query = random_rows(1, seed=5)[0]
    slots = np.random.default_rng(6).permutation(6000)[:100]
    exact = made.similarities(query, 6000)[slots]
    found = made.cosines_of(slots, query)
    assert np.isneginf(found).tolist() == np.isneginf(exact).tolist()
    known = np.isfinite(exact)
    assert found[known] == pytest.approx(exact[known], abs=1e-6)


@pytest.mark.usefixtures("compresses")
def test_without_simsimd_all_cosines_are_exact(monkeypatch):
    monkeypatch.setattr(compressed, "_simsimd", lambda: None)
    rows = random_rows(500)
    found = warmed(column(rows), 500, rows[0])
    assert found.error == 0
    assert not compressed.available()


@pytest.mark.usefixtures("compresses")
def test_slots_after_the_last_vector_have_none():
    made = column(random_rows(200))
    query = random_rows(1, seed=9)[0]
    warmed(made, 203, query)
    slots = np.array([199, 202, 0, 200])
    found = made.cosines_of(slots, query)
    assert np.isneginf(found).tolist() == [False, True, False, True]
    assert made.nearest(query, 203, 50).tolist() != []


@pytest.mark.parametrize("dims", [8, 64, 1536])
def test_rows_that_are_alike_keep_their_mean(dims):
    rows = normalized(1 + 0.01 * random_rows(3000, dims))
    copies = CompressedRows(3000, dims)
    copies.extend(rows)
    query = normalized(1 + 0.01 * random_rows(1, dims, seed=2))[0]
    found, exact = copies.cosines(CompressedQuery(query)), rows @ query
    assert found.mean() == pytest.approx(exact.mean(), abs=2e-6)


@pytest.mark.usefixtures("compresses")
def test_vectors_that_count_words_are_compared_exactly_where_estimates_are_bad():
    draw = np.random.default_rng(10)
    for _ in range(20):
        counts = np.zeros((600, 384), np.float32)
        for row in counts:
            row[draw.choice(384, 8)] = draw.integers(1, 4, 8)
        rows = normalized(counts)
        made = column(rows)
        query = rows[draw.integers(600)]
        warmed(made, 600, query)
        exact = made.similarities(query, 600)
        best = np.sort(made.nearest(query, 600, 10))[-10:]
        assert best == pytest.approx(np.sort(exact)[-10:], abs=1e-6)
