"""Vectors of texts that were embedded lately are not made again."""

import asyncio
import threading

import numpy as np
import pytest

from langchain_agentmemory.service.embedding import Embedder
from langchain_agentmemory.service.plans import Embed
from langchain_agentmemory.service.vector_cache import VectorCache, cache_key
from tests.unit_tests.service.counting import Counting


def key(number, role="document", embedder=1):
    return cache_key(embedder, role, f"text {number}")


def row(number, dims=16):
    return np.full(dims, number, np.float32)


def test_the_cache_keeps_the_most_recently_used_within_its_bytes():
    cache = VectorCache(10_000)
    for number in range(500):
        cache.put(key(number), row(number))
        assert cache.get(key(0)) is not None  # used again and again
        assert cache.bytes <= 10_000
    assert 10 < len(cache) < 30
    assert cache.get(key(0))[0] == 0
    assert cache.get(key(499))[0] == 499
    assert cache.get(key(1)) is None


def test_the_bytes_are_about_those_that_python_takes():
    import sys  # noqa: PLC0415

    cache = VectorCache(10_000_000)
    for number in range(1_000):
        cache.put(key(number), row(number, 512))
    held = cache._vectors
    real = sys.getsizeof(held) + sum(
        sys.getsizeof(k) + sys.getsizeof(k.digest) + sys.getsizeof(v)
        for k, v in held.items()
    )
    assert real == pytest.approx(cache.bytes, rel=0.1)


def test_texts_roles_and_embedders_are_apart():
    cache = VectorCache(10_000)
    cache.put(key(1), row(1))
    assert cache.get(key(1, role="query")) is None
    assert cache.get(key(1, embedder=2)) is None
    assert cache.get(key(2)) is None
    assert cache.get(key(1)) is not None


def test_what_is_larger_than_the_cache_is_not_kept_and_evicts_nothing():
    cache = VectorCache(1_000)
    cache.put(key(1), row(1))
    cache.put(key(2), row(2, dims=1_000))
    assert cache.get(key(2)) is None
    assert cache.get(key(1)) is not None


def test_threads_share_a_cache():
    cache = VectorCache(5_000)
    wrong = []

    def work(seed):
        for step in range(2_000):
            number = (step * seed) % 40
            found = cache.get(key(number))
            if found is None:
                cache.put(key(number), row(number))
            elif found[0] != number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 3, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert cache.bytes == len(cache) * (cache.bytes // len(cache)) <= 5_000


def test_the_same_question_is_embedded_once(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings, "dims": 26, "calibrate": False})
    store.add_memory("ann", "drinks tea")
    first = store.search_memories("ann", "tea?")
    for _ in range(5):
        assert [e.score for e in store.search_memories("ann", "tea?")] == [
            e.score for e in first
        ]
    assert embeddings.asked("query") == ["tea?"]


async def test_sync_and_async_callers_share_it(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings, "dims": 26, "calibrate": False})
    await store.aadd_memory("ann", "drinks tea")
    await store.asearch_memories("ann", "tea?")
    store.search_memories("ann", "tea?")
    assert embeddings.asked("query") == ["tea?"]


def test_a_text_of_several_users_is_embedded_once(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings, "dims": 26, "calibrate": False})
    for user in ("ann", "bo", "cy"):
        store.add_memory(user, "drinks tea")
        assert store.search_memories(user, "tea", mode="vector")[0].score > 0.5
    assert embeddings.asked("document") == ["drinks tea"]


def test_an_erased_user_leaves_no_vectors_in_the_cache(make_store):
    embeddings = Counting()
    store = make_store(index={"embed": embeddings, "dims": 26, "calibrate": False})
    store.add_memory("ann", "drinks tea")
    store.search_memories("ann", "tea?")
    store.erase_user("ann")
    store.add_memory("ann", "drinks tea")
    store.search_memories("ann", "tea?")
    assert embeddings.asked("document") == ["drinks tea"] * 2
    assert embeddings.asked("query") == ["tea?"] * 2


def test_the_cache_can_be_switched_off(make_store):
    embeddings = Counting()
    index = {"embed": embeddings, "dims": 26, "cache_bytes": 0, "calibrate": False}
    store = make_store(index=index)
    store.add_memory("ann", "drinks tea")
    store.search_memories("ann", "tea?")
    store.search_memories("ann", "tea?")
    assert embeddings.asked("query") == ["tea?", "tea?"]


