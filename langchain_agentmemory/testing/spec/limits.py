"""Limits: exact, decided from listed active records, expired ones making room."""

from collections.abc import Mapping

from langchain_agentmemory.backends.base import (
    Batch,
    LimitReached,
    Namespace,
    RecordFlags,
    RecordState,
    Write,
)
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


def _refusal(
    harness: Harness, writes: list[Write], limits: Mapping[Namespace, int]
) -> LimitReached | None:
    try:
        harness.backend.commit(Batch(writes, limits))
    except LimitReached as reached:
        return reached
    return None


def a_batch_over_the_limit_writes_nothing(harness: Harness) -> None:
    """A batch that would exceed the limit is refused as a whole and leaves no trace."""
    put(harness.backend, record("a"), record("b"))
    writes = [Write(record("c")), Write(record("d"))]
    assert _refusal(harness, writes, {ANN: 3}) is not None
    assert shown(harness.backend) == ["b", "a"]
    assert harness.backend.read(ANN, ["c", "d"]) == [None, None]
    assert revision(harness.backend) == 2  # noqa: PLR2004 - two writes


def a_refusal_says_how_many_are_too_many(harness: Harness) -> None:
    """`LimitReached` carries the namespace, its present count and the excess."""
    put(harness.backend, record("a"), record("b"))
    writes = [Write(record("c")), Write(record("d"))]
    reached = _refusal(harness, writes, {ANN: 3})
    assert reached is not None
    assert (reached.namespace, reached.active, reached.excess) == (ANN, 2, 1)


def a_batch_may_fill_the_limit(harness: Harness) -> None:
    """A batch may bring a namespace exactly to its limit, a new one included."""
    assert _refusal(harness, [Write(record("a")), Write(record("b"))], {ANN: 2}) is None
    assert _refusal(harness, [Write(record("c"))], {ANN: 2}) is not None


def a_limit_of_nothing_refuses_the_first(harness: Harness) -> None:
    """A limit of 0 refuses the first record, and no namespace comes into being."""
    assert _refusal(harness, [Write(record("a"))], {ANN: 0}) is not None
    assert harness.backend.head(ANN) is None or revision(harness.backend) == 0
    assert harness.backend.heads(()) == []


def rewriting_at_the_limit_is_allowed(harness: Harness) -> None:
    """A batch that does not add to a namespace passes, at or above its limit."""
    put(harness.backend, record("a"), record("b"), record("c"))
    for limit in (3, 2, 0):
        assert _refusal(harness, [Write(record("a"))], {ANN: limit}) is None


def a_batch_may_make_its_own_room(harness: Harness) -> None:
    """What a batch deletes counts against what it adds, in any order."""
    put(harness.backend, record("a"), record("b"))
    now = harness.clock()
    assert _refusal(harness, [Write(record("c")), stub("a")], {ANN: 2}) is None
    swap = [tombstone("b", now), Write(record("d"))]
    assert _refusal(harness, swap, {ANN: 2}) is None
    assert sorted(shown(harness.backend)) == ["c", "d"]


def only_listed_active_records_count(harness: Harness) -> None:
    """Unlisted records, tombstones and stubs take no room."""
    put(harness.backend, record("a"), record("b"), record("x", flags=RecordFlags.NONE))
    harness.backend.commit(Batch([tombstone("a", harness.clock()), stub("b")]))
    assert _refusal(harness, [Write(record("c")), Write(record("d"))], {ANN: 2}) is None
    unlisted = Write(record("y", flags=RecordFlags.UNINDEXED))
    assert _refusal(harness, [unlisted], {ANN: 2}) is None


def reviving_and_listing_count_as_adding(harness: Harness) -> None:
    """A tombstone that returns, and a record that becomes listed, need room."""
    put(harness.backend, record("a"), record("x", flags=RecordFlags.NONE))
    harness.backend.commit(Batch([tombstone("t", harness.clock())]))
    for key in ("t", "x"):
        assert _refusal(harness, [Write(record(key))], {ANN: 1}) is not None
    assert find(harness.backend, "t").state is RecordState.TOMBSTONE


def a_limit_concerns_its_namespace_only(harness: Harness) -> None:
    """Records of other namespaces, also below and beside, do not count."""
    below, beside = (*ANN, "notes"), ("memories", "app", "ann2")
    put(harness.backend, record("a", BEN), record("b", below), record("c", beside))
    assert _refusal(harness, [Write(record("a"))], {ANN: 1, BEN: 1}) is None


@needs(Requirement.ATOMIC_ACROSS_NAMESPACES)
def a_limit_reached_undoes_other_namespaces(harness: Harness) -> None:
    """A limit that is reached in one namespace undoes the writes to all others."""
    for full, other in ((ANN, BEN), (BEN, ANN)):
        writes = [Write(record("x", other)), Write(record("y", full))]
        reached = _refusal(harness, writes, {full: 0, other: 5})
        assert reached is not None
        assert reached.namespace == full
    assert harness.backend.heads(()) == []


@needs(Requirement.GIVEN_CLOCK)
def expired_records_make_room_at_the_limit(harness: Harness) -> None:
    """At the limit, expired records are removed first, and only then is it decided."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until), record("b"))
    assert _refusal(harness, [Write(record("c"))], {ANN: 2}) is not None
    harness.clock.step(MINUTE)
    assert _refusal(harness, [Write(record("c"))], {ANN: 2}) is None
    assert shown(harness.backend) == ["c", "b"]
    assert find(harness.backend, "a").state is RecordState.STUB
    reached = _refusal(harness, [Write(record("d"))], {ANN: 2})
    assert reached is not None
    assert (reached.active, reached.excess) == (2, 1)


@needs(Requirement.GIVEN_CLOCK)
def expired_records_stay_below_the_limit(harness: Harness) -> None:
    """Below the limit a write leaves expired records alone."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until))
    harness.clock.step(MINUTE)
    assert _refusal(harness, [Write(record("b"))], {ANN: 5}) is None
    assert find(harness.backend, "a").state is RecordState.ACTIVE
    assert harness.backend.sweep() == 1


@needs(Requirement.GIVEN_CLOCK)
def an_expired_record_can_be_rewritten_at_the_limit(harness: Harness) -> None:
    """Writing the key of an expired record needs no more room than it had."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until), record("b"))
    harness.clock.step(MINUTE)
    assert _refusal(harness, [Write(record("a"))], {ANN: 2}) is None
    head = harness.backend.head(ANN)
    assert head is not None
    assert head.active == 2  # noqa: PLR2004 - a and b
