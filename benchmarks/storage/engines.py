"""The contestants, opened."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore

from benchmarks.storage.corpus import HashEmbedder
from benchmarks.storage.matrix import Contestant

NO_EXTENSIONS = "the sqlite3 of this Python cannot load extensions"


def obstacle(contestant: Contestant, dims: int) -> str | None:
    """Return why a contestant cannot run here, `None` if it can.

    `SqliteStore` compares vectors with sqlite-vec, an extension.
    """
    if not contestant.startswith("SqliteStore") or not dims:
        return None
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        return NO_EXTENSIONS
    return None


@contextmanager
def open_store(
    contestant: Contestant, folder: Path, embedder: HashEmbedder | None, dims: int
) -> Iterator[BaseStore]:
    """Open a store, and close it afterwards.

    Each has its own defaults. Ours gets a limit that is checked at every write and is
    never reached.

    Args:
        contestant: Which one.
        folder: Where files go.
        embedder: What makes vectors, `None` for none.
        dims: Their length.
    """
    index: dict[str, Any] | None = None
    if embedder is not None:
        index = {"embed": embedder, "dims": dims, "fields": ["memory"]}
    if contestant == "InMemoryStore":
        from langgraph.store.memory import InMemoryStore  # noqa: PLC0415

        yield InMemoryStore(index=index)  # type: ignore[arg-type]
    elif contestant.startswith("SqliteStore"):
        with _sqlite_store(contestant, folder, index) as store:
            yield store
    else:
        with _ours(contestant, folder, index) as store:
            yield store


@contextmanager
def _sqlite_store(
    contestant: Contestant, folder: Path, index: dict[str, Any] | None
) -> Iterator[BaseStore]:
    from langgraph.store.sqlite import SqliteStore  # noqa: PLC0415

    path = str(folder / "store.db")
    if index is not None:
        index = {**index, "text_fields": index["fields"]}  # its name for `fields`
    with SqliteStore.from_conn_string(path, index=index) as store:  # type: ignore[arg-type]
        if contestant == "SqliteStore-wal":
            store.conn.execute("PRAGMA journal_mode=WAL")
            store.conn.execute("PRAGMA synchronous=NORMAL")
        store.setup()
        yield store


@contextmanager
def _ours(
    contestant: Contestant, folder: Path, index: dict[str, Any] | None
) -> Iterator[BaseStore]:
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415

    url = "memory://"
    if contestant != "ours-memory":
        options = "?synchronous=FULL" if contestant == "ours-sqlite-full" else ""
        url = f"sqlite:///{folder / 'store.db'}{options}"
    with MemoryStore.from_url(url, index=index, memory_limit=10_000_000) as store:
        yield store
