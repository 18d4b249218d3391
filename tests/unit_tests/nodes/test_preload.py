"""The preload node, hook, model wrapper and function, in real graphs."""

import logging
import operator
import threading
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from langchain_agentmemory import PreloadMemories, UserKey
from langchain_agentmemory.errors import InvalidInput, UserNotResolved
from langchain_agentmemory.nodes.model_input import NOT_SAVED
from langchain_agentmemory.nodes.preload import PreloadedBlock, PreloadState
from langchain_agentmemory.nodes.rendering import BEGIN
from langchain_agentmemory.nodes.rendering import END as BLOCK_END
from tests.unit_tests.nodes.doubles import (
    Broken,
    Reader,
    ScriptedModel,
    SyncReader,
    calls,
    entry,
    everything_saved,
    systems,
)

ALICE = {"configurable": {"user_id": "alice", "thread_id": "1"}}
HELLO = {"messages": [HumanMessage("What should I drink?")]}
TEA = "likes oolong tea"


@dataclass
class Context:
    user_id: str


@tool
def approve(what: str) -> str:
    """Ask a human."""
    return f"the human said {interrupt(what)}"


@tool
def look(what: str) -> str:
    """Look at something."""
    return f"saw {what}"


def chat_graph(model: Any, preload: PreloadMemories, **options: Any) -> Any:
    def chat(state: PreloadState) -> dict:
        messages = [SystemMessage(state["memories"] or "none"), *state["messages"]]
        return {"messages": model.invoke(messages)}

    graph = StateGraph(PreloadState, context_schema=Context)
    graph.add_node("load", preload)
    graph.add_node("chat", chat)
    graph.add_edge(START, "load")
    graph.add_edge("load", "chat")
    return graph.compile(**options)


