"""Input that cannot be used, or hardly: each has one defined answer on every engine."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from langgraph.store.base import InvalidNamespaceError, PutOp

from langchain_agentmemory import UserKey
from langchain_agentmemory.errors import (
    BackendUnavailable,
    InvalidInput,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
)
from tests.contract.embedders import Letters

NS = ("notes",)

REFUSED = {
    "empty text": lambda s: s.add_memory("ann", ""),
    "no text": lambda s: s.add_memory("ann", None),
    "bytes": lambda s: s.add_memory("ann", b"tea"),
    "text as a list": lambda s: s.add_memory("ann", ["tea"]),
    "empty user": lambda s: s.add_memory("", "tea"),
    "no user": lambda s: s.add_memory(None, "tea"),
    "bool as user": lambda s: s.add_memory(True, "tea"),  # noqa: FBT003
    "empty app": lambda s: s.add_memory(UserKey("", "ann"), "tea"),
    "topics not iterable": lambda s: s.add_memory("ann", "tea", topics=5),
    "topic not text": lambda s: s.add_memory("ann", "tea", topics=[5]),
    "participants": lambda s: s.add_memory("ann", "tea", participants=[None]),
    "location": lambda s: s.add_memory("ann", "tea", location=5),
    "kind": lambda s: s.add_memory("ann", "tea", kind=5),
    "source": lambda s: s.add_memory("ann", "tea", source="chat"),
    "supersedes itself not": lambda s: s.add_memory("ann", "tea", supersedes=[""]),
    "unreadable date": lambda s: s.add_memory("ann", "tea", event_time="yesterday"),
    "slashes": lambda s: s.add_memory("ann", "tea", event_time="05/07/2024"),
    "no such day": lambda s: s.add_memory("ann", "tea", event_time="2024-02-30"),
    "number as date": lambda s: s.add_memory("ann", "tea", event_time=1715000000),
    "year 0": lambda s: s.add_memory("ann", "tea", event_time="0000-01-01"),
    "empty id, update": lambda s: s.update_memory("ann", "", "tea"),
    "empty id, delete": lambda s: s.delete_memory("ann", ""),
    "empty id, restore": lambda s: s.restore_memory("ann", ""),
    "empty id, history": lambda s: s.memory_history("ann", ""),
    "number as id": lambda s: s.delete_memory("ann", 5),
    "update to empty text": lambda s: s.update_memory("ann", kept(s), ""),
    "update to bad date": lambda s: s.update_memory("ann", kept(s), event_time="soon"),
    "read limit -5": lambda s: s.read_memories("ann", -5),
    "read limit 1.5": lambda s: s.read_memories("ann", 1.5),
    "read limit True": lambda s: s.read_memories("ann", True),  # noqa: FBT003
    "search limit -5": lambda s: s.search_memories("ann", "tea", limit=-5),
    "query not text": lambda s: s.search_memories("ann", 5),
    "unknown option": lambda s: s.search_memories("ann", "tea", fuzzy=True),
    "unknown mode": lambda s: s.search_memories("ann", "tea", mode="magic"),
    "vector without index": lambda s: s.search_memories("ann", "tea", mode="vector"),
    "threshold 2": lambda s: s.search_memories("ann", "t", similarity_threshold=2),
    "threshold nan": lambda s: s.search_memories(
        "ann", "t", similarity_threshold=math.nan
    ),
    "bad bound": lambda s: s.search_memories("ann", "tea", time_after="whenever"),
    "decay 0": lambda s: s.search_memories("ann", "tea", decay=timedelta(0)),
    "older than": lambda s: s.purge_deleted(5),
    "reindex without index": lambda s: s.reindex(),
    "operator": lambda s: s.search(NS, filter={"n": {"$regex": "a"}}),
    "operator on top": lambda s: s.search(NS, filter={"$near": [1]}),
    "$in without list": lambda s: s.search(NS, filter={"n": {"$in": 5}}),
    "$or without list": lambda s: s.search(NS, filter={"$or": {}}),
    "$exists": lambda s: s.search(NS, filter={"n": {"$exists": "yes"}}),
    "filter not a dict": lambda s: s.search(NS, filter=["n"]),
    "search limit": lambda s: s.search(NS, limit=-5),
    "search offset": lambda s: s.search(NS, offset=-1),
    "namespaces limit": lambda s: s.list_namespaces(limit=-5),
    "nan": lambda s: s.put(NS, "k", {"n": math.nan}),
    "infinity": lambda s: s.put(NS, "k", {"deep": [{"n": math.inf}]}),
    "datetime": lambda s: s.put(NS, "k", {"at": datetime.now(UTC)}),
    "set": lambda s: s.put(NS, "k", {"tags": {"a"}}),
    "key not text": lambda s: s.put(NS, "k", {"x": {1: 2}}),
    "value not a dict": lambda s: s.put(NS, "k", ["a"]),
    "key with NUL": lambda s: s.put(NS, "a\x00b", {}),
    "key with surrogate": lambda s: s.put(NS, "a\ud800", {}),
    "get with NUL": lambda s: s.get(NS, "a\x00b"),
    "label with surrogate": lambda s: s.put(("a\ud800",), "k", {}),
    "ttl 0": lambda s: s.put(NS, "k", {}, ttl=0),
    "ttl -1": lambda s: s.put(NS, "k", {}, ttl=-1),
    "ttl nan": lambda s: s.put(NS, "k", {}, ttl=math.nan),
    "not an operation": lambda s: s.batch(["put"]),
    "surrogate filter": lambda s: s.search(NS, filter={"$\ud800": 1}),
}


def kept(store):
    return store.read_memories("ann")[0].id


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_and_changes_nothing(make_store, case):
    store = make_store(soft_delete=True)
    store.add_memory("ann", "kept")
    store.put(NS, "k", {"n": 1})
    before = store.revision("ann"), store.get(NS, "k").value
    with pytest.raises(InvalidInput) as raised:
        REFUSED[case](store)
    assert len(str(raised.value)) > 10
    assert (store.revision("ann"), store.get(NS, "k").value) == before
    assert store.list_namespaces() == [("memories", "default", "ann"), NS]


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x")])
def test_labels_that_langgraph_forbids_are_refused_as_it_does(make_store, namespace):
    with pytest.raises(InvalidNamespaceError):
        make_store().put(namespace, "k", {})


@pytest.mark.parametrize("options", [
    {"memory_limit": -5}, {"memory_limit": 1.5}, {"on_limit": "drop"},
    {"on_duplicate": "merge"}, {"ranking": "best"}, {"timezone": "Mars/Base"},
    {"ttl": "long"}, {"ttl": timedelta(0)}, {"index": {"dims": 3}}, {"app_name": ""},
    {"index": {"embed": Letters(), "dims": -1}}, {"search_memory": -1},
])  # fmt: skip
def test_a_store_is_not_made_from_what_makes_no_sense(make_store, options):
    with pytest.raises(InvalidInput):
        make_store(**options)


def test_a_limit_of_zero_holds_nothing(make_store):
    for on_limit in ("reject", "evict"):
        store = make_store(memory_limit=0, on_limit=on_limit)
        with pytest.raises(MemoryLimitExceeded, match="limit: 0"):
            store.add_memory("ann", "tea")
        assert store.count_memories("ann") == 0


def test_a_read_limit_of_zero_is_none_at_all(make_store):
    store = make_store()
    store.add_memory("ann", "tea")
    assert store.read_memories("ann", 0) == []
    assert store.search_memories("ann", "tea", limit=0) == []


@pytest.mark.parametrize("text", [
    " ", "\n\t", "\u3000", "  tea  ", "a\x00b", "\x00",
    "lone \ud800 surrogate", "\udfff",
    "\ufeffmark", "e\u0301", "🙂👩‍👩‍👧", "\u202eabc", "'; DROP TABLE memories; --",
    '{"memory": "x"}', "<b>&amp;</b>", "%s %(x)s {}", "\r\n",
    "x" * 100_001, "字" * 50_000,
])  # fmt: skip
def test_any_text_is_stored_as_it_is(make_store, text):
    store = make_store(soft_delete=True)
    entry = store.add_memory("ann", text, topics=[text[:50]], location=text[:50])
    (found,) = store.read_memories("ann")
    assert (found.memory, found.topics) == (text, (text[:50],))
    assert found.id == entry.id
    assert store.add_memory("ann", text, location=text[:50]).id == entry.id
    other = store.update_memory("ann", entry.id, "changed " + text)
    assert store.memory_history("ann", other.id)[0].memory == text
    store.search_memories("ann", text)
    assert store.delete_memory("ann", other.id)


def test_five_megabytes_are_a_memory(make_store):
    store = make_store()
    text = "word " * 1_000_000
    entry = store.add_memory("ann", text)
    assert store.read_memories("ann")[0].memory == text
    assert store.search_memories("ann", "word")[0].id == entry.id
    assert store.search_memories("ann", text)[0].id == entry.id


@pytest.mark.parametrize("user", [" ", "\x00", "a\ud800", "\n", "x" * 5_000])
def test_any_user_id_that_is_not_empty_is_a_user(make_store, user):
    store = make_store()
    entry = store.add_memory(user, "tea")
    assert entry.user_id == user
    assert [e.user_id for e in store.read_memories(user)] == [user]


def test_unknown_ids_are_not_found(make_store):
    store = make_store(soft_delete=True)
    for memory_id in ("unknown", " ", "a\x00b", "a\ud800", "x" * 10_000, "0" * 64):
        assert store.delete_memory("ann", memory_id) is False
        for verb in ("update_memory", "restore_memory", "memory_history"):
            with pytest.raises(MemoryNotFound, match="not found"):
                getattr(store, verb)("ann", memory_id)
        with pytest.raises(MemoryNotFound):
            store.add_memory("ann", "tea", supersedes=[memory_id])
    assert store.count_memories("ann") == 0


def test_a_naive_datetime_is_taken_in_the_zone_of_the_store(make_store):
    store = make_store(timezone="+08:00")
    entry = store.add_memory("ann", "tea", event_time=datetime(2024, 5, 7, 10))  # noqa: DTZ001
    zone = timezone(timedelta(hours=8))
    assert entry.event_time == datetime(2024, 5, 7, 10, tzinfo=zone)
    assert entry.event_time.utcoffset() == timedelta(hours=8)
    same = store.add_memory(
        "ann", "tea", event_time=datetime(2024, 5, 7, 2, tzinfo=UTC)
    )
    assert same.id == entry.id


class Broken(Letters):
    """Answers wrongly, in one of several ways, until it is repaired."""

    def __init__(self, way):
        self.way = way

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return WAYS[self.way](super().embed_query(text))


def quota(right):
    msg = "quota exceeded"
    raise RuntimeError(msg)


WAYS = {
    "raises": quota,
    "too short": lambda right: right[:5],
    "nan": lambda right: [math.nan, *right[1:]],
    "infinite": lambda right: [math.inf, *right[1:]],
    "text": lambda right: ["a"] * 26,
    "nothing": lambda right: None,
    "zeros": lambda right: [0.0] * 26,
    "too small for float32": lambda right: [1e-60] * 26,
    "too large for float32": lambda right: [1e300, *right[1:]],
    "huge integers": lambda right: [10**400] * 26,
    "works": lambda right: right,
}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "works"])
async def test_no_text_is_lost_when_an_embedder_fails(make_store, way, caplog):
    embedder = Broken(way)
    store = make_store(index={"embed": embedder, "dims": 26})
    entry = store.add_memory("ann", "likes green tea")
    other = await store.aadd_memory("ann", "plays the violin")
    store.put(NS, "k", {"text": "green grass"})
    assert "reindex()" in caplog.text
    assert [e.id for e in store.search_memories("ann", "tea")] == [entry.id]
    assert [e.id for e in await store.asearch_memories("ann", "violin")] == [other.id]
    assert store.search(NS, query="grass")[0].key == "k"
    assert "degraded" in store.status()["state"]
    with pytest.raises((BackendUnavailable, InvalidInput), match="run reindex"):
        store.reindex()
    embedder.way = "works"
    assert store.reindex() == 3
    assert store.reindex() == 0
    found = store.search_memories("ann", "ate", mode="vector")  # the letters of "tea"
    assert found[0].id == entry.id
    assert store.status()["state"] == "ok"


async def test_a_closed_store_says_so(make_store):
    store = make_store()
    store.add_memory("ann", "tea")
    store.close()
    store.close()
    for call in (
        lambda: store.add_memory("ann", "x"),
        lambda: store.read_memories("ann"),
        lambda: store.search_memories("ann", "tea"),
        lambda: store.count_memories("ann"),
        lambda: store.get(NS, "k"),
        lambda: store.put(NS, "k", {}),
        lambda: store.search(NS),
        store.list_namespaces,
        lambda: store.erase_user("ann"),
        store.sweep_ttl,
    ):
        with pytest.raises(BackendUnavailable, match="closed"):
            call()
    with pytest.raises(BackendUnavailable, match="closed"):
        await store.aadd_memory("ann", "x")
    with pytest.raises(BackendUnavailable, match="closed"):
        await store.aget(NS, "k")


STRANGE_IDS = {
    "megabytes": "x" * 1_000_000,
    "lone surrogate": "a\ud800b",
    "line break": "a\n2024-01-01 INFO forged",
    "escape": "\x1b[31mred",
    "bidi": "\u202eabc",
    "NUL": "a\x00b",
    "blank": " ",
}


@pytest.mark.parametrize("memory_id", STRANGE_IDS.values(), ids=list(STRANGE_IDS))
def test_messages_about_an_unknown_id_can_be_logged_and_sent(make_store, memory_id):
    store = make_store(soft_delete=True)
    for call in (
        lambda: store.update_memory("ann", memory_id, "x"),
        lambda: store.restore_memory("ann", memory_id),
        lambda: store.memory_history("ann", memory_id),
        lambda: store.add_memory("ann", "tea", supersedes=[memory_id]),
    ):
        with pytest.raises(MemoryNotFound) as raised:
            call()
        message = str(raised.value)
        message.encode()
        assert message.isprintable()
        assert len(message) < 400


@pytest.mark.parametrize("name", ["a\nb", "\ud800", "x" * 100_000, "\x1b[31m"])
def test_messages_about_a_strange_user_can_be_logged_and_sent(make_store, name):
    store = make_store(memory_limit=0, app_name=name)
    with pytest.raises(MemoryLimitExceeded, match="limit: 0") as raised:
        store.add_memory(name, "tea")
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def test_messages_about_foreign_keys_can_be_logged_and_sent(make_store):
    store = make_store(on_duplicate="error")
    entry = store.add_memory("ann", "tea")
    key = "a\n" + "x" * 100_000
    store.put(UserKey("default", "ann").namespace, key, {"memory": "coffee"})
    with pytest.raises(MemoryConflict) as raised:
        store.update_memory("ann", key, "tea")
    assert entry.id in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("memory_id", [5, b"abc", ["abc"], 1.5, ("abc",), {}])
def test_the_message_about_an_id_that_is_no_text_says_so(make_store, memory_id):
    with pytest.raises(InvalidInput, match="memory_id must be text, not"):
        make_store().update_memory("ann", memory_id, "x")


class Picky(Letters):
    """Has no vector for texts that it does not like."""

    def __init__(self):
        self.likes_all = False

    def embed_query(self, text):
        disliked = "zebra" in text and not self.likes_all
        return [0.0] * 26 if disliked else super().embed_query(text)


def test_a_text_that_has_no_vector_keeps_no_other_from_having_one(make_store):
    embedder = Picky()
    store = make_store(index={"embed": embedder, "dims": 26})
    store.batch([
        PutOp(NS, "a", {"text": "green tea"}),
        PutOp(NS, "b", {"text": "a zebra"}),
        PutOp(NS, "c", {"text": "black tea"}),
    ])  # fmt: skip
    zebra = store.add_memory("ann", "rode a zebra")
    later = store.add_memory("zoe", "drinks tea")
    assert store.search(NS, query="zebra")[0].key == "b"
    assert store.search_memories("ann", "zebra")[0].id == zebra.id
    assert store.search_memories("ann", "zebra", mode="vector")[0].id == zebra.id
    assert "degraded" in store.status()["state"]
    # Another embedder's vectors: all are owed, and all but the disliked are made.
    store._service.embedder.fingerprint += 1
    with pytest.raises(BackendUnavailable, match="failed on 2 items"):
        store.reindex()
    assert not store._service.indexer.owed(
        store.backend.read(later.user.namespace, [later.id])[0]
    )
    embedder.likes_all = True
    assert store.reindex() == 2
    assert store.reindex() == 0


@pytest.mark.parametrize("size", [1e30, 1e37, 1e-30, 1e-37])
def test_vectors_of_any_length_that_float32_holds_are_directions(make_store, size):
    class Long(Letters):
        def embed_query(self, text):
            return [size * number for number in super().embed_query(text)]

    store = make_store(index={"embed": Long(), "dims": 26})
    store.add_memory("ann", "tea")
    (found,) = store.search_memories("ann", "eat", mode="vector", explain=True)
    assert found.explanation["similarity"] == pytest.approx(1, abs=1e-6)
    assert 0.5 < found.score <= 1
    assert store.status()["state"] == "ok"
