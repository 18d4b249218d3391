"""No store given: memories live in the run's own store, whatever LangGraph store it is.

Plain LangGraph code and the memory verbs must see one set of data.
"""

import sqlite3
from contextlib import asynccontextmanager, contextmanager

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from langchain_agentmemory import MemoryMiddleware, PreloadMemories, UserKey
from langchain_agentmemory.nodes.preload import PreloadState
from langchain_agentmemory.store import as_memory_store
from langchain_agentmemory.tools import build_tools
from tests.unit_tests.nodes.doubles import ScriptedModel, calls, systems

ALICE = {"configurable": {"user_id": "alice", "thread_id": "1"}}
HOME = UserKey("default", "alice").namespace
TEA = "Likes oolong tea"
ADD = calls("memory_add", memory="Owns a cat", topics=["pets"])
QUESTION = {"messages": [HumanMessage("What should I drink?")]}


@contextmanager
def sqlite_store():
    connection = sqlite3.connect(
        ":memory:", check_same_thread=False, isolation_level=None
    )
    store = SqliteStore(connection)
    store.setup()
    yield store
    connection.close()


@asynccontextmanager
async def opened(kind):
    if kind == "InMemoryStore":
        yield InMemoryStore()
    elif kind == "SqliteStore":
        with sqlite_store() as store:
            yield store
    else:
        async with AsyncSqliteStore.from_conn_string(":memory:") as store:
            await store.setup()
            yield store


@pytest.fixture(
    params=[
        ("InMemoryStore", "invoke"),
        ("InMemoryStore", "ainvoke"),
        ("SqliteStore", "invoke"),
        ("SqliteStore", "ainvoke"),
        ("AsyncSqliteStore", "ainvoke"),
    ],
    ids="-".join,
)
async def world(request):
    """A plain LangGraph store, and how graphs are run beside it."""
    kind, how = request.param
    async with opened(kind) as store:
        yield World(store, how)


class World:
    def __init__(self, store, how):
        self.store = store
        self.how = how

    async def run(self, graph, given=QUESTION, config=ALICE):
        if self.how == "invoke":
            return graph.invoke(given, config)
        return await graph.ainvoke(given, config)

    async def put(self, namespace, key, value):
        if isinstance(self.store, AsyncSqliteStore):
            await self.store.aput(namespace, key, value)
        else:
            self.store.put(namespace, key, value)

    async def search(self, *prefix):
        if isinstance(self.store, AsyncSqliteStore):
            return await self.store.asearch(prefix)
        return self.store.search(prefix)


async def test_an_agent_knows_what_plain_code_put_and_shows_it_what_it_learns(world):
    await world.put(HOME, "k", {"memory": TEA})
    model = ScriptedModel(script=[ADD])
    agent = create_agent(model, middleware=[MemoryMiddleware()], store=world.store)
    result = await world.run(agent)
    assert result["messages"][-1].content == "all done"
    first, second = (systems(asked)[0] for asked in model.asked)
    assert TEA in first
    assert "Owns a cat" not in first
    assert "Owns a cat" in second
    found = {item.value["memory"]: item for item in await world.search("memories")}
    assert set(found) == {TEA, "Owns a cat"}
    assert found["Owns a cat"].namespace == HOME
    assert found["Owns a cat"].value["topics"] == ["pets"]


async def test_an_agent_forgets_what_plain_code_deletes(world):
    await world.put(HOME, "k", {"memory": TEA})
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware()], store=world.store)
    await world.run(agent)
    if isinstance(world.store, AsyncSqliteStore):
        await world.store.adelete(HOME, "k")
    else:
        world.store.delete(HOME, "k")
    await world.run(agent)
    assert [TEA in str(systems(asked)) for asked in model.asked] == [True, False]


async def test_with_many_memories_the_fitting_ones_of_plain_code_are_shown(world):
    for number in range(12):
        await world.put(HOME, f"k{number}", {"memory": f"Read book {number}"})
    await world.put(HOME, "tea", {"memory": "Would rather drink 乌龙茶 than coffee"})
    model = ScriptedModel()
    middleware = MemoryMiddleware(preload=3, tools=False)
    agent = create_agent(model, middleware=[middleware], store=world.store)
    await world.run(agent)
    assert "乌龙茶" in systems(model.asked[0])[0]


