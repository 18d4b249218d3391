"""Every way in which a model can be asked."""

import json
import sys

import pytest
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, merge_message_runs
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableBranch, RunnableLambda
from pydantic import BaseModel

from langchain_agentmemory.errors import ExtractionFailed, InvalidInput
from langchain_agentmemory.extraction.answers import calls_in_json
from langchain_agentmemory.extraction.extractor import MemoryExtractor
from langchain_agentmemory.testing import ScriptedChatModel
from tests.unit_tests.extraction.doubles import Allowing, call, scripted

HI = [HumanMessage("I like tea")]
TEA = call("memory_add", memory="Likes tea")
FUNCTION = {"name": "memory_add", "arguments": '{"memory": "Likes tea"}'}
ANSWER = {"operations": [{"tool": "memory_add", "arguments": {"memory": "Likes tea"}}]}


def extracted(model):
    extractor, _ = scripted(model=model)
    return [operation.memory for operation in extractor.extract(HI)]


def test_steps_around_the_model_see_the_request_and_the_answer():
    seen = []

    def before(messages):
        seen.append(messages)
        return [*messages, HumanMessage("Only hobbies.")]

    def after(message):
        seen.append(message)
        return message

    model = ScriptedChatModel([[TEA]])
    chain = RunnableLambda(before) | model | RunnableLambda(after)

    assert extracted(chain) == ["Likes tea"]
    assert len(seen[0]) == 2
    assert model.requests[0].messages[-1].text == "Only hobbies."
    assert model.requests[0].tool_names[0] == "memory_add"
    assert seen[1].tool_calls


def test_what_was_bound_stays_bound():
    model = ScriptedChatModel([[TEA]])

    assert extracted(model.bind(temperature=0)) == ["Likes tea"]
    assert model.requests[0].options["temperature"] == 0
    assert model.requests[0].tool_names


def test_retries_and_fallbacks_keep_working():
    flaky = ScriptedChatModel([OSError("lost"), [TEA]])
    broken, other = ScriptedChatModel([OSError("lost")]), ScriptedChatModel([[TEA]])

    assert extracted(flaky.with_retry(wait_exponential_jitter=False)) == ["Likes tea"]
    assert extracted(broken.with_fallbacks([other])) == ["Likes tea"]
    for model in (flaky, broken, other):
        assert all(request.tool_names for request in model.requests)


def test_the_model_need_not_be_asked():
    def is_greeting(messages):
        return messages[-1].text.endswith("tea")

    model = ScriptedChatModel([])
    chain = RunnableBranch(
        (is_greeting, RunnableLambda(lambda _: AIMessage(""))), model
    )

    assert extracted(chain) == []
    assert model.requests == []


def test_a_branch_that_asks_the_model_offers_the_tools():
    model = ScriptedChatModel([[TEA]])
    chain = RunnableBranch((lambda _: False, RunnableLambda(lambda _: None)), model)

    assert extracted(chain) == ["Likes tea"]


def test_a_function_may_answer_with_tool_calls():
    message = AIMessage("", tool_calls=[{**TEA, "id": "1"}])

    assert extracted(RunnableLambda(lambda messages: message)) == ["Likes tea"]


def test_messages_of_one_speaker_can_be_merged_for_strict_models():
    model = ScriptedChatModel([[TEA]])
    extractor, _ = scripted(model=merge_message_runs() | model)
    extractor.extract([HumanMessage("a"), HumanMessage("b")])

    assert [m.type for m in model.requests[0].messages] == ["system", "human"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ANSWER),
        json.dumps(ANSWER["operations"]),
        json.dumps(ANSWER["operations"][0]),
        '{"name": "memory_add", "args": {"memory": "Likes tea"}}',
        '[{"tool": "memory_add", "memory": "Likes tea"}]',
        json.dumps({"tool_calls": [{"function": FUNCTION}]}),
        f"```json\n{json.dumps(ANSWER, indent=1)}\n```",
        f"<think>[1] tea {{maybe}}</think>Here:\n```\n{json.dumps(ANSWER)}\n```\nDone.",
        f"As said [1], it is {json.dumps(ANSWER)} and no more.",
    ],
)
def test_without_tool_calls_json_is_asked_for_and_read(text):
    model = ScriptedChatModel([text], tool_calling=False)

    assert extracted(model) == ["Likes tea"]
    system = model.requests[0].messages[0].text
    assert "<answer_format>" in system
    assert "memory_add: " in system
    assert '"source_user_index"' in system


