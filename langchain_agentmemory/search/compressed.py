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

from langchain_agentmemory.large_arrays import large_array

Vectors = NDArray[np.float32]

_STEPS: Final = 127  # on either side of zero, in one byte
_AT_ONCE: Final = 64  # rows that stay in the cache while they are compressed
_DEVIATIONS: Final = 6.0  # a rounding error is beyond once in 5 × 10⁸ vectors
_USUAL_DEVIATIONS: Final = 4.5  # beyond this is one of 150,000


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

    __slots__ = ("codes", "query", "scale")

    def __init__(self, query: Vectors) -> None:
        """Compress it."""
        largest = float(np.abs(query).max())
        self.scale = largest / _STEPS if largest else 1.0
        self.codes = np.rint(query / np.float32(self.scale)).astype(np.int8)[None]
        self.query = query.astype(np.float64)


class CompressedRows:
    """Rows as whole numbers, each with its own scale; rows are added at the end.

    Args:
        capacity: How many there can be.
        dims: Their length.

    Attributes:
        count: How many there are.
        scale: The greatest one: what one step is worth.
    """

    __slots__ = ("_codes", "_scales", "_sum", "count", "scale")

    def __init__(self, capacity: int, dims: int) -> None:
        """Start empty."""
        self._codes: NDArray[np.int8] = large_array((capacity, dims), np.int8)
        self._scales = np.empty(capacity, np.float32)
        self._sum = np.zeros(dims, np.float64)
        self.count = 0
        self.scale = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows there are."""
        dims: int = self._codes.shape[1]
        return self.count * (dims + self._scales.itemsize)

    def extend(self, rows: Vectors) -> None:
        """Add rows.

        Args:
            rows: Unit vectors or zeros, float32, shape (rows, dims).
        """
        for first in range(0, len(rows), _AT_ONCE):
            part = rows[first : first + _AT_ONCE]
            codes, scales = _compressed(part)
            end = self.count + len(codes)
            self._codes[self.count : end] = codes
            self._scales[self.count : end] = scales
            self._sum += part.sum(axis=0, dtype=np.float64)
            self.scale = max(self.scale, float(scales.max()))
            self.count = end

    def cosines(self, query: CompressedQuery) -> Vectors:
        """Return about what the products of the rows and a query are.

        Rows that are alike are rounded alike. So what all products together are off by,
        which is known, is taken from each.

        Returns:
            float32, shape (count,), off by at most about `error` of the true ones.
        """
        products = np.asarray(_simsimd().dot(self._codes[: self.count], query.codes))
        scales = self._scales[: self.count] * np.float32(query.scale)
        found: Vectors = np.multiply(products, scales, dtype=np.float32)
        off = float(self._sum @ query.query) - float(np.add.reduce(found))
        found += np.float32(off / max(self.count, 1))
        return found

    def error(self, query: CompressedQuery) -> float:
        """Return by how much a product may be off: six deviations.

        Each number is off by up to half a step, which has a deviation of step / √12. A
        product with a unit vector that has nothing to do with these errors has the
        same. Vectors whose numbers are all of a few sizes, as those that count words,
        are rounded in step with each other and can be off by more: what is compared
        exactly shows it (`are_as_said`).
        """
        steps = self.scale**2 + query.scale**2
        return float(_DEVIATIONS * (steps / 12) ** 0.5)


def are_as_said(estimates: Vectors, exact: Vectors, error: float) -> bool:
    """Tell whether some estimates are no further off than errors by chance would be.

    Args:
        estimates: Some cosines, shape (some,).
        exact: What they are.
        error: What `CompressedRows.error` said.
    """
    known = np.isfinite(exact)
    most = np.abs(estimates[known] - exact[known]).max(initial=0)
    return bool(most <= error * _USUAL_DEVIATIONS / _DEVIATIONS)


def _compressed(rows: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Return whole numbers, and the scale of each row."""
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    scales = np.asarray(largest / np.float32(_STEPS), np.float32)
    scales[scales == 0] = 1  # A row of zeros.
    return np.rint(rows * (1 / scales)[:, None]).astype(np.int8), scales
