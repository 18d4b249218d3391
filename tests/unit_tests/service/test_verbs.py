"""The memory verbs: one rule each, the same on every engine."""

import sqlite3
import time
from datetime import UTC, date, datetime, timedelta

import pytest
from langgraph.store.base import PutOp

from langchain_agentmemory import MemoryStore, Source, UserKey
from langchain_agentmemory.backends.base import PreconditionFailed
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.errors import (
    InvalidInput,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
    NotKept,
)
from langchain_agentmemory.identity import memory_id

TEXTS = ["Prefers window seats", "喜欢靠窗的座位"]


def texts(entries):
    return [entry.memory for entry in entries]


@pytest.mark.parametrize("text", TEXTS)
def test_adding_again_is_idempotent_and_refreshes(make_store, text):
    store = make_store()
    first = store.add_memory("ann", text, topics=["old"])
    store.add_memory("ann", "Something else")
    again = store.add_memory("ann", text, topics=["new"])
    assert again.id == first.id == memory_id(text, "default", "ann")
    assert again.created_at == first.created_at
    assert again.updated_at > first.updated_at
    assert again.topics == ("new",)
    assert texts(store.read_memories("ann")) == [text, "Something else"]


def test_adding_again_without_topics_keeps_them(make_store):
    store = make_store()
    store.add_memory("ann", "Likes tea", topics=["drinks"])
    assert store.add_memory("ann", "Likes tea").topics == ("drinks",)


def test_on_duplicate_keep_leaves_the_memory_as_it_was(make_store):
    store = make_store(on_duplicate="keep")
    first = store.add_memory("ann", "Likes tea", topics=["a"])
    assert store.add_memory("ann", "Likes tea", topics=["b"]) == first


def test_on_duplicate_error_names_the_existing_memory(make_store):
    store = make_store(on_duplicate="error")
    first = store.add_memory("ann", "Likes tea")
    with pytest.raises(MemoryConflict, match=first.id):
        store.add_memory("ann", "Likes tea")


def test_adding_a_deleted_memory_revives_it(make_store):
    store = make_store(soft_delete=True)
    first = store.add_memory("ann", "Likes tea")
    store.delete_memory("ann", first.id)
    assert store.count_memories("ann") == 0
    revived = store.add_memory("ann", "Likes tea")
    assert (revived.id, revived.created_at) == (first.id, first.created_at)
    assert store.count_memories("ann") == 1


def test_update_moves_a_memory_to_the_id_of_its_new_content(make_store):
    store = make_store()
    old = store.add_memory("ann", "Plays the cello", topics=["music"])
    new = store.update_memory("ann", old.id, "Plays the viola")
    assert new.id == memory_id("Plays the viola", "default", "ann")
    assert (new.topics, new.created_at) == (("music",), old.created_at)
    assert texts(store.read_memories("ann")) == ["Plays the viola"]
    with pytest.raises(MemoryNotFound):
        store.update_memory("ann", old.id, "Plays the harp")


def test_update_leaves_none_and_clears_empty_values(make_store):
    store = make_store()
    entry = store.add_memory(
        "ann",
        "Hiked Fuji",
        topics=["hike"],
        kind="episode",
        event_time="2024-05-07",
        participants=["Aki"],
        location="Japan",
    )
    same = store.update_memory("ann", entry.id, topics=["mountain"])
    assert (same.kind, same.event_label(), same.location) == (
        "episode",
        "2024-05-07",
        "Japan",
    )
    cleared = store.update_memory(
        "ann", same.id, topics=[], event_time="", participants=[], location="", kind=""
    )
    assert (cleared.topics, cleared.event_time, cleared.participants) == ((), None, ())
    assert (cleared.location, cleared.kind) == (None, "fact")


def test_update_into_an_existing_memory_is_a_conflict_and_changes_nothing(make_store):
    store = make_store()
    a = store.add_memory("ann", "Plays the cello")
    b = store.add_memory("ann", "Plays the viola")
    with pytest.raises(MemoryConflict, match="already exists"):
        store.update_memory("ann", a.id, "Plays the viola")
    assert store.read_memories("ann") == [b, a]


def test_a_writer_that_was_slower_decides_again(make_store, monkeypatch):
    store = make_store()
    entry = store.add_memory("ann", "Plays the cello")
    commit, raced = store.backend.commit, []

    def racing(batch):
        if not raced:
            raced.append(True)
            MemoryStore.delete_memory(store, "ann", entry.id)
        return commit(batch)

    monkeypatch.setattr(store.backend, "commit", racing)
    with pytest.raises(MemoryNotFound):
        store.update_memory("ann", entry.id, "Plays the viola")
    assert store.read_memories("ann") == []


