"""The memory verbs: add, update, delete, restore, read, history, over any backend.

Each verb is a plan (see `service.plans`): it reads, decides, and commits one
conditional batch; when another writer was faster it decides again from what is there
now.
"""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import NamedTuple, TypeVar

from langchain_agentmemory.backends.base import (
    Backend,
    Head,
    LimitReached,
    Namespace,
    Page,
    PreconditionFailed,
    Record,
    RecordFlags,
    RecordState,
)
from langchain_agentmemory.errors import (
    BackendUnavailable,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
    NotKept,
)
from langchain_agentmemory.identity import normalize_participants, owner_of
from langchain_agentmemory.quoting import named
from langchain_agentmemory.service import versions
from langchain_agentmemory.service.changes import ATTEMPTS, Changes, changed
from langchain_agentmemory.service.indexing import Indexed, Indexer, Subject
from langchain_agentmemory.service.plans import Plan
from langchain_agentmemory.service.records import (
    Draft,
    Meta,
    decode_meta,
    draft_of,
    encode_meta,
    entry_of,
    kind_of,
    moment_of,
    place_of,
    text_field,
    text_list,
)
from langchain_agentmemory.service.settings import Settings
from langchain_agentmemory.service.values import decode, encode
from langchain_agentmemory.types import (
    Memories,
    MemoryEntry,
    Source,
    TimeInput,
    UserKey,
)

T = TypeVar("T")

_NO_CHANGE_LOST = (
    "Other writers kept changing the same memories. Nothing was written: try again."
)


class Patch(NamedTuple):
    """What an update changes. `None` leaves a field, an empty value clears it."""

    memory: str | None = None
    topics: Sequence[str] | None = None
    kind: str | None = None
    event_time: TimeInput | None = None
    participants: Sequence[str] | None = None
    location: str | None = None
    source: Source | None = None

    def check(self, timezone: tzinfo) -> None:
        """Refuse arguments that cannot be used, before anything is read.

        Raises:
            InvalidInput: If there is one.
        """
        if self.memory is not None:
            text_field("memory", self.memory, required=True)
        if self.topics is not None:
            text_list("topics", self.topics)
        if self.participants is not None:
            text_list("participants", self.participants)
        kind_of(self.kind)
        place_of(self.location)
        moment_of(self.event_time, timezone)


