import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue

from langchain_agentmemory.nodes.injection import (
    as_messages,
    current_query,
    inject,
    inject_system,
    inject_user,
)

CACHED = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}


def test_the_block_joins_the_system_message():
    given = [SystemMessage("Be brief.", id="s"), HumanMessage("hi")]
    system, human = inject_system(given, "BLOCK")
    assert system == SystemMessage("Be brief.\n\nBLOCK", id="s")
    assert human is given[1]
    assert given[0].content == "Be brief."


def test_content_blocks_and_cache_markers_are_kept():
    (system,) = inject_system([SystemMessage([CACHED])], "BLOCK")
    assert system.content == [CACHED, {"type": "text", "text": "\n\nBLOCK"}]
    assert system.text == "Be brief.\n\nBLOCK"


@pytest.mark.parametrize("content", ["", "  ", []])
def test_an_empty_system_message_is_replaced(content):
    (system,) = inject_system([SystemMessage(content)], "BLOCK")
    assert system.content == "BLOCK"


def test_without_a_system_message_one_is_put_in_front():
    injected = inject_system([HumanMessage("hi")], "BLOCK")
    assert injected == [SystemMessage("BLOCK"), HumanMessage("hi")]
    assert inject_system([], "BLOCK") == [SystemMessage("BLOCK")]


def test_of_several_system_messages_the_first_is_used_and_none_is_added():
    given = [HumanMessage("hi"), SystemMessage("one"), SystemMessage("two")]
    injected = inject_system(given, "BLOCK")
    assert [m.content for m in injected] == ["hi", "one\n\nBLOCK", "two"]


def test_user_mode_goes_into_the_current_user_message():
    given = [
        SystemMessage("Be brief."),
        HumanMessage("earlier"),
        AIMessage("ok"),
        HumanMessage("now"),
        AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}]),
        ToolMessage("done", tool_call_id="1"),
    ]
    injected = inject_user(given, "BLOCK")
    assert [m.type for m in injected] == [m.type for m in given]
    assert injected[3].content == "BLOCK\n\nnow"
    assert injected[1].content == "earlier"
    assert given[3].content == "now"


def test_user_mode_keeps_content_blocks():
    image = {"type": "image", "url": "https://example.org/a.png"}
    (message,) = inject_user([HumanMessage([CACHED, image])], "BLOCK")
    assert message.content == [{"type": "text", "text": "BLOCK\n\n"}, CACHED, image]


def test_user_mode_adds_a_user_message_where_there_is_none():
    injected = inject_user([SystemMessage("s"), AIMessage("hello")], "BLOCK")
    assert [m.type for m in injected] == ["system", "human", "ai"]
    assert [m.type for m in inject_user([SystemMessage("s")], "B")] == [
        "system",
        "human",
    ]


@pytest.mark.parametrize("mode", ["system", "user"])
def test_no_block_changes_nothing(mode):
    given = [SystemMessage("s"), HumanMessage("hi")]
    assert inject(given, "", mode) == given


def test_the_query_joins_the_texts_of_the_current_user_message():
    content = [
        " Hello ",
        {"type": "text", "text": "Part"},
        {"type": "image", "url": ""},
    ]
    given = [HumanMessage("earlier"), HumanMessage(content), AIMessage("not this")]
    assert current_query(given) == "Hello\nPart"


@pytest.mark.parametrize(
    "given",
    [[], [AIMessage("x")], [HumanMessage(" ")], [HumanMessage([{"type": "image"}])]],
)
def test_without_words_of_the_user_the_query_is_empty(given):
    assert current_query(given) == ""


@pytest.mark.parametrize(
    "given",
    [
        "hi",
        [("user", "hi")],
        [HumanMessage("hi")],
        HumanMessage("hi"),
        [{"role": "user", "content": "hi"}],
        {"messages": [HumanMessage("hi")]},
        {"messages": "hi"},
        {"messages": HumanMessage("hi")},
        StringPromptValue(text="hi"),
        ChatPromptValue(messages=[HumanMessage("hi")]),
    ],
)
def test_whatever_holds_messages_is_understood(given):
    assert as_messages(given) == [HumanMessage("hi")]


def test_what_holds_no_messages_is_refused():
    with pytest.raises(TypeError, match="no messages in a dict"):
        as_messages({"question": "hi"})
