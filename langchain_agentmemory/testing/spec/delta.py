"""Deltas: how a cache stays up to date, whatever happened meanwhile."""

from langchain_agentmemory.backends.base import Batch, Delta, RecordState, Write
from langchain_agentmemory.testing.harness import Harness, Requirement
from langchain_agentmemory.testing.needs import needs
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    MINUTE,
    keys,
    put,
    record,
    stub,
    tombstone,
)


def _delta(harness: Harness, since: Delta | None = None) -> Delta:
    epoch, revision = (since.head.epoch, since.head.revision) if since else (-1, -1)
    found = harness.backend.delta(ANN, epoch, revision)
    assert found is not None
    return found


def an_unknown_namespace_has_no_delta(harness: Harness) -> None:
    """The delta of a namespace that never existed is `None`."""
    assert harness.backend.delta(("nowhere",), 0, 0) is None


def the_first_delta_is_a_reload(harness: Harness) -> None:
    """A caller that knows nothing gets all active records, and the head."""
    put(harness.backend, record("a"), record("b"), record("c"), record("b", BEN))
    harness.backend.commit(Batch([tombstone("b", 1), stub("c")]))
    first = _delta(harness)
    active = [r.key for r in first.records if r.state is RecordState.ACTIVE]
    assert first.reload
    assert active == keys(first.records) == ["a"]
    assert first.head == harness.backend.head(ANN)


def a_delta_holds_what_changed(harness: Harness) -> None:
    """A delta holds each changed record once, in order of revision, and no other."""
    put(harness.backend, record("a"), record("b"), record("c"), record("d"))
    first = _delta(harness)
    put(harness.backend, record("c", value=b'{"n":3}'), record("e"))
    put(harness.backend, record("a"), record("b", BEN))
    harness.backend.commit(Batch([tombstone("d", 1)]))
    harness.backend.commit(Batch([stub("b")]))
    second = _delta(harness, first)
    assert not second.reload
    assert keys(second.records) == ["c", "e", "a", "d", "b"]
    states = [found.state for found in second.records]
    assert states[:3] == [RecordState.ACTIVE] * 3
    assert states[3:] == [RecordState.TOMBSTONE, RecordState.STUB]
    assert second.records[0].value == b'{"n":3}'
    assert second.head == harness.backend.head(ANN)


def an_unstamped_write_is_in_the_delta(harness: Harness) -> None:
    """A write that keeps its time is a change all the same."""
    (given,) = put(harness.backend, record("a"))
    first = _delta(harness)
    again = record("a", meta=b"{}", updated_at=given.updated_at, created_at=1)
    harness.backend.commit(Batch([Write(again, stamp=False)]))
    second = _delta(harness, first)
    assert [(r.key, r.meta) for r in second.records] == [("a", b"{}")]


def nothing_changed_is_an_empty_delta(harness: Harness) -> None:
    """Without changes the delta is empty and no reload."""
    put(harness.backend, record("a"))
    first = _delta(harness)
    second = _delta(harness, first)
    assert (second.records, second.reload) == ([], False)
    assert second.head == first.head


def active_records_come_whole(harness: Harness) -> None:
    """Deltas carry tokens and metadata of active records, reloads too."""
    first_given = record("a", tokens=b"a-tokens", meta=b'{"m":1}')
    put(harness.backend, first_given)
    first = _delta(harness)
    put(harness.backend, record("b", tokens=b"b-tokens", meta=b'{"m":2}'))
    second = _delta(harness, first)
    carried = [(r.tokens, r.meta) for r in (*first.records, *second.records)]
    assert carried == [(b"a-tokens", b'{"m":1}'), (b"b-tokens", b'{"m":2}')]


def purged_stubs_lead_to_a_reload(harness: Harness) -> None:
    """A caller that missed stubs which are no longer kept gets a reload."""
    put(harness.backend, *(record(f"k{number}") for number in range(3_000)))
    first = _delta(harness)
    gone = [stub(f"k{number}") for number in range(2_990)]
    harness.backend.commit(Batch(gone))
    put(harness.backend, record("new"))
    second = _delta(harness, first)
    cached = {found.key for found in first.records}
    if second.reload:
        cached = {found.key for found in second.records}
    for found in second.records:
        if found.state is RecordState.ACTIVE:
            cached.add(found.key)
        else:
            cached.discard(found.key)
    assert cached == {"new", *(f"k{number}" for number in range(2_990, 3_000))}
    third = _delta(harness, second)
    assert (third.records, third.reload) == ([], False)


def a_namespace_made_anew_is_reloaded(harness: Harness) -> None:
    """After a drop, the new namespace has another epoch, at any revision."""
    put(harness.backend, record("a"), record("b"))
    first = _delta(harness)
    harness.backend.drop(ANN)
    assert harness.backend.delta(ANN, first.head.epoch, first.head.revision) is None
    put(harness.backend, record("c"), record("d"), record("e"))
    second = _delta(harness, first)
    assert second.reload
    assert sorted(str(key) for key in keys(second.records)) == ["c", "d", "e"]
    assert second.head.epoch != first.head.epoch


def a_namespace_emptied_is_no_new_namespace(harness: Harness) -> None:
    """Deleting all records keeps the epoch and the revision."""
    put(harness.backend, record("a"))
    first = _delta(harness)
    harness.backend.commit(Batch([stub("a")]))
    put(harness.backend, record("b"))
    second = _delta(harness, first)
    assert second.head.epoch == first.head.epoch
    assert keys(second.records) == ["a", "b"]


@needs(Requirement.GIVEN_CLOCK)
def sweeping_is_in_the_delta(harness: Harness) -> None:
    """An expired record is in deltas, for the caller to judge; its stub follows."""
    first_until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=first_until), record("b"))
    harness.clock.step(MINUTE)
    first = _delta(harness)
    assert sorted(str(key) for key in keys(first.records)) == ["a", "b"]
    harness.backend.sweep()
    second = _delta(harness, first)
    assert [(r.key, r.state) for r in second.records] == [("a", RecordState.STUB)]
