"""Calibrated search of stores: labels, neighbours and both halves, end to end."""

import pytest

from langchain_agentmemory import Source
from langchain_agentmemory.search.formula import SCORE_ROOT
from langchain_agentmemory.search.probes import PROBES
from tests.unit_tests.service.counting import Counting

PROBE_TEXTS = 4 * len(PROBES)


def scores(found):
    return {entry.memory: entry.score for entry in found}


def test_the_first_search_measures_the_embedder_and_later_ones_do_not(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings, "dims": 26})
    store.add_memory("ann", "drinks tea")
    assert embeddings.asked("document") == ["drinks tea"]
    store.search_memories("ann", "tea", mode="lexical")
    assert embeddings.asked("query") == []
    first = store.search_memories("ann", "tea")
    assert len(embeddings.asked("document")) == 1 + PROBE_TEXTS
    assert embeddings.requests("query") == 2  # one of them a probe
    del embeddings.calls[:]
    store.add_memory("bo", "drinks tea")
    assert scores(store.search_memories("bo", "tea")) == scores(first)
    assert store.search_memories("bo", "what does bo drink?")
    assert embeddings.requests("document") == 0
    assert embeddings.asked("query") == ["what does bo drink?"]


def test_a_second_store_reads_what_the_first_one_measured(tmp_path):
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415 - a file of its own

    found = []
    for _ in range(2):
        embeddings = Counting()
        url = f"sqlite:///{tmp_path / 'memories.db'}"
        with MemoryStore.from_url(url, index={"embed": embeddings}) as store:
            store.add_memory("ann", "drinks tea")
            store.add_memory("ann", "plays chess at night")
            found.append(scores(store.search_memories("ann", "chess", mode="vector")))
            measured = len(embeddings.asked("document"))
    assert measured == 0  # and nothing was written anew
    assert found[0] == found[1]


def test_without_calibration_nothing_but_the_question_is_embedded(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings, "calibrate": False})
    store.add_memory("ann", "drinks tea")
    (found,) = store.search_memories("ann", "drinks tea")
    assert found.score == pytest.approx(1)
    assert embeddings.calls == [
        ("document", ("drinks tea",)),
        ("query", ("drinks tea",)),
    ]


async def test_async_searches_measure_it_too(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings})
    await store.aadd_memory("ann", "drinks tea")
    found = await store.asearch_memories("ann", "tea")
    assert len(embeddings.asked("document")) == 1 + PROBE_TEXTS
    assert scores(found) == scores(store.search_memories("ann", "tea"))


@pytest.mark.parametrize(
    "labels", [{"topics": ["tea"]}, {"participants": ["tea"]}, {"location": "tea"}]
)
def test_labels_that_match_count_for_more(make_store, labels):
    """The same score by words, with the bonus of 40 % under the root."""
    store = make_store()
    store.add_memory("ann", "drinks a lot", **labels)
    (found,) = store.search_memories("ann", "tea pot", explain=True)
    evidence = found.explanation["lexical"]
    assert found.score == pytest.approx((1.4 * evidence) ** SCORE_ROOT)


def test_labels_count_for_nothing_more_in_the_reference_ranking(make_store):
    store = make_store(ranking="reference")
    store.add_memory("ann", "drinks a lot", topics=["tea"])
    options = {"similarity_threshold": 0, "explain": True}
    (found,) = store.search_memories("ann", "tea pot", **options)
    assert found.score == found.explanation["lexical"]


@pytest.mark.parametrize("index", [None, {"embed": Counting(), "calibrate": False}])
def test_neighbours_in_a_conversation_lend_and_those_of_another_do_not(
    make_store, index
):
    store = make_store(index=index)
    store.add_memory("ann", "green tea?", source=Source("t", position=0))
    store.add_memory("ann", "xyz", source=Source("t", position=2))
    store.add_memory("ann", "xyzz", source=Source("t", position=9))
    store.add_memory("ann", "xzz", source=Source("other", position=1))
    store.add_memory("bo", "xzzz", source=Source("t", position=1))
    found = scores(store.search_memories("ann", "green tea", limit=None))
    assert found["green tea?"] > found["xyz"] > 0
    assert found["xyz"] > max(found.get("xyzz", 0), found.get("xzz", 0))
    assert "xzzz" not in found
    assert store.search_memories("bo", "green tea", mode="lexical") == []


def test_a_neighbour_that_is_not_indexed_is_not_found(make_store):
    for index in (None, {"embed": Counting(), "calibrate": False}):
        store = make_store(f"store{index is None}", index=index)
        store.add_memory("ann", "green tea", source=Source("t", position=0))
        hidden = store.add_memory("ann", "secret", source=Source("t", position=1))
        assert len(store.search_memories("ann", "green tea")) == 2
        namespace = ("memories", "default", "ann")
        value = store.get(namespace, hidden.id).value
        store.put(namespace, hidden.id, value, index=False)
        sources = {e.memory: e.source for e in store.read_memories("ann")}
        assert sources["secret"] == Source("t", position=1)
        found = store.search_memories("ann", "green tea")
        assert [entry.memory for entry in found] == ["green tea"]


def test_neighbours_stay_right_through_updates_deletes_and_restarts(make_store):
    store = make_store()
    entries = [
        store.add_memory("ann", text, source=Source("t", position=n))
        for n, text in enumerate(("green tea", "abc", "bcd", "cde", "def"))
    ]
    before = scores(store.search_memories("ann", "green tea"))
    assert before.keys() == {"green tea", "abc", "bcd"}
    store.delete_memory("ann", entries[1].id)
    found = scores(store.search_memories("ann", "green tea"))
    assert found.keys() == {"green tea", "bcd", "cde"}
    assert found["bcd"] == pytest.approx(before["abc"], abs=0.05)
    store.update_memory("ann", entries[0].id, memory="black coffee")
    assert scores(store.search_memories("ann", "green tea")) == {}
    found = scores(store.search_memories("ann", "black coffee"))
    assert found.keys() == {"black coffee", "bcd", "cde"}
    if store.describe()["engine"] != "in-memory":
        again = make_store()
        assert scores(again.search_memories("ann", "black coffee")) == found