def react(model: Any, preload: PreloadMemories, tools: Any = (), **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # upstream deprecates create_react_agent
        return create_react_agent(model, list(tools), pre_model_hook=preload, **options)


def hook(reader: Any, **options: Any) -> PreloadMemories:
    return PreloadMemories(reader, output_key="llm_input_messages", **options)


async def run(graph: Any, given: Any, config: Any, how: str, **options: Any) -> Any:
    """Run a graph to its end, sync or async, streamed or not."""
    if how == "invoke":
        return graph.invoke(given, config, **options)
    if how == "stream":
        *_, last = graph.stream(given, config, stream_mode="values", **options)
        return last
    with blockbuster_ctx():
        if how == "ainvoke":
            return await graph.ainvoke(given, config, **options)
        async for state in graph.astream(
            given, config, stream_mode="values", **options
        ):
            last = state
        return last


WAYS = ["invoke", "ainvoke", "stream", "astream"]


# --- the graph node ---------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
async def test_the_node_gives_later_nodes_the_block(how):
    model, saver = ScriptedModel(), InMemorySaver()
    graph = chat_graph(model, PreloadMemories(Reader(TEA)), checkpointer=saver)
    result = await run(graph, HELLO, ALICE, how)
    (block,) = systems(model.asked[0])
    assert f"- [id-likes oolong] {TEA} (kind=fact)" in block
    assert [m.type for m in result["messages"]] == ["human", "ai"]
    assert TEA.encode() not in everything_saved(saver)


def test_a_key_that_is_tracked_would_be_saved():
    # The control of the tests around it: what they look for can be found.
    class State(MessagesState):
        memories: str

    saver = InMemorySaver()
    graph = StateGraph(State)
    graph.add_node("load", PreloadMemories(Reader(TEA)))
    graph.add_edge(START, "load")
    graph.compile(checkpointer=saver).invoke(HELLO, ALICE)
    assert TEA.encode() in everything_saved(saver)


def test_the_node_leaves_an_empty_text_when_there_is_nothing():
    model = ScriptedModel()
    chat_graph(model, PreloadMemories(Reader())).invoke(HELLO, ALICE)
    assert systems(model.asked[0]) == ["none"]


def test_the_node_searches_with_the_current_user_message():
    reader = Reader("a", "b", "c", found=[entry("c")])
    graph = chat_graph(ScriptedModel(), PreloadMemories(reader, limit=2))
    graph.invoke({"messages": [("user", "old"), ("ai", "ok"), ("user", "new")]}, ALICE)
    assert [query for query, _ in reader.searches] == ["new"]


def test_the_node_loads_anew_in_every_turn():
    reader, model = Reader(TEA), ScriptedModel()
    graph = chat_graph(model, PreloadMemories(reader), checkpointer=InMemorySaver())
    graph.invoke(HELLO, ALICE)
    reader.forget(TEA)
    graph.invoke(HELLO, ALICE)
    assert [TEA in systems(asked)[0] for asked in model.asked] == [True, False]


def test_after_an_interrupt_the_plain_node_has_lost_its_block():
    # Documented: use `.wrap(model)` in graphs that pause.
    def ask(state: PreloadState) -> dict:
        seen.append(state.get("memories", "gone"))
        interrupt("sure?")
        return {}

    seen: list[str] = []
    graph = StateGraph(PreloadState)
    graph.add_node("load", PreloadMemories(Reader(TEA)))
    graph.add_node("ask", ask)
    graph.add_edge(START, "load")
    graph.add_edge("load", "ask")
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke(HELLO, ALICE)
    compiled.invoke(Command(resume=True), ALICE)
    assert TEA in seen[0]
    assert seen[1] == "gone"


def test_parallel_branches_may_load_into_one_key():
    class State(PreloadState):
        seen: Annotated[list[str], operator.add]

    graph = StateGraph(State)
    reader = Reader(TEA)
    for branch in "ab":
        graph.add_node(f"load_{branch}", PreloadMemories(reader))
        graph.add_edge(START, f"load_{branch}")
        graph.add_edge(f"load_{branch}", "show")
    graph.add_node("show", lambda state: {"seen": [state["memories"]]})
    (block,) = graph.compile().invoke(HELLO, ALICE)["seen"]
    assert TEA in block


@pytest.mark.parametrize("outer_state", [MessagesState, PreloadState])
def test_a_subgraph_loads_for_the_user_of_the_whole_run(outer_state):
    model, saver = ScriptedModel(), InMemorySaver()
    inner = chat_graph(model, PreloadMemories(Reader(TEA)))
    outer = StateGraph(outer_state, context_schema=Context)
    outer.add_node("agent", inner)
    outer.add_edge(START, "agent")
    graph = outer.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}}
    result = graph.invoke(HELLO, config, context=Context("alice"))
    assert TEA in systems(model.asked[0])[0]
    assert [m.type for m in result["messages"]] == ["human", "ai"]
    assert TEA.encode() not in everything_saved(saver)


def test_states_that_are_objects_have_messages_too():
    @dataclass
    class Data:
        messages: list
        memories: PreloadedBlock = ""

    class Model(BaseModel):
        messages: list
        memories: PreloadedBlock = ""

    for schema in (Data, Model):
        graph = StateGraph(schema)
        graph.add_node("load", PreloadMemories(Reader(TEA)))
        graph.add_edge(START, "load")
        assert TEA in graph.compile().invoke(HELLO, ALICE)["memories"]


def test_another_node_may_call_it_as_a_function():
    preload = PreloadMemories(Reader(TEA))

    def load(state: PreloadState) -> dict:
        return {"memories": preload(state)["memories"].upper()}

    graph = StateGraph(PreloadState)
    graph.add_node("load", load)
    graph.add_edge(START, "load")
    assert TEA.upper() in graph.compile().invoke(HELLO, ALICE)["memories"]


def test_a_key_of_another_name_can_be_written():
    class State(MessagesState):
        known: PreloadedBlock

    graph = StateGraph(State)
    graph.add_node("load", PreloadMemories(Reader(TEA), output_key="known"))
    graph.add_edge(START, "load")
    assert TEA in graph.compile().invoke(HELLO, ALICE)["known"]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_the_functional_api_finds_the_user_and_the_store_of_the_run(how):
    model, saver = ScriptedModel(), InMemorySaver()
    preload = PreloadMemories(Reader(TEA))

    if how == "invoke":

        @task
        def load(messages: list) -> str:
            return preload.invoke(messages)["memories"]

        @entrypoint(checkpointer=saver)
        def workflow(question: str) -> str:
            messages = [HumanMessage(question)]
            block = load(messages).result()
            answer = preload.wrap(model).invoke(messages)
            return f"{answer.content} {TEA in block}"

        assert workflow.invoke("tea?", ALICE) == "all done True"
    else:

        @entrypoint(checkpointer=saver)
        async def aworkflow(question: str) -> str:
            messages = [HumanMessage(question)]
            block = (await preload.ainvoke(messages))["memories"]
            answer = await preload.wrap(model).ainvoke(messages)
            return f"{answer.content} {TEA in block}"

        assert await aworkflow.ainvoke("tea?", ALICE) == "all done True"
    assert TEA in systems(model.asked[0])[0]


