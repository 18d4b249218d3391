"""Store tests of langgraph-checkpoint-postgres, run against our backends."""

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint-postgres", "test_store.py")
upstream = load(SUITE)


def _index(embeddings, *, fields=None, distance="cosine"):
    index = {"dims": embeddings.dims, "embed": embeddings, "distance_type": distance}
    return {**index, "fields": fields} if fields else index


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    def create(vector_type, distance, embeddings, text_fields=None, enable_ttl=True):  # noqa: FBT002 - upstream's signature
        return target.open(
            index=_index(embeddings, fields=text_fields, distance=distance),
            ttl={"default_ttl": 2, "refresh_on_read": True} if enable_ttl else None,
        )

    monkeypatch.setattr(upstream, "_create_vector_store", create)


@pytest.fixture
def fake_embeddings():
    return upstream.CharacterEmbeddings(dims=500)


@pytest.fixture
def store(target):
    ttl = {
        "default_ttl": upstream.TTL_MINUTES,
        "refresh_on_read": True,
        "sweep_interval_minutes": upstream.TTL_MINUTES / 2,
    }
    with target.open(ttl=ttl) as store:
        if store.supports_ttl:
            store.start_ttl_sweeper()
        yield store
        if store.supports_ttl:
            store.stop_ttl_sweeper()


@pytest.fixture
def vector_store(fake_embeddings, _swap):
    with upstream._create_vector_store("vector", "cosine", fake_embeddings) as store:
        yield store


globals().update(expose(upstream, SUITE))
