"""Misspelt names are told with what they should have been."""

import sys

import pytest
from langchain_core.embeddings import Embeddings

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("threshold", "similarity_threshold"),
        ("treshold", "similarity_threshold"),
        ("min_score", "similarity_threshold"),
        ("top_k", "limit"),
        ("k", "limit"),
        ("Limit", "limit"),
        ("kinds", "kind"),
        ("since", "time_after"),
        ("dedupe", "deduplicate"),
        ("start_time", "time_after"),
        ("end_time", "time_before"),
        ("score_threshold", "similarity_threshold"),
        ("explanation", "explain"),
    ],
)
def test_a_search_names_the_option_that_was_probably_meant(given, meant):
    store = MemoryStore()
    with pytest.raises(InvalidInput) as raised:
        store.search_memories("ann", "tea", **{given: 3})
    message = str(raised.value)
    assert f"Did you mean {meant}?" in message
    assert "order_by_event_time" in message
    assert "__init__" not in message


def test_so_does_a_retriever():
    with pytest.raises(InvalidInput, match="Did you mean similarity_threshold"):
        MemoryStore().as_retriever("ann", threshold=0.5)


@pytest.mark.parametrize(
    "name",
    ["zzz", "filter", "topics", "category", "include", "index", "sort", "timeout"],
)
def test_nothing_is_suggested_for_what_is_like_nothing(name):
    with pytest.raises(InvalidInput) as raised:
        MemoryStore().search_memories("ann", "tea", **{name: 1})
    assert "Did you mean" not in str(raised.value)


@pytest.mark.parametrize("name", ["lokal", "Local", "mistral-embed"])
def test_an_unknown_embedder_is_told_what_there_is(name):
    with pytest.raises(InvalidInput) as raised:
        MemoryStore(embeddings=name)
    message = str(raised.value)
    assert name in message
    for part in ("'local'", "openai:text-embedding-3-small", "function", "Embeddings"):
        assert part in message
    assert "dict_keys" not in message


def test_an_embedder_by_its_name_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain", None)
    with pytest.raises(InvalidInput) as raised:
        MemoryStore(embeddings="openai:text-embedding-3-small")
    assert str(raised.value) == (
        "An embedder by its name ('openai:text-embedding-3-small') needs the package "
        "langchain: pip install 'langchain-agentmemory[agents]' and LangChain's "
        "package for 'openai', or pass a LangChain Embeddings itself."
    )


@pytest.mark.parametrize(
    ("given", "meant"), [("embeddings", "embed"), ("dimensions", "dims")]
)
def test_an_index_names_the_key_that_was_probably_meant(given, meant):
    with pytest.raises(InvalidInput, match=f"Did you mean {meant}"):
        MemoryStore(index={"embed": "local", given: 3})


@pytest.mark.parametrize("given", ["embeddings", "index", "embed", "reranker"])
def test_a_class_is_refused_with_how_to_make_an_object(given):
    class Model(Embeddings):
        def embed_documents(self, texts):
            return [[1.0] for _ in texts]

        def embed_query(self, text):
            return [1.0]

        def __call__(self, query, entries):
            return [1.0 for _ in entries]

    options = {"index": {"embed": Model}} if given == "embed" else {given: Model}
    with pytest.raises(InvalidInput, match=r"Model\(…\)") as raised:
        MemoryStore(**options)
    assert "not the class" in str(raised.value)


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_a_search_by_meaning_without_an_index_names_the_shortest_way(mode):
    with pytest.raises(InvalidInput) as raised:
        MemoryStore().search_memories("ann", "tea", mode=mode)
    for part in ("embeddings='local'", "extra `local`", "index=", "mode='lexical'"):
        assert part in str(raised.value)
