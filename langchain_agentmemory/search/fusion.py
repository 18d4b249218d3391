"""Hybrid ranking: one score out of a lexical score and a vector similarity.

The default ranking adds up *evidence*: the lexical score, and what the cosine says by
the calibration of its embedder (`calibration`). A *score* is the cube root of evidence
(`formula.score_of`), so that 0.5 is the boundary between what is related and what is
not, in every mode and under every embedder. The root keeps the order, so it is taken of
results only.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.formula import Formula

C = TypeVar("C")
Scores = NDArray[np.float32]

_IDENTIFIER: Final = 2.0  # the weight from which a term is one: words have 1 at most
_BESIDE_IDENTIFIERS: Final = 0.5

LEXICAL_SHARE: Final = 0.6
"""What the lexical half counts where both are equally sure of themselves.

Chosen on the LoCoMo development half among some thirty variants. With a weak
multilingual embedder (recall@10 35.6 alone) lexical 63.3 became 63.8, within noise;
reciprocal rank fusion gave 55.6. Better embedders were only simulated, by raising the
cosines of the right answers: 45.6 alone gave 65.6 together, 60.8 gave 69.9, but 81.8
gave 77.3, below its better half.
"""
RECIPROCAL_RANK_CONSTANT: Final = 60

_FEW: Final = 10
_TINY: Final = 1e-9


def fused_evidence(
    lexical: Scores,
    semantic: Scores,
    reliability: float | Scores,
    weights: Sequence[float] = (),
) -> Scores:
    """Return the evidence of both halves together, in [0, 1].

    The halves are added: a lexical score and the evidence of a cosine are on one scale.
    Cosines count as far as the embedder can be relied on in the languages at hand, and
    half of that where the query holds an identifier, which embedders take for any other
    one. Where a half has nothing, the other one stands alone.

    Recall@10 on the LoCoMo development half with USE, MiniLM and E5: 79, 81, 79 (words
    alone 77); fusion by min-max scaling of each half 77 with USE, by reciprocal ranks
    56. docs/retrieval.md has all sets.

    Args:
        lexical: Lexical scores, 0 where nothing matched.
        semantic: Evidence of cosines, 0 without a vector.
        reliability: Of the cosines, from 0 to 1, for all or for each.
        weights: Of the query's terms.
    """
    if not lexical.any():
        return np.asarray(semantic, np.float32)
    fused: Scores = semantic * trusted(reliability, weights)
    fused += lexical
    return np.minimum(fused, np.float32(1), out=fused)


def trusted(reliability: float | Scores, weights: Sequence[float] = ()) -> Scores:
    """Return what the evidence of cosines counts beside words, from 0 to 1.

    Args:
        reliability: Of the cosines, for all or for each.
        weights: Of the query's terms.
    """
    trust = np.asarray(reliability, np.float32)
    if max(weights, default=0) >= _IDENTIFIER:
        trust = trust * np.float32(_BESIDE_IDENTIFIERS)
    return np.asarray(trust, np.float32)


def with_labels(
    evidence: Scores, formula: Formula, labelled: NDArray[np.int64]
) -> Scores:
    """Return evidence, raised where topics, participants or location match the query.

    Args:
        evidence: By slot, in [0, 1].
        formula: Says by how much.
        labelled: The slots, in any order, some more than once.
    """
    if not formula.labelled or not len(labelled):
        return evidence
    raised = evidence.copy()
    raised[labelled] = evidence[labelled] * np.float32(1 + formula.labelled)
    return np.asarray(np.minimum(raised, 1, out=raised), np.float32)


def vector_scores(similarities: Scores) -> Scores:
    """Return cosines as scores in [0, 1]: below 0, or without a vector, is 0."""
    return np.clip(np.nan_to_num(similarities, nan=0), 0, 1)


def hybrid_scores(lexical: Scores, similarities: Scores) -> Scores:
    """Return one score in [0, 1] per slot, without a calibration of the embedder.

    This is how `ranking="reference"` fuses. Each half is brought to [0, 1] by its own
    best and background level, because cosines of unrelated texts differ by embedder; it
    counts the more, the better its best is.
    The result is scaled to the better half's best score, so that a threshold means
    what it means for that half alone.

    Where a half is missing (no token of the query matched anywhere, no vectors at all,
    an item without a vector) the other one stands alone. Arrays of several shelves are
    to be concatenated first.

    Args:
        lexical: Lexical scores, 0 where nothing matched.
        similarities: Cosines, `-inf` where there is no vector.
    """
    words, meaning = hybrid_parts(lexical, similarities)
    fused: Scores = np.clip(words + meaning, 0, 1).astype(np.float32)
    return fused


def hybrid_parts(lexical: Scores, similarities: Scores) -> tuple[Scores, Scores]:
    """Return what each half adds in `hybrid_scores`: words, then vectors."""
    semantic = vector_scores(similarities)
    best_lexical = float(lexical.max(initial=0))
    best_semantic = float(semantic.max(initial=0))
    if best_lexical <= 0:
        return np.zeros_like(semantic), semantic
    if best_semantic <= 0:
        return lexical, np.zeros_like(lexical)
    present = np.isfinite(similarities)
    lexical_weight = LEXICAL_SHARE * best_lexical
    semantic_weight = (1 - LEXICAL_SHARE) * best_semantic
    scale = max(best_lexical, best_semantic) / (lexical_weight + semantic_weight)
    background = _background(similarities[present])
    raised = (semantic - background) / max(best_semantic - background, _TINY)
    words = scale * lexical_weight * (lexical / best_lexical)
    meaning = scale * semantic_weight * np.clip(raised, 0, 1)
    return np.where(present, words, lexical), np.where(present, meaning, 0)


def _background(cosines: Scores) -> float:
    """Return the level of unrelated texts: two deviations below the mean, at least 0.

    With few texts the mean says little; it is drawn towards 0.
    """
    level = float(cosines.mean()) - 2 * float(cosines.std())
    return max(level * len(cosines) / (len(cosines) + _FEW), 0.0)


def reciprocal_rank_fusion(
    primary: Sequence[C | None],
    secondary: Sequence[C | None],
    identity: Callable[[C], str],
    *,
    k: int = RECIPROCAL_RANK_CONSTANT,
) -> list[tuple[C, float]]:
    """Sum `1 / (k + rank)` over two rankings, ranks counted from 1.

    Measured on conversations it ranks below its better half; it is here for
    comparison and for rankings without scores.

    Args:
        primary: The first ranking; its entries are preferred. `None` and entries
            without an id count as a rank but are left out.
        secondary: The second ranking.
        identity: Returns the id of an entry.
        k: The constant; 60 if not positive.

    Returns:
        Entries with their sums, in order of first appearance.
    """
    constant = k if k > 0 else RECIPROCAL_RANK_CONSTANT
    entries: dict[str, C] = {}
    sums: dict[str, float] = {}
    for ranking in (primary, secondary):
        for rank, entry in enumerate(ranking, 1):
            if entry is None or not (key := identity(entry)):
                continue
            entries.setdefault(key, entry)
            sums[key] = sums.get(key, 0.0) + 1 / (constant + rank)
    return [(entries[key], total) for key, total in sums.items()]
