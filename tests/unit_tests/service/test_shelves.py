"""Warm indexes: what a search reads and makes, and what the budget keeps."""

import threading
import weakref
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends import memory, pages, sqlite
from langchain_agentmemory.search.standard import DefaultTokenizer
from langchain_agentmemory.service import shelves

INDEX = {
    "embed": DeterministicFakeEmbedding(size=16),
    "dims": 16,
    "fields": ["memory"],
    "name": "fake",
}
WORDS = ("tea", "coffee", "green", "bread", "river", "train", "blue", "garden")


def open_store(path, **options):
    return MemoryStore.from_url(f"sqlite:///{path}", **options)


def texts(count, seed=0):
    return [
        f"number {n} likes {WORDS[(n + seed) % 8]} and {WORDS[(n * 3 + seed) % 8]}"
        for n in range(count)
    ]


def fill(store, users, count):
    for number, user in enumerate(users):
        for text in texts(count, number):
            store.add_memory(user, text)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def reads(monkeypatch):
    """Names of what was asked of SQLite, and how many records were made of rows."""
    asked: list[str] = []
    for name in ("head", "columns", "delta", "read", "page"):
        method = getattr(sqlite.SQLiteBackend, name)

        def counted(self, *args, name=name, method=method, **options):
            asked.append(name)
            return method(self, *args, **options)

        monkeypatch.setattr(sqlite.SQLiteBackend, name, counted)
    for owner, name in ((sqlite, "_record"), (sqlite._Loaded, "record")):
        function = getattr(owner, name)

        def made(*args, function=function):
            asked.append("record")
            return function(*args)

        monkeypatch.setattr(owner, name, made)
    return asked


def test_a_first_search_reads_the_index_once_and_makes_records_of_hits_only(
    path, reads
):
    with open_store(path) as store:
        fill(store, ["ann"], 50)
    with open_store(path) as store:
        store.count_memories("ann")
        reads.clear()

        assert len(store.search_memories("ann", "tea", limit=3)) == 3

    assert reads == ["columns", *["record"] * reads.count("record")]
    assert reads.count("record") < 30  # equals are compared by their times


def test_a_warm_search_asks_only_whether_something_changed(path, reads):
    with open_store(path) as store:
        fill(store, ["ann"], 20)
        store.search_memories("ann", "tea", limit=3)
        reads.clear()

        store.search_memories("ann", "tea", limit=3)

    assert reads == ["head"]


@pytest.mark.parametrize("writer", ["this store", "another store"])
def test_a_write_is_read_alone(path, reads, writer):
    with open_store(path) as store, open_store(path) as other:
        fill(store, ["ann"], 20)
        store.search_memories("ann", "tea")
        (store if writer == "this store" else other).add_memory("ann", "a new kettle")
        reads.clear()

        (found,) = store.search_memories("ann", "kettle")

    assert found.memory == "a new kettle"
    assert reads == ["head", "delta", "record"]


@pytest.mark.parametrize("index", [None, INDEX], ids=["words", "vectors"])
def test_a_search_tokenises_nothing_but_the_query(path, monkeypatch, index):
    with open_store(path, index=index) as store:
        fill(store, ["ann"], 20)
    asked = []
    query = DefaultTokenizer.query

    def count(self, text):
        asked.append(text)
        return query(self, text)

    def refuse(*_):
        pytest.fail("a stored text was tokenised")

    monkeypatch.setattr(DefaultTokenizer, "query", count)
    for name in ("document", "field", "token_set"):
        monkeypatch.setattr(DefaultTokenizer, name, refuse)

    with open_store(path, index=index) as store:
        assert store.search_memories("ann", "green tea")
        assert store.search_memories("ann", "green tea")

    assert asked == ["green tea"] * 2


