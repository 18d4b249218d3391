"""What a backend knows of one namespace of the LangGraph store below it.

The store has neither revisions nor conditions. So the backend keeps a mirror of each
namespace, compares it with the store before every use, and counts what changed, by
whomever. Keys that vanished are remembered as stubs, so that search indexes notice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from langgraph.store.base import Item

from langchain_agentmemory.backends.base import (
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
from langchain_agentmemory.backends.base_store_companions import (
    Companion,
    digest_of,
    is_valid,
    microseconds,
    pack,
    record_of,
    tombstone_of,
    unpack,
)
from langchain_agentmemory.backends.memory import (
    STUBS_KEPT,
    has_expired,
    is_counted,
    is_live,
    stub_of,
)

_LISTED: Final = int(RecordFlags.LISTED)


@dataclass(slots=True)
class Shown:
    """An active record, and the item that it was made from.

    Attributes:
        record: The record.
        digest: Fingerprint of its value.
        value: The value, a copy of our own: stores in memory share theirs.
        companion: The companion that was used.
        time: The item's `updated_at`, `None` until it is read after a write.
    """

    record: Record
    digest: str
    value: dict[str, Any]
    companion: Companion
    time: datetime | None = None

    def shows(self, item: Item, companion: Companion) -> bool:
        """Tell whether nothing at all was written since."""
        return (
            self.time == item.updated_at
            and self.value == item.value
            and self.companion == companion
        )


@dataclass(slots=True)
class Mirror:
    """One namespace as last seen.

    Attributes:
        namespace: Which one.
        epoch: Identity of this mirror.
        floor: Revisions up to here cannot be continued from.
        revision: Grows with every change seen or made.
        last: The latest `updated_at` ever given.
        token: What the head in the store said when `companions` were read.
        companions: What lives beside the values, by key.
        orphans: Keys of companions whose item is gone.
        active: Items that exist.
        dead: Tombstones and stubs.
    """

    namespace: Namespace
    epoch: int
    floor: int
    revision: int = 0
    last: int = 0
    token: str | None = None
    companions: dict[str, Companion] = field(default_factory=dict)
    orphans: set[str] = field(default_factory=set)
    active: dict[str, Shown] = field(default_factory=dict)
    dead: dict[str, Record] = field(default_factory=dict)
    _fresh: bool = True

    def __post_init__(self) -> None:
        """Start counting at the floor."""
        self.revision = self.floor

    @property
    def void(self) -> bool:
        """Whether there is nothing to remember."""
        return not (self.active or self.dead or self.companions or self.token)

    # -- seeing ----------------------------------------------------------------------

    def see(
        self, items: Mapping[str, Item], among: Iterable[str] | None = None
    ) -> None:
        """Compare with the items in the store, and count what changed.

        Args:
            items: What was read.
            among: The keys that were read, all of the namespace if not given.
        """
        changed = [
            item
            for key, item in items.items()
            if (shown := self.active.get(key)) is None
            or not shown.shows(item, self.companions.get(key, {}))
        ]
        if changed:
            self._adopt(changed)
        asked = self.active if among is None else among
        for key in [k for k in asked if k not in items and k in self.active]:
            self._lose(key)
        self._fresh = False

    def see_anew(
        self, items: Mapping[str, Item], companions: Mapping[str, Companion]
    ) -> None:
        """Compare with companions that were read anew, and items read after them."""
        self.companions = dict(companions)
        self.orphans.clear()
        self.see(items)
        self._see_tombstones()

    def _see_tombstones(self) -> None:
        for key, companion in self.companions.items():
            if key in self.active:
                continue
            if companion.get("state") != RecordState.TOMBSTONE:
                self.orphans.add(key)
                continue
            record = tombstone_of(self.namespace, key, companion)
            if not _same_tombstone(self.dead.get(key), record):
                self._bury(record)
        for key, record in list(self.dead.items()):
            if record.state is RecordState.TOMBSTONE and key not in self.companions:
                self._bury(Record(self.namespace, key, state=RecordState.STUB))

    def _lose(self, key: str) -> None:
        companion = self.companions.get(key, {})
        if companion.get("state") == RecordState.TOMBSTONE:
            self._bury(tombstone_of(self.namespace, key, companion))
            return
        self._bury(Record(self.namespace, key, state=RecordState.STUB))
        if self.companions.pop(key, None) is not None:
            self.orphans.add(key)

    def _adopt(self, items: list[Item]) -> None:
        taken = {shown.record.updated_at for shown in self.active.values()}
        for item in sorted(items, key=lambda item: microseconds(item.updated_at)):
            if (packed := pack(item.value)) is None:
                continue
            companion = self.companions.get(item.key, {})
            value = unpack(packed)
            digest = digest_of(value)
            shown = self.active.get(item.key)
            valid = is_valid(companion, digest)
            if (
                valid
                and shown is not None
                and (shown.companion, shown.digest) == (companion, digest)
            ):
                shown.time = item.updated_at  # our own write, read for the first time
                continue
            record = record_of(item, packed, digest, companion)
            if not valid and not self._fresh:
                # Known to be newer than all there was, whatever the store's clock.
                record.updated_at = max(record.updated_at, self.last + 1)
            while record.updated_at in taken:
                record.updated_at += 1
            taken.add(record.updated_at)
            self._show(
                Shown(record, digest, value, companion, item.updated_at),
                self.revision + 1,
            )

    def _show(self, shown: Shown, revision: int) -> None:
        record = shown.record
        self.revision = record.revision = revision
        self.last = max(self.last, record.updated_at)
        self.dead.pop(record.key, None)
        self.active[record.key] = shown

    def _bury(self, record: Record) -> None:
        self.revision += 1
        record.revision = self.revision
        self.last = max(self.last, record.updated_at)
        self.active.pop(record.key, None)
        self.dead[record.key] = record

    # -- answering -------------------------------------------------------------------

    def find(self, key: str) -> Record | None:
        """Return the record under a key, in any state."""
        shown = self.active.get(key)
        return shown.record if shown else self.dead.get(key)

    def records(self) -> Iterator[Record]:
        """Yield the active records, expired ones included."""
        return (shown.record for shown in self.active.values())

    def head(self, now: int) -> Head:
        """Return the state of the namespace as a whole."""
        live = [record for record in self.records() if is_live(record, now)]
        # As plain numbers: the operators of flags are slow, and this counts them all.
        listed = sum(int.__and__(record.flags, _LISTED) for record in live)
        return Head(
            self.namespace, self.epoch, self.revision, len(live), listed, self.last
        )

    def page(self, page: Page, now: int) -> list[Record]:
        """Return records by `updated_at`."""
        found: Iterable[Record]
        if page.tombstones:
            found = (
                record
                for record in self.dead.values()
                if record.state is RecordState.TOMBSTONE
                and not has_expired(record, now)
            )
        else:
            found = (r for r in self.records() if is_live(r, now))
        if page.listed:
            found = (r for r in found if r.flags & RecordFlags.LISTED)
        edge = page.before
        if edge is not None and page.oldest_first:
            found = (r for r in found if r.updated_at > edge)
        elif edge is not None:
            found = (r for r in found if r.updated_at < edge)
        ordered = sorted(
            found, key=lambda record: record.updated_at, reverse=not page.oldest_first
        )
        return ordered[: page.limit]

    def delta(self, epoch: int, since: int, now: int) -> Delta:
        """Return what changed since a revision."""
        head = self.head(now)
        if epoch != self.epoch or since < self.floor:
            return Delta(head, list(self.records()), reload=True)
        known = (*self.records(), *self.dead.values())
        changed = [record for record in known if record.revision > since]
        changed.sort(key=lambda record: record.revision)
        return Delta(head, changed, reload=False)

    # -- deciding and writing --------------------------------------------------------

    def check(self, writes: Sequence[Write]) -> None:
        """Refuse writes whose record is not at the expected revision.

        Raises:
            PreconditionFailed: If there is one.
        """
        for write in writes:
            found = self.find(write.record.key)
            if write.expect not in {None, found.revision if found else 0}:
                raise PreconditionFailed

    def make_room(
        self, limit: int | None, writes: Sequence[Write], now: int
    ) -> list[Write]:
        """Return the writes that take expired records out, if the limit needs it.

        Raises:
            LimitReached: If that is not enough.
        """
        if limit is None:
            return []
        growth = 0
        for write in writes:
            found = self.find(write.record.key)
            growth += is_counted(write.record)
            growth -= found is not None and is_counted(found)
        listed = sum(is_counted(record) for record in self.records())
        if growth <= 0 or listed + growth <= limit:
            return []
        touched = {write.record.key for write in writes}
        gone = [record for record in self.expired(now) if record.key not in touched]
        left = listed - sum(is_counted(record) for record in gone)
        if left + growth > limit:
            raise LimitReached(self.namespace, left, left + growth - limit)
        return [stub_of(record) for record in gone]

    def expired(self, now: int) -> list[Record]:
        """Return active records that no reader sees any more."""
        return [record for record in self.records() if not is_live(record, now)]

    def all_expired(self, now: int) -> list[Record]:
        """Return what has expired, tombstones included."""
        dead = [
            record
            for record in self.dead.values()
            if record.state is RecordState.TOMBSTONE and has_expired(record, now)
        ]
        return [*self.expired(now), *dead]

    def stamp(self, writes: Sequence[Write], now: int) -> list[Write]:
        """Complete records with times and revisions; leave out what changes nothing."""
        revision, last, effective = self.revision, self.last, []
        for write in writes:
            record = write.record
            before = self.find(record.key)
            if record.state is RecordState.STUB and before is None:
                continue
            revision += 1
            record.revision = revision
            if write.stamp:
                record.updated_at = last = max(now, last + 1)
            if record.created_at is None:
                kept = before is not None and is_live(before, now)
                record.created_at = (
                    before.created_at if before and kept else record.updated_at
                )
            effective.append(write)
        return effective

    def apply(self, record: Record, companion: Companion, digest: str) -> None:
        """Remember a record that was stamped, and has been written to the store."""
        self.orphans.discard(record.key)
        if record.state is RecordState.STUB:
            self.companions.pop(record.key, None)
        else:
            self.companions[record.key] = companion
        if record.state is RecordState.ACTIVE:
            shown = Shown(record, digest, unpack(record.value), companion)
            self._show(shown, record.revision)
        else:
            revision = record.revision
            self._bury(record)
            self.revision = record.revision = revision

    def compact(self) -> None:
        """Forget stubs when there are too many."""
        stubs = [k for k, r in self.dead.items() if r.state is RecordState.STUB]
        if len(stubs) > max(STUBS_KEPT, len(self.active)):
            for key in stubs:
                del self.dead[key]
            self.floor = self.revision


def _same_tombstone(known: Record | None, read: Record) -> bool:
    return (
        known is not None
        and known.state is RecordState.TOMBSTONE
        and known.value == read.value
        and known.meta == read.meta
        and known.deleted_at == read.deleted_at
    )
