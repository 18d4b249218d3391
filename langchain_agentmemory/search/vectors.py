"""The one in-memory copy of a namespace's vectors, and exact search over it.

Vectors are unit length float32 rows in chunks that never move once written, so that
views of them stay valid. A chunk that is half dead has its living rows copied to the
end.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.large_arrays import large_array
from langchain_agentmemory.search import compressed
from langchain_agentmemory.search.compressed import (
    CompressedQuery,
    CompressedRows,
    are_as_said,
)

_FIRST_CHUNK: Final = 64
_LARGEST_CHUNK: Final = 4096
_NOBODY: Final = -1
_COMPRESSED_FROM: Final = 4096
"""Rows from which a copy of them is worth its memory: fewer stay in the cache."""
_LOOKED_AT: Final = 5
"""So many times as many as are wanted are compared exactly."""
_EXACT_SEARCHES: Final = 2
"""Searches before rows are compressed, which takes as long as some searches do."""
_UNIT_ERROR: Final = 1e-6  # of a squared length: a few roundings of float32
_TINY: Final = 1e-30  # Squares between these two lose nothing in float32.
_HUGE: Final = 1e30

Vectors = NDArray[np.float32]


def normalized(vectors: Vectors) -> Vectors:
    """Return unit length rows. A row without direction (zero, not finite) is zero."""
    rows = np.atleast_2d(np.asarray(vectors, np.float32))
    if len(rows) == 1:
        square = float(np.dot(rows[0], rows[0]))
        if _TINY < square < _HUGE:
            return rows * np.float32(square**-0.5)
    squares = np.einsum("ij,ij->i", rows, rows)
    if squares.min(initial=1) > _TINY and squares.max(initial=1) < _HUGE:
        return np.asarray(rows / np.sqrt(squares)[:, None], np.float32)
    # Scaled first, so that squares of very large or small components stay finite.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    usable = np.isfinite(largest) & (largest > 0)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=usable)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit = np.divide(scaled, length, out=np.zeros_like(rows), where=length > 0)
    return np.asarray(unit, np.float32)


def _dot_with_vecdot(rows: Vectors, query: Vectors) -> Vectors:
    """Row-wise products, with less CPU than `rows @ query` (1.1 to 2.4 times)."""
    return np.asarray(np.vecdot(rows, query))


def _dot_with_matmul(rows: Vectors, query: Vectors) -> Vectors:
    return np.asarray(rows @ query)


dot: Callable[[Vectors, Vectors], Vectors] = (
    _dot_with_vecdot if hasattr(np, "vecdot") else _dot_with_matmul
)


def _is_unit(vectors: Vectors) -> bool:
    """Tell whether rows are float32 and of unit length, up to what float32 can tell."""
    if vectors.dtype != np.float32 or vectors.ndim != 2:  # noqa: PLR2004
        return False
    squares = _squares(vectors)
    return bool((np.abs(squares - np.float32(1)) < _UNIT_ERROR).all())


def _squares_with_vecdot(rows: Vectors) -> Vectors:
    """Squared lengths, with a third of the CPU of `einsum`."""
    return np.asarray(np.vecdot(rows, rows))


def _squares_with_einsum(rows: Vectors) -> Vectors:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


_squares: Callable[[Vectors], Vectors] = (
    _squares_with_vecdot if hasattr(np, "vecdot") else _squares_with_einsum
)


def joined(rows: Sequence[Vectors]) -> Vectors:
    """Return rows as one array, without copying them if they lie in one already.

    Args:
        rows: At least one, each of shape (1, dims).
    """
    first, whole = rows[0], rows[0].base
    if (
        not isinstance(whole, np.ndarray)
        or whole.ndim != 2  # noqa: PLR2004
        or not whole.flags.c_contiguous
        or any(row.base is not whole for row in rows)
    ):
        return np.concatenate(rows)
    start, stride = _address(whole), whole.strides[0]
    begin = (_address(first) - start) // stride
    lent = whole[begin : begin + len(rows)]
    if len(lent) != len(rows) or lent.shape[1:] != first.shape[1:]:
        return np.concatenate(rows)
    expected = range(_address(lent), _address(lent) + len(rows) * stride, stride)
    if any(map(int.__ne__, map(_address, rows), expected)):
        return np.concatenate(rows)
    return lent


def _address(rows: Vectors) -> int:
    place: int = rows.__array_interface__["data"][0]
    return place


def _is_run(slots: Sequence[int]) -> bool:
    """Tell whether slots, which ascend, follow each other."""
    return slots[-1] - slots[0] == len(slots) - 1


class Estimates(NamedTuple):
    """About what the cosines of all slots are.

    Attributes:
        values: float32, shape (slots,), `-inf` where there is no vector.
        error: By how much any may be off; 0 if they are what they are.
    """

    values: Vectors
    error: float


class _Chunk:
    """Rows that never move, and the slot that owns each."""

    def __init__(self, rows: Vectors) -> None:
        self.rows = rows
        self.used = 0
        self.living = 0
        self.one_each = True  # No slot owns two rows.
        self.compressed: CompressedRows | None = None
        self.shift: int | None = 0  # Each row's slot less its number, if all equal.
        self._owners: NDArray[np.int64] | None = None  # Not while `shift` tells.

    @property
    def owners(self) -> NDArray[np.int64]:
        """The slot that owns each row, -1 where there is none."""
        if self._owners is None:
            self._owners = np.full(len(self.rows), _NOBODY, np.int64)
            if self.shift is not None:
                end = self.used + self.shift
                self._owners[: self.used] = np.arange(self.shift, end)
        return self._owners

    @property
    def nbytes(self) -> int:
        """Bytes of the rows written, dead ones included, and what belongs to them."""
        owners = 0 if self._owners is None else self._owners.nbytes
        copy = 0 if self.compressed is None else self.compressed.nbytes
        return self.rows[: self.used].nbytes + owners + copy

    def give(self, slot: int, count: int = 1) -> None:
        """Give the next rows to as many slots, one after the other."""
        shift = slot - self.used
        if self.used == 0:
            self.shift = shift
        elif self.shift != shift:
            self._list_owners()
        end = self.used + count
        if self.shift is None:
            owners = slot if count == 1 else np.arange(slot, slot + count)
            self.owners[self.used : end] = owners
        self.used = end
        self.living += count

    def give_all_to(self, slot: int, count: int) -> None:
        """Give several of the next rows to one slot."""
        self._list_owners()
        self.owners[self.used : self.used + count] = slot
        self.one_each = False
        self.used += count
        self.living += count

    def take(self, row: int, count: int, heir: int = _NOBODY) -> None:
        """Take rows from their slot; nobody or another slot gets them."""
        self._list_owners()
        self.owners[row : row + count] = heir

    def _list_owners(self) -> None:
        """Note each owner from now on: they are no run of slots any more."""
        self._owners, self.shift = self.owners, None


class VectorColumn:
    """The vectors of a shelf's slots: none, one or several each.

    Args:
        dims: Length of every vector.
        relocated: Called with (slot, view) when living rows had to be moved, so that
            whoever holds a view of the old rows can let go of it.
    """

    def __init__(self, dims: int, relocated: Callable[[int, Vectors], None]) -> None:
        """Start empty."""
        self._dims = dims
        self._relocated = relocated
        self._chunks: list[_Chunk] = []
        self._bases: list[int] = []
        self._next_base = 0
        # By slot: its first row (-1 without vectors), and how many it has.
        self._rows = array("q")
        self._counts = array("i")
        self._searches = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows written, dead ones included, and their bookkeeping."""
        bookkeeping = len(self._rows) * (self._rows.itemsize + self._counts.itemsize)
        return sum(chunk.nbytes for chunk in self._chunks) + bookkeeping

    def require_fit(self, vectors: Vectors) -> None:
        """Refuse vectors of other dimensions.

        Raises:
            InvalidInput: If their length is not `dims`.
        """
        if vectors.shape[-1] != self._dims:
            msg = (
                f"Vectors must have {self._dims} dimensions, not {vectors.shape[-1]}: "
                f"check the embedder against the configured `dims`."
            )
            raise InvalidInput(msg)

    def add(self, slot: int, vectors: Vectors) -> Vectors:
        """Store a slot's vectors, normalised, and return a view of them."""
        return self._write(slot, normalized(vectors))

    def add_one_each(self, slots: Sequence[int], vectors: Vectors) -> None:
        """Store one vector each for many slots.

        Unit vectors for slots that follow each other are not copied: the caller must
        not change them any more.
        """
        lent = _is_unit(vectors)
        rows = vectors if lent else normalized(vectors)
        if lent and _is_run(slots) and self._is_full():
            for done in range(0, len(rows), _LARGEST_CHUNK):
                self._adopt(slots[done], rows[done : done + _LARGEST_CHUNK])
            return
        done = 0
        while done < len(slots):
            chunk = self._chunk_for(1)
            start = chunk.used
            count = min(len(slots) - done, len(chunk.rows) - start)
            chunk.rows[start : start + count] = rows[done : done + count]
            part, base = slots[done : done + count], self._bases[-1] + start
            if _is_run(part):
                chunk.give(part[0], count)
                self._place_run(part[0], base, count)
            else:
                for row, slot in enumerate(part, base):
                    chunk.give(slot)
                    self._place(slot, row, 1)
            done += count

    def _is_full(self) -> bool:
        return not self._chunks or self._chunks[-1].used == len(self._chunks[-1].rows)

    def _adopt(self, slot: int, rows: Vectors) -> None:
        """Make a chunk of rows that belong to slots that follow each other."""
        chunk = _Chunk(rows)
        chunk.give(slot, len(rows))
        self._append_chunk(chunk)
        self._place_run(slot, self._bases[-1], len(rows))

    def view(self, slot: int) -> Vectors | None:
        """Return the slot's vectors, shape (count, dims), `None` without any."""
        if slot >= len(self._rows) or self._rows[slot] < 0:
            return None
        chunk, start = self._locate(self._rows[slot])
        return chunk.rows[start : start + self._counts[slot]]

    def remove(self, slot: int) -> None:
        """Forget the slot's vectors."""
        if slot >= len(self._rows) or self._rows[slot] < 0:
            return
        chunk, start = self._locate(self._rows[slot])
        count = self._counts[slot]
        self._rows[slot] = _NOBODY
        chunk.take(start, count)
        chunk.living -= count
        if chunk is not self._chunks[-1] and chunk.living * 2 < chunk.used:
            self._evacuate(chunk)

    def move(self, old: int, new: int) -> None:
        """Give the vectors of one slot to another; the rows stay where they are."""
        if old >= len(self._rows) or self._rows[old] < 0:
            return
        row, count = self._rows[old], self._counts[old]
        self._rows[old] = _NOBODY
        self._place(new, row, count)
        chunk, start = self._locate(row)
        chunk.take(start, count, new)

    def similarities(self, query: Vectors, size: int) -> Vectors:
        """Return the cosine of each slot's best vector, `-inf` where it has none.

        Args:
            query: One unit vector, float32.
            size: Number of slots.
        """
        chunks = self._chunks
        if len(chunks) == 1 and chunks[0].shift == 0 and chunks[0].used == size:
            return dot(chunks[0].rows[:size], query)  # every slot has its own row
        return self._spread([dot(c.rows[: c.used], query) for c in chunks], size)

    def estimates(self, query: Vectors, size: int) -> Estimates:
        """Return about what `similarities` does, faster where there are very many.

        Args:
            query: One unit vector, float32.
            size: Number of slots.
        """
        rows = sum(chunk.used for chunk in self._chunks)
        if rows < _COMPRESSED_FROM or not compressed.available():
            return Estimates(self.similarities(query, size), 0.0)
        self._searches += 1
        if self._searches > _EXACT_SEARCHES:
            self._compress_one()
        asked = CompressedQuery(query)
        found, error = [], 0.0
        for chunk in self._chunks:
            copies = chunk.compressed
            done = 0 if copies is None else copies.count
            parts = []
            if copies is not None:
                parts.append(copies.cosines(asked))
                error = max(error, copies.error(asked))
            if done < chunk.used:
                parts.append(dot(chunk.rows[done : chunk.used], query))
            found.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
        return Estimates(self._spread(found, size), error)

    def nearest(self, query: Vectors, size: int, count: int) -> Vectors:
        """Return what `similarities` does, exact for the best only.

        Args:
            query: One unit vector, float32.
            size: Number of slots.
            count: How many of the best have to be exact, and above all others.
        """
        values, error = self.estimates(query, size)
        if not error:
            return values
        looked_at = _LOOKED_AT * count
        if 0 < looked_at < size:
            slots = values.argpartition(size - looked_at)[size - looked_at :]
            others = values[slots].min() + error
            exact = self.cosines_of(slots, query)
            last = np.partition(exact, looked_at - count)[looked_at - count]
            if last >= others and are_as_said(values[slots], exact, error):
                values[slots] = exact
                return values
        return self.similarities(query, size)

    def _compress_one(self) -> None:
        """Compress one more chunk, and what was added to those that are."""
        fresh = next((c for c in self._chunks if c.compressed is None), None)
        if fresh is not None:
            fresh.compressed = CompressedRows(len(fresh.rows), self._dims)
        for chunk in self._chunks:
            copies = chunk.compressed
            if copies is not None and copies.count < chunk.used:
                copies.extend(chunk.rows[copies.count : chunk.used])

    def cosines_of(self, slots: NDArray[np.int64], query: Vectors) -> Vectors:
        """Return the cosines of some slots' best vectors, as `similarities` has them.

        Args:
            slots: Some slots, shape (some,).
            query: One unit vector, float32.
        """
        known = slots < len(self._rows)  # after the last one with a vector is nothing
        rows = np.full(len(slots), _NOBODY)
        rows[known] = np.asarray(self._rows)[slots[known]]
        order = rows.argsort()
        ordered = rows[order]
        found = np.full(len(slots), -np.inf, np.float32)
        edges = [*ordered.searchsorted(self._bases).tolist(), len(ordered)]
        for chunk, base, (first, last) in zip(
            self._chunks, self._bases, pairwise(edges), strict=True
        ):
            if first < last:
                picked = chunk.rows[ordered[first:last] - base]
                found[order[first:last]] = dot(picked, query)
        if all(chunk.one_each for chunk in self._chunks):
            return found
        several = np.zeros(len(slots), np.bool_)
        several[known] = np.asarray(self._counts)[slots[known]] > 1
        for place in several.nonzero()[0].tolist():
            view = self.view(int(slots[place]))
            if view is not None:
                found[place] = dot(view, query).max()
        return found

    def _spread(self, found: Sequence[Vectors], size: int) -> Vectors:
        """Return the best of each slot, given the cosines of each chunk's rows."""
        # Dead rows have owner -1: they write into the last element, which is cut off.
        best = np.full(size + 1, -np.inf, np.float32)
        for chunk, similarity in zip(self._chunks, found, strict=True):
            if not chunk.living:
                continue
            if chunk.shift is not None:
                best[chunk.shift : chunk.shift + chunk.used] = similarity
            elif chunk.one_each:
                best[chunk.owners[: chunk.used]] = similarity
            else:
                np.maximum.at(best, chunk.owners[: chunk.used], similarity)
        return best[:size]

    def _locate(self, row: int) -> tuple[_Chunk, int]:
        index = bisect_right(self._bases, row) - 1
        return self._chunks[index], row - self._bases[index]

    def _write(self, slot: int, rows: Vectors) -> Vectors:
        count = len(rows)
        chunk = self._chunk_for(count)
        start = chunk.used
        view = chunk.rows[start : start + count]
        view[:] = rows
        if count == 1:
            chunk.give(slot)
        else:
            chunk.give_all_to(slot, count)
        self._place(slot, self._bases[-1] + start, count)
        return view

    def _place(self, slot: int, row: int, count: int) -> None:
        missing = slot + 1 - len(self._rows)
        if missing > 0:
            self._rows.extend((_NOBODY,) * missing)
            self._counts.extend((0,) * missing)
        self._rows[slot] = row
        self._counts[slot] = count

    def _place_run(self, slot: int, row: int, count: int) -> None:
        """Place one row each of slots that follow each other."""
        missing = slot - len(self._rows)
        if missing < 0:
            for number in range(count):
                self._place(slot + number, row + number, 1)
            return
        self._rows.extend((_NOBODY,) * missing)
        self._counts.extend((0,) * missing)
        self._rows.extend(range(row, row + count))
        self._counts.extend((1,) * count)

    def _append_chunk(self, chunk: _Chunk) -> None:
        self._chunks.append(chunk)
        self._bases.append(self._next_base)
        self._next_base += len(chunk.rows)

    def _chunk_for(self, count: int) -> _Chunk:
        """Return the last chunk, after adding one if there is no room for so many."""
        while True:
            last = self._chunks[-1] if self._chunks else None
            if last is not None and last.used + count <= len(last.rows):
                return last
            size = _FIRST_CHUNK if last is None else 4 * len(last.rows)
            size = max(count, min(size, _LARGEST_CHUNK))
            self._append_chunk(_Chunk(large_array((size, self._dims), np.float32)))
            if last is not None and last.living * 2 < last.used:
                self._evacuate(last)

    def _evacuate(self, chunk: _Chunk) -> None:
        """Move what lives in a chunk to the end and drop the chunk."""
        living = np.unique(chunk.owners[: chunk.used]).tolist()
        for slot in living:
            if slot == _NOBODY:
                continue
            rows = self.view(slot)
            if rows is not None:
                self._relocated(slot, self._write(slot, rows))
        index = next(i for i, other in enumerate(self._chunks) if other is chunk)
        del self._chunks[index], self._bases[index]
