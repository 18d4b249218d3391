"""A search that is interrupted leaves no half an index behind."""

import ctypes
import sqlite3
import threading
import time

import numpy as np
import pytest
from langgraph.store.memory import InMemoryStore

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.search.index import LexicalIndex
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.vectors import VectorColumn
from langchain_agentmemory.service import shelves
from langchain_agentmemory.service.shelves import Shelves
from langchain_agentmemory.store import as_memory_store

ITEMS = 500
POINTS = {
    "a later part of the columns": (Shelves, "_add_columns", 2),
    "what stands in columns": (Shelves, "_stand_columns", 2),
    "a record": (Shelves, "_stand", 300),
    "another part of the records": (Shelf, "load", 2),
    "a changed record": (Shelves, "_update", 2),
    "words of columns": (LexicalIndex, "append_tokens", 1),
    "words": (LexicalIndex, "_append", 2),
    "vectors": (VectorColumn, "add_one_each", 1),
    "later vectors": (VectorColumn, "add_one_each", 2),
    "an open block": (LexicalIndex, "_reserve", 1),
}


def embed(texts):
    return [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]


OPTIONS = {
    "index": {"embed": embed, "dims": 8, "calibrate": False},
    "memory_limit": None,
}


@pytest.fixture(scope="module", params=["memory", "sqlite", "base store"])
def opened(request, tmp_path_factory):
    """Return a function that opens a store over the same 500 memories, cold."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("interrupted")

        def open_store():
            return MemoryStore.from_url(f"sqlite:///{path}/store.db", **OPTIONS)
    elif request.param == "base store":
        below = InMemoryStore()

        def open_store():
            return as_memory_store(below, **OPTIONS)
    else:
        backend = MemoryStore().backend

        def open_store():
            return MemoryStore(backend, **OPTIONS)

    store = open_store()
    for number in range(ITEMS):
        store.add_memory("ann", f"bagged cabbage face {number}")
    return open_store


def interrupt(monkeypatch, point, error):
    """Let the n-th call of a method raise after it did its work."""
    owner, name, number = point
    method, calls = getattr(owner, name), []

    def called(*args, **kwargs):
        calls.append(1)
        result = method(*args, **kwargs)
        if len(calls) == number:
            raise error
        return result

    monkeypatch.setattr(owner, name, called)
    return calls


def found(store, mode):
    return len(store.search_memories("ann", "cabbage", mode=mode, limit=None))


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), MemoryError(), sqlite3.OperationalError("disk")]
)
@pytest.mark.parametrize("point", POINTS)
def test_an_interrupted_search_leaves_nothing_out(opened, point, error, monkeypatch):
    monkeypatch.setattr(shelves, "_AT_ONCE", 200)
    for mode in ("lexical", "vector", "hybrid"):
        store = opened()
        with monkeypatch.context() as patched:
            calls = interrupt(patched, POINTS[point], error)
            try:
                found(store, mode)
            except type(error):
                assert calls
        if isinstance(store.backend, SQLiteBackend):
            assert store.backend._pool._lent == 0  # the exception is still there
        for again in (mode, "lexical", "vector", "hybrid"):
            assert found(store, again) >= ITEMS


def test_an_interrupted_update_leaves_nothing_out(opened, monkeypatch):
    store = opened()
    before = found(store, "hybrid")
    assert before >= ITEMS
    for number in range(5):
        store.add_memory("ann", f"later cabbage {number}")
    with monkeypatch.context() as patched:
        interrupt(patched, (Shelves, "_update", 2), KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            found(store, "hybrid")
    assert store._service.shelves.describe() == {"shelves": 0, "bytes": 0}
    for mode in ("lexical", "vector", "hybrid"):
        assert found(store, mode) == before + 5


@pytest.mark.parametrize("part", ["words", "vectors"])
def test_what_waits_is_taken_when_that_is_done(part, monkeypatch):
    store = MemoryStore()
    tokenizer = store._service.indexer.ranking.tokenizer
    shelf = Shelf(tokenizer, 2, text=lambda item: (item, ""))
    blobs = [tokenizer.document(f"tea {number}", "") for number in range(10)]
    vectors = np.eye(2, dtype=np.float32)[[0, 1] * 5]
    keys = [str(number) for number in range(10)]
    shelf.load_columns(keys, keys, blobs, range(10), vectors)
    owner, name = (
        (LexicalIndex, "append_tokens")
        if part == "words"
        else (VectorColumn, "add_one_each")
    )
    asked = {"words": tokenizer.query("tea"), "vectors": vectors[0]}[part]
    ask = shelf.lexical if part == "words" else shelf.vector
    for _ in range(2):
        with monkeypatch.context() as patched:
            interrupt(patched, (owner, name, 1), KeyboardInterrupt())
            with pytest.raises(KeyboardInterrupt):
                ask(asked)
    assert (shelf.lexical(tokenizer.query("tea")) > 0).sum() == 10
    assert shelf.vector(vectors[0]).tolist() == [1.0, 0.0] * 5


class _Stopped(BaseException):
    """Comes from another thread, as the interrupts of a signal come from outside."""


def test_a_search_that_is_stopped_while_it_waits_for_an_index_gives_the_lock_back():
    store = MemoryStore(memory_limit=None)
    for number in range(300):
        store.add_memory("ann", f"number {number} likes tea")
    store.search_memories("ann", "tea")
    (warm,) = store._service._ranker.shelves._warm.values()
    stopped = []

    def search():
        try:
            store.search_memories("ann", "tea")
        except _Stopped:
            stopped.append(True)

    waiting = threading.Thread(target=search)
    with warm.lock:
        waiting.start()
        time.sleep(0.2)  # until it waits; the test passes if it does not yet
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(waiting.ident or 0), ctypes.py_object(_Stopped)
        )
    waiting.join(10)
    assert stopped
    # Not by a thread made now: it may have the number of the one that ended.
    assert warm.lock.acquire(timeout=5)
    warm.lock.release()
