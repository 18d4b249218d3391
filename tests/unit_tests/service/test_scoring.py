"""Searches over compressed vectors find what searches over all of them do."""

import random

import numpy as np
import pytest

from langchain_agentmemory import MemoryStore, Source
from langchain_agentmemory.search import compressed, vectors

pytest.importorskip("simsimd", reason="install the extra 'fast' to compress vectors")

WORDS = (
    "tea boat river garden winter music train letter window bread kettle lamp storm "
    "piano market ladder violin harbour pepper saddle 绿茶 河边 花园 冬天 音乐 火车"
).split()
MEMORIES = 700
FILTER = {"filter": {"kind": "episode"}}


def embed(texts):
    """Return sums of the random directions of words: alike for texts with the same."""
    directions = {
        word: np.random.default_rng(seed).standard_normal(48)
        for seed, word in enumerate(WORDS)
    }
    noise = [np.random.default_rng(len(text)).standard_normal(48) for text in texts]
    sums = [sum(directions.get(w, 0) for w in text.split()) for text in texts]
    return [
        (one + 0.6 * other).tolist() for one, other in zip(sums, noise, strict=True)
    ]


def filled(url):
    index = {"embed": embed, "dims": 48, "fields": ["memory"]}
    store = MemoryStore.from_url(url, index=index, memory_limit=None)
    draw = random.Random(1)
    for number in range(MEMORIES):
        text = " ".join(draw.choices(WORDS, k=draw.randint(2, 6)))
        source = Source(f"thread-{number % 9}", position=number) if number % 3 else None
        kind = "episode" if number % 50 == 0 else "fact"
        topics = [draw.choice(WORDS)] if number % 5 == 0 else []
        store.add_memory(
            "ann", f"{text} {number}", topics=topics, kind=kind, source=source
        )
    return store


@pytest.fixture(scope="module", params=["memory://", "sqlite"])
def store(request, tmp_path_factory):
    url = request.param
    if url == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('scoring') / 'store.db'}"
    with filled(url) as made:
        yield made


@pytest.fixture
def compresses(monkeypatch):
    monkeypatch.setattr(vectors, "_COMPRESSED_FROM", 100)


@pytest.fixture
def looked_at(monkeypatch):
    """Count the searches that looked at all vectors."""
    seen = []
    exact = vectors.VectorColumn.similarities

    def counted(self, query, size):
        seen.append(size)
        return exact(self, query, size)

    monkeypatch.setattr(vectors.VectorColumn, "similarities", counted)
    return seen


def broken(_texts, _role):
    message = "down"
    raise ConnectionError(message)


def embed_again(texts, _role):
    return embed(texts)


def queries():
    draw = random.Random(2)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 4))) for _ in range(25)]


def found(store, query, **options):
    return [(e.id, e.score) for e in store.search_memories("ann", query, **options)]


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
@pytest.mark.parametrize(
    "options",
    [
        {"limit": 10},
        {"limit": 30, "deduplicate": True},
        {"limit": 5, "kind": "episode"},
        {"limit": 150},
        {"limit": None},
        {"limit": 10, "versions": "current"},
        {"limit": 10, "similarity_threshold": 0.6},
        {"limit": 10, "together": True},
        {"limit": 10, "diversity": 0.5},
        {"limit": 10, "explain": True},
    ],
    ids=str,
)
def test_results_are_those_of_all_vectors(store, monkeypatch, mode, options):
    exact = {q: found(store, q, mode=mode, **options) for q in queries()}
    monkeypatch.setattr(vectors, "_COMPRESSED_FROM", 100)
    for _ in range(4):
        store.search_memories("ann", "tea", mode=mode)
    for query, expected in exact.items():
        results = found(store, query, mode=mode, **options)
        assert [id_ for id_, _ in results] == [id_ for id_, _ in expected]
        assert [s for _, s in results] == pytest.approx([s for _, s in expected], 1e-5)


