"""An offline model on a fixed day, and a store for it to remember in."""

from datetime import date

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.offline import OfflineChatModel


@pytest.fixture
def model():
    return OfflineChatModel(today=date(2024, 5, 10))  # a Friday


@pytest.fixture
def store():
    with MemoryStore(soft_delete=True) as opened:
        yield opened


@pytest.fixture
def tools(store):
    return store.tools("anna", enable=("memory_delete",))
