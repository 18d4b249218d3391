"""Batches: all or nothing, conditions, revisions."""

from langchain_agentmemory.backends.base import (
    Batch,
    PreconditionFailed,
    RecordState,
    Write,
)
from langchain_agentmemory.testing.harness import Harness, Requirement
from langchain_agentmemory.testing.needs import needs
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    find,
    keys,
    put,
    record,
    revision,
    shown,
    stub,
    tombstone,
)


def _refused(harness: Harness, *writes: Write) -> bool:
    try:
        harness.backend.commit(Batch(list(writes)))
    except PreconditionFailed:
        return True
    return False


def a_batch_is_returned_as_stored(harness: Harness) -> None:
    """`commit` returns its records in order, with revision and times as stored."""
    stored = put(harness.backend, record("a"), record("b"))
    assert keys(stored) == ["a", "b"]
    for given in stored:
        found = find(harness.backend, given.key)
        assert (found.revision, found.updated_at) == (given.revision, given.updated_at)
        assert found.created_at == given.created_at == given.updated_at


def an_empty_batch_changes_nothing(harness: Harness) -> None:
    """A batch without writes is accepted and leaves no trace."""
    assert harness.backend.commit(Batch([])) == []
    assert harness.backend.heads(()) == []


def a_write_replaces_the_whole_record(harness: Harness) -> None:
    """A second write of a key replaces everything that the first one stored."""
    put(harness.backend, record("a", meta=b'{"x":1}', tokens=b"t", ttl=5))
    put(harness.backend, record("a", value=b'{"n":2}'))
    found = find(harness.backend, "a")
    assert found.value == b'{"n":2}'
    assert (found.meta, found.tokens, found.ttl) == (None, None, None)
    assert shown(harness.backend) == ["a"]


def each_record_takes_the_next_revision(harness: Harness) -> None:
    """A namespace's revision grows by one with each record that is written."""
    first = put(harness.backend, record("a"), record("b"))
    second = put(harness.backend, record("a"))
    assert [r.revision for r in (*first, *second)] == [1, 2, 3]
    assert revision(harness.backend) == 3  # noqa: PLR2004 - three writes


def revisions_are_counted_per_namespace(harness: Harness) -> None:
    """Writes to one namespace leave the revision of another alone."""
    put(harness.backend, record("a"))
    put(harness.backend, record("a", BEN), record("b", BEN))
    assert revision(harness.backend, ANN) == 1
    assert revision(harness.backend, BEN) == 2  # noqa: PLR2004 - two writes


def expecting_nothing_finds_a_free_key(harness: Harness) -> None:
    """`expect=0` holds for a key that was never written, and for no other."""
    assert not _refused(harness, Write(record("a"), expect=0))
    assert _refused(harness, Write(record("a"), expect=0))


def expecting_nothing_fails_on_a_tombstone(harness: Harness) -> None:
    """`expect=0` does not hold for a key that was soft-deleted."""
    harness.backend.commit(Batch([tombstone("a", harness.clock())]))
    assert _refused(harness, Write(record("a"), expect=0))


def a_deleted_key_keeps_a_revision(harness: Harness) -> None:
    """A hard-deleted key is a stub with a revision of its own, to be expected."""
    put(harness.backend, record("a"))
    (gone,) = harness.backend.commit(Batch([stub("a")]))
    assert gone.revision == 2  # noqa: PLR2004 - the second write
    assert find(harness.backend, "a").state is RecordState.STUB
    assert _refused(harness, Write(record("a"), expect=1))
    assert not _refused(harness, Write(record("a"), expect=2))


def expecting_a_revision_needs_that_revision(harness: Harness) -> None:
    """A write that expects a revision is refused when the record has another."""
    (first,) = put(harness.backend, record("a"))
    expected = first.revision
    assert not _refused(harness, Write(record("a"), expect=expected))
    assert _refused(harness, Write(record("a"), expect=expected))


def expecting_a_revision_of_nothing_fails(harness: Harness) -> None:
    """A write that expects a revision is refused where nothing was ever written."""
    assert _refused(harness, Write(record("a"), expect=7))
    assert _refused(harness, Write(record("a", ("new", "place")), expect=1))
    assert harness.backend.heads(()) == []


def no_expectation_always_holds(harness: Harness) -> None:
    """`expect=None` writes whatever is there."""
    for _ in range(2):
        assert not _refused(harness, Write(record("a"), expect=None))


def a_refused_batch_writes_nothing(harness: Harness) -> None:
    """When one condition fails, no write of the batch happens, wherever it stands."""
    put(harness.backend, record("a", value=b'{"n":1}'))
    before = revision(harness.backend)
    for writes in (
        [Write(record("a", value=b'{"n":2}')), Write(record("b"), expect=9)],
        [Write(record("b"), expect=9), Write(record("a", value=b'{"n":2}'))],
        [stub("a"), Write(record("b"), expect=9)],
    ):
        assert _refused(harness, *writes)
    assert find(harness.backend, "a").value == b'{"n":1}'
    assert harness.backend.read(ANN, ["b"]) == [None]
    assert revision(harness.backend) == before
    delta = harness.backend.delta(ANN, 0, 0)
    assert delta is not None
    assert keys(delta.records) == ["a"]


@needs(Requirement.ATOMIC_ACROSS_NAMESPACES)
def a_refused_batch_writes_nothing_in_other_namespaces(harness: Harness) -> None:
    """A condition that fails in one namespace undoes the writes to all others."""
    for failing, other in ((ANN, BEN), (BEN, ANN)):
        assert _refused(
            harness, Write(record("x", other)), Write(record("y", failing), expect=5)
        )
        assert harness.backend.read(other, ["x"]) == [None]
    assert harness.backend.heads(()) == []


def deleting_what_is_not_there_writes_nothing(harness: Harness) -> None:
    """A stub for an unknown key keeps revision 0 and makes no namespace."""
    (gone,) = harness.backend.commit(Batch([stub("a")]))
    assert gone.revision == 0
    assert harness.backend.read(ANN, ["a"]) == [None]
    assert harness.backend.heads(()) == []
    put(harness.backend, record("b"))
    harness.backend.commit(Batch([stub("a")]))
    assert revision(harness.backend) == 1


def a_large_batch_is_one_batch(harness: Harness) -> None:
    """A batch of 1,200 writes happens as a whole, and can be read back at once."""
    names = [f"k{number}" for number in range(1_200)]
    put(harness.backend, *(record(name) for name in names))
    assert keys(harness.backend.read(ANN, names)) == names
    assert _refused(
        harness,
        *(Write(record(name, value=b'{"n":0}')) for name in names),
        Write(record("late"), expect=3),
    )
    assert find(harness.backend, names[-1]).value != b'{"n":0}'
