import pytest
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_agentmemory.extraction.messages import (
    QUERY_BYTES,
    existing_query,
    extractable,
    role_of,
    shown_text,
    text_of,
    user_texts,
    with_texts,
)
from tests.unit_tests.extraction.doubles import Allowing

CALL = {"name": "weather", "args": {}, "id": "1"}
BROKEN = {"name": "weather", "args": "{", "id": "1", "error": None}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}

SAID = [
    (HumanMessage("hi"), "user"),
    (AIMessage("hello"), "assistant"),
    (ChatMessage(role="User", content="hi"), "user"),
    (ChatMessage(role="assistant", content="hello"), "assistant"),
]
NOT_SAID = [
    SystemMessage("be nice"),
    ToolMessage("21 degrees", tool_call_id="1"),
    AIMessage("one moment", tool_calls=[CALL]),
    AIMessage("", invalid_tool_calls=[BROKEN]),
    AIMessage("", additional_kwargs={"function_call": {"name": "f"}}),
    ChatMessage(role="developer", content="be nice"),
    RemoveMessage(id="1"),
    HumanMessage("summary", additional_kwargs={"lc_source": "summarization"}),
]


@pytest.mark.parametrize(("message", "role"), SAID)
def test_who_speaks(message, role):
    assert role_of(message) == role


@pytest.mark.parametrize("message", NOT_SAID)
def test_what_nobody_says_has_no_role(message):
    assert role_of(message) is None
    assert extractable([message]) == []


def test_text_is_the_trimmed_text_parts():
    message = HumanMessage(
        [
            " one ",
            {"type": "text", "text": "two\n"},
            IMAGE,
            {"type": "text", "text": ""},
        ]
    )

    assert text_of(message) == "one\ntwo"
    assert shown_text(message) == "one\ntwo\n[image]"


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (IMAGE, "[image]"),
        ({"type": "image", "base64": "AAAA", "mime_type": "image/png"}, "[image]"),
        ({"type": "audio", "base64": "AAAA", "mime_type": "audio/mp3"}, "[audio]"),
        ({"type": "video", "url": "https://a/b"}, "[video]"),
        ({"type": "file", "file": {"filename": "a.pdf"}}, "[file]"),
        ({"type": "text-plain", "text": "chapter one"}, "[file]"),
    ],
)
def test_what_is_no_text_is_named(part, name):
    message = HumanMessage([part])

    assert text_of(message) == ""
    assert shown_text(message) == name
    assert extractable([message]) == [message]


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n ",
        [],
        [{"type": "reasoning", "reasoning": "hm"}],
        [{"type": "thinking", "thinking": "hm"}],
        [{"type": "tool_use", "id": "1", "name": "f", "input": {}}],
        [{"no": "type"}],
        [{"type": ["list"], "text": "x"}],
        [{"type": "text", "text": None}],
        [{"type": "text"}],
    ],
)
def test_what_shows_nothing_is_not_extracted_from(content):
    message = AIMessage.model_construct(
        content=content, tool_calls=[], invalid_tool_calls=[], additional_kwargs={}
    )

    assert extractable([message]) == []


def test_merge_similar_looks_for_what_the_user_says():
    said = [
        HumanMessage("I like 茶"),
        AIMessage("Noted"),
        HumanMessage(["and", "chess"]),
    ]

    assert user_texts(said) == ["I like 茶", "and\nchess"]
    assert existing_query(said, Allowing("merge_similar")) == "I like 茶 and\nchess"
    assert existing_query(said, Allowing("other")) == "I like 茶 Noted and\nchess"
    assert existing_query([], Allowing("other")) == ""


@pytest.mark.parametrize("text", ["x" * 7169, "茶" * 5000, "é" * 4000 + "x" * 4000])
def test_the_query_of_other_policies_is_bounded_in_bytes(text):
    query = existing_query([HumanMessage(text)], Allowing("other"))
    head, tail = query.split("\n...\n")

    assert QUERY_BYTES - 6 <= len(query.encode()) <= QUERY_BYTES
    assert text.startswith(head)
    assert text.endswith(tail)
    assert abs(len(head.encode()) - len(tail.encode())) <= 4


def test_a_query_of_just_the_limit_is_whole():
    text = "x" * QUERY_BYTES

    assert existing_query([HumanMessage(text)], Allowing("other")) == text


def test_texts_change_in_copies_and_the_rest_stays():
    said = [HumanMessage(["a", IMAGE, {"type": "text", "text": "b"}]), NOT_SAID[1]]
    changed = with_texts(said, str.upper)

    assert changed[0].content == ["A", IMAGE, {"type": "text", "text": "B"}]
    assert said[0].content[0] == "a"
    assert changed[1] is said[1]
