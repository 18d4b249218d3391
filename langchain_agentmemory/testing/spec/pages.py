"""Pages: by time of writing, in both directions, in parts."""

from langchain_agentmemory.backends.base import Batch, Page, RecordFlags, Write
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


def the_newest_come_first(harness: Harness) -> None:
    """A page is ordered by the time of the last stamped write, newest first."""
    put(harness.backend, record("a"), record("b"), record("c"))
    put(harness.backend, record("a"))
    assert shown(harness.backend) == ["a", "c", "b"]


def the_order_can_be_turned(harness: Harness) -> None:
    """`oldest_first` is the exact reverse."""
    put(harness.backend, record("a"), record("b"), record("c"))
    put(harness.backend, record("a"))
    assert shown(harness.backend, oldest_first=True) == ["b", "c", "a"]


def the_order_follows_unstamped_times_too(harness: Harness) -> None:
    """A record written with a time of its own takes its place in the order."""
    first, _ = put(harness.backend, record("a"), record("c"))
    early = record("early", updated_at=first.updated_at - 5, created_at=1)
    harness.backend.commit(Batch([Write(early, stamp=False)]))
    assert shown(harness.backend) == ["c", "a", "early"]
    assert shown(harness.backend, oldest_first=True) == ["early", "a", "c"]


def a_page_is_cut_to_its_limit(harness: Harness) -> None:
    """`limit` is the most that comes; 0 is none and `None` is all."""
    put(harness.backend, record("a"), record("b"), record("c"))
    assert shown(harness.backend, limit=2) == ["c", "b"]
    assert shown(harness.backend, limit=0) == []
    assert shown(harness.backend, limit=9) == ["c", "b", "a"]
    assert shown(harness.backend, limit=1, oldest_first=True) == ["a"]


def pages_continue_without_gap_or_repetition(harness: Harness) -> None:
    """`before` continues after the last record of a page, in both directions."""
    names = [f"k{number}" for number in range(25)]
    put(harness.backend, *(record(name) for name in names))
    for oldest_first in (False, True):
        walked: list[str] = []
        before = None
        while page := harness.backend.page(
            Page(ANN, 4, before, oldest_first=oldest_first)
        ):
            walked.extend(found.key for found in page)
            before = page[-1].updated_at
        assert walked == (names if oldest_first else names[::-1])


def a_page_can_be_of_listed_records_only(harness: Harness) -> None:
    """`listed` leaves out what does not count as a memory, before the cut."""
    put(
        harness.backend,
        record("a"),
        record("x", flags=RecordFlags.NONE),
        record("b", flags=RecordFlags.LISTED | RecordFlags.UNINDEXED),
        record("y", flags=RecordFlags.UNINDEXED),
    )
    assert shown(harness.backend) == ["y", "b", "x", "a"]
    assert shown(harness.backend, listed=True) == ["b", "a"]
    assert shown(harness.backend, listed=True, limit=1, oldest_first=True) == ["a"]


def deleted_records_are_on_no_page(harness: Harness) -> None:
    """Tombstones and stubs are invisible to ordinary pages."""
    put(harness.backend, record("a"), record("b"), record("c"))
    harness.backend.commit(Batch([tombstone("a", harness.clock()), stub("b")]))
    assert shown(harness.backend) == ["c"]


def tombstones_have_pages_of_their_own(harness: Harness) -> None:
    """`tombstones` shows soft-deleted records, by `updated_at`, and nothing else."""
    writes = [tombstone("old", 10), tombstone("new", 30), tombstone("mid", 20)]
    put(harness.backend, record("a"), record("b"))
    harness.backend.commit(Batch([*writes, stub("b")]))
    assert shown(harness.backend, tombstones=True) == ["new", "mid", "old"]
    assert shown(harness.backend, tombstones=True, limit=1) == ["new"]
    oldest = shown(harness.backend, tombstones=True, oldest_first=True)
    assert oldest == ["old", "mid", "new"]


def a_page_shows_one_namespace(harness: Harness) -> None:
    """Records of namespaces below, beside and above are on other pages."""
    for namespace in (ANN, BEN, ANN[:2], (*ANN, "x"), ("memories", "app", "anna")):
        put(harness.backend, record("-".join(namespace), namespace))
    assert shown(harness.backend) == ["-".join(ANN)]


@needs(Requirement.GIVEN_CLOCK)
def expired_records_are_on_no_page(harness: Harness) -> None:
    """From the moment of `expires_at` on, a record is invisible, before the cut."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a"), record("b", expires_at=until))
    harness.clock.step(MINUTE - 1)
    assert shown(harness.backend, limit=1) == ["b"]
    harness.clock.step(1)
    assert shown(harness.backend, limit=1) == ["a"]


def a_restored_record_is_the_newest(harness: Harness) -> None:
    """A tombstone written back as active, stamped, is the newest record."""
    put(harness.backend, record("a"), record("b"))
    harness.backend.commit(Batch([tombstone("a", harness.clock())]))
    found = find(harness.backend, "a")
    put(harness.backend, record("a", created_at=found.created_at))
    assert shown(harness.backend) == ["a", "b"]
    assert shown(harness.backend, tombstones=True) == []
