"""A reranker orders the best results of a search, and can never make it fail."""

import asyncio
import logging
import math
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from langchain_core.documents import BaseDocumentCompressor, Document

from langchain_agentmemory import MemoryStore, PreloadMemories, Source
from langchain_agentmemory.errors import InvalidInput
from tests.contract.embedders import index

TEXTS = ("tea", "green tea", "black tea with milk", "tea in the big blue pot")


def by_length(query, entries):
    return [len(entry.memory) / 100 for entry in entries]


async def by_length_later(query, entries):
    await asyncio.sleep(0)
    return by_length(query, entries)


class AsyncObject:
    async def __call__(self, query, entries):
        return by_length(query, entries)


class Longest(BaseDocumentCompressor):
    """Sorts by length; can give scores, drop documents and make new ones."""

    keep: int = 100
    scored: bool = False
    copies: bool = False

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks=None
    ) -> Sequence[Document]:
        found = sorted(documents, key=lambda one: -len(one.page_content))
        if self.copies:
            found = [
                Document(one.page_content.upper(), metadata={**one.metadata})
                for one in found
            ]
        for one in found:
            if self.scored:
                one.metadata["relevance_score"] = np.float32(len(one.page_content))
        return found[: self.keep]


def filled(**options):
    store = MemoryStore(**options)
    for text in TEXTS:
        store.add_memory("ann", text)
    return store


def texts(found):
    return [entry.memory for entry in found]


def scores(found):
    return [entry.score for entry in found]


LONGEST_FIRST = list(reversed(TEXTS))


@pytest.fixture(
    params=[by_length, by_length_later, AsyncObject(), Longest(), Longest(copies=True)],
    ids=["function", "async function", "async object", "compressor", "copies"],
)
def reranker(request):
    return request.param


def test_it_orders_the_results(reranker):
    store = filled(reranker=reranker)
    found = store.search_memories("ann", "tea")
    assert texts(found) == LONGEST_FIRST
    assert scores(found) == sorted(scores(found), reverse=True)
    assert all(0 <= score <= 1 for score in scores(found))


async def test_it_orders_the_results_of_async_searches(reranker, no_blocking):
    store = filled(reranker=reranker)
    assert texts(await store.asearch_memories("ann", "tea")) == LONGEST_FIRST


async def test_it_orders_the_results_of_a_synchronous_search_inside_of_a_loop(reranker):
    store = filled(reranker=reranker)
    assert texts(store.search_memories("ann", "tea")) == LONGEST_FIRST


async def test_what_is_not_async_does_not_run_on_the_loop():
    seen = []

    def note(query, entries):
        seen.append(threading.current_thread())
        return by_length(query, entries)

    await filled(reranker=note).asearch_memories("ann", "tea")
    assert seen != [threading.main_thread()]


def test_a_search_can_do_without():
    store = filled(reranker=by_length)
    plain = filled().search_memories("ann", "tea")
    found = store.search_memories("ann", "tea", rerank=False)
    assert texts(found) == texts(plain)
    assert scores(found) == scores(plain)


def test_it_comes_before_the_cut():
    store = filled(reranker=by_length)
    assert texts(store.search_memories("ann", "tea", limit=1)) == LONGEST_FIRST[:1]
    assert store.search_memories("ann", "tea", limit=0) == []


def test_it_is_given_the_best_ones_that_pass_the_filters():
    asked = []

    def note(query, entries):
        asked.append((query, texts(entries)))
        return by_length(query, entries)

    store = filled(reranker=note, rerank_top=2)
    for text in ("tea, tea and tea", "tea; tea and tea"):  # near-duplicates
        store.add_memory("ann", text, kind="episode")
    store.add_memory("bob", "tea for bob")
    found = store.search_memories("ann", " tea ", limit=1, kind="fact")
    assert asked.pop() == ("tea", ["tea", "green tea"])
    assert texts(found) == ["green tea"]
    store.search_memories("ann", "tea", limit=5, kind="episode", deduplicate=True)
    assert asked.pop() == ("tea", ["tea; tea and tea"])


def test_what_it_did_not_see_stays_behind():
    store = filled(reranker=lambda query, entries: [0.1, 0.2], rerank_top=2)
    found = store.search_memories("ann", "tea")
    assert texts(found) == ["green tea", "tea", *TEXTS[2:]]
    assert scores(found) == [0.2, 0.1, 0.1, 0.1]


def test_scores_between_0_and_1_are_taken_as_they_are():
    store = filled(reranker=lambda query, entries: [0, 1, 0.25, 0.5])
    assert scores(store.search_memories("ann", "tea")) == [1, 0.5, 0.25, 0]


@pytest.mark.parametrize("given", [[-3, 9, 2, 4], [0.1, 1.1, 0.3, 0.4]])
def test_other_scores_give_an_order_only(given):
    before = filled().search_memories("ann", "tea")
    store = filled(reranker=lambda query, entries: given)
    found = store.search_memories("ann", "tea")
    assert texts(found) == [TEXTS[1], TEXTS[3], TEXTS[2], TEXTS[0]]
    assert scores(found) == scores(before)


