"""The SQLite backend: one file, durable, shared by the processes of one machine.

The file uses write-ahead logging. With `synchronous="NORMAL"`, the default, a write
that returned survives the death of the process, `kill -9` included; a power failure may
take the last moments. `"FULL"` survives that too, at the price of a disk flush a write.

Vectors are plain blobs: no extension of SQLite is needed.
"""

import os
import sqlite3
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from langchain_agentmemory.backends.base import (
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
from langchain_agentmemory.backends.columns import (
    Columns,
    pack_vectors,
    unpack_vectors,
)
from langchain_agentmemory.backends.memory import (
    STUBS_KEPT,
    is_counted,
    stub_of,
    system_clock,
)
from langchain_agentmemory.backends.sqlite_pool import SQLitePool, Synchronous
from langchain_agentmemory.backends.sqlite_schema import (
    COLUMNS,
    DEFAULT_TABLE,
    MIGRATIONS,
    check_table_name,
    other_tables,
    schema_version,
    statements,
)
from langchain_agentmemory.errors import BackendUnavailable

_SEPARATOR: Final = "."  # LangGraph forbids it inside labels
_AFTER_SEPARATOR: Final = "/"  # the character that follows it
_KEYS_AT_ONCE: Final = 500  # far below SQLite's limit of variables, whatever the build
_CONTENT: Final = len(COLUMNS) - 2  # all columns but tokens and vectors
# What an index is loaded from: active records have no other state.
_LOADED: Final = tuple(c for c in COLUMNS if c not in {"state", "deleted_at"})
_LOADED_CONTENT: Final = len(_LOADED) - 2
_KEY, _FLAGS, _EXPIRES_AT, _EMBEDDER, _VALUE, _META, _TOKENS, _VECTORS = map(
    _LOADED.index,
    ("key", "flags", "expires_at", "embedder", "value", "meta", "tokens", "vectors"),
)


@dataclass(slots=True, eq=False, repr=False)
class _Space:
    """The row of a namespace, as a transaction reads, changes and writes it."""

    namespace: Namespace
    id: int
    revision: int
    items: int
    active: int
    stubs: int
    floor: int
    last: int


class _Prior(NamedTuple):
    revision: int
    state: int
    flags: int
    created_at: int
    expires_at: int | None

    @property
    def counted(self) -> bool:
        return self.state == RecordState.ACTIVE and bool(
            self.flags & RecordFlags.LISTED
        )


class SQLiteBackend:
    """Keep records in a SQLite file.

    Args:
        path: The file, made if it does not exist, or `":memory:"`.
        table: Name of the table and prefix of its companions.
        synchronous: `"NORMAL"` or `"FULL"`, see above.
        timeout: Seconds to wait while another process writes.
        skip_init: Run no DDL; the schema must be there (see `ddl`).
        clock: Returns the time in microseconds; for tests that move the clock.

    Raises:
        InvalidInput: If one of them cannot be used.
    """

    name = "sqlite"
    capabilities = frozenset(
        {
            Capability.DURABLE,
            Capability.SHARED,
            Capability.ATOMIC_ACROSS_NAMESPACES,
        }
    )
    keeps_records = False

    def __init__(  # noqa: PLR0913 - the settings of a file
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        table: str = DEFAULT_TABLE,
        synchronous: Synchronous = "NORMAL",
        timeout: float = 30.0,
        skip_init: bool = False,
        clock: Callable[[], int] = system_clock,
    ) -> None:
        """Remember the settings; the file is opened on first use."""
        self._table = check_table_name(table)
        self._synchronous = synchronous
        self._skip_init = skip_init
        self._clock = clock
        self._opened = False
        self._pool = SQLitePool(path, timeout=timeout, synchronous=synchronous)
        if self._pool.in_memory:  # every object has a database of its own
            self.capabilities = frozenset({Capability.ATOMIC_ACROSS_NAMESPACES})
        self._sql = _Statements(self._table)

    @property
    def file(self) -> Path | None:
        """The file, which is made when it is first used; `None` in memory."""
        return None if self._pool.in_memory else Path(self._pool.path)

    def ddl(self) -> str:
        """Return the statements that create the schema, for an administrator."""
        return ";\n\n".join(statements(self._table, 0)) + ";\n"

    def open(self) -> None:
        """Check the schema; create or migrate it unless `skip_init`."""
        self._pool.check_open()
        if self._opened:
            return
        place = self._pool.path
        self._pool.check_header()
        with self._pool.reading() as connection:
            version = schema_version(connection, self._table, place)
        if version < len(MIGRATIONS) and self._skip_init:
            msg = (
                f"{place} has schema {version}, this package needs {len(MIGRATIONS)}, "
                f"and skip_init forbids changing it. Have these statements run:\n\n"
                + ";\n".join(statements(self._table, version))
                + ";"
            )
            raise BackendUnavailable(msg)
        if not self._skip_init:
            self._pool.use_wal()
        if version < len(MIGRATIONS):
            with self._pool.writing() as connection:
                version = schema_version(connection, self._table, place)
                for statement in statements(self._table, version):
                    connection.execute(statement)
        self._opened = True

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def now(self) -> int:
        """Return the clock in microseconds."""
        return self._clock()

    def head(self, namespace: Namespace) -> Head | None:
        """Return the head of one namespace."""
        self.open()
        with self._pool.reading() as connection:
            return self._head(connection, namespace)

    def _head(
        self, connection: sqlite3.Connection, namespace: Namespace
    ) -> Head | None:
        row = connection.execute(
            self._sql.head, (self.now(), path_of(namespace))
        ).fetchone()
        return Head(namespace, *row) if row else None

    def heads(self, prefix: Namespace) -> list[Head]:
        """Return the heads at and below a prefix that have items."""
        self.open()
        path = path_of(prefix)
        with self._pool.reading() as connection:
            if prefix:
                rows = connection.execute(
                    self._sql.heads_below,
                    (path, path + _SEPARATOR, path + _AFTER_SEPARATOR),
                ).fetchall()
            else:
                rows = connection.execute(self._sql.heads_all).fetchall()
            gone = {
                ns: (items, active)
                for ns, items, active in connection.execute(
                    self._sql.expired_counts, (self.now(),)
                )
            }
        heads = []
        for path, epoch, revision, raw_items, raw_active, last in rows:
            items, active = gone.get(epoch, (0, 0))
            if raw_items > items:
                heads.append(
                    Head(
                        namespace_of(path),
                        epoch,
                        revision,
                        raw_items - items,
                        raw_active - active,
                        last,
                    )
                )
        return sorted(heads, key=lambda head: head.namespace)

    def read(self, namespace: Namespace, keys: Sequence[str]) -> list[Record | None]:
        """Return the records under these keys in any state."""
        self.open()
        path = path_of(namespace)
        found: dict[str, Record] = {}
        with self._pool.reading() as connection:
            for chunk in _chunks(keys):
                rows = connection.execute(self._sql.read(len(chunk)), (path, *chunk))
                for row in rows:
                    found[row[0]] = _record(namespace, row)
        return [found.get(key) for key in keys]

    def page(self, page: Page) -> list[Record]:
        """Return records by `updated_at`, without tokens and vectors."""
        self.open()
        limit = -1 if page.limit is None else page.limit
        edge = page.before
        if edge is None:
            edge = -1 if page.oldest_first else 1 << 62
        with self._pool.reading() as connection:
            rows = connection.execute(
                self._sql.page(page),
                (path_of(page.namespace), edge, self.now(), limit),
            ).fetchall()
        return [_record(page.namespace, row) for row in rows]

    def delta(self, namespace: Namespace, epoch: int, since: int) -> Delta | None:
        """Return what changed since a revision."""
        self.open()
        with self._pool.reading() as connection:
            head = self._head(connection, namespace)
            if head is None:
                return None
            # Rows written after the head was read may come along: they will come
            # again with the next delta, and a delta can be applied twice.
            row = connection.execute(self._sql.floor, (head.epoch,)).fetchone()
            reload = head.epoch != epoch or (row is not None and since < row[0])
            if reload:
                cursor = connection.execute(self._sql.all_active, (head.epoch,))
            else:
                cursor = connection.execute(self._sql.changed, (head.epoch, since))
            records = [_record(namespace, row) for row in cursor]
        return Delta(head, records, reload)

    def columns(
        self, namespace: Namespace, size: int, *, vectors: bool = True
    ) -> Generator[Columns, None, None]:
        """Yield all active records, column by column."""
        self.open()
        with self._pool.reading() as connection:
            # Not the head, whose counts of what has expired are not asked for.
            state = connection.execute(self._sql.state, (path_of(namespace),))
            found = state.fetchone()
            if found is None:
                return
            epoch, revision = found
            wanted = self._sql.columns if vectors else self._sql.columns_bare
            cursor = connection.execute(wanted, (epoch,))
            while found := cursor.fetchmany(size):
                turned = list(zip(*found, strict=True))
                loaded = _Loaded(namespace, turned[:_LOADED_CONTENT])
                yield Columns(
                    epoch,
                    revision,
                    loaded.record,
                    keys=turned[_KEY],
                    flags=turned[_FLAGS],
                    expiries=turned[_EXPIRES_AT],
                    embedders=turned[_EMBEDDER],
                    values=turned[_VALUE],
                    metas=turned[_META],
                    tokens=turned[_TOKENS],
                    vectors=turned[_VECTORS],
                )
                del found, turned, loaded  # before the next ones are read

    def commit(self, batch: Batch) -> list[Record]:
        """Apply a batch in one transaction."""
        self.open()
        with self._pool.writing() as connection:
            self._apply(connection, batch.writes, batch.limits)
        return [write.record for write in batch.writes]

    def _apply(
        self,
        connection: sqlite3.Connection,
        writes: Iterable[Write],
        limits: Mapping[Namespace, int],
    ) -> None:
        by_namespace: dict[Namespace, list[Write]] = {}
        for write in writes:
            by_namespace.setdefault(write.record.namespace, []).append(write)
        for namespace in sorted(by_namespace):
            group = by_namespace[namespace]
            space = self._space(connection, namespace, group)
            if space is None:
                continue
            priors = self._priors(connection, space, group)
            for write in group:
                prior = priors.get(write.record.key)
                if write.expect not in {None, prior.revision if prior else 0}:
                    raise PreconditionFailed
            if namespace in limits:
                self._make_room(connection, space, group, priors, limits[namespace])
            self._write_rows(connection, space, group, priors)
            self._save(connection, space)

    def _space(
        self, connection: sqlite3.Connection, namespace: Namespace, group: list[Write]
    ) -> _Space | None:
        path = path_of(namespace)
        row = connection.execute(self._sql.space, (path,)).fetchone()
        if row is None:
            if any(write.expect for write in group):
                raise PreconditionFailed
            if all(write.record.state is RecordState.STUB for write in group):
                return None
            made = connection.execute(self._sql.new_space, (path,))
            row = (made.lastrowid, 0, 0, 0, 0, 0, 0)
        return _Space(namespace, *row)

    def _priors(
        self, connection: sqlite3.Connection, space: _Space, group: list[Write]
    ) -> dict[str, _Prior]:
        priors: dict[str, _Prior] = {}
        for chunk in _chunks([write.record.key for write in group]):
            rows = connection.execute(self._sql.priors(len(chunk)), (space.id, *chunk))
            for key, *row in rows:
                priors[key] = _Prior(*row)
        return priors

    def _make_room(
        self,
        connection: sqlite3.Connection,
        space: _Space,
        group: list[Write],
        priors: dict[str, _Prior],
        limit: int,
    ) -> None:
        growth = 0
        for write in group:
            prior = priors.get(write.record.key)
            growth += is_counted(write.record) - (prior is not None and prior.counted)
        if growth <= 0 or space.active + growth <= limit:
            return
        touched = {write.record.key for write in group}
        expired = [
            _record(space.namespace, row)
            for row in connection.execute(self._sql.expired_in, (space.id, self.now()))
            if row[0] not in touched
        ]
        freed = sum(is_counted(record) for record in expired)
        if space.active - freed + growth > limit:
            excess = space.active - freed + growth - limit
            raise LimitReached(space.namespace, space.active - freed, excess)
        stubs = [stub_of(record) for record in expired]
        self._write_rows(
            connection, space, stubs, self._priors(connection, space, stubs)
        )

    def _write_rows(
        self,
        connection: sqlite3.Connection,
        space: _Space,
        group: list[Write],
        priors: dict[str, _Prior],
    ) -> None:
        now = self.now()
        rows = []
        for write in group:
            record = write.record
            prior = priors.get(record.key)
            if record.state is RecordState.STUB and prior is None:
                continue
            space.revision += 1
            record.revision = space.revision
            if write.stamp:
                record.updated_at = space.last = max(now, space.last + 1)
            if record.created_at is None:
                kept = prior is not None and (
                    prior.state == RecordState.ACTIVE
                    and (prior.expires_at is None or prior.expires_at > now)
                )
                record.created_at = (
                    prior.created_at if kept and prior else record.updated_at
                )
            _count(
                space, prior.state if prior else None, prior.flags if prior else 0, -1
            )
            _count(space, record.state, record.flags, 1)
            rows.append(_row(space.id, record))
        connection.executemany(self._sql.upsert, rows)

    def _save(self, connection: sqlite3.Connection, space: _Space) -> None:
        if space.stubs > max(STUBS_KEPT, space.items):
            connection.execute(self._sql.drop_stubs, (space.id,))
            space.stubs, space.floor = 0, space.revision
        connection.execute(
            self._sql.save_space,
            (
                space.revision,
                space.items,
                space.active,
                space.stubs,
                space.floor,
                space.last,
                space.id,
            ),
        )

    def touch(self, namespace: Namespace, expiries: Mapping[str, int]) -> None:
        """Set `expires_at` of active records."""
        self.open()
        path = path_of(namespace)
        with self._pool.writing(patient=False) as connection:
            connection.executemany(
                self._sql.touch,
                [(expires_at, path, key) for key, expires_at in expiries.items()],
            )

    def sweep(self) -> int:
        """Turn expired records into stubs."""
        self.open()
        with self._pool.reading() as connection:
            if not connection.execute(
                self._sql.any_expired, (self.now(),) * 2
            ).fetchone():
                return 0
        with self._pool.writing() as connection:
            rows = connection.execute(self._sql.expired, (self.now(),) * 2).fetchall()
            gone = [_record(namespace_of(path), row) for path, *row in rows]
            self._apply(connection, [stub_of(record) for record in gone], {})
        return len(gone)

    def purge(self, prefix: Namespace, deleted_before: int) -> int:
        """Turn old tombstones at and below a prefix into stubs."""
        self.open()
        path = path_of(prefix)
        edges = (path, path + _SEPARATOR, path + _AFTER_SEPARATOR)
        with self._pool.writing() as connection:
            rows = connection.execute(
                self._sql.purgeable, (deleted_before, not prefix, *edges)
            ).fetchall()
            gone = [_record(namespace_of(found), row) for found, *row in rows]
            self._apply(connection, [stub_of(record) for record in gone], {})
        return len(gone)

    def drop(self, namespace: Namespace) -> dict[str, int]:
        """Remove a namespace with everything in it."""
        self.open()
        with self._pool.writing() as connection:
            space = self._space(connection, namespace, [])
            if space is None:
                return {"active": 0, "tombstones": 0, "stubs": 0}
            total = connection.execute(self._sql.drop_rows, (space.id,)).rowcount
            connection.execute(self._sql.drop_space, (space.id,))
        return {
            "active": space.items,
            "tombstones": total - space.items - space.stubs,
            "stubs": space.stubs,
        }

    def describe(self) -> dict[str, str]:
        """Return file, settings and size."""
        self.open()
        with self._pool.reading() as connection:
            spaces, held = connection.execute(self._sql.totals).fetchone()
            others = other_tables(connection, self._table)
        return {
            "engine": f"SQLite {sqlite3.sqlite_version}",
            "file": self._pool.path,
            "durable": "no: in memory"
            if self._pool.in_memory
            else f"yes (write-ahead log, synchronous={self._synchronous})",
            "table": self._table,
            **({"other tables": others} if others else {}),
            "schema": str(len(MIGRATIONS)),
            "namespaces": str(spaces),
            "items": str(held or 0),
        }


class _Statements:
    """The statements of one table name. Names are checked, values are bound."""

    def __init__(self, table: str) -> None:
        columns = ", ".join(f"r.{name}" for name in COLUMNS)
        content = ", ".join(f"r.{name}" for name in COLUMNS[:_CONTENT])
        spaces = f"{table}_namespaces"
        table = f'"{table}"'  # it may be a word of SQL
        joined = f"FROM {table} r JOIN {spaces} n ON n.id = r.ns"
        gone = "state = 0 AND expires_at IS NOT NULL AND expires_at <= ?"
        changes = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._content, self._columns, self._joined = content, columns, joined
        self._table = table
        self.head = (
            f"SELECT n.id, n.revision, n.items - COALESCE(g.items, 0), "
            f"n.active - COALESCE(g.active, 0), n.last FROM {spaces} n "
            f"LEFT JOIN (SELECT ns, count(*) AS items, sum(flags & 1) AS active "
            f"FROM {table} WHERE {gone} GROUP BY ns) g ON g.ns = n.id "
            f"WHERE n.path = ?"
        )
        heads = f"SELECT path, id, revision, items, active, last FROM {spaces}"
        self.heads_all = f"{heads} WHERE items > 0"
        self.heads_below = (
            f"{heads} WHERE items > 0 AND (path = ? OR (path >= ? AND path < ?))"
        )
        self.expired_counts = (
            f"SELECT ns, count(*), sum(flags & 1) FROM {table} WHERE {gone} GROUP BY ns"
        )
        self.state = f"SELECT id, revision FROM {spaces} WHERE path = ?"
        self.floor = f"SELECT floor FROM {spaces} WHERE id = ?"
        self.all_active = (
            f"SELECT {columns} FROM {table} r WHERE r.ns = ? AND r.state = 0 "
            f"ORDER BY r.revision"
        )
        bare = ("NULL" if name == "vectors" else name for name in _LOADED)
        self.columns, self.columns_bare = (
            f"SELECT {', '.join(names)} FROM {table} WHERE ns = ? AND state = 0 "
            f"ORDER BY revision"
            for names in (_LOADED, bare)
        )
        self.changed = (
            f"SELECT {columns} FROM {table} r WHERE r.ns = ? AND r.revision > ? "
            f"ORDER BY r.revision"
        )
        self.space = (
            f"SELECT id, revision, items, active, stubs, floor, last FROM {spaces} "
            f"WHERE path = ?"
        )
        self.new_space = f"INSERT INTO {spaces} (path) VALUES (?)"
        self.save_space = (
            f"UPDATE {spaces} SET revision = ?, items = ?, active = ?, stubs = ?, "
            f"floor = ?, last = ? WHERE id = ?"
        )
        self.upsert = (
            f"INSERT INTO {table} (ns, {', '.join(COLUMNS)}) VALUES ({marks}) "
            f"ON CONFLICT (ns, key) DO UPDATE SET {changes}"
        )
        self.drop_stubs = f"DELETE FROM {table} WHERE ns = ? AND state = 2"
        self.drop_rows = f"DELETE FROM {table} WHERE ns = ?"
        self.drop_space = f"DELETE FROM {spaces} WHERE id = ?"
        self.touch = (
            f"UPDATE {table} SET expires_at = ? WHERE state = 0 AND "
            f"ns = (SELECT id FROM {spaces} WHERE path = ?) AND key = ?"
        )
        gone_deleted = gone.replace("state = 0", "state = 1")
        self.any_expired = (
            f"SELECT 1 FROM {table} WHERE {gone} "
            f"UNION ALL SELECT 1 FROM {table} WHERE {gone_deleted} LIMIT 1"
        )
        # One select for each state: every one has a partial index of its own.
        self.expired = " UNION ALL ".join(
            f"SELECT n.path, {content} {joined} WHERE r.state = {state} "
            f"AND r.expires_at IS NOT NULL AND r.expires_at <= ?"
            for state in (0, 1)
        )
        self.expired_in = (
            f"SELECT {content} FROM {table} r WHERE r.ns = ? AND r.state = 0 "
            f"AND r.expires_at IS NOT NULL AND r.expires_at <= ?"
        )
        self.purgeable = (
            f"SELECT n.path, {content} {joined} WHERE r.state = 1 "
            f"AND r.deleted_at < ? "
            f"AND (? OR n.path = ? OR (n.path >= ? AND n.path < ?))"
        )
        self.totals = f"SELECT count(*), sum(items) FROM {spaces} WHERE items > 0"

    def read(self, count: int) -> str:
        marks = ", ".join("?" * count)
        return (
            f"SELECT {self._columns} {self._joined} "
            f"WHERE n.path = ? AND r.key IN ({marks})"
        )

    def priors(self, count: int) -> str:
        marks = ", ".join("?" * count)
        return (
            f"SELECT key, revision, state, flags, created_at, expires_at "
            f"FROM {self._table} WHERE ns = ? AND key IN ({marks})"
        )

    def page(self, page: Page) -> str:
        state = 1 if page.tombstones else 0
        compare, order = (">", "ASC") if page.oldest_first else ("<", "DESC")
        listed = "AND r.flags & 1 " if page.listed else ""
        return (
            f"SELECT {self._content} {self._joined} WHERE n.path = ? "
            f"AND r.state = {state} AND r.updated_at {compare} ? "
            f"AND (r.expires_at IS NULL OR r.expires_at > ?) {listed}"
            f"ORDER BY r.updated_at {order} LIMIT ?"
        )


def path_of(namespace: Namespace) -> str:
    """Return the text under which a namespace is filed."""
    return _SEPARATOR.join(namespace)


def namespace_of(path: str) -> Namespace:
    """Undo `path_of`."""
    return tuple(path.split(_SEPARATOR))


def _count(space: _Space, state: int | None, flags: int, sign: int) -> None:
    if state == RecordState.ACTIVE:
        space.items += sign
        if flags & RecordFlags.LISTED:
            space.active += sign
    elif state == RecordState.STUB:
        space.stubs += sign


def _chunks(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        yield keys[start : start + _KEYS_AT_ONCE]


def _row(space_id: int, record: Record) -> tuple[Any, ...]:
    return (
        space_id,
        record.key,
        record.revision,
        int(record.state),
        int(record.flags),
        record.created_at,
        record.updated_at,
        record.deleted_at,
        record.expires_at,
        record.ttl,
        record.embedder,
        record.value,
        record.meta,
        record.tokens,
        None if record.vectors is None else pack_vectors(record.vectors),
    )


def _record(namespace: Namespace, row: Sequence[Any]) -> Record:
    key, revision, state, flags, created, updated, deleted, expires, ttl = row[:9]
    full = len(row) > _CONTENT
    return Record(
        namespace,
        key,
        row[10],
        row[11],
        created,
        updated,
        deleted,
        expires,
        ttl,
        revision,
        _STATES[state],
        flags,
        row[12] if full else None,
        unpack_vectors(row[13]) if full and row[13] is not None else None,
        row[9],
    )


class _Loaded:
    """What records of a namespace are made of, column by column."""

    __slots__ = ("_columns", "_namespace", "_values")

    def __init__(self, namespace: Namespace, columns: Sequence[Sequence[Any]]) -> None:
        *columns, values, metas = columns
        self._namespace = namespace
        self._columns = columns
        self._values = list(values), list(metas)

    def record(self, at: int) -> Record:
        """Make the record at a position, once: only it knows its value from then on."""
        keys, revisions, flags, created, updated, expiries, ttls, makers = self._columns
        values, metas = self._values
        value, values[at] = values[at], None
        meta, metas[at] = metas[at], None
        return Record(
            self._namespace,
            keys[at],
            value,
            meta,
            created[at],
            updated[at],
            None,
            expiries[at],
            ttls[at],
            revisions[at],
            RecordState.ACTIVE,
            flags[at],
            embedder=makers[at],
        )


_STATES: Final = tuple(RecordState)
