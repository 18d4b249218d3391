"""How sure a mean is: bootstrap over questions (Efron 1979, percentile intervals)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 2000
SEED: Final = 20240607
CONFIDENCE: Final = 0.95


class Interval(NamedTuple):
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def times(self, factor: float) -> "Interval":
        """Return it in another unit."""
        return Interval(self.mean * factor, self.low * factor, self.high * factor)


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of a sample, with its interval.

    The same sample always gives the same interval: the generator is seeded.

    Args:
        values: One number per question, at least one.
    """
    sample = np.asarray(values, np.float64)
    means = _resample(len(sample)) @ sample / len(sample)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(sample.mean()), float(low), float(high))


def difference(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Return the mean of `first - second` over the same questions, with its interval.

    Pairing takes out what the questions have in common: how hard they are.

    Args:
        first: One number per question.
        second: Those of the other ranking, in the same order.

    Raises:
        ValueError: If they are not as many.
    """
    return interval([one - other for one, other in zip(first, second, strict=True)])


@lru_cache(maxsize=8)
def _resample(size: int) -> NDArray[np.float64]:
    """Return how often each resample has each question, one row per resample."""
    generator = np.random.default_rng(SEED)
    shares = np.full(size, 1 / size)
    return generator.multinomial(size, shares, RESAMPLES).astype(np.float64)