def test_equal_scores_keep_the_order():
    store = filled(reranker=lambda query, entries: [0.5] * len(entries))
    assert texts(store.search_memories("ann", "tea")) == list(TEXTS)


def test_the_threshold_is_about_the_score_of_the_ranking():
    store = filled(reranker=lambda query, entries: [0.01] * len(entries))
    found = store.search_memories("ann", "tea", similarity_threshold=0.3)
    assert scores(found) == [0.01] * 4
    assert store.search_memories("ann", "tea", similarity_threshold=1) == []


def test_scores_of_a_compressor_are_read():
    before = filled().search_memories("ann", "tea")
    found = filled(reranker=Longest(scored=True)).search_memories("ann", "tea")
    assert texts(found) == LONGEST_FIRST
    assert scores(found) == scores(before)  # lengths are not within [0, 1]


def test_what_a_compressor_drops_is_dropped():
    store = filled(reranker=Longest(keep=2))
    assert texts(store.search_memories("ann", "tea")) == LONGEST_FIRST[:2]
    store = filled(reranker=Longest(keep=0))
    assert store.search_memories("ann", "tea") == []


def test_a_text_that_a_compressor_changed_is_not_taken_over():
    store = filled(reranker=Longest(copies=True))
    assert texts(store.search_memories("ann", "tea")) == LONGEST_FIRST


class SyncOnly(Longest):
    async def acompress_documents(self, documents, query, callbacks=None):
        raise NotImplementedError


async def test_a_compressor_without_an_async_method_is_asked_in_a_thread(no_blocking):
    store = filled(reranker=SyncOnly())
    assert texts(await store.asearch_memories("ann", "tea")) == LONGEST_FIRST


class Answering(BaseDocumentCompressor):
    answer: object

    def compress_documents(self, documents, query, callbacks=None):
        return self.answer(documents)


def fails(*_):
    msg = "no answer from http://user:secret@rerank"
    raise ConnectionError(msg)


async def fails_later(*_):
    fails()


