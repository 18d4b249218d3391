"""A search does not wait for ever for an embedder or a reranker."""

import asyncio
import logging
import threading
import time

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.messages import HumanMessage

from langchain_agentmemory import MemoryStore, PreloadMemories
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.service.time_limit import MOST_HANGING, TimeLimit

SHORT = 0.05  # seconds
LONG = 60.0


class Hanging(Embeddings):
    """Answers documents, and queries only once it is let go."""

    def __init__(self):
        self.go = threading.Event()

    def embed_documents(self, texts):
        return [[1.0, float(len(text) % 5)] for text in texts]

    def embed_query(self, text):
        self.go.wait(LONG)
        return [1.0, float(len(text) % 5)]

    async def aembed_query(self, text):
        while not self.go.is_set():  # noqa: ASYNC110 - also set by threads
            await asyncio.sleep(0.001)
        return [1.0, float(len(text) % 5)]


@pytest.fixture
def embedder():
    hanging = Hanging()
    yield hanging
    hanging.go.set()


@pytest.fixture
def store(embedder):
    index = {"embed": embedder, "calibrate": False, "cache_bytes": 0}
    with MemoryStore(index=index, search_timeout=SHORT) as opened:
        opened.add_memory("ann", "Ann plays chess")
        opened.add_memory("ann", "Ann drinks tea")
        yield opened


def found(store, how, query="chess"):
    if how == "sync":
        return [entry.memory for entry in store.search_memories("ann", query)]
    entries = asyncio.run(store.asearch_memories("ann", query))
    return [entry.memory for entry in entries]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_search_goes_by_words_when_the_embedder_hangs(store, embedder, how, caplog):
    with caplog.at_level(logging.WARNING):
        assert found(store, how) == ["Ann plays chess"]
    assert "no answer within 0.05 s" in caplog.text
    status = store.status()
    assert status["state"] == "degraded: search goes by words"
    assert status["search timeouts"] == "1"
    embedder.go.set()
    assert len(found(store, how, "a game of chess")) == 2
    assert store.status()["state"] == "ok"


@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_order_stays_when_the_reranker_hangs(how, caplog):
    go = threading.Event()

    def last_first(_, entries):
        go.wait(LONG)
        return list(range(len(entries)))

    async def alast_first(_, entries):
        while not go.is_set():  # noqa: ASYNC110 - also set by threads
            await asyncio.sleep(0.001)
        return list(range(len(entries)))

    reranker = last_first if how == "sync" else alast_first
    with MemoryStore(reranker=reranker, search_timeout=SHORT) as store:
        store.add_memory("ann", "chess and chess clubs")
        store.add_memory("ann", "Ann plays chess with Bo on rainy Sunday afternoons")
        with caplog.at_level(logging.WARNING):
            first = found(store, how)
        assert "no answer within" in caplog.text
        assert store.status()["state"] == "degraded: results are not reranked"
        go.set()
        assert found(store, how) == first[::-1]
        assert store.status()["state"] == "ok"


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_turn_goes_on_with_what_words_found(store, how):
    preload = PreloadMemories(store, limit=1, user="ann")
    turn = [HumanMessage("Who plays chess?")]
    if how == "sync":
        block = preload.invoke(turn)["memories"]
    else:
        block = asyncio.run(preload.ainvoke(turn))["memories"]
    assert "Ann plays chess" in block
    assert "tea" not in block


def test_writes_are_waited_for(embedder):
    def slowly(texts):
        time.sleep(3 * SHORT)
        return [[1.0, 0.0] for _ in texts]

    embedder.embed_documents = slowly
    index = {"embed": embedder, "calibrate": False}
    with MemoryStore(index=index, search_timeout=SHORT) as store:
        store.add_memory("ann", "Ann plays chess")
        assert store.owed_vectors("ann").made == 1


def test_calls_that_hang_do_not_pile_up():
    go, begun = threading.Event(), []

    def hang():
        begun.append(1)
        go.wait(LONG)

    limit = TimeLimit(0.001)
    for _ in range(MOST_HANGING + 3):
        with pytest.raises(TimeoutError):
            limit.call(hang)
    assert len(begun) == MOST_HANGING
    assert limit.exceeded == MOST_HANGING + 3
    go.set()
    for thread in limit._hanging:
        thread.join()
    limit = TimeLimit(LONG)
    assert limit.call(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        limit.call(lambda: 1 // 0)


def test_who_waits_for_the_same_question_takes_no_place_of_those_that_hang(caplog):
    go, asked = threading.Event(), []

    def embed(texts):
        asked.append(texts)
        if texts == ["hang"]:
            go.wait(LONG)
        return [[1.0, 2.0] for _ in texts]

    index = {"embed": embed, "dims": 2, "calibrate": False}
    with MemoryStore(index=index, search_timeout=SHORT) as store:
        store.add_memory("ann", "Ann plays chess")
        for _ in range(MOST_HANGING + 2):
            assert store.search_memories("ann", "hang") == []
        assert asked.count(["hang"]) == 1
        time.sleep(SHORT)  # the last one that waited stops waiting
        assert len(store.search_memories("ann", "a game of chess", mode="vector")) == 1
        assert ["a game of chess"] in asked
        assert store.status()["state"] == "ok"
        go.set()


def test_without_a_limit_calls_stay_in_their_thread():
    assert TimeLimit(None).call(threading.get_ident) == threading.get_ident()


@pytest.mark.parametrize("seconds", [0, -1, "1", True, float("nan"), float("inf")])
def test_a_limit_is_a_positive_number(seconds):
    with pytest.raises(InvalidInput, match="search_timeout"):
        MemoryStore(search_timeout=seconds)
