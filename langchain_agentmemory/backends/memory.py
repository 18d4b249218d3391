"""The in-memory backend: fast, transactional, gone when the process ends."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from langchain_agentmemory.backends.base import (
    MICROSECONDS,
    Batch,
    Capability,
    Delta,
    Head,
    LimitReached,
    Namespace,
    Page,
    PreconditionFailed,
    Record,
    RecordFlags,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.pages import (
    PAGE,
    PackedRecord,
    as_packed,
    packed,
    shrink,
)
from langchain_agentmemory.errors import BackendUnavailable

STUBS_KEPT: Final = 1_000
"""Stubs are purged when a namespace holds more of them than this and than items."""

_NEVER: Final = 1 << 62


def system_clock() -> int:
    """Return the time of day in microseconds since the epoch."""
    return time.time_ns() * MICROSECONDS // 1_000_000_000


@dataclass(slots=True, eq=False, repr=False)
class _Space:
    """One namespace.

    `active` is ordered by `updated_at`: a stamped write moves its key to the end.
    So it is ordered by revision, too, except for the keys in `out_of_order`, dead ones
    included, which are ordered by revision themselves. `next_expiry` never lies after
    the first expiry. Before the revision `next_packing` there is no page full of
    records written after
    the revision `packed`.
    """

    namespace: Namespace
    epoch: int
    revision: int = 0
    last: int = 0
    listed: int = 0
    floor: int = 0
    stubs: int = 0
    packed: int = 0
    next_packing: int = PAGE
    next_expiry: int = _NEVER
    active: dict[str, Record] = field(default_factory=dict)
    dead: dict[str, Record] = field(default_factory=dict)
    out_of_order: dict[str, None] = field(default_factory=dict)

    def find(self, key: str) -> Record | None:
        return self.active.get(key) or self.dead.get(key)

    def expired(self, now: int) -> list[Record]:
        if now < self.next_expiry:
            return []
        gone, self.next_expiry = [], _NEVER
        for record in self.active.values():
            if record.expires_at is not None:
                if record.expires_at <= now:
                    gone.append(record)
                self.next_expiry = min(self.next_expiry, record.expires_at)
        return gone

    def expired_dead(self, now: int) -> list[Record]:
        return [
            record
            for record in self.dead.values()
            if record.state is RecordState.TOMBSTONE and has_expired(record, now)
        ]

    def head(self, now: int) -> Head:
        gone = self.expired(now)
        return Head(
            self.namespace,
            self.epoch,
            self.revision,
            len(self.active) - len(gone),
            self.listed - sum(1 for r in gone if r.flags & RecordFlags.LISTED),
            self.last,
        )

    def apply(self, write: Write, now: int) -> None:
        record = write.record
        before = self.find(record.key)
        if record.state is RecordState.STUB and before is None:
            return
        self.revision += 1
        record.revision = self.revision
        record.namespace = self.namespace  # one tuple for all
        if write.stamp:
            record.updated_at = self.last = max(now, self.last + 1)
        if record.created_at is None:
            kept = before is not None and is_live(before, now)
            record.created_at = (
                before.created_at if kept and before else record.updated_at
            )
        self._forget(before)
        if record.state is RecordState.ACTIVE:
            if write.stamp:
                self.active.pop(record.key, None)
            self.dead.pop(record.key, None)
            self.active[record.key] = record
            if not write.stamp and (
                before is None
                or before.state is not RecordState.ACTIVE
                or before.updated_at != record.updated_at
            ):
                self._sort()
            self.listed += bool(record.flags & RecordFlags.LISTED)
            if record.expires_at is not None:
                self.next_expiry = min(self.next_expiry, record.expires_at)
        else:
            self.active.pop(record.key, None)
            self.dead[record.key] = record
            self.stubs += record.state is RecordState.STUB
        self.out_of_order.pop(record.key, None)
        if not write.stamp or record.state is not RecordState.ACTIVE:
            self.out_of_order[record.key] = None

    def changed_since(self, revision: int) -> list[Record]:
        """Return the records written after a revision, in their order."""
        changed: list[Record] = []
        for key in reversed(self.out_of_order):
            record = self.find(key)
            if record is None or record.revision <= revision:
                break
            changed.append(record)
        most = self.revision - revision  # each write is the last one of one key at most
        for key, record in reversed(self.active.items()):
            if len(changed) == most:
                break
            if key in self.out_of_order:
                continue
            if record.revision <= revision:
                break
            changed.append(record)
        changed.sort(key=lambda record: record.revision)
        return changed

    def pack(self) -> None:
        """Put the records written lately into pages."""
        if self.revision < self.next_packing:
            return
        changed = self.changed_since(self.packed)
        # What is on a shelf already has no tokens any more.
        active = [r for r in changed if r.state is RecordState.ACTIVE and has_tokens(r)]
        while len(active) >= PAGE:
            page, active = active[:PAGE], active[PAGE:]
            self.active.update((record.key, record) for record in packed(page))
            self.packed = page[-1].revision
        self.next_packing = self.revision + PAGE - len(active)

    def _sort(self) -> None:
        # Rare: an unstamped write gave a record a place other than its own or the end.
        by_time = sorted(self.active.values(), key=lambda record: record.updated_at)
        self.active = {record.key: record for record in by_time}

    def _forget(self, before: Record | None) -> None:
        if before is None:
            return
        if (kept := as_packed(before)) is not None:
            self._leave(kept)
        if before.state is RecordState.ACTIVE:
            self.listed -= bool(before.flags & RecordFlags.LISTED)
        elif before.state is RecordState.STUB:
            self.stubs -= 1

    def _leave(self, record: PackedRecord) -> None:
        """Take a record, still under its key, out of its page; a sparse page shrinks.

        At a half, an eighth and so on of its records: that takes a few microseconds per
        record, and at most three in four are dead.
        """
        page = record.page
        page.living -= 1
        if page.living and is_time_to_shrink(page.living):
            others = [
                other
                for key in page.keys
                if (other := as_packed(self.active.get(key))) is not None
                and other.page is page
                and other is not record
            ]
            shrink(page, others)

    def compact(self) -> None:
        if self.stubs <= max(STUBS_KEPT, len(self.active)):
            return
        for key in [k for k, r in self.dead.items() if r.state is RecordState.STUB]:
            del self.dead[key]
            del self.out_of_order[key]
        self.stubs = 0
        self.floor = self.revision


def is_time_to_shrink(living: int) -> bool:
    """Tell whether a page has a half, an eighth and so on of its records left."""
    whole, rest = divmod(PAGE, living)
    return not rest and whole.bit_length() % 2 == 0


def is_live(record: Record, now: int) -> bool:
    """Tell whether a record is active and not expired."""
    return record.state is RecordState.ACTIVE and not has_expired(record, now)


def has_expired(record: Record, now: int) -> bool:
    """Tell whether a record's time to live is over."""
    return record.expires_at is not None and record.expires_at <= now


