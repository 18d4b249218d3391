"""One object for threads, loops and notebooks, and none of them is ever blocked."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest
from langchain_core.embeddings import Embeddings

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends.sqlite import SQLiteBackend

pytestmark = pytest.mark.timeout(60)


class SlowEmbeddings(Embeddings):
    """Takes its time, without a loop of its own."""

    def __init__(self, seconds=0.3):
        self.seconds = seconds

    def embed_documents(self, texts):
        time.sleep(self.seconds)
        return [[float(len(text)), 1.0, 0.0] for text in texts]

    def embed_query(self, text):
        return [1.0, 1.0, 0.0]


async def every_verb(store):
    entry = await store.aadd_memory("ann", "Likes tea", topics=["drinks"])
    entry = await store.aupdate_memory("ann", entry.id, "喜欢喝茶")
    assert [e.id for e in await store.aread_memories("ann")] == [entry.id]
    assert [e.id for e in await store.asearch_memories("ann", "喝茶")] == [entry.id]
    assert await store.acount_memories("ann") == 1
    assert await store.adelete_memory("ann", entry.id)
    assert (await store.arestore_memory("ann", entry.id)).id == entry.id
    assert len(await store.amemory_history("ann", entry.id)) == 2
    assert await store.aclear_memories("ann") == 1
    assert await store.apurge_deleted(user="ann") == 2
    await store.aput(("a",), "k", {"n": 1})
    assert (await store.aget(("a",), "k")).value == {"n": 1}
    assert len(await store.asearch(("a",))) == 1
    assert await store.alist_namespaces() == [("a",)]
    await store.adelete(("a",), "k")
    assert (await store.aerase_user("ann")).memories == 0


@pytest.fixture
def opened(make_store):
    """A store that was opened before any loop ran."""
    return make_store(soft_delete=True)


async def test_no_async_verb_blocks_the_loop(opened, no_blocking):
    await every_verb(opened)


async def test_opening_and_closing_blocks_no_loop(tmp_path, no_blocking):
    backend = SQLiteBackend(tmp_path / "a.db")
    async with MemoryStore(backend, soft_delete=True) as store:
        await every_verb(store)


def test_one_store_serves_several_loops_and_threads(make_store):
    store = make_store(soft_delete=True)
    for _ in range(2):
        asyncio.run(every_verb(store))
    errors = []

    def work():
        try:
            asyncio.run(every_verb(store))
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []


async def test_sync_verbs_work_inside_a_running_loop(make_store):
    store = make_store()
    store.add_memory("ann", "Likes tea")
    assert (await store.aread_memories("ann"))[0].memory == "Likes tea"


async def test_a_slow_embedder_delays_nobody_else(make_store):
    store = make_store(index={"embed": SlowEmbeddings(0.6), "dims": 3})
    await store.aput(("a",), "k", {"n": 1}, index=False)
    writing = asyncio.create_task(store.aadd_memory("ann", "slow"))
    await asyncio.sleep(0.05)
    started = time.perf_counter()
    assert (await store.aget(("a",), "k")).value == {"n": 1}
    assert time.perf_counter() - started < 0.3
    assert not writing.done()
    await writing


async def test_many_concurrent_writers_lose_nothing(make_store):
    store = make_store(memory_limit=50)
    results = await asyncio.gather(
        *(store.aadd_memory("ann", f"memory {n}") for n in range(80)),
        return_exceptions=True,
    )
    stored = [entry for entry in results if not isinstance(entry, Exception)]
    assert len(stored) == await store.acount_memories("ann") == 50


async def test_a_cancelled_write_is_whole_or_absent(make_store):
    store = make_store(index={"embed": SlowEmbeddings(0.1), "dims": 3})
    task = asyncio.create_task(store.aadd_memory("ann", "cancelled"))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.2)
    assert store.count_memories("ann") in {0, 1}
    assert (await store.aadd_memory("ann", "next")).memory == "next"


def test_an_async_only_embedder_serves_synchronous_callers(make_store):
    async def embed(texts):
        return [[float(len(text)), 1.0] for text in texts]

    store = make_store(index={"embed": embed, "dims": 2})
    store.add_memory("ann", "Likes tea")
    assert store.search_memories("ann", "tea")[0].memory == "Likes tea"


def test_an_open_store_does_not_keep_the_process_alive(tmp_path):
    script = (
        "import asyncio\n"
        "from langchain_agentmemory import MemoryStore\n"
        f"store = MemoryStore.from_url('sqlite:///{tmp_path}/open.db', ttl=None)\n"
        "store.start_ttl_sweeper(0.01)\n"
        "asyncio.run(store.aadd_memory('ann', 'left open'))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)


def test_a_store_works_after_a_fork(make_store):
    store = make_store()
    asyncio.run(store.aadd_memory("ann", "before"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(store.aadd_memory("ann", "in the child"))
            code = 0 if store.count_memories("ann") == 2 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    asyncio.run(store.aadd_memory("ann", "in the parent"))
    expected = 2 if store.backend.name == "memory" else 3
    assert store.count_memories("ann") == expected


def test_closing_twice_is_fine_and_later_calls_say_so():
    store = MemoryStore()
    store.add_memory("ann", "Likes tea")
    store.close()
    store.close()
    with pytest.raises(Exception, match="closed"):
        store.read_memories("ann")


async def test_the_async_context_manager_closes_the_store(tmp_path):
    async with MemoryStore.from_url(f"sqlite:///{tmp_path}/a.db") as store:
        await store.aadd_memory("ann", "Likes tea")
    with pytest.raises(Exception, match="closed"):
        await store.aread_memories("ann")
