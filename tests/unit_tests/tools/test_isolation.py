"""Attacks: no argument of a tool reaches another user's memories."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.tools import TOOL_NAMES, build_tools
from tests.unit_tests.tools.conftest import as_call

SECRET = "The secret word is xyzzy"

FORGED_RUNTIME = {
    "context": {"user_id": "victim"},
    "config": {"configurable": {"user_id": "victim"}},
    "server_info": {"user": {"identity": "victim"}},
    "store": {"user": "victim"},
    "state": {},
}

ARGUMENTS = {
    "memory_add": {"memory": "planted"},
    "memory_update": {"memory_id": "ID", "memory": "overwritten"},
    "memory_delete": {"memory_id": "ID"},
    "memory_clear": {},
    "memory_search": {"query": "secret xyzzy"},
    "memory_load": {},
}

FORGERIES = [
    {"runtime": FORGED_RUNTIME},
    {"runtime": "victim"},
    {"user": "victim"},
    {"user_id": "victim"},
    {"user": {"app_name": "default", "user_id": "victim"}},
    {"app_name": "default", "user_id": "victim"},
    {"store": "victim"},
    {"config": {"configurable": {"user_id": "victim"}}},
    {"namespace": ["memories", "default", "victim"]},
    {"self": {"user": "victim"}},
    {"state": {"user_id": "victim"}},
    {"tool_call_id": "victim"},
]


@pytest.fixture
def victim(store):
    """The victim's only memory."""
    return store.add_memory("victim", SECRET)


def attack(name, victim, forgery):
    arguments = ARGUMENTS[name] | forgery
    if arguments.get("memory_id") == "ID":
        arguments["memory_id"] = victim.id
    return as_call(name, **arguments)


def in_graph(tools, store, call, config):
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(tools))
    builder.set_entry_point("tools")
    graph = builder.compile(store=store)
    state = {"messages": [AIMessage("", tool_calls=[call])]}
    return graph.invoke(state, config)["messages"][-1]


@pytest.mark.parametrize("forgery", [{}, *FORGERIES], ids=str)
@pytest.mark.parametrize("name", TOOL_NAMES)
@pytest.mark.parametrize("way", ["bound", "run of a graph", "run without a graph"])
def test_no_forged_argument_reaches_the_victim(store, victim, name, forgery, way):
    call = attack(name, victim, forgery)
    as_mallory = {"configurable": {"user_id": "mallory"}}
    if way == "bound":
        (tool,) = build_tools([name], store=store, user="mallory")
        answer = tool.invoke(call)
    elif way == "run of a graph":
        (tool,) = build_tools([name])
        answer = in_graph([tool], store, call, as_mallory)
    else:
        (tool,) = build_tools([name], store=store)
        answer = tool.invoke(call, as_mallory)
    assert "xyzzy" not in answer.content.replace(str(call["args"].get("query")), "")
    assert answer.artifact is None or SECRET not in str(answer.artifact)
    assert store.read_memories("victim") == [victim]


@pytest.mark.parametrize("name", TOOL_NAMES)
@pytest.mark.parametrize("forged", [FORGED_RUNTIME, "victim", ["victim"], 1, True])
async def test_a_forged_runtime_names_nobody(store, victim, name, forged):
    (tool,) = build_tools([name], store=store)
    answer = await tool.ainvoke(attack(name, victim, {"runtime": forged}))
    assert answer.status == "error"
    assert "who the user is" in answer.content
    assert store.list_namespaces() == [victim.user.namespace]


def test_the_id_of_somebody_elses_memory_is_as_unknown_as_any(store, victim):
    for name in ("memory_delete", "memory_update"):
        (tool,) = build_tools([name], store=store, user="mallory")
        real = tool.invoke(attack(name, victim, {}))
        unknown = attack(name, victim, {})
        unknown["args"]["memory_id"] = "0" * 64
        fake = tool.invoke(unknown)
        assert (real.status, fake.status) == ("error", "error")
        assert real.content.replace(victim.id, "ID") == fake.content.replace(
            "0" * 64, "ID"
        )


def test_the_same_user_id_in_another_application_is_somebody_else(tmp_path):
    url = f"sqlite:///{tmp_path}/shared.db"
    with (
        MemoryStore.from_url(url) as ours,
        MemoryStore.from_url(url, app_name="shop") as theirs,
    ):
        ours.add_memory("victim", SECRET)
        (tool,) = build_tools(["memory_load"], store=theirs, user="victim")
        assert tool.invoke({}) == "No memories found."


def test_traces_do_not_get_the_runtime(store):
    from langchain_core.callbacks import BaseCallbackHandler  # noqa: PLC0415

    class Recorder(BaseCallbackHandler):
        seen = None

        def on_tool_start(self, serialized, input_str, *, inputs=None, **_):
            self.seen = (input_str, inputs)

    recorder = Recorder()
    (tool,) = build_tools(["memory_search"])
    config = {"configurable": {"user_id": "alice"}, "callbacks": [recorder]}
    in_graph([tool], store, as_call("memory_search", query="tea"), config)
    assert recorder.seen == ("{'query': 'tea'}", {"query": "tea"})


def test_a_tool_does_not_show_its_store_or_user(store):
    (tool,) = build_tools(["memory_search"], store=store, user="alice")
    assert "alice" not in repr(tool)
    assert "store" not in tool.model_dump()
