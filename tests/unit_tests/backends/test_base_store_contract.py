"""The contract of backends, kept on top of LangGraph's own stores."""

import asyncio
import sqlite3
import threading

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from langchain_agentmemory.backends.base_store import BaseStoreBackend
from langchain_agentmemory.testing import backend_contract


class Elsewhere:
    """An event loop in another thread, as a server has one, with stores in it."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.opened = []

    def run(self, call):
        return asyncio.run_coroutine_threadsafe(call, self.loop).result()

    def store(self):
        manager = AsyncSqliteStore.from_conn_string(":memory:")
        store = self.run(manager.__aenter__())
        self.opened.append(manager)
        self.run(store.setup())
        return store

    def close(self):
        for manager in self.opened:
            self.run(manager.__aexit__(None, None, None))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


elsewhere = None
connections = []


@pytest.fixture(autouse=True)
def opened():
    global elsewhere  # noqa: PLW0603 - the kit calls plain functions
    elsewhere = Elsewhere()
    yield
    elsewhere.close()
    while connections:
        connections.pop().close()


def sqlite_store():
    connection = sqlite3.connect(
        ":memory:", check_same_thread=False, isolation_level=None
    )
    connections.append(connection)
    store = SqliteStore(connection)
    store.setup()
    return store


test_in_memory_store = backend_contract(
    lambda folder, clock: BaseStoreBackend(InMemoryStore(), clock=clock)
)
test_sqlite_store = backend_contract(
    lambda folder, clock: BaseStoreBackend(sqlite_store(), clock=clock)
)
test_async_sqlite_store = backend_contract(
    lambda folder, clock: BaseStoreBackend(elsewhere.store(), clock=clock)
)
