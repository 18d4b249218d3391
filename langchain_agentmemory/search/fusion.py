"""Hybrid ranking: one score out of a lexical score and a vector similarity."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

C = TypeVar("C")
Scores = NDArray[np.float32]

LEXICAL_SHARE: Final = 0.5
RECIPROCAL_RANK_CONSTANT: Final = 60


def vector_scores(similarities: Scores) -> Scores:
    """Return cosines as scores in [0, 1]: below 0, or without a vector, is 0."""
    return np.clip(similarities, 0, 1)


def hybrid_scores(lexical: Scores, similarities: Scores) -> Scores:
    """Return one score in [0, 1] per slot out of both halves.

    Where a half is missing (no token of the query matched anywhere, no vectors at all,
    an item without a vector) the other one stands for both.

    Args:
        lexical: Lexical scores, 0 where nothing matched.
        similarities: Cosines, `-inf` where there is no vector.
    """
    semantic = vector_scores(similarities)
    if not np.any(lexical > 0):
        return semantic
    fused = LEXICAL_SHARE * lexical + (1 - LEXICAL_SHARE) * semantic
    return np.where(np.isneginf(similarities), lexical, fused).astype(np.float32)


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
