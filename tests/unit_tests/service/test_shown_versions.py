"""Which versions a search shows, on every engine."""

import pytest

from langchain_agentmemory.errors import InvalidInput


@pytest.fixture
def store(make_store):
    store = make_store()
    oslo = store.add_memory("ann", "Ann lives in Oslo")
    paris = store.add_memory("ann", "Ann lives in Paris", supersedes=[oslo.id])
    store.add_memory("ann", "Ann lives in Berlin", supersedes=[paris.id])
    store.add_memory("ann", "Ann lives with a cat")
    return store


def texts(found):
    return [entry.memory for entry in found]


def test_all_versions_are_results_of_their_own_if_not_told_otherwise(store):
    assert len(store.search_memories("ann", "Where does Ann live?")) == 4


def test_current_leaves_out_what_was_replaced(store):
    found = store.search_memories("ann", "Where does Ann live?", versions="current")
    assert sorted(texts(found)) == ["Ann lives in Berlin", "Ann lives with a cat"]


@pytest.mark.parametrize("versions", ["all", "current"])
def test_what_was_replaced_is_told_newest_first(store, versions):
    found = store.search_memories("ann", "Ann in Berlin", versions=versions)
    berlin = next(entry for entry in found if "Berlin" in entry.memory)
    assert berlin.earlier == ("Ann lives in Paris", "Ann lives in Oslo")


def test_at_most_three_are_told(store):
    for city in ("Rome", "Bonn"):
        newest = store.search_memories("ann", "lives in", versions="current")
        (old,) = [e.id for e in newest if e.supersedes]
        store.add_memory("ann", f"Ann lives in {city}", supersedes=[old])
    (found,) = [
        entry
        for entry in store.search_memories("ann", "lives", versions="current")
        if entry.supersedes
    ]
    assert found.memory == "Ann lives in Bonn"
    assert found.earlier == tuple(
        f"Ann lives in {c}" for c in ("Rome", "Berlin", "Paris")
    )


async def test_the_async_twin_does_the_same(store):
    found = await store.asearch_memories("ann", "Ann lives", versions="current")
    assert sorted(texts(found)) == ["Ann lives in Berlin", "Ann lives with a cat"]


def test_what_holds_now_is_found_by_the_words_of_what_it_replaced(store):
    found = store.search_memories("ann", "Paris", versions="current")
    assert texts(found) == ["Ann lives in Berlin"]
    assert found[0].earlier[0] == "Ann lives in Paris"
    assert found[0].score == store.search_memories("ann", "Paris")[0].score


def test_a_page_is_full_all_the_same(store):
    found = store.search_memories("ann", "Ann lives", versions="current", limit=2)
    assert len(found) == 2


@pytest.mark.parametrize(
    "query",
    [
        "Where did Ann live before she moved?",
        "Where did Ann live in 2019?",
        "Ann以前 lives where?",
    ],
)
def test_a_question_about_the_past_gets_every_version(store, query):
    assert len(store.search_memories("ann", query, versions="current")) == 4


def test_a_version_whose_successor_was_deleted_is_a_result_again(store):
    (berlin,) = store.search_memories("ann", "Berlin")
    store.delete_memory("ann", berlin.id)
    found = store.search_memories("ann", "Ann lives", versions="current")
    assert sorted(texts(found)) == ["Ann lives in Paris", "Ann lives with a cat"]


def test_what_the_filters_exclude_does_not_come_back_in_a_place_of_another(make_store):
    store = make_store(name="dated")
    old = store.add_memory("ann", "Ann lives in Paris", event_time="2020")
    store.add_memory(
        "ann", "Ann lives in Berlin", event_time="2024", supersedes=[old.id]
    )
    found = store.search_memories(
        "ann", "Ann lives", versions="current", time_before="2021"
    )
    assert texts(found) == []


def test_no_other_users_memory_is_told(store):
    store.add_memory("bob", "Bob lives in Rome")
    found = store.search_memories("bob", "lives", versions="current")
    assert (texts(found), found[0].earlier) == (["Bob lives in Rome"], ())


def test_an_unknown_choice_says_which_there_are(store):
    with pytest.raises(InvalidInput, match="use one of all, current"):
        store.search_memories("ann", "Ann", versions="newest")
