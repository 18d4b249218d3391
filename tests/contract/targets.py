"""What the upstream tests run against: our backends, or the stores langgraph ships.

Running against the shipped stores (`CONTRACT_PEERS=1`) shows that the loader changes
nothing: InMemoryStore passes 207 and SqliteStore 263 of the 278 items.
"""

import asyncio
import itertools
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.store import MemoryStore


class AwaitedUpkeep:
    """A store whose upkeep is awaited, as upstream's async tests do.

    Ours has one object for both worlds, whose `setup` and sweeping are plain calls.
    """

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def setup(self) -> None:
        await asyncio.to_thread(self._store.setup)

    async def sweep_ttl(self) -> int:
        return await asyncio.to_thread(self._store.sweep_ttl)

    async def start_ttl_sweeper(self, *args: Any) -> Any:
        return await asyncio.to_thread(self._store.start_ttl_sweeper, *args)

    async def stop_ttl_sweeper(self, *args: Any) -> Any:
        return await asyncio.to_thread(self._store.stop_ttl_sweeper, *args)


class Target:
    """One store implementation, opened as each upstream file opens its own.

    Args:
        name: As it appears in test ids and in the report.
        folder: An empty folder of this test.
    """

    waives = True

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._numbers = itertools.count()

    def new_file(self) -> Path:
        return self._folder / f"{next(self._numbers)}.db"

    def open(self, **options: Any) -> Any:
        """Return a context manager that yields a store."""
        raise NotImplementedError

    def store_class(self) -> Callable[..., BaseStore]:
        """Return a class that takes the options of `InMemoryStore`."""
        raise NotImplementedError

    @asynccontextmanager
    async def aopen(self, **options: Any) -> AsyncIterator[AwaitedUpkeep]:
        async with self.open(**options) as store:
            yield AwaitedUpkeep(store)


class MemoryTarget(Target):
    """Our store on the in-memory backend."""

    def open(self, **options: Any) -> MemoryStore:
        return MemoryStore(**options)

    def store_class(self) -> type[MemoryStore]:
        # A class of its own: upstream spies on its methods.
        return type("InMemoryStore", (MemoryStore,), {})


class SqliteTarget(Target):
    """Our store on the SQLite backend."""

    def open(self, **options: Any) -> MemoryStore:
        return MemoryStore.from_url(f"sqlite:///{self.new_file()}", **options)

    def store_class(self) -> type[MemoryStore]:
        new_file = self.new_file

        class SqliteBacked(MemoryStore):
            def __init__(self, **options: Any) -> None:
                super().__init__(SQLiteBackend(new_file()), **options)

        return SqliteBacked


class InMemoryPeer(Target):
    """LangGraph's InMemoryStore, to check the loader with."""

    waives = False

    @contextmanager
    def open(self, *, ttl: Any = None, **options: Any) -> Iterator[InMemoryStore]:
        del ttl  # it has none, so what depends on it fails
        yield InMemoryStore(**options)

    @asynccontextmanager
    async def aopen(self, **options: Any) -> AsyncIterator[AwaitedUpkeep]:
        with self.open(**options) as store:
            yield AwaitedUpkeep(store)

    def store_class(self) -> type[InMemoryStore]:
        return InMemoryStore


class SqlitePeer(Target):
    """LangGraph's SqliteStore and AsyncSqliteStore, to check the loader with."""

    waives = False

    @staticmethod
    def _translated(options: dict[str, Any]) -> dict[str, Any]:
        # It reads the indexed fields under a name of its own.
        if index := options.get("index"):
            options = {
                **options,
                "index": {**index, "text_fields": index.get("fields")},
            }
        return options

    @contextmanager
    def open(self, **options: Any) -> Iterator[SqliteStore]:
        options = self._translated(options)
        with SqliteStore.from_conn_string(str(self.new_file()), **options) as store:
            store.setup()
            yield store

    @asynccontextmanager
    async def aopen(self, **options: Any) -> AsyncIterator[AsyncSqliteStore]:
        options = self._translated(options)
        file = str(self.new_file())
        async with AsyncSqliteStore.from_conn_string(file, **options) as store:
            await store.setup()
            yield store

    def store_class(self) -> type[SqliteStore]:
        class PlainSqlite(SqliteStore):
            def __init__(self, *, index: Any = None) -> None:
                if index:
                    index = {**index, "text_fields": index.get("fields")}
                connection = sqlite3.connect(
                    ":memory:", check_same_thread=False, isolation_level=None
                )
                super().__init__(connection, index=index)
                self.setup()

            async def abatch(self, ops: Any) -> Any:
                return await asyncio.to_thread(self.batch, ops)

        return PlainSqlite


PEERS = {"InMemoryStore": InMemoryPeer, "SqliteStore": SqlitePeer}
OURS = {"memory": MemoryTarget, "sqlite": SqliteTarget}
TARGETS: dict[str, type[Target]] = PEERS if os.environ.get("CONTRACT_PEERS") else OURS
