"""A unit of work: what a verb read, what it wants written, as one conditional batch."""

import copy
from collections.abc import Callable, Iterable
from typing import Any, Final

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Namespace,
    Record,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.memory import has_expired
from langchain_agentmemory.service.values import can_be_key

ATTEMPTS: Final = 200
"""How often a verb decides again because another writer was faster."""


class Changes:
    """Read and write one namespace; the backend applies it all or nothing.

    Every write carries the revision that was read, so that a decision is only ever
    applied to what it was made from.

    Args:
        backend: Where to read.
        namespace: Which namespace.
        now: The time of the decision, microseconds since the epoch.
    """

    def __init__(self, backend: Backend, namespace: Namespace, now: int) -> None:
        """Start with nothing read and nothing to write."""
        self.namespace = namespace
        self.now = now
        self._backend = backend
        self._read: dict[str, Record | None] = {}
        self._writes: dict[str, Write] = {}

    def prefetch(self, keys: Iterable[str]) -> None:
        """Read several records at once."""
        missing = []
        for key in dict.fromkeys(keys):
            if not can_be_key(key):
                self._read[key] = None  # no engine can hold it, nor be asked for it
            elif key not in self._read:
                missing.append(key)
        if missing:
            found = self._backend.read(self.namespace, missing)
            self._read.update(zip(missing, found, strict=True))

    def kept(self, key: str) -> Record | None:
        """Return a live or soft-deleted record as it will be.

        Stubs are excluded, and so is what has expired, swept or not.
        """
        if key in self._writes:
            found: Record | None = self._writes[key].record
        else:
            self.prefetch([key])
            found = self._read[key]
        if found is None or found.state is RecordState.STUB:
            return None
        return None if has_expired(found, self.now) else found

    def active(self, key: str) -> Record | None:
        """Return a record that readers can see."""
        found = self.kept(key)
        return found if found and found.state is RecordState.ACTIVE else None

    def write(self, record: Record, *, stamp: bool = True) -> None:
        """Plan a write; a later one of the same key replaces it, stamped if either."""
        self.prefetch([record.key])
        before = self._read[record.key]
        planned = self._writes.get(record.key)
        self._writes[record.key] = Write(
            record,
            expect=before.revision if before else 0,
            stamp=stamp or (planned is not None and planned.stamp),
        )

    def delete(self, record: Record, *, soft: bool) -> None:
        """Plan the deletion of a record: a tombstone, or only a stub."""
        if soft:
            gone = changed(record, state=RecordState.TOMBSTONE, deleted_at=self.now)
        else:
            gone = Record(
                record.namespace,
                record.key,
                created_at=record.created_at,
                updated_at=record.updated_at,
                state=RecordState.STUB,
            )
        self.write(gone, stamp=False)

    @property
    def writes(self) -> list[Write]:
        """The planned writes, in order of planning."""
        return list(self._writes.values())

    def batch(self, limit: int | None) -> Batch:
        """Return the batch of all planned writes."""
        limits = {} if limit is None else {self.namespace: limit}
        return Batch(self.writes, limits)


def changed(record: Record, **fields: Any) -> Record:
    """Return a copy of a record with other fields: records that are read are shared."""
    twin = copy.copy(record)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


Decide = Callable[[Changes], Any]