def test_a_failed_commit_leaves_nothing_half_written(make_store, monkeypatch):
    store = make_store()
    entry = store.add_memory("ann", "Plays the cello")

    def failing(batch):
        raise PreconditionFailed

    with monkeypatch.context() as patch:
        patch.setattr(store.backend, "commit", failing)
        with pytest.raises(Exception, match="Nothing was written"):
            store.update_memory("ann", entry.id, "Plays the viola")
    assert store.read_memories("ann") == [entry]


def test_the_limit_rejects_new_memories_but_never_repetitions(make_store):
    store = make_store(memory_limit=2)
    store.add_memory("ann", "one")
    store.add_memory("ann", "two")
    with pytest.raises(MemoryLimitExceeded, match="limit: 2, current: 2"):
        store.add_memory("ann", "three")
    store.add_memory("ann", "one")
    store.add_memory("bob", "three")
    store.update_memory("ann", memory_id("two", "default", "ann"), "drei")
    assert texts(store.read_memories("ann")) == ["drei", "one"]


def test_the_limit_evicts_the_least_recently_updated(make_store):
    store = make_store(memory_limit=2, on_limit="evict", soft_delete=True)
    one = store.add_memory("ann", "one")
    two = store.add_memory("ann", "two")
    store.add_memory("ann", "one")
    store.add_memory("ann", "three")
    assert texts(store.read_memories("ann")) == ["three", "one"]
    store.restore_memory("ann", two.id)
    assert texts(store.read_memories("ann")) == ["two", "three"]
    assert store.memory_history("ann", one.id)  # evicted, not lost


def test_a_limit_of_zero_takes_nothing_and_none_takes_everything(make_store):
    with pytest.raises(MemoryLimitExceeded):
        make_store(memory_limit=0, on_limit="evict").add_memory("ann", "one")
    store = make_store(name="free", memory_limit=None)
    for number in range(20):
        store.add_memory("ann", f"memory {number}")
    assert store.count_memories("ann") == 20


def test_deleting_tells_whether_there_was_one(make_store):
    store = make_store()
    entry = store.add_memory("ann", "Likes tea")
    assert store.delete_memory("bob", entry.id) is False
    assert store.delete_memory("ann", entry.id) is True
    assert store.delete_memory("ann", entry.id) is False


def test_clear_deletes_one_user_and_says_how_many(make_store):
    store = make_store(soft_delete=True)
    ids = [store.add_memory("ann", text).id for text in ("one", "two", "three")]
    store.add_memory("bob", "one")
    assert store.clear_memories("ann") == 3
    assert store.clear_memories("ann") == 0
    assert store.count_memories("bob") == 1
    assert store.restore_memory("ann", ids[1]).memory == "two"


def test_restore_and_history_are_refused_without_soft_delete(make_store):
    store = make_store()
    entry = store.add_memory("ann", "Likes tea")
    for verb in (store.restore_memory, store.memory_history):
        with pytest.raises(NotKept, match="soft_delete=True"):
            verb("ann", entry.id)


def test_purged_memories_are_gone_for_good(make_store):
    store = make_store(soft_delete=True)
    entry = store.add_memory("ann", "Likes tea")
    other = store.add_memory("bob", "Likes coffee")
    store.delete_memory("ann", entry.id)
    store.delete_memory("bob", other.id)
    assert store.purge_deleted(older_than=timedelta(days=1)) == 0
    assert store.purge_deleted(user="ann") == 1
    with pytest.raises(MemoryNotFound):
        store.restore_memory("ann", entry.id)
    assert store.restore_memory("bob", other.id) == store.read_memories("bob")[0]
    assert store.purge_deleted() == 0


def test_erasing_a_user_leaves_a_receipt_and_nothing_else(make_store):
    store = make_store(soft_delete=True)
    kept = store.add_memory("bob", "Likes coffee")
    entry = store.add_memory("ann", "Likes tea")
    gone = store.add_memory("ann", "Likes milk")
    store.delete_memory("ann", gone.id)
    store.put((*UserKey("default", "ann").namespace, "notes"), "k", {"a": 1})
    store.search_memories("ann", "tea")
    receipt = store.erase_user("ann")
    assert (receipt.memories, receipt.deleted_memories) == (2, 1)
    assert store.search_memories("ann", "tea") == []
    with pytest.raises(MemoryNotFound):
        store.restore_memory("ann", entry.id)
    assert store.list_namespaces() == [UserKey("default", "bob").namespace]
    assert store.read_memories("bob") == [kept]
    store.add_memory("ann", "Likes water")
    assert texts(store.search_memories("ann", "likes water tea")) == ["Likes water"]


