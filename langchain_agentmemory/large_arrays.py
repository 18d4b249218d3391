"""Arrays whose memory is the system's again as soon as nobody holds them.

The allocator of C keeps what it got, in pieces between which others lie, once a large
piece was freed (glibc raises the size from which it asks the system for each piece, to
as much as 32 MB). An index that grows by large arrays left a fifth of its memory in
such holes.
"""

import mmap
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

_A = TypeVar("_A", bound="np.generic")

LARGE: Final = 256 * 1024
"""Bytes from which memory is asked of the system: it comes in pages, by a call."""


def large_buffer(nbytes: int) -> mmap.mmap:
    """Return memory of this process alone, zeros; what is not written takes none."""
    if hasattr(mmap, "MAP_PRIVATE"):
        # By default a child of this process would share it.
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        return mmap.mmap(-1, nbytes, flags=private)
    return mmap.mmap(-1, nbytes)


def large_array(shape: tuple[int, ...], dtype: "DTypeLike") -> "NDArray[Any]":
    """Return an array that is about to be filled.

    Args:
        shape: Its shape.
        dtype: What it holds.
    """
    import numpy as np  # noqa: PLC0415 - only stores with an index need it

    kind = np.dtype(dtype)
    nbytes = kind.itemsize
    for length in shape:
        nbytes *= length
    if nbytes < LARGE:
        return np.empty(shape, kind)
    return np.ndarray(shape, kind, large_buffer(nbytes))


def own_memory(array: "NDArray[_A]") -> "NDArray[_A]":
    """Return an array, or its copy in memory of its own, if it is large."""
    if array.nbytes < LARGE:
        return array
    copy = large_array(array.shape, array.dtype)
    copy[...] = array
    return copy