# --- the hook ---------------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("mode", ["system", "user"])
async def test_the_hook_is_in_no_history_and_no_checkpoint(how, mode, caplog):
    model, saver = ScriptedModel(script=[calls("look", what="tea")]), InMemorySaver()
    agent = react(model, hook(Reader(TEA), mode=mode), [look], checkpointer=saver)
    result = await run(agent, HELLO, ALICE, how)
    assert len(model.asked) == 2
    for asked in model.asked:
        assert sum(TEA in str(m.content) for m in asked) == 1
    assert TEA not in str(result["messages"])
    assert TEA.encode() not in everything_saved(saver)
    assert all(TEA not in str(state) for state in agent.get_state_history(ALICE))
    assert "unregistered type" not in caplog.text  # saved as ordinary messages


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("how", WAYS)
async def test_the_hook_gives_the_memories_again_after_a_human_answered(how, version):
    model, saver = ScriptedModel(script=[calls("approve", what="x")]), InMemorySaver()
    agent = react(
        model, hook(Reader(TEA)), [approve], checkpointer=saver, version=version
    )
    await run(agent, HELLO, ALICE, how)
    result = await run(agent, Command(resume="yes"), ALICE, how)
    assert result["messages"][-1].content == "all done"
    assert [TEA in systems(asked)[0] for asked in model.asked] == [True, True]
    assert TEA.encode() not in everything_saved(saver)


@pytest.mark.parametrize(
    "prompt", ["Be brief.", SystemMessage("Be brief."), SystemMessage(["Be brief."])]
)
def test_the_prompt_of_the_agent_and_the_memories_are_one_system_message(prompt):
    model, saver = ScriptedModel(), InMemorySaver()
    agent = react(model, hook(Reader(TEA)), prompt=prompt, checkpointer=saver)
    agent.invoke(HELLO, ALICE)
    (text,) = systems(model.asked[0])
    assert text.startswith("Be brief.\n\n")
    assert text.endswith(BLOCK_END)
    assert TEA.encode() not in everything_saved(saver)


def test_the_hook_merges_into_a_system_message_of_the_history():
    model = ScriptedModel()
    given = {"messages": [SystemMessage("Be kind."), *HELLO["messages"]]}
    result = react(model, hook(Reader(TEA)), prompt="Be brief.").invoke(given, ALICE)
    (text,) = systems(model.asked[0])
    assert text.startswith("Be brief.\n\nBe kind.\n\n")
    assert systems(result["messages"]) == ["Be kind."]


def test_the_hook_forgets_within_the_turn():
    reader = Reader(TEA)

    @tool
    def forget() -> str:
        """Forget it."""
        reader.forget(TEA)
        return "forgotten"

    model = ScriptedModel(script=[calls("forget")])
    agent = react(model, hook(reader), [forget], checkpointer=InMemorySaver())
    agent.invoke(HELLO, ALICE)
    assert [TEA in str(asked) for asked in model.asked] == [True, False]


@pytest.mark.parametrize("mode", ["system", "user"])
def test_a_pause_between_hook_and_model_costs_the_memories_and_nothing_else(mode):
    # Documented: what is in no checkpoint cannot come back from one.
    model = ScriptedModel()
    agent = react(
        model,
        hook(Reader(TEA), mode=mode),
        checkpointer=InMemorySaver(),
        interrupt_before=["agent"],
    )
    agent.invoke(HELLO, ALICE)
    agent.invoke(None, ALICE)
    expected = [NOT_SAVED] if mode == "system" else []
    assert systems(model.asked[0]) == expected
    assert model.asked[0][-1].content == "What should I drink?"