@pytest.mark.usefixtures("compresses")
def test_most_searches_look_at_few_vectors(store, looked_at):
    for _ in range(4):
        store.search_memories("ann", "tea", mode="vector")
    del looked_at[:]
    for query in queries():
        store.search_memories("ann", query, mode="vector", limit=10)
    assert len(looked_at) < 10
    store.search_memories("ann", "tea", mode="vector", limit=None)
    assert looked_at


def test_linked_versions_are_scored_exactly(monkeypatch):
    with filled("memory://") as store:
        old = store.add_memory("ann", "lamp quasar")
        new = store.add_memory("ann", "storm nebula", supersedes=[old.id])
        exact = found(store, "quasar lamp", mode="hybrid", limit=20)
        monkeypatch.setattr(vectors, "_COMPRESSED_FROM", 100)
        for _ in range(4):
            store.search_memories("ann", "tea", mode="hybrid")
        results = found(store, "quasar lamp", mode="hybrid", limit=20)
        assert [id_ for id_, _ in results] == [id_ for id_, _ in exact]
        scores = [score for _, score in exact]
        assert [score for _, score in results] == pytest.approx(scores, 1e-5)
        ids = [id_ for id_, _ in results]
        assert ids.index(new.id) < ids.index(old.id)


@pytest.mark.usefixtures("compresses")
def test_a_changed_memory_is_found_at_once(store):
    for _ in range(4):
        store.search_memories("ann", "tea", mode="vector")
    added = store.add_memory("ann", "saddle saddle piano")
    (best,) = store.search_memories(
        "ann", "saddle saddle piano", mode="vector", limit=1
    )
    assert best.id == added.id
    store.delete_memory("ann", added.id)
    (best,) = store.search_memories(
        "ann", "saddle saddle piano", mode="vector", limit=1
    )
    assert best.id != added.id


@pytest.mark.usefixtures("compresses")
@pytest.mark.parametrize("mode", ["vector", "hybrid", "auto"])
def test_memories_that_have_no_vector_yet_break_no_search(mode):
    with filled("memory://") as store:
        for _ in range(4):
            store.search_memories("ann", "tea", mode=mode)
        store._service.embedder._calls = broken  # an embedder that is down
        late = store.add_memory("ann", "peanuts and saddles")
        store._service.embedder._calls = embed_again
        results = found(store, "peanuts tea", mode=mode, limit=20)
        assert late.id in [id_ for id_, _ in results]
        assert len(results) == 20
        items = store.search(("memories",), query="tea", limit=150)
        assert len(items) == 150


def test_without_simsimd_results_are_the_same(store, monkeypatch):
    monkeypatch.setattr(vectors, "_COMPRESSED_FROM", 100)
    for _ in range(4):
        store.search_memories("ann", "tea", mode="hybrid")
    with_it = [found(store, query, mode="hybrid") for query in queries()]
    monkeypatch.setattr(compressed, "_simsimd", lambda: None)
    without = [found(store, query, mode="hybrid") for query in queries()]
    for one, other in zip(with_it, without, strict=True):
        assert [id_ for id_, _ in one] == [id_ for id_, _ in other]


def test_items_are_found_as_by_all_vectors(store, monkeypatch):
    def items(query, **options):
        prefix = ("memories", "default")
        results = store.search(prefix, query=query, limit=10, **options)
        return [(item.key, item.score) for item in results]

    asked = [(q, o) for q in queries() for o in ({}, {"offset": 5}, FILTER)]
    exact = [items(q, **options) for q, options in asked]
    monkeypatch.setattr(vectors, "_COMPRESSED_FROM", 100)
    for _ in range(4):
        items("tea")
    for (query, options), expected in zip(asked, exact, strict=True):
        results = items(query, **options)
        assert [key for key, _ in results] == [key for key, _ in expected]
        scores = [score for _, score in expected]
        assert [score for _, score in results] == pytest.approx(scores, abs=1e-6)
