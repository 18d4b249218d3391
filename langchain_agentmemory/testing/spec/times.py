"""Times: stamps that only grow, and creation times that survive."""

from langchain_agentmemory.backends.base import Batch, Write
from langchain_agentmemory.testing.harness import Harness, Requirement
from langchain_agentmemory.testing.needs import needs
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    MINUTE,
    find,
    put,
    record,
    shown,
    stub,
    tombstone,
)


def stamps_are_unique_and_growing(harness: Harness) -> None:
    """Stamped writes of a namespace have strictly later times, also in one batch."""
    stored = [
        *put(harness.backend, record("a"), record("b"), record("c")),
        *put(harness.backend, record("d")),
    ]
    times = [given.updated_at for given in stored]
    assert times == sorted(set(times))
    head = harness.backend.head(ANN)
    assert head is not None
    assert head.last == times[-1]


@needs(Requirement.GIVEN_CLOCK)
def a_stamp_is_the_time_of_the_write(harness: Harness) -> None:
    """A write is stamped with the clock's time while the clock moves on."""
    put(harness.backend, record("a"))
    harness.clock.step(MINUTE)
    (stored,) = put(harness.backend, record("b"))
    assert stored.updated_at == harness.clock()


@needs(Requirement.GIVEN_CLOCK)
def stamps_survive_a_clock_that_steps_back(harness: Harness) -> None:
    """After the clock stepped back, stamps go on from the latest one, 1 µs each."""
    (first,) = put(harness.backend, record("a"))
    latest = first.updated_at
    harness.clock.step(-60 * MINUTE)
    stored = put(harness.backend, record("b"), record("c"))
    assert [r.updated_at for r in stored] == [latest + 1, latest + 2]
    assert shown(harness.backend) == ["c", "b", "a"]


@needs(Requirement.GIVEN_CLOCK)
def stamps_survive_the_deletion_of_the_newest(harness: Harness) -> None:
    """The latest time of a namespace is remembered when its record is gone."""
    (first,) = put(harness.backend, record("a"))
    latest = first.updated_at
    harness.backend.commit(Batch([stub("a")]))
    harness.clock.step(-MINUTE)
    (second,) = put(harness.backend, record("b"))
    assert second.updated_at == latest + 1


@needs(Requirement.GIVEN_CLOCK)
def namespaces_are_stamped_independently(harness: Harness) -> None:
    """A namespace written in the future does not push the stamps of another."""
    harness.clock.step(MINUTE)
    put(harness.backend, record("a"))
    harness.clock.step(-MINUTE)
    (stored,) = put(harness.backend, record("a", BEN))
    assert stored.updated_at == harness.clock()


def an_unstamped_write_keeps_its_time(harness: Harness) -> None:
    """Without a stamp, `updated_at` is stored as given and the order stays."""
    first, _ = put(harness.backend, record("a"), record("b"))
    given = first.updated_at
    head = harness.backend.head(ANN)
    again = record("a", value=b'{"n":2}', updated_at=given, created_at=given)
    (stored,) = harness.backend.commit(Batch([Write(again, stamp=False)]))
    assert stored.updated_at == given
    assert stored.revision == 3  # noqa: PLR2004 - the third write
    assert find(harness.backend, "a").value == b'{"n":2}'
    assert shown(harness.backend) == ["b", "a"]
    after = harness.backend.head(ANN)
    assert head is not None
    assert after is not None
    assert after.last == head.last


@needs(Requirement.GIVEN_CLOCK)
def creation_time_survives_a_rewrite(harness: Harness) -> None:
    """`created_at=None` keeps the creation time of an active record."""
    (first,) = put(harness.backend, record("a"))
    made = first.created_at
    harness.clock.step(MINUTE)
    (second,) = put(harness.backend, record("a"))
    assert second.created_at == made
    assert second.updated_at > (made or 0)


def a_given_creation_time_is_kept(harness: Harness) -> None:
    """`created_at` of a write is stored as given, whatever was there."""
    put(harness.backend, record("a"))
    put(harness.backend, record("a", created_at=12_345), record("b", created_at=1))
    assert find(harness.backend, "a").created_at == 12_345  # noqa: PLR2004 - as given
    assert find(harness.backend, "b").created_at == 1


@needs(Requirement.GIVEN_CLOCK)
def what_was_deleted_is_created_anew(harness: Harness) -> None:
    """`created_at=None` over a tombstone, a stub or an expired record means now."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a"), record("b"), record("c", expires_at=until))
    harness.backend.commit(Batch([tombstone("a", harness.clock()), stub("b")]))
    harness.clock.step(2 * MINUTE)
    for given in put(harness.backend, record("a"), record("b"), record("c")):
        assert given.created_at == given.updated_at >= harness.clock()
