"""Searching memories: options, modes, and what happens when an embedder fails."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langchain_agentmemory import MemoryStore, SearchOptions, UserKey
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput


class Axes(Embeddings):
    """Each known word is an axis: texts with common words are similar."""

    words = ("tea", "coffee", "drinks", "hike", "茶", "咖啡")

    def __init__(self):
        self.broken, self.documents, self.queries = None, 0, 0

    def _vector(self, text):
        if self.broken is not None:
            return self.broken(text)
        return [float(text.lower().count(word)) for word in self.words]

    def embed_documents(self, texts):
        self.documents += len(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text):
        self.queries += 1
        return self._vector(text)


INDEX_DIMS = len(Axes.words)


@pytest.fixture
def embedder():
    return Axes()


@pytest.fixture
def indexed(make_store, embedder):
    return make_store(index={"embed": embedder, "dims": INDEX_DIMS})


def texts(entries):
    return [entry.memory for entry in entries]


def test_words_find_memories_in_english_and_chinese(make_store):
    store = make_store()
    store.add_memory("ann", "Ann prefers window seats on trains")
    store.add_memory("ann", "她对花生过敏")
    store.add_memory("ann", "Deploys with go1.23 and C++")
    assert texts(store.search_memories("ann", "window seat?")) == [
        "Ann prefers window seats on trains"
    ]
    assert texts(store.search_memories("ann", "对什么过敏？")) == ["她对花生过敏"]
    assert texts(store.search_memories("ann", "C++"))[0].startswith("Deploys")


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid", "auto"])
def test_scores_are_between_0_and_1_in_every_mode(indexed, mode):
    for text in ("tea and coffee", "tea", "a hike", "喜欢喝茶"):
        indexed.add_memory("ann", text)
    for query in ("tea", "coffee drinks", "茶"):
        found = indexed.search_memories("ann", query, mode=mode)
        scores = [entry.score for entry in found]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_a_threshold_works_in_every_mode(indexed, mode):
    for text in ("tea", "tea with coffee and coffee", "coffee"):
        indexed.add_memory("ann", text)
    scores = [e.score for e in indexed.search_memories("ann", "tea", mode=mode)]
    cut = scores[0]
    found = indexed.search_memories("ann", "tea", mode=mode, similarity_threshold=cut)
    assert len(found) == sum(score >= cut for score in scores)


def test_meaning_finds_what_words_do_not(indexed):
    indexed.add_memory("ann", "Her favourite is coffee, black coffee")
    indexed.add_memory("ann", "She went on a hike")
    found = indexed.search_memories("ann", "coffee", mode="vector")
    assert texts(found)[0].startswith("Her favourite")


def test_an_index_is_needed_for_vector_modes(make_store):
    with pytest.raises(InvalidInput, match="needs an index"):
        make_store().search_memories("ann", "tea", mode="vector")


def bad_dimension(_):
    return [1.0, 2.0]


def not_a_number(_):
    return [np.nan] * INDEX_DIMS


def raises(_):
    message = "quota exceeded"
    raise RuntimeError(message)


@pytest.mark.parametrize("fault", [bad_dimension, not_a_number, raises])
def test_a_failing_embedder_loses_nothing(indexed, embedder, fault, caplog):
    indexed.add_memory("ann", "drinks tea in the morning")
    embedder.broken = fault
    indexed.add_memory("ann", "drinks coffee at night")
    assert "Nothing is lost" in caplog.text
    assert set(texts(indexed.search_memories("ann", "night coffee"))) == {
        "drinks coffee at night"
    }
    assert "degraded" in indexed.status()["state"]
    with pytest.raises((BackendUnavailable, InvalidInput), match="run reindex"):
        indexed.reindex()
    embedder.broken = None
    # Found by its words in every mode, until it has a vector of its own.
    found = indexed.search_memories("ann", "coffee", mode="vector", explain=True)
    assert texts(found)[0] == "drinks coffee at night"
    assert found[0].explanation["similarity"] is None
    steps = []
    assert (
        indexed.reindex(progress=lambda done, total: steps.append((done, total))) == 1
    )
    assert steps[-1] == (2, 2)
    assert indexed.reindex() == 0
    found = indexed.search_memories("ann", "drinks", mode="vector")
    assert len(found) == 2


def test_texts_are_embedded_once(indexed, embedder):
    entry = indexed.add_memory("ann", "tea")
    indexed.add_memory("ann", "tea", topics=["x"])
    indexed.update_memory("ann", entry.id, topics=["y"])
    assert embedder.documents == 1


def test_a_blank_query_finds_nothing_and_embeds_nothing(indexed, embedder):
    indexed.add_memory("ann", "tea")
    assert indexed.search_memories("ann", " \n ") == []
    assert indexed.search_memories("ann", "tea", limit=0) == []
    assert embedder.queries == 0


def test_another_embedders_vectors_are_not_mixed_in(tmp_path, embedder):
    url = f"sqlite:///{tmp_path}/v.db"
    index = {"embed": embedder, "dims": INDEX_DIMS, "name": "first"}
    with MemoryStore.from_url(url, index=index) as store:
        store.add_memory("ann", "tea")
    with MemoryStore.from_url(url, index={**index, "name": "second"}) as store:
        (found,) = store.search_memories("ann", "tea", mode="vector", explain=True)
        assert found.explanation["similarity"] is None
        assert store.reindex() == 1
        (found,) = store.search_memories("ann", "tea", mode="vector", explain=True)
        assert found.explanation["similarity"] == pytest.approx(1)


def test_an_index_may_leave_the_dimension_to_its_embedder(make_store, embedder):
    store = make_store(index=embedder)
    store.add_memory("ann", "tea")
    store.search_memories("ann", "tea", mode="lexical")
    store.add_memory("ann", "coffee")
    found = store.search_memories("ann", "coffee", mode="vector", explain=True)
    assert [(e.memory, e.explanation["similarity"]) for e in found] == [
        ("coffee", pytest.approx(1)),
        ("tea", pytest.approx(0)),
    ]


@pytest.fixture
def calendar(make_store):
    store = make_store()
    store.add_memory("ann", "coffee January", event_time="2024-01-15", kind="episode")
    store.add_memory("ann", "coffee May", event_time="2024-05-15", kind="episode")
    store.add_memory("ann", "coffee whenever")
    return store


def test_time_bounds_let_the_undated_pass(calendar):
    found = calendar.search_memories("ann", "coffee", time_after="2024-02")
    assert set(texts(found)) == {"coffee May", "coffee whenever"}
    found = calendar.search_memories("ann", "coffee", time_before="2024-05")
    assert len(found) == 3
    before = datetime(2024, 5, 1, tzinfo=UTC)
    found = calendar.search_memories("ann", "coffee", time_before=before)
    assert set(texts(found)) == {"coffee January", "coffee whenever"}


def test_a_kind_filters_and_falls_back_when_asked(calendar):
    found = calendar.search_memories("ann", "coffee", kind="episode")
    assert {entry.kind for entry in found} == {"episode"}
    found = calendar.search_memories(
        "ann", "coffee", kind="episode", kind_fallback=True
    )
    assert [entry.kind for entry in found] == ["episode", "episode", "fact"]


def test_earlier_events_come_first_among_equals(calendar):
    options = SearchOptions(order_by_event_time=True)
    found = calendar.search_memories("ann", "coffee", options)
    assert texts(found)[:2] == ["coffee January", "coffee May"]


def test_near_duplicates_make_room_for_others(make_store):
    store = make_store()
    for number in range(5):
        store.add_memory(
            "ann", f"Ann likes green tea in the morning sun {'!' * number}"
        )
    store.add_memory("ann", "Bob likes green peas")
    found = store.search_memories("ann", "likes green", limit=2, deduplicate=True)
    assert len(found) == 2
    assert "Bob likes green peas" in texts(found)


def test_a_full_page_comes_back_whenever_there_is_one(make_store):
    store = make_store(memory_limit=None)
    for number in range(300):
        store.add_memory("ann", f"note {number}", kind="fact")
    for number in range(12):
        store.add_memory("ann", f"note about the trip {number}", kind="episode")
    found = store.search_memories("ann", "note", kind="episode", limit=12)
    assert len(found) == 12
    assert len(store.search_memories("ann", "note", limit=None)) == 312


def test_decay_prefers_what_was_written_lately(make_store, monkeypatch):
    store = make_store()
    now = store.backend.now()
    monkeypatch.setattr(store.backend, "_clock", lambda: now - 40 * 86_400_000_000)
    # Of different people: no versions of one statement, whose newest comes first.
    store.add_memory("ann", "prefers coffee", participants=["Bo"])
    monkeypatch.setattr(store.backend, "_clock", lambda: now)
    text = "prefers coffee, with milk and sugar and cream"
    store.add_memory("ann", text, participants=["Cy"])
    assert texts(store.search_memories("ann", "coffee"))[0] == "prefers coffee"
    found = store.search_memories("ann", "coffee", decay=timedelta(days=7))
    assert texts(found)[0].endswith("cream")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("limit", -5),
        ("limit", 1.5),
        ("similarity_threshold", 2),
        ("similarity_threshold", float("nan")),
        ("mode", "fuzzy"),
        ("decay", timedelta(0)),
        ("time_after", "last spring"),
        ("kind", 7),
        ("colour", "red"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(make_store, option, value):
    with pytest.raises(
        InvalidInput, match=option if option != "time_after" else "Cannot"
    ):
        make_store().search_memories("ann", "tea", **{option: value})


def test_the_reference_ranking_has_its_own_threshold(make_store):
    texts_ = ("tea", "coffee", "milk", "water in the tall glass of ann")
    stores = [make_store(), make_store(name="ref", ranking="reference")]
    for store in stores:
        for text in texts_:
            store.add_memory("ann", text)
    query = "tall building of bob and carol and dave"
    assert stores[0].search_memories("ann", query)
    assert stores[1].search_memories("ann", query) == []
    assert stores[1].search_memories("ann", query, similarity_threshold=0.01)


def test_what_was_written_elsewhere_is_found_at_once(tmp_path):
    url = f"sqlite:///{tmp_path}/shared.db"
    with MemoryStore.from_url(url) as one, MemoryStore.from_url(url) as two:
        entry = one.add_memory("ann", "Likes tea")
        assert texts(two.search_memories("ann", "tea")) == ["Likes tea"]
        one.update_memory("ann", entry.id, "Likes coffee")
        assert two.search_memories("ann", "tea") == []
        assert texts(two.search_memories("ann", "coffee")) == ["Likes coffee"]
        one.erase_user("ann")
        one.add_memory("ann", "Likes milk")
        assert texts(two.search_memories("ann", "likes coffee milk")) == ["Likes milk"]


def test_warm_indexes_stay_within_their_budget(make_store):
    store = make_store(search_memory=200_000)
    for user in range(60):
        for number in range(10):
            store.add_memory(user, f"memory number {number} of user {user}")
        assert store.search_memories(user, "memory")
    warm = store._service.shelves.describe()
    assert warm["bytes"] <= 200_000
    assert 0 < warm["shelves"] < 60
    assert len(store.search_memories(0, "memory number")) == 10


def test_an_explanation_names_the_words_and_both_halves(indexed):
    indexed.add_memory("ann", "She drinks tea")
    (entry,) = indexed.search_memories("ann", "does she drink tea?", explain=True)
    assert entry.explanation["mode"] == "hybrid"
    assert "tea" in entry.explanation["matched_words"]
    assert entry.explanation["lexical"] > 0
    assert entry.explanation["similarity"] > 0


def test_items_below_a_prefix_are_ranked_together(make_store):
    store = make_store()
    store.put(("notes", "a"), "1", {"text": "green tea"})
    store.put(("notes", "b"), "2", {"text": "green apples"})
    store.put(("notes", "b"), "3", {"text": "coffee"})
    store.put(("notesx",), "4", {"text": "green tea"})
    found = store.search(("notes",), query="green tea")
    assert [(item.namespace[1], item.key) for item in found] == [("a", "1"), ("b", "2")]
    assert store.search((), query="coffee")[0].key == "3"


def test_participants_and_places_are_found_by_name(make_store):
    store = make_store()
    store.add_memory("ann", "Went hiking", participants=["Olga"], location="Riga")
    store.add_memory("ann", "Went swimming", participants=["Hugo"], location="Oslo")
    assert texts(store.search_memories("ann", "Olga")) == ["Went hiking"]
    assert texts(store.search_memories("ann", "Oslo")) == ["Went swimming"]


def test_another_users_memories_do_not_weigh_in(make_store):
    store = make_store()
    store.add_memory("ann", "Likes tea")
    alone = store.search_memories("ann", "tea")[0].score
    for number in range(30):
        store.add_memory("bob", f"tea {number}")
    assert store.search_memories("ann", "tea")[0].score == alone
    assert store.search_memories(UserKey("other", "ann"), "tea") == []


def test_items_that_are_no_memories_never_crowd_memories_out(make_store):
    store = make_store()
    namespace = UserKey("default", "ann").namespace
    store.add_memory("ann", "the tea tin")
    for number in range(100):
        store.put(namespace, f"k{number}", {"note": "tea"})
    assert texts(store.search_memories("ann", "tea", limit=1)) == ["the tea tin"]


def test_equals_come_newest_first_however_many_there_are(make_store):
    store = make_store()
    for number in range(300):
        store.add_memory("ann", f"tea{number} tea")
    store.add_memory("ann", "tea7 tea")
    found = texts(store.search_memories("ann", "tea", limit=3))
    assert found == ["tea7 tea", "tea299 tea", "tea298 tea"]


def test_decay_lowers_and_never_hides(make_store, monkeypatch):
    store = make_store()
    store.add_memory("ann", "tea")
    later = store.backend.now() + 10_000 * 86_400_000_000
    monkeypatch.setattr(store.backend, "_clock", lambda: later)
    found = store.search_memories("ann", "tea", decay=timedelta(minutes=1))
    assert texts(found) == ["tea"]
    assert 0 < found[0].score < 1e-9
