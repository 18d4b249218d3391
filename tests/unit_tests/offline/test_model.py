"""The offline model as a chat model."""

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_agentmemory.nodes.rendering import render_memories
from langchain_agentmemory.offline import OfflineChatModel


def calls(message):
    return [(call["name"], call["args"]) for call in message.tool_calls]


def remembering(store, *texts):
    for text in texts:
        store.add_memory("anna", text)
    return SystemMessage(render_memories(store.read_memories("anna")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "My name is Anna.",
            [("memory_add", {"memory": "My name is Anna.", "topics": ["name"]})],
        ),
        (
            "I visited the Louvre yesterday",
            [
                (
                    "memory_add",
                    {
                        "memory": "I visited the Louvre yesterday",
                        "memory_kind": "episode",
                        "event_time": "2024-05-09",
                    },
                )
            ],
        ),
        (
            "我叫小明，住在北京",
            [
                ("memory_add", {"memory": "我叫小明", "topics": ["名字"]}),
                ("memory_add", {"memory": "我住在北京", "topics": ["住址", "城市"]}),
            ],
        ),
        (
            "记住我昨天去了博物馆",
            [
                (
                    "memory_add",
                    {
                        "memory": "我昨天去了博物馆",
                        "memory_kind": "episode",
                        "event_time": "2024-05-09",
                    },
                )
            ],
        ),
        (
            "I moved to Berlin",
            [("memory_search", {"query": "home city 住址 城市 moved Berlin"})],
        ),
        ("不是上海，是北京", [("memory_search", {"query": "上海"})]),
        ("Forget my name", [("memory_search", {"query": "name 名字"})]),
        ("忘记我的名字", [("memory_search", {"query": "名字 name"})]),
        (
            "When did I visit the museum?",
            [("memory_search", {"query": "visit museum"})],
        ),
        ("我喜欢什么？", [("memory_search", {"query": "喜欢 likes"})]),
        (
            "What did I do yesterday?",
            [
                (
                    "memory_search",
                    {
                        "query": "2024-05-09",
                        "time_after": "2024-05-09",
                        "time_before": "2024-05-09",
                    },
                )
            ],
        ),
        ("What do you know about me?", [("memory_load", {"limit": 10})]),
        ("Hello", []),
        ("谢谢", []),
        ("Write a poem", []),
    ],
)
def test_what_is_said_first_leads_to_these_calls(model, tools, text, expected):
    assert calls(model.bind_tools(tools).invoke(text)) == expected


def test_a_new_home_updates_the_preloaded_one(model, tools, store):
    system = remembering(store, "I live in Paris")
    (known,) = store.read_memories("anna")
    answer = model.bind_tools(tools).invoke([system, HumanMessage("I live in Rome")])
    assert calls(answer) == [
        (
            "memory_update",
            {"memory_id": known.id, "memory": "I live in Rome"}
            | {"topics": ["home", "city"]},
        )
    ]
    assert "I live in Paris" in answer.text


def test_a_second_taste_stands_beside_the_first(model, tools, store):
    system = remembering(store, "I like tea")
    answer = model.bind_tools(tools).invoke([system, HumanMessage("I like jazz")])
    assert [name for name, _ in calls(answer)] == ["memory_add"]


@pytest.mark.parametrize(
    ("memory", "question", "answer"),
    [
        ("I moved to Rome", "Where do I live?", 'You told me: "I moved to Rome"'),
        ("我叫小明", "我是谁？", "你说过：「我叫小明」"),
        ("My name is Anna", "我叫什么？", "你说过：「My name is Anna」"),
        (
            "Caroline: I painted a lake",
            "Who painted a lake?",
            'In memory: "Caroline: I painted a lake"',
        ),
    ],
)
def test_preloaded_memories_answer_without_a_call(  # noqa: PLR0913, PLR0917
    model, tools, store, memory, question, answer
):
    system = remembering(store, memory)
    reply = model.bind_tools(tools).invoke([system, HumanMessage(question)])
    assert (reply.tool_calls, reply.text) == ([], answer)


def test_memories_before_the_user_message_are_not_taken_for_what_the_user_said(
    model, tools, store
):
    block = remembering(store, "I live in Paris").text
    reply = model.bind_tools(tools).invoke(f"{block}\n\nWhere do I live?")
    assert reply.text == 'You told me: "I live in Paris"'


def test_an_answer_carries_the_date_of_what_happened(model, store):
    store.add_memory("anna", "I visited the Louvre", event_time="2024-05-09")
    system = SystemMessage(render_memories(store.read_memories("anna")))
    reply = model.invoke([system, HumanMessage("When did I visit the Louvre?")])
    assert reply.text == 'You told me: "I visited the Louvre" (2024-05-09)'


def test_a_replaced_memory_does_not_answer(model, store):
    old = store.add_memory("anna", "I live in Paris")
    store.add_memory("anna", "I live in Rome", supersedes=[old.id])
    system = SystemMessage(render_memories(store.read_memories("anna")))
    reply = model.invoke([system, HumanMessage("Where do I live?")])
    assert reply.text == 'You told me: "I live in Rome"'


def test_a_memory_that_only_touches_the_question_is_not_passed_off_as_the_answer(
    model, store
):
    system = remembering(store, "My favorite color is blue")
    reply = model.invoke([system, HumanMessage("What is my favorite food?")])
    assert reply.text.startswith("I don't have exactly that in memory.")


def test_a_memory_about_something_else_does_not_answer_by_its_words(model, store):
    system = remembering(store, "I live in Rome")
    reply = model.invoke([system, HumanMessage("What do I do for a living?")])
    assert not reply.text.startswith("You told me")