async def test_a_preload_node_reads_the_store_of_its_graph(world):
    await world.put(HOME, "k", {"memory": TEA})
    seen = []

    def chat(state: PreloadState) -> dict:
        seen.append(state["memories"])
        return {"messages": [AIMessage("ok")]}

    graph = StateGraph(PreloadState)
    graph.add_node("load", PreloadMemories())
    graph.add_node("chat", chat)
    graph.add_edge(START, "load")
    graph.add_edge("load", "chat")
    await world.run(graph.compile(store=world.store))
    assert TEA in seen[0]


async def test_a_wrapped_model_reads_the_store_of_its_graph(world):
    await world.put(HOME, "k", {"memory": TEA})
    model = ScriptedModel()
    wrapped = PreloadMemories().wrap(model)
    graph = StateGraph(MessagesState)

    def chat(state: MessagesState) -> dict:
        return {"messages": wrapped.invoke(state["messages"])}

    async def achat(state: MessagesState) -> dict:
        return {"messages": await wrapped.ainvoke(state["messages"])}

    graph.add_node("chat", chat if world.how == "invoke" else achat)
    graph.add_edge(START, "chat")
    await world.run(graph.compile(store=world.store))
    assert TEA in systems(model.asked[0])[0]


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
async def test_a_pre_model_hook_reads_the_store_of_its_agent(world):
    await world.put(HOME, "k", {"memory": TEA})
    model = ScriptedModel()
    hook = PreloadMemories(output_key="llm_input_messages")
    agent = create_react_agent(model, [], pre_model_hook=hook, store=world.store)
    await world.run(agent)
    assert TEA in systems(model.asked[0])[0]


async def test_tools_alone_use_the_store_of_their_graph(world):
    tools = build_tools(["memory_add", "memory_search"], wrap=as_memory_store)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    compiled = graph.compile(store=world.store)
    await world.run(compiled, {"messages": [ADD]})
    await world.put(HOME, "k", {"memory": "Owns a kite"})
    search = calls("memory_search", query="what does she own?")
    answer = (await world.run(compiled, {"messages": [search]}))["messages"][-1]
    assert {entry.memory for entry in answer.artifact} == {"Owns a cat", "Owns a kite"}
    (item, *_) = [i for i in await world.search("memories") if i.key != "k"]
    assert item.value["memory"] == "Owns a cat"


async def test_the_functional_api_has_memories_too(world):
    await world.put(HOME, "k", {"memory": TEA})
    model = ScriptedModel()
    wrapped = PreloadMemories().wrap(model)

    if world.how == "invoke":

        @entrypoint(store=world.store)
        def flow(question: str) -> str:
            return wrapped.invoke([HumanMessage(question)]).content

    else:

        @entrypoint(store=world.store)
        async def flow(question: str) -> str:
            return (await wrapped.ainvoke([HumanMessage(question)])).content

    assert await world.run(flow, "tea?") == "all done"
    assert TEA in systems(model.asked[0])[0]


async def test_users_of_one_store_stay_strangers(world):
    await world.put(HOME, "k", {"memory": TEA})
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware()], store=world.store)
    await world.run(agent, config={"configurable": {"user_id": "bob"}})
    assert TEA not in str(model.asked[0])


async def test_what_is_internal_stays_out_of_the_memories_of_plain_code(world):
    agent = create_agent(
        ScriptedModel(script=[ADD]),
        middleware=[MemoryMiddleware()],
        store=world.store,
    )
    await world.run(agent)
    everything = await world.search()
    roots = {item.namespace[0] for item in everything}
    assert roots == {"memories", "agentmemory_internal"}
    (memory,) = await world.search("memories")
    assert set(memory.value) == {
        *("memory", "topics", "kind", "event_time", "participants", "location")
    }
