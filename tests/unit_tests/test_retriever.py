"""The retriever: one user's memories as documents, and nobody else's."""

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.load import dumps
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langchain_agentmemory import MemoryStore, SearchOptions, Source, UserKey
from langchain_agentmemory.errors import InvalidInput, UserNotResolved
from langchain_agentmemory.retriever import MemoryRetriever
from langchain_agentmemory.users import UserResolver


@pytest.fixture
def store():
    store = MemoryStore()
    for user in ("ann", "bob"):
        for drink in ("tea", "green tea", "tea with milk"):
            store.add_memory(user, f"{drink} for {user}")
    return store


def texts(documents):
    return [document.page_content for document in documents]


def as_user(user, **more):
    return {"configurable": {"user_id": user, **more}}


@dataclass
class Context:
    user_id: str


def test_documents_are_memories():
    store = MemoryStore()
    moment = datetime(2024, 5, 7, 12, tzinfo=UTC)
    old = store.add_memory("ann", "Ann drinks coffee")
    entry = store.add_memory(
        "ann",
        "Ann drinks tea",
        topics=["drinks"],
        kind="episode",
        event_time=moment,
        participants=["Bo"],
        location="Riga",
        source=Source("t1", ("m1",), 3, "user", moment),
        supersedes=[old.id],
    )
    found = store.as_retriever("ann").invoke("tea")
    (document,) = [one for one in found if one.id == entry.id]
    assert document.page_content == "Ann drinks tea"
    assert json.loads(json.dumps(document.metadata)) == {
        "id": entry.id,
        "topics": ["drinks"],
        "kind": "episode",
        "event_time": "2024-05-07T12:00:00+00:00",
        "event_precision": "instant",
        "participants": ["Bo"],
        "location": "Riga",
        "created_at": entry.created_at.isoformat(),
        "updated_at": entry.updated_at.isoformat(),
        "score": document.metadata["score"],
        "source": {
            "thread_id": "t1",
            "message_ids": ["m1"],
            "position": 3,
            "role": "user",
            "said_at": "2024-05-07T12:00:00+00:00",
        },
        "supersedes": [old.id],
        "superseded_by": None,
    }
    assert 0 < document.metadata["score"] <= 1
    newer, older = store.as_retriever("ann").invoke("coffee", limit=2)
    assert newer.id == entry.id  # what holds now comes first, whichever words match
    assert older.metadata["superseded_by"] == entry.id


async def test_they_come_in_the_order_of_a_search(store, no_blocking):
    retriever = store.as_retriever("ann")
    expected = [e.memory for e in store.search_memories("ann", "tea with milk")]
    assert texts(retriever.invoke("tea with milk")) == expected
    assert texts(await retriever.ainvoke("tea with milk")) == expected
    assert texts(next(retriever.stream("tea with milk"))) == expected
    assert retriever.invoke("  ") == []


async def test_options_come_from_all_levels(store):
    options = SearchOptions(limit=2, deduplicate=True)
    retriever = store.as_retriever("ann", options=options, mode="lexical")
    assert retriever.options == SearchOptions(limit=2, deduplicate=True, mode="lexical")
    assert len(retriever.invoke("tea")) == 2
    assert len(retriever.invoke("tea", k=1)) == 1
    assert len(await retriever.ainvoke("tea", limit=3)) == 3
    assert len(retriever.bind(k=1).invoke("tea")) == 1
    assert len(store.as_retriever("ann", k=1).invoke("tea")) == 1
    best = store.as_retriever("ann", explain=True).invoke("tea")[0]
    assert best.metadata["explanation"]["mode"] == "lexical"
    json.dumps(best.metadata)


@pytest.mark.parametrize("wrong", [
    {"limit": -1}, {"colour": "red"}, {"options": 5}, {"limit": 1, "k": 1},
    {"mode": "vector"}, {"user": ""}, {"tags": 5},
])  # fmt: skip
def test_what_makes_no_sense_is_refused_at_once(store, wrong):
    with pytest.raises(InvalidInput):
        store.as_retriever(**wrong)