def test_a_failure_is_not_cached():
    embeddings = Counting()
    embedder = Embedder({"embed": embeddings, "dims": 26})
    embeddings.down = True
    assert embedder.embed(Embed(("tea",), "query")) is None
    assert embedder.embed(Embed(("tea",), "document")) is None
    embeddings.down = False
    assert embedder.embed(Embed(("tea",), "query")) is not None
    assert embedder.embed(Embed(("tea",), "document")) is not None


def test_a_text_without_a_direction_is_not_cached():
    class Empty(Counting):
        blank = True

        def vector(self, text):
            return [0.0] * 26 if self.blank else super().vector(text)

    embeddings = Empty()
    embedder = Embedder({"embed": embeddings, "dims": 26})
    assert embedder.embed(Embed(("tea",), "document")) is None
    embeddings.blank = False
    assert embedder.embed(Embed(("tea",), "document")) is not None


@pytest.mark.parametrize("role", ["query", "document"])
def test_who_changes_an_answer_changes_it_for_nobody_else(role):
    embedder = Embedder({"embed": Counting(), "dims": 26})
    first = embedder.embed(Embed(("tea",), role))
    expected = first.copy()
    first[:] = 7
    second = embedder.embed(Embed(("tea",), role))
    assert np.array_equal(second, expected)
    second[:] = 9
    assert np.array_equal(embedder.embed(Embed(("tea",), role)), expected)


def test_a_request_asks_only_for_what_is_not_known():
    embeddings = Counting()
    embedder = Embedder({"embed": embeddings, "dims": 26})
    embedder.embed(Embed(("aa", "bb"), "document"))
    vectors = embedder.embed(Embed(("cc", "aa", "dd", "bb"), "document"))
    assert embeddings.calls[1:] == [("document", ("cc", "dd"))]
    assert vectors.argmax(axis=1).tolist() == [2, 0, 3, 1]


class Held(Counting):
    """Answers queries only when it is let go."""

    def __init__(self):
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def embed_query(self, text):
        found = super().embed_query(text)
        self.begun.set()
        assert self.go.wait(10)
        return found

    async def aembed_query(self, text):
        return await asyncio.to_thread(self.embed_query, text)


def test_a_question_that_several_threads_ask_at_once_is_embedded_once():
    embeddings = Held()
    embedder = Embedder({"embed": embeddings, "dims": 26})
    answers = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(embedder.embed(Embed(("tea?",), "query")))
        )
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    assert embeddings.begun.wait(10)
    assert embedder.embed(Embed(("other",), "document")) is not None  # waits for nobody
    embeddings.go.set()
    for thread in threads:
        thread.join(10)
    assert embeddings.asked("query") == ["tea?"]
    assert len(answers) == 5
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    assert not embedder._turns._turns


async def test_a_question_that_several_coroutines_ask_at_once_is_embedded_once():
    embeddings = Held()
    embedder = Embedder({"embed": embeddings, "dims": 26})
    asking = [
        asyncio.create_task(embedder.aembed(Embed(("tea?",), "query")))
        for _ in range(5)
    ]
    await asyncio.to_thread(embeddings.begun.wait, 10)
    embeddings.go.set()
    answers = await asyncio.gather(*asking)
    assert embeddings.asked("query") == ["tea?"]
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    assert not embedder._turns._async_turns


async def test_who_waits_for_a_cancelled_caller_embeds_by_itself():
    embeddings = Held()
    embedder = Embedder({"embed": embeddings, "dims": 26})
    first, second = (
        asyncio.create_task(embedder.aembed(Embed(("tea?",), "query")))
        for _ in range(2)
    )
    await asyncio.to_thread(embeddings.begun.wait, 10)
    first.cancel()
    embeddings.go.set()
    assert (await second).shape == (1, 26)
    assert first.cancelled()


async def test_a_synchronous_caller_never_waits_for_a_coroutine_of_its_own_loop():
    class Pending(Counting):
        async def aembed_query(self, text):
            await asyncio.sleep(3600)

    embedder = Embedder({"embed": Pending(), "dims": 26})
    task = asyncio.create_task(embedder.aembed(Embed(("tea?",), "query")))
    await asyncio.sleep(0.01)
    assert embedder.embed(Embed(("tea?",), "query")) is not None
    task.cancel()


def test_an_embedder_may_ask_for_its_own_question():
    class Curious(Counting):
        embedder = None

        def embed_query(self, text):
            if not self.calls:
                self.calls.append(("query", (text,)))
                self.embedder.embed(Embed((text,), "query"))
            return super().embed_query(text)

    embeddings = Curious()
    embeddings.embedder = Embedder({"embed": embeddings, "dims": 26})
    assert embeddings.embedder.embed(Embed(("tea?",), "query")) is not None
