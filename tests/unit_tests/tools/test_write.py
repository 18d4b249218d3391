"""The tools that change memories: add, update, delete, clear."""

from datetime import UTC, datetime

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.identity import memory_id
from langchain_agentmemory.tools import build_tools
from langchain_agentmemory.types import MemoryEntry
from tests.unit_tests.tools.conftest import as_call


async def test_add_stores_every_field_and_returns_the_id(call, store):
    answer = await call(
        "memory_add",
        memory="Ran a marathon",
        topics=["sport"],
        memory_kind="episode",
        event_time="7 Sep 2024",
        participants=["Mia", "Rui"],
        location="Berlin",
    )
    (entry,) = store.read_memories("alice")
    assert answer.status == "success"
    assert entry.id in answer.content
    assert answer.artifact == entry
    assert isinstance(answer.artifact, MemoryEntry)
    assert (entry.memory, entry.topics, entry.kind) == (
        "Ran a marathon",
        ("sport",),
        "episode",
    )
    assert (entry.event_time, entry.event_precision) == (
        datetime(2024, 9, 7, tzinfo=UTC),
        "day",
    )
    assert (entry.participants, entry.location) == (("Mia", "Rui"), "Berlin")


async def test_add_needs_nothing_but_the_text(call, store):
    answer = await call("memory_add", memory="喜欢喝茶")
    assert store.read_memories("alice") == [answer.artifact]
    assert answer.artifact.id == memory_id("喜欢喝茶", "default", "alice")


async def test_null_and_empty_arguments_of_add_mean_not_given(call):
    nothing = {
        "topics": None,
        "memory_kind": None,
        "event_time": None,
        "participants": None,
        "location": None,
    }
    empty = {
        "topics": [],
        "memory_kind": "",
        "event_time": " ",
        "participants": [],
        "location": "",
    }
    plain = await call("memory_add", memory="Likes tea")
    for arguments in (nothing, empty):
        answer = await call("memory_add", memory="Likes tea", **arguments)
        assert answer.artifact.id == plain.artifact.id


async def test_the_same_statement_twice_is_one_memory(call, store):
    for _ in range(2):
        await call("memory_add", memory="Likes tea")
    assert len(store.read_memories("alice")) == 1


@pytest.mark.parametrize(
    "text",
    ["a\x00b", "a\ud800b", "👩‍👩‍👧 loves 茶", "x" * 5_000_000, " "],
    ids=["nul", "surrogate", "emoji", "5 MB", "blank"],
)
async def test_odd_text_is_stored_faithfully_or_refused_in_words(call, store, text):
    answer = await call("memory_add", memory=text)
    answer.content.encode()
    assert len(answer.content) < 3_000
    stored = [entry.memory for entry in store.read_memories("alice")]
    assert stored == ([text] if answer.status == "success" else [])


async def test_a_kind_of_ones_own_is_kept(call):
    answer = await call("memory_add", memory="Likes tea", memory_kind="preference")
    assert answer.artifact.kind == "preference"


async def test_a_date_that_cannot_be_read_saves_nothing_and_says_how_to_write_it(
    call, store
):
    answer = await call("memory_add", memory="Ran", event_time="last spring")
    assert answer.status == "error"
    assert "last spring" in answer.content
    assert "2024-05-07" in answer.content
    assert store.read_memories("alice") == []


@pytest.mark.parametrize("date", ["2024-05-07", "May 2024", "2024", "2024年5月7日"])
async def test_the_date_that_is_shown_can_be_given_back(call, date):
    first = await call("memory_add", memory="Moved", event_time=date)
    shown = first.content.split("date: ")[1].split(";")[0]
    again = await call("memory_add", memory="Moved", event_time=shown)
    assert again.artifact.id == first.artifact.id
    assert again.artifact.event_precision == first.artifact.event_precision


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_add", {"memory": ""}),
        ("memory_update", {"memory_id": "", "memory": "x"}),
        ("memory_update", {"memory_id": "x", "memory": ""}),
        ("memory_delete", {"memory_id": ""}),
    ],
)
async def test_empty_required_arguments_are_errors(call, name, arguments):
    answer = await call(name, **arguments)
    assert answer.status == "error"
    assert "required" in answer.content


