"""Misspelt names are told with what they should have been."""

import pytest

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


def test_nothing_is_suggested_for_what_is_like_nothing():
    with pytest.raises(InvalidInput) as raised:
        MemoryStore().search_memories("ann", "tea", zzz=1)
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
