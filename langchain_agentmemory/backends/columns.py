"""A whole namespace, read column by column: how a search index is loaded fast.

A record costs microseconds to make. An index of many needs few of them as records: it
takes tokens and vectors as they are stored and makes a record when a search finds it.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from langchain_agentmemory.backends.base import Namespace, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIMENSION_BYTES: Final = 4
_FLOAT_BYTES: Final = 4


class Columns(NamedTuple):
    """Some active records of a namespace.

    Attributes:
        epoch: The incarnation of the namespace, as in its head.
        revision: The revision that all of them together lead to.
        record: Makes the record at a position, without tokens and vectors, once.
        keys: Their keys.
        flags: Their marks.
        expiries: When they expire.
        embedders: Fingerprints of the embedders that made the vectors.
        values: Their values.
        metas: What is kept beside the values.
        tokens: Their search tokens.
        vectors: Their vectors, as `pack_vectors` makes them.
    """

    epoch: int
    revision: int
    record: Callable[[int], Record]
    keys: Sequence[str]
    flags: Sequence[int]
    expiries: Sequence[int | None]
    embedders: Sequence[int]
    values: Sequence[bytes]
    metas: Sequence[bytes | None]
    tokens: Sequence[bytes | None]
    vectors: Sequence[bytes | None]


class Numbered:
    """The records of columns that follow each other, numbered through.

    A number is all that an index holds of a record that nobody has looked at.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._count = 0
        self._firsts: list[int] = []
        self._records: list[Callable[[int], Record]] = []

    def add(self, columns: Columns) -> range:
        """Return the numbers of some more records."""
        first = self._count
        self._count += len(columns.keys)
        self._firsts.append(first)
        self._records.append(columns.record)
        return range(first, self._count)

    def record(self, number: int) -> Record:
        """Make the record of a number, once."""
        part = bisect_right(self._firsts, number) - 1
        return self._records[part](number - self._firsts[part])


@runtime_checkable
class ReadsColumns(Protocol):
    """A backend that reads a namespace faster by columns than by records."""

    def columns(
        self, namespace: Namespace, size: int, *, vectors: bool = True
    ) -> Generator[Columns, None, None]:
        """Yield all active records in order of revision, nothing if there are none.

        What was written since the revision was read may be among them. The caller reads
        on without a pause, to the end or not.

        Args:
            namespace: Whose records.
            size: How many at once, the last ones excepted.
            vectors: Whether vectors are wanted: reading them is most of the work.
        """
        ...


def pack_vectors(vectors: "NDArray[np.float32]") -> bytes:
    """Return vectors as bytes: their dimension, then little-endian float32."""
    dims: int = vectors.shape[1]
    packed = vectors.astype("<f4", copy=False).tobytes()
    return dims.to_bytes(_DIMENSION_BYTES, "little") + packed


def unpack_vectors(packed: bytes) -> "NDArray[np.float32]":
    """Undo `pack_vectors`."""
    import numpy as np  # noqa: PLC0415 - only stores with an index need it

    dims = int.from_bytes(packed[:_DIMENSION_BYTES], "little")
    flat: NDArray[np.float32] = np.frombuffer(packed, "<f4", offset=_DIMENSION_BYTES)
    return flat.reshape(-1, dims)


def single_vectors(packed: Sequence[bytes], dims: int) -> "NDArray[np.float32] | None":
    """Return the one vector of each item, shape (items, dims), in one piece of memory.

    Returns:
        `None` if any item has several, or one of other dimensions.
    """
    import numpy as np  # noqa: PLC0415 - see unpack_vectors

    if not set(map(len, packed)) <= {_DIMENSION_BYTES + _FLOAT_BYTES * dims}:
        return None
    if not packed:
        return np.empty((0, dims), np.float32)
    joined = b"".join(packed)
    heads = np.frombuffer(joined, "<u4")[:: dims + 1]
    if (heads != dims).any():
        return None
    flat: NDArray[np.float32] = np.frombuffer(joined, "<f4")
    return flat.reshape(-1, dims + 1)[:, 1:]
