"""Versions: what replaced what, told truthfully whatever happens later."""

import contextlib
import random

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import (
    InvalidInput,
    MemoryNotFound,
    MemoryStoreError,
)
from langchain_agentmemory.identity import memory_id


@pytest.fixture
def store(make_store):
    return make_store(soft_delete=True)


def by_text(store):
    return {entry.memory: entry for entry in store.read_memories("ann")}


def told(store, memory_id):
    return [entry.memory for entry in store.memory_history("ann", memory_id)]


def test_both_versions_stay_and_know_each_other(store):
    paris = store.add_memory("ann", "住在巴黎")
    berlin = store.add_memory("ann", "住在柏林", supersedes=[paris.id])
    found = by_text(store)
    assert found["住在柏林"].supersedes == (paris.id,)
    assert found["住在巴黎"].superseded_by == berlin.id
    assert told(store, berlin.id) == ["住在巴黎", "住在柏林"]


def test_marking_as_superseded_does_not_make_a_memory_newer(store):
    paris = store.add_memory("ann", "Paris")
    store.add_memory("ann", "Unrelated")
    store.add_memory("ann", "Berlin", supersedes=[paris.id])
    assert [e.memory for e in store.read_memories("ann")] == [
        "Berlin",
        "Unrelated",
        "Paris",
    ]
    assert by_text(store)["Paris"].updated_at == paris.updated_at


def test_what_holds_again_becomes_current_without_a_cycle(store):
    paris = store.add_memory("ann", "Paris")
    berlin = store.add_memory("ann", "Berlin", supersedes=[paris.id])
    again = store.add_memory("ann", "Paris")
    assert again.id == paris.id
    found = by_text(store)
    assert (found["Paris"].supersedes, found["Paris"].superseded_by) == (
        (berlin.id,),
        None,
    )
    assert (found["Berlin"].supersedes, found["Berlin"].superseded_by) == (
        (),
        paris.id,
    )
    assert told(store, paris.id) == ["Paris", "Berlin", "Paris"]


def test_what_holds_again_replaces_the_end_of_a_chain(store):
    a = store.add_memory("ann", "A")
    b = store.add_memory("ann", "B", supersedes=[a.id])
    c = store.add_memory("ann", "C", supersedes=[b.id])
    store.add_memory("ann", "A")
    found = by_text(store)
    assert found["A"].superseded_by is None
    assert found["C"].superseded_by == a.id
    assert found["B"].superseded_by == c.id
    assert found["B"].supersedes == ()
    assert told(store, a.id) == ["A", "B", "C", "A"]


def test_a_rotation_takes_the_links_with_it(store):
    a = store.add_memory("ann", "A")
    b = store.add_memory("ann", "B", supersedes=[a.id])
    c = store.add_memory("ann", "C", supersedes=[b.id])
    moved = store.update_memory("ann", b.id, "B, more exactly")
    found = by_text(store)
    assert found["A"].superseded_by == moved.id
    assert found["C"].supersedes == (moved.id,)
    assert (moved.supersedes, moved.superseded_by) == ((a.id,), c.id)
    assert told(store, c.id) == ["A", "B", "C"]
    assert told(store, moved.id) == ["A", "B", "B, more exactly"]


def test_editing_back_and_forth_is_told_in_order(store):
    entry = store.add_memory("ann", "one")
    two = store.update_memory("ann", entry.id, "two")
    back = store.update_memory("ann", two.id, "one")
    assert back.id == entry.id
    assert told(store, back.id) == ["one", "two", "one"]


def test_deleting_the_current_version_brings_no_older_one_back(store):
    paris = store.add_memory("ann", "Paris")
    berlin = store.add_memory("ann", "Berlin", supersedes=[paris.id])
    store.delete_memory("ann", berlin.id)
    assert by_text(store)["Paris"].superseded_by == berlin.id
    restored = store.restore_memory("ann", paris.id)
    assert restored.superseded_by is None
    # What was brought back last is what holds.
    assert store.restore_memory("ann", berlin.id).superseded_by is None
    assert by_text(store)["Paris"].superseded_by == berlin.id


def test_a_memory_cannot_supersede_itself_or_strangers(store):
    stranger = store.add_memory("bob", "Bob's")
    entry = store.add_memory("ann", "A")
    with pytest.raises(InvalidInput, match="itself"):
        store.add_memory("ann", "A", supersedes=[entry.id])
    with pytest.raises(MemoryNotFound, match="no such memory"):
        store.add_memory("ann", "B", supersedes=[stranger.id])
    assert set(by_text(store)) == {"A"}
    assert store.read_memories("bob")[0].superseded_by is None


def test_mutual_supersession_keeps_one_current(store):
    a = store.add_memory("ann", "A")
    b = store.add_memory("ann", "B", supersedes=[a.id])
    store.add_memory("ann", "A", supersedes=[b.id])
    current = [e.memory for e in store.read_memories("ann") if not e.superseded_by]
    assert current == ["A"]


