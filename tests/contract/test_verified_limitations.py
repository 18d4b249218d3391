"""What the stores that LangGraph ships get wrong, ours get right, on every engine.

One section per verified limitation of InMemoryStore, SqliteStore or PostgresStore;
each test asserts the behaviour that a user of the store may rely on.
"""

import asyncio
import json
import random
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from langgraph.store.base import GetOp, PutOp, SearchOp

from langchain_agentmemory import UserKey
from langchain_agentmemory.errors import (
    InvalidInput,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
)
from tests.contract.embedders import Letters, Slow, index

NS = ("tests", "limits")


def keys(items):
    return [item.key for item in items]


def scores(items):
    return {item.key: item.score for item in items}


# 1 -- created_at


def test_an_overwrite_keeps_created_at_and_moves_updated_at(make_store):
    store = make_store()
    store.put(NS, "k", {"v": 1})
    first = store.get(NS, "k")
    store.put(NS, "k", {"v": 2})
    second = store.get(NS, "k")

    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_a_put_after_a_delete_is_a_new_item(make_store):
    store = make_store()
    store.put(NS, "k", {"v": 1})
    first = store.get(NS, "k")
    store.delete(NS, "k")
    store.put(NS, "k", {"v": 2})

    assert store.get(NS, "k").created_at > first.created_at


# 2 -- time zones


def test_timestamps_are_aware_and_in_utc(make_store):
    store = make_store()
    before = datetime.now(UTC) - timedelta(seconds=5)
    store.put(NS, "k", {"v": 1})

    for item in (store.get(NS, "k"), store.search(NS)[0]):
        for moment in (item.created_at, item.updated_at):
            assert moment.utcoffset() == timedelta(0)
            assert before < moment < datetime.now(UTC) + timedelta(seconds=5)


# 3 -- ghost namespaces


def test_reading_an_unknown_namespace_leaves_no_trace(make_store):
    store = make_store()
    assert store.get(("ghost",), "k") is None
    assert store.search(("ghost",)) == []
    store.delete(("ghost",), "k")

    assert store.list_namespaces() == []


def test_a_namespace_goes_with_its_last_item(make_store):
    store = make_store()
    store.put(NS, "a", {"v": 1})
    store.put(NS, "b", {"v": 1})
    store.delete(NS, "a")
    assert store.list_namespaces() == [NS]
    store.delete(NS, "b")

    assert store.list_namespaces() == []


# 4 -- aliasing


def test_values_are_copied_on_the_way_in_and_on_the_way_out(make_store):
    store = make_store()
    given = {"tags": ["a"]}
    store.put(NS, "k", given)
    given["tags"].append("changed after put")
    store.get(NS, "k").value["tags"].append("changed after get")
    store.search(NS)[0].value["tags"].append("changed after search")

    assert store.get(NS, "k").value == {"tags": ["a"]}
    assert store.search(NS)[0].value == {"tags": ["a"]}


# 5 -- equal texts in one batch


def test_a_batch_may_put_the_same_text_twice(make_store):
    store = make_store(index=index())
    store.batch([PutOp(NS, "a", {"t": "same"}), PutOp(NS, "b", {"t": "same"})])

    found = scores(store.search(NS, query='{"t":"same"}'))
    assert found.keys() == {"a", "b"}
    assert found["a"] == pytest.approx(found["b"], abs=1e-6)


# 6 and 7 -- stale vectors


def test_a_put_without_index_forgets_the_old_vector(make_store):
    store = make_store(index=index(["t"]))
    store.put(NS, "k", {"t": "zebra"})
    store.put(NS, "other", {"t": "mmmm"})
    store.put(NS, "k", {"t": "quiet"}, index=False)

    assert scores(store.search(NS, query="zebra")).get("k") is None


def test_a_put_with_fewer_fields_forgets_the_vectors_of_the_others(make_store):
    store = make_store(index=index(["a", "b"]))
    store.put(NS, "k", {"a": "zebra", "b": "mmmm"})
    assert scores(store.search(NS, query="zebra"))["k"] > 0.99
    store.put(NS, "k", {"a": "quiet", "b": "mmmm"}, index=["b"])

    assert scores(store.search(NS, query="zebra"))["k"] < 0.5


