"""The gate of the retrieval benchmark: our own set against its floors."""

import pytest
from langchain_core.embeddings import Embeddings

pytest.importorskip("benchmarks.retrieval")

from benchmarks.retrieval.gate import KEPT, REJECTED, VERSION, gate
from benchmarks.retrieval.own_set import Pair
from benchmarks.retrieval.sets import EvaluationSet, Memory, Question, Update

TEXTS = {"cat": "I adopted a grey cat", "oslo": "I live in Oslo", "rome": "I left Oslo"}
TINY = EvaluationSet(
    "tiny",
    "A tiny set",
    {"u": [Memory(text, frozenset({name})) for name, text in TEXTS.items()]},
    [
        Question("q1", "u", "Who adopted a cat?", "plain", frozenset({"cat"})),
        Question(
            "q2",
            "u",
            "Do I live in Oslo?",
            "plain",
            frozenset({"oslo"}),
            update=Update(frozenset({"rome"}), frozenset({"oslo"}), "past"),
        ),
    ],
)


FLOORS = {
    "lexical": {"recall@10": {"all": 60}, "hit@1": {"plain": 10}, VERSION: {"all": 0}}
}


def test_the_gate_names_what_fell_below_its_floor():
    quiet = {"given": TINY, "say": lambda _: None}
    assert gate(floors=FLOORS, **quiet) == []

    high = {"lexical": {"recall@10": {"all": 100.1, "unknown": 1}}}
    failures = gate(floors=high, **quiet)
    assert failures == [
        "lexical, recall@10, all: 100.0 is below 100.1",
        "lexical, recall@10, unknown: the set has no such question",
    ]


def test_pairs_of_texts_at_the_threshold_have_floors_too():
    pairs = [
        Pair("I adopted a grey cat", "I adopted a grey cat", "en", related=True),
        Pair("I adopted a grey cat", "The bakery is closed", "en", related=False),
    ]
    floors = {"lexical": {KEPT: {"alone": 100.1}, REJECTED: {"pool": 100}}}
    failures = gate(given=TINY, pairs=pairs, floors=floors, say=lambda _: None)

    assert failures == [f"lexical, {KEPT}, alone: 100.0 is below 100.1"]


def test_our_own_set_stays_above_its_floors():
    assert gate(say=lambda _: None) == []


class OneDirection(Embeddings):
    name = "one"

    def prepare(self, documents, queries):
        pass

    def embed_documents(self, texts):
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text):
        return [1.0, 0.0]


def test_with_an_embedder_hybrid_search_has_floors_of_its_own():
    floors = {"hybrid": {"recall@10": {"all": 100.1}}}
    failures = gate(OneDirection(), given=TINY, floors=floors, say=lambda _: None)

    assert failures == ["hybrid, recall@10, all: 100.0 is below 100.1"]