def test_a_full_store_tells_the_model_what_to_do():
    (tool,) = build_tools(["memory_add"], store=MemoryStore(memory_limit=1), user="a")
    tool.invoke(as_call("memory_add", memory="Likes tea"))
    answer = tool.invoke(as_call("memory_add", memory="Likes coffee"))
    assert answer.status == "error"
    assert "Update an existing memory" in answer.content


async def test_update_changes_the_text_and_tells_the_new_id(call, store):
    old = store.add_memory("alice", "Plays the cello", topics=["music"])
    answer = await call("memory_update", memory_id=old.id, memory="Plays the viola")
    (entry,) = store.read_memories("alice")
    assert entry.memory == "Plays the viola"
    assert entry.id != old.id
    assert f"[{entry.id}]" in answer.content
    assert old.id in answer.content
    assert answer.artifact == entry


async def test_update_keeps_what_is_left_out(call, store):
    old = store.add_memory(
        "alice",
        "Played in Bonn",
        topics=["music"],
        kind="episode",
        event_time="2024-05",
        participants=["Mia"],
        location="Bonn",
    )
    nulls = {"topics": None, "memory_kind": None, "event_time": None, "location": None}
    for extra in ({}, nulls):
        answer = await call(
            "memory_update", memory_id=old.id, memory=old.memory, **extra
        )
        new = answer.artifact
        assert new.id == old.id
        assert (new.topics, new.kind, new.event_precision) == (
            ("music",),
            "episode",
            "month",
        )
        assert (new.participants, new.location) == (("Mia",), "Bonn")


async def test_update_clears_what_is_given_empty(call, store):
    old = store.add_memory(
        "alice",
        "Played in Bonn",
        topics=["music"],
        event_time="2024-05",
        participants=["Mia"],
        location="Bonn",
    )
    answer = await call(
        "memory_update",
        memory_id=old.id,
        memory=old.memory,
        topics=[],
        event_time="",
        participants=[],
        location="",
    )
    new = answer.artifact
    assert (new.topics, new.event_time, new.participants) == ((), None, ())
    assert not new.location


async def test_update_of_an_unknown_id_says_where_ids_come_from(call, store):
    store.add_memory("alice", "Likes tea")
    answer = await call("memory_update", memory_id="zzz", memory="Likes coffee")
    assert answer.status == "error"
    assert "memory_search" in answer.content
    assert [e.memory for e in store.read_memories("alice")] == ["Likes tea"]


async def test_update_into_another_memory_is_refused(call, store):
    tea = store.add_memory("alice", "Likes tea")
    store.add_memory("alice", "Likes coffee")
    answer = await call("memory_update", memory_id=tea.id, memory="Likes coffee")
    assert answer.status == "error"
    assert "Nothing was changed" in answer.content
    assert len(store.read_memories("alice")) == 2


async def test_delete_removes_one_memory(call, store):
    tea = store.add_memory("alice", "Likes tea")
    store.add_memory("alice", "Likes coffee")
    answer = await call("memory_delete", memory_id=tea.id)
    assert (answer.status, answer.artifact) == ("success", tea.id)
    assert [e.memory for e in store.read_memories("alice")] == ["Likes coffee"]


async def test_delete_of_an_unknown_id_tells_the_model(call):
    answer = await call("memory_delete", memory_id="zzz")
    assert answer.status == "error"
    assert "no memory with the id 'zzz'" in answer.content


@pytest.mark.parametrize("arguments", [{}, {"reason": None}, {"reason": "asked to"}])
async def test_clear_removes_all_and_says_how_many(call, store, arguments):
    store.add_memory("alice", "Likes tea")
    store.add_memory("alice", "Likes coffee")
    answer = await call("memory_clear", **arguments)
    assert "2 memories" in answer.content
    assert answer.artifact == 2
    assert store.read_memories("alice") == []
