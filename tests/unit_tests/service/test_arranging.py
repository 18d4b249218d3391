"""Diverse results, and neighbours of one conversation together."""

import random
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
    for text in ("tea with much milk", "tea with milk", "tea on monday", "tea"):
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
    for options in ({"diversity": 0.5}, {"diversity": 0.9, "limit": 2}, {"limit": 2}):
        store = MemoryStore(reranker=reranker)
        for text in ("tea", "green tea", "tea with milk", "tea x y"):
            store.add_memory("ann", text, source=Source("t"))
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


def conversation(*said):
    """A store of statements (thread, position, text), each better than the next."""
    order = [text for _, _, text in said]
    store = MemoryStore(
        reranker=lambda query, entries: [
            1 - order.index(entry.memory) / 100 for entry in entries
        ]
    )
    for thread, position, text in reversed(said):
        store.add_memory("ann", text, source=Source(thread, position=position))
    store.add_memory("ann", "tea from nowhere")
    order.append("tea from nowhere")
    return store


def order_of(store, **options):
    return [
        t.split()[-1] for t in texts(store.search_memories("ann", "tea", **options))
    ]


def test_neighbours_come_together_where_the_best_of_them_was():
    store = conversation(
        ("b", 2, "tea b2"),
        ("a", 4, "tea a4"),
        ("a", 9, "tea a9"),
        (None, 3, "tea x3"),
        ("a", 1, "tea a1"),
        ("a", None, "tea a"),
        ("a", 2, "tea a2"),
        ("b", 3, "tea b3"),
    )
    plain = ["b2", "a4", "a9", "x3", "a1", "a", "a2", "b3", "nowhere"]
    assert order_of(store) == plain
    grouped = ["b2", "b3", "a1", "a2", "a4", "a9", "x3", "a", "nowhere"]
    assert order_of(store, together=True) == grouped


def test_after_the_cut_nothing_comes_in():
    store = conversation(("a", 2, "tea a2"), ("b", 1, "tea b1"), ("a", 1, "tea a1"))
    assert order_of(store, limit=2, together=True) == ["a2", "b1"]
    assert order_of(store, limit=3, together=True) == ["a1", "a2", "b1"]


def test_statements_of_one_turn_are_neighbours_best_first():
    store = conversation(("a", 3, "tea two"), ("b", 1, "tea b1"), ("a", 3, "tea one"))
    assert order_of(store, limit=3, together=True) == ["two", "one", "b1"]


def test_positions_three_apart_are_not_neighbours():
    store = conversation(("a", 4, "tea a4"), ("b", 1, "tea b1"), ("a", 1, "tea a1"))
    assert order_of(store, limit=3, together=True) == ["a4", "b1", "a1"]


def test_scores_stay_with_their_entries():
    store = conversation(("a", 2, "tea a2"), ("b", 1, "tea b1"), ("a", 1, "tea a1"))
    plain = {e.id: e.score for e in store.search_memories("ann", "tea")}
    grouped = store.search_memories("ann", "tea", together=True)
    assert {entry.id: entry.score for entry in grouped} == plain


@pytest.mark.parametrize("seed", range(30))
def test_whatever_is_asked_for_a_page_is_made_of_what_was_found(seed):
    chance = random.Random(seed)
    factor = chance.choice((1, 100))
    store = MemoryStore(
        reranker=chance.choice(
            (None, lambda _, entries: [chance.random() * factor for _ in entries])
        ),
        rerank_top=chance.randint(1, 20),
        index=chance.choice((None, index(["memory"]))),
    )
    for number in range(chance.randint(1, 40)):
        words = chance.choices(("tea", "milk", "cake", "boat", "rain"), k=4)
        source = Source(chance.choice("ab"), position=chance.randint(0, 20))
        kind = chance.choice(("fact", "episode"))
        text = f"tea {number} {' '.join(words)}"
        store.add_memory("ann", text, kind=kind, source=source)
        store.add_memory("bob", text, kind=kind, source=source)
    usual = {
        "kind": chance.choice((None, "fact")),
        "kind_fallback": chance.random() < 0.5,
        "deduplicate": chance.random() < 0.5,
        "mode": "lexical",
    }
    everything = store.search_memories(
        "ann", "tea cake", limit=None, rerank=False, **usual
    )
    options = {
        "limit": chance.choice((1, 5, 30, None)),
        "diversity": chance.choice((0, 0.4)),
        "together": chance.random() < 0.3,
    }
    found = store.search_memories("ann", "tea cake", **usual, **options)
    assert {entry.user_id for entry in found} <= {"ann"}
    assert len({entry.id for entry in found}) == len(found)
    assert {entry.id for entry in found} <= {entry.id for entry in everything}
    assert len(found) == len(everything[: options["limit"]])
    scores = [entry.score for entry in found]
    assert all(0 <= score <= 1 for score in scores)
    if not (options["diversity"] or options["together"] or usual["kind"]):
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("option", ["diversity", "together", "rerank"])
@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan"), "0.5", None])
def test_an_option_that_makes_no_sense_is_refused(option, wrong):
    store = drinks()
    with pytest.raises(InvalidInput, match=option):
        store.search_memories("ann", "tea", **{option: wrong})
    with pytest.raises(InvalidInput, match=option):
        store.as_retriever("ann", **{option: wrong})
