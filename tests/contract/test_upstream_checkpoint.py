"""Store tests of langgraph-checkpoint, run against our backends."""

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint", "test_store.py")
upstream = load(SUITE)


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    monkeypatch.setattr(upstream, "InMemoryStore", target.store_class())


@pytest.fixture
def fake_embeddings():
    return upstream.CharacterEmbeddings(dims=500)


globals().update(expose(upstream, SUITE))
