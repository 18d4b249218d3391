"""Maximal marginal relevance: candidates that say something else come first.

Source: J. Carbonell and J. Goldstein, "The Use of MMR, Diversity-Based Reranking for
Reordering Documents and Producing Summaries", SIGIR 1998. The next candidate is the one
with the largest

    λ · relevance - (1 - λ) · (similarity to the most similar one chosen before)

Here λ is 1 - `diversity`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Similarity = Callable[[int, int], float]
"""How alike two candidates are, by their places: from 0 to 1."""


def diverse_order(
    scores: Sequence[float],
    similarity: Similarity,
    diversity: float,
    *,
    groups: Sequence[int] | None = None,
    count: int | None = None,
) -> list[int]:
    """Return the places of all candidates in the order of MMR.

    Args:
        scores: Relevance in [0, 1], best first. Of equals the first is chosen.
        similarity: How alike two of them are.
        diversity: From 0 (relevance alone) to 1 (after the first, difference alone).
        groups: A number per candidate: those of a smaller one are chosen first. All
            are one group if not given.
        count: How many are chosen; the rest follows in its order. `None` = all.
    """
    group = groups or [0] * len(scores)
    left = list(range(len(scores)))
    closest = [0.0] * len(scores)
    chosen: list[int] = []

    def gain(place: int) -> tuple[int, float]:
        relevance = (1 - diversity) * scores[place]
        return -group[place], relevance - diversity * closest[place]

    while left and (count is None or len(chosen) < count):
        best = max(left, key=gain)  # the first of equals
        left.remove(best)
        chosen.append(best)
        for place in left:
            closest[place] = max(closest[place], similarity(best, place))
    return chosen + left


def similarity_of(
    vectors: "Sequence[NDArray[np.float32] | None]",
    token_sets: Callable[[int], frozenset[str]],
) -> Similarity:
    """Return how alike candidates are: by meaning where both can be, else by words.

    By meaning it is the cosine of the two vectors that are closest, 0 if negative; by
    words the Jaccard index of the token sets.

    Args:
        vectors: Unit vectors per candidate, float32, shape (count, dims); `None` for
            those without.
        token_sets: Returns the token set of a candidate.
    """
    rows = {
        place: row
        for row, place in enumerate(
            place for place, own in enumerate(vectors) if own is not None
        )
    }
    given = [own for own in vectors if own is not None]
    cosines = _cosines(given) if len(given) > 1 else []

    def similarity(one: int, other: int) -> float:
        if one in rows and other in rows:
            return cosines[rows[one]][rows[other]]
        return jaccard(token_sets(one), token_sets(other))

    return similarity


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of tokens that both sets have; 0 for two empty ones."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _cosines(vectors: "Sequence[NDArray[np.float32]]") -> list[list[float]]:
    """Return the largest cosine of each pair, in [0, 1]."""
    import numpy as np  # noqa: PLC0415 - loaded with the first vector

    rows = np.concatenate(vectors)
    counts = [len(own) for own in vectors]
    starts = np.cumsum([0, *counts[:-1]])
    products = np.nan_to_num(rows @ rows.T)
    largest = np.maximum.reduceat(products, starts, axis=0)
    largest = np.maximum.reduceat(largest, starts, axis=1)
    found: list[list[float]] = np.clip(largest, 0, 1).tolist()
    return found
