"""Store tests of langgraph-checkpoint-sqlite, run against our backends."""

from types import SimpleNamespace

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint-sqlite", "test_store.py")
upstream = load(SUITE)


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    def create(
        embeddings,
        text_fields=None,
        distance_type="cosine",
        conn_type="memory",
    ):
        index = {
            "dims": embeddings.dims,
            "embed": embeddings,
            "distance_type": distance_type,
        }
        if text_fields:
            index["fields"] = text_fields
        return target.open(index=index)

    def from_conn_string(conn_string):
        return target.open()

    monkeypatch.setattr(upstream, "create_vector_store", create)
    monkeypatch.setattr(
        upstream, "SqliteStore", SimpleNamespace(from_conn_string=from_conn_string)
    )


@pytest.fixture
def fake_embeddings():
    return upstream.CharacterEmbeddings(dims=500)


@pytest.fixture
def store(target):
    with target.open() as store:
        yield store


globals().update(expose(upstream, SUITE))
