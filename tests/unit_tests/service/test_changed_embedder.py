"""A store that is opened with another model, or with its first one."""

import logging

import pytest

from tests.unit_tests.service.counting import Counting


class Backwards(Counting):
    """The same letters, the other way round: its vectors compare with no others."""

    def vector(self, text):
        return super().vector(text)[::-1]


class Wide(Counting):
    """Another dimension."""

    dims = 30


@pytest.fixture
def reopened(make_store):
    """A store with two memories of `Counting`, then opened with another index."""

    def change(index, *, first=None):
        store = make_store(index=first or {"embed": Counting(), "dims": 26})
        store.add_memory("ann", "drinks tea")
        store.add_memory("ann", "plays chess")
        backend = store.backend
        if store.describe()["engine"] == "in-memory":
            from langchain_agentmemory import MemoryStore  # noqa: PLC0415

            return MemoryStore(backend, index=index)
        store.close()
        return make_store(index=index)

    return change


@pytest.mark.parametrize("index", [
    {"embed": Backwards(), "dims": 26}, {"embed": Wide()},
    {"embed": Counting(), "dims": 26, "name": "other"},
    {"embed": Counting(), "dims": 26, "query_prefix": "query: "},
])  # fmt: skip
def test_vectors_of_another_model_are_never_compared(reopened, index, caplog):
    store = reopened(index)
    with caplog.at_level(logging.WARNING):
        found = store.search_memories("ann", "tea", mode="vector", explain=True)
        store.search_memories("ann", "chess")
    assert [e.memory for e in found] == ["drinks tea"]  # by its words
    assert found[0].explanation.get("similarity") is None
    told = [r for r in caplog.records if "another embedder" in r.getMessage()]
    assert len(told) == 1
    assert "reindex()" in told[0].getMessage()
    store.close()


def test_status_and_counts_show_what_is_owed_until_reindex(reopened):
    embeddings = Backwards()
    store = reopened({"embed": embeddings, "dims": 26, "batch_size": 2})
    store.add_memory("ann", "sings")
    assert store.owed_vectors() == (1, 2, 0)
    assert store.owed_vectors("ann").owed == 2
    assert store.owed_vectors("bo") == (0, 0, 0)
    assert "2 have another embedder's: run reindex()" in store.status()["vectors"]
    assert "Backwards" in store.describe()["index"]
    steps = []
    assert store.reindex(progress=lambda *step: steps.append(step)) == 2
    assert steps == [(2, 3), (3, 3)]
    assert store.owed_vectors() == (3, 0, 0)
    assert store.status()["vectors"] == "3 items have them"
    found = store.search_memories("ann", "drinks eat", mode="vector", explain=True)
    assert found[0].memory == "drinks tea"
    store.close()


async def test_a_store_without_vectors_gets_them(reopened, caplog):
    first = {"embed": Counting(fails=range(9)), "dims": 26}
    store = reopened({"embed": Counting(), "dims": 26}, first=first)
    caplog.clear()
    assert [e.memory for e in store.search_memories("ann", "tea")] == ["drinks tea"]
    assert not caplog.records  # nothing is wrong with it
    assert await store.aowed_vectors() == (0, 0, 2)
    assert "2 have none: run reindex()" in store.status()["vectors"]
    assert await store.areindex("ann") == 2
    assert store.owed_vectors() == (2, 0, 0)
    store.close()


def test_items_without_text_and_without_index_are_not_owed(make_store):
    store = make_store(index={"embed": Counting(), "dims": 26, "fields": ["text"]})
    store.put(("a",), "k", {"number": 1})
    store.put(("a",), "l", {"text": "tea"}, index=False)
    store.put(("a",), "m", {"text": "tea"})
    assert store.owed_vectors() == (1, 0, 0)


def test_a_store_with_very_many_items_is_not_looked_through(make_store, monkeypatch):
    monkeypatch.setattr("langchain_agentmemory.service.service.COUNTED", 1)
    store = make_store(index={"embed": Counting(), "dims": 26})
    store.add_memory("ann", "tea")
    assert store.status()["vectors"] == "1 items have them"
    store.add_memory("ann", "coffee")
    assert "not looked through" in store.status()["vectors"]