def has_tokens(record: Record) -> bool:
    """Tell whether a record keeps its tokens, or a search index has them."""
    return record.tokens is not None


def stub_of(record: Record) -> Write:
    """Return the write that hard-deletes a record, if it is still as it was read."""
    stub = Record(
        record.namespace,
        record.key,
        created_at=record.created_at,
        updated_at=record.updated_at,
        state=RecordState.STUB,
    )
    return Write(stub, expect=record.revision, stamp=False)


class InMemoryBackend:
    """Keep records in this process.

    Args:
        clock: Returns the time in microseconds; for tests that move the clock.
    """

    name = "memory"
    capabilities = frozenset({Capability.ATOMIC_ACROSS_NAMESPACES})
    keeps_records = True

    def __init__(self, *, clock: Callable[[], int] = system_clock) -> None:
        """Start empty."""
        self._clock = clock
        self._lock = threading.RLock()
        self._epochs = itertools.count(1)
        self._spaces: dict[Namespace, _Space] = {}
        self._closed = False

    def open(self) -> None:
        """Check that it was not closed: there is no schema."""
        self._open_lock()

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed = True
            self._spaces.clear()

    def now(self) -> int:
        """Return the clock in microseconds."""
        return self._clock()

    def head(self, namespace: Namespace) -> Head | None:
        """Return the head of one namespace."""
        with self._open_lock():
            space = self._spaces.get(namespace)
            return space.head(self.now()) if space else None

    def heads(self, prefix: Namespace) -> list[Head]:
        """Return the heads at and below a prefix that have items."""
        depth = len(prefix)
        with self._open_lock():
            now = self.now()
            found = [
                head
                for namespace, space in self._spaces.items()
                if namespace[:depth] == prefix and (head := space.head(now)).items
            ]
        return sorted(found, key=lambda head: head.namespace)

    def read(self, namespace: Namespace, keys: Sequence[str]) -> list[Record | None]:
        """Return the records under these keys in any state."""
        with self._open_lock():
            space = self._spaces.get(namespace)
            return [space.find(key) for key in keys] if space else [None] * len(keys)

    def page(self, page: Page) -> list[Record]:
        """Return records by `updated_at`."""
        with self._open_lock():
            space = self._spaces.get(page.namespace)
            if space is None:
                return []
            return list(itertools.islice(self._walk(space, page), page.limit))

    def _walk(self, space: _Space, page: Page) -> Iterator[Record]:
        now = self.now()
        if page.tombstones:
            ordered = sorted(
                (r for r in space.dead.values() if r.state is RecordState.TOMBSTONE),
                key=lambda record: record.updated_at,
                reverse=not page.oldest_first,
            )
            records: Iterator[Record] = iter(ordered)
        elif page.oldest_first:
            records = iter(space.active.values())
        else:
            records = reversed(space.active.values())
        for record in records:
            if page.before is not None:
                passed = (
                    record.updated_at > page.before
                    if page.oldest_first
                    else record.updated_at < page.before
                )
                if not passed:
                    continue
            if page.listed and not record.flags & RecordFlags.LISTED:
                continue
            if not has_expired(record, now):
                yield record

    def delta(self, namespace: Namespace, epoch: int, since: int) -> Delta | None:
        """Return what changed since a revision."""
        with self._open_lock():
            space = self._spaces.get(namespace)
            if space is None:
                return None
            head = space.head(self.now())
            if epoch != space.epoch or since < space.floor:
                return Delta(head, list(space.active.values()), reload=True)
            return Delta(head, space.changed_since(since), reload=False)

    def commit(self, batch: Batch) -> list[Record]:
        """Apply a batch."""
        with self._open_lock():
            now = self.now()
            self._check(batch)
            self._check_limits(batch, now)
            for write in batch.writes:
                namespace = write.record.namespace
                space = self._spaces.get(namespace)
                if space is None:
                    if write.record.state is RecordState.STUB:
                        continue
                    space = _Space(namespace, next(self._epochs))
                    self._spaces[namespace] = space
                space.apply(write, now)
            for namespace in {write.record.namespace for write in batch.writes}:
                if namespace in self._spaces:
                    self._spaces[namespace].compact()
                    self._spaces[namespace].pack()
            return [write.record for write in batch.writes]

    def _check(self, batch: Batch) -> None:
        for write in batch.writes:
            if write.expect is None:
                continue
            space = self._spaces.get(write.record.namespace)
            found = space.find(write.record.key) if space else None
            if (found.revision if found else 0) != write.expect:
                raise PreconditionFailed

    def _check_limits(self, batch: Batch, now: int) -> None:
        for namespace, limit in batch.limits.items():
            space = self._spaces.get(namespace)
            growth = 0
            for write in batch.writes:
                record = write.record
                if record.namespace != namespace:
                    continue
                found = space.find(record.key) if space else None
                growth += is_counted(record) - (found is not None and is_counted(found))
            active = space.listed if space else 0
            if growth <= 0 or active + growth <= limit:
                continue
            touched = {w.record.key for w in batch.writes}
            expired = space.expired(now) if space else []
            gone = [r for r in expired if r.key not in touched]
            freed = sum(is_counted(record) for record in gone)
            if active - freed + growth > limit:
                excess = active - freed + growth - limit
                raise LimitReached(namespace, active - freed, excess)
            for record in gone:
                if space:
                    space.apply(stub_of(record), now)

    def touch(self, namespace: Namespace, expiries: Mapping[str, int]) -> None:
        """Set `expires_at` of active records."""
        with self._open_lock():
            space = self._spaces.get(namespace)
            for key, expires_at in expiries.items():
                record = space.active.get(key) if space else None
                if record is not None:
                    record.expires_at = expires_at

    def sweep(self) -> int:
        """Turn expired records into stubs."""
        with self._open_lock():
            now = self.now()
            gone = [
                record
                for space in self._spaces.values()
                for record in (*space.expired(now), *space.expired_dead(now))
            ]
            for record in gone:
                self._spaces[record.namespace].apply(stub_of(record), now)
            for space in self._spaces.values():
                space.compact()
            return len(gone)

    def purge(self, prefix: Namespace, deleted_before: int) -> int:
        """Turn old tombstones at and below a prefix into stubs."""
        depth = len(prefix)
        purged = 0
        with self._open_lock():
            now = self.now()
            for namespace, space in self._spaces.items():
                if namespace[:depth] != prefix:
                    continue
                gone = [
                    record
                    for record in space.dead.values()
                    if record.state is RecordState.TOMBSTONE
                    and (record.deleted_at or 0) < deleted_before
                ]
                for record in gone:
                    space.apply(stub_of(record), now)
                space.compact()
                purged += len(gone)
        return purged

    def drop(self, namespace: Namespace) -> dict[str, int]:
        """Remove a namespace with everything in it."""
        with self._open_lock():
            space = self._spaces.pop(namespace, None)
            dead = list(space.dead.values()) if space else []
            stubs = sum(1 for record in dead if record.state is RecordState.STUB)
            return {
                "active": len(space.active) if space else 0,
                "tombstones": len(dead) - stubs,
                "stubs": stubs,
            }

    def describe(self) -> dict[str, str]:
        """Return engine and size."""
        with self._open_lock():
            held = sum(len(space.active) for space in self._spaces.values())
            return {
                "engine": "in-memory",
                "durable": "no: gone when this process ends",
                "namespaces": str(len(self._spaces)),
                "items": str(held),
            }

    def _open_lock(self) -> threading.RLock:
        if self._closed:
            msg = "The store is closed: create a new MemoryStore."
            raise BackendUnavailable(msg)
        return self._lock


def is_counted(record: Record) -> bool:
    """Tell whether a record counts towards its namespace's limit."""
    return record.state is RecordState.ACTIVE and bool(
        record.flags & RecordFlags.LISTED
    )
