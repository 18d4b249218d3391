"""A whole namespace, read column by column: how a search index is loaded fast.

A record costs microseconds to make. An index of many needs few of them as records: it
takes tokens and vectors as they are stored and makes a record when a search finds it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

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
        rows: What a record is made of, without tokens and vectors.
        record: Makes the record of a row.
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
    rows: Sequence[Any]
    record: Callable[[Any], Record]
    keys: Sequence[str]
    flags: Sequence[int]
    expiries: Sequence[int | None]
    embedders: Sequence[int]
    values: Sequence[bytes]
    metas: Sequence[bytes | None]
    tokens: Sequence[bytes | None]
    vectors: Sequence[bytes | None]


@runtime_checkable
class ReadsColumns(Protocol):
    """A backend that reads a namespace faster by columns than by records."""

    def columns(
        self, namespace: Namespace, size: int, *, vectors: bool = True
    ) -> Iterator[Columns]:
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


def are_single_vectors(packed: Sequence[bytes], dims: int) -> bool:
    """Tell whether each item has one vector, and of these dimensions."""
    head = dims.to_bytes(_DIMENSION_BYTES, "little")
    size = _DIMENSION_BYTES + _FLOAT_BYTES * dims
    sizes = set(map(len, packed))
    return sizes <= {size} and all(blob.startswith(head) for blob in packed)


def unpack_single_vectors(packed: Sequence[bytes], dims: int) -> "NDArray[np.float32]":
    """Return one vector per item, shape (items, dims), of what `are_single_vectors`."""
    import numpy as np  # noqa: PLC0415 - see unpack_vectors

    flat: NDArray[np.float32] = np.frombuffer(b"".join(packed), "<f4")
    return flat.reshape(-1, dims + 1)[:, 1:]
