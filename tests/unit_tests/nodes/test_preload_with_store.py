"""Preload with the real `MemoryStore`, on both engines."""

import logging
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from langchain_agentmemory import (
    MemoryMiddleware,
    MemoryReader,
    MemoryStore,
    PreloadMemories,
    UserKey,
)
from tests.unit_tests.nodes.doubles import (
    ScriptedModel,
    calls,
    everything_saved,
    systems,
)

ALICE = {"configurable": {"user_id": "alice", "thread_id": "1"}}
TEA = "Likes oolong tea"


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    urls = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path / 'm.db'}"}
    with MemoryStore.from_url(urls[request.param], app_name="shop") as opened:
        yield opened


async def ask(agent: Any, question: str, how: str) -> Any:
    given = {"messages": [HumanMessage(question)]}
    if how == "invoke":
        return agent.invoke(given, ALICE)
    with blockbuster_ctx():
        return await agent.ainvoke(given, ALICE)


def test_a_memory_store_is_a_reader(store):
    assert isinstance(store, MemoryReader)


def test_few_are_all_shown_newest_first_with_their_details(store):
    store.add_memory("alice", TEA, topics=["drinks"])
    hike = store.add_memory(
        "alice",
        "Hiked Mount Fuji",
        kind="episode",
        event_time="2026-03",
        participants=["Ben", "Aki"],
        location="Japan",
    )
    first, second = [
        line
        for line in PreloadMemories(store).render("alice").splitlines()
        if line.startswith("- [")
    ]
    details = "(kind=episode; date=2026-03; with=Aki, Ben; at=Japan)"
    assert first == f"- [{hike.id}] Hiked Mount Fuji {details}"
    assert second.endswith(f"{TEA} (kind=fact)")


@pytest.mark.parametrize(
    ("question", "found"),
    [("Which tea do I like?", TEA), ("我喜欢喝什么茶？", "用户喜欢喝龙井茶")],
)
async def test_of_many_those_that_fit_are_shown(store, question, found):
    for text in [TEA, "用户喜欢喝龙井茶", *(f"Owns bicycle {i}" for i in range(9))]:
        store.add_memory("alice", text)
    preload = PreloadMemories(store, limit=3)
    block = preload.render("alice", question)
    assert found in block
    assert "bicycle 0" not in block
    with blockbuster_ctx():
        assert await preload.arender("alice", question) == block


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_an_agent_remembers_across_threads_and_forgets_at_once(store, how):
    entry = store.add_memory(UserKey("shop", "alice"), TEA)
    model, saver = (
        ScriptedModel(script=[calls("memory_delete", memory_id=entry.id)]),
        InMemorySaver(),
    )
    agent = create_agent(
        model,
        tools=store.tools(enable=["memory_delete"]),
        middleware=[MemoryMiddleware(store)],
        checkpointer=saver,
    )
    result = await ask(agent, "Forget my tea.", how)
    assert result["messages"][-1].content == "all done"
    assert [TEA in str(systems(asked)) for asked in model.asked] == [True, False]
    assert len(model.bound[0]) == len(set(model.bound[0]))
    assert {"memory_delete", "memory_search"} <= set(model.bound[0])
    assert TEA.encode() not in everything_saved(saver)


async def test_no_one_sees_the_memories_of_another(store):
    store.add_memory("alice", TEA)
    store.add_memory(UserKey("other", "bob"), TEA)
    assert PreloadMemories(store).render("bob") == ""
    assert PreloadMemories(store, limit=-1).render("ALICE") == ""


async def test_without_a_store_the_memory_store_of_the_run_is_used(store):
    store.add_memory("alice", TEA)
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware()], store=store)
    for how in ("invoke", "ainvoke"):
        await ask(agent, "tea?", how)
    assert all(TEA in systems(asked)[0] for asked in model.asked)


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_any_other_store_of_the_run_is_used_as_a_memory_store(how):
    plain = InMemoryStore()
    plain.put(UserKey("default", "alice").namespace, "k", {"memory": TEA})
    model = ScriptedModel(script=[calls("memory_add", memory="Owns a cat")])
    agent = create_agent(model, middleware=[MemoryMiddleware()], store=plain)
    await ask(agent, "tea?", how)
    assert all(TEA in systems(asked)[0] for asked in model.asked)
    assert "Owns a cat" in systems(model.asked[1])[0]
    assert "Owns a cat" in PreloadMemories(plain).render("alice")


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_closed_store_never_fails_the_turn(store, how, caplog):
    store.add_memory("alice", TEA)
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware(store)])
    store.close()
    with caplog.at_level(logging.WARNING):
        result = await ask(agent, "tea?", how)
    assert result["messages"][-1].content == "all done"
    assert "could not be read" in caplog.text
