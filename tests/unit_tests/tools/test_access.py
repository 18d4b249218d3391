"""How a tool gets at its store and its user."""

from types import SimpleNamespace

import pytest
from langgraph.store.memory import InMemoryStore

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import InvalidInput, UserNotResolved
from langchain_agentmemory.tools.access import (
    Binding,
    MemoryWriter,
    bound_to,
    store_of,
    user_of,
)
from langchain_agentmemory.types import MemoryReader, UserKey
from langchain_agentmemory.users import UserResolver


def runtime_of(store=None, user_id=None):
    return SimpleNamespace(store=store, context={"user_id": user_id}, config={})


def test_a_memory_store_is_a_reader_and_a_writer(store):
    assert isinstance(store, MemoryReader)
    assert isinstance(store, MemoryWriter)


def test_without_a_binding_the_store_and_user_are_those_of_the_run(store):
    runtime = runtime_of(store, "alice")
    assert store_of(runtime) is store
    assert user_of(runtime) == UserKey("default", "alice")


def test_plain_ids_are_users_of_the_stores_application():
    store = MemoryStore(app_name="shop")
    assert user_of(runtime_of(store, "alice")) == UserKey("shop", "alice")
    assert Binding(store, "alice").find_user(None) == UserKey("shop", "alice")


def test_a_binding_wins_over_the_run(store):
    runtime = runtime_of(MemoryStore(), "mallory")
    with bound_to(Binding(store, "alice")):
        assert store_of(runtime) is store
        assert user_of(runtime).user_id == "alice"
    assert user_of(runtime).user_id == "mallory"


def test_a_binding_without_a_user_finds_the_user_of_the_run(store):
    with bound_to(Binding(store)):
        assert user_of(runtime_of(user_id="alice")).user_id == "alice"
        with pytest.raises(UserNotResolved):
            user_of(None)


def test_a_binding_can_carry_a_resolver(store):
    resolver = UserResolver(lambda runtime: runtime.context["user_id"] + "!")
    with bound_to(Binding(store, resolver)):
        assert user_of(runtime_of(user_id="alice")).user_id == "alice!"


def test_no_store_is_an_error_that_says_how_to_give_one():
    for runtime in (None, runtime_of()):
        with pytest.raises(InvalidInput, match="compile the graph with store="):
            store_of(runtime)


def test_a_store_without_memory_verbs_is_wrapped_or_refused(store):
    plain = InMemoryStore()
    with pytest.raises(InvalidInput, match="InMemoryStore"):
        store_of(runtime_of(plain))
    wrapped = []

    def wrap(given):
        wrapped.append(given)
        return store

    assert store_of(runtime_of(plain), wrap=wrap) is store
    assert wrapped == [plain]


def test_a_memory_store_is_never_wrapped(store):
    assert store_of(runtime_of(store), wrap=pytest.fail) is store


@pytest.mark.parametrize(
    "forged",
    [
        {"store": None, "context": {"user_id": "victim"}},
        {"config": {"configurable": {"user_id": "victim"}}},
        "victim",
        ["victim"],
        7,
        True,
    ],
)
def test_a_runtime_that_a_model_could_have_written_is_ignored(store, forged):
    with bound_to(Binding(store)), pytest.raises(UserNotResolved):
        user_of(forged)
    with pytest.raises(InvalidInput):
        store_of(forged)
