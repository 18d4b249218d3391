"""Diverse results, and neighbours of one conversation together."""

import subprocess
import sys

import pytest

from langchain_agentmemory import MemoryStore, SearchOptions, Source
from langchain_agentmemory.errors import InvalidInput
from tests.contract.embedders import index


def texts(found):
    return [entry.memory for entry in found]


def drinks(**options):
    store = MemoryStore(**options)
    for text in ("tea with milk", "tea with much milk", "tea on monday", "tea"):
        store.add_memory("ann", text)
    return store


@pytest.mark.parametrize("config", [None, index(["memory"])], ids=["words", "hybrid"])
async def test_diverse_results_differ_from_each_other(config):
    store = drinks(index=config)
    plain = texts(store.search_memories("ann", "tea with milk", limit=2))
    assert plain == ["tea with milk", "tea with much milk"]
    options = SearchOptions(limit=2, diversity=0.7)
    found = store.search_memories("ann", "tea with milk", options)
    later = await store.asearch_memories("ann", "tea with milk", options)
    assert texts(found) == texts(later)
    assert texts(found)[0] == "tea with milk"
    assert texts(found)[1] in {"tea on monday", "tea"}


def test_diverse_results_keep_their_scores():
    store = drinks()
    plain = store.search_memories("ann", "tea with milk")
    found = store.search_memories("ann", "tea with milk", diversity=0.9)
    assert texts(found) != texts(plain)
    assert {(e.id, e.score) for e in found} == {(e.id, e.score) for e in plain}


@pytest.mark.parametrize("limit", [0, 1, 3, 7, 300, None])
@pytest.mark.parametrize("diversity", [0, 0.5, 1])
def test_diversity_never_returns_fewer(limit, diversity):
    store = MemoryStore()
    for number in range(260):
        store.add_memory("ann", f"tea {number} {number % 7}")
    plain = store.search_memories("ann", "tea", limit=limit)
    found = store.search_memories("ann", "tea", limit=limit, diversity=diversity)
    assert len(found) == len(plain)
    assert len({entry.id for entry in found}) == len(found)
    if plain:
        assert found[0].id == plain[0].id


def test_diverse_entries_that_only_fill_up_stay_behind():
    store = MemoryStore()
    for text in ("tea with milk", "tea with much milk"):
        store.add_memory("ann", text, kind="episode")
    store.add_memory("ann", "monday is for tea")
    found = store.search_memories(
        "ann", "tea milk", kind="episode", kind_fallback=True, diversity=1
    )
    assert [entry.kind for entry in found] == ["episode", "episode", "fact"]


def test_vectors_of_another_model_are_not_compared():
    store = drinks(index=index(["memory"]))
    store._service.embedder.fingerprint += 1
    found = store.search_memories("ann", "tea with milk", limit=2, diversity=0.7)
    assert texts(found)[1] in {"tea on monday", "tea"}


WITHOUT_NUMPY = """
import sys
from langchain_agentmemory import MemoryStore, Source

def by_length(query, entries):
    return [len(entry.memory) / 100 for entry in entries]

for reranker in (None, by_length):
    for options in ({"diversity": 0.5}, {"together": True, "limit": 3},
                    {"diversity": 0.9, "limit": 2}, {"limit": 2}):
        store = MemoryStore(reranker=reranker)
        for place, text in enumerate(("tea", "green tea", "tea with milk", "tea x y")):
            source = Source("t", position=2 * (place % 2))
            store.add_memory("ann", text, source=source)
        first = store.search_memories("ann", "tea", **options)
        assert len(first) > 1
        assert "numpy" not in sys.modules
        found.append((store, options, first))

import numpy
for store, options, first in found:
    second = store.search_memories("ann", "tea", **options)
    assert second == first, (second, first)
    assert store._service.shelves is not None
"""


def test_the_first_searches_of_a_small_store_give_the_same_without_numpy():
    subprocess.run([sys.executable, "-c", "found = []" + WITHOUT_NUMPY], check=True)


def conversation(said, **options):
    """A store of statements: (thread, position, text)."""
    store = MemoryStore(**options)
    for thread, position, text in said:
        store.add_memory("ann", text, source=Source(thread, position=position))
    return store


SAID = (
    ("a", 1, "tea and then something else that is said at length"),
    ("a", 2, "tea in the garden for everyone"),
    ("b", 2, "tea and cake"),
    ("a", 4, "tea"),
    ("a", 9, "tea and more"),
    (None, 3, "tea nowhere"),
    ("a", None, "tea at no time"),
)


def test_neighbours_come_together_where_the_best_of_them_was():
    store = conversation(SAID)
    plain = texts(store.search_memories("ann", "tea"))
    assert plain[0] == "tea"  # position 4 of a
    found = texts(store.search_memories("ann", "tea", together=True))
    run = [SAID[0][2], SAID[1][2], SAID[3][2]]
    assert found[:3] == run
    assert found[3:] == [text for text in plain if text not in run]


def test_after_the_cut_nothing_comes_in():
    store = conversation(SAID)
    plain = store.search_memories("ann", "tea", limit=2)
    found = store.search_memories("ann", "tea", limit=2, together=True)
    assert set(texts(found)) == set(texts(plain))


def test_a_run_stands_between_better_and_worse_results():
    store = conversation(
        [
            ("a", 5, "tea and cake with cream and more"),
            ("b", 7, "tea and cake"),
            ("a", 6, "tea and cake with cream"),
            ("c", 7, "tea is not the other thing that we wanted to have on sunday"),
        ]
    )
    found = texts(store.search_memories("ann", "tea and cake", together=True))
    assert found[0] == "tea and cake"
    assert found[1:3] == ["tea and cake with cream and more", "tea and cake with cream"]


def test_statements_of_one_turn_are_neighbours():
    store = conversation([("a", 3, "tea"), ("b", 1, "tea too"), ("a", 3, "more tea")])
    found = texts(store.search_memories("ann", "tea", together=True))
    assert found.index("more tea") - found.index("tea") == 1


def test_positions_three_apart_are_not():
    store = conversation([("a", 1, "more tea"), ("b", 1, "tea x"), ("a", 4, "tea")])
    plain = texts(store.search_memories("ann", "tea"))
    assert texts(store.search_memories("ann", "tea", together=True)) == plain


def test_the_steps_come_in_one_order():
    """Reranked, made diverse, cut, brought together."""
    store = conversation(
        SAID, reranker=lambda query, entries: [len(e.memory) / 100 for e in entries]
    )
    found = store.search_memories("ann", "tea", limit=2, together=True)
    assert texts(found) == [SAID[0][2], SAID[1][2]]


@pytest.mark.parametrize("option", ["diversity", "together", "rerank"])
@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan"), "0.5", None])
def test_an_option_that_makes_no_sense_is_refused(option, wrong):
    store = drinks()
    with pytest.raises(InvalidInput, match=option):
        store.search_memories("ann", "tea", **{option: wrong})
    with pytest.raises(InvalidInput, match=option):
        store.as_retriever("ann", **{option: wrong})
