"""Random use of the store against a plain model, on every engine.

`AGENTMEMORY_SOAK=1` runs at least 20,000 steps instead of a sample of a few seconds.
"""

import asyncio
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from langgraph.store.base import GetOp, PutOp, SearchOp

from langchain_agentmemory import MemoryStore, UserKey
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.errors import MemoryStoreError
from langchain_agentmemory.service.records import decode_meta
from langchain_agentmemory.testing import ManualClock
from tests.contract.memory_model import Model, Rules, completed, identity

SOAK = os.environ.get("AGENTMEMORY_SOAK") == "1"
STEPS = 10_000 if SOAK else 1_000  # at least, per engine
EVERYTHING = 1_000_000
MINUTE = timedelta(minutes=1)

USERS = (UserKey("default", "ann"), UserKey("default", "b.o/b%"), UserKey("x", "ann"))
TEXTS = ("likes green tea", "lives in Berlin", "张三喜欢喝绿茶", "plays violin", "Tea")
MOMENTS = {
    None: None,
    "2024-05-07": "2024-05-07T00:00:00+00:00",
    "2024-05-07T10:00:00+02:00": "2024-05-07T10:00:00+02:00",
}
PLAIN = (("notes",), ("notes", "a"), (*USERS[0].namespace, "below"))

users = st.sampled_from(USERS)
texts = st.sampled_from(TEXTS)
topics = st.sampled_from(([], ["food"], ["food", "travel"]))
kinds = st.sampled_from((None, None, None, "episode"))
moments = st.sampled_from((*MOMENTS, None, None, None))
contents = st.fixed_dictionaries(
    {"memory": texts, "topics": topics, "kind": kinds, "event_time": moments},
    optional={"location": st.sampled_from((None, None, "Paris"))},
)
patches = st.fixed_dictionaries(
    {},
    optional={
        "memory": texts,
        "topics": topics,
        "kind": st.sampled_from(("episode", "")),
        "event_time": st.sampled_from(("2024-05-07", "")),
        "location": st.sampled_from(("Paris", "")),
    },
)
values = st.one_of(
    texts.map(lambda text: {"memory": text}),
    st.builds(lambda text, mood: {"memory": text, "mood": mood}, texts, st.integers()),
    st.sampled_from(({"n": 1}, {"n": 2, "memory": None}, {"memory": ["no text"]})),
)
minutes = st.sampled_from((None, 5.0, 60.0))
picks = st.integers(0, 40)

steps = {"memory": 0, "sqlite": 0}


def stored(content):
    """The value that adding this content stores."""
    return {
        "memory": content["memory"],
        "topics": content["topics"],
        "kind": content["kind"] or "fact",
        "event_time": MOMENTS[content["event_time"]],
        "participants": [],
        "location": content.get("location"),
    }


def microseconds(moment):
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def outcome(call):
    """What a call returns, or the kind of error that it raises."""
    try:
        return call()
    except MemoryStoreError as error:
        return type(error)