def test_an_overwrite_ranks_by_its_new_text_only(make_store):
    store = make_store(index=index(["t"]))
    store.put(NS, "k", {"t": "zebra"})
    store.put(NS, "k", {"t": "mmmm"})

    assert scores(store.search(NS, query="zebra"))["k"] < 0.5
    assert scores(store.search(NS, query="mmmm"))["k"] > 0.99


def test_a_delete_takes_the_vectors_along(make_store):
    store = make_store(index=index(["t"]))
    store.put(NS, "k", {"t": "zebra"})
    store.delete(NS, "k")
    store.put(NS, "k", {"t": "zebra"}, index=False)

    assert scores(store.search(NS, query="zebra")).get("k") is None
    assert store.get(NS, "k").value == {"t": "zebra"}


# 8 to 13 -- filters


@pytest.fixture
def filtered(make_store):
    """Return the sorted keys of the items that a filter lets through."""
    store = make_store()

    def select(given, **values):
        for key, value in values.items():
            store.put(NS, key, value)
        return sorted(keys(store.search(NS, filter=given, limit=100)))

    return select


def test_numbers_are_ordered_as_numbers(filtered):
    items = {"nine": {"n": 9}, "ten": {"n": 10}, "half": {"n": 4.5}}

    assert filtered({"n": {"$gt": 5}}, **items) == ["nine", "ten"]
    assert filtered({"n": {"$gte": 9, "$lt": 10}}) == ["nine"]
    assert filtered({"n": {"$lte": 4.5}}) == ["half"]


def test_order_operators_pass_over_missing_fields_and_other_types(filtered):
    items = {"number": {"n": 9}, "text": {"n": "9"}, "none": {"n": None}, "bare": {}}

    assert filtered({"n": {"$gt": 5}}, **items) == ["number"]
    assert filtered({"n": {"$lt": 50}}) == ["number"]
    assert filtered({"n": {"$gt": "5"}}) == ["text"]


def test_dates_are_ordered_as_points_in_time(filtered):
    items = {
        "may": {"at": "2024-05-01"},
        "noon": {"at": "2024-06-01T12:00:00+00:00"},
        "evening": {"at": "2024-06-01T09:00:00-08:00"},  # 17:00 UTC
    }

    assert filtered({"at": {"$gt": "2024-05-15"}}, **items) == ["evening", "noon"]
    assert filtered({"at": {"$gt": "2024-06-01T13:00:00Z"}}) == ["evening"]
    moment = datetime(2024, 6, 1, 20, tzinfo=timezone(timedelta(hours=8)))
    assert filtered({"at": {"$lte": moment}}) == ["may", "noon"]
    assert filtered({"at": {"$lt": date(2024, 6, 1)}}) == ["may"]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"$ne": 1}, True),
        ({"$nin": [1, 2]}, True),
        ({"$not": {"$eq": 1}}, True),
        ({"$exists": False}, True),
        ({"$exists": True}, False),
        (None, False),
        (1, False),
        ({"$eq": None}, False),
        ({"$in": [None, 1]}, False),
        ({"$gt": 0}, False),
        ({"$lte": 9}, False),
    ],
    ids=str,
)
def test_a_missing_field_equals_nothing_and_is_ordered_with_nothing(
    filtered, condition, holds
):
    expected = ["bare"] if holds else []

    assert filtered({"n": condition}, bare={"other": 1}) == expected


def test_a_null_field_is_not_a_missing_one(filtered):
    assert filtered({"n": None}, null={"n": None}, bare={}) == ["null"]
    assert filtered({"n": {"$exists": True}}) == ["null"]


def test_nested_fields_by_dict_and_by_dotted_path(filtered):
    items = {
        "ann": {"owner": {"name": "Ann", "age": 9}, "tags": ["x", "y"]},
        "bob": {"owner": {"name": "Bob", "age": 10}, "tags": ["y"]},
        "flat": {"owner": "Ann", "owner.name": "dotted key"},
    }

    assert filtered({"owner": {"name": "Ann", "age": 9}}, **items) == ["ann"]
    assert filtered({"owner": {"name": "Ann"}}) == ["ann"]
    assert filtered({"owner.name": "Ann"}) == ["ann"]
    assert filtered({"owner.age": {"$gt": 9}}) == ["bob"]
    assert filtered({"owner": {"age": {"$lt": 10}}}) == ["ann"]
    assert filtered({"owner.name": "dotted key"}) == ["flat"]
    assert filtered({"tags": ["x", "y"]}) == ["ann"]
    assert filtered({"tags.0": "y"}) == ["bob"]


