"""The reference's own cases for identity, metadata, updates, limits and visibility.

The folder of cases is `$AGENTMEMORY_CASES`, by default `../shared/cases` beside the
repository. Without it these tests are skipped. Every case runs on every engine of ours,
also where the reference's engines differ from each other.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langchain_agentmemory import MemoryStore, UserKey
from langchain_agentmemory.backends.base import RecordState
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.errors import MemoryStoreError
from langchain_agentmemory.identity import canonical_text, memory_id

FOLDER = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[4] / "shared" / "cases")
)

ONE_RULE = "design: one rule on every engine"
DECIDED_OTHERWISE = {
    # case name: (why, what we return instead of `then`)
    "patch cannot clear location": ("an empty value clears", {"location": ""}),
    "patch with blank participants ignored": (
        "an empty value clears",
        {"participants": None},
    ),
    "apply update rewrites topics and id": (
        "None leaves a field as it is",
        {"topics": ["x", "y"]},
    ),
    "topics omitted are erased": (
        "None leaves a field as it is",
        {"rows": [{"topics": ["music"]}]},
    ),
    "tombstone target replaced, hard": (
        f"{ONE_RULE}: a tombstoned target is revived, created_at kept",
        {"created_at": "t0"},
    ),
    "missing source, redis wraps nil reply": (
        ONE_RULE,
        {"error_contains": "not found"},
    ),
    "chroma repeat after completion is idempotent": (
        f"{ONE_RULE}: the old id is gone after the first update",
        {"second": {"error_contains": "not found"}},
    ),
    "re-add at capacity rejected": (
        "design: adding the same again never consults the limit",
        {"errors": [None, None], "active": ["A"]},
    ),
    "leftover tombstones count in hard mode": (
        "design: the limit counts active memories",
        {"error_contains": None, "active": ["B"]},
    ),
    "revival by add, blob backends": (
        "design: created_at is kept",
        {"created_at": "t1", "updated_at": "t5"},
    ),
    "unknown id in memory, known user": ("design: returns False", {"error": None}),
    "unknown user in memory": ("design: returns False", {"error": None}),
    "tombstones visible when reopened in hard mode": (
        "design: tombstones are invisible to every read",
        {"ids": []},
    ),
    "limit 0 means all": ("design: None = all, 0 = none", {"count": 0}),
    "app checked first": ("one wording for all engines", {"error": "app_name is"}),
    "id third": ("one wording for all engines", {"error": "memory_id is required"}),
    "negative max_results uses default": (
        "design: negative limits are InvalidInput",
        {"error_contains": "limit must be"},
    ),
    "dimension mismatch on query": (
        "design: if the embedder fails, search goes by words",
        {"ids": ["a"]},
    ),
    "hybrid flag disables threshold": (
        "design: a threshold works in every mode",
        {"ids": ["a"]},
    ),
    "hybrid fusion order": (
        "design: normalised scores are fused, not ranks",
        {"ids": ["k", "v"]},
    ),
    "sqlitevec negative cosine not clamped": (
        "design: scores are in [0, 1]; LangGraph's search reports the plain cosine",
        {"score": -0.4},
    ),
}

NOT_OURS = {
    "sqlitevec candidate count with dedup": "a full page comes back by growing k",
    "sqlitevec candidate count limit dominates": "a full page comes back by growing k",
    "chroma fallback reuses query vector": "counts requests of one engine's client",
    "source vanishes during rotation": "tested with a racing writer in test_verbs",
}


def load(*areas):
    if not FOLDER.is_dir():
        return []
    lines = (FOLDER / "memory-core.jsonl").read_text("utf-8").splitlines()
    cases = [case for line in lines if (case := json.loads(line))["area"] in areas]
    for case in cases:
        if case["name"] in DECIDED_OTHERWISE:
            case["then"] = {**case["then"], **DECIDED_OTHERWISE[case["name"]][1]}
    return [pytest.param(case, id=case["name"]) for case in cases]


pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no reference cases: set AGENTMEMORY_CASES to them"
)
USER = UserKey("demo-app", "u-100")
START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that shows the abstract instants t0 to t9 of the cases."""

    def __init__(self):
        self.now = 1

    def __call__(self):
        return int(self.at(self.now).timestamp()) * 1_000_000

    @staticmethod
    def at(instant):
        return START + timedelta(hours=int(str(instant).removeprefix("t")))


