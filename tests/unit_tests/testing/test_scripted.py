import asyncio

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from langchain_agentmemory.testing import ScriptedChatModel

TEA = {"name": "memory_add", "args": {"memory": "Likes tea"}}


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return city


def test_answers_come_in_order_and_in_every_form():
    model = ScriptedChatModel(
        ["Hi", AIMessage("Hello"), [TEA, {**TEA, "id": "mine"}], lambda m: m[-1].text]
    )

    assert model.invoke("a").text == "Hi"
    assert model.invoke("b").text == "Hello"
    calls = model.invoke("c").tool_calls
    assert [(call["name"], call["id"]) for call in calls] == [
        ("memory_add", "call_1"),
        ("memory_add", "mine"),
    ]
    assert model.invoke("d").text == "d"


async def test_async_answers_may_be_awaited():
    async def slow(messages):
        await asyncio.sleep(0)
        return "Hi"

    model = ScriptedChatModel([slow, slow, "Bye"])

    assert (await model.ainvoke("a")).text == "Hi"
    with pytest.raises(TypeError, match="use ainvoke"):
        model.invoke("b")
    assert (await model.ainvoke("c")).text == "Bye"


def test_requests_are_recorded():
    model = ScriptedChatModel(["Hi"])
    model.bind_tools([weather], tool_choice="auto").invoke([HumanMessage("a")])
    [request] = model.requests

    assert [message.text for message in request.messages] == ["a"]
    assert request.tool_names == ["weather"]
    assert request.options["tool_choice"] == "auto"


def test_models_do_not_share_what_they_recorded():
    first, second = ScriptedChatModel(["Hi"]), ScriptedChatModel(["Hi"])
    first.invoke("a")

    assert second.requests == []


def test_an_error_is_raised_and_the_script_goes_on():
    model = ScriptedChatModel([OSError("lost"), "Hi"])

    with pytest.raises(OSError, match="lost"):
        model.invoke("a")
    assert model.invoke("a").text == "Hi"


def test_a_script_that_is_over_says_so():
    model = ScriptedChatModel(["Hi"])
    model.invoke("a")

    with pytest.raises(IndexError, match="1 answers, and this is request 2"):
        model.invoke("b")


def test_a_model_without_tool_calling():
    with pytest.raises(NotImplementedError):
        ScriptedChatModel(tool_calling=False).bind_tools([weather])


def test_it_streams_its_answer_whole():
    assert [chunk.text for chunk in ScriptedChatModel(["Hi"]).stream("a")] == ["Hi"]