def test_a_kept_duplicate_still_replaces_what_it_says_it_does(make_store):
    store = make_store(on_duplicate="keep")
    paris = store.add_memory("ann", "Paris", topics=["home"])
    berlin = store.add_memory("ann", "Berlin")
    again = store.add_memory("ann", "Paris", topics=["x"], supersedes=[berlin.id])
    assert (again.topics, again.updated_at) == (("home",), paris.updated_at)
    assert again.supersedes == (berlin.id,)
    with pytest.raises(MemoryNotFound):
        store.add_memory("ann", "Paris", supersedes=["unknown"])


def test_editing_into_what_replaced_it_leaves_one_memory_current(make_store):
    for soft in (True, False):
        store = make_store(name=f"cycle{soft}", soft_delete=soft)
        paris = store.add_memory("ann", "Paris")
        berlin = store.add_memory("ann", "Berlin", supersedes=[paris.id])
        street = store.add_memory("ann", "Rue Monge", supersedes=[berlin.id])
        store.delete_memory("ann", street.id)
        store.update_memory("ann", paris.id, "Rue Monge")
        if soft:
            found = by_text(store)
            assert found["Rue Monge"].superseded_by is None
            assert found["Rue Monge"].supersedes == (berlin.id,)


def test_a_revived_target_still_replaces_what_it_replaced(store):
    a = store.add_memory("ann", "A")
    b = store.add_memory("ann", "B", supersedes=[a.id])
    store.delete_memory("ann", b.id)
    c = store.add_memory("ann", "C")
    assert store.update_memory("ann", c.id, "B").supersedes == (a.id,)
    assert by_text(store)["A"].superseded_by == b.id


@pytest.mark.parametrize("choice", ["keep", "error"])
def test_what_holds_again_is_no_duplicate(make_store, choice):
    store = make_store(on_duplicate=choice)
    paris = store.add_memory("ann", "Paris", topics=["home"])
    berlin = store.add_memory("ann", "Berlin", supersedes=[paris.id])
    again = store.add_memory("ann", "Paris")
    assert (again.superseded_by, again.topics) == (None, ("home",))
    assert by_text(store)["Berlin"].superseded_by == paris.id
    assert store.add_memory("ann", "Berlin", supersedes=[paris.id]).id == berlin.id


def test_an_item_put_over_a_deleted_version_is_the_valid_one_again(store):
    paris = store.add_memory("ann", "Paris")
    berlin = store.add_memory("ann", "Berlin", supersedes=[paris.id])
    store.delete_memory("ann", paris.id)
    store.put(paris.user.namespace, paris.id, {"memory": "Paris"})
    found = by_text(store)
    assert found["Paris"].superseded_by is None
    assert found["Paris"].supersedes == (berlin.id,)
    assert found["Berlin"].superseded_by == paris.id


def test_an_item_put_over_an_outdated_version_stays_outdated(store):
    paris = store.add_memory("ann", "Paris")
    berlin = store.add_memory("ann", "Berlin", supersedes=[paris.id])
    store.put(paris.user.namespace, paris.id, {"memory": "Paris", "topics": ["home"]})
    assert by_text(store)["Paris"].superseded_by == berlin.id


@pytest.mark.parametrize("seed", range(60))
def test_links_have_two_ends_and_no_cycle_whatever_happens(seed):
    dice, store = random.Random(seed), MemoryStore(soft_delete=True)
    texts = "ABCDEF"
    for _ in range(25):
        ids = [memory_id(text, "default", "ann") for text in texts]
        with contextlib.suppress(MemoryStoreError):
            match dice.choice(["add", "add", "replace", "edit", "delete", "restore"]):
                case "add":
                    store.add_memory("ann", dice.choice(texts))
                case "replace":
                    old = [dice.choice(ids), dice.choice(ids)]
                    store.add_memory("ann", dice.choice(texts), supersedes=old)
                case "edit":
                    store.update_memory("ann", dice.choice(ids), dice.choice(texts))
                case "delete":
                    store.delete_memory("ann", dice.choice(ids))
                case "restore":
                    store.restore_memory("ann", dice.choice(ids))
        check_links(store.read_memories("ann"))


def check_links(entries):
    kept = {entry.id: entry for entry in entries}
    for entry in entries:
        newer, seen = entry.superseded_by, {entry.id}
        while newer in kept:
            assert newer not in seen, "a cycle: nothing is current"
            seen.add(newer)
            newer = kept[newer].superseded_by
        for old in set(entry.supersedes) & set(kept):
            assert kept[old].superseded_by == entry.id
        if entry.superseded_by in kept:
            assert entry.id in kept[entry.superseded_by].supersedes