@pytest.fixture
def open_store(engine, tmp_path):
    clock, opened = Clock(), []

    def make(backend=None, **options):
        if backend is None:
            backend = (
                InMemoryBackend(clock=clock)
                if engine == "memory"
                else SQLiteBackend(tmp_path / "cases.db", clock=clock)
            )
        store = MemoryStore(backend, app_name="demo-app", **options)
        store.clock = clock
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()


def error_of(call):
    try:
        call()
    except MemoryStoreError as error:
        return str(error)
    return None


@pytest.mark.parametrize("case", load("memory_id"))
def test_memory_id(case):
    given = case["given"]
    app, user = given["app"], given["user"]
    when = given.get("event_time")
    fields = {
        "kind": given.get("kind"),
        "event_time": datetime.fromisoformat(when) if when else None,
        "participants": given.get("participants") or (),
        "location": given.get("location"),
    }
    then = case["then"]
    if "canonical" in then:
        assert canonical_text(given["memory"], app, user, **fields) == then["canonical"]
    assert memory_id(given["memory"], app, user, **fields) == then["id"]


def details(given):
    return {
        name: given[name]
        for name in ("kind", "event_time", "participants", "location", "topics")
        if given.get(name) is not None
    }


def shown(entry, name):
    value = getattr(entry, name)
    if name in {"participants", "topics"}:
        return list(value) or None
    if name == "location":
        return value or ""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value


@pytest.mark.parametrize("case", load("metadata"))
def test_metadata(case, open_store):
    given, then = case["given"], case["then"]
    store = open_store()
    stored = given.get("stored") or {
        "memory": given.get("memory", "Some text"),
        "participants": given.get("participants"),
        **(given.get("metadata") or {}),
    }
    entry = store.add_memory(USER, stored["memory"], **details(stored))
    if "patch" in given:
        entry = store.update_memory(USER, entry.id, **given["patch"])
    if "update" in given:
        store.clock.now = given["update"]["now"]
        update = given["update"]
        entry = store.update_memory(
            USER, entry.id, update["memory"], topics=update["topics"]
        )
        assert entry.id == memory_id(entry.memory, *("demo-app", "u-100"))
        assert entry.created_at == Clock.at(then["created_at"])
        assert entry.updated_at == Clock.at(then["updated_at"])
    entry = store.read_memories(USER)[0]
    for name in ("kind", "event_time", "participants", "location", "memory", "topics"):
        if name in then:
            assert shown(entry, name) == then[name]


def seed(store, rows):
    """Bring stored rows about through the public interface."""
    for row in sorted(rows, key=lambda row: row.get("created_at", "t1")):
        store.clock.now = int(str(row.get("created_at", "t1")).removeprefix("t"))
        text = row.get("text") or row.get("memory")
        if row.get("id") == "legacy-1":
            value = {"memory": text, "topics": row["topics"]}
            store.put(USER.namespace, "legacy-1", value)
            continue
        entry = store.add_memory(USER, text, **details(row))
        if row.get("state") == "tombstone":
            store.delete_memory(USER, entry.id)


def rows_of(store):
    return {
        r.key: (r.value, r.state, r.created_at, r.updated_at)
        for r in store.backend.delta(USER.namespace, -1, -1).records
    }


@pytest.mark.parametrize("case", load("update"))
def test_update(case, open_store):  # noqa: C901 - one adapter for all shapes of cases
    if case["name"] in NOT_OURS:
        pytest.skip(NOT_OURS[case["name"]])
    given, then = case["given"], case["then"]
    # Rows with tombstones are made by a store that deletes softly, on the same data.
    maker = open_store(soft_delete=True)
    seed(maker, given.get("rows", []))
    soft = given.get("delete_mode") == "soft"
    store = open_store(
        maker.backend, soft_delete=soft, memory_limit=given.get("limit", 1000)
    )
    before = rows_of(store) if given.get("rows") else {}
    key = given.get("key", {}).get("id")
    if key is None:
        key = store.read_memories(USER)[0].id
    patch = dict(given.get("patch") or {})
    store.clock.now = 9

    def update(text=given["memory"]):
        return store.update_memory(USER, key, text, topics=given.get("topics"), **patch)

    if "second" in then:
        update()
        other = "different update" in case["name"]
        error = error_of(lambda: update("Plays the harp") if other else update())
        assert then["second"]["error_contains"] in error
        return
    if then.get("error_contains"):
        assert then["error_contains"] in error_of(update)
        assert (rows_of(store) if given.get("rows") else {}) == before
        return
    entry = update()
    if "sink" in then:
        assert entry.id == then["sink"]
    for name in ("kind", "event_time", "participants", "location"):
        if name in then:
            assert shown(entry, name) == then[name]
    created = then.get("created_at") or then.get("rows", [{}])[0].get("created_at")
    if created:
        assert entry.created_at == Clock.at(created)
    if then.get("rows", [{}])[0].get("topics"):
        assert list(entry.topics) == then["rows"][0]["topics"]
    assert store.count_memories(USER) == then.get("active", 1)
    assert entry.updated_at >= Clock.at(9)


