"""The tools in agents and graphs, with a scripted model."""

import asyncio
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.memory import InMemoryStore

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.tools import TOOL_NAMES, build_tools
from langchain_agentmemory.types import UserKey
from tests.unit_tests.tools.conftest import as_call


@dataclass
class Context:
    user_id: str


class ScriptedModel(GenericFakeChatModel):
    """Says what it is given, whatever tools it is offered."""

    def bind_tools(self, _tools, **_):
        return self


def agent_saying(*calls, tools, **options):
    turns = [AIMessage("", tool_calls=[call]) for call in calls]
    model = ScriptedModel(messages=iter([*turns, AIMessage("done")]))
    return create_agent(model, tools, **options)


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Run an agent and return its tool messages."""

    async def go(agent, **options):
        given = {"messages": [("user", "hello")]}
        if request.param == "sync":
            state = agent.invoke(given, **options)
        else:
            state = await agent.ainvoke(given, **options)
        assert state["messages"][-1].content == "done"
        return [m for m in state["messages"] if isinstance(m, ToolMessage)]

    return go


async def test_an_agent_adds_finds_corrects_and_deletes(run, store):
    tools = build_tools(TOOL_NAMES, store=store, user="alice")
    add = as_call("memory_add", memory="Plays the cello")
    (added,) = await run(agent_saying(add, tools=tools))
    update = as_call(
        "memory_update", memory_id=added.artifact.id, memory="Plays the viola"
    )
    search = as_call("memory_search", query="viola")
    updated, found = await run(agent_saying(update, search, tools=tools))
    assert [entry.id for entry in found.artifact] == [updated.artifact.id]
    assert updated.artifact.id in found.content
    delete = as_call("memory_delete", memory_id=updated.artifact.id)
    load = as_call("memory_load")
    deleted, rest = await run(agent_saying(delete, load, tools=tools))
    assert deleted.status == "success"
    assert rest.artifact == []


@pytest.mark.parametrize(
    "bad",
    [
        as_call("memory_delete", memory_id="zzz"),
        as_call("memory_update", memory_id="zzz", memory="x"),
        as_call("memory_add", memory="Ran", event_time="yesterday"),
        as_call("memory_add", memory=""),
        as_call("memory_add"),
        as_call("memory_search", query="tea", user="bob"),
        as_call("memory_search", query="tea", limit="many"),
    ],
    ids=str,
)
async def test_a_mistake_comes_back_as_an_error_message_and_the_turn_goes_on(
    run, store, bad
):
    tools = build_tools(TOOL_NAMES, store=store, user="alice")
    good = as_call("memory_add", memory="Likes tea")
    first, second = await run(agent_saying(bad, good, tools=tools))
    assert (first.status, second.status) == ("error", "success")
    assert [entry.memory for entry in store.read_memories("alice")] == ["Likes tea"]


async def test_unbound_tools_use_the_store_and_user_of_the_run(run, store):
    add = as_call("memory_add", memory="Likes tea")

    def agent(**options):
        return agent_saying(add, tools=build_tools(TOOL_NAMES), store=store, **options)

    await run(agent(context_schema=Context), context=Context("alice"))
    await run(agent(), config={"configurable": {"user_id": "bob"}})
    users = [UserKey("default", name).namespace for name in ("alice", "bob")]
    assert sorted(store.list_namespaces()) == users


async def test_a_run_without_a_user_touches_nothing_and_goes_on(run, store):
    add = as_call("memory_add", memory="Likes tea")
    agent = agent_saying(add, tools=build_tools(TOOL_NAMES), store=store)
    (answer,) = await run(agent)
    assert answer.status == "error"
    assert store.list_namespaces() == []


async def test_a_run_without_a_store_says_so_and_goes_on(run):
    add = as_call("memory_add", memory="Likes tea")
    config = {"configurable": {"user_id": "alice"}}
    (answer,) = await run(
        agent_saying(add, tools=build_tools(TOOL_NAMES)), config=config
    )
    assert answer.status == "error"
    assert "No memory store" in answer.content


async def test_the_plain_store_of_a_run_is_wrapped(run, store):
    plain = InMemoryStore()
    tools = build_tools(TOOL_NAMES, wrap={plain: store}.__getitem__)
    add = as_call("memory_add", memory="Likes tea")
    agent = agent_saying(add, tools=tools, store=plain)
    await run(agent, config={"configurable": {"user_id": "alice"}})
    assert len(store.read_memories("alice")) == 1


async def test_several_calls_of_one_turn_do_not_disturb_each_other(run, store):
    tools = build_tools(TOOL_NAMES, store=store, user="alice")
    calls = [
        as_call("memory_add", memory=f"memory {number}") | {"id": str(number)}
        for number in range(8)
    ]
    turn = AIMessage("", tool_calls=calls)
    model = ScriptedModel(messages=iter([turn, AIMessage("done")]))
    answers = await run(create_agent(model, tools))
    assert [answer.tool_call_id for answer in answers] == [str(n) for n in range(8)]
    assert len(store.read_memories("alice")) == 8


async def test_answers_survive_a_checkpoint(run, store):
    tools = build_tools(TOOL_NAMES, store=store, user="alice")
    add = as_call("memory_add", memory="喜欢喝茶", event_time="2024年5月")
    agent = agent_saying(add, tools=tools, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    await run(agent, config=config)
    kept = agent.get_state(config).values["messages"]
    (answer,) = [m for m in kept if isinstance(m, ToolMessage)]
    assert "喜欢喝茶" in answer.content
    assert "date: 2024-05" in answer.content


def test_a_tool_node_without_an_agent_works_too(store):
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(build_tools(TOOL_NAMES, user="alice")))
    builder.set_entry_point("tools")
    call = as_call("memory_add", memory="Likes tea")
    state = {"messages": [AIMessage("", tool_calls=[call])]}
    answer = builder.compile(store=store).invoke(state)["messages"][-1]
    assert answer.status == "success"
    assert len(store.read_memories("alice")) == 1


async def test_a_node_can_call_a_tool_without_passing_the_runtime(store):
    (tool,) = build_tools(["memory_add"])

    def sync_node(_):
        tool.invoke({"memory": "from a sync node"})

    async def async_node(_):
        await tool.ainvoke({"memory": "from an async node"})

    builder = StateGraph(MessagesState, context_schema=Context)
    builder.add_node("sync", sync_node)
    builder.add_node("async", async_node)
    builder.set_entry_point("sync")
    builder.add_edge("sync", "async")
    graph = builder.compile(store=store)
    await graph.ainvoke({"messages": []}, context=Context("alice"))
    assert len(store.read_memories("alice")) == 2


async def test_a_tool_works_outside_of_a_graph(store):
    (bound,) = build_tools(["memory_add"], store=store, user="alice")
    assert "Saved" in bound.invoke({"memory": "Likes tea"})
    assert "Saved" in await bound.ainvoke({"memory": "Likes coffee"})
    (by_config,) = build_tools(["memory_load"], store=store)
    config = {"configurable": {"user_id": "alice"}}
    assert "Likes tea" in by_config.invoke({}, config)
    assert "Likes coffee" in await by_config.ainvoke({}, config)


def test_a_function_can_name_the_user(store):
    tools = build_tools(
        TOOL_NAMES, store=store, user=lambda runtime: f"u-{runtime.context.user_id}"
    )
    add = as_call("memory_add", memory="Likes tea")
    agent = agent_saying(add, tools=tools, context_schema=Context)
    agent.invoke({"messages": [("user", "hi")]}, context=Context("alice"))
    assert len(store.read_memories("u-alice")) == 1


def test_the_users_application_is_that_of_the_store():
    store = MemoryStore(app_name="shop")
    (tool,) = build_tools(["memory_add"], store=store)
    tool.invoke({"memory": "Likes tea"}, {"configurable": {"user_id": "alice"}})
    assert store.list_namespaces() == [UserKey("shop", "alice").namespace]


async def test_async_tools_do_not_block_the_loop(no_blocking, make_store):
    store = await asyncio.to_thread(make_store)  # opening a file may block
    tools = {t.name: t for t in build_tools(TOOL_NAMES, store=store, user="alice")}
    added = await tools["memory_add"].ainvoke(as_call("memory_add", memory="喜欢喝茶"))
    which = added.artifact.id
    for name, arguments in (
        ("memory_search", {"query": "茶"}),
        ("memory_load", {}),
        ("memory_update", {"memory_id": which, "memory": "喜欢喝茶", "topics": ["茶"]}),
        ("memory_delete", {"memory_id": which}),
        ("memory_clear", {}),
    ):
        answer = await tools[name].ainvoke(as_call(name, **arguments))
        assert answer.status == "success", answer.content
