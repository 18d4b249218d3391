"""Tokens and vectors of many records in a few large pieces of memory.

An object for each of them takes a third as much again, and leaves holes behind when it
goes.
"""

import mmap
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from langchain_agentmemory.large_arrays import large_array, large_buffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE: Final = 4096
"""Records of a page: as many rows as a chunk of an index has, which takes them over."""

_NUMBERS: Final = tuple(range(PAGE))  # one object for all that have the same number


class KeptRow:
    """One row of an array.

    Args:
        rows: The array, shape (rows, dimensions).
        number: Which row.
    """

    __slots__ = ("number", "rows")

    def __init__(self, rows: "NDArray[np.float32]", number: int) -> None:
        """Remember both."""
        self.rows = rows
        self.number = _NUMBERS[number] if number < PAGE else number

    def view(self) -> "NDArray[np.float32]":
        """Return the row, shape (1, dimensions)."""
        return self.rows[self.number : self.number + 1]


def row_of(vectors: "NDArray[np.float32]") -> KeptRow | None:
    """Return which row of which array this is, `None` if it is something else."""
    whole = vectors.base
    if whole is None or vectors.ndim != 2 or not len(vectors) == 1 <= vectors.size:  # noqa: PLR2004
        return None
    if type(whole) is not type(vectors) or whole.shape[1:] != vectors.shape[1:]:
        return None
    if whole.dtype != vectors.dtype or not whole.flags.c_contiguous:
        return None
    start: int = whole.__array_interface__["data"][0]
    distance = vectors.__array_interface__["data"][0] - start
    number, rest = divmod(distance, whole.strides[0])
    if rest or not vectors.flags.c_contiguous or not 0 <= number < len(whole):
        return None
    return KeptRow(whole, number)


class KeptBytes:
    """One of many bytes that lie in one buffer.

    Args:
        page: The buffer.
        number: Which of them.
    """

    __slots__ = ("number", "page")

    def __init__(self, page: "BytesPage", number: int) -> None:
        """Remember both."""
        self.page = page
        self.number = _NUMBERS[number]

    def read(self) -> bytes:
        """Return them."""
        return self.page.read(self.number)


class BytesPage:
    """Many bytes, one after the other.

    Args:
        parts: At most `PAGE` of them, not all empty.
    """

    __slots__ = ("_buffer", "_ends")

    def __init__(self, parts: Sequence[bytes]) -> None:
        """Copy them."""
        self._ends = array("Q", accumulate(map(len, parts), initial=0))
        self._buffer: mmap.mmap = large_buffer(self._ends[-1])
        for part in parts:
            self._buffer.write(part)

    def read(self, number: int) -> bytes:
        """Return one of them."""
        return self._buffer[self._ends[number] : self._ends[number + 1]]


def pack_tokens(tokens: Sequence[bytes | None]) -> "list[bytes | KeptBytes | None]":
    """Return what to keep instead of at most `PAGE` tokens, which lie together then."""
    parts = [blob or b"" for blob in tokens]
    if not any(parts):
        return list(tokens)
    page = BytesPage(parts)
    return [
        KeptBytes(page, number) if blob else blob for number, blob in enumerate(tokens)
    ]


def pack_rows(
    vectors: "Sequence[NDArray[np.float32] | None]",
) -> "list[NDArray[np.float32] | KeptRow | None]":
    """Return what to keep instead of at most `PAGE` vectors, which lie together then.

    Those of a record with several, or with others dimensions than the first one that
    has one, stay what they are.
    """
    shape = next((v.shape for v in vectors if v is not None and len(v) == 1), None)
    if shape is None:
        return list(vectors)
    owners = [n for n, v in enumerate(vectors) if v is not None and v.shape == shape]
    rows = large_array((len(owners), shape[1]), "float32")
    packed: list[NDArray[np.float32] | KeptRow | None] = list(vectors)
    for row, owner in enumerate(owners):
        rows[row] = vectors[owner]
        packed[owner] = KeptRow(rows, row)
    return packed
