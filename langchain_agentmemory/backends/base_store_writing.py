"""One batch of a LangGraph store that carries the changes of mirrored namespaces."""

import copy
import uuid
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from langgraph.store.base import Op, PutOp

from langchain_agentmemory.backends.base import (
    MICROSECONDS,
    Namespace,
    Record,
    RecordFlags,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.base_store_companions import (
    Companion,
    companion_of,
    digest_of,
    unpack,
)
from langchain_agentmemory.backends.base_store_mirror import Mirror

INTERNAL_ROOT: Final = "agentmemory_internal"
"""First label of the namespaces that hold what lives beside the values."""

HEADS: Final = (INTERNAL_ROOT, "heads")
"""Where each namespace has an item that changes whenever a companion does."""

COMPANIONS: Final = (INTERNAL_ROOT, "records")
"""Below it, each namespace has its companions, under the keys of their items."""

_FOREVER: Final = 500_000_000.0
"""Minutes, about 950 years: stores overflow when they add longer times to now."""

NO_TOKEN: Final = ""
"""What no head in a store says: makes the next look read everything anew."""


def head_key(namespace: Namespace) -> str:
    """Return the key of a namespace's head. LangGraph forbids dots in labels."""
    return ".".join(namespace)


class Writing:
    """Collect changes of one namespace as operations, then remember them.

    Args:
        mirror: The namespace, just compared with the store.
        now: The time of writing, microseconds since the epoch.
        expires: Whether the store below can expire items.
    """

    def __init__(self, mirror: Mirror, now: int, *, expires: bool) -> None:
        """Start with nothing to write."""
        self.mirror = mirror
        self._now = now
        self._expires = expires
        self._ops: list[Op] = []
        self._done: list[tuple[Record, Companion, str]] = []
        self._token = uuid.uuid4().hex
        self._place = (*COMPANIONS, *mirror.namespace)

    def write(self, writes: Sequence[Write]) -> None:
        """Write records; those that change nothing are left out."""
        for write in self.mirror.stamp(writes, self._now):
            record = write.record
            digest = "" if record.state is RecordState.STUB else _digest(record)
            companion = companion_of(record, digest)
            self._beside(record, companion)
            self._value(record, digest, stamped=write.stamp)
            self._done.append((record, companion, digest))

    def renew(self, expiries: Mapping[str, int]) -> None:
        """Write other expiries of active records."""
        for key, expires_at in expiries.items():
            shown = self.mirror.active.get(key)
            if shown is None:
                continue
            record = copy.copy(shown.record)
            record.expires_at = expires_at
            companion = companion_of(record, shown.digest)
            self._beside(record, companion)
            self._value(record, shown.digest, stamped=False)
            self._done.append((record, companion, shown.digest))

    @property
    def ops(self) -> list[Op]:
        """The operations, the head among them; none if nothing changes."""
        if not self._done:
            return []
        touched = {record.key for record, _, _ in self._done}
        stale = [key for key in self.mirror.orphans if key not in touched]
        last = max(record.updated_at for record, _, _ in self._done)
        head = {"token": self._token, "last": max(self.mirror.last, last)}
        return [
            *self._ops,
            *(PutOp(self._place, key, None) for key in stale),
            PutOp(HEADS, head_key(self.mirror.namespace), head, index=False),
        ]

    def apply(self) -> None:
        """Remember what `write` wrote."""
        if not self._done:
            return
        for record, companion, digest in self._done:
            self.mirror.apply(record, companion, digest)
        self._settle()

    def apply_renewals(self) -> None:
        """Remember what `renew` wrote: the same records, with another expiry."""
        if not self._done:
            return
        for record, companion, _ in self._done:
            shown = self.mirror.active[record.key]
            shown.record.expires_at = record.expires_at
            shown.companion = self.mirror.companions[record.key] = companion
            shown.time = None
        self._settle()

    def _settle(self) -> None:
        self.mirror.orphans.clear()
        self.mirror.token = self._token
        self.mirror.compact()

    def _beside(self, record: Record, companion: Companion) -> None:
        if record.state is not RecordState.STUB:
            ttl = self._minutes(record) if record.state is RecordState.ACTIVE else None
            put = PutOp(self._place, record.key, dict(companion), index=False, ttl=ttl)
            self._ops.append(put)
        elif record.key in self.mirror.companions:
            self._ops.append(PutOp(self._place, record.key, None))

    def _value(self, record: Record, digest: str, *, stamped: bool) -> None:
        shown = self.mirror.active.get(record.key)
        if record.state is not RecordState.ACTIVE:
            if shown is not None:
                self._ops.append(PutOp(record.namespace, record.key, None))
            return
        if (
            shown is not None
            and not stamped
            and shown.digest == digest
            and self._holds(shown.record, record)
        ):
            return  # spares the store below, and its embedder, the same value
        index: Literal[False] | None = None
        if record.flags & RecordFlags.UNINDEXED:
            index = False
        self._ops.append(
            PutOp(
                record.namespace,
                record.key,
                unpack(record.value),
                index=index,
                ttl=self._minutes(record),
            )
        )

    def _holds(self, old: Record, new: Record) -> bool:
        if (old.flags ^ new.flags) & RecordFlags.UNINDEXED:
            return False
        return not self._expires or old.expires_at == new.expires_at

    def _minutes(self, record: Record) -> float | None:
        if record.expires_at is None or not self._expires:
            return None
        # What has expired meanwhile is hidden by us, and swept by the store.
        minutes = max(record.expires_at - self._now, 1) / (60 * MICROSECONDS)
        return minutes if minutes < _FOREVER else None


def _digest(record: Record) -> str:
    return digest_of(unpack(record.value))
