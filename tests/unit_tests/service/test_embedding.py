"""The embedder of a store: batches, prefixes, configuration."""

import threading

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langgraph.store.base import PutOp

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.service.embedding import Embedder
from langchain_agentmemory.service.plans import Embed
from tests.unit_tests.service.counting import Counting

NS = ("notes",)


def texts(count):
    return tuple(f"{'abcdefghij'[n % 10] * (n // 10 + 1)}" for n in range(count))


def puts(count):
    return [PutOp(NS, f"k{n}", {"text": text}) for n, text in enumerate(texts(count))]


def make(embeddings, **options):
    return Embedder({"embed": embeddings, "dims": 26, **options})


async def ask(embedder, way, role, *given):
    request = Embed(tuple(given), role)
    if way == "sync":
        return embedder.embed(request)
    return await embedder.aembed(request)


ways = pytest.mark.parametrize("way", ["sync", "async"])


@ways
@pytest.mark.parametrize(("count", "sizes"), [
    (1, [1]), (10, [10]), (11, [10, 1]), (35, [10, 10, 10, 5]),
])  # fmt: skip
async def test_documents_are_sent_in_batches(way, count, sizes):
    embeddings = Counting()
    embedder = make(embeddings, batch_size=10)
    vectors = await ask(embedder, way, "document", *texts(count))
    assert [len(asked) for _, asked in embeddings.calls] == sizes
    assert vectors.shape == (count, 26)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for row, text in zip(vectors, texts(count), strict=True):
        assert row.argmax() == ord(text[0]) - 97


@ways
async def test_a_failing_batch_takes_only_its_own_vectors_along(way, caplog):
    embedder = make(Counting(fails=[1]), batch_size=10)
    vectors = await ask(embedder, way, "document", *texts(30))
    assert np.isnan(vectors).any(axis=1).tolist() == [10 <= n < 20 for n in range(30)]
    assert embedder.last_error == "quota exceeded"
    assert "failed on 10 of 30 texts" in caplog.text


async def test_an_embedder_that_is_down_is_not_asked_for_every_batch():
    embeddings = Counting()
    embeddings.down = True
    embedder = make(embeddings, batch_size=1)
    assert await ask(embedder, "sync", "document", *texts(30)) is None
    assert embeddings.requests("document") == 2


async def test_what_a_failing_batch_owes_is_completed_by_reindex(make_store):
    embeddings = Counting(fails=[1])
    store = make_store(index={"embed": embeddings, "dims": 26, "batch_size": 10})
    store.batch(puts(30))
    assert len(store.search(NS, limit=100)) == 30
    embeddings.calls.clear()
    embeddings.fails.clear()
    assert store.reindex() == 10
    asked = embeddings.asked("document")
    assert sorted(asked) == sorted(f'{{"text": "{t}"}}' for t in texts(30)[10:20])
    assert store.reindex() == 0


def test_a_text_that_an_embedder_refuses_keeps_no_other_from_being_completed(
    make_store,
):
    embeddings = Counting(refuses="zebra")
    embeddings.down = True
    store = make_store(index={"embed": embeddings, "dims": 26})
    store.batch([*puts(20), PutOp(NS, "z", {"text": "a zebra"}), *puts(40)[20:]])
    store.add_memory("ann", "rode a zebra")
    store.add_memory("zoe", "drinks tea")
    embeddings.down = False
    with pytest.raises(BackendUnavailable, match="failed on 2 items"):
        store.reindex()
    assert store.owed_vectors() == (41, 0, 2)
    embeddings.refuses = None
    assert store.reindex() == 2


def test_reindex_gives_up_on_an_embedder_that_is_down(make_store):
    embeddings = Counting()
    embeddings.down = True
    store = make_store(index={"embed": embeddings, "dims": 26, "batch_size": 5})
    store.batch(puts(40))
    embeddings.calls.clear()
    with pytest.raises(BackendUnavailable, match="run reindex"):
        store.reindex()
    assert embeddings.requests("document") < 10
    assert store.owed_vectors() == (0, 0, 40)


@ways
async def test_prefixes_are_put_before_texts_according_to_their_role(way):
    embeddings = Counting()
    embedder = make(embeddings, query_prefix="query: ", document_prefix="passage: ")
    await ask(embedder, way, "document", "a cat", "a dog")
    await ask(embedder, way, "query", "a cat")
    assert embeddings.asked("document") == ["passage: a cat", "passage: a dog"]
    assert embeddings.asked("query") == ["query: a cat"]


@pytest.mark.parametrize(("other", "same"), [
    ({}, True), ({"batch_size": 7, "cache_bytes": 0, "fields": ["text"]}, True),
    ({"name": "another"}, False), ({"dims": None}, False),
    ({"query_prefix": "q: "}, False), ({"document_prefix": "q: "}, False),
])  # fmt: skip
def test_vectors_compare_only_under_one_model_dimension_and_prefixes(other, same):
    assert (
        make(Counting(), **other).fingerprint == make(Counting()).fingerprint
    ) is same


