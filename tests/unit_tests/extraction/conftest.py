"""Automatic memory is tested on our engines, and on top of a plain LangGraph store."""

import pytest
from langgraph.store.memory import InMemoryStore

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.store import as_memory_store
from tests.conftest import ENGINES


@pytest.fixture(params=[*ENGINES, "wrapped"])
def engine(request):
    """The name of an engine; a test that asks for it runs on each."""
    return request.param


@pytest.fixture
def make_store(engine, tmp_path):
    """Open stores on the engine under test, and close them afterwards."""
    opened, below = [], {}

    def make(name="store", **options):
        if engine == "wrapped":
            options.setdefault("app_name", "default")
            store = as_memory_store(below.setdefault(name, InMemoryStore()), **options)
            store.setup()
        else:
            store = MemoryStore.from_url(ENGINES[engine](tmp_path, name), **options)
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()
