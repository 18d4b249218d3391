"""Vectors of texts that were embedded lately, within a number of bytes."""

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ENTRY: Final = 360
"""Bytes that an entry takes beside its numbers: key, digest, array object, place in the
dictionary (CPython 3.11, `sys.getsizeof` of each)."""


class CacheKey(NamedTuple):
    """What a vector depends on.

    Attributes:
        embedder: The fingerprint of model, dimension and prefixes.
        role: `"query"` or `"document"`: many models embed them differently.
        digest: BLAKE2b of the text, 16 bytes.
    """

    embedder: int
    role: str
    digest: bytes


def cache_key(embedder: int, role: str, text: str) -> CacheKey:
    """Return the key of a text."""
    encoded = text.encode("utf-8", "surrogatepass")
    return CacheKey(embedder, role, hashlib.blake2b(encoded, digest_size=16).digest())


class VectorCache:
    """The least recently used vectors give way when the bytes are used up.

    Vectors are kept as read-only copies: nobody who gets one can change it for others.
    Safe to use from several threads; no call into foreign code is made under its lock.

    Args:
        budget: Bytes that it may take, 0 = nothing is kept.
    """

    def __init__(self, budget: int) -> None:
        """Begin empty."""
        self._budget = budget
        self._vectors: OrderedDict[CacheKey, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0
        """What it takes right now."""

    def get(self, key: CacheKey) -> "NDArray[np.float32] | None":
        """Return the vector of a key, `None` if it is not known (any more)."""
        with self._lock:
            found = self._vectors.get(key)
            if found is not None:
                self._vectors.move_to_end(key)
            return found

    def put(self, key: CacheKey, vector: "NDArray[np.float32]") -> None:
        """Keep a copy of a vector."""
        size = vector.nbytes + _ENTRY
        if size > self._budget:
            return
        kept = vector.copy()
        kept.flags.writeable = False
        with self._lock:
            if key in self._vectors:
                return
            self._vectors[key] = kept
            self.bytes += size
            while self.bytes > self._budget:
                _, oldest = self._vectors.popitem(last=False)
                self.bytes -= oldest.nbytes + _ENTRY

    def clear(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._vectors.clear()
            self.bytes = 0

    def __len__(self) -> int:
        """Return how many vectors it holds."""
        return len(self._vectors)
