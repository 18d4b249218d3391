"""Removal for good: purging tombstones, dropping namespaces."""

from langchain_agentmemory.backends.base import Batch, RecordState, Write
from langchain_agentmemory.testing.harness import Harness
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    find,
    put,
    record,
    revision,
    shown,
    stub,
    tombstone,
)


def purging_removes_old_tombstones(harness: Harness) -> None:
    """`purge` turns tombstones deleted before a time into stubs and counts them."""
    put(harness.backend, record("live"))
    writes = [tombstone("old", 10), tombstone("edge", 20), tombstone("new", 30)]
    harness.backend.commit(Batch(writes))
    assert harness.backend.purge(ANN, 20) == 1
    assert find(harness.backend, "old").state is RecordState.STUB
    assert find(harness.backend, "old").value == b""
    assert shown(harness.backend, tombstones=True) == ["new", "edge"]
    assert shown(harness.backend) == ["live"]
    assert harness.backend.purge(ANN, 31) == 2  # noqa: PLR2004 - edge and new
    assert harness.backend.purge(ANN, 31) == 0


def purging_stays_below_its_prefix(harness: Harness) -> None:
    """`purge` reaches the namespaces at and below a prefix and no others."""
    inside = [("a", "b"), ("a", "b", "c")]
    outside = [("a", "bc"), ("a",), ("a", "b-"), ("a", "B")]
    for namespace in (*inside, *outside):
        harness.backend.commit(Batch([tombstone("k", 1, namespace)]))
    assert harness.backend.purge(("a", "b"), 9) == len(inside)
    assert harness.backend.purge((), 9) == len(outside)


def a_purge_moves_the_revision(harness: Harness) -> None:
    """Each purged tombstone is a write, so that caches notice."""
    harness.backend.commit(Batch([tombstone("a", 1), tombstone("b", 1)]))
    harness.backend.purge((), 9)
    assert revision(harness.backend) == 4  # noqa: PLR2004 - two and two


def dropping_removes_everything(harness: Harness) -> None:
    """`drop` removes a namespace with head and stubs, and says what it held."""
    put(harness.backend, *(record(key) for key in "abcd"))
    harness.backend.commit(Batch([tombstone("b", 1), stub("c"), stub("d")]))
    receipt = harness.backend.drop(ANN)
    assert receipt == {"active": 1, "tombstones": 1, "stubs": 2}
    assert harness.backend.head(ANN) is None
    assert harness.backend.read(ANN, list("abcd")) == [None] * 4
    assert shown(harness.backend) == shown(harness.backend, tombstones=True) == []


def dropping_leaves_other_namespaces(harness: Harness) -> None:
    """`drop` touches neither what lies below nor what lies beside."""
    below = (*ANN, "notes")
    for namespace in (ANN, BEN, below):
        put(harness.backend, record("k", namespace))
    harness.backend.drop(ANN)
    assert [head.namespace for head in harness.backend.heads(())] == [below, BEN]


def dropping_nothing_is_allowed(harness: Harness) -> None:
    """`drop` of an unknown namespace reports zeros and makes none."""
    receipt = {"active": 0, "tombstones": 0, "stubs": 0}
    assert harness.backend.drop(("nowhere",)) == receipt
    assert harness.backend.head(("nowhere",)) is None


def a_dropped_namespace_starts_over(harness: Harness) -> None:
    """After a drop the keys are free and revisions begin again."""
    put(harness.backend, record("a"), record("b"))
    harness.backend.drop(ANN)
    (stored,) = harness.backend.commit(Batch([Write(record("a"), expect=0)]))
    assert stored.revision == 1