def test_what_one_cannot_eat_includes_allergies(model, store):
    system = remembering(store, "我对海鲜过敏", "我不吃牛肉")
    reply = model.invoke([system, HumanMessage("我不能吃什么？")])
    assert "海鲜" in reply.text
    assert "牛肉" in reply.text


@pytest.mark.parametrize(
    ("question", "words"),
    [("What's the capital of France?", "found nothing"), ("首都在哪？", "没有找到")],
)
def test_it_admits_that_nothing_is_known(model, question, words):
    assert words in model.invoke(question).text


@pytest.mark.parametrize(
    ("question", "words"), [("Who are you?", "offline"), ("你是谁？", "离线")]
)
def test_it_says_what_it_is(model, question, words):
    assert words in model.invoke(question).text


def test_without_tools_it_says_that_it_cannot_keep_anything(model):
    assert "memory_add" in model.invoke("My name is Anna").text


def test_without_a_delete_tool_it_says_how_to_delete(model, store):
    known = store.add_memory("anna", "My name is Anna")
    system = SystemMessage(render_memories([known]))
    reply = model.bind_tools([]).invoke([system, HumanMessage("Forget my name")])
    assert f'store.delete_memory(user, "{known.id}")' in reply.text


def test_a_failed_tool_is_reported_and_not_called_again(model, tools):
    bound = model.bind_tools(tools)
    said = HumanMessage("My name is Anna", id="1")
    call = bound.invoke([said])
    failed = ToolMessage(
        "The store is locked.", tool_call_id=call.tool_calls[0]["id"], status="error"
    )
    reply = bound.invoke([said, call, failed])
    assert reply.tool_calls == []
    assert "The store is locked." in reply.text


def test_it_stops_calling_when_no_results_come_back(model, tools):
    bound = model.bind_tools(tools)
    messages = [HumanMessage("I moved to Berlin. My name is Anna.")]
    for _ in range(4):
        reply = bound.invoke(messages)
        if not reply.tool_calls:
            break
        messages.append(reply)
    assert reply.text
    assert len(messages) <= 3


def test_a_pasted_page_does_not_become_hundreds_of_calls(model, tools):
    page = " ".join(f"I like tea number {i}." for i in range(300))
    assert len(model.bind_tools(tools).invoke(page).tool_calls) == 20


def test_streaming_gives_the_same_message_in_words(model, tools):
    bound = model.bind_tools(tools)
    for text in ("Who are you?", "你是谁？", "My name is Anna and I live in Rome"):
        chunks = list(bound.stream(text))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        direct = bound.invoke(text)
        assert isinstance(whole, AIMessageChunk)
        assert (whole.text, whole.tool_calls) == (direct.text, direct.tool_calls)
        assert whole.response_metadata == direct.response_metadata
    words = [chunk.text for chunk in model.stream("Who are you?") if chunk.text]
    assert len(words) > 20
    assert max(map(len, words)) < 30


async def test_async_gives_the_same(model, tools):
    bound = model.bind_tools(tools)
    direct = await bound.ainvoke("My name is Anna")
    streamed = [chunk async for chunk in bound.astream("My name is Anna")]
    assert direct.tool_calls == bound.invoke("My name is Anna").tool_calls
    assert streamed[-1].tool_calls == direct.tool_calls


def test_content_blocks_are_read_as_text(model, tools):
    message = HumanMessage(
        [
            {"type": "text", "text": "My name"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "text", "text": "I live in Rome"},
        ]
    )
    (call,) = model.bind_tools(tools).invoke([message]).tool_calls
    assert call["args"]["memory"] == "I live in Rome"


def test_the_same_messages_give_the_same_answer(model, tools):
    bound = model.bind_tools(tools)
    first, second = (bound.invoke("我叫小明") for _ in range(2))
    assert first.tool_calls == second.tool_calls


def test_two_turns_with_the_same_words_have_calls_with_different_ids(model, tools):
    bound = model.bind_tools(tools)
    turn = [HumanMessage("I like tea"), AIMessage("Noted."), HumanMessage("I like tea")]
    first = bound.invoke(turn[:1]).tool_calls[0]["id"]
    assert bound.invoke(turn).tool_calls[0]["id"] != first


def test_a_tool_cannot_be_forced(model, tools):
    with pytest.raises(ValueError, match="cannot be forced"):
        model.bind_tools(tools, tool_choice="any")


def test_tool_choice_none_binds_nothing(model, tools):
    bound = model.bind_tools(tools, tool_choice="none")
    assert bound.invoke("My name is Anna").tool_calls == []


def test_stop_words_end_the_answer(model):
    assert model.invoke("Who are you?", stop=["offline"]).text == "I'm the "


def test_an_empty_conversation_is_greeted(model):
    assert "offline" in model.invoke([SystemMessage("Be nice.")]).text


def test_today_is_the_default_day(tools):
    call = OfflineChatModel().bind_tools(tools).invoke("I went home today").tool_calls
    assert len(call[0]["args"]["event_time"]) == len("2024-05-10")


def test_a_memory_that_was_cut_for_the_prompt_is_not_rewritten(model, store, tools):
    long = "I live in Paris " + "and it is a very long story " * 200
    system = remembering(store, long)
    assert "…" in system.text
    writing = [tool for tool in tools if tool.name != "memory_search"]
    said = HumanMessage("not Paris but Rome")
    reply = model.bind_tools(writing).invoke([system, said])
    assert reply.tool_calls == []
