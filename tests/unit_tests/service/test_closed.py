"""A closed store refuses everything in the same words, also what is under way."""

import asyncio
import threading
import time

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import GetOp

from langchain_agentmemory.errors import BackendUnavailable

NS = ("notes",)
ID = "0" * 64

CALLS = {
    "setup": lambda s: s.setup(),
    "with": lambda s: s.__enter__(),
    "sweeper": lambda s: s.start_ttl_sweeper(),
    "sweep_ttl": lambda s: s.sweep_ttl(),
    "batch": lambda s: s.batch([GetOp(NS, "k")]),
    "empty batch": lambda s: s.batch([]),
    "get": lambda s: s.get(NS, "k"),
    "put": lambda s: s.put(NS, "k", {}),
    "delete": lambda s: s.delete(NS, "k"),
    "search": lambda s: s.search(NS),
    "search for nothing": lambda s: s.search(NS, limit=0),
    "list_namespaces": lambda s: s.list_namespaces(),
    "add_memory": lambda s: s.add_memory("ann", "x"),
    "update_memory": lambda s: s.update_memory("ann", ID, "x"),
    "delete_memory": lambda s: s.delete_memory("ann", ID),
    "clear_memories": lambda s: s.clear_memories("ann"),
    "restore_memory": lambda s: s.restore_memory("ann", ID),
    "memory_history": lambda s: s.memory_history("ann", ID),
    "purge_deleted": lambda s: s.purge_deleted(),
    "read_memories": lambda s: s.read_memories("ann"),
    "read nothing": lambda s: s.read_memories("ann", 0),
    "search_memories": lambda s: s.search_memories("ann", "tea"),
    "search for blank": lambda s: s.search_memories("ann", " "),
    "count_memories": lambda s: s.count_memories("ann"),
    "revision": lambda s: s.revision("ann"),
    "erase_user": lambda s: s.erase_user("ann"),
    "status": lambda s: s.status(),
    "describe": lambda s: s.describe(),
}
ASYNC_CALLS = {
    "async with": lambda s: s.__aenter__(),
    "abatch": lambda s: s.abatch([GetOp(NS, "k")]),
    "empty abatch": lambda s: s.abatch([]),
    "aget": lambda s: s.aget(NS, "k"),
    "aput": lambda s: s.aput(NS, "k", {}),
    "asearch": lambda s: s.asearch(NS, limit=0),
    "aadd_memory": lambda s: s.aadd_memory("ann", "x"),
    "aupdate_memory": lambda s: s.aupdate_memory("ann", ID, "x"),
    "adelete_memory": lambda s: s.adelete_memory("ann", ID),
    "aclear_memories": lambda s: s.aclear_memories("ann"),
    "arestore_memory": lambda s: s.arestore_memory("ann", ID),
    "amemory_history": lambda s: s.amemory_history("ann", ID),
    "apurge_deleted": lambda s: s.apurge_deleted(),
    "aread_memories": lambda s: s.aread_memories("ann", 0),
    "asearch_memories": lambda s: s.asearch_memories("ann", " "),
    "acount_memories": lambda s: s.acount_memories("ann"),
    "arevision": lambda s: s.arevision("ann"),
    "aerase_user": lambda s: s.aerase_user("ann"),
}


class Slow(Embeddings):
    """Says when it is asked, and answers when it is told to."""

    def __init__(self):
        self.asked = threading.Event()
        self.go_on = threading.Event()

    def embed_documents(self, texts):
        self.asked.set()
        assert self.go_on.wait(10)
        return [[1.0, 2.0] for _ in texts]

    def embed_query(self, text):
        return self.embed_documents([text])[0]


@pytest.fixture
def closed(make_store):
    store = make_store(soft_delete=True)
    store.add_memory("ann", "tea")
    store.close()
    store.close()
    return store


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_store_refuses_every_call(closed, call):
    with pytest.raises(BackendUnavailable, match="closed"):
        CALLS[call](closed)


@pytest.mark.parametrize("call", ASYNC_CALLS)
async def test_a_closed_store_refuses_every_async_call(closed, call):
    with pytest.raises(BackendUnavailable, match="closed"):
        await ASYNC_CALLS[call](closed)
    await closed.aclose()


async def test_a_call_under_way_is_told_that_the_store_was_closed(make_store):
    embedder = Slow()
    store = make_store(index={"embed": embedder, "dims": 2})
    under_way = asyncio.create_task(store.aadd_memory("ann", "tea"))
    await asyncio.to_thread(embedder.asked.wait)
    await store.aclose()
    embedder.go_on.set()
    with pytest.raises(BackendUnavailable, match="closed"):
        await under_way


async def test_no_error_of_the_threads_shows_while_a_store_closes(make_store):
    for round_ in range(5):
        store = make_store(f"store{round_}")
        calls = [
            asyncio.create_task(store.aadd_memory("ann", f"tea {number}"))
            for number in range(50)
        ]
        await asyncio.sleep(0.001 * round_)
        store.close()
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, BackendUnavailable), repr(outcome)
                assert "closed" in str(outcome)


async def test_tools_answer_with_a_text_when_the_store_was_closed(make_store):
    embedder = Slow()
    store = make_store(index={"embed": embedder, "dims": 2})
    tools = {tool.name: tool for tool in store.tools("ann")}
    under_way = asyncio.create_task(tools["memory_add"].ainvoke({"memory": "tea"}))
    await asyncio.to_thread(embedder.asked.wait)
    await store.aclose()
    embedder.go_on.set()
    assert "cannot be reached" in await under_way
    assert "cannot be reached" in await tools["memory_load"].ainvoke({})
    assert "cannot be reached" in tools["memory_search"].invoke({"query": "tea"})


def test_a_running_sweeper_ends_quietly_when_its_store_is_closed(make_store, caplog):
    store = make_store(ttl={"default_ttl": 1})
    finished = store.start_ttl_sweeper(sweep_interval_minutes=0.00001)
    time.sleep(0.05)
    store.close()
    finished.result(timeout=5)
    assert not caplog.records
