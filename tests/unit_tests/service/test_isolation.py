"""One user cannot reach another's memories, however the names are chosen."""

import itertools

import pytest

from langchain_agentmemory import UserKey
from langchain_agentmemory.errors import MemoryNotFound

IDS = (
    *("ann", "Ann", "ANN", "ann ", " ann", "ann.", ".ann", "a.nn", "an", "anna", "a"),
    *("%", "%25", "%2E", "%2e", ".", "..", "ann%2E", "ann%00", "ann\x00", "\x00"),
    *("*", "**", "?", "_", "ann*", "an_", "an%", "[ann]", "ann/ben", "ann\\ben"),
    *("ann|user:ben", "ann:ben", "ann,ben", "ann;ben", "ann'--", 'ann"', "(ann)"),
    *("аnn", "ａｎｎ", "ann\u200b", "ann\u00ad", "é", "e\u0301", "ſ", "s", "ß", "ss"),
    *(
        "张三",
        "張三",
        "1",
        "01",
        "１",
        "None",
        "null",
        "default",
        "memories",
        "\n",
        "\ud800",
    ),
)
"""No two of these are the same user, whatever an engine may think of case or dots."""


@pytest.fixture
def crowd(make_store):
    """A store in which each of the users has one memory of their own."""
    store = make_store(soft_delete=True)
    for number, user in enumerate(IDS):
        store.add_memory(user, f"secret {number}", topics=["shared"])
    return store


def test_every_id_is_a_user_of_its_own(crowd):
    assert len({UserKey("default", user).namespace for user in IDS}) == len(IDS)
    for number, user in enumerate(IDS):
        (entry,) = crowd.read_memories(user)
        assert (entry.memory, entry.user_id) == (f"secret {number}", user)
        assert crowd.count_memories(user) == 1
        found = crowd.search_memories(user, "secret shared", limit=None)
        assert [e.memory for e in found] == [f"secret {number}"]


def test_a_plain_search_of_a_users_namespace_finds_that_user_only(crowd):
    for number, user in enumerate(IDS):
        namespace = UserKey("default", user).namespace
        for query in (None, "secret"):
            items = crowd.search(namespace, query=query, limit=1_000)
            assert [i.value["memory"] for i in items] == [f"secret {number}"]


def test_clearing_and_erasing_touch_one_user(crowd):
    for left, user in zip(range(len(IDS) - 1, -1, -1), IDS, strict=True):
        if left % 2:
            assert crowd.clear_memories(user) == 1
            assert crowd.purge_deleted(user=user) == 1
        else:
            assert crowd.erase_user(user).memories == 1
        assert sum(crowd.count_memories(other) for other in IDS) == left


def test_apps_and_users_cannot_be_shifted_into_each_other(make_store):
    store = make_store()
    pairs = [("a", "b.c"), ("a.b", "c"), ("a.b.c", "d"), ("a", "b"), ("ab", "c")]
    pairs += [("a|user:b", "c"), ("a", "b|user:c"), ("a%2Eb", "c"), ("a", "b%2Ec")]
    pairs += [("*", "b"), ("a", "*"), ("%", "b"), ("memories", "a"), ("a", "memories")]
    for app, user in pairs:
        store.add_memory(UserKey(app, user), f"{app} and {user}")
    for app, user in pairs:
        (entry,) = store.read_memories(UserKey(app, user))
        assert (entry.app_name, entry.user_id) == (app, user)
        assert entry.memory == f"{app} and {user}"


@pytest.fixture
def two(make_store):
    """A store, a victim's memory, and an attacker without any of their own."""
    store = make_store(soft_delete=True)
    return store, store.add_memory("victim", "the code is 1234", topics=["secret"])