def test_true_is_not_one_and_one_equals_one_point_zero(filtered):
    items = {"true": {"v": True}, "one": {"v": 1}, "float": {"v": 1.0}}

    assert filtered({"v": True}, **items) == ["true"]
    assert filtered({"v": 1}) == ["float", "one"]
    assert filtered({"v": {"$in": [1]}}) == ["float", "one"]
    assert filtered({"v": {"$gt": 0}}) == ["float", "one"]
    assert filtered({"v": [True]}, listed={"v": [1]}) == []


def test_membership_and_combination(filtered):
    items = {"a": {"n": 1, "c": "red"}, "b": {"n": 2, "c": "blue"}, "c": {"n": 3}}

    assert filtered({"n": {"$in": [1, 3]}}, **items) == ["a", "c"]
    assert filtered({"c": {"$nin": ["red"]}}) == ["b", "c"]
    assert filtered({"$or": [{"n": 1}, {"c": "blue"}]}) == ["a", "b"]
    assert filtered({"$and": [{"n": {"$gt": 1}}, {"c": "blue"}]}) == ["b"]
    assert filtered({"$not": {"n": 1}}) == ["b", "c"]
    assert filtered({"n": {"$not": {"$gt": 1}}}) == ["a"]
    assert filtered({"$or": [{"n": 1}, {"n": 3}], "c": "red"}) == ["a"]


@pytest.mark.parametrize(
    "given",
    [
        {"n": {"$near": 1}},
        {"$nor": [{"n": 1}]},
        {"n": {"$in": 1}},
        {"$or": []},
        {"n": {"$gt": 1, "field": 2}},
    ],
    ids=str,
)
def test_a_filter_that_means_nothing_is_refused_even_on_an_empty_store(
    make_store, given
):
    store = make_store()

    with pytest.raises(InvalidInput):
        store.search(NS, filter=given)


# 14 and 15 -- paging


@pytest.mark.parametrize("query", ["test document", None], ids=["query", "listing"])
def test_pages_add_up_to_everything_once(make_store, query):
    store = make_store(index=index(["t"]))
    for i in range(30):
        store.put(NS, f"k{i}", {"t": f"test document {'abc'[i % 3] * i}"})
    whole = keys(store.search(NS, query=query, limit=30))
    pages = [
        keys(store.search(NS, query=query, limit=5, offset=offset))
        for offset in range(0, 30, 5)
    ]

    assert [len(page) for page in pages] == [5] * 6
    assert [key for page in pages for key in page] == whole
    assert sorted(whole) == sorted(f"k{i}" for i in range(30))


def test_several_vectors_of_an_item_fill_one_place_of_the_page(make_store):
    store = make_store(index=index(["a", "b", "c"]))
    for i in range(8):
        text = "zebra" + "x" * i
        store.put(NS, f"k{i}", {"a": text, "b": text, "c": text})

    found = keys(store.search(NS, query="zebra", limit=5))
    assert len(found) == len(set(found)) == 5


# 16 -- fields


def test_only_the_configured_fields_are_indexed(make_store):
    store = make_store(index=index(["title"]))
    store.put(NS, "hit", {"title": "zebra", "body": "mmmm"})
    store.put(NS, "miss", {"title": "mmmm", "body": "zebra"})

    found = scores(store.search(NS, query="zebra"))
    assert found["hit"] > 0.99
    assert (found.get("miss") or 0.0) < 0.5


# 17 -- distances


@pytest.mark.parametrize("distance", ["cosine", "inner_product", "l2"])
def test_the_nearest_comes_first_whatever_the_distance(make_store, distance):
    store = make_store(index=index(["t"], distance_type=distance))
    for key, text in [("far", "mmmm"), ("near", "zebra"), ("middle", "zebm")]:
        store.put(NS, key, {"t": text})
    found = store.search(NS, query="zebra")

    assert keys(found) == ["near", "middle", "far"]
    assert found[0].score > found[1].score > found[2].score