def run_step(store, step):
    words = step.split()
    verb, text = words[0], words[1]
    user = USER
    extra = {}
    if "as" in words:
        app, _, name = words[words.index("as") + 1].rpartition("/")
        user = UserKey(app or "demo-app", name)
    if "location" in words:
        extra["location"] = words[-1]
    if "at" in words:
        store.clock.now = int(words[words.index("at") + 1].removeprefix("t"))
    else:
        store.clock.now += 1
    if verb == "add":
        store.add_memory(user, text, **extra)
    else:
        store.delete_memory(user, memory_id(text, user.app_name, user.user_id))


@pytest.mark.parametrize("case", load("limit"))
def test_limit(case, open_store):
    given, then = case["given"], case["then"]
    maker = open_store(soft_delete=True)
    for row in given.get("rows", []):
        run_step(maker, f"add {row.split()[-1]}")
        run_step(maker, f"delete {row.split()[-1]}")
    store = open_store(
        maker.backend,
        memory_limit=given["limit"],
        soft_delete=given.get("delete_mode") == "soft",
        on_limit="evict"
        if "evict" in case["name"] or "pgvector" in case["name"]
        else "reject",
    )
    steps = given.get("sequence") or [case["when"]]
    errors = then.get("errors") or [then.get("error_contains") or then.get("error")]
    for step, expected in zip(steps, errors, strict=True):
        error = error_of(lambda step=step: run_step(store, step))
        assert (error is None) if expected is None else (expected in error)
    if "active" in then:
        assert sorted(e.memory for e in store.read_memories(USER)) == then["active"]


@pytest.mark.parametrize("case", load("timestamps"))
def test_timestamps(case, open_store):
    store = open_store(soft_delete=True)
    for step in case["given"]["sequence"]:
        run_step(store, step)
    (entry,) = store.read_memories(USER)
    assert entry.created_at == Clock.at(case["then"]["created_at"])
    assert entry.updated_at == Clock.at(case["then"]["updated_at"])


@pytest.mark.parametrize("case", load("delete"))
def test_delete(case, open_store):
    given, then = case["given"], case["then"]
    store = open_store(soft_delete=given.get("delete_mode") == "soft")
    for step in given.get("sequence", []):
        run_step(store, step)
    for text in given.get("rows", []):
        store.add_memory(USER, text)
    if case["when"].startswith("delete"):
        assert store.delete_memory(USER, "nope") is False
    elif case["when"] == "clear":
        assert store.clear_memories(USER) == 0
    else:
        assert store.read_memories(USER) == then["read"]
        assert store.search_memories(USER, "A") == then["search"]
        kept = rows_of(store).values()
        assert len(kept) == then["stored_rows"] or all(
            state is RecordState.TOMBSTONE for _, state, _, _ in kept
        )


@pytest.mark.parametrize("case", load("visibility"))
def test_visibility(case, open_store):
    store = open_store(soft_delete=True)
    if "users are isolated" in case["name"]:
        store.add_memory(UserKey("app1", "u1"), "A")
        assert store.read_memories(UserKey("app1", "u2")) == []
        assert store.read_memories(UserKey("app2", "u1")) == []
        return
    run_step(store, "add A")
    run_step(store, "delete A")
    hard = open_store(store.backend, soft_delete=False)
    assert [entry.memory for entry in hard.read_memories(USER)] == case["then"]["ids"]