@pytest.mark.parametrize(
    "text", ['{"operations": []}', "[]", "{}", "```json\n[]\n```", "", " \n"]
)
def test_nothing_to_do_in_json(text):
    assert extracted(ScriptedChatModel([text], tool_calling=False)) == []


@pytest.mark.parametrize(
    "text",
    ["I cannot do that.", '{"operations": [{"tool"', "[1, 2]", "null", "[" * 9999],
)
def test_what_is_no_json_is_reported(text):
    extractor, _ = scripted(model=ScriptedChatModel([text], tool_calling=False))
    found = extractor.extract(HI)

    assert found == []
    assert {skip.reason for skip in found.skipped} == {"It names no tool."}


def test_plain_text_beside_tool_calling_is_ignored():
    model = ScriptedChatModel([json.dumps(ANSWER)])
    extractor, _ = scripted(model=model)
    found = extractor.extract(HI)

    assert (found, found.skipped) == ([], [])
    assert "<answer_format>" not in model.requests[0].messages[0].text


class Structured(ScriptedChatModel):
    """A model without tool calling that can follow a schema."""

    tool_calling: bool = False
    include_raw: bool = True
    schemas: list

    def with_structured_output(self, schema, *, include_raw=False, **kwargs):
        self.schemas.append(schema)

        def read(message):
            try:
                parsed, error = json.loads(message.text), None
            except ValueError as problem:
                parsed, error = None, problem
            if not self.include_raw:
                return parsed
            return {"raw": message, "parsed": parsed, "parsing_error": error}

        return self | RunnableLambda(read)


@pytest.mark.parametrize("include_raw", [True, False])
def test_structured_output_is_used_where_there_are_no_tools(include_raw):
    usage = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
    message = AIMessage(json.dumps(ANSWER), usage_metadata=usage)
    model = Structured([message], include_raw=include_raw, schemas=[])
    extractor, _ = scripted(model=model)
    found = extractor.extract(HI)

    assert [operation.memory for operation in found] == ["Likes tea"]
    assert found.usage == (usage if include_raw else None)
    [schema] = model.schemas
    assert schema["title"] == "memory_operations"
    assert len(schema["properties"]["operations"]["items"]["anyOf"]) == 4
    assert "<answer_format>" not in model.requests[0].messages[0].text


def test_structured_output_that_cannot_be_parsed_is_reported():
    found = scripted(model=Structured(["{oops"], schemas=[]))[0].extract(HI)

    assert [skip.reason for skip in found.skipped] == ["It names no tool."]


def test_a_model_says_that_it_cannot_call_tools():
    model = ScriptedChatModel([json.dumps(ANSWER)], profile={"tool_calling": False})

    assert extracted(model) == ["Likes tea"]
    assert model.requests[0].tools == []
    assert "<answer_format>" in model.requests[0].messages[0].text


def test_a_text_completion_model_will_do():
    assert extracted(FakeListLLM(responses=[json.dumps(ANSWER)])) == ["Likes tea"]
    chat = ScriptedChatModel([json.dumps(ANSWER)], tool_calling=False)
    assert extracted(chat | StrOutputParser()) == ["Likes tea"]


def test_parsed_models_are_read():
    class Plan(BaseModel):
        operations: list[dict]

    assert calls_in_json(Plan(**ANSWER)) == [("memory_add", {"memory": "Likes tea"})]
    assert calls_in_json(3) == [("", 3)]


@pytest.mark.parametrize("answer", [None, 3, b"x"])
def test_a_runnable_must_return_a_message(answer):
    extractor, _ = scripted(model=RunnableLambda(lambda messages: answer))

    with pytest.raises(ExtractionFailed, match="must return an AIMessage"):
        extractor.extract(HI)


def test_tools_that_cannot_be_bound_fail_the_extraction():
    class Broken(ScriptedChatModel):
        def bind_tools(self, tools, **kwargs):
            raise ValueError(tools)

    with pytest.raises(ExtractionFailed, match="ValueError") as caught:
        extracted(Broken([]))
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_name_is_a_model_of_init_chat_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    extractor = MemoryExtractor("openai:gpt-5-mini", policy=Allowing())

    assert extractor.metadata == {"model_name": "gpt-5-mini", "model_available": True}
    assert repr(extractor).startswith("MemoryExtractor('gpt-5-mini', policy='allowing'")


def test_a_name_without_langchain_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)

    with pytest.raises(InvalidInput, match="pip install"):
        MemoryExtractor("openai:gpt-5-mini", policy=Allowing())


@pytest.mark.parametrize("model", [3, object(), lambda messages: None])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(InvalidInput, match="model must be"):
        MemoryExtractor(model, policy=Allowing())