# --- around a model ---------------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
async def test_the_wrapped_model_survives_an_interrupt_in_a_plain_graph(how):
    model, saver = ScriptedModel(script=[calls("approve", what="x")]), InMemorySaver()
    wrapped = PreloadMemories(Reader(TEA)).wrap(model.bind_tools([approve]))

    def chat(state: MessagesState) -> dict:
        return {"messages": wrapped.invoke(state["messages"])}

    async def achat(state: MessagesState) -> dict:
        return {"messages": await wrapped.ainvoke(state["messages"])}

    graph = StateGraph(MessagesState)
    graph.add_node("chat", achat if how.startswith("a") else chat)
    graph.add_node("tools", ToolNode([approve]))
    graph.add_edge(START, "chat")
    graph.add_conditional_edges("chat", tools_condition)
    graph.add_edge("tools", "chat")
    compiled = graph.compile(checkpointer=saver)
    await run(compiled, HELLO, ALICE, how)
    result = await run(compiled, Command(resume="yes"), ALICE, how)
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]
    assert [TEA in systems(asked)[0] for asked in model.asked] == [True, True]
    assert TEA.encode() not in everything_saved(saver)


async def test_the_wrapped_model_streams():
    model = ScriptedModel(script=[AIMessage("drink oolong"), AIMessage("or puer")])
    wrapped = PreloadMemories(Reader(TEA)).wrap(model)
    assert [c.content for c in wrapped.stream("tea?", ALICE)][:2] == ["drink", "oolong"]
    with blockbuster_ctx():
        chunks = [c.content async for c in wrapped.astream("tea?", ALICE)]
    assert chunks[:2] == ["or", "puer"]
    assert all(TEA in systems(asked)[0] for asked in model.asked)


def test_the_wrapped_model_streams_its_tokens_through_a_graph():
    model = ScriptedModel(script=[AIMessage("drink oolong")])
    wrapped = PreloadMemories(Reader(TEA)).wrap(model)
    graph = StateGraph(MessagesState)
    graph.add_node("chat", lambda s: {"messages": wrapped.invoke(s["messages"])})
    graph.add_edge(START, "chat")
    stream = graph.compile().stream(HELLO, ALICE, stream_mode="messages")
    assert [chunk.content for chunk, _ in stream][:2] == ["drink", "oolong"]


def test_tools_can_be_bound_after_wrapping_and_a_prompt_is_merged():
    model = ScriptedModel(script=[calls("look", what="tea")])
    wrapped = PreloadMemories(Reader(TEA)).wrap(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = create_react_agent(wrapped, [look], prompt="Be brief.")
    result = agent.invoke(HELLO, ALICE)
    assert model.bound == [["look"]]
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]
    for asked in model.asked:
        (text,) = systems(asked)
        assert text.startswith("Be brief.")
        assert TEA in text


def test_the_wrapped_model_takes_part_in_chains():
    model = ScriptedModel()
    prompt = ChatPromptTemplate([("system", "Be brief."), ("user", "{question}")])
    chain = prompt | PreloadMemories(Reader(TEA)).wrap(model) | StrOutputParser()
    assert chain.invoke({"question": "tea?"}, ALICE) == "all done"
    assert chain.batch([{"question": "tea?"}] * 2, ALICE) == ["all done"] * 2
    assert systems(model.asked[0])[0].startswith("Be brief.\n\n")


def test_in_user_mode_the_system_message_stays_as_it_is():
    model = ScriptedModel()
    wrapped = PreloadMemories(Reader(TEA), mode="user").wrap(model)
    wrapped.invoke([("system", "Be brief."), ("user", "tea?")], ALICE)
    system, human = model.asked[0]
    assert system.content == "Be brief."
    assert TEA in human.content
    assert human.content.endswith(f"{BLOCK_END}\n\ntea?")


# --- the plain function -----------------------------------------------------------


@pytest.mark.parametrize("user", ["alice", UserKey("default", "alice")])
@pytest.mark.parametrize("given", ["tea?", [HumanMessage("tea?")], HELLO, ""])
async def test_the_block_can_be_had_as_a_text(user, given):
    reader = Reader(TEA)
    preload = PreloadMemories(reader)
    block = preload.render(user, given)
    assert BEGIN in block
    assert TEA in block
    assert await preload.arender(user, given) == block
    assert set(reader.users) == {UserKey("default", "alice")}