def test_items_put_by_langgraph_code_are_memories(make_store):
    store = make_store()
    namespace = UserKey("default", "ann").namespace
    value = {"memory": "Likes tea", "topics": ["drinks"], "stars": 5}
    store.put(namespace, "my-key", value)
    (entry,) = store.search_memories("ann", "tea")
    assert (entry.id, entry.topics, entry.kind) == ("my-key", ("drinks",), "fact")
    moved = store.update_memory("ann", "my-key", "Likes green tea")
    assert moved.id == memory_id("Likes green tea", "default", "ann")
    assert store.get(namespace, "my-key") is None
    assert store.get(namespace, moved.id).value["stars"] == 5


def test_values_that_are_no_memories_are_left_alone(make_store):
    store = make_store(memory_limit=1)
    namespace = UserKey("default", "ann").namespace
    store.put(namespace, "settings", {"theme": "dark"})
    store.add_memory("ann", "Likes tea")
    assert texts(store.read_memories("ann")) == ["Likes tea"]
    assert store.count_memories("ann") == 1
    assert store.search_memories("ann", "dark") == []
    assert store.delete_memory("ann", "settings") is False
    assert store.clear_memories("ann") == 1
    assert store.get(namespace, "settings").value == {"theme": "dark"}


def test_putting_memories_obeys_the_limit_as_a_whole(make_store):
    store = make_store(memory_limit=2)
    namespace = UserKey("default", "ann").namespace
    store.put(namespace, "a", {"memory": "one"})
    with pytest.raises(MemoryLimitExceeded):
        store.batch(
            [PutOp(namespace, key, {"memory": key}) for key in ("b", "c")]
            + [PutOp(("else",), "x", {"n": 1})]
        )
    assert texts(store.read_memories("ann")) == ["one"]
    assert store.get(("else",), "x") is None


def test_put_keeps_what_lives_beside_a_value(make_store):
    store = make_store(soft_delete=True)
    old = store.add_memory("ann", "Lives in Paris")
    entry = store.add_memory(
        "ann",
        "Lives in Berlin",
        source=Source("t1", ("m1",), 3, "user", datetime(2026, 1, 1, 9, 0)),  # noqa: DTZ001
        supersedes=[old.id],
        event_time=date(2026, 1, 1),
    )
    item = store.get(UserKey("default", "ann").namespace, entry.id)
    store.put(item.namespace, item.key, {**item.value, "topics": ["home"]})
    again = store.read_memories("ann")[0]
    assert again.source == entry.source
    assert again.source.said_at == datetime(2026, 1, 1, 9, 0, tzinfo=UTC)
    assert (again.supersedes, again.event_precision) == ((old.id,), "day")
    assert again.topics == ("home",)


def test_langgraph_delete_honours_soft_delete_and_put_revives(make_store):
    store = make_store(soft_delete=True)
    entry = store.add_memory("ann", "Likes tea")
    namespace = UserKey("default", "ann").namespace
    store.delete(namespace, entry.id)
    assert store.get(namespace, entry.id) is None
    store.put(namespace, entry.id, {"memory": "Likes tea"})
    assert store.read_memories("ann")[0].created_at == entry.created_at
    store.delete(namespace, entry.id)
    assert store.restore_memory("ann", entry.id).memory == "Likes tea"


def test_reads_are_newest_first_and_limits_mean_what_they_say(make_store):
    store = make_store()
    for text in ("one", "two", "three"):
        store.add_memory("ann", text)
    assert texts(store.read_memories("ann")) == ["three", "two", "one"]
    assert texts(store.read_memories("ann", 2)) == ["three", "two"]
    assert store.read_memories("ann", 0) == []
    with pytest.raises(InvalidInput, match="limit must be"):
        store.read_memories("ann", -5)


def test_naive_datetimes_are_taken_in_the_timezone_of_the_store(make_store):
    store = make_store(timezone="Asia/Shanghai")
    entry = store.add_memory("ann", "Ran", event_time=datetime(2024, 5, 7, 8, 0))  # noqa: DTZ001
    assert entry.event_time == datetime(2024, 5, 7, 0, 0, tzinfo=UTC)
    assert entry.event_time.utcoffset() == timedelta(hours=8)
    birthday = store.add_memory("ann", "Birthday", event_time="2024-05-07")
    assert (birthday.event_label(), birthday.event_precision) == ("2024-05-07", "day")


