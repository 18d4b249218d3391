"""The SQLite schema: statements, versions, the checks when a file is opened."""

import re
import sqlite3
from typing import Final

from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.quoting import quoted

DEFAULT_TABLE: Final = "memories"

# Blobs come last, so that reading the columns before them never touches their pages.
COLUMNS: Final = (
    "key",
    "revision",
    "state",
    "flags",
    "created_at",
    "updated_at",
    "deleted_at",
    "expires_at",
    "ttl",
    "embedder",
    "value",
    "meta",
    "tokens",
    "vectors",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (  # 1: namespaces and records
        """
        CREATE TABLE {t}_namespaces (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            path TEXT NOT NULL UNIQUE,
            revision INTEGER NOT NULL DEFAULT 0,
            items INTEGER NOT NULL DEFAULT 0,
            active INTEGER NOT NULL DEFAULT 0,
            stubs INTEGER NOT NULL DEFAULT 0,
            floor INTEGER NOT NULL DEFAULT 0,
            last INTEGER NOT NULL DEFAULT 0
        )
        """,
        """
        CREATE TABLE "{t}" (
            id INTEGER PRIMARY KEY,
            ns INTEGER NOT NULL,
            key TEXT NOT NULL,
            revision INTEGER NOT NULL,
            state INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            deleted_at INTEGER,
            expires_at INTEGER,
            ttl INTEGER,
            embedder INTEGER NOT NULL,
            value BLOB NOT NULL,
            meta BLOB,
            tokens BLOB,
            vectors BLOB
        )
        """,
        'CREATE UNIQUE INDEX {t}_key ON "{t}" (ns, key)',
        'CREATE INDEX {t}_revision ON "{t}" (ns, revision)',
        'CREATE INDEX {t}_updated ON "{t}" (ns, updated_at) WHERE state = 0',
        """
        CREATE INDEX {t}_expiry ON "{t}" (expires_at, ns, flags)
        WHERE state = 0 AND expires_at IS NOT NULL
        """,
    ),
    (  # 2: the outbox of automatic extraction, one mailbox per user
        """
        CREATE TABLE {t}_outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            mailbox TEXT NOT NULL,
            thread TEXT,
            state INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            lease_until INTEGER,
            fence INTEGER NOT NULL DEFAULT 0,
            error TEXT,
            payload BLOB NOT NULL
        )
        """,
        "CREATE INDEX {t}_outbox_due ON {t}_outbox (state, due_at)",
        "CREATE INDEX {t}_outbox_mailbox ON {t}_outbox (mailbox, id)",
    ),
    (  # 3: what was deleted softly expires too
        """
        CREATE INDEX {t}_deleted_expiry ON "{t}" (expires_at)
        WHERE state = 1 AND expires_at IS NOT NULL
        """,
    ),
    (  # 4: the outbox is made of records; which mailboxes hold something is found fast
        "DROP TABLE {t}_outbox",
        """
        CREATE UNIQUE INDEX {t}_namespaces_filled ON {t}_namespaces (path)
        WHERE items > 0
        """,
    ),
)
"""Statements that lead from each schema version to the next. Only ever appended to."""

_SHOWN_NAMES: Final = 5

_COMPANIONS: Final = ("_namespaces", "_outbox", "_meta")

_TABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")


def check_table_name(table: str) -> str:
    """Return a table name that is safe to put into a statement.

    Raises:
        InvalidInput: If it is anything but letters, digits and underscores, starts
            with a digit or with `sqlite_`, or has more than 48 characters.
    """
    if (
        not isinstance(table, str)
        or not _TABLE_NAME.fullmatch(table)
        or table.lower().startswith("sqlite_")
    ):
        msg = (
            f"{quoted(table)} cannot be a table name: use 1 to 48 ASCII letters, "
            f"digits and "
            f"underscores, not starting with a digit or with sqlite_."
        )
        raise InvalidInput(msg)
    return table


def schema_version(connection: sqlite3.Connection, table: str, place: str) -> int:
    """Return the schema version found in a database, 0 for none.

    Raises:
        BackendUnavailable: If tables of these names exist but are not ours, if they are
            ours but damaged, or come from a newer version of this package.
    """
    tables = {
        name.lower(): columns
        for name, columns in connection.execute(_TABLES).fetchall()
    }
    meta = f"{table}_meta".lower()
    if meta not in tables:
        taken = tables.keys() & {
            f"{table}{end}".lower() for end in ("", "_namespaces", "_outbox")
        }
        if taken:
            raise BackendUnavailable(_foreign(place, min(taken)))
        return 0
    if tables[meta] != "key,value":
        raise BackendUnavailable(_foreign(place, meta))
    # What SQLite says about a damaged file is no sign that the table is somebody
    # else's: it goes up as it is, and is explained there.
    row = connection.execute(
        f"SELECT value FROM {meta} WHERE key = 'schema'"
    ).fetchone()
    try:
        version = int(row[0]) if row else 0
    except (TypeError, ValueError):
        raise BackendUnavailable(_foreign(place, meta)) from None
    if version > len(MIGRATIONS):
        msg = (
            f"{place} was written by a newer langchain-agentmemory (schema {version}, "
            f"this one knows {len(MIGRATIONS)}). It was left untouched: upgrade the "
            f"package."
        )
        raise BackendUnavailable(msg)
    if version and table.lower() not in tables:
        msg = (
            f"{place} is damaged: it lost its table {table!r}. Nothing was written: "
            f"restore a backup."
        )
        raise BackendUnavailable(msg)
    return version


_TABLES: Final = """
SELECT m.name, (SELECT group_concat(c.name) FROM pragma_table_info(m.name) c)
FROM sqlite_master m WHERE m.type IN ('table', 'view')
"""


def _foreign(place: str, table: str) -> str:
    return (
        f"{place} has a table {table!r} that this package did not make. It was left "
        f"untouched: choose another file, or another table name with table=…."
    )


def other_tables(connection: sqlite3.Connection, table: str) -> str:
    """Name the tables of a file that are none of this store's, `""` for none."""
    ours = {f"{table}{end}".lower() for end in ("", *_COMPANIONS)}
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"
    )
    found = sorted(name for (name,) in names if name.lower() not in ours)
    shown = ", ".join(quoted(name) for name in found[:_SHOWN_NAMES])
    left = len(found) - _SHOWN_NAMES
    return f"{shown} and {left} more" if left > 0 else shown


def statements(table: str, version: int) -> list[str]:
    """Return the statements that lead from a schema version to the newest."""
    meta = f"{table}_meta"
    pending = [
        statement.format(t=table).strip()
        for migration in MIGRATIONS[version:]
        for statement in migration
    ]
    if not pending:
        return []
    make_meta = (
        f"CREATE TABLE IF NOT EXISTS {meta} (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
    )
    set_version = (
        f"INSERT INTO {meta} (key, value) VALUES ('schema', '{len(MIGRATIONS)}') "
        f"ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    )
    return [make_meta, *pending, set_version]