def test_a_text_is_searched_for():
    reader = Reader("a", "b", found=[entry("b")])
    block = PreloadMemories(reader, limit=1).render("alice", "what is b?")
    assert [query for query, _ in reader.searches] == ["what is b?"]
    assert "] b (" in block


async def test_what_shows_its_block_once_reads_no_revision():
    class Counting(Reader):
        def revision(self, user: Any) -> int:
            asked_for.append(user)
            return super().revision(user)

    asked_for: list[Any] = []
    preload, model = PreloadMemories(Counting(TEA), user="alice"), ScriptedModel()
    assert TEA in preload.invoke(HELLO)["memories"]
    assert TEA in (await preload.ainvoke(HELLO))["memories"]
    preload.wrap(model).invoke("hi")
    await preload.wrap(model).ainvoke("hi")
    assert [TEA in systems(asked)[0] for asked in model.asked] == [True, True]
    assert not asked_for


def test_no_memories_are_an_empty_text():
    assert PreloadMemories(Reader()).render("alice", "tea?") == ""


def test_the_playbook_can_be_replaced():
    block = PreloadMemories(Reader(TEA), playbook="Mind this:").render("alice")
    assert block.startswith("Mind this:\n")


# --- who, where and when ----------------------------------------------------------


@pytest.mark.parametrize(
    "preload",
    [
        lambda: PreloadMemories(Reader(TEA)),
        lambda: hook(Reader(TEA)),
    ],
)
async def test_nobody_named_is_an_error_that_is_seen(preload):
    with pytest.raises(UserNotResolved):
        preload().invoke(HELLO)
    with pytest.raises(UserNotResolved):
        await preload().ainvoke(HELLO)
    with pytest.raises(UserNotResolved):
        preload().wrap(ScriptedModel()).invoke("hi")


def test_an_empty_user_is_refused():
    with pytest.raises(InvalidInput):
        PreloadMemories(Reader(TEA)).render("", "tea?")


def test_a_user_can_be_fixed_or_computed():
    reader = Reader(TEA)
    PreloadMemories(reader, user=7).invoke(HELLO)
    PreloadMemories(reader, user=lambda _: "bob").invoke(HELLO)
    assert reader.users == [UserKey("default", "7"), UserKey("default", "bob")]


def test_a_plain_id_means_a_user_of_the_application_of_the_store():
    reader = Reader(TEA)
    reader.app_name = "shop"
    PreloadMemories(reader).invoke(HELLO, ALICE)
    assert reader.users == [UserKey("shop", "alice")]


def test_without_a_store_that_of_the_run_is_used():
    class RunStore(Reader):
        """Stands in for a memory store that a graph was compiled with."""

    model = ScriptedModel()
    graph = chat_graph(model, PreloadMemories(), store=RunStore(TEA))
    graph.invoke(HELLO, {"configurable": {"thread_id": "1"}}, context=Context("alice"))
    assert TEA in systems(model.asked[0])[0]


def test_no_store_anywhere_is_an_error_that_says_what_to_do():
    with pytest.raises(InvalidInput, match="compile the graph with `store=`"):
        PreloadMemories().invoke(HELLO, ALICE)


def test_a_config_that_was_carried_to_another_thread_names_user_and_store():
    def load(_: Any, config: RunnableConfig) -> dict:
        found: list[dict] = []
        thread = threading.Thread(
            target=lambda: found.append(PreloadMemories().invoke(HELLO, config))
        )
        thread.start()
        thread.join()
        return {"memories": found[0]["memories"]}

    graph = StateGraph(PreloadState)
    graph.add_node("load", load)
    graph.add_edge(START, "load")
    graph.add_edge("load", END)
    result = graph.compile(store=Reader(TEA)).invoke(HELLO, ALICE)
    assert TEA in result["memories"]


async def test_switched_off_it_asks_for_nothing_at_all():
    preload = PreloadMemories(limit=0)
    assert preload.invoke(HELLO) == {"memories": ""}
    assert await preload.ainvoke(HELLO) == {"memories": ""}
    off = hook(None, limit=0).invoke(HELLO)
    assert off == {"llm_input_messages": HELLO["messages"]}


