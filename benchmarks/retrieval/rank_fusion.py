"""Other ways to make one ranking of two, in the place of added evidence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.changing import Change
from langchain_agentmemory.search import fusion
from langchain_agentmemory.search.formula import Formula
from langchain_agentmemory.search.fusion import RECIPROCAL_RANK_CONSTANT, hybrid_scores
from langchain_agentmemory.service import halves as service

Scores = NDArray[np.float32]


class _Later:
    """A fusion that comes after labels have raised both halves, not before.

    Labels multiply scores, which is without a meaning for sums of ranks.
    """

    def __init__(self) -> None:
        self._halves: tuple[Scores, Scores] | None = None

    def keep(
        self,
        lexical: Scores,
        semantic: Scores,
        reliability: float | Scores,
        weights: Sequence[float] = (),
    ) -> Scores:
        """Stand in for `fused_evidence`: only keep both halves."""
        del reliability, weights  # neither has a meaning here
        self._halves = lexical, semantic
        return lexical

    def fuse(
        self, evidence: Scores, formula: Formula, labelled: NDArray[np.int64]
    ) -> Scores:
        """Stand in for `with_labels`."""
        halves, self._halves = self._halves, None
        if halves is None:  # a search by words
            return fusion.with_labels(evidence, formula, labelled)
        raised = [fusion.with_labels(half, formula, labelled) for half in halves]
        return self.fused(*raised)

    def fused(self, lexical: Scores, semantic: Scores) -> Scores:
        raise NotImplementedError

    @property
    def changes(self) -> tuple[Change, ...]:
        """What to replace."""
        return (
            Change(service, "fused_evidence", self.keep),
            Change(service, "with_labels", self.fuse),
        )


class _Ranks(_Later):
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), scaled to [0, 1]."""

    def fused(self, lexical: Scores, semantic: Scores) -> Scores:
        total = _reciprocal_ranks(lexical) + _reciprocal_ranks(semantic)
        return np.asarray(total * (RECIPROCAL_RANK_CONSTANT + 1) / 2, np.float32)


class _Scaled(_Later):
    """Each half scaled by its best and background, as without a calibration."""

    def fused(self, lexical: Scores, semantic: Scores) -> Scores:
        return hybrid_scores(lexical, semantic)


def _reciprocal_ranks(scores: Scores) -> Any:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / (RECIPROCAL_RANK_CONSTANT + ranks), 0)


def by_ranks() -> tuple[Change, ...]:
    """Return the changes that fuse by reciprocal ranks, k = 60."""
    return _Ranks().changes


def by_scaling() -> tuple[Change, ...]:
    """Return the changes that scale each half to [0, 1] and weigh words with 0.6."""
    return _Scaled().changes
