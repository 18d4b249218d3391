"""Memories on top of LangGraph's own stores, beside code that knows nothing of us."""

import asyncio
import gc
import sqlite3
import threading
import weakref
from datetime import UTC, datetime, timedelta

import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from langchain_agentmemory import MemoryStore, Source
from langchain_agentmemory.backends import base_store
from langchain_agentmemory.backends.base import (
    Batch,
    PreconditionFailed,
    Record,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.base_store import BaseStoreBackend
from langchain_agentmemory.backends.base_store_writing import INTERNAL_ROOT
from langchain_agentmemory.errors import (
    BackendUnavailable,
    InvalidInput,
    MemoryLimitExceeded,
    MemoryNotFound,
)
from langchain_agentmemory.store import as_memory_store

MINUTE = timedelta(minutes=1)
ANN = ("memories", "default", "ann")


@pytest.fixture(params=["InMemoryStore", "SqliteStore"])
def plain(request):
    if request.param == "InMemoryStore":
        yield InMemoryStore()
        return
    connection = sqlite3.connect(
        ":memory:", check_same_thread=False, isolation_level=None
    )
    store = SqliteStore(connection)
    store.setup()
    yield store
    connection.close()


class Spying(InMemoryStore):
    """Remembers what was put; can lose or refuse some of it."""

    __slots__ = ("keep", "puts")

    def __init__(self, **options):
        super().__init__(**options)
        self.puts = []
        self.keep = lambda op: True

    def batch(self, ops):
        ops = list(ops)
        kept = [op for op in ops if not isinstance(op, PutOp) or self.keep(op)]
        self.puts += [op for op in kept if isinstance(op, PutOp)]
        if len(kept) == len(ops):
            return super().batch(ops)
        super().batch(kept)
        return [None] * len(ops)


def on(store, **options):
    return MemoryStore(BaseStoreBackend(store), **options)


def texts(memories):
    return [entry.memory for entry in memories]


# --- one set of data --------------------------------------------------------------


def test_a_memory_is_an_ordinary_item_of_the_store_below(plain):
    entry = on(plain).add_memory("ann", "喜欢喝茶", topics=["饮食"], location="杭州")
    (item,) = plain.search(ANN)
    assert (item.namespace, item.key) == (ANN, entry.id)
    assert item.value == {
        "memory": "喜欢喝茶",
        "topics": ["饮食"],
        "kind": "fact",
        "event_time": None,
        "participants": [],
        "location": "杭州",
    }


def test_what_plain_code_puts_is_a_memory(plain):
    store = on(plain)
    assert store.count_memories("ann") == 0
    plain.put(ANN, "k", {"memory": "Lives in Rome"})
    plain.put(ANN, "settings", {"theme": "dark"})
    assert texts(store.read_memories("ann")) == ["Lives in Rome"]
    assert texts(store.search_memories("ann", "rome")) == ["Lives in Rome"]
    assert store.count_memories("ann") == 1
    assert store.get(ANN, "settings").value == {"theme": "dark"}
    updated = store.update_memory("ann", "k", "Lives in Milan")
    assert plain.get(ANN, "k") is None
    assert plain.get(ANN, updated.id).value["memory"] == "Lives in Milan"


def test_what_plain_code_changes_or_deletes_is_noticed_at_once(plain):
    store = on(plain)
    kept = store.add_memory("ann", "Plays chess")
    gone = store.add_memory("ann", "Owns a boat")
    assert len(store.search_memories("ann", "chess boat")) == 2
    plain.put(ANN, kept.id, {"memory": "Plays poker"})
    plain.delete(ANN, gone.id)
    assert texts(store.search_memories("ann", "chess boat poker")) == ["Plays poker"]
    assert store.delete_memory("ann", gone.id) is False


def test_source_and_versions_survive_a_put_of_plain_code(plain):
    store = on(plain)
    old = store.add_memory("ann", "Lives in Rome")
    new = store.add_memory(
        "ann", "Lives in Milan", source=Source("t1", position=3), supersedes=[old.id]
    )
    plain.put(ANN, new.id, {"memory": "Lives in Milan", "topics": ["home"]})
    for reader in (store, on(plain)):
        entry = next(e for e in reader.read_memories("ann") if e.id == new.id)
        assert entry.source == Source("t1", position=3)
        assert entry.supersedes == (old.id,)
        assert entry.topics == ("home",)
        assert entry.created_at == new.created_at


def test_what_was_beside_a_value_does_not_outlive_it(plain):
    now = [1_700_000_000_000_000]
    embedder = CountingEmbedder()

    def wrap():
        backend = BaseStoreBackend(plain, clock=lambda: now[0])
        return MemoryStore(backend, index={"embed": embedder, "dims": 2}, ttl=MINUTE)

    first = wrap()
    short = first.add_memory("ann", "Plays chess")
    other = first.add_memory("ann", "Owns a boat")
    plain.put(ANN, short.id, {"memory": "Plays poker"})
    plain.put(ANN, other.id, {"theme": "dark"})
    now[0] += 120_000_000
    for store in (first, wrap()):
        assert texts(store.read_memories("ann")) == ["Plays poker"]
        assert store.count_memories("ann") == 1
        (record,) = store.backend.read(ANN, [short.id])
        assert record.vectors is None


def test_a_tombstone_is_revived_by_a_put_of_plain_code(plain):
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess", source=Source("t1"))
    store.delete_memory("ann", entry.id)
    assert plain.search(ANN) == []
    plain.put(ANN, entry.id, {"memory": "Plays chess"})
    (back,) = store.read_memories("ann")
    assert back.source == Source("t1")
    plain.delete(ANN, entry.id)
    assert store.read_memories("ann") == []


def test_nothing_changed_is_no_new_revision(plain):
    store = on(plain)
    store.add_memory("ann", "Plays chess")
    plain.put(ANN, "k", {"memory": "Owns a boat"})
    seen = store.revision("ann")
    for _ in range(3):
        store.read_memories("ann")
        store.search_memories("ann", "chess")
        store.get(ANN, "k")
    assert store.revision("ann") == seen
    plain.put(ANN, "k", {"memory": "Owns a ship"})
    assert store.revision("ann") > seen


def test_the_same_value_of_another_type_is_a_change():
    plain = InMemoryStore()
    store = on(plain)
    plain.put(ANN, "k", {"memory": "x", "flag": 1})
    store.read_memories("ann")
    plain.put(ANN, "k", {"memory": "x", "flag": True})
    assert store.get(ANN, "k").value["flag"] is True


def test_what_plain_code_does_to_a_value_in_its_hands_is_noticed():
    plain = InMemoryStore()
    store = on(plain)
    entry = store.add_memory("ann", "Plays chess", topics=["games"])
    store.read_memories("ann")
    plain.get(ANN, entry.id).value["topics"].append("hobbies")
    (changed,) = store.read_memories("ann")
    assert changed.topics == ("games", "hobbies")


def test_values_that_json_does_not_know_are_read_all_the_same():
    plain = InMemoryStore()
    moment = datetime(2026, 5, 1, tzinfo=UTC)
    plain.put(ANN, "k", {"memory": "Plays chess", "seen": moment, "ids": {1}})
    loop = {"memory": "contains itself"}
    loop["loop"] = loop
    plain.put(ANN, "loop", loop)
    store = on(plain)
    assert texts(store.read_memories("ann")) == ["Plays chess"]
    assert store.get(ANN, "k").value["seen"] == str(moment)


def test_newest_first_holds_whoever_wrote(plain):
    store = on(plain)
    for number in range(6):
        if number % 2:
            plain.put(ANN, f"k{number}", {"memory": f"memory {number}"})
        else:
            store.add_memory("ann", f"memory {number}")
        store.count_memories("ann")
    newest = [f"memory {number}" for number in reversed(range(6))]
    assert texts(store.read_memories("ann")) == newest


def test_items_of_one_second_are_all_on_the_pages(plain):
    for number in range(700):
        plain.put(ANN, f"k{number:03}", {"memory": f"memory {number}"})
    store = on(plain)
    times = {entry.updated_at for entry in store.read_memories("ann")}
    assert len(times) == 700
    found = store.search(ANN, filter={"memory": {"$ne": "x"}}, limit=1_000)
    assert len({item.key for item in found}) == 700


def test_more_items_than_one_call_gives_are_read(plain):
    plain.batch([PutOp(ANN, f"k{n}", {"memory": f"memory {n}"}) for n in range(2_300)])
    assert on(plain).count_memories("ann") == 2_300


def test_namespaces_below_a_user_are_not_the_users(plain):
    store = on(plain)
    plain.put((*ANN, "notes"), "k", {"memory": "not a memory of ann"})
    plain.put(("memories", "default", "anna"), "k", {"memory": "of anna"})
    store.add_memory("ann", "Plays chess")
    assert texts(store.read_memories("ann")) == ["Plays chess"]
    assert on(plain).count_memories("ann") == 1


# --- what is internal -------------------------------------------------------------


def test_nothing_internal_shows_in_the_memory_store(plain):
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess")
    store.put(("docs",), "k", {"text": "x"})
    store.update_memory("ann", entry.id, "Plays poker")
    assert store.list_namespaces() == [("docs",), ANN]
    assert len(store.search(())) == 2
    assert store.search((INTERNAL_ROOT,)) == []
    assert store.list_namespaces(prefix=(INTERNAL_ROOT,)) == []
    assert store.get((INTERNAL_ROOT, "heads"), "memories.default.ann") is None
    assert {item.key for item in plain.search(ANN)} == {
        item.key for item in store.search(ANN)
    }
    with pytest.raises(InvalidInput, match="reserved"):
        store.put((INTERNAL_ROOT, "heads"), "k", {"text": "x"})


def test_erasing_a_user_leaves_nothing_below(plain):
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess", source=Source("t1"))
    store.add_memory("ann", "Owns a boat")
    store.delete_memory("ann", entry.id)
    plain.put(ANN, "k", {"memory": "Lives in Rome"})
    receipt = store.erase_user("ann")
    assert (receipt.memories, receipt.deleted_memories) == (2, 1)
    assert plain.search(()) == []


def test_companions_of_items_that_plain_code_deleted_go_with_the_next_write(plain):
    store = on(plain)
    entry = store.add_memory("ann", "Plays chess")
    plain.delete(ANN, entry.id)
    other = store.add_memory("ann", "Owns a boat")
    kept = plain.search((INTERNAL_ROOT, "records"))
    assert [item.key for item in kept] == [other.id]


# --- opened again, and side by side ------------------------------------------------


def test_everything_is_there_when_the_store_is_wrapped_anew(plain):
    first = on(plain, soft_delete=True)
    rome = first.add_memory(
        "ann",
        "Lives in Rome",
        topics=["home"],
        event_time="2024-05",
        source=Source("t1", ("m1",), 3, "user"),
    )
    milan = first.add_memory("ann", "Lives in Milan", supersedes=[rome.id])
    gone = first.add_memory("ann", "Owns a boat")
    first.delete_memory("ann", gone.id)
    again = on(plain, soft_delete=True)
    assert again.read_memories("ann") == first.read_memories("ann")
    assert texts(again.memory_history("ann", milan.id)) == texts([rome, milan])
    assert again.restore_memory("ann", gone.id).memory == "Owns a boat"
    assert again.purge_deleted() == 0
    assert first.count_memories("ann") == again.count_memories("ann") == 3


def test_deleted_memories_are_purged_for_good(plain):
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess")
    store.delete_memory("ann", entry.id)
    assert on(plain, soft_delete=True).purge_deleted(user="ben") == 0
    assert on(plain, soft_delete=True).purge_deleted() == 1
    with pytest.raises(MemoryNotFound):
        store.restore_memory("ann", entry.id)
    assert plain.search((INTERNAL_ROOT, "records")) == []


def test_two_wrappers_of_one_store_see_each_others_writes(plain):
    first, second = on(plain, soft_delete=True), on(plain, soft_delete=True)
    entry = first.add_memory("ann", "Plays chess")
    assert texts(second.search_memories("ann", "chess")) == ["Plays chess"]
    second.update_memory("ann", entry.id, "Plays poker")
    assert texts(first.read_memories("ann")) == ["Plays poker"]
    poker = second.add_memory("ann", "Plays poker")
    second.delete_memory("ann", poker.id)
    assert first.restore_memory("ann", poker.id).memory == "Plays poker"
    restored = first.restore_memory("ann", entry.id)
    assert second.read_memories("ann")[0] == restored


def test_two_stores_on_one_file_see_each_others_writes(tmp_path):
    """As two processes do; their conditions hold between, not during, writes."""
    file = str(tmp_path / "shared.db")
    with (
        SqliteStore.from_conn_string(file) as here,
        SqliteStore.from_conn_string(file) as there,
    ):
        here.setup()
        there.setup()
        first = on(here, soft_delete=True, memory_limit=3)
        second = on(there, soft_delete=True, memory_limit=3)
        rome = first.add_memory("ann", "Lives in Rome", source=Source("t1"))
        assert second.read_memories("ann") == [rome]
        milan = second.update_memory("ann", rome.id, "Lives in Milan")
        assert first.read_memories("ann") == [milan]
        assert texts(first.memory_history("ann", milan.id)) == texts([rome, milan])
        with pytest.raises(MemoryNotFound):
            first.update_memory("ann", rome.id, "Lives in Turin")
        first.delete_memory("ann", milan.id)
        assert second.count_memories("ann") == 0
        for turn in range(3):
            (first, second)[turn % 2].add_memory("ann", f"memory {turn}")
        for store in (first, second):
            with pytest.raises(MemoryLimitExceeded):
                store.add_memory("ann", "one too many")
            newest = ["memory 2", "memory 1", "memory 0"]
            assert texts(store.read_memories("ann")) == newest
            assert len(store.search_memories("ann", "memory")) == 3


def test_the_limit_is_exact_between_threads_and_wrappers(plain):
    stores = [on(plain, memory_limit=20), on(plain, memory_limit=20)]
    refused = []

    def work(number):
        for turn in range(10):
            try:
                stores[number % 2].add_memory("ann", f"memory {number}.{turn}")
            except MemoryLimitExceeded:
                refused.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(plain.search(ANN, limit=100)) == 20
    assert len(refused) == 20


def test_what_plain_code_put_counts_towards_the_limit(plain):
    store = on(plain, memory_limit=2)
    store.add_memory("ann", "Plays chess")
    plain.put(ANN, "k", {"memory": "Owns a boat"})
    with pytest.raises(MemoryLimitExceeded):
        store.add_memory("ann", "Lives in Rome")


def test_memories_are_right_when_little_is_kept_in_mind(plain, monkeypatch):
    monkeypatch.setattr(base_store, "MIRRORED", 3)
    store = on(plain, soft_delete=True)
    users = [f"user{number}" for number in range(5)]
    for turn in range(4):
        for user in users:
            store.add_memory(user, f"memory {turn} of {user}")
    for user in users:
        newest = [f"memory {turn} of {user}" for turn in reversed(range(4))]
        assert texts(store.read_memories(user)) == newest
        assert len(store.search_memories(user, "memory")) == 4
    assert len(store.list_namespaces()) == 5


def test_a_condition_is_not_met_by_a_revision_that_was_counted_anew(monkeypatch):
    monkeypatch.setattr(base_store, "MIRRORED", 1)
    plain = InMemoryStore()
    backend = BaseStoreBackend(plain)
    given = Record(ANN, "k", b'{"memory":"one"}')
    (stored,) = backend.commit(Batch([Write(given)]))
    expected = stored.revision
    plain.put(ANN, "k", {"memory": "two"})
    for number in range(3):
        other = Record(("docs", str(number)), "k", b"{}")
        backend.commit(Batch([Write(other)]))
    with pytest.raises(PreconditionFailed):
        backend.commit(Batch([Write(Record(ANN, "k", b"{}"), expect=expected)]))
    assert plain.get(ANN, "k").value == {"memory": "two"}


def test_times_grow_across_wrappers_whatever_the_clock_does(plain):
    now = [1_700_000_000_000_000]

    def put(key):
        backend = BaseStoreBackend(plain, clock=lambda: now[0])
        (stored,) = backend.commit(Batch([Write(Record(ANN, key, b"{}"))]))
        return stored.updated_at

    first = put("a")
    stub = Record(ANN, "a", created_at=0, state=RecordState.STUB)
    BaseStoreBackend(plain).commit(Batch([Write(stub, stamp=False)]))
    now[0] -= 60_000_000
    assert put("b") == first + 1


# --- what the store below does not do ----------------------------------------------


def test_a_value_without_its_companion_is_a_memory():
    plain = Spying()
    plain.keep = lambda op: op.namespace == ANN
    entry = on(plain).add_memory("ann", "Plays chess", source=Source("t1"))
    plain.keep = lambda op: True
    store = on(plain, soft_delete=True)
    (found,) = store.read_memories("ann")
    assert (found.id, found.memory, found.source) == (entry.id, "Plays chess", None)
    assert store.add_memory("ann", "Plays chess").id == entry.id
    assert store.count_memories("ann") == 1


def test_a_companion_without_its_value_is_nothing():
    plain = Spying()
    plain.keep = lambda op: op.namespace != ANN
    entry = on(plain).add_memory("ann", "Plays chess", source=Source("t1"))
    plain.keep = lambda op: True
    store = on(plain)
    assert store.read_memories("ann") == []
    assert store.delete_memory("ann", entry.id) is False
    store.add_memory("ann", "Plays chess")
    assert store.count_memories("ann") == 1


def test_a_deletion_that_was_cut_short_loses_nothing():
    plain = Spying()
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess")
    plain.keep = lambda op: op.value is not None  # the tombstone alone arrives
    store.delete_memory("ann", entry.id)
    plain.keep = lambda op: True
    for reader in (store, on(plain, soft_delete=True)):
        assert texts(reader.read_memories("ann")) == ["Plays chess"]
    assert store.delete_memory("ann", entry.id) is True
    assert store.read_memories("ann") == []


def test_a_store_that_fails_is_read_anew_afterwards():
    plain = Spying()
    store = on(plain)
    entry = store.add_memory("ann", "Plays chess")

    def full(op):
        msg = "disk full"
        raise OSError(msg)

    plain.keep = full
    with pytest.raises(BackendUnavailable, match="Spying below refused: disk full"):
        store.update_memory("ann", entry.id, "Plays poker")
    plain.keep = lambda op: True
    assert texts(store.read_memories("ann")) == ["Plays chess"]
    store.update_memory("ann", entry.id, "Plays poker")
    assert texts(on(plain).read_memories("ann")) == ["Plays poker"]


def test_text_that_the_store_below_cannot_hold_is_refused_and_harms_nothing():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    plain = SqliteStore(connection)
    plain.setup()
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess\x00")
    with pytest.raises(InvalidInput, match="SqliteStore below cannot hold"):
        store.update_memory("ann", entry.id, "Plays \ud800")
    assert texts(store.read_memories("ann")) == ["Plays chess\x00"]
    store.update_memory("ann", entry.id, "Plays poker")
    assert texts(on(plain).read_memories("ann")) == ["Plays poker"]
    connection.close()


def test_a_deletion_of_which_the_reply_was_lost_can_be_undone():
    plain = Spying()
    store = on(plain, soft_delete=True)
    entry = store.add_memory("ann", "Plays chess")

    def fails_at_last(op):
        if op.namespace != (INTERNAL_ROOT, "heads"):
            InMemoryStore.batch(plain, [op])
            return True
        msg = "connection lost"
        raise OSError(msg)

    plain.keep = fails_at_last
    with pytest.raises(BackendUnavailable, match="connection lost"):
        store.delete_memory("ann", entry.id)
    plain.keep = lambda op: True
    assert store.read_memories("ann") == []
    assert store.restore_memory("ann", entry.id).memory == "Plays chess"


def test_a_read_that_meets_a_writer_of_another_thread_is_repeated():
    class Meeting(InMemoryStore):
        __slots__ = ("met",)

        def batch(self, ops):
            self.met = getattr(self, "met", 0) + 1
            if self.met % 2:
                msg = "dictionary changed size during iteration"
                raise RuntimeError(msg)
            return super().batch(ops)

    store = on(Meeting())
    assert store.read_memories("ann") == []


def test_expiry_holds_where_the_store_below_has_none():
    now = [1_700_000_000_000_000]
    plain = InMemoryStore()
    backend = BaseStoreBackend(plain, clock=lambda: now[0])
    store = MemoryStore(backend, ttl=timedelta(minutes=1))
    store.add_memory("ann", "Plays chess")
    now[0] += 59_000_000
    assert store.count_memories("ann") == 1
    now[0] += 2_000_000
    assert store.count_memories("ann") == 0
    assert store.search_memories("ann", "chess") == []
    assert len(plain.search(ANN)) == 1
    assert store.sweep_ttl() == 1
    assert plain.search(()) == plain.search((INTERNAL_ROOT, "heads"))


def test_a_renewal_reaches_other_wrappers_and_makes_no_new_revision():
    now = [1_700_000_000_000_000]
    plain = InMemoryStore()
    config = {"default_ttl": 1, "refresh_on_read": True}

    def wrap():
        return MemoryStore(BaseStoreBackend(plain, clock=lambda: now[0]), ttl=config)

    store = wrap()
    store.add_memory("ann", "Plays chess")
    seen = store.revision("ann")
    now[0] += 40_000_000
    store.read_memories("ann")
    assert store.revision("ann") == seen
    now[0] += 40_000_000
    assert wrap().count_memories("ann") == 1


def test_a_store_that_knows_expiry_is_told():
    class Expiring(Spying):
        supports_ttl = True

    plain = Expiring()
    store = on(plain)
    store.put(ANN, "k", {"memory": "Plays chess"}, ttl=2)
    minutes = [op.ttl for op in plain.puts if op.key == "k"]
    assert minutes == pytest.approx([2, 2], abs=0.1)
    store.put(ANN, "k", {"memory": "Plays chess"}, ttl=None)
    assert [op.ttl for op in plain.puts if op.key == "k"][2:] == [None, None]


class CountingEmbedder:
    def __init__(self):
        self.texts = []

    def __call__(self, texts):
        self.texts += texts
        return [[float(len(text)), 1.0] for text in texts]


def test_the_embedder_of_the_store_below_sees_values_and_only_when_they_change():
    embedder = CountingEmbedder()
    plain = InMemoryStore(index={"embed": embedder, "dims": 2})
    store = on(plain)
    old = store.add_memory("ann", "Lives in Rome", source=Source("t1"))
    assert len(embedder.texts) == 1
    assert "Lives in Rome" in embedder.texts[0]
    store.add_memory("ann", "Lives in Milan", supersedes=[old.id])
    assert len(embedder.texts) == 2
    assert "Lives in Milan" in embedder.texts[1]
    assert len(plain.search(ANN, query="Rome")) == 2


def test_an_index_of_our_own_keeps_its_vectors_beside_the_values(plain):
    embedder = CountingEmbedder()
    index = {"embed": embedder, "dims": 2, "calibrate": False}
    store = on(plain, index=index)
    store.add_memory("ann", "Plays chess")
    plain.put(ANN, "k", {"memory": "Owns a boat"})
    assert len(store.search_memories("ann", "boat", mode="hybrid")) >= 1
    assert store.reindex() == 1
    again = on(plain, index=index)
    del embedder.texts[:]
    assert again.reindex() == 0
    found = again.search_memories("ann", "hobby", mode="vector", limit=None)
    assert len(found) == 2
    assert embedder.texts == ["hobby"]


# --- sides of the event loop -------------------------------------------------------


@pytest.fixture
async def async_store():
    async with AsyncSqliteStore.from_conn_string(":memory:") as store:
        await store.setup()
        yield store


async def test_an_async_store_serves_the_async_verbs(async_store, no_blocking):
    store = as_memory_store(async_store)
    entry = await store.aadd_memory("ann", "Plays chess", source=Source("t1"))
    await async_store.aput(ANN, "k", {"memory": "Owns a boat"})
    assert texts(await store.asearch_memories("ann", "boat")) == ["Owns a boat"]
    assert len(await async_store.asearch(ANN)) == 2
    await store.aupdate_memory("ann", entry.id, "Plays poker")
    assert texts(await store.aread_memories("ann"))[0] == "Plays poker"
    assert await store.aclear_memories("ann") == 2


async def test_a_synchronous_verb_in_its_loop_is_refused_with_advice(async_store):
    store = as_memory_store(async_store)
    with pytest.raises(InvalidInput, match="use the async twin"):
        store.read_memories("ann")
    with pytest.raises(InvalidInput, match="use the async twin"):
        store.add_memory("ann", "Plays chess")


async def test_a_synchronous_verb_in_another_thread_works(async_store):
    store = as_memory_store(async_store)
    await asyncio.to_thread(store.add_memory, "ann", "Plays chess")
    assert texts(await asyncio.to_thread(store.read_memories, "ann")) == ["Plays chess"]


async def test_a_synchronous_verb_never_waits_for_a_lock_in_its_loop(async_store):
    store = as_memory_store(async_store)
    adding = [store.aadd_memory("ann", f"memory {n}") for n in range(8)]
    tasks = [asyncio.ensure_future(one) for one in adding]
    for _ in range(20):
        await asyncio.sleep(0)
        with pytest.raises(InvalidInput):
            store.count_memories("ann")
    await asyncio.gather(*tasks)
    assert await store.acount_memories("ann") == 8


def test_a_store_whose_loop_has_ended_is_not_waited_for():
    async def leave():
        async with AsyncSqliteStore.from_conn_string(":memory:") as store:
            await store.setup()
            await as_memory_store(store).aadd_memory("ann", "Plays chess")
            return store

    store = as_memory_store(asyncio.run(leave()))
    with pytest.raises(BackendUnavailable, match="has ended"):
        store.read_memories("ann")
    with pytest.raises(BackendUnavailable, match="has ended"):
        asyncio.run(store.aread_memories("ann"))


async def test_a_synchronous_store_serves_the_async_verbs(plain, no_blocking):
    store = as_memory_store(plain)
    await asyncio.gather(*(store.aadd_memory("ann", f"memory {n}") for n in range(10)))
    assert await store.acount_memories("ann") == 10


# --- one wrapper per store ---------------------------------------------------------


def test_a_memory_store_is_never_wrapped():
    store = MemoryStore()
    assert as_memory_store(store) is store
    with pytest.raises(InvalidInput, match="MemoryStore already"):
        as_memory_store(store, memory_limit=5)


def test_a_store_has_one_wrapper():
    first, second = InMemoryStore(), InMemoryStore()
    wrapper = as_memory_store(first)
    assert as_memory_store(first) is wrapper
    assert as_memory_store(second) is not wrapper
    assert as_memory_store(first, memory_limit=5).settings.memory_limit == 5
    assert as_memory_store(first) is wrapper


def test_a_wrapper_keeps_its_store_and_not_for_longer_than_it_lives():
    plain = InMemoryStore()
    gone = weakref.ref(plain)
    wrapper = as_memory_store(plain)
    del plain
    gc.collect()
    wrapper.add_memory("ann", "Plays chess")
    assert wrapper.count_memories("ann") == 1
    del wrapper
    gc.collect()
    assert gone() is None


def test_what_was_read_stays_warm_while_the_store_lives():
    plain = InMemoryStore()
    as_memory_store(plain).add_memory("ann", "Plays chess")
    seen = as_memory_store(plain).revision("ann")
    gc.collect()
    assert as_memory_store(plain).revision("ann") == seen


def test_a_closed_wrapper_leaves_the_store_open_and_is_replaced(plain):
    wrapper = as_memory_store(plain)
    wrapper.add_memory("ann", "Plays chess")
    wrapper.close()
    with pytest.raises(BackendUnavailable, match="closed"):
        wrapper.read_memories("ann")
    assert len(plain.search(ANN)) == 1
    assert texts(as_memory_store(plain).read_memories("ann")) == ["Plays chess"]


def test_a_wrapper_lets_items_expire_as_its_store_does(tmp_path):
    ttl = {"default_ttl": 5, "refresh_on_read": False}
    with SqliteStore.from_conn_string(str(tmp_path / "s.db"), ttl=ttl) as plain:
        plain.setup()
        assert as_memory_store(plain).ttl_config["default_ttl"] == 5
        assert as_memory_store(plain, ttl=timedelta(minutes=1)).ttl_config == {
            "default_ttl": 1.0
        }


def test_only_langgraph_stores_can_be_wrapped():
    with pytest.raises(InvalidInput, match="dict is not a LangGraph store"):
        as_memory_store({})


def test_it_says_what_it_is_made_of(plain):
    store = as_memory_store(plain)
    store.add_memory("ann", "Plays chess")
    facts = dict(store.status())
    assert facts["engine"] == f"LangGraph's {type(plain).__name__}"
    assert facts["items"] == "1"
