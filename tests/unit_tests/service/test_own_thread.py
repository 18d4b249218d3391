"""Other people's code that hangs or raises oddly keeps neither a caller nor an exit."""

import asyncio
import contextvars
import os
import subprocess
import sys
import threading

import pytest
from langchain_core.documents import BaseDocumentCompressor

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.service.own_thread import (
    MOST_THREADS,
    in_own_loop,
    in_own_thread,
)

LONG = 60.0

HANGING = {
    "sync": "def ask(*_): time.sleep(600)",
    "async": "async def ask(*_): await asyncio.sleep(600)",
}
ROLES = {
    "reranker": "MemoryStore(reranker=ask, search_timeout=0.05)",
    "embedder": (
        "MemoryStore(index={'embed': embed, 'dims': 2, 'calibrate': False},"
        " search_timeout=0.05)"
    ),
    "compressor": "MemoryStore(reranker=Compressor(), search_timeout=0.05)",
}
SEARCHES = {
    "sync": "found = store.search_memories('ann', 'tea')",
    "async": "found = asyncio.run(store.asearch_memories('ann', 'tea'))",
}
SCRIPT = """
import asyncio, time
from langchain_core.documents import BaseDocumentCompressor
from langchain_agentmemory import MemoryStore
{hanging}
class Compressor(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        time.sleep(600)
def embed(texts):
    return ask(texts) if texts == ['tea'] else [[1.0, 2.0] for _ in texts]
if asyncio.iscoroutinefunction(ask):
    async def embed(texts):
        return await ask() if texts == ['tea'] else [[1.0, 2.0] for _ in texts]
store = {store}
store.add_memory('ann', 'green tea')
store.add_memory('ann', 'black tea')
{search}
print(len(found))
"""


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("hanging", HANGING)
def test_what_hangs_keeps_no_interpreter_from_ending(hanging, role, search):
    if (hanging, role) == ("async", "compressor"):
        pytest.skip("the compressor is a synchronous one")
    script = SCRIPT.format(
        hanging=HANGING[hanging], store=ROLES[role], search=SEARCHES[search]
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "2\n"


def test_an_open_store_says_nothing_at_exit():
    script = (
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore(index={'embed': lambda t: [[1.0]] * len(t), 'dims': 1})\n"
        "store.add_memory('ann', 'green tea')\n"
        "store.search_memories('ann', 'tea')\n"
        "store.erase_user('ann')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, timeout=60
    )
    assert b"Exception ignored" not in done.stderr


def raises(error):
    def ask(*_):
        raise error

    return ask


class Failing(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        raise StopIteration


@pytest.mark.parametrize("seconds", [None, LONG])
@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("reranker", [raises(StopIteration()), Failing()])
def test_a_reranker_that_raises_stop_iteration_has_failed(
    reranker, how, seconds, caplog
):
    store = MemoryStore(reranker=reranker, search_timeout=seconds)
    store.add_memory("ann", "tea and tea leaves")
    store.add_memory("ann", "a cup of tea on the old table")
    expected = store.search_memories("ann", "tea", rerank=False)
    caplog.clear()
    assert search(store, how) == expected
    assert "The results keep the order that they had" in caplog.text


@pytest.mark.parametrize("seconds", [None, LONG])
@pytest.mark.parametrize("how", ["sync", "async"])
def test_an_embedder_that_raises_stop_iteration_has_failed(how, seconds, caplog):
    def embed(texts):
        if texts == ["tea"]:
            raise StopIteration
        return [[1.0, 2.0] for _ in texts]

    index = {"embed": embed, "dims": 2, "calibrate": False}
    store = MemoryStore(index=index, search_timeout=seconds)
    store.add_memory("ann", "green tea")
    assert [entry.memory for entry in search(store, how)] == ["green tea"]
    assert "StopIteration" in caplog.text


def search(store, how):
    if how == "sync":
        return store.search_memories("ann", "tea")

    async def asearch():
        return await asyncio.wait_for(store.asearch_memories("ann", "tea"), 10)

    return asyncio.run(asearch())


variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable")


async def test_calls_have_the_context_of_the_caller():
    variable.set(3)

    async def read():
        return variable.get()

    assert await in_own_thread(variable.get) == 3
    assert in_own_loop(read) == 3


async def test_errors_reach_the_caller():
    async def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await in_own_thread(raises(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        in_own_loop(fail)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_own_thread(raises(StopIteration()))


async def test_calls_share_a_few_threads():
    threads = set()

    def note():
        threads.add(threading.get_ident())
        return 1

    assert sum(await asyncio.gather(*(in_own_thread(note) for _ in range(200)))) == 200
    assert len(threads) <= MOST_THREADS


async def test_a_call_that_was_given_up_before_its_turn_is_not_made():
    go, made = threading.Event(), []
    running = [
        asyncio.ensure_future(in_own_thread(lambda: go.wait(LONG)))
        for _ in range(MOST_THREADS)
    ]
    late = asyncio.ensure_future(in_own_thread(lambda: made.append(1)))
    await asyncio.sleep(0)
    late.cancel()
    await asyncio.sleep(0)
    go.set()
    assert all(await asyncio.gather(*running))
    assert await in_own_thread(lambda: 5) == 5
    assert made == []


FORKING = """
import asyncio, os
from langchain_agentmemory.service.own_thread import in_own_thread

async def five():
    return await in_own_thread(lambda: 5)

assert asyncio.run(five()) == 5
child = os.fork()
if child == 0:
    os._exit(0 if asyncio.run(five()) == 5 else 2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_threads_are_started_anew_after_a_fork():
    # In a process of its own: other tests' threads would be lost in the middle of it.
    subprocess.run([sys.executable, "-c", FORKING], check=True, timeout=60)