def test_so_it_is_in_a_call(store):
    with pytest.raises(InvalidInput, match="colour"):
        store.as_retriever("ann").invoke("tea", colour="red")
    with pytest.raises(InvalidInput, match="query"):
        store.as_retriever("ann").invoke(5)
    with pytest.raises(InvalidInput, match="MemoryReader"):
        MemoryRetriever(store=object())


async def test_the_user_of_a_run_is_named_in_its_config(store):
    retriever = store.as_retriever()
    for user in ("ann", "bob"):
        found = texts(retriever.invoke("tea", as_user(user)))
        later = texts(await retriever.ainvoke("tea", as_user(user)))
        assert found == later
        assert len(found) == 3
        assert all(text.endswith(user) for text in found)
    assert retriever.invoke("tea", as_user("ann", app_name="elsewhere")) == []


async def test_nobody_named_is_an_error(store):
    retriever = store.as_retriever()
    with pytest.raises(UserNotResolved):
        retriever.invoke("tea")
    with pytest.raises(UserNotResolved):
        await retriever.ainvoke("tea")
    with pytest.raises(UserNotResolved):
        retriever.invoke("tea", {"configurable": {}})


async def test_a_user_given_in_code_cannot_be_replaced(store):
    for user in ("ann", UserKey("default", "ann"), lambda _: "ann"):
        retriever = store.as_retriever(user)
        for config in (None, as_user("bob"), as_user("bob", app_name="default")):
            for found in (
                retriever.invoke("tea for bob", config),
                await retriever.ainvoke("bob tea", config, limit=None),
            ):
                assert found
                assert all(text.endswith("ann") for text in texts(found))
    for named in ({"user": "bob"}, {"user_id": "bob"}, {"store": store}):
        with pytest.raises(InvalidInput):
            store.as_retriever("ann").invoke("tea", **named)


def test_the_authenticated_user_cannot_be_contradicted(store):
    retriever = store.as_retriever()
    known = {"langgraph_auth_user": {"identity": "ann"}}
    found = retriever.invoke("tea", {"configurable": known})
    assert all(text.endswith("ann") for text in texts(found))
    with pytest.raises(UserNotResolved, match="authenticated"):
        retriever.invoke("tea", as_user("bob", **known))
    trusting = store.as_retriever(UserResolver(trust_client_user=True))
    found = trusting.invoke("tea", as_user("bob", **known))
    assert all(text.endswith("bob") for text in texts(found))


async def test_a_config_cannot_forge_a_run(store):
    """What LangGraph keeps in a config is not believed where it is plain JSON."""
    forged = {"server_info": {"user": {"identity": "bob"}}}
    known = {"langgraph_auth_user": {"identity": "ann"}}
    config = {"configurable": {"__pregel_runtime": forged, **known}}
    for found in (
        store.as_retriever().invoke("tea", config),
        await store.as_retriever().ainvoke("tea", config),
        (store.as_retriever() | (lambda found: found)).invoke("tea", config),
    ):
        assert len(found) == 3
        assert all(text.endswith("ann") for text in texts(found))


async def test_many_users_at_once_stay_apart(store):
    retriever = store.as_retriever()
    users = ["ann", "bob"] * 20
    configs = [as_user(user) for user in users]
    for found in (
        retriever.batch(["tea"] * len(users), configs),
        await retriever.abatch(["tea"] * len(users), configs),
        await asyncio.gather(*(retriever.ainvoke("tea", c) for c in configs)),
    ):
        for user, documents in zip(users, found, strict=True):
            assert len(documents) == 3
            assert all(text.endswith(user) for text in texts(documents))


async def test_plain_ids_are_users_of_the_stores_application():
    store = MemoryStore(app_name="shop")
    store.add_memory("ann", "tea")
    assert store.as_retriever("ann").invoke("tea")
    assert store.as_retriever().invoke("tea", as_user("ann"))
    other = MemoryStore(store.backend, app_name="forum")
    assert other.as_retriever("ann").invoke("tea") == []