def test_an_index_loaded_at_once_ranks_as_one_that_grew(path):
    with open_store(path, index=INDEX) as grown:
        grown.search_memories("ann", "tea")
        for number, text in enumerate(texts(60)):
            entry = grown.add_memory("ann", text)
            if number % 7 == 0:
                grown.delete_memory("ann", entry.id)
            if number % 10 == 0:
                grown.search_memories("ann", "tea")
        namespace = ("memories", "default", "ann")
        grown.put(namespace, "by hand", {"memory": "green tea by hand"}, index=False)
        grown.put(namespace, "two", {"memory": "tea", "topics": ["tea"]}, index=["$"])
        with open_store(path, index=INDEX) as loaded:
            for mode in ("lexical", "vector", "hybrid"):
                for query in ("green tea", "blue river bread"):
                    results = [
                        [
                            (entry.id, pytest.approx(entry.score, abs=1e-6))
                            for entry in store.search_memories(
                                "ann", query, mode=mode, limit=20
                            )
                        ]
                        for store in (grown, loaded)
                    ]
                    assert results[0] == results[1]
                    assert results[0]


def test_items_with_several_vectors_are_loaded_with_all_of_them(path):
    index = {**INDEX, "fields": ["parts[*]"]}
    with open_store(path, index=index) as store:
        store.put(("notes",), "a", {"parts": ["green tea", "blue river"]})
        store.put(("notes",), "b", {"parts": ["bread"]})
    with open_store(path, index=index) as store:
        for query, key in (("green tea", "a"), ("blue river", "a"), ("bread", "b")):
            best = store.search(("notes",), query=query, limit=1)[0]
            assert (best.key, round(best.score, 3)) == (key, 1.0)


def test_vectors_of_another_embedder_are_left_out_of_a_loaded_index(path):
    with open_store(path, index={**INDEX, "name": "old"}) as store:
        store.add_memory("ann", "green tea")
    with open_store(path, index={**INDEX, "name": "new"}) as store:
        store.add_memory("ann", "blue river")
    with open_store(path, index={**INDEX, "name": "new"}) as store:
        options = {"mode": "vector", "explain": True}
        found = store.search_memories("ann", "green tea", **options)
        assert found[0].memory == "green tea"  # by its words
        assert found[0].explanation["similarity"] is None
        found = store.search_memories("ann", "blue river", **options)
        assert found[0].memory == "blue river"
        assert found[0].explanation["similarity"] == pytest.approx(1)


def test_tokens_of_another_dictionary_are_made_anew_after_a_deletion(path):
    with open_store(path, index=INDEX) as store:
        fill(store, ["ann"], 6)
    with open_store(path, index=INDEX, user_dictionary=["喝茶"]) as store:
        store.search_memories("ann", "tea", mode="vector")  # words are not read
        kept, deleted, changed = store.read_memories("ann")[:3]
        store.delete_memory("ann", deleted.id)
        new = store.update_memory("ann", changed.id, memory="number 9 likes milk")
        assert store.search_memories("ann", "milk", mode="lexical")[0].id == new.id
        found = store.search_memories("ann", "number", limit=None)
        ids = {entry.id for entry in found}
        assert len(ids) == 5
        assert {kept.id, new.id} <= ids


def test_a_score_changes_nothing_else_of_a_memory(path):
    with open_store(path) as store:
        entry = store.add_memory("ann", "green tea", topics=["drinks"])
    changed = replace(entry, earlier=("tea",), supersedes=("a",), superseded_by="b")

    scored = changed.with_score(0.5, {"why": "words"})

    assert scored == replace(changed, score=0.5)
    assert (scored.earlier, scored.explanation) == (("tea",), {"why": "words"})


def test_an_expired_memory_leaves_a_loaded_index(path):
    now = [1_000_000_000_000_000]
    backend = sqlite.SQLiteBackend(path, clock=lambda: now[0])
    with MemoryStore(backend, ttl=timedelta(minutes=1)) as store:
        store.add_memory("ann", "green tea")
    backend = sqlite.SQLiteBackend(path, clock=lambda: now[0])
    with MemoryStore(backend) as store:
        assert store.search_memories("ann", "tea")
        now[0] += 61_000_000
        assert not store.search_memories("ann", "tea")