def test_expired_memories_are_invisible_and_leave_room(make_store):
    store = make_store(ttl=timedelta(milliseconds=40), memory_limit=1)
    store.add_memory("ann", "short-lived")
    time.sleep(0.08)
    assert store.read_memories("ann") == []
    assert store.search_memories("ann", "short-lived") == []
    assert store.count_memories("ann") == 0
    assert store.list_namespaces() == []
    assert store.add_memory("ann", "next").memory == "next"


def test_revision_moves_with_every_change(make_store):
    store = make_store()
    seen = [store.revision("ann")]
    entry = store.add_memory("ann", "one")
    seen.append(store.revision("ann"))
    store.update_memory("ann", entry.id, topics=["x"])
    seen.append(store.revision("ann"))
    store.delete_memory("ann", entry.id)
    seen.append(store.revision("ann"))
    store.erase_user("ann")
    store.add_memory("ann", "one")
    seen.append(store.revision("ann"))
    assert len(set(seen)) == len(seen)


async def test_count_and_revision_are_one_read(make_store):
    store = make_store()
    for count in range(3):
        expected = count, store.revision("ann")
        assert store.count_and_revision("ann") == expected
        assert await store.acount_and_revision("ann") == expected
        assert store.count_memories("ann") == count
        store.add_memory("ann", f"memory {count}")


@pytest.mark.parametrize(
    ("config", "renewed"),
    [
        ({"refresh_on_read": True}, True),
        ({"refresh_on_read": False}, False),
        ({}, False),
    ],
)
def test_an_early_read_renews_only_when_asked(make_store, config, renewed):
    store = make_store(ttl={"default_ttl": 1.0, **config})
    store.add_memory("ann", "short-lived")
    time.sleep(1.0)  # much less than half of a minute, more than 1/100 of it
    expires = store.backend.read(UserKey("default", "ann").namespace, [ID])[
        0
    ].expires_at
    store.read_memories("ann")
    after = store.backend.read(UserKey("default", "ann").namespace, [ID])[0].expires_at
    assert (after > expires) is renewed


ID = memory_id("short-lived", "default", "ann")


def test_a_read_renews_what_has_lived_half_its_time(make_store):
    store = make_store(ttl={"default_ttl": 0.4 / 60})
    store.add_memory("ann", "short-lived")
    for _ in range(4):
        time.sleep(0.25)
        assert store.read_memories("ann")
    time.sleep(0.5)
    assert store.read_memories("ann") == []


@pytest.mark.parametrize("choice", ["refresh", "keep", "error"])
def test_an_item_under_the_id_of_other_content_is_moved_not_lost(make_store, choice):
    store = make_store(on_duplicate=choice)
    namespace = UserKey("default", "ann").namespace
    tea = memory_id("I like tea", "default", "ann")
    store.put(namespace, tea, {"memory": "I like coffee", "stars": 5})
    assert store.add_memory("ann", "I like tea").memory == "I like tea"
    assert set(texts(store.read_memories("ann"))) == {"I like tea", "I like coffee"}
    coffee = memory_id("I like coffee", "default", "ann")
    assert store.get(namespace, coffee).value["stars"] == 5
    milk = memory_id("Milk", "default", "ann")
    store.put(namespace, milk, {"memory": "Juice"})
    assert store.update_memory("ann", tea, "Milk").id == milk
    assert "Juice" in texts(store.read_memories("ann"))


def test_adding_makes_an_unindexed_item_findable(make_store):
    store = make_store()
    namespace = UserKey("default", "ann").namespace
    store.put(namespace, "h", {"memory": "hidden treasure"}, index=False)
    store.update_memory("ann", "h", "hidden gold")
    assert store.search_memories("ann", "gold") == []
    store.add_memory("ann", "hidden gold")
    assert texts(store.search_memories("ann", "gold")) == ["hidden gold"]


def test_a_read_never_waits_for_another_writer(tmp_path):
    store = MemoryStore(
        SQLiteBackend(tmp_path / "a.db", timeout=20), ttl={"default_ttl": 0.01}
    )
    store.add_memory("ann", "tea")
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    time.sleep(0.35)
    started = time.monotonic()
    assert texts(store.search_memories("ann", "tea")) == ["tea"]
    assert texts(store.read_memories("ann")) == ["tea"]
    assert time.monotonic() - started < 5
    other.close()
    store.close()


def test_what_was_deleted_expires_too(make_store):
    store = make_store(soft_delete=True, ttl=timedelta(milliseconds=60))
    entry = store.add_memory("ann", "secret")
    store.delete_memory("ann", entry.id)
    time.sleep(0.1)
    for verb in (store.restore_memory, store.memory_history):
        with pytest.raises(MemoryNotFound):
            verb("ann", entry.id)
    assert store.sweep_ttl() == 1
    assert store.purge_deleted() == 0
