"""The tools that look at memories: search and load."""

from datetime import UTC, datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.tools.read import (
    DEFAULT_LIMIT,
    search_options,
    timezone_of,
    usable_limit,
)
from langchain_agentmemory.types import SearchOptions


async def test_search_returns_lines_for_the_model_and_entries_for_the_program(
    call, store
):
    tea = store.add_memory("alice", "Likes green tea")
    store.add_memory("alice", "Owns a bicycle")
    answer = await call("memory_search", query="tea")
    assert answer.status == "success"
    assert f"[{tea.id}] Likes green tea" in answer.content
    assert "bicycle" not in answer.content
    assert [entry.id for entry in answer.artifact] == [tea.id]


async def test_search_without_hits_says_so(call):
    answer = await call("memory_search", query="tea")
    assert (answer.content, answer.artifact) == ("No memories found.", [])


async def test_an_empty_query_finds_nothing_without_asking_the_store(
    call, store, monkeypatch
):
    monkeypatch.setattr(store, "search_memories", pytest.fail)
    monkeypatch.setattr(store, "asearch_memories", pytest.fail)
    answer = await call("memory_search", query="")
    assert (answer.status, answer.artifact) == ("success", [])


async def test_search_bounds_the_time(call, store):
    for when in ("2025-01-31", "2025-02-28T23:00:00", "2025-03-01"):
        store.add_memory("alice", f"canoe trip {when}", event_time=when)
    answer = await call(
        "memory_search", query="canoe", time_after="2025-02", time_before="Feb 2025"
    )
    assert [entry.memory[-19:] for entry in answer.artifact] == ["2025-02-28T23:00:00"]


@pytest.mark.parametrize("bound", ["time_after", "time_before"])
async def test_a_bound_that_cannot_be_read_is_an_error_not_ignored(call, bound):
    answer = await call("memory_search", query="canoe", **{bound: "last week"})
    assert answer.status == "error"
    assert "last week" in answer.content
    assert "2024-05" in answer.content


async def test_load_returns_the_newest_first(call, store):
    for number in range(12):
        store.add_memory("alice", f"memory {number}")
    answer = await call("memory_load")
    assert [entry.memory for entry in answer.artifact] == [
        f"memory {number}" for number in range(11, 1, -1)
    ]
    assert answer.content.startswith("10 memories of this user, newest first:\n- [")
    answer = await call("memory_load", limit=3)
    assert len(answer.artifact) == 3


@pytest.mark.parametrize(
    ("given", "used"), [(None, 10), (0, 10), (-3, 10), (1, 1), (5000, 5000)]
)
def test_a_limit_below_one_means_the_default(given, used):
    assert usable_limit(given) == used
    assert search_options({"limit": given}, UTC).limit == used


def test_search_drops_duplicates_and_nothing_else_by_default():
    assert search_options({}, UTC) == SearchOptions(
        deduplicate=True, limit=DEFAULT_LIMIT
    )


def test_nulls_and_empty_texts_mean_not_given():
    empty = {
        "kind": "",
        "time_after": " ",
        "time_before": "",
        "order_by_event_time": None,
        "limit": None,
    }
    nulls = dict.fromkeys(empty)
    assert search_options(empty, UTC) == search_options({}, UTC)
    assert search_options(nulls, UTC) == search_options({}, UTC)


def test_a_kind_is_a_preference():
    options = search_options({"kind": "episode"}, UTC)
    assert (options.kind, options.kind_fallback) == ("episode", True)


def test_bounds_are_taken_in_the_stores_timezone_and_include_the_named_period():
    shanghai = ZoneInfo("Asia/Shanghai")
    options = search_options(
        {"time_after": "2025-02", "time_before": "2025-02"}, shanghai
    )
    assert options.time_after == datetime(2025, 1, 31, 16, tzinfo=UTC)
    last = datetime(2025, 2, 28, 15, 59, 59, 999_999, tzinfo=UTC)
    assert options.time_before == last


def test_an_upper_bound_with_a_time_of_day_includes_that_day():
    options = search_options({"time_before": "2025-04-05T00:00:00Z"}, UTC)
    assert options.time_before.hour == 23


@pytest.mark.parametrize("given", ["Asia/Shanghai", ZoneInfo("Asia/Shanghai")])
def test_the_timezone_of_a_store_is_a_name_or_a_tzinfo(given):
    for store in (SimpleNamespace(timezone=given), MemoryStore(timezone=given)):
        assert timezone_of(store) == ZoneInfo("Asia/Shanghai")
    assert timezone_of(SimpleNamespace()) is UTC