async def test_the_gate_sees_state_and_runtime_and_can_close():
    seen: list[tuple[Any, Any]] = []

    def gate(state: Any, runtime: Any) -> bool:
        seen.append((state, runtime))
        return False

    reader, model = Reader(TEA), ScriptedModel()
    graph = chat_graph(model, PreloadMemories(reader, when=gate))
    graph.invoke(HELLO, ALICE, context=Context("alice"))
    ((state, runtime),) = seen
    assert state["messages"][0].content == "What should I drink?"
    assert runtime.context == Context("alice")
    assert systems(model.asked[0]) == ["none"]
    assert await PreloadMemories(reader, when=gate).ainvoke(HELLO) == {"memories": ""}
    assert reader.reads == []


async def test_a_gate_that_raises_costs_the_turn_its_memories_only(caplog):
    def gate(state: Any, runtime: Any) -> bool:
        raise Broken

    preload = PreloadMemories(Reader(TEA), when=gate, user="alice")
    assert preload.invoke(HELLO) == {"memories": ""}
    assert await preload.ainvoke(HELLO) == {"memories": ""}
    assert caplog.text.count("The gate when= failed") == 2
    model = ScriptedModel()
    await preload.wrap(model).ainvoke(HELLO["messages"])
    assert len(model.asked) == 1


class Careless(MessagesState):
    memories: str


@pytest.mark.parametrize("state", [Careless, PreloadState])
@pytest.mark.parametrize("saver", [None, InMemorySaver()])
def test_memories_that_would_be_saved_are_warned_of_once(state, saver, caplog):
    builder = StateGraph(state)
    builder.add_node("load", PreloadMemories(Reader(TEA)))
    builder.add_edge(START, "load")
    graph = builder.compile(checkpointer=saver)
    for thread in ("1", "2"):
        graph.invoke(HELLO, {"configurable": {"user_id": "alice", "thread_id": thread}})
    careless = state is Careless and saver is not None
    assert caplog.text.count("annotate it as memories") == int(careless)


@pytest.mark.parametrize("options", [
    {"playbook": 5}, {"output_key": ""}, {"output_key": None}, {"mode": "System"},
    {"limit": "10"}, {"when": "always"},
])  # fmt: skip
def test_options_that_cannot_be_used_are_refused(options):
    with pytest.raises(InvalidInput):
        PreloadMemories(Reader(TEA), **options)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("found", [None, Broken])
async def test_a_broken_reader_never_fails_the_turn(how, found, caplog):
    reader = Reader("a", "b", found=found)
    reader.broken_reads = {1, 2, 3, 4}
    model = ScriptedModel()
    graph = chat_graph(model, PreloadMemories(reader, limit=1))
    with caplog.at_level(logging.WARNING):
        result = await run(graph, HELLO, ALICE, how)
    assert result["messages"][-1].content == "all done"
    assert "could not be read" in caplog.text


@pytest.mark.parametrize("how", ["ainvoke", "astream"])
async def test_a_reader_without_async_methods_never_blocks_the_loop(how):
    class SlowReader(SyncReader):
        def read_memories(self, user: Any, limit: int | None = None) -> list:
            assert threading.current_thread() is not threading.main_thread()
            return super().read_memories(user, limit)

    model = ScriptedModel()
    graph = chat_graph(model, PreloadMemories(SlowReader(TEA)))
    await run(graph, HELLO, ALICE, how)
    assert TEA in systems(model.asked[0])[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "both"}, 'mode must be "system" or "user"'),
        ({"limit": "ten"}, "must be an integer"),
        ({"limit": True}, "must be an integer"),
        ({"when": "always"}, "when must be a plain function"),
        ({"user": ""}, "user_id is required"),
    ],
)
def test_options_that_cannot_be_used_are_refused_at_once(options, message):
    with pytest.raises(InvalidInput, match=message):
        PreloadMemories(Reader(), **options)


def test_a_gate_that_is_a_coroutine_is_refused():
    async def gate(state: Any, runtime: Any) -> bool:
        return True

    with pytest.raises(InvalidInput, match="plain function"):
        PreloadMemories(Reader(), when=gate)