@pytest.mark.parametrize("case", load("read"))
def test_read(case, open_store):
    store = open_store()
    for row in case["given"]["rows"]:
        text, moment = (row[0], row[1]) if isinstance(row, list) else (row, None)
        if moment:
            store.clock.now = int(moment.split()[1])
        store.add_memory(USER, text)
    if "ids" in case["then"]:
        # Our clock never runs backwards: the later write is the newer one.
        assert [e.memory for e in store.read_memories(USER, 2)] == ["C", "B"]
    else:
        assert len(store.read_memories(USER, 0)) == case["then"]["count"]
        assert len(store.read_memories(USER)) == 3


@pytest.mark.parametrize("case", load("keys"))
def test_keys(case, open_store):
    store, key = open_store(), case["given"]["key"]

    def call():
        user = UserKey(key["app"], key["user"])
        if case["when"] == "update":
            store.update_memory(user, key["id"], "text")
        else:
            store.add_memory(user, "A")

    expected, error = case["then"]["error"], error_of(call)
    assert (error is None) if expected is None else (expected in error)


@pytest.mark.parametrize("case", load("search_options"))
def test_search_options(case, open_store):
    limit = case["given"]["options"]["max_results"]
    error = error_of(lambda: open_store().search_memories(USER, "x", limit=limit))
    assert case["then"]["error_contains"] in error


class Similar(Embeddings):
    """Texts whose cosine with the query is the number that they name."""

    def __init__(self, similarities, dims=4):
        self.similarities, self.dims, self.calls = similarities, dims, 0

    def embed_documents(self, texts):
        vectors = []
        for text in texts:
            cosine = self.similarities[text.split()[0]]
            vectors.append([cosine, np.sqrt(max(0, 1 - cosine**2)), 0.0, 0.0])
        return vectors

    def embed_query(self, text):
        self.calls += 1
        return [1.0, 0.0, 0.0, 0.0][: self.dims]


@pytest.mark.parametrize("case", load("vector"))
def test_vector(case, open_store):  # noqa: C901 - one adapter for all shapes of cases
    if case["name"] in NOT_OURS:
        pytest.skip(NOT_OURS[case["name"]])
    given, then = case["given"], case["then"]
    similarities = given.get("similarities") or {"a": 0.8}
    if "distance" in given:
        similarities = {"a": 1 - given["distance"]}
    if "distances" in given:
        cosines = [min(1.0, 1 - distance) for distance in given["distances"]]
        similarities = {f"m{i}": cosine for i, cosine in enumerate(cosines)}
    if "vector_order" in given:
        similarities = {"v": 0.9, "k": 0.6}
    embedder = Similar(similarities, given.get("embedding_length", 4))
    # A backend without a default cut is our default ranking, the others "reference".
    # Cosines are scores as they are only there, too.
    plain = "no default threshold" in case["name"] or "threshold" not in case["name"]
    plain = plain and "distances" not in given
    store = open_store(
        index={"embed": embedder, "dims": 4},
        ranking="default" if plain else "reference",
    )
    if given.get("closed"):
        store.close()
        assert then["error_contains"] in error_of(lambda: store.read_memories(USER))
        return
    for name in similarities:
        when = given.get("event_time", {}).get(name)
        word = "keyword" if name in given.get("keyword_order", []) else "text"
        store.add_memory(
            USER,
            f"{name} {word}",
            kind=given.get("kinds", {}).get(name),
            event_time=when and START + timedelta(days=when),
        )
    if "distance" in given:
        (item,) = store.search(USER.namespace, query="q")
        assert item.score == pytest.approx(then["score"], abs=1e-6)
        return
    if "distances" in given:
        found = store.search_memories(USER, "q", mode="vector")
        scores = {entry.memory.split()[0]: entry.score for entry in found}
        got = [scores.get(name, 0) for name in similarities]
        assert got == pytest.approx(then["scores"], abs=1e-6)
        return
    query = "  " if "blank" in case["name"] else "q"
    if "vector_order" in given or "mismatch" in case["name"]:
        query = "keyword" if "vector_order" in given else "text"
    options = {
        name: given[name]
        for name in ("similarity_threshold", "order_by_event_time", "kind")
        if name in given
    }
    found = store.search_memories(
        USER,
        query,
        mode="hybrid"
        if given.get("hybrid")
        else "auto"
        if "hybrid" not in given
        else "vector",
        kind_fallback=given.get("kind_fallback", False),
        **options,
    )
    assert [entry.memory.split()[0] for entry in found] == then["ids"]
    if "embed_calls" in then:
        assert embedder.calls == then["embed_calls"]
