"""Durability, and several backends on the same data."""

import numpy as np

from langchain_agentmemory.backends.base import Batch, PreconditionFailed, Write
from langchain_agentmemory.testing.harness import Harness, Requirement
from langchain_agentmemory.testing.needs import needs
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    MINUTE,
    find,
    put,
    record,
    revision,
    shown,
    stub,
    tombstone,
)


@needs(Requirement.DURABLE)
def data_survives_reopening(harness: Harness) -> None:
    """What was acknowledged is there after closing and opening, in every detail."""
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    put(
        harness.backend,
        record("a", meta=b"{}", tokens=b"t", vectors=vectors, embedder=9),
        *(record("b"), record("c"), record("d", BEN)),
    )
    harness.backend.commit(Batch([tombstone("b", 5), stub("c")]))
    before = (harness.backend.head(ANN), harness.backend.head(BEN))
    written = find(harness.backend, "a").updated_at
    backend = harness.reopen()
    assert (backend.head(ANN), backend.head(BEN)) == before
    assert (shown(backend), shown(backend, tombstones=True)) == (["a"], ["b"])
    found = find(backend, "a")
    assert (found.meta, found.tokens, found.embedder) == (b"{}", b"t", 9)
    assert found.updated_at == written
    assert found.vectors is not None
    assert found.vectors.tobytes() == vectors.tobytes()


@needs(Requirement.DURABLE, Requirement.GIVEN_CLOCK)
def stamps_survive_reopening(harness: Harness) -> None:
    """The latest time of a namespace is remembered across reopening."""
    (first,) = put(harness.backend, record("a"))
    latest = first.updated_at
    harness.backend.commit(Batch([stub("a")]))
    harness.clock.step(-MINUTE)
    (second,) = put(harness.reopen(), record("b"))
    assert second.updated_at == latest + 1


@needs(Requirement.DURABLE)
def an_epoch_is_never_given_twice(harness: Harness) -> None:
    """A namespace dropped and made anew around a reopening has another epoch."""
    put(harness.backend, record("a"))
    first = harness.backend.head(ANN)
    harness.backend.drop(ANN)
    put(harness.reopen(), record("a"))
    second = harness.backend.head(ANN)
    assert first is not None
    assert second is not None
    assert first.epoch != second.epoch


@needs(Requirement.VOLATILE)
def a_volatile_backend_starts_empty(harness: Harness) -> None:
    """A backend that is not durable holds nothing after reopening."""
    put(harness.backend, record("a"))
    assert harness.reopen().heads(()) == []


@needs(Requirement.SHARED)
def others_see_what_was_written(harness: Harness) -> None:
    """A second backend on the same data sees each write as soon as it returned."""
    other = harness.another()
    put(harness.backend, record("a"))
    assert shown(other) == ["a"]
    put(other, record("b"))
    assert shown(harness.backend) == ["b", "a"]
    assert revision(harness.backend) == revision(other) == 2  # noqa: PLR2004 - a and b
    harness.backend.drop(ANN)
    assert other.head(ANN) is None


@needs(Requirement.SHARED)
def conditions_hold_between_backends(harness: Harness) -> None:
    """A write that expects what another backend has replaced is refused."""
    other = harness.another()
    put(harness.backend, record("a"))
    other.commit(Batch([Write(record("a"), expect=1)]))
    try:
        harness.backend.commit(Batch([Write(record("a"), expect=1)]))
    except PreconditionFailed:
        return
    msg = "the second writer was not refused"
    raise AssertionError(msg)


@needs(Requirement.SHARED)
def closing_one_leaves_the_other_open(harness: Harness) -> None:
    """A backend can be closed while another works on the same data."""
    other = harness.another()
    put(other, record("a"))
    harness.backend.close()
    put(other, record("b"))
    assert shown(other) == ["b", "a"]
