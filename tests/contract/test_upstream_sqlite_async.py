"""Async store tests of langgraph-checkpoint-sqlite, run against our backends."""

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint-sqlite", "test_async_store.py")
upstream = load(SUITE)


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    def create(embeddings, conn_string=":memory:", text_fields=None):
        index = {"dims": embeddings.dims, "embed": embeddings}
        if text_fields:
            index["fields"] = text_fields
        return target.aopen(index=index)

    monkeypatch.setattr(upstream, "create_vector_store", create)


@pytest.fixture
def fake_embeddings():
    return upstream.CharacterEmbeddings(dims=500)


@pytest.fixture
def conn_string():
    return ":memory:"


@pytest.fixture
async def store(target):
    async with target.aopen() as store:
        yield store


globals().update(expose(upstream, SUITE))
