"""Building the tools of a selection, custom ones included."""

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.tools import (
    TOOL_NAMES,
    build_tools,
    select_tools,
    store_of,
    user_of,
)
from langchain_agentmemory.tools.build import read_custom_tools
from tests.unit_tests.tools.conftest import as_call


@tool
def memory_add(memory: str, runtime: Annotated[Any, InjectedToolArg] = None) -> str:
    """Shout."""
    entry = store_of(runtime).add_memory(user_of(runtime), memory.upper())
    return f"shouted {entry.id}"


def add_with_tool_runtime(memory: str, runtime: ToolRuntime = None) -> str:
    """Shout."""
    store_of(runtime).add_memory(user_of(runtime), memory.upper())
    return "shouted"


async def add_async(
    memory: str, runtime: Annotated[Any, InjectedToolArg] = None
) -> str:
    """Shout."""
    await store_of(runtime).aadd_memory(user_of(runtime), memory.upper())
    return "shouted"


class AddTool(BaseTool):
    name: str = "memory_add"
    description: str = "Shout."

    def _run(self, memory: str, runtime: Annotated[Any, InjectedToolArg] = None) -> str:
        store_of(runtime).add_memory(user_of(runtime), memory.upper())
        return "shouted"


def node_graph(tools, store=None):
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(tools))
    builder.set_entry_point("tools")
    return builder.compile(store=store)


CALL = {"messages": [AIMessage("", tool_calls=[as_call("memory_add", memory="hi")])]}
AS_ALICE = {"configurable": {"user_id": "alice"}}


def test_tools_are_built_in_the_order_of_their_names():
    names = select_tools(has_extractor=False).exposed
    assert [built.name for built in build_tools(names)] == list(names)
    assert [built.name for built in build_tools(TOOL_NAMES)] == sorted(TOOL_NAMES)


def test_unknown_tools_cannot_be_built():
    with pytest.raises(InvalidInput, match="memory_dream"):
        build_tools(["memory_dream"])


@pytest.mark.parametrize(
    "given",
    [memory_add, AddTool(), {"memory_add": add_with_tool_runtime}, [memory_add]],
)
@pytest.mark.parametrize("direct", [True, False])
def test_a_custom_tool_gets_the_store_and_user_it_is_bound_to(store, given, direct):
    given = [given] if isinstance(given, BaseTool) else given
    custom = read_custom_tools(given)
    (built,) = build_tools(["memory_add"], store=store, user="bob", custom=custom)
    if direct:
        built.invoke({"memory": "hi"})
    else:  # in a graph with another store and another user
        node_graph([built], MemoryStore()).invoke(CALL, AS_ALICE)
    assert [entry.memory for entry in store.read_memories("bob")] == ["HI"]


def test_an_unbound_custom_tool_gets_the_store_and_user_of_the_run(store):
    custom = read_custom_tools([memory_add])
    for built in (memory_add, *build_tools(["memory_add"], custom=custom)):
        node_graph([built], store).invoke(CALL, AS_ALICE)
    assert [entry.memory for entry in store.read_memories("alice")] == ["HI"]


async def test_an_async_custom_tool_is_bound_too(store):
    custom = read_custom_tools({"memory_add": add_async})
    (built,) = build_tools(["memory_add"], store=store, user="bob", custom=custom)
    await built.ainvoke({"memory": "hi"})
    await node_graph([built], MemoryStore()).ainvoke(CALL, AS_ALICE)
    assert [entry.memory for entry in store.read_memories("bob")] == ["HI"]


async def test_two_bindings_of_one_custom_tool_do_not_meet(store):
    custom = read_custom_tools([memory_add])
    (for_alice,) = build_tools(["memory_add"], store=store, user="alice", custom=custom)
    (for_bob,) = build_tools(["memory_add"], store=store, user="bob", custom=custom)
    await for_alice.ainvoke({"memory": "a"})
    for_bob.invoke({"memory": "b"})
    assert [entry.memory for entry in store.read_memories("alice")] == ["A"]
    assert [entry.memory for entry in store.read_memories("bob")] == ["B"]


def test_the_runtime_of_a_custom_tool_stays_hidden_from_the_model(store):
    custom = read_custom_tools([memory_add])
    (built,) = build_tools(["memory_add"], store=store, user="bob", custom=custom)
    assert list(built.tool_call_schema.model_json_schema()["properties"]) == ["memory"]
    assert built.description == "Shout."


def test_a_custom_tool_that_was_given_is_left_as_it_was(store):
    custom = read_custom_tools([memory_add])
    build_tools(["memory_add"], store=store, user="bob", custom=custom)
    assert type(memory_add) is StructuredTool
    with pytest.raises(InvalidInput, match="No memory store"):
        memory_add.invoke({"memory": "hi"})


def test_a_custom_tool_must_have_the_name_that_it_replaces():
    with pytest.raises(InvalidInput, match="named 'memory_add'"):
        read_custom_tools({"memory_clear": memory_add})
    with pytest.raises(InvalidInput, match="memory_dream"):
        read_custom_tools({"memory_dream": add_with_tool_runtime})


@pytest.mark.parametrize("given", [{"memory_add": 7}, {"memory_add": AddTool}, [7]])
def test_what_is_neither_a_tool_nor_a_function_is_refused(given):
    with pytest.raises(InvalidInput):
        read_custom_tools(given)


def test_a_runtime_argument_that_models_would_see_is_refused():
    def visible(memory: str, runtime: Any = None) -> str:
        """Shout."""
        return f"{memory} {runtime}"

    with pytest.raises(InvalidInput, match="InjectedToolArg"):
        read_custom_tools({"memory_add": visible})


def test_a_custom_tool_needs_no_runtime_argument(store):
    def add_quietly(memory: str) -> str:
        """Whisper."""
        store_of().add_memory(user_of(), memory.lower())
        return "whispered"

    custom = read_custom_tools({"memory_add": add_quietly})
    (built,) = build_tools(["memory_add"], store=store, custom=custom)
    node_graph([built], MemoryStore()).invoke(CALL, AS_ALICE)
    assert [entry.memory for entry in store.read_memories("alice")] == ["hi"]


def test_no_custom_tools_is_fine():
    assert read_custom_tools(None) == {}
