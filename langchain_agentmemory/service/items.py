"""LangGraph's store operations: get, put, delete, search and list, over any backend.

Writes into a user's memory namespace obey the rules of memories: the limit, soft
delete, revival, and that what lives beside a value survives a `put`.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from langchain_agentmemory.backends.base import (
    Batch,
    LimitReached,
    Namespace,
    Page,
    PreconditionFailed,
    Record,
    RecordFlags,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.memory import is_live
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.identity import owner_of
from langchain_agentmemory.service import versions
from langchain_agentmemory.service.changes import ATTEMPTS, Changes, changed
from langchain_agentmemory.service.filters import Predicate, compile_filter
from langchain_agentmemory.service.hidden import is_hidden, refuse_hidden, visible
from langchain_agentmemory.service.indexing import Subject
from langchain_agentmemory.service.operations import checked_all
from langchain_agentmemory.service.plans import Plan
from langchain_agentmemory.service.records import (
    Meta,
    decode_meta,
    draft_of,
    encode_meta,
    listed,
)
from langchain_agentmemory.service.refresh import Refresh
from langchain_agentmemory.service.search import Search
from langchain_agentmemory.service.settings import microseconds_of
from langchain_agentmemory.service.values import (
    decode,
    encode_checked,
)
from langchain_agentmemory.service.verbs import Verbs, with_index
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import UserKey

FIRST_PAGE: Final = 256
"""Records read at first while a filter looks for matches; doubled each time."""


class Items:
    """LangGraph's operations on top of the verbs' rules.

    Args:
        verbs: The rules of memories.
        search: The ranker.
        refresh: Makes what renews the time to live of items that are read.
    """

    def __init__(
        self, verbs: Verbs, search: Search, refresh: Callable[[], Refresh]
    ) -> None:
        """Remember the parts."""
        self._verbs = verbs
        self._search = search
        self._refresh = refresh
        self._backend = verbs.backend

    def batch(self, ops: Iterable[Op]) -> Plan[list[Result]]:
        """Run operations: reads first, then all writes as one batch.

        Of several writes to one key the last one counts. Results are in the order of
        the operations.

        Raises:
            InvalidInput: If one of the operations cannot be carried out; none was.
        """
        given = checked_all(ops)
        results: list[Result] = [None] * len(given)
        puts: dict[tuple[Namespace, str], PutOp] = {}
        self._get(given, results)
        for position, op in enumerate(given):
            if isinstance(op, SearchOp):
                results[position] = yield from self._found(op)
            elif isinstance(op, ListNamespacesOp):
                results[position] = self._namespaces(op)
            elif isinstance(op, PutOp):
                refuse_hidden(op.namespace)
                puts[op.namespace, op.key] = op
        if puts:
            yield from self._put(list(puts.values()))
        return results

    def _get(self, ops: Sequence[Op], results: list[Result]) -> None:
        wanted: dict[Namespace, list[tuple[int, GetOp]]] = {}
        for position, op in enumerate(ops):
            if isinstance(op, GetOp):
                wanted.setdefault(op.namespace, []).append((position, op))
        refresh = self._refresh()
        for namespace, group in wanted.items():
            if is_hidden(namespace):
                continue
            records = self._backend.read(namespace, [op.key for _, op in group])
            now = self._backend.now()
            for (position, op), record in zip(group, records, strict=True):
                if record is not None and is_live(record, now):
                    results[position] = item_of(record)
                    if op.refresh_ttl:
                        refresh.note(record)
        refresh.write()

    def _found(self, op: SearchOp) -> Plan[list[SearchItem]]:
        matches = compile_filter(op.filter)
        if op.limit <= 0:
            return []
        if op.query and op.query.strip():
            hits = yield from self._search.items(
                op.namespace_prefix, op.query, matches, op.offset + op.limit
            )
            found = hits[op.offset :]
        else:
            newest = self._newest(op.namespace_prefix, matches, op.offset + op.limit)
            cut = itertools.islice(newest, op.offset, op.offset + op.limit)
            found = [(record, None) for record in cut]
        if op.refresh_ttl:
            refresh = self._refresh()
            for record, _ in found:
                refresh.note(record)
            refresh.write()
        return [search_item_of(record, score) for record, score in found]

    def _newest(
        self, prefix: Namespace, matches: Predicate | None, wanted: int
    ) -> Iterator[Record]:
        """Walk the records below a prefix, newest first: a merge of namespaces."""
        heads = visible(self._backend.heads(prefix))
        if len(heads) == 1:
            return self._walk(heads[0].namespace, matches, wanted)
        heads.sort(key=lambda head: -head.last)
        return self._merged([(h.last, h.namespace) for h in heads], matches, wanted)

    def _merged(
        self,
        heads: list[tuple[int, Namespace]],
        matches: Predicate | None,
        wanted: int,
    ) -> Iterator[Record]:
        # A namespace is opened only when what it can hold at most is next in line.
        waiting = iter(heads)
        following = next(waiting, None)
        opened: list[tuple[int, Namespace, Record, Iterator[Record]]] = []
        while opened or following:
            while following and (not opened or following[0] >= -opened[0][0]):
                self._advance(opened, self._walk(following[1], matches, wanted))
                following = next(waiting, None)
            if opened:
                _, _, record, rest = heapq.heappop(opened)
                yield record
                self._advance(opened, rest)

    @staticmethod
    def _advance(
        opened: list[tuple[int, Namespace, Record, Iterator[Record]]],
        records: Iterator[Record],
    ) -> None:
        record = next(records, None)
        if record is not None:
            entry = (-record.updated_at, record.namespace, record, records)
            heapq.heappush(opened, entry)

    def _walk(
        self, namespace: Namespace, matches: Predicate | None, wanted: int
    ) -> Iterator[Record]:
        size = min(wanted, FIRST_PAGE) if matches is None else FIRST_PAGE
        before: int | None = None
        while True:
            page = self._backend.page(Page(namespace, size, before))
            for record in page:
                if matches is None or matches(decode(record.value)):
                    yield record
            if len(page) < size:
                return
            before = page[-1].updated_at
            size *= 2

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        heads = visible(self._backend.heads(_literal_prefix(conditions)))
        found: Iterable[Namespace] = (
            head.namespace
            for head in heads
            if all(_fits(condition, head.namespace) for condition in conditions)
        )
        if op.max_depth is not None:
            found = {namespace[: op.max_depth] for namespace in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _put(self, ops: Sequence[PutOp]) -> Plan[None]:
        values = {
            id(op): encode_checked(op.value) for op in ops if op.value is not None
        }
        for _ in range(ATTEMPTS):
            now = self._backend.now()
            spaces = self._prefetched(ops, now)
            subjects = {
                id(op): self._subject(op, spaces.get(op.namespace))
                for op in ops
                if op.value is not None
            }
            indexed = yield from self._verbs.indexer.index(list(subjects.values()))
            found = dict(zip(subjects, indexed, strict=True))
            plain: list[Write] = []
            for op in ops:
                changes = spaces.get(op.namespace)
                if op.value is None:
                    self._plan_delete(op, changes, plain)
                else:
                    record = self._record(op, now, values[id(op)], subjects[id(op)])
                    with_index(record, found[id(op)])
                    self._plan_put(record, subjects[id(op)], changes, plain)
            try:
                self._commit(list(spaces.values()), plain)
            except PreconditionFailed:
                continue
            return
        msg = "Other writers kept changing the same items. Nothing was written."
        raise BackendUnavailable(msg)

    def _prefetched(self, ops: Sequence[PutOp], now: int) -> dict[Namespace, Changes]:
        """Read what the operations are about in users' memory namespaces."""
        keys: dict[Namespace, list[str]] = {}
        for op in ops:
            keys.setdefault(op.namespace, []).append(op.key)
        spaces: dict[Namespace, Changes] = {}
        for namespace, wanted in keys.items():
            if owner_of(namespace) is not None:
                space = Changes(self._backend, namespace, now)
                space.prefetch(wanted)
                spaces[namespace] = space
        return spaces

    def _subject(self, op: PutOp, changes: Changes | None) -> Subject:
        value = op.value or {}
        flags = listed(value, op.namespace)
        fields = None
        if op.index is False:
            flags |= RecordFlags.UNINDEXED
        elif op.index is not None:
            fields = tuple(op.index)
        old = changes.active(op.key) if changes else None
        return Subject(value, flags, fields, old)

    @staticmethod
    def _record(op: PutOp, now: int, value: bytes, subject: Subject) -> Record:
        ttl = microseconds_of(op.ttl)
        return Record(
            op.namespace,
            op.key,
            value,
            encode_meta(Meta(fields=subject.fields)),
            ttl=ttl,
            expires_at=None if ttl is None else now + ttl,
            flags=subject.flags,
        )

    def _plan_put(
        self,
        record: Record,
        subject: Subject,
        changes: Changes | None,
        plain: list[Write],
    ) -> None:
        if changes is None:
            plain.append(Write(record))
            return
        before = changes.kept(record.key)
        revives = before is not None and before.state is RecordState.TOMBSTONE
        if before is not None:
            meta = decode_meta(before.meta)._replace(fields=subject.fields)
            if record.flags & RecordFlags.LISTED:
                precision = self._precision(before, record.value)
                meta = meta._replace(precision=precision)
            record.meta = encode_meta(meta)
            if revives or changes.active(record.key) is not None:
                record.created_at = before.created_at
        changes.write(record)
        if revives and record.flags & RecordFlags.LISTED:
            versions.make_current(changes, record.key)  # as adding it again does

    def _precision(self, before: Record, value: bytes) -> Any:
        """Keep how exactly an event time is known, unless the put changes the time."""
        old, new = decode(before.value), decode(value)
        kept = decode_meta(before.meta).precision
        if old.get("event_time") == new.get("event_time"):
            return kept
        return draft_of(new, None, self._verbs.settings.timezone).precision

    def _plan_delete(
        self, op: PutOp, changes: Changes | None, plain: list[Write]
    ) -> None:
        if changes is None:
            stub = Record(op.namespace, op.key, state=RecordState.STUB)
            plain.append(Write(changed(stub, created_at=0), stamp=False))
            return
        record = changes.active(op.key)
        if record is not None:
            owner = owner_of(op.namespace)
            if self._verbs.on_delete is not None and owner is not None:
                self._verbs.on_delete(UserKey(*owner), [record])
            soft = self._verbs.settings.soft_delete and bool(
                record.flags & RecordFlags.LISTED
            )
            changes.delete(record, soft=soft)

    def _commit(self, spaces: list[Changes], plain: list[Write]) -> None:
        limit = self._verbs.settings.memory_limit
        while True:
            writes = [w for space in spaces for w in space.writes] + plain
            limits = {} if limit is None else {s.namespace: limit for s in spaces}
            if not writes:
                return
            try:
                self._backend.commit(Batch(writes, limits))
            except LimitReached as reached:
                (space,) = (s for s in spaces if s.namespace == reached.namespace)
                self._verbs.make_room(space, reached)
            else:
                return


def item_of(record: Record) -> Item:
    """Return a record as a LangGraph item. Its value is the caller's own."""
    return Item(
        value=decode(record.value),
        key=record.key,
        namespace=record.namespace,
        created_at=from_us(record.created_at or 0),
        updated_at=from_us(record.updated_at),
    )


def search_item_of(record: Record, score: float | None) -> SearchItem:
    """Return a record as a LangGraph search result."""
    return SearchItem(
        namespace=record.namespace,
        key=record.key,
        value=decode(record.value),
        created_at=from_us(record.created_at or 0),
        updated_at=from_us(record.updated_at),
        score=score,
    )


def _literal_prefix(conditions: Iterable[MatchCondition]) -> Namespace:
    for condition in conditions:
        if condition.match_type == "prefix":
            return tuple(
                itertools.takewhile(lambda label: label != "*", condition.path)
            )
    return ()


def _fits(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        labels = namespace[: len(path)]
    else:
        labels = namespace[len(namespace) - len(path) :]
    return all(
        wanted in ("*", label) for wanted, label in zip(path, labels, strict=True)
    )
