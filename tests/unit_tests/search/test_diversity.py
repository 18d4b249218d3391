"""Maximal marginal relevance: the order, and how alike candidates are."""

import random

import numpy as np
import pytest

from langchain_agentmemory.search.diversity import (
    diverse_order,
    jaccard,
    similarity_of,
)


def table(rows):
    return lambda one, other: rows[one][other]


TWINS = table([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
"""The first two say the same, the third something else."""


def test_a_repetition_comes_after_what_says_something_else():
    assert diverse_order([0.9, 0.8, 0.5], TWINS, 0.5) == [0, 2, 1]


def test_relevance_alone_counts_at_zero_and_difference_alone_at_one():
    assert diverse_order([0.9, 0.8, 0.1], TWINS, 0.0) == [0, 1, 2]
    assert diverse_order([0.9, 0.8, 0.0], TWINS, 1.0) == [0, 2, 1]


def test_the_trade_is_the_published_one():
    # λ = 0.7: 0.7 · 0.8 - 0.3 · 1 = 0.26 for the twin, 0.7 · s for the other.
    assert diverse_order([0.9, 0.8, 0.38], TWINS, 0.3) == [0, 2, 1]
    assert diverse_order([0.9, 0.8, 0.36], TWINS, 0.3) == [0, 1, 2]


def test_of_equals_the_better_ranked_is_chosen():
    none = table([[0] * 4] * 4)
    assert diverse_order([0.5] * 4, none, 0.5) == [0, 1, 2, 3]


def test_a_smaller_group_is_chosen_first():
    order = diverse_order([0.1, 0.2, 0.9], TWINS, 0.5, groups=[0, 1, 1])
    assert order == [0, 2, 1]


def test_what_is_not_chosen_follows_in_its_order():
    scores = [0.9, 0.85, 0.8, 0.5, 0.4]
    rows = [[1, 1, 1, 0, 0]] * 3 + [[0, 0, 0, 1, 1]] * 2
    assert diverse_order(scores, table(rows), 0.5, count=2) == [0, 3, 1, 2, 4]


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_permutation_that_starts_with_the_best(seed):
    chance = random.Random(seed)
    count = chance.randint(1, 20)
    scores = sorted((chance.random() for _ in range(count)), reverse=True)
    rows = [[chance.random() for _ in range(count)] for _ in range(count)]
    order = diverse_order(
        scores, table(rows), chance.random(), count=chance.choice((None, 3))
    )
    assert sorted(order) == list(range(count))
    assert order[0] == 0


def test_nothing_has_an_order_too():
    assert diverse_order([], TWINS, 0.5) == []


def test_vectors_are_compared_by_their_closest_pair():
    vectors = [
        np.array([[1, 0], [0, 1]], np.float32),
        np.array([[0, 1]], np.float32),
        np.array([[-1, 0]], np.float32),
    ]
    similarity = similarity_of(vectors, lambda place: frozenset("ab"))
    assert similarity(0, 1) == similarity(1, 0) == pytest.approx(1)
    assert similarity(0, 2) == 0  # the other vector is at a right angle
    assert similarity(1, 2) == 0


def test_without_two_vectors_words_are_compared():
    sets = [frozenset("ab"), frozenset("abc"), frozenset()]
    vectors = [np.array([[1, 0]], np.float32), None, None]
    similarity = similarity_of(vectors, sets.__getitem__)
    assert similarity(0, 1) == pytest.approx(2 / 3)
    assert similarity(1, 2) == 0


def test_a_vector_that_is_no_number_is_like_nothing():
    vectors = [np.full((1, 2), np.nan, np.float32), np.array([[1, 0]], np.float32)]
    assert similarity_of(vectors, lambda place: frozenset())(0, 1) == 0


def test_jaccard_of_nothing_is_nothing():
    assert jaccard(frozenset(), frozenset()) == 0
    assert jaccard(frozenset("a"), frozenset("a")) == 1