# 18 -- users


@pytest.mark.parametrize(
    "user", ["ann.lee@example.com", 42, "小明", "a*b%2Ec", " x ", "langgraph"]
)
def test_any_user_id_is_a_user(make_store, user):
    store = make_store()
    entry = store.add_memory(user, "Likes green tea")
    key = UserKey("default", user)

    assert entry.user_id == str(user)
    assert [memory.id for memory in store.read_memories(key)] == [entry.id]
    assert store.get(key.namespace, entry.id).value["memory"] == "Likes green tea"
    assert store.list_namespaces(prefix=("memories",)) == [key.namespace]


def test_users_whose_ids_look_alike_are_strangers(make_store):
    store = make_store()
    users = ["ann.lee", "ann%2Elee", "ann", "ann.", "Ann", "ann ", "annlee", "1", "12"]
    for user in users:
        store.add_memory(user, f"secret of {user!r}")

    for user in users:
        texts = [memory.memory for memory in store.read_memories(user)]
        assert texts == [f"secret of {user!r}"]
        found = store.search_memories(user, "secret", limit=None)
        assert [memory.memory for memory in found] == texts


# 19 -- values


@pytest.mark.parametrize(
    "value",
    [
        {"t": "a\x00b"},
        {"t": "lone \ud800 surrogate"},
        {"\udfff": "in a key"},
        {"t": "\x1c\u2028\ufeff😀𠮷"},
        {"n": 10**30, "f": 0.1, "b": True, "x": None, "l": [[], {}]},
        {"": {"a.b": {"$gt": 1}}},
    ],
    ids=ascii,
)
def test_any_json_value_comes_back_as_it_was(make_store, value):
    store = make_store()
    store.put(NS, "k", value)

    got = store.get(NS, "k").value
    assert got == value
    assert json.dumps(got) == json.dumps(value)
    assert [item.value for item in store.search(NS)] == [value]


@pytest.mark.parametrize(
    "value",
    [
        {"at": datetime(2024, 5, 1, tzinfo=UTC)},
        {"x": float("nan")},
        {"x": [float("inf")]},
        {"x": object()},
        {"x": {1: "a number as key"}},
        {"x": b"bytes"},
    ],
    ids=["datetime", "nan", "infinity", "object", "number as key", "bytes"],
)
def test_what_json_cannot_hold_is_refused_and_nothing_written(make_store, value):
    store = make_store()
    store.put(NS, "k", {"v": "before"})

    with pytest.raises(InvalidInput):
        store.put(NS, "k", value)
    assert store.get(NS, "k").value == {"v": "before"}


# 20 and 21 -- time to live


def test_a_fraction_of_a_minute_survives_a_refreshing_read(make_store):
    store = make_store(ttl={"refresh_on_read": True})
    store.put(NS, "k", {"v": 1}, ttl=0.3)

    assert store.get(NS, "k", refresh_ttl=True) is not None
    assert keys(store.search(NS, refresh_ttl=True)) == ["k"]
    assert store.get(NS, "k") is not None


def test_what_has_expired_is_gone_before_any_sweep(make_store):
    store = make_store(ttl={"default_ttl": 0.001}, index=index(["t"]))
    store.put(NS, "k", {"t": "zebra"})
    store.put(("tests", "kept"), "k", {"t": "zebra"}, ttl=None)
    time.sleep(0.15)

    assert store.get(NS, "k") is None
    assert store.search(NS) == []
    assert store.search(NS, query="zebra") == []
    assert store.list_namespaces() == [("tests", "kept")]
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0


def test_a_refreshing_read_does_not_raise_the_dead(make_store):
    store = make_store(ttl={"refresh_on_read": True})
    store.put(NS, "k", {"v": 1}, ttl=0.001)
    time.sleep(0.15)

    assert store.get(NS, "k", refresh_ttl=True) is None
    assert store.get(NS, "k") is None


def test_a_ttl_may_be_a_timedelta(make_store):
    store = make_store(ttl={"default_ttl": timedelta(hours=1)})
    store.put(NS, "short", {"v": 1}, ttl=timedelta(milliseconds=60))
    store.put(NS, "long", {"v": 1})
    time.sleep(0.15)

    assert keys(store.search(NS)) == ["long"]


