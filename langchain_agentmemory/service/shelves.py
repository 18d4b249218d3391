"""The warm search indexes of a store: one shelf per namespace, within a budget.

A shelf is brought up to date before each search: one cheap read of the namespace's head
tells whether anything changed, and only what changed is read. Writing never loads one.
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import islice
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.backends.base import (
    Backend,
    Delta,
    Namespace,
    Record,
    RecordFlags,
    RecordState,
)
from langchain_agentmemory.backends.columns import (
    Columns,
    Numbered,
    ReadsColumns,
    single_vectors,
)
from langchain_agentmemory.backends.memory import is_live
from langchain_agentmemory.search.scripts import HAN
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.tokenize import UNINDEXED
from langchain_agentmemory.service.hidden import visible
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.records import entry_of, standing_of
from langchain_agentmemory.types import MemoryEntry

DEFAULT_BUDGET: Final = 256 * 1024 * 1024
"""Bytes that all shelves of a store may hold before the least used are dropped."""

_AT_ONCE: Final = 4096  # records read together: more would take memory, not less time

_RECORD_BYTES: Final = 600  # an item kept by a shelf, beside its value

_all_shelves: "weakref.WeakSet[Shelves]" = weakref.WeakSet()


def _renew_all_locks() -> None:
    for shelves in list(_all_shelves):
        shelves.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all_locks)


class Held:
    """A record on a shelf, and the memory that it holds, parsed when asked for.

    Args:
        record: The record.
    """

    __slots__ = ("_entry", "listed", "record")

    def __init__(self, record: Record) -> None:
        """Hold it; nothing is parsed yet."""
        self.record = record
        self._entry: MemoryEntry | None = None
        self.listed = bool(record.flags & RecordFlags.LISTED)

    def entry(self, timezone: tzinfo) -> MemoryEntry:
        """Return the memory, parsed once."""
        if self._entry is None:
            self._entry = entry_of(self.record, timezone)
        return self._entry


@dataclass(slots=True, eq=False, repr=False)
class WarmShelf:
    """A shelf with the revision that it shows.

    Attributes:
        shelf: The index, `None` before the first load.
        epoch: The incarnation of the namespace.
        revision: The revision that the shelf shows.
        expiring: Keys of records that expire.
        values: Bytes of the values held.
        replaced: What replaced which memory: new ids by old ones.
        lock: Held while the shelf is read or changed.
    """

    shelf: Shelf[Held] | None = None
    epoch: int = -1
    revision: int = -1
    expiring: set[str] = field(default_factory=set)
    values: int = 0
    replaced: dict[str, str] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def nbytes(self) -> int:
        """Estimate of the bytes held."""
        if self.shelf is None:
            return 0
        return self.shelf.nbytes + self.values + _RECORD_BYTES * len(self.shelf)

    def show_nothing(self) -> None:
        """Forget what is shown, so that all is read again."""
        self.shelf, self.epoch, self.revision = None, -1, -1
        self.expiring.clear()
        self.replaced.clear()
        self.values = 0


@contextmanager
def _whole_or_nothing(warm: WarmShelf) -> Iterator[None]:
    """Show nothing after whatever was raised: the index may be half changed.

    KeyboardInterrupt, MemoryError and errors of an engine come in the middle of a load,
    or of a search that takes in what waited for it.
    """
    try:
        yield
    except BaseException:
        warm.show_nothing()
        raise


class Shelves:
    """Keep shelves, drop the least recently used when they outgrow the budget.

    Args:
        backend: Where changes are read.
        indexer: Whose tokenizer and embedder the shelves serve.
        budget: Bytes for all shelves together.
    """

    def __init__(
        self, backend: Backend, indexer: Indexer, budget: int = DEFAULT_BUDGET
    ) -> None:
        """Start with none."""
        self.backend = backend
        self._columns = backend.columns if isinstance(backend, ReadsColumns) else None
        self._indexer = indexer
        self._budget = budget
        self._lock = threading.RLock()
        self._warm: OrderedDict[Namespace, WarmShelf] = OrderedDict()
        self._held = 0
        self._sizes: dict[Namespace, int] = {}
        _all_shelves.add(self)

    @contextmanager
    def open(self, namespace: Namespace) -> Iterator[Shelf[Held] | None]:
        """Lend the up-to-date shelf of a namespace, `None` if it holds nothing."""
        with self.open_warm(namespace) as warm:
            yield warm.shelf

    @contextmanager
    def open_warm(self, namespace: Namespace) -> Iterator[WarmShelf]:
        """Lend the up-to-date shelf of a namespace with what is known around it.

        A generator and `with`, not calls of `acquire` and `release`: an interrupt that
        comes right after or before one of these would leave the lock held for ever.
        """
        with self._lock:
            warm = self._warm.get(namespace)
            if warm is None:
                warm = self._warm[namespace] = WarmShelf()
            self._warm.move_to_end(namespace)
        try:
            with warm.lock, _whole_or_nothing(warm):
                self._refresh(namespace, warm)
                yield warm
        finally:
            self._account(namespace, warm)

    def now(self) -> int:
        """Return the engine's clock in microseconds."""
        return self.backend.now()

    def namespaces(self, prefix: Namespace) -> list[Namespace]:
        """Return the namespaces at and below a prefix that hold something."""
        return [head.namespace for head in visible(self.backend.heads(prefix))]

    def forget(self, namespace: Namespace) -> None:
        """Drop the shelf of a namespace."""
        with self._lock:
            self._warm.pop(namespace, None)
            self._held -= self._sizes.pop(namespace, 0)

    def clear(self) -> None:
        """Drop all shelves."""
        with self._lock:
            self._warm.clear()
            self._sizes.clear()
            self._held = 0

    def renew_locks(self) -> None:
        """Start over after a fork: a lock may have been held by a lost thread."""
        self._lock = threading.RLock()
        self.clear()

    def describe(self) -> dict[str, int]:
        """Return how many shelves are warm, and how many bytes they hold."""
        with self._lock:
            return {"shelves": len(self._warm), "bytes": max(self._held, 0)}

    def _refresh(self, namespace: Namespace, warm: WarmShelf) -> None:
        embedder = self._indexer.embedder
        if warm.shelf is not None and embedder and warm.shelf.dims != embedder.dims:
            warm.show_nothing()  # an embedder without configured dims has answered
        if warm.shelf is None and self._columns is not None:
            vectors = embedder is not None
            # Closed at once, whatever happens: who keeps an exception keeps its frames,
            # and with them the connection that is read from.
            with closing(self._columns(namespace, _AT_ONCE, vectors=vectors)) as parts:
                loaded = self._load_columns(warm, parts)
            if not loaded:
                warm.show_nothing()
                self._read_changes(namespace, warm)
        else:
            self._catch_up(namespace, warm)
        if warm.expiring and warm.shelf is not None:
            self._expire(namespace, warm, warm.shelf)

    def _catch_up(self, namespace: Namespace, warm: WarmShelf) -> None:
        head = self.backend.head(namespace)
        if head is None or (head.items == 0 and warm.shelf is None):
            warm.show_nothing()
            return
        if (head.epoch, head.revision) != (warm.epoch, warm.revision):
            self._read_changes(namespace, warm)

    def _read_changes(self, namespace: Namespace, warm: WarmShelf) -> None:
        delta = self.backend.delta(namespace, warm.epoch, warm.revision)
        if delta is not None:
            self._apply(warm, delta)

    def _load_columns(self, warm: WarmShelf, parts: Iterator[Columns]) -> bool:
        """Load an index by columns; tell whether that could be done."""
        numbered = Numbered()
        for columns in parts:
            if warm.shelf is None:
                warm.shelf = self._empty_shelf(numbered.record)
                warm.epoch, warm.revision = columns.epoch, columns.revision
            if not self._add_columns(warm.shelf, columns, numbered.add(columns)):
                return False
            self._stand_columns(warm, warm.shelf, columns)
            if columns.expiries.count(None) < len(columns.expiries):
                warm.expiring.update(
                    key
                    for key, at in zip(columns.keys, columns.expiries, strict=True)
                    if at is not None
                )
        return True

    def _add_columns(
        self, shelf: Shelf[Held], columns: Columns, numbers: range
    ) -> bool:
        owners: Sequence[int] = ()
        vectors = None
        if shelf.dims is not None and self._indexer.embedder is not None:
            mark = self._indexer.embedder.fingerprint
            owners, packed = _made_by(mark, columns)
            self._note_others(columns.embedders)
            vectors = single_vectors(packed, shelf.dims)
            if vectors is None:
                return False  # several vectors for one item: by records, then
        tokens = columns.tokens
        if any(flags & RecordFlags.UNINDEXED for flags in set(columns.flags)):
            tokens = [
                UNINDEXED if flags & RecordFlags.UNINDEXED else blob
                for flags, blob in zip(columns.flags, tokens, strict=True)
            ]
        shelf.load_columns(columns.keys, numbers, tokens, owners, vectors)
        return True

    def _apply(self, warm: WarmShelf, delta: Delta) -> None:
        shelf = warm.shelf
        if shelf is None or delta.reload:
            self._give_back(warm)  # what it had indexed need not be tokenised again
            shelf = warm.shelf = self._load(delta.records)
            warm.expiring = set()
            warm.replaced = {}
            warm.values = 0
            for record in delta.records:
                if record.state is RecordState.ACTIVE:
                    self._note(warm, record)
                    self._stand(warm, shelf, record)
        else:
            for record in delta.records:
                self._update(warm, shelf, record)
        warm.epoch, warm.revision = delta.head.epoch, delta.head.revision

    def _empty_shelf(
        self, numbered: Callable[[int], Record] | None = None
    ) -> Shelf[Held]:
        """Return an empty shelf of records, or of numbers that stand for these."""
        indexer = self._indexer

        def make(given: Record | int) -> Held:
            if isinstance(given, int) and numbered is not None:
                given = numbered(given)
            return Held(cast("Record", given))

        return Shelf(
            indexer.ranking.tokenizer,
            indexer.embedder.dims if indexer.embedder else None,
            text=lambda held: indexer.words_of(held.record),
            relocated=_keep_view if self.backend.keeps_records else None,
            make=make,
        )

    def _load(self, records: list[Record]) -> Shelf[Held]:
        shelf = self._empty_shelf()
        source = (r for r in records if r.state is RecordState.ACTIVE)
        while part := list(islice(source, _AT_ONCE)):
            shelf.load(
                (
                    record.key,
                    record,
                    _tokens(record),
                    self._vectors(record, shelf.dims),
                    None,
                )
                for record in part
            )
            for record in part:  # at once, so that copies do not pile up
                self._share(record, shelf.vectors(record.key))
        self._note_others(
            [r.embedder for r in records if r.state is RecordState.ACTIVE]
        )
        return shelf

    def _note_others(self, marks: Sequence[int]) -> None:
        """Tell the embedder how many vectors another model made."""
        embedder = self._indexer.embedder
        if embedder is not None:
            own = marks.count(0) + marks.count(embedder.fingerprint)
            embedder.note_others(len(marks) - own)

    def _update(self, warm: WarmShelf, shelf: Shelf[Held], record: Record) -> None:
        warm.expiring.discard(record.key)
        warm.replaced.pop(record.key, None)
        old = shelf.get(record.key)
        if old is not None:
            warm.values -= len(old.record.value)
        if record.state is not RecordState.ACTIVE:
            shelf.remove(record.key)
            return
        vectors = self._vectors(record, shelf.dims)
        view = shelf.upsert(record.key, record, _tokens(record), vectors)
        self._share(record, view)
        self._note(warm, record)
        self._stand(warm, shelf, record)

    def _stand(self, warm: WarmShelf, shelf: Shelf[Held], record: Record) -> None:
        """Note where a record stands: in a conversation, among versions, in script."""
        if record.meta is not None:
            place, replaced_by = standing_of(record.meta)
            if place is not None:
                shelf.place(record.key, place)
            if replaced_by is not None:
                warm.replaced[record.key] = replaced_by
        if shelf.dims is not None and holds_han(record.value):
            shelf.mark_han(record.key)

    def _stand_columns(
        self, warm: WarmShelf, shelf: Shelf[Held], columns: Columns
    ) -> None:
        """Do what `_stand` does for many records, and count their bytes."""
        values = b"".join(columns.values)
        warm.values += len(values)
        if columns.metas.count(None) < len(columns.metas):
            for key, meta in zip(columns.keys, columns.metas, strict=True):
                if meta is not None:
                    place, replaced_by = standing_of(meta)
                    if place is not None:
                        shelf.place(key, place)
                    if replaced_by is not None:
                        warm.replaced[key] = replaced_by
        if shelf.dims is not None and not values.isascii():
            for key, value in zip(columns.keys, columns.values, strict=True):
                if holds_han(value):
                    shelf.mark_han(key)

    def _note(self, warm: WarmShelf, record: Record) -> None:
        warm.values += len(record.value)
        if record.expires_at is not None:
            warm.expiring.add(record.key)

    def _vectors(self, record: Record, dims: int | None) -> NDArray[np.float32] | None:
        embedder = self._indexer.embedder
        vectors = record.vectors  # may be a view, made when it is asked for
        if vectors is None or embedder is None:
            return None
        if record.embedder != embedder.fingerprint or vectors.shape[1] != dims:
            return None  # another model's: found by words until reindex()
        return vectors

    def _share(self, record: Record, view: NDArray[np.float32] | None) -> None:
        """Keep one copy of vectors, and of tokens if the backend has its own."""
        if not self.backend.keeps_records:
            record.vectors = record.tokens = None
            return
        if view is not None:
            record.vectors = view
        record.tokens = None  # the index has them, and can make them again

    def _expire(
        self, namespace: Namespace, warm: WarmShelf, shelf: Shelf[Held]
    ) -> None:
        """Take out what expired; its time may have been renewed since it was read."""
        now = self.backend.now()
        keys = [
            key
            for key in warm.expiring
            if (held := shelf.get(key)) is not None and not is_live(held.record, now)
        ]
        if not keys:
            return
        for key, current in zip(keys, self.backend.read(namespace, keys), strict=True):
            if current is None or not is_live(current, now):
                shelf.remove(key)
                warm.expiring.discard(key)
            elif (held := shelf.get(key)) is not None:
                held.record.expires_at = current.expires_at

    def _account(self, namespace: Namespace, warm: WarmShelf) -> None:
        for dropped in self._dropped(namespace, warm):
            self._give_back(dropped)

    def _give_back(self, warm: WarmShelf) -> None:
        """Let records have their tokens again: the next load is faster with them.

        Not if the shelf is in use. Then they are made of the text again.
        """
        shelf = warm.shelf
        if shelf is None or not self.backend.keeps_records:
            return
        if warm.lock.acquire(blocking=False):
            try:
                for key, blob in shelf.token_blobs():
                    held = shelf.get(key)
                    if held is not None:
                        held.record.tokens = blob
            finally:
                warm.lock.release()

    def _dropped(self, namespace: Namespace, warm: WarmShelf) -> list[WarmShelf]:
        """Note the size of a shelf; drop and return what outgrows the budget."""
        size = warm.nbytes
        dropped: list[WarmShelf] = []
        with self._lock:
            if self._warm.get(namespace) is not warm:
                return dropped
            self._held += size - self._sizes.get(namespace, 0)
            self._sizes[namespace] = size
            if warm.shelf is None:
                self.forget(namespace)
                return dropped
            # Used last, whatever was opened while it was in use.
            self._warm.move_to_end(namespace)
            while self._held > self._budget and len(self._warm) > 1:
                oldest = next(iter(self._warm))
                dropped.append(self._warm[oldest])
                self.forget(oldest)
        return dropped


def _made_by(mark: int, columns: Columns) -> tuple[Sequence[int], Sequence[bytes]]:
    """Return which records have vectors of an embedder, and these."""
    packed = columns.vectors
    if columns.embedders.count(mark) == len(packed) and None not in packed:
        return range(len(packed)), packed  # type: ignore[return-value]
    owners = [
        position
        for position, (maker, given) in enumerate(
            zip(columns.embedders, packed, strict=True)
        )
        if maker == mark and given is not None
    ]
    return owners, [packed[position] or b"" for position in owners]


def holds_han(value: bytes) -> bool:
    """Tell whether an encoded value holds Han characters."""
    return not value.isascii() and HAN.search(value.decode()) is not None


def _tokens(record: Record) -> bytes | None:
    return UNINDEXED if record.flags & RecordFlags.UNINDEXED else record.tokens


def _keep_view(held: Held, view: NDArray[np.float32]) -> None:
    held.record.vectors = view
