"""Expiry: renewing and sweeping."""

from langchain_agentmemory.backends.base import Batch, Page, RecordState
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


@needs(Requirement.GIVEN_CLOCK)
def touching_prolongs_a_life(harness: Harness) -> None:
    """`touch` sets `expires_at`, and the record lives until then."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until), record("b", expires_at=until))
    harness.backend.touch(ANN, {"a": until + MINUTE})
    harness.clock.step(MINUTE)
    assert shown(harness.backend) == ["a"]
    harness.clock.step(MINUTE)
    assert shown(harness.backend) == []


@needs(Requirement.GIVEN_CLOCK)
def touching_is_no_change_of_content(harness: Harness) -> None:
    """`touch` leaves revision, times and order alone."""
    until = harness.clock() + MINUTE
    (given, _) = put(harness.backend, record("a", expires_at=until), record("b"))
    written = given.updated_at
    harness.clock.step(1)
    harness.backend.touch(ANN, {"a": until + MINUTE})
    assert revision(harness.backend) == 2  # noqa: PLR2004 - two writes
    found = find(harness.backend, "a")
    assert (found.updated_at, found.expires_at) == (written, until + MINUTE)
    assert shown(harness.backend) == ["b", "a"]


def touching_what_is_not_active_does_nothing(harness: Harness) -> None:
    """`touch` passes over tombstones, stubs, unknown keys and unknown namespaces."""
    put(harness.backend, record("a"), record("b"))
    harness.backend.commit(Batch([tombstone("a", 5), stub("b")]))
    harness.backend.touch(ANN, {"a": 9, "b": 9, "?": 9})
    harness.backend.touch(("nowhere",), {"a": 9})
    assert find(harness.backend, "a").expires_at is None
    assert harness.backend.read(ANN, ["?"]) == [None]
    assert shown(harness.backend) == []


@needs(Requirement.GIVEN_CLOCK)
def sweeping_removes_what_expired(harness: Harness) -> None:
    """`sweep` turns expired records of all namespaces into stubs and counts them."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until), record("b"))
    put(harness.backend, record("c", BEN, expires_at=until))
    put(harness.backend, record("d", BEN, expires_at=until + 1))
    assert harness.backend.sweep() == 0
    harness.clock.step(MINUTE)
    assert harness.backend.sweep() == 2  # noqa: PLR2004 - a and c
    assert harness.backend.sweep() == 0
    assert find(harness.backend, "a").state is RecordState.STUB
    assert find(harness.backend, "c", BEN).state is RecordState.STUB
    assert (shown(harness.backend), shown(harness.backend, BEN)) == (["b"], ["d"])


@needs(Requirement.GIVEN_CLOCK)
def what_was_swept_stays_gone(harness: Harness) -> None:
    """A swept record does not come back when the clock steps back."""
    put(harness.backend, record("a", expires_at=harness.clock() + MINUTE))
    harness.clock.step(MINUTE)
    harness.backend.sweep()
    harness.clock.step(-MINUTE)
    assert shown(harness.backend) == []


@needs(Requirement.GIVEN_CLOCK)
def tombstones_expire_too(harness: Harness) -> None:
    """What was deleted is not kept longer than what was not."""
    write = tombstone("a", harness.clock())
    write.record.expires_at = harness.clock() + MINUTE
    harness.backend.commit(Batch([write]))
    harness.clock.step(2 * MINUTE)
    assert harness.backend.page(Page(ANN, None, tombstones=True)) == []
    assert harness.backend.sweep() == 1
    (left,) = harness.backend.read(ANN, ["a"])
    assert left is None or left.state is RecordState.STUB


@needs(Requirement.GIVEN_CLOCK)
def counts_survive_a_sweep(harness: Harness) -> None:
    """After a sweep the head counts exactly what is left."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until), record("b"), record("c"))
    harness.clock.step(MINUTE)
    harness.backend.sweep()
    put(harness.backend, record("d"))
    head = harness.backend.head(ANN)
    assert head is not None
    assert (head.items, head.active) == (3, 3)
