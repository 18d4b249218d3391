"""TTL tests of langgraph-checkpoint-sqlite, run against our backends."""

from types import SimpleNamespace

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint-sqlite", "test_ttl.py")
upstream = load(SUITE)


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    def from_conn_string(conn_string, *, ttl=None):
        return target.open(ttl=ttl)

    def afrom_conn_string(conn_string, *, ttl=None):
        return target.aopen(ttl=ttl)

    monkeypatch.setattr(
        upstream, "SqliteStore", SimpleNamespace(from_conn_string=from_conn_string)
    )
    monkeypatch.setattr(
        upstream,
        "AsyncSqliteStore",
        SimpleNamespace(from_conn_string=afrom_conn_string),
    )


@pytest.fixture
def temp_db_file():
    return "the target has its own place"


globals().update(expose(upstream, SUITE))