async def test_it_works_in_a_chain(store):
    chain = (
        {
            "memories": store.as_retriever(limit=1) | (lambda found: texts(found)[0]),
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{memories} / {question}")
        | (lambda prompt: prompt.to_messages()[0].content)
    )
    assert chain.invoke("green", as_user("bob")) == "green tea for bob / green"
    assert await chain.ainvoke("green", as_user("ann")) == "green tea for ann / green"


def graph_with(tool):
    graph = StateGraph(MessagesState, context_schema=Context)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "tools")
    return graph.compile()


def call(query):
    args = {"query": query}
    calls = [{"name": "memories", "args": args, "id": "1", "type": "tool_call"}]
    return {"messages": [AIMessage("", tool_calls=calls)]}


async def test_it_works_as_a_tool_in_a_graph(store, no_blocking):
    tool = create_retriever_tool(store.as_retriever(limit=1), "memories", "Look.")
    graph = graph_with(tool)
    asked = call("green tea for bob")
    assert tool.args.keys() == {"query"}
    for state in (
        graph.invoke(asked, context=Context("ann")),
        await graph.ainvoke(asked, context=Context("ann")),
        await graph.ainvoke(asked, as_user("ann")),
    ):
        assert state["messages"][-1].content == "green tea for ann"


async def test_it_works_as_a_node_and_inside_of_one(store):
    retriever = store.as_retriever(limit=1)

    async def look(state):
        return {"messages": [(await retriever.ainvoke("green"))[0].page_content]}

    def look_sync(state):
        return {"messages": [retriever.invoke("milk")[0].page_content]}

    graph = StateGraph(MessagesState, context_schema=Context)
    graph.add_node("async", look)
    graph.add_node("sync", look_sync)
    graph.add_node(
        "chain",
        (lambda _: "tea")
        | retriever
        | (lambda found: {"messages": [found[0].page_content]}),
    )
    graph.add_edge(START, "async")
    graph.add_edge("async", "sync")
    graph.add_edge("sync", "chain")
    state = await graph.compile().ainvoke({"messages": []}, context=Context("bob"))
    shown = [message.content for message in state["messages"]]
    assert shown == ["green tea for bob", "tea with milk for bob", "tea for bob"]


class Notes(BaseCallbackHandler):
    def __init__(self):
        self.seen = []

    def on_retriever_start(self, serialized, query, **kwargs):
        self.seen.append(query)

    def on_retriever_end(self, documents, **kwargs):
        self.seen.append(len(documents))

    def on_retriever_error(self, error, **kwargs):
        self.seen.append(type(error))


def test_callbacks_see_queries_results_and_errors(store):
    notes = Notes()
    config = {"callbacks": [notes]}
    store.as_retriever("ann", limit=2).invoke("tea", config)
    with pytest.raises(UserNotResolved):
        store.as_retriever().invoke("milk", config)
    assert notes.seen == ["tea", 2, "milk", UserNotResolved]


def test_it_shows_itself_without_store_or_user(store):
    retriever = store.as_retriever("ann@example.com", limit=3, tags=["memory"])
    assert "limit=3" in repr(retriever)
    for shown in (repr(retriever), str(retriever), dumps(retriever)):
        assert "example" not in shown
    assert json.loads(dumps(retriever))["id"][-1] == "MemoryRetriever"
    assert retriever.tags == ["memory"]
    assert retriever.get_name() == "MemoryRetriever"
    assert retriever.model_dump(mode="json")["options"]["limit"] == 3


def test_its_options_can_be_configured(store):
    retriever = store.as_retriever("ann").configurable_fields(
        options=ConfigurableField(id="options")
    )
    config = {"configurable": {"options": SearchOptions(limit=1)}}
    assert len(retriever.invoke("tea", config)) == 1
    assert len(retriever.invoke("tea")) == 3


def test_any_memory_reader_will_do(store):
    class Reader:
        app_name = "default"

        def read_memories(self, user, limit=None): ...
        async def aread_memories(self, user, limit=None): ...

        def search_memories(self, user, query, options=None, **overrides):
            return store.search_memories(user, query, options)

        async def asearch_memories(self, user, query, options=None, **overrides):
            return await store.asearch_memories(user, query, options)

    assert len(MemoryRetriever(Reader(), "ann", limit=2).invoke("tea")) == 2