class Verbs:
    """The rules of one user's memories.

    Args:
        backend: Where records live.
        indexer: What makes them searchable.
        settings: How the store behaves.
    """

    def __init__(self, backend: Backend, indexer: Indexer, settings: Settings) -> None:
        """Remember the parts."""
        self.backend = backend
        self.indexer = indexer
        self.settings = settings
        self.on_delete: Callable[[UserKey, Sequence[Record]], None] | None = None
        """Told what a user deletes, before it is gone."""

    def add(
        self,
        user: UserKey,
        content: Draft,
        *,
        source: Source | None = None,
        supersedes: Sequence[str] = (),
    ) -> Plan[MemoryEntry]:
        """Store a memory, or refresh the one that says the same."""
        key = content.id_for(user)

        def decide(changes: Changes) -> Plan[str]:
            changes.prefetch([key, *supersedes])
            self._make_way(changes, user, key)
            old = changes.active(key)
            if old is None or self._refreshes(old, news=bool(supersedes)):
                yield from self._store(changes, key, content, source)
            versions.make_current(changes, key)
            versions.supersede(changes, key, supersedes)
            return key

        key, changes = yield from self.transact(user.namespace, decide)
        return self._entry(changes, key)

    def _make_way(self, changes: Changes, user: UserKey, key: str) -> None:
        """Move an item that was put under the id of other content to its own id."""
        record = changes.active(key)
        if record is None or not record.flags & RecordFlags.LISTED:
            return
        meta = decode_meta(record.meta)
        content = draft_of(decode(record.value), meta.precision, self.settings.timezone)
        own = content.id_for(user)
        if own == key:
            return
        if changes.active(own) is None:
            changes.write(changed(record, key=own))
            versions.rotate(changes, key, own, logged=False)
        changes.delete(changes.kept(key) or record, soft=False)

    def _refreshes(self, old: Record, *, news: bool) -> bool:
        if not old.flags & RecordFlags.LISTED:
            return True  # an item without a text: nothing that could be repeated
        # That something outdated holds again is news, not a repetition.
        news = news or decode_meta(old.meta).superseded_by is not None
        if self.settings.on_duplicate == "error" and not news:
            msg = (
                f"This user already has this memory, with id {named(old.key)}: update "
                f"it instead, or open the store with on_duplicate='refresh'."
            )
            raise MemoryConflict(msg)
        return self.settings.on_duplicate == "refresh"

    def _store(
        self, changes: Changes, key: str, content: Draft, source: Source | None
    ) -> Plan[None]:
        before = changes.kept(key)
        old = changes.active(key)
        meta = decode_meta(before.meta if before else None)
        value = content.value()
        if before is not None:
            stored = decode(before.value)
            value = {**stored, **value}
            if not content.topics and old is not None:
                value["topics"] = stored.get("topics") or []
        meta = meta._replace(
            source=meta.source or source, precision=content.precision, fields=None
        )
        yield from self._write(changes, key, value, meta, before=before)

    def update(self, user: UserKey, memory_id: str, patch: Patch) -> Plan[MemoryEntry]:
        """Change a memory; its id follows its content."""

        def decide(changes: Changes) -> Plan[str]:
            source = self._source(changes, memory_id)
            meta = decode_meta(source.meta)
            meta = meta._replace(source=patch.source or meta.source)
            content = self._patched(source, meta, patch)
            target = content.id_for(user)
            kept = meta._replace(precision=content.precision)
            if target == source.key:
                yield from self._write(
                    changes,
                    target,
                    content.value(),
                    kept,
                    before=source,
                    origin=source,
                )
                return target
            self._make_way(changes, user, target)
            occupant = changes.kept(target)
            if occupant is not None and changes.active(target) is not None:
                msg = (
                    f"memory with id {target} already exists and says the same. "
                    f"Nothing was changed: delete {named(source.key)} if it is no "
                    f"longer needed."
                )
                raise MemoryConflict(msg)
            if occupant is not None:
                # Its own links and log: the source's are merged in by `rotate`.
                earlier = decode_meta(occupant.meta)
                kept = kept._replace(
                    log=earlier.log,
                    supersedes=earlier.supersedes,
                    superseded_by=earlier.superseded_by,
                )
            else:
                kept = kept._replace(log=(), supersedes=(), superseded_by=None)
            yield from self._write(
                changes, target, content.value(), kept, before=occupant, origin=source
            )
            versions.rotate(changes, source.key, target)
            changes.delete(
                changes.kept(source.key) or source, soft=self.settings.soft_delete
            )
            return target

        key, changes = yield from self.transact(user.namespace, decide)
        return self._entry(changes, key)

    def _source(self, changes: Changes, memory_id: str) -> Record:
        source = changes.active(memory_id)
        if source is None or not source.flags & RecordFlags.LISTED:
            raise MemoryNotFound(not_found(memory_id))
        return source

    def _patched(self, source: Record, meta: Meta, patch: Patch) -> Draft:
        old = draft_of(decode(source.value), meta.precision, self.settings.timezone)
        moment, precision = old.event_time, old.precision
        if patch.event_time is not None:
            moment, precision = moment_of(patch.event_time, self.settings.timezone)
        return Draft(
            old.memory
            if patch.memory is None
            else text_field("memory", patch.memory, required=True),
            old.topics if patch.topics is None else text_list("topics", patch.topics),
            old.kind if patch.kind is None else kind_of(patch.kind),
            moment,
            precision,
            old.participants
            if patch.participants is None
            else normalize_participants(text_list("participants", patch.participants)),
            old.location if patch.location is None else place_of(patch.location),
            old.extra,
        )

    def _write(  # noqa: PLR0913 - the parts of one record
        self,
        changes: Changes,
        key: str,
        value: dict[str, object],
        meta: Meta,
        *,
        before: Record | None,
        origin: Record | None = None,
    ) -> Plan[None]:
        """Plan the record of a memory.

        Args:
            changes: The unit of work.
            key: Its id.
            value: Its value.
            meta: What lives beside it.
            before: What is kept under its id, active or not.
            origin: The memory that it is made from, when an update moves it.
        """
        model = origin or before
        # An edit keeps an item out of the index, an addition does not.
        flags = RecordFlags.LISTED | (origin.flags if origin else RecordFlags.NONE)
        subject = Subject(value, flags, meta.fields, old=model)
        (found,) = yield from self.indexer.index([subject])
        created_at = None
        if before is not None and (
            changes.active(key) is not None or before.state is RecordState.TOMBSTONE
        ):
            created_at = before.created_at
        elif origin is not None:
            created_at = origin.created_at
        ttl = model.ttl if origin is not None and model else self.settings.default_ttl
        record = Record(
            changes.namespace,
            key,
            encode(value),
            encode_meta(meta),
            created_at,
            ttl=ttl,
            expires_at=None if ttl is None else changes.now + ttl,
            flags=flags,
        )
        changes.write(with_index(record, found))

    def delete(self, user: UserKey, memory_id: str) -> Plan[bool]:
        """Delete a memory; tell whether there was one."""

        def decide(changes: Changes) -> bool:
            record = changes.active(memory_id)
            if record is None or not record.flags & RecordFlags.LISTED:
                return False
            if self.on_delete is not None:
                self.on_delete(user, [record])
            changes.delete(record, soft=self.settings.soft_delete)
            return True

        found, _ = yield from self.transact(user.namespace, at_once(decide))
        return found

    def clear(self, user: UserKey) -> Plan[int]:
        """Delete all memories; return how many there were."""

        def decide(changes: Changes) -> int:
            page = self.backend.page(Page(user.namespace, None, listed=True))
            changes.prefetch(record.key for record in page)
            count = 0
            for shown in page:
                record = changes.active(shown.key)
                if record is not None:
                    changes.delete(record, soft=self.settings.soft_delete)
                    count += 1
            return count

        count, _ = yield from self.transact(user.namespace, at_once(decide))
        return count

    def restore(self, user: UserKey, memory_id: str) -> Plan[MemoryEntry]:
        """Bring a deleted memory back, or let a superseded one hold again."""
        self._require_tombstones("restore a memory")

        def decide(changes: Changes) -> None:
            record = changes.kept(memory_id)
            if record is None or not record.flags & RecordFlags.LISTED:
                raise MemoryNotFound(not_found(memory_id, deleted=True))
            if record.state is RecordState.TOMBSTONE:
                ttl = record.ttl
                changes.write(
                    changed(
                        record,
                        state=RecordState.ACTIVE,
                        deleted_at=None,
                        expires_at=None if ttl is None else changes.now + ttl,
                    )
                )
            elif changes.active(memory_id) is None:
                raise MemoryNotFound(not_found(memory_id, deleted=True))
            versions.make_current(changes, memory_id)

        _, changes = yield from self.transact(user.namespace, at_once(decide))
        return self._entry(changes, memory_id)

    def kept(self, user: UserKey, ids: Sequence[str]) -> set[str]:
        """Return those of some ids that lead to a memory, deleted softly or not."""
        changes = Changes(self.backend, user.namespace, self.backend.now())
        changes.prefetch(ids)
        return {key for key in ids if changes.kept(key) is not None}

    def history(self, user: UserKey, memory_id: str) -> Memories:
        """Return what led to a memory, oldest first, itself last."""
        self._require_tombstones("tell a memory's history")
        changes = Changes(self.backend, user.namespace, self.backend.now())
        chain = versions.history(changes.kept, memory_id)
        memories = [r for r in chain if r.flags & RecordFlags.LISTED]
        if not memories:
            raise MemoryNotFound(not_found(memory_id, deleted=True))
        return Memories(entry_of(r, self.settings.timezone) for r in memories)

    def _require_tombstones(self, what: str) -> None:
        if not self.settings.soft_delete:
            msg = (
                f"Cannot {what}: this store does not keep what was deleted or "
                f"replaced. Open it with soft_delete=True."
            )
            raise NotKept(msg)

    def read(self, user: UserKey, limit: int | None) -> list[Record]:
        """Return the newest memories first."""
        if limit == 0:
            return []
        return self.backend.page(Page(user.namespace, limit, listed=True))

    def head(self, user: UserKey) -> Head | None:
        """Return the state of a user's memories as a whole."""
        return self.backend.head(user.namespace)

    def transact(
        self, namespace: Namespace, decide: Callable[[Changes], Plan[T]]
    ) -> Plan[tuple[T, Changes]]:
        """Decide and commit, again when another writer was faster.

        Returns:
            What was decided, and the changes as they were committed.
        """
        for _ in range(ATTEMPTS):
            changes = Changes(self.backend, namespace, self.backend.now())
            result = yield from decide(changes)
            try:
                if changes.writes:
                    self.commit(changes)
            except PreconditionFailed:
                continue
            return result, changes
        raise BackendUnavailable(_NO_CHANGE_LOST)

    def commit(self, changes: Changes) -> None:
        """Commit one namespace's changes, within the limit of its owner."""
        owner = owner_of(changes.namespace)
        limit = None if owner is None else self.settings.memory_limit
        while True:
            try:
                self.backend.commit(changes.batch(limit))
            except LimitReached as reached:
                self.make_room(changes, reached)
            else:
                return

    def make_room(self, changes: Changes, reached: LimitReached) -> None:
        """Plan the eviction of the least recently updated, or refuse.

        Raises:
            MemoryLimitExceeded: If the store rejects at the limit, or there is nothing
                left to evict.
        """
        limit = self.settings.memory_limit or 0
        # A memory of which only links are edited in passing may go like any other.
        planned = {
            write.record.key
            for write in changes.writes
            if write.stamp or write.record.state is not RecordState.ACTIVE
        }
        victims: list[str] = []
        if self.settings.on_limit == "evict" and limit:
            oldest = Page(
                changes.namespace,
                reached.excess + len(planned),
                oldest_first=True,
                listed=True,
            )
            page = self.backend.page(oldest)
            victims = [r.key for r in page if r.key not in planned][: reached.excess]
        if len(victims) < reached.excess:
            app_name, user_id = owner_of(changes.namespace) or ("", "")
            msg = (
                f"memory limit exceeded for user {named(user_id)} of "
                f"{named(app_name)}, limit: {limit}, current: {reached.active}. "
                f"Nothing was written: delete "
                f"memories, raise memory_limit, or open the store with "
                f"on_limit='evict'."
            )
            raise MemoryLimitExceeded(msg)
        changes.prefetch(victims)
        for key in victims:
            victim = changes.active(key)
            if victim is not None:
                changes.delete(victim, soft=self.settings.soft_delete)

    def _entry(self, changes: Changes, key: str) -> MemoryEntry:
        record = changes.kept(key)
        if record is None:
            raise MemoryNotFound(not_found(key))
        return entry_of(record, self.settings.timezone)


def at_once(decide: Callable[[Changes], T]) -> Callable[[Changes], Plan[T]]:
    """Return a decision that needs no embedding as a plan."""

    def plan(changes: Changes) -> Plan[T]:
        yield from ()
        return decide(changes)

    return plan


def with_index(record: Record, found: Indexed) -> Record:
    """Put what indexing made of an item onto its record."""
    record.tokens = found.tokens
    record.vectors = found.vectors
    record.embedder = found.embedder
    return record


def not_found(memory_id: str, *, deleted: bool = False) -> str:
    """Return the message about an id that leads nowhere."""
    among = "among this user's memories"
    if deleted:
        among += ", deleted ones included (they are gone once purged)"
    return (
        f"memory with id {named(memory_id)} not found {among}. Reading or searching "
        f"the "
        f"memories gives the ids there are."
    )