# 22 -- a query without an index


def test_a_query_without_an_index_ranks_by_words(make_store):
    store = make_store()
    store.put(NS, "tea", {"text": "Ann drinks green tea every morning"})
    store.put(NS, "car", {"text": "Bob repairs old cars"})
    store.put(NS, "茶", {"text": "小明每天早上喝绿茶"})
    english = store.search(NS, query="green tea")
    chinese = store.search(NS, query="绿茶")

    assert english[0].key == "tea"
    assert english[0].score > 0
    assert "car" not in keys(english)
    assert keys(chinese) == ["茶"]
    assert store.search(NS, query="nothing of this kind whatsoever") == []


# 23 -- reads beside an embedding call


def test_reads_do_not_wait_for_an_embedding_call(make_store):
    slow = Slow()
    store = make_store(index=index(embeddings=slow))
    store.put(NS, "k", {"v": 1}, index=False)
    writer = threading.Thread(target=store.put, args=(NS, "new", {"v": 2}))
    writer.start()
    assert slow.begun.wait(5)
    taken = []
    for _ in range(50):
        started = time.perf_counter()
        store.get(NS, "k")
        store.search(NS)
        taken.append(time.perf_counter() - started)
    still_embedding = store.get(NS, "new") is None
    writer.join()

    assert still_embedding, "the reads took so long that the measurement says nothing"
    assert statistics.median(taken) < 0.005
    assert store.get(NS, "new") is not None


async def test_async_reads_do_not_wait_for_an_embedding_call(make_store):
    slow = Slow()
    store = make_store(index=index(embeddings=slow))
    await store.aput(NS, "k", {"v": 1}, index=False)
    writer = asyncio.create_task(store.aput(NS, "new", {"v": 2}))
    assert await asyncio.to_thread(slow.begun.wait, 5)
    taken = []
    for _ in range(50):
        started = time.perf_counter()
        await store.aget(NS, "k")
        taken.append(time.perf_counter() - started)
    still_embedding = not writer.done()
    await writer

    assert still_embedding, "the reads took so long that the measurement says nothing"
    assert statistics.median(taken) < 0.005


# 24 -- atomic batches


def test_a_batch_that_fails_changes_nothing(make_store):
    store = make_store()
    store.put(NS, "old", {"v": 1})
    batch = [
        PutOp(NS, "old", None),
        PutOp(NS, "new", {"v": 2}),
        PutOp(("tests", "elsewhere"), "new", {"v": 3}),
        PutOp(NS, "bad", {"v": object()}),
    ]

    with pytest.raises(InvalidInput):
        store.batch(batch)
    assert keys(store.search((), limit=10)) == ["old"]


def test_a_batch_over_the_limit_changes_nothing(make_store):
    store = make_store(memory_limit=2)
    user = UserKey("default", "ann").namespace
    store.put(user, "one", {"memory": "Likes tea"})
    batch = [
        PutOp(user, "two", {"memory": "Likes coffee"}),
        PutOp(user, "three", {"memory": "Likes water"}),
    ]

    with pytest.raises(MemoryLimitExceeded):
        store.batch(batch)
    assert keys(store.search(user)) == ["one"]


def test_a_batch_answers_in_the_order_of_its_operations(make_store):
    store = make_store()
    store.put(NS, "a", {"v": 1})
    got, none, found, again = store.batch(
        [GetOp(NS, "a"), PutOp(NS, "a", {"v": 2}), SearchOp(NS), GetOp(NS, "a")]
    )

    # Reads see the state before the writes of their batch, as in langgraph's stores.
    assert (got.value, none, keys(found), again.value) == (
        {"v": 1},
        None,
        ["a"],
        got.value,
    )
    assert store.get(NS, "a").value == {"v": 2}


# 25 -- prefixes


def test_a_search_covers_what_lies_below_its_prefix(make_store):
    store = make_store()
    for namespace in [("m", "a"), ("m", "a", "x"), ("m", "ab"), ("m",)]:
        store.put(namespace, "k", {"text": "green tea"})

    for query in (None, "tea"):
        found = {item.namespace for item in store.search(("m", "a"), query=query)}
        assert found == {("m", "a"), ("m", "a", "x")}
    assert len(store.search(())) == 4