def test_prefixes_are_told_apart():
    first = make(Counting(), query_prefix="a", document_prefix="b")
    second = make(Counting(), query_prefix="b", document_prefix="a")
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize(("name", "wrong"), [
    ("batch_size", 0), ("batch_size", "10"), ("batch_size", True), ("batch_size", 1.5),
    ("cache_bytes", -1), ("cache_bytes", "8 MB"), ("query_prefix", 5),
    ("document_prefix", ["passage: "]), ("batch", 10),
])  # fmt: skip
def test_an_option_that_makes_no_sense_is_refused(name, wrong):
    with pytest.raises(InvalidInput, match=name):
        make(Counting(), **{name: wrong})


@pytest.mark.parametrize("given", [
    Counting(), DeterministicFakeEmbedding(size=26),
    lambda texts: [Counting().vector(text) for text in texts],
])  # fmt: skip
@pytest.mark.parametrize("option", ["index", "embeddings"])
def test_what_embeds_can_be_given_by_itself(make_store, option, given):
    store = make_store(**{option: given})
    store.add_memory("ann", "tea")
    assert store.search_memories("ann", "tea", mode="vector")
    assert store.owed_vectors() == (1, 0, 0)


def test_index_and_embeddings_exclude_each_other():
    with pytest.raises(InvalidInput, match="not both"):
        MemoryStore(index={"embed": Counting()}, embeddings=Counting())


@pytest.mark.parametrize("wrong", [5, "", [], object(), "no-such:model"])
def test_embeddings_that_cannot_embed_are_refused_at_once(wrong):
    with pytest.raises(InvalidInput, match="embed"):
        MemoryStore(embeddings=wrong)


def test_a_wrong_dimension_loses_no_write_and_reindex_says_what_to_do(
    make_store, caplog
):
    store = make_store(index={"embed": Counting(), "dims": 3})
    store.add_memory("ann", "likes tea")
    assert store.search_memories("ann", "tea")[0].memory == "likes tea"
    assert "26 dimensions, but index['dims'] is 3" in caplog.text
    with pytest.raises(InvalidInput, match="set it to 26 or leave it out"):
        store.reindex()
    assert [e.memory for e in store.read_memories("ann")] == ["likes tea"]


def test_the_dimension_of_the_first_vectors_is_kept_to():
    embeddings = Counting()
    embedder = Embedder(embeddings)
    vectors = embedder.embed(Embed(("tea",), "document"))
    embedder.adopt(vectors.shape[1])
    embeddings.dims = 20
    assert embedder.embed(Embed(("coffee",), "document")) is None
    assert embedder.last_error == "it answered with 20 dimensions, and before with 26"


def test_the_first_search_after_the_first_vectors_finds_everything(make_store):
    """The dimension gets known while an index without vectors is warm."""
    embeddings = Counting()
    embeddings.down = True
    store = make_store(index={"embed": embeddings})
    store.add_memory("ann", "likes tea")
    assert len(store.search_memories("ann", "tea")) == 1
    embeddings.down = False
    store.add_memory("ann", "likes coffee")
    assert len(store.search_memories("ann", "tea coffee")) == 2
    store.close()


def test_a_warm_index_gets_its_vectors_when_the_embedder_is_up_again(tmp_path):
    url = f"sqlite:///{tmp_path}/m.db"
    with MemoryStore.from_url(url, index={"embed": Counting()}) as store:
        store.add_memory("ann", "likes tea")
    embeddings = Counting()
    embeddings.down = True
    with MemoryStore.from_url(url, index={"embed": embeddings}) as store:
        store.search_memories("ann", "tea")
        embeddings.down = False
        (found,) = store.search_memories("ann", "tea", mode="vector", explain=True)
        assert found.explanation.meaning is not None
        assert found.explanation.meaning.cosine is not None


@pytest.mark.parametrize("verb", ["put", "batch", "add", "search", "query", "reindex"])
def test_the_store_can_be_used_while_its_embedder_is_asked(make_store, verb):
    """An embedder under a lock of the store would wait for itself here."""

    class Nosy(Counting):
        store = None
        stuck = False

        def look(self):
            def work():
                self.store.put(("other",), "k", {"a": 1}, index=False)
                self.store.get(NS, "k0")
                self.store.search(NS)
                self.store.read_memories("ann")

            if self.store is not None:
                thread = threading.Thread(target=work, daemon=True)
                thread.start()
                thread.join(10)
                self.stuck = self.stuck or thread.is_alive()

        def embed_documents(self, texts):
            self.look()
            return super().embed_documents(texts)

        def embed_query(self, text):
            self.look()
            return super().embed_query(text)

    embeddings = Nosy()
    store = make_store(index={"embed": embeddings, "dims": 26})
    embeddings.down = True
    store.batch(puts(3))
    store.add_memory("ann", "likes tea")
    embeddings.down, embeddings.store = False, store
    asked = len(embeddings.calls)
    {
        "put": lambda: store.put(NS, "new", {"text": "new"}),
        "batch": lambda: store.batch([PutOp(NS, "x", {"text": "x"}), *puts(2)]),
        "add": lambda: store.add_memory("ann", "plays chess"),
        "search": lambda: store.search_memories("ann", "chess"),
        "query": lambda: store.search(NS, query="chess"),
        "reindex": store.reindex,
    }[verb]()
    assert len(embeddings.calls) > asked
    assert not embeddings.stuck