BAD = {
    "raises": fails,
    "raises later": fails_later,
    "too few": lambda query, entries: [0.5],
    "too many": lambda query, entries: [0.5] * 9,
    "without end": lambda query, entries: iter(lambda: 0.5, None),
    "nan": lambda query, entries: [math.nan] * len(entries),
    "infinite": lambda query, entries: [math.inf] * len(entries),
    "text": lambda query, entries: ["0.5"] * len(entries),
    "nothing": lambda query, entries: None,
    "compressor raises": Answering(answer=fails),
    "unknown document": Answering(answer=lambda given: [Document("x", id="x")]),
    "document without id": Answering(answer=lambda given: [Document("tea")]),
    "no documents": Answering(answer=lambda given: ["tea"]),
    "nan relevance": Answering(
        answer=lambda given: [
            Document("", id=one.id, metadata={"relevance_score": math.nan})
            for one in given
        ]
    ),
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_reranker_that_fails_leaves_the_order_and_says_so(bad, caplog):
    plain = filled().search_memories("ann", "tea", limit=3)
    store = filled(reranker=BAD[bad])
    with caplog.at_level(logging.WARNING, "langchain_agentmemory"):
        found = store.search_memories("ann", "tea", limit=3)
        later = await store.asearch_memories("ann", "tea", limit=3)
    assert texts(found) == texts(later) == texts(plain)
    assert scores(found) == scores(later) == scores(plain)
    assert len([r for r in caplog.records if "reranker" in r.message]) == 2
    assert "secret" not in caplog.text
    assert str(store.status()["reranker"]).startswith("failing")


def test_a_reranker_that_works_again_is_ok_again():
    answers = [[], [0.5] * 4]
    store = filled(reranker=lambda query, entries: answers.pop(0))
    assert "reranker" not in MemoryStore().status()
    for state in ("failing", "ok"):
        store.search_memories("ann", "tea")
        assert str(store.status()["reranker"]).startswith(state)


def test_a_document_that_comes_back_twice_counts_once():
    store = filled(reranker=Answering(answer=lambda given: [given[2], *given, *given]))
    found = store.search_memories("ann", "tea")
    assert texts(found) == [TEXTS[2], TEXTS[0], TEXTS[1], TEXTS[3]]


@pytest.mark.parametrize("config", [None, index(["memory"])], ids=["words", "hybrid"])
def test_no_lock_is_held_while_it_thinks(config):
    waited = []

    def search_meanwhile(query, entries):
        other = threading.Thread(
            target=lambda: (
                store.add_memory("ann", "milk tea"),
                waited.append(store.search_memories("ann", "milk", rerank=False)),
            )
        )
        other.start()
        other.join(timeout=10)
        assert waited, "a search of the same user had to wait"
        return by_length(query, entries)

    store = filled(reranker=search_meanwhile, index=config)
    for _ in range(10):  # with the warm index, too
        assert texts(store.search_memories("ann", "big tea"))[0] == LONGEST_FIRST[0]
    assert store.status()["reranker"] == "ok"


def test_entries_that_only_fill_up_stay_behind():
    store = MemoryStore(reranker=by_length)
    for text in ("tea", "milk tea"):
        store.add_memory("ann", text, kind="episode")
    for text in ("green tea with a lot of lemon", "tea party of the year"):
        store.add_memory("ann", text)
    found = store.search_memories("ann", "tea", kind="episode", kind_fallback=True)
    assert [entry.kind for entry in found] == ["episode"] * 2 + ["fact"] * 2
    assert texts(found)[:3] == ["milk tea", "tea", "green tea with a lot of lemon"]


def versions(reranker):
    """A store where the ranking has the newer version first, as it does by itself."""
    store = MemoryStore(reranker=reranker)
    old = store.add_memory("ann", "Ann lives in Paris, in the old town")
    store.add_memory("ann", "Ann lives in Berlin", supersedes=[old.id])
    store.add_memory("ann", "Ann lives for music in the old town of Riga")
    return store


def test_versions_of_a_memory_keep_the_order_of_the_ranking():
    plain = [e.memory for e in versions(None).search_memories("ann", "Ann lives")]
    reranked = versions(by_length).search_memories("ann", "Ann lives", explain=True)
    pair = [text for text in plain if "Riga" not in text]
    assert pair[0] == "Ann lives in Berlin"  # the other one is longer
    assert [text for text in texts(reranked) if "Riga" not in text] == pair
    assert texts(reranked)[0].endswith("Riga")
    assert scores(reranked) == sorted(scores(reranked), reverse=True)
    for entry in reranked:
        assert entry.explanation["reranker"] == len(entry.memory) / 100


def test_a_document_of_another_user_is_refused():
    hoard = []

    def mixed(documents):
        hoard.extend(documents)
        return list(hoard)

    store = MemoryStore(reranker=Answering(answer=mixed))
    for user in ("ann", "bob"):
        store.add_memory(user, f"tea of {user}")
    assert texts(store.search_memories("bob", "tea")) == ["tea of bob"]
    assert texts(store.search_memories("ann", "tea")) == ["tea of ann"]
    assert len(store.as_retriever("ann").invoke("tea")) == 1


def test_the_tool_and_preload_are_reranked():
    store = filled(reranker=by_length)
    (tool,) = [t for t in store.tools("ann") if t.name == "memory_search"]
    first, second = tool.invoke({"query": "tea", "limit": 1}).splitlines()[:2]
    assert LONGEST_FIRST[0] in first + second
    preload = PreloadMemories(store, user="ann", limit=2)
    update = preload.invoke({"messages": [("user", "tea")]})
    shown = str(update)
    assert LONGEST_FIRST[0] in shown
    assert LONGEST_FIRST[1] in shown


def test_an_explanation_says_what_the_reranker_gave():
    store = filled(reranker=by_length)
    best = store.search_memories("ann", "tea", explain=True)[0]
    assert best.explanation["reranker"] == best.score == 0.23
    assert best.explanation["score"] != best.score  # that of the ranking


def test_a_document_has_what_a_memory_has():
    seen = []

    def note(documents):
        seen.extend(documents)
        return documents

    store = MemoryStore(reranker=Answering(answer=note))
    source = Source("t1", ("m1",), 3, "user")
    entry = store.add_memory("ann", "tea", topics=["drinks"], source=source)
    store.search_memories("ann", "tea")
    (document,) = seen
    assert (document.id, document.page_content) == (entry.id, "tea")
    assert document.metadata["topics"] == ["drinks"]
    assert document.metadata["source"]["position"] == 3


@pytest.mark.parametrize("wrong", [5, "cross-encoder", Longest, object(), []])
def test_something_else_is_no_reranker(wrong):
    with pytest.raises(InvalidInput, match="reranker"):
        MemoryStore(reranker=wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, None, True, "50"])
def test_the_number_of_results_that_are_reranked_is_positive(wrong):
    with pytest.raises(InvalidInput, match="rerank_top"):
        MemoryStore(reranker=by_length, rerank_top=wrong)


def test_the_store_says_what_reranks():
    assert filled(reranker=by_length).describe()["reranker"] == "by_length, best 50"
    assert filled(reranker=Longest()).describe()["reranker"] == "Longest, best 50"


def test_a_reranker_that_fails_is_seen_in_the_status_until_it_works(make_store):
    working = []

    def reranker(_, entries):
        if not working:
            message = "no such model"
            raise RuntimeError(message)
        return [1.0] * len(entries)

    store = make_store(reranker=reranker)
    store.add_memory("ann", "Ann plays chess")
    assert store.status()["state"] == "ok"
    store.search_memories("ann", "chess")
    status = store.status()
    assert status["state"] == "degraded: results are not reranked"
    assert status["reranker"] == "failing: no such model"
    working.append(True)
    store.search_memories("ann", "chess")
    assert store.status()["state"] == "ok"
