"""TTL tests of langgraph-checkpoint-sqlite, run against our backends.

The file opens `SqliteStore`, whose reads do not prolong unless `refresh_on_read` says
so. LangGraph documents the opposite default, which is ours; where a test leaves the
option out, it is therefore set to what the test was written for.
"""

from types import SimpleNamespace

import pytest

from tests.contract.classification import Suite
from tests.contract.upstream import expose, load

SUITE = Suite("langgraph-checkpoint-sqlite", "test_ttl.py")
upstream = load(SUITE)


def _as_written_for(ttl):
    return None if ttl is None else {"refresh_on_read": False, **ttl}


@pytest.fixture(autouse=True)
def _swap(target, monkeypatch):
    def from_conn_string(conn_string, *, ttl=None):
        return target.open(ttl=_as_written_for(ttl))

    def afrom_conn_string(conn_string, *, ttl=None):
        return target.aopen(ttl=_as_written_for(ttl))

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
