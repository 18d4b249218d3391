"""What a cosine of one embedder means: evidence in [0, 1] that compares between all.

Cosines of unrelated texts lie around 0.1 under one embedder and around 0.75 under
another, and they differ by language and between languages. So each embedder is measured
with probes (`search.probes`), and a cosine is read against the levels found: 0 is what
unrelated texts have, `BOUNDARY` what parts them from related ones, 1 the same text.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

BOUNDARY: Final = 1 / 8
"""The evidence of texts about which nobody can tell whether they are related."""
BACKGROUND: Final = 1 / 24
"""About what unrelated texts have on average."""

_UPPER: Final = 1.645
"""Deviations above the mean below which 95 % of a normal distribution lie."""
_LOWER: Final = 1.282
"""Deviations below the mean above which 90 % of a normal distribution lie."""
_LEAST_DEVIATION: Final = 1e-3
"""What a deviation is taken for at least: an embedder that answers the same vector for
everything has none, and no difference may then count as a large one."""

_UNTELLING: Final = 1.0
"""The separation up to which cosines say next to nothing. (MiniLM on Chinese: 0.1.)"""
_TELLING: Final = 2.5
"""The separation from which they say all they can. (E5 on Chinese: 2.5, on English 3.1;
USE 3.4 and MiniLM 4.5 on English.)"""
_LEAST_RELIABILITY: Final = 0.03

_USUAL_MEAN: Final = 0.1
_USUAL_DEVIATION: Final = 0.1
_USUAL_SEPARATION: Final = 4.0
_COMMON_FROM: Final = 20
_ALL_THE_SAME: Final = 0.999
_PSEUDO_OBSERVATIONS: Final = 10


@dataclass(frozen=True, slots=True)
class Level:
    """Where the cosines of texts lie that have nothing, or much, to do with each other.

    Attributes:
        mean: Mean cosine of unrelated texts.
        deviation: Its standard deviation.
        related_mean: Mean cosine of texts that say the same in other words.
        related_deviation: Its standard deviation.
    """

    mean: float
    deviation: float
    related_mean: float
    related_deviation: float

    @classmethod
    def measured(cls, cosines: NDArray[np.floating[Any]]) -> Self:
        """Return the level of a square of cosines.

        Args:
            cosines: Shape (probes, probes), statements by twins: related on the
                diagonal, unrelated elsewhere.
        """
        square = np.asarray(cosines, np.float64)
        own = np.eye(len(square), dtype=bool)
        related, unrelated = square[own], square[~own]
        return cls(
            float(unrelated.mean()),
            max(float(unrelated.std()), _LEAST_DEVIATION),
            float(related.mean()),
            max(float(related.std()), _LEAST_DEVIATION),
        )

    @property
    def boundary(self) -> float:
        """The cosine that parts unrelated from related texts.

        Half-way between what 95 % of the unrelated stay below and what 90 % of the
        related reach; where these overlap, the former.
        """
        upper = self.mean + _UPPER * self.deviation
        lower = self.related_mean - _LOWER * self.related_deviation
        return upper + max(lower - upper, 0.0) / 2

    @property
    def separation(self) -> float:
        """The distance of both means in mean deviations (d' of signal detection)."""
        deviation = (self.deviation + self.related_deviation) / 2
        return (self.related_mean - self.mean) / deviation

    @property
    def reliability(self) -> float:
        """How far cosines can be trusted: 0.03 below a separation of 1, 1 from 2.5."""
        share = (self.separation - _UNTELLING) / (_TELLING - _UNTELLING)
        share = min(max(share, 0.0), 1.0)
        return _LEAST_RELIABILITY + (1 - _LEAST_RELIABILITY) * share

    def steepest(self, evidence: float) -> float:
        """Return the most that evidence rises by, for each step of a cosine.

        Args:
            evidence: As far as it has risen: above the boundary it rises faster.
        """
        curve = _curve(self)
        if curve.boundary >= 1 or evidence <= BOUNDARY:
            return curve.slope
        return curve.slope + 2 * curve.bend * math.sqrt(evidence - BOUNDARY)

    def evidence(self, cosines: Scores, stretch: float = 1.0) -> Scores:
        """Return cosines as evidence in [0, 1]; see `Calibration.evidence`.

        Args:
            cosines: Shape (documents,).
            stretch: What their distance from 1 is multiplied by first.
        """
        least, boundary, slope, bend, _ = _curve(self)
        shift = 1 - stretch
        # A stretched cosine c · s + (1 − s) exceeds a level where c exceeds the level
        # shrunk: one pass over all cosines does for both.
        found = np.multiply(cosines, np.float32(slope * stretch), dtype=np.float32)
        found += np.float32((shift - least) * slope)
        np.fmax(found, 0, out=found)  # what is not a number, too
        if boundary >= 1:
            return np.asarray(np.minimum(found, 1, out=found), np.float32)
        limit = np.float32((boundary - shift) / stretch)
        (high,) = (cosines > limit).nonzero()
        if len(high):  # few cosines lie above it
            above = (cosines[high] - limit) * np.float32(bend * stretch)
            found[high] = np.minimum(found[high] + np.square(above), 1)
        return np.asarray(found, np.float32)


class _Curve(NamedTuple):
    """How evidence grows with cosines; see `Calibration.evidence`.

    Attributes:
        least: The cosine at which it begins.
        boundary: The cosine from which it is bent upwards.
        slope: How fast it grows at first.
        bend: The root of what the squared distance from the boundary counts.
        reliability: How far it can be relied on: `Level.reliability`.
    """

    least: float
    boundary: float
    slope: float
    bend: float
    reliability: float


@lru_cache(maxsize=64)
def _curve(level: Level) -> _Curve:
    """Return the numbers that every search needs of a level."""
    least, boundary = level.mean - level.deviation, level.boundary
    slope = BOUNDARY / max(boundary - least, _LEAST_DEVIATION)
    reached = min(slope * (1 - least), 1.0)
    bend = (1 - reached) ** 0.5 / (1 - boundary) if boundary < 1 else 0.0
    return _Curve(least, boundary, slope, bend, level.reliability)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The levels of one embedder: within Chinese, within other languages, and across.

    Attributes:
        han: Of a query and a document that both hold Han characters.
        other: Of a query and a document that both hold none.
        across: Of one with and one without.
    """

    han: Level
    other: Level
    across: Level

    @classmethod
    def measured(
        cls,
        other: tuple[Scores, Scores],
        han: tuple[Scores, Scores],
    ) -> Self:
        """Return what the vectors of probes say.

        Args:
            other: Unit vectors of the English statements, as documents, and of their
                twins, as queries; each of shape (probes, dimensions).
            han: The same of the Chinese ones, in the same order.
        """
        documents, queries = other
        han_documents, han_queries = han
        there, back = documents @ han_queries.T, han_documents @ queries.T
        ways = Level.measured(there), Level.measured(back)
        mean = [sum(pair) / 2 for pair in zip(*map(_numbers, ways), strict=True)]
        return cls(
            han=Level.measured(han_documents @ han_queries.T),
            other=Level.measured(documents @ queries.T),
            across=Level(*mean),
        )

    @classmethod
    def from_pool(cls, similarities: Scores) -> Self:
        """Return what the cosines of one query say by themselves, without any probe.

        Most memories have nothing to do with a query, so that the mean and deviation
        of all cosines stand for the unrelated ones. Few cosines say little: both are
        drawn towards 0.1, with the weight of 100 / (n + 10) observations, which is ten
        for none and two beside forty (with ten beside forty, E5 would find everything
        related). The related are taken to lie four deviations above, as with most
        embedders (3 to 5 were measured).

        Args:
            similarities: Cosines, `-inf` where there is no vector.
        """
        known = np.asarray(similarities)[np.isfinite(similarities)]
        count = len(known)
        weight = _PSEUDO_OBSERVATIONS**2 / (count + _PSEUDO_OBSERVATIONS)
        mean, variance = weight * _USUAL_MEAN, weight * _USUAL_DEVIATION**2
        if count:
            mean += count * float(known.mean(dtype=np.float64))
            variance += count * float(known.var(dtype=np.float64))
        mean, variance = mean / (count + weight), variance / (count + weight)
        deviation = max(variance**0.5, _LEAST_DEVIATION)
        level = Level(mean, deviation, mean + _USUAL_SEPARATION * deviation, deviation)
        return cls(level, level, level)

    def evidence(
        self,
        similarities: Scores,
        *,
        han_query: bool,
        han_documents: bool | NDArray[np.bool_],
        stretch: float = 1.0,
    ) -> Scores:
        """Return how much cosines say that a document answers a query.

        With μ and σ of unrelated texts and the boundary b (`Level.boundary`), the
        evidence of a cosine c is

            (c − (μ − σ)) / (8 · (b − (μ − σ))) + r · (max(c − b, 0) / (1 − b))²

        cut to [0, 1], where r is such that the same text has 1. The boundary has 1/8,
        which is 0.5 as a score (`formula.score_of`). The lower sixth of unrelated texts
        has 0. It is a straight line up to the boundary, so that sums with lexical
        scores rank well: on LoCoMo recall@10 is 1 to 2 better than with a curve.

        Args:
            similarities: Cosines, shape (documents,); `-inf`, no vector, has 0.
            han_query: Whether the query holds a Han character.
            han_documents: Whether the documents do, all alike or each.
            stretch: What their distance from 1 is multiplied by first.

        Returns:
            float32 in [0, 1], shape (documents,), owned by the caller.
        """
        own, crossed = self._levels(han_query=han_query)
        if isinstance(han_documents, bool):
            level = own if han_documents == han_query else crossed
            return level.evidence(similarities, stretch)
        same = np.equal(han_documents, han_query)
        return np.where(
            same,
            own.evidence(similarities, stretch),
            crossed.evidence(similarities, stretch),
        )

    def stretch(self, similarities: Scores, *, han_query: bool) -> float:
        """Return what takes from cosines what all of a query have in common.

        Where a query is like everything in a store (all memories name the person that
        it asks about), that is no evidence for any of them, as a word that all hold is
        none. So the mean of the pool, as far as it lies above that of unrelated texts,
        is brought down to it, and all else in proportion: the same text keeps 1. Of n
        memories n / (n + 20) of the way is gone.

        Recall@10 on LoCoMo with facts beside the turns rose from 71.3 to 77.4 with
        MiniLM, and from 77.9 to 79.6 with USE; elsewhere it moved by less than 1.

        Args:
            similarities: Cosines, shape (documents,); `-inf` where there is no vector.
            han_query: Whether the query holds a Han character.

        Returns:
            What to multiply their distance from 1 by, at least 1.
        """
        known = similarities
        if not len(known):
            return 1.0
        total = float(np.add.reduce(known))
        if not math.isfinite(total):
            known = similarities[np.isfinite(similarities)]
            if not len(known):
                return 1.0
            total = float(np.add.reduce(known))
        mean = total / len(known)
        above = mean - self._levels(han_query=han_query)[0].mean
        if above <= 0 or mean > _ALL_THE_SAME:
            return 1.0
        return 1 + above * len(known) / (len(known) + _COMMON_FROM) / (1 - mean)

    def steepest(self, evidence: float, *, han_query: bool) -> float:
        """Return the most that evidence rises by, for each step of a cosine.

        Args:
            evidence: As far as it has risen, in [0, 1].
            han_query: Whether the query holds a Han character.
        """
        levels = self._levels(han_query=han_query)
        return max(level.steepest(evidence) for level in levels)

    def reliability(
        self, *, han_query: bool, han_documents: bool | NDArray[np.bool_]
    ) -> float | Scores:
        """Return how far the evidence can be trusted, in [0, 1].

        With d' = (mean of related − mean of unrelated) / mean of both deviations: 0.03
        up to d' = 1, from there in proportion to 1 at d' = 2.5.

        Args:
            han_query: Whether the query holds a Han character.
            han_documents: Whether the documents do, all alike or each.

        Returns:
            A number, or one per document (float32).
        """
        own, crossed = self._levels(han_query=han_query)
        if isinstance(han_documents, bool):
            return _curve(own if han_documents == han_query else crossed).reliability
        same = np.equal(han_documents, han_query)
        values = np.array([crossed.reliability, own.reliability], np.float32)
        return values[same.astype(np.intp)]

    def _levels(self, *, han_query: bool) -> tuple[Level, Level]:
        """Return the level of documents in the query's script, and in another one."""
        return (self.han if han_query else self.other), self.across

    def to_json(self) -> str:
        """Return it as JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return what `to_json` wrote.

        Raises:
            ValueError: If it is something else.
        """
        try:
            given = json.loads(text)
            levels = {name: _level(given[name]) for name in ("han", "other", "across")}
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            msg = "This is no calibration."
            raise ValueError(msg) from error
        numbers = [_numbers(level) for level in levels.values()]
        if not np.isfinite(numbers).all() or np.array(numbers)[:, 1::2].min() <= 0:
            msg = "This calibration has numbers that cannot be."
            raise ValueError(msg)
        return cls(**levels)


def _level(given: Mapping[str, float]) -> Level:
    return Level(**{name: float(number) for name, number in given.items()})


def _numbers(level: Level) -> tuple[float, float, float, float]:
    return (
        level.mean,
        level.deviation,
        level.related_mean,
        level.related_deviation,
    )
