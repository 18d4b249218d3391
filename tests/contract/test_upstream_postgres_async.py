"""Async store tests of langgraph-checkpoint-postgres, run against our backends."""

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint-postgres", "test_async_store.py")
upstream = load(SUITE)


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    def create(vector_type, distance, embeddings, text_fields=None):
        index = {
            "dims": embeddings.dims,
            "embed": embeddings,
            "distance_type": distance,
        }
        if text_fields:
            index["fields"] = text_fields
        return target.aopen(index=index)

    monkeypatch.setattr(upstream, "_create_vector_store", create)


@pytest.fixture
def fake_embeddings():
    return upstream.CharacterEmbeddings(dims=500)


@pytest.fixture
async def store(target):
    ttl = {
        "default_ttl": upstream.TTL_MINUTES,
        "refresh_on_read": True,
        "sweep_interval_minutes": upstream.TTL_MINUTES / 2,
    }
    async with target.aopen(ttl=ttl) as store:
        if store.supports_ttl:
            await store.start_ttl_sweeper()
        yield store
        if store.supports_ttl:
            await store.stop_ttl_sweeper()


@pytest.fixture
async def vector_store(fake_embeddings, _swap):
    create = upstream._create_vector_store
    async with create("vector", "cosine", fake_embeddings) as store:
        yield store


globals().update(expose(upstream, SUITE))
