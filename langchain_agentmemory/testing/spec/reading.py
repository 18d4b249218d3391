"""Reading by key."""

from langchain_agentmemory.backends.base import Batch, RecordState
from langchain_agentmemory.testing.harness import Harness, Requirement
from langchain_agentmemory.testing.needs import needs
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    MINUTE,
    find,
    keys,
    put,
    record,
    stub,
    tombstone,
)


def records_come_in_the_order_of_the_keys(harness: Harness) -> None:
    """`read` answers key by key, `None` for the unknown, repeated keys included."""
    put(harness.backend, record("a"), record("b"))
    found = harness.backend.read(ANN, ["b", "?", "a", "b"])
    assert keys(found) == ["b", None, "a", "b"]


def an_unknown_namespace_holds_nothing(harness: Harness) -> None:
    """Reading, listing and the head of an unknown namespace find nothing."""
    assert harness.backend.read(("nowhere",), ["a", "b"]) == [None, None]
    assert harness.backend.head(("nowhere",)) is None
    assert harness.backend.read(ANN, []) == []


def keys_belong_to_their_namespace(harness: Harness) -> None:
    """The same key in two namespaces is two records."""
    put(harness.backend, record("a", ANN, value=b'{"n":1}'))
    put(harness.backend, record("a", BEN, value=b'{"n":2}'))
    assert find(harness.backend, "a", ANN).value == b'{"n":1}'
    assert find(harness.backend, "a", BEN).value == b'{"n":2}'
    assert find(harness.backend, "a", BEN).namespace == BEN


def every_state_can_be_read(harness: Harness) -> None:
    """`read` returns active records, tombstones and stubs for the caller to judge."""
    put(harness.backend, record("a"), record("b"), record("c"))
    harness.backend.commit(Batch([tombstone("b", 7), stub("c")]))
    states = [find(harness.backend, key).state for key in "abc"]
    assert states == [RecordState.ACTIVE, RecordState.TOMBSTONE, RecordState.STUB]
    assert find(harness.backend, "b").deleted_at == 7  # noqa: PLR2004 - as given


def a_stub_has_no_content(harness: Harness) -> None:
    """Of a hard-deleted record, only key and revision are left."""
    put(harness.backend, record("a", value=b'{"secret":1}', meta=b"{}", tokens=b"s"))
    harness.backend.commit(Batch([stub("a")]))
    found = find(harness.backend, "a")
    assert (found.value, found.meta, found.tokens) == (b"", None, None)
    assert found.vectors is None


@needs(Requirement.GIVEN_CLOCK)
def expired_records_can_be_read(harness: Harness) -> None:
    """`read` returns expired records too, for the caller to judge."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a", expires_at=until, ttl=MINUTE))
    harness.clock.step(2 * MINUTE)
    found = find(harness.backend, "a")
    assert (found.expires_at, found.ttl) == (until, MINUTE)