# 26 -- lost updates


def test_concurrent_updates_are_never_lost(make_store):
    store = make_store()
    store.add_memory("ann", "count 0")
    steps, workers = 10, 4

    def work():
        done = 0
        while done < steps:
            (entry,) = store.read_memories("ann")
            following = int(entry.memory.split()[1]) + 1
            try:
                store.update_memory("ann", entry.id, f"count {following}")
            except (MemoryNotFound, MemoryConflict):
                continue  # someone else was faster: read again
            done += 1

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work) for _ in range(workers)]:
            future.result()

    texts = [memory.memory for memory in store.read_memories("ann")]
    assert texts == [f"count {steps * workers}"]


# 27 -- exact search of one among many users


def test_a_search_of_one_among_many_users_is_exact(make_store):
    store = make_store(index=index(["memory"]))
    dice = random.Random(7)
    texts = {
        user: ["".join(dice.choices("abcdefghij", k=12)) for _ in range(20)]
        for user in range(20)
    }
    store.batch(
        [
            PutOp(UserKey("default", user).namespace, f"{i}", {"memory": text})
            for user, owned in texts.items()
            for i, text in enumerate(owned)
        ]
    )
    query = "abcabcjjj"

    def unit(text):
        vector = np.asarray(Letters().embed_query(text))
        return vector / np.linalg.norm(vector)

    for user in (0, 7, 19):
        exact = [float(unit(text) @ unit(query)) for text in texts[user]]
        found = store.search(UserKey("default", user).namespace, query=query, limit=5)
        assert [item.score for item in found] == pytest.approx(
            sorted(exact, reverse=True)[:5], abs=1e-4
        )
        assert all(
            exact[int(item.key)] == pytest.approx(item.score, abs=1e-4)
            for item in found
        )


# Async: the same object, and never blocking the loop that it runs in


@pytest.mark.usefixtures("no_blocking")
async def test_no_operation_blocks_the_event_loop(make_store):
    options = {"index": index(["t", "memory"]), "ttl": {"default_ttl": 10}}
    store = await asyncio.to_thread(lambda: make_store(**options))
    await store.aput(NS, "k", {"t": "zebra"})
    await store.aput(NS, "l", {"t": "quiet"}, index=False, ttl=None)
    assert (await store.aget(NS, "k")).value == {"t": "zebra"}
    assert keys(await store.asearch(NS, query="zebra"))[0] == "k"
    assert len(await store.asearch(NS, filter={"t": {"$ne": 1}})) == 2
    assert await store.alist_namespaces() == [NS]
    await store.abatch([GetOp(NS, "k"), PutOp(NS, "m", {"t": "new"}), SearchOp(NS)])
    await store.adelete(NS, "k")

    entry = await store.aadd_memory("ann", "Likes green tea")
    entry = await store.aupdate_memory("ann", entry.id, "Likes white tea")
    assert [m.id for m in await store.aread_memories("ann")] == [entry.id]
    assert [m.id for m in await store.asearch_memories("ann", "tea")] == [entry.id]
    assert await store.acount_memories("ann") == 1
    assert await store.adelete_memory("ann", entry.id)
    assert await store.aclear_memories("ann") == 0


async def test_sync_and_async_calls_of_one_object_see_the_same_data(make_store):
    store = make_store()
    store.put(NS, "sync", {"v": 1})
    await store.aput(NS, "async", {"v": 2})

    assert sorted(keys(await store.asearch(NS))) == ["async", "sync"]
    assert sorted(keys(store.search(NS))) == ["async", "sync"]


def test_one_store_serves_several_event_loops_and_threads(make_store):
    store = make_store(index=index(["t"]))

    def in_a_loop_of_its_own(number):
        async def work():
            await store.aput(NS, f"k{number}", {"t": f"text {number}"})
            return await store.aget(NS, f"k{number}")

        return asyncio.run(work()).value

    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(in_a_loop_of_its_own, range(8)))

    assert values == [{"t": f"text {number}"} for number in range(8)]
    assert len(store.search(NS)) == 8