@pytest.mark.parametrize("deleted", [False, True])
def test_the_id_of_somebody_elses_memory_leads_nowhere(two, deleted):
    store, entry = two
    if deleted:
        store.delete_memory("victim", entry.id)
    before = store.revision("victim")
    assert store.delete_memory("attacker", entry.id) is False
    for attack in (
        lambda: store.update_memory("attacker", entry.id, "changed"),
        lambda: store.update_memory("attacker", entry.id, topics=["mine"]),
        lambda: store.restore_memory("attacker", entry.id),
        lambda: store.memory_history("attacker", entry.id),
        lambda: store.add_memory("attacker", "x", supersedes=[entry.id]),
    ):
        with pytest.raises(MemoryNotFound) as raised:
            attack()
        assert "1234" not in str(raised.value)
    assert store.get(UserKey("default", "attacker").namespace, entry.id) is None
    assert store.count_memories("attacker") == 0
    assert store.revision("victim") == before


def test_the_same_content_is_another_memory_of_another_user(two):
    store, entry = two
    mine = store.add_memory("attacker", entry.memory, topics=["mine"])
    assert mine.id != entry.id
    store.update_memory("attacker", mine.id, "changed")
    store.clear_memories("attacker")
    assert store.read_memories("victim")[0] == entry


def test_metadata_that_names_another_user_stays_with_its_writer(two):
    store, entry = two
    namespace = UserKey("default", "attacker").namespace
    forged = {
        "memory": "forged",
        "user_id": "victim",
        "app_name": "default",
        "id": entry.id,
        "namespace": list(UserKey("default", "victim").namespace),
        "supersedes": [entry.id],
        "superseded_by": entry.id,
    }
    store.put(namespace, entry.id, forged)
    (mine,) = store.read_memories("attacker")
    assert (mine.user_id, mine.supersedes, mine.superseded_by) == ("attacker", (), None)
    assert store.read_memories("victim") == [entry]
    moved = store.update_memory("attacker", entry.id, location="here")
    assert moved.user_id == "attacker"
    store.delete_memory("attacker", moved.id)
    assert store.memory_history("victim", entry.id) == [entry]
    assert store.read_memories("victim") == [entry]


def test_filters_and_options_cannot_widen_a_search(two):
    store, _ = two
    store.add_memory("attacker", "nothing to see")
    namespace = UserKey("default", "attacker").namespace
    for wanted in (
        {"$or": [{"topics": ["secret"]}, {"memory": {"$exists": True}}]},
        {"$not": {"memory": "nothing to see"}},
        {"namespace": "victim"},
        {"user_id": {"$ne": "attacker"}},
        {"memory": {"$gte": ""}},
    ):
        items = store.search(namespace, filter=wanted, limit=1_000)
        assert all(i.namespace == namespace for i in items)
        assert all("1234" not in i.value["memory"] for i in items)
    for query in ("the code is 1234", "secret", "victim", "*", "%", "' OR 1=1 --"):
        found = store.search_memories("attacker", query, limit=None, kind_fallback=True)
        assert all(entry.user_id == "attacker" for entry in found)


def test_a_prefix_is_made_of_whole_labels(make_store):
    store = make_store()
    labels = ["a", "ab", "a%", "a_", "*", "%", "a*", "A"]
    spaces = [*itertools.product(["root"], labels), ("root",), ("roo",), ("roots", "a")]
    for number, namespace in enumerate(spaces):
        store.put(namespace, "k", {"n": number})
    for number, namespace in enumerate(spaces[: len(labels)]):
        found = store.search(namespace, limit=100)
        assert [item.value["n"] for item in found] == [number]
    below = {item.namespace for item in store.search(("root",), limit=100)}
    assert below == {*spaces[: len(labels)], ("root",)}


def test_the_cache_of_one_user_is_not_shown_to_another(two):
    store, entry = two
    assert store.search_memories("victim", "code")[0].id == entry.id
    assert store.search_memories("attacker", "code") == []
    store.add_memory("attacker", "my code")
    assert [e.memory for e in store.search_memories("attacker", "code")] == ["my code"]
    store.erase_user("victim")
    assert store.search_memories("victim", "code") == []


def test_deeper_namespaces_are_not_memories_of_the_user(make_store):
    store = make_store()
    namespace = UserKey("default", "ann").namespace
    store.put((*namespace, "notes"), "k", {"memory": "no memory of ann"})
    store.put(namespace[:2], "k", {"memory": "nobody's"})
    assert store.read_memories("ann") == []
    assert store.search_memories("ann", "memory nobody") == []
    assert store.count_memories("ann") == 0