class Machine(RuleBasedStateMachine):
    """Two stores on one set of data, as two parts of an application would hold."""

    engine = ""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = ManualClock()
        self.stores = []

    @initialize(
        rules=st.builds(
            Rules,
            limit=st.sampled_from((None, None, 1, 2, 4)),
            evict=st.booleans(),
            on_duplicate=st.sampled_from(("refresh", "refresh", "keep", "error")),
            soft=st.booleans(),
            ttl=st.sampled_from((None, None, 60 * 60_000_000)),
            lazy=st.booleans(),
        )
    )
    def set_up(self, rules):
        self.rules = rules
        self.model = Model(rules, self.clock)
        self.linked = set()
        self.backend = self.new_backend()
        self.open_stores()

    def new_backend(self):
        if self.engine == "memory":
            return InMemoryBackend(clock=self.clock)
        return SQLiteBackend(self.folder / "data.db", clock=self.clock)

    def open_stores(self):
        for store in self.stores:
            if self.engine != "memory":
                store.close()
        ttl = None
        if self.rules.ttl is not None:
            eager = {"default_ttl": 60, "refresh_on_read": True}
            ttl = timedelta(minutes=60) if self.rules.lazy else eager
        options = {
            "memory_limit": self.rules.limit,
            "on_limit": "evict" if self.rules.evict else "reject",
            "on_duplicate": self.rules.on_duplicate,
            "soft_delete": self.rules.soft,
            "ttl": ttl,
        }
        backends = [self.backend, self.backend]
        if self.engine != "memory":
            backends = [self.new_backend(), self.new_backend()]
        self.stores = [MemoryStore(backend, **options) for backend in backends]

    def teardown(self):
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def verb(self, pick, name, *arguments, **options):
        """Call a verb of one of the stores, now and then its async twin."""
        store = self.stores[pick % 2]
        if pick % 7 == 0:
            twin = getattr(store, f"a{name}")
            return outcome(lambda: asyncio.run(twin(*arguments, **options)))
        return outcome(lambda: getattr(store, name)(*arguments, **options))

    def a_key(self, user, pick):
        """An id that exists, was deleted, belongs to somebody else, or to nobody."""
        own = self.model.space(user.namespace)
        known = [*own.rows, *own.dead]
        strangers = [key for space in self.model.spaces.values() for key in space.rows]
        choices = [*known, *known, *strangers[:3], "k1", "unknown"]
        return choices[pick % len(choices)]

    def outdated(self, user, key):
        """Whether the store says that something replaced this memory."""
        (record,) = self.stores[0].backend.read(user.namespace, [key])
        return record is not None and bool(decode_meta(record.meta).superseded_by)

    def check_written(self, user, expected, answer):
        """An entry that a verb returned is the one that the model holds."""
        if isinstance(expected, type):
            assert answer is expected
            return
        assert not isinstance(answer, type), answer
        assert answer.id == expected
        self.check_entry(user, answer)

    def check_entry(self, user, entry):
        row = self.model.space(user.namespace).rows[entry.id]
        assert (entry.app_name, entry.user_id) == (user.app_name, user.user_id)
        assert entry.memory == row.value["memory"]
        assert list(entry.topics) == (row.value.get("topics") or [])
        assert entry.kind == (row.value.get("kind") or "fact")
        moment = row.value.get("event_time")
        assert (entry.event_time and entry.event_time.isoformat()) == moment
        assert entry.location == row.value.get("location")
        assert microseconds(entry.created_at) == row.created
        assert microseconds(entry.updated_at) == row.updated

    # -- memory verbs -----------------------------------------------------------------

    @rule(user=users, content=contents, pick=picks)
    def add(self, user, content, pick):
        value = stored(content)
        outdated = self.outdated(user, identity(user, value))
        expected = outcome(lambda: self.model.add(user, value, outdated=outdated))
        given = dict(content)
        answer = self.verb(pick, "add_memory", user, given.pop("memory"), **given)
        self.check_written(user, expected, answer)

    @rule(user=users, content=contents, pick=picks)
    def add_a_newer_version(self, user, content, pick):
        old = self.a_key(user, pick)
        value = stored(content)
        if old == identity(user, value):
            return
        self.linked.add(user)
        expected = outcome(lambda: self.model.add(user, value, [old]))
        given = dict(content)
        answer = self.verb(
            pick, "add_memory", user, given.pop("memory"), supersedes=[old], **given
        )
        if not isinstance(expected, type):
            assert old in answer.supersedes
        self.check_written(user, expected, answer)

    @rule(user=users, patch=patches, pick=picks)
    def update(self, user, patch, pick):
        key = self.a_key(user, pick)
        expected_patch = dict(patch)
        if "kind" in patch:
            expected_patch["kind"] = patch["kind"] or "fact"
        if "location" in patch:
            expected_patch["location"] = patch["location"] or None
        if "event_time" in patch:
            expected_patch["event_time"] = MOMENTS[patch["event_time"] or None]
        expected = outcome(lambda: self.model.update(user, key, expected_patch))
        given = dict(patch)
        text = given.pop("memory", None)
        answer = self.verb(pick, "update_memory", user, key, text, **given)
        self.check_written(user, expected, answer)

    @rule(user=users, pick=picks)
    def delete(self, user, pick):
        key = self.a_key(user, pick)
        expected = self.model.delete(user, key)
        assert self.verb(pick, "delete_memory", user, key) is expected

    @rule(user=users, pick=st.integers(0, 200))
    def clear(self, user, pick):
        if pick < 40:
            expected = self.model.clear(user)
            assert self.verb(pick, "clear_memories", user) == expected

    @rule(user=users, pick=picks)
    def restore(self, user, pick):
        key = self.a_key(user, pick)
        expected = outcome(lambda: self.model.restore(user, key))
        answer = self.verb(pick, "restore_memory", user, key)
        self.check_written(user, expected, answer)

    @rule(user=users, pick=picks)
    def history(self, user, pick):
        key = self.a_key(user, pick)
        expected = outcome(lambda: self.model.history(user, key))
        answer = self.verb(pick, "memory_history", user, key)
        if isinstance(expected, type):
            assert answer is expected
        elif user in self.linked:
            assert answer[-1].id == key
            assert all(entry.user == user for entry in answer)
        else:
            assert [entry.id for entry in answer] == expected

    @rule(
        user=st.one_of(st.none(), users), pick=picks, older=st.sampled_from((None, 30))
    )
    def purge(self, user, pick, older):
        span = None if older is None else older * MINUTE
        expected = self.model.purge(
            list(self.model.spaces) if user is None else [user.namespace],
            None if older is None else older * 60_000_000,
        )
        assert self.verb(pick, "purge_deleted", span, user) == expected

    @rule(user=users, pick=st.integers(0, 200))
    def erase(self, user, pick):
        if pick < 20:
            self.model.erase(user)
            self.verb(pick, "erase_user", user)
            self.linked.discard(user)

    # -- reading ----------------------------------------------------------------------

    @rule(user=users, pick=picks, limit=st.sampled_from((None, 0, 1, 3)))
    def read(self, user, pick, limit):
        expected = self.model.memories(user.namespace)[:limit]
        answer = self.verb(pick, "read_memories", user, limit)
        assert [entry.id for entry in answer] == [key for key, _ in expected]
        for entry in answer:
            self.check_entry(user, entry)
        for _, row in expected:
            self.model.renew(row)

    @rule(user=users, pick=picks)
    def count(self, user, pick):
        expected = len(self.model.memories(user.namespace))
        assert self.verb(pick, "count_memories", user) == expected

    @rule(user=users, pick=picks, text=texts)
    def search_memories(self, user, pick, text):
        answer = self.verb(pick, "search_memories", user, text, limit=None)
        memories = dict(self.model.memories(user.namespace))
        found = [entry.id for entry in answer]
        assert len(found) == len(set(found))
        assert set(found) <= set(memories)
        saying_it = {k for k, row in memories.items() if row.value["memory"] == text}
        assert saying_it <= set(found)
        scores = [entry.score for entry in answer]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)
        for entry in answer:
            self.check_entry(user, entry)
            self.model.renew(memories[entry.id])

    @rule(
        pick=picks, text=texts, prefix=st.sampled_from(((), ("memories",), ("notes",)))
    )
    def search_items_by_words(self, pick, text, prefix):
        (answer,) = self.stores[pick % 2].batch(
            [SearchOp(prefix, query=text, limit=EVERYTHING, refresh_ttl=False)]
        )
        rows = {(ns, key): row for ns, key, row in self.model.all_rows(prefix)}
        found = [(item.namespace, item.key) for item in answer]
        assert len(found) == len(set(found))
        assert set(found) <= set(rows)
        assert {k for k, row in rows.items() if row.value.get("memory") == text} <= set(
            found
        )

    @rule(
        pick=picks,
        prefix=st.sampled_from(((), ("memories",), USERS[0].namespace, ("notes",))),
        limit=st.sampled_from((1, 3, EVERYTHING)),
        offset=st.sampled_from((0, 2)),
        wanted=st.sampled_from((None, {"memory": TEXTS[0]}, {"n": {"$gte": 2}})),
        refresh=st.booleans(),
    )
    def search_items(self, pick, prefix, limit, offset, wanted, refresh):  # noqa: PLR0913, PLR0917 - hypothesis draws them
        operation = SearchOp(prefix, wanted, limit, offset, refresh_ttl=refresh)
        (answer,) = self.stores[pick % 2].batch([operation])
        rows = self.model.all_rows(prefix)
        if wanted == {"memory": TEXTS[0]}:
            rows = [r for r in rows if r[2].value.get("memory") == TEXTS[0]]
        elif wanted:
            rows = [r for r in rows if r[2].value.get("n", 0) >= 2]
        rows = rows[offset : offset + limit]
        assert [(i.namespace, i.key) for i in answer] == [r[:2] for r in rows]
        if refresh:
            for _, _, row in rows:
                self.model.renew(row)

    @rule(pick=picks)
    def list_namespaces(self, pick):
        expected = sorted({ns for ns, _, _ in self.model.all_rows(())})
        assert self.stores[pick % 2].list_namespaces(limit=EVERYTHING) == expected

    # -- LangGraph writes -------------------------------------------------------------

    @rule(
        puts=st.lists(
            st.tuples(users, st.sampled_from((0, 0, 1, 2, 3)), picks, values, minutes),
            min_size=1,
            max_size=5,
        ),
        deleted=st.sets(st.integers(0, 4), max_size=3),
        pick=picks,
        reads=st.booleans(),
    )
    def batch(self, puts, deleted, pick, reads):
        writes, operations = {}, []
        for number, (user, where, which, value, ttl) in enumerate(puts):
            namespace = user.namespace if where == 0 else PLAIN[where - 1]
            key = f"k{which % 3}"
            if where == 0 and which % 2:
                key = identity(user, completed({"memory": TEXTS[which % len(TEXTS)]}))
            elif where == 0:
                key = self.a_key(user, which)
            given = None if number in deleted else value
            span = None if ttl is None else round(ttl * 60_000_000)
            writes[namespace, key] = (given, span)
            operations.append(PutOp(namespace, key, given, ttl=ttl))
        expected_reads = []
        if reads:
            for namespace, key in writes:
                operations.append(GetOp(namespace, key, refresh_ttl=True))
                row = self.model.space(namespace).rows.get(key)
                expected_reads.append(row and row.value)
                if row:
                    self.model.renew(row)
        expected = outcome(lambda: self.model.put(writes))
        answer = self.verb(pick, "batch", operations)
        if isinstance(expected, type):
            assert answer is expected
        else:
            got = [item and item.value for item in answer[len(puts) :]]
            assert answer[: len(puts)] == [None] * len(puts)
            assert got == expected_reads

    # -- time and place ---------------------------------------------------------------

    @rule(span=st.sampled_from((1, 1000, 60_000_000, 30 * 60_000_000, 61 * 60_000_000)))
    def time_passes(self, span):
        self.clock.step(span)

    @rule(span=st.sampled_from((1, 60_000_000, 90 * 60_000_000)))
    def the_clock_steps_back(self, span):
        # What has expired is swept before: how long a clock that is wrong keeps
        # expired rows alive is no promise.
        self.stores[0].sweep_ttl()
        for namespace in list(self.model.spaces):
            self.model.space(namespace)
        self.clock.step(-span)

    @rule(pick=picks)
    def sweep(self, pick):
        self.stores[pick % 2].sweep_ttl()

    @precondition(lambda self: self.stores)
    @rule()
    def reopen(self):
        self.open_stores()

    @invariant()
    def the_store_holds_what_the_model_holds(self):
        if not self.stores:
            return
        steps[self.engine] += 1
        store = self.stores[steps[self.engine] % 2]
        (items,) = store.batch([SearchOp((), limit=EVERYTHING, refresh_ttl=False)])
        assert [
            (
                item.namespace,
                item.key,
                item.value,
                microseconds(item.created_at),
                microseconds(item.updated_at),
            )
            for item in items
        ] == [
            (namespace, key, row.value, row.created, row.updated)
            for namespace, key, row in self.model.all_rows(())
        ]
        for namespace, key, row in self.model.all_rows(()):
            (record,) = store.backend.read(namespace, [key])
            assert (record.ttl, record.expires_at) == (row.ttl, row.expires)
        if self.rules.limit is not None:
            for user in USERS:
                assert store.count_memories(user) <= self.rules.limit


class OnMemory(Machine):
    engine = "memory"


class OnSQLite(Machine):
    engine = "sqlite"


@pytest.mark.timeout(3_600 if SOAK else 120)
@pytest.mark.parametrize("machine", [OnMemory, OnSQLite], ids=lambda m: m.engine)
def test_the_store_behaves_like_the_model(machine, record_property):
    before = steps[machine.engine]
    while steps[machine.engine] - before < STEPS:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=200 if SOAK else 30,
                stateful_step_count=60 if SOAK else 40,
                deadline=None,
                database=None,
                print_blob=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
    done = steps[machine.engine] - before
    record_property("steps", done)
    print(f"{machine.engine}: {done} steps")  # noqa: T201 - the number is wanted
