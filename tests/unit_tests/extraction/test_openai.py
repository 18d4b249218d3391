"""The whole path over the wire of an OpenAI-compatible API."""

import asyncio
from datetime import UTC, datetime

import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_agentmemory.errors import ExtractionFailed
from langchain_agentmemory.policies import PreserveHistory
from tests.unit_tests.extraction.doubles import memory, scripted
from tests.unit_tests.extraction.openai_server import (
    chat_openai,
    completion,
    openai_server,
)
from tests.unit_tests.extraction.test_operations import strict

SAID = [
    HumanMessage("我上周五搬到了上海"),
    AIMessage("- 静安寺\n- 外滩"),
    HumanMessage("Forget my old address, please"),
]
CALLS = completion(
    [
        ("memory_add", {"memory": "2026-02-27 搬到上海", "event_time": "2026-02-27"}),
        ("memory_delete", {"memory_id": "m1", "source_user_index": 2}),
        ("memory_delete", {"memory_id": "m1", "source_user_index": 9}),
        ("memory_add", '{"memory": '),
    ],
    [("memory_clear", {"source_user_index": 1})],
)


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Extract with a model on a server, by `extract` or `aextract`."""

    async def run(*responses, bound=None, **options):
        with openai_server(*responses) as (requests, path), chat_openai(path) as chat:
            model = chat.bind(**bound) if bound else chat
            extractor, _ = scripted(model=model, **options)
            arguments = ([*SAID], [memory("Lives in Beijing")])
            said_at = datetime(2026, 3, 4, tzinfo=UTC)
            try:
                if request.param == "async":
                    found = await extractor.aextract(*arguments, said_at=said_at)
                else:
                    found = await asyncio.to_thread(
                        extractor.extract, *arguments, said_at=said_at
                    )
            finally:
                await chat.http_async_client.aclose()
        return found, requests

    return run


async def test_the_first_choice_becomes_operations(run):
    found, _ = await run(CALLS, bound={"n": 2})

    assert [(op.type, op.memory, op.memory_id) for op in found] == [
        ("add", "2026-02-27 搬到上海", None),
        ("delete", None, "m1"),
    ]
    assert [(skip.tool, skip.reason) for skip in found.skipped] == [
        ("memory_delete", "It does not name the user message that asks for it."),
        ("memory_add", "The arguments are not a JSON object."),
    ]
    assert found.usage["total_tokens"] == 10


async def test_what_goes_over_the_wire_is_strict(run):
    _, [(path, body)] = await run(CALLS, policy=PreserveHistory())

    assert path == "/v1/chat/completions"
    assert [message["role"] for message in body["messages"]] == [
        *("system", "user", "assistant", "user")
    ]
    assert body["messages"][1]["content"] == "[user message 1]\n我上周五搬到了上海"
    assert body["messages"][3]["content"].startswith("[user message 2]\n")
    assert "on Wednesday, 2026-03-04" in body["messages"][0]["content"]
    assert PreserveHistory().instructions in body["messages"][0]["content"]
    assert [tool["function"]["name"] for tool in body["tools"]] == [
        *("memory_add", "memory_update", "memory_delete", "memory_clear")
    ]
    for tool in body["tools"]:
        strict(tool["function"]["parameters"])
    clear = body["tools"][3]["function"]["parameters"]["properties"]
    assert clear["source_user_index"]["enum"] == [1, 2]
    assert not body["stream"]


async def test_both_stages(run):
    episode = {"memory": "助手推荐了静安寺和外滩", "pair_id": "pair-1"}
    found, requests = await run(
        completion([("memory_add", {"memory": "住在上海"})]),
        completion([("memory_assistant_episode", episode)]),
        assistant_episodes=True,
    )

    assert found[1].memory.endswith("助手推荐了静安寺和外滩")
    assert found.usage["total_tokens"] == 20
    [tool] = requests[1][1]["tools"]
    assert tool["function"]["name"] == "memory_assistant_episode"


@pytest.mark.parametrize(
    ("status", "cause"),
    [(429, openai.RateLimitError), (500, openai.InternalServerError)],
)
async def test_errors_of_the_server_are_the_cause(run, status, cause):
    with pytest.raises(ExtractionFailed) as caught:
        await run(status)
    assert isinstance(caught.value.__cause__, cause)


async def test_arguments_that_langchain_itself_refuses_are_an_error(run):
    """LangChain reads JSON that is no object as arguments, and then refuses it."""
    with pytest.raises(ExtractionFailed, match="valid dictionary"):
        await run(completion([("memory_add", "[1]"), ("memory_add", {"memory": "t"})]))


async def test_an_answer_in_words_is_nothing_to_do(run):
    found, _ = await run(completion("There is nothing to remember."))

    assert (found, found.skipped) == ([], [])


def test_a_server_that_is_slow_runs_into_the_timeout_of_the_model():
    from time import sleep  # noqa: PLC0415 - the one place that waits

    def slow():
        sleep(0.5)
        return completion("too late")

    with openai_server(slow) as (_, path), chat_openai(path, timeout=0.1) as chat:
        extractor, _ = scripted(model=chat)
        with pytest.raises(ExtractionFailed) as caught:
            extractor.extract(SAID)
    assert isinstance(caught.value.__cause__, openai.APITimeoutError)
