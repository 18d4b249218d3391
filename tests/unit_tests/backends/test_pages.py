"""Records of the in-memory backend in pages: they look as they did."""

import copy
import gc
import random
import weakref

import numpy as np
import pytest

from langchain_agentmemory.backends import memory, pages
from langchain_agentmemory.backends.base import (
    Batch,
    Record,
    RecordFlags,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.memory import InMemoryBackend

HERE = ("memories", "here")
ATTRIBUTES = (
    *("namespace", "key", "value", "meta", "created_at", "updated_at", "deleted_at"),
    *("expires_at", "ttl", "revision", "state", "flags", "tokens", "embedder"),
)
SMALL = 8


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    for module in (memory, pages):
        monkeypatch.setattr(module, "PAGE", SMALL)


@pytest.fixture
def backend():
    return InMemoryBackend()


def given(number, **fields):
    vector = np.full((1, 4), number, np.float32)
    fields = {"value": b"v%d" % number, "tokens": b"t%d" % number, **fields}
    return Record(HERE, f"key-{number}", vectors=vector, embedder=7, **fields)


def put(backend, *records, stamp=True):
    return backend.commit(Batch([Write(record, stamp=stamp) for record in records]))


def filled(backend, count=SMALL):
    """Put records one by one, and return copies of them as they are stored."""
    copies = [copy.copy(put(backend, given(n))[0]) for n in range(count)]
    backend._spaces[HERE].next_packing = 0  # the fixture came after its default
    backend._spaces[HERE].pack()
    return copies


def find(backend, number):
    return backend.read(HERE, [f"key-{number}"])[0]


def looks_like(found, wanted):
    for name in ATTRIBUTES:
        assert getattr(found, name) == getattr(wanted, name), name
    if wanted.vectors is None:
        assert found.vectors is None
    else:
        assert found.vectors.tolist() == wanted.vectors.tolist()
    return True


def test_a_packed_record_looks_like_the_one_that_was_written(backend):
    two = np.ones((2, 4), np.float32)
    records = [
        given(0, meta=b"{}", ttl=5, expires_at=1 << 60),
        given(1, tokens=b"", flags=RecordFlags.UNINDEXED),
        given(2, value=b""),
        Record(HERE, "key-3", b"no vectors", tokens=b"t"),
        Record(HERE, "key-4", b"two vectors", tokens=b"t", vectors=two, embedder=3),
        *map(given, range(5, SMALL)),
    ]
    put(backend, *records)
    backend._spaces[HERE].next_packing = 0
    backend._spaces[HERE].pack()
    for number, record in enumerate(records):
        found = find(backend, number)
        assert pages.as_packed(found)
        assert looks_like(found, record)
        assert repr(found) == repr(record)


def test_full_pages_are_packed_while_records_are_written(backend):
    filled(backend, 1)
    for number in range(1, 3 * SMALL):
        put(backend, given(number))
    packed = [bool(pages.as_packed(find(backend, n))) for n in range(3 * SMALL)]
    assert sum(packed) >= 2 * SMALL
    assert [r.key for r in backend.delta(HERE, 0, 0).records] == [
        f"key-{n}" for n in range(3 * SMALL)
    ]


def test_a_copy_of_a_packed_record_can_be_changed(backend):
    (wanted, *_) = filled(backend)
    found = find(backend, 0)
    twin = copy.copy(found)
    assert looks_like(twin, wanted)
    twin.state, twin.value = RecordState.TOMBSTONE, b"other"
    assert looks_like(found, wanted)


def test_tokens_of_a_packed_record_can_be_taken_and_given_back(backend):
    filled(backend)
    records = [find(backend, n) for n in range(SMALL)]
    for number, record in enumerate(records):
        record.tokens = None
        record.tokens = None
        assert record.tokens is None
        others = [r.tokens for r in records[number + 1 :]]
        assert others == [b"t%d" % n for n in range(number + 1, SMALL)]
    assert records[0]._page._tokens is None
    records[0].tokens = b"again"
    assert (records[0].tokens, records[1].tokens) == (b"again", None)


def test_tokens_can_be_read_while_the_last_ones_are_let_go_of():
    class LetGoOfMeanwhile(pages.Page):
        """Another thread takes the tokens away as soon as they were looked at."""

        __slots__ = ("looks",)

        @property
        def _tokens(self):
            self.looks += 1
            return [b"t"] * SMALL if self.looks == 1 else None

    page = object.__new__(LetGoOfMeanwhile)
    page.looks = 0
    assert page.tokens(0) == b"t"
    assert page.tokens(0) is None


def test_a_page_lets_go_of_vectors_that_are_elsewhere(backend):
    filled(backend)
    records = [find(backend, n) for n in range(SMALL)]
    place = records[0]._page.place(0)
    assert place is not None
    old = weakref.ref(place[0])
    del place
    elsewhere = np.arange(4 * SMALL, dtype=np.float32).reshape(SMALL, 4)
    for number, record in enumerate(records):
        record.vectors = record.vectors  # where they are: nothing to let go of
        assert old() is not None
        record.vectors = elsewhere[number : number + 1]
    gc.collect()
    assert old() is None
    for number, record in enumerate(records):
        assert record.vectors.tolist() == [elsewhere[number].tolist()]
        assert np.shares_memory(record.vectors, elsewhere)


def test_a_sparse_page_shrinks_under_the_records_that_are_left(backend):
    wanted = filled(backend)
    first, last = find(backend, 0), find(backend, SMALL - 1)
    page = last._page
    last.tokens = None
    for number in range(SMALL - 1):
        stub = Record(HERE, f"key-{number}", state=RecordState.STUB)
        put(backend, stub, stamp=False)
    assert last._page is not page
    assert (last._page.living, len(last._page._rows.rows)) == (1, 1)
    assert looks_like(first, wanted[0])  # held by a search that goes on
    wanted[-1].tokens = None
    assert looks_like(last, wanted[-1])
    assert find(backend, SMALL - 1) is last


def test_what_is_on_a_shelf_is_not_packed_again(backend):
    put(backend, *map(given, range(SMALL - 1)))
    for number in range(SMALL - 1):
        find(backend, number).tokens = None
    backend._spaces[HERE].next_packing = 0
    put(backend, *map(given, range(SMALL, 2 * SMALL)))
    assert not pages.as_packed(find(backend, 0))


@pytest.mark.parametrize("seed", range(20))
def test_any_history_leads_to_the_same_changes(backend, seed):
    chance = random.Random(seed)
    last: dict[str, tuple[int, RecordState, bytes]] = {}
    put(backend, given(0))
    last["key-0"] = (1, RecordState.ACTIVE, b"v0")
    backend._spaces[HERE].next_packing = SMALL
    epoch = backend.head(HERE).epoch
    for step in range(300):
        number = chance.randrange(40)
        stamp = chance.random() < 0.6
        record = given(number, value=b"s%d" % step, updated_at=chance.randrange(1, 99))
        kind = chance.random()
        if kind < 0.15:
            record = Record(HERE, record.key, state=RecordState.STUB)
        elif kind < 0.3:
            record.state = RecordState.TOMBSTONE
        (stored,) = put(backend, record, stamp=stamp)
        if stored.revision:
            last[record.key] = (stored.revision, record.state, record.value)
        since = chance.randrange(backend.head(HERE).revision + 1)
        delta = backend.delta(HERE, epoch, since)
        wanted = sorted((v, k) for k, v in last.items() if v[0] > since)
        found = [((r.revision, r.state, r.value), r.key) for r in delta.records]
        assert found == wanted
