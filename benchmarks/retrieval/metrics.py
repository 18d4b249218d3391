"""How good a ranking is: recall, hit, reciprocal rank, nDCG, which version first.

A hit may stand for several pieces of evidence (a fact that names two turns), and two
hits for the same one (a fact and its turn). So everything goes by which evidence is
*new* at its place; where each hit stands for one piece, these are the usual
definitions.
"""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

DEPTHS: Final = (5, 10, 20, 30)
"""Where recall is measured."""

LIMIT: Final = max(DEPTHS)
"""How many results are asked for."""

CUT: Final = 10
"""Where hit and nDCG are measured."""

METRICS: Final = (
    *(f"recall@{depth}" for depth in DEPTHS),
    "hit@1",
    f"hit@{CUT}",
    "mrr",
    f"ndcg@{CUT}",
)
"""The names of the metrics of a question, all in [0, 1]."""

Ranking = Sequence[AbstractSet[str]]
"""What each result stands for, best first."""


def measures(ranking: Ranking, evidence: AbstractSet[str]) -> dict[str, float]:
    """Return all of `METRICS` for one question.

    Args:
        ranking: What each result stands for, best first.
        evidence: What should be found; not empty.
    """
    found = {f"recall@{depth}": recall(ranking[:depth], evidence) for depth in DEPTHS}
    found["hit@1"] = float(any(hit & evidence for hit in ranking[:1]))
    found[f"hit@{CUT}"] = float(any(hit & evidence for hit in ranking[:CUT]))
    found["mrr"] = reciprocal_rank(ranking, evidence)
    found[f"ndcg@{CUT}"] = ndcg(ranking[:CUT], evidence)
    return found


def recall(ranking: Ranking, evidence: AbstractSet[str]) -> float:
    """Return which part of the evidence is in the ranking."""
    return len(evidence & frozenset().union(*ranking)) / len(evidence)


def reciprocal_rank(ranking: Ranking, evidence: AbstractSet[str]) -> float:
    """Return one over the place of the first right result, 0 if there is none."""
    place = first_place(ranking, evidence)
    return 0.0 if place is None else 1 / place


def first_place(ranking: Ranking, wanted: AbstractSet[str]) -> int | None:
    """Return the place, from 1, of the first result that stands for what is wanted."""
    for place, hit in enumerate(ranking, start=1):
        if hit & wanted:
            return place
    return None


def ndcg(ranking: Ranking, evidence: AbstractSet[str]) -> float:
    """Return the discounted gain over the greatest possible one.

    A result that brings evidence which none before it had gains 1, discounted by
    log2(place + 1) (Järvelin and Kekäläinen 2002, with gains of 0 and 1). The ideal has
    one piece of evidence at each place.
    """
    gain, seen = 0.0, set[str]()
    for place, hit in enumerate(ranking, start=1):
        new = (hit & evidence) - seen
        if new:
            seen |= new
            gain += 1 / math.log2(place + 1)
    places = range(1, min(len(evidence), CUT) + 1)
    return gain / sum(1 / math.log2(place + 1) for place in places)


def stands_above(
    ranking: Ranking, first: AbstractSet[str], second: AbstractSet[str]
) -> bool:
    """Return whether `first` is found, and above `second` if that is found too."""
    place = first_place(ranking, first)
    other = first_place(ranking, second)
    return place is not None and (other is None or place < other)