def test_indexes_keep_to_the_budget_and_are_freed_when_dropped(path):
    users = [f"user-{number}" for number in range(12)]
    with open_store(path) as store:
        fill(store, users, 30)
    with open_store(path, search_memory=100_000) as store:
        store.search_memories(users[0], "tea")
        shelves = store._service.shelves
        with shelves.open(("memories", "default", users[0])) as shelf:
            first = weakref.ref(shelf)
        del shelf
        assert first() is not None
        for user in users:
            assert store.search_memories(user, "tea")
            assert shelves.describe()["bytes"] <= 100_000

        assert shelves.describe()["shelves"] < len(users)
        assert first() is None  # at once, not when circles are looked for


def test_an_index_larger_than_the_whole_budget_still_serves(path):
    with open_store(path, search_memory=1) as store:
        fill(store, ["ann", "bob"], 30)
        for _ in range(2):
            for user in ("ann", "bob"):
                assert store.search_memories(user, "tea")
                assert store._service.shelves.describe()["shelves"] == 1


def test_indexes_are_dropped_under_searches_that_run(path):
    users = [f"user-{number}" for number in range(6)]
    with open_store(path, search_memory=60_000) as store:
        fill(store, users, 25)
        wanted = {user: store.search_memories(user, "green tea") for user in users}
        wrong: list[object] = []

        def search(turn):
            for number in range(40):
                user = users[(number * turn) % 6]
                try:
                    if store.search_memories(user, "green tea") != wanted[user]:
                        wrong.append(user)
                except Exception as error:  # noqa: BLE001 - told below
                    wrong.append(error)

        threads = [threading.Thread(target=search, args=(n,)) for n in (1, 5, 7, 11)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert wrong == []
        assert store._service.shelves.describe()["bytes"] <= 60_000


def memory_store(**options):
    return MemoryStore.from_url("memory://", index=INDEX, **options)


def test_an_index_takes_over_the_vectors_that_are_kept_in_pages(monkeypatch):
    for module in (memory, pages):
        monkeypatch.setattr(module, "PAGE", 32)
    monkeypatch.setattr(shelves, "_AT_ONCE", 32)
    with memory_store() as store:
        fill(store, ["ann"], 33)
        backend = store._service.backend
        space = backend._spaces["memories", "default", "ann"]
        space.next_packing = 0
        fill(store, ["bob"], 1)
        store.add_memory("ann", "number 33 likes tea")
        found = [r for r in space.active.values() if pages.as_packed(r)]
        assert len(found) == 32
        rows, _ = found[0].page.place(0)
        store.search_memories("ann", "tea", mode="hybrid")
        (chunk, *_) = store._service.shelves._warm[
            space.namespace
        ].shelf._column._chunks
        assert np.shares_memory(chunk.rows, rows)
        assert all(np.shares_memory(record.vectors, rows) for record in found)
        assert not any(record.tokens for record in space.active.values())


def test_records_have_their_tokens_again_when_the_budget_drops_an_index(monkeypatch):
    users = ["ann", "bob"]
    with memory_store(search_memory=1) as store:
        fill(store, users, 40)
        first = [store.search_memories(user, "green tea") for user in users]
        spaces = store._service.backend._spaces
        (kept,) = [
            namespace
            for namespace, space in spaces.items()
            if namespace[0] == "memories"
            and all(record.tokens for record in space.active.values())
        ]
        assert kept[-1] == "ann"
        monkeypatch.setattr(DefaultTokenizer, "document", None)
        assert [store.search_memories(user, "green tea") for user in users] == first


def test_a_reload_makes_no_tokens_of_what_was_indexed(monkeypatch):
    monkeypatch.setattr(memory, "STUBS_KEPT", 0)
    with memory_store() as store:
        fill(store, ["ann"], 20)
        store.search_memories("ann", "green tea")
        space = store._service.backend._spaces["memories", "default", "ann"]
        for key in list(space.active)[:15]:
            store.delete(space.namespace, key)
        assert space.floor > 20  # what the index shows is too old to be continued
        monkeypatch.setattr(DefaultTokenizer, "document", None)
        assert store.search_memories("ann", "number likes")
