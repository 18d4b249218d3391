"""Vectors in a quarter of the memory, to find out which of them are worth a look.

Reading a user's vectors is what a search by meaning takes longest for: the processor
waits for memory. With simsimd installed (the extra `fast`), rows have a copy in whole
numbers of one byte, scaled by the largest of each row, and a search reads these. What
comes of it is off by a few thousandths, so that the best are then compared by the rows
themselves (`service.scoring`).
"""

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_STEPS: Final = 127  # on either side of zero, in one byte
_AT_ONCE: Final = 64  # rows that stay in the cache while they are compressed
_DEVIATIONS: Final = 6.0  # a rounding error is beyond once in 5 × 10⁸ vectors


@cache
def _simsimd() -> Any:
    """Return the module, `None` where it is not installed."""
    try:
        import simsimd  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return simsimd


def available() -> bool:
    """Tell whether compressed rows can be compared fast here."""
    return _simsimd() is not None


class CompressedQuery:
    """A query as whole numbers.

    Args:
        query: One unit vector, float32, shape (dims,).
    """

    __slots__ = ("codes", "residual", "scale")

    def __init__(self, query: Vectors) -> None:
        """Compress it."""
        codes, scales, residual = _compressed(query[None])
        self.codes = codes
        self.scale = float(scales[0])
        self.residual = residual


class CompressedRows:
    """Rows as whole numbers, each with its own scale; rows are added at the end.

    Args:
        capacity: How many there can be.
        dims: Their length.

    Attributes:
        count: How many there are.
        residual: The greatest length of what any row lost.
    """

    __slots__ = ("_codes", "_scales", "count", "residual")

    def __init__(self, capacity: int, dims: int) -> None:
        """Start empty."""
        self._codes = np.empty((capacity, dims), np.int8)
        self._scales = np.empty(capacity, np.float32)
        self.count = 0
        self.residual = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows there are."""
        return self.count * (self._codes.shape[1] + self._scales.itemsize)

    def extend(self, rows: Vectors) -> None:
        """Add rows.

        Args:
            rows: Unit vectors or zeros, float32, shape (rows, dims).
        """
        for first in range(0, len(rows), _AT_ONCE):
            codes, scales, residual = _compressed(rows[first : first + _AT_ONCE])
            end = self.count + len(codes)
            self._codes[self.count : end] = codes
            self._scales[self.count : end] = scales
            self.residual = max(self.residual, residual)
            self.count = end

    def cosines(self, query: CompressedQuery) -> Vectors:
        """Return about what the products of the rows and a query are.

        Returns:
            float32, shape (count,), off by at most `error` of the true ones.
        """
        products = np.asarray(_simsimd().dot(self._codes[: self.count], query.codes))
        scales = self._scales[: self.count] * np.float32(query.scale)
        found: Vectors = np.multiply(products, scales, dtype=np.float32)
        return found

    def error(self, query: CompressedQuery) -> float:
        """Return by how much a product may be off: six deviations.

        What rounding takes from a unit vector of d numbers is a vector of length r,
        whose direction has nothing to do with the other vector: their product has a
        deviation of r / √d.
        """
        lost = (self.residual**2 + query.residual**2) ** 0.5
        return float(_DEVIATIONS * lost / self._codes.shape[1] ** 0.5)


def _compressed(rows: Vectors) -> tuple[NDArray[np.int8], Vectors, float]:
    """Return whole numbers, the scale of each row, and the greatest loss of any."""
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    scales = np.asarray(largest / np.float32(_STEPS), np.float32)
    scales[scales == 0] = 1  # A row of zeros.
    steps = rows * (1 / scales)[:, None]
    rounded = np.rint(steps)
    steps -= rounded
    squares = np.einsum("ij,ij->i", steps, steps) * scales**2
    return rounded.astype(np.int8), scales, float(squares.max(initial=0) ** 0.5)
