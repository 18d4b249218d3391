"""What models see of the tools, and which arguments are refused."""

import re

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_agentmemory.times import parse_event_time, zone
from langchain_agentmemory.tools import TOOL_NAMES, build_tools
from langchain_agentmemory.tools.arguments import DATE_FORMS

TOOLS = {tool.name: tool for tool in build_tools(TOOL_NAMES)}


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_the_schema_that_models_see_does_not_change_by_accident(name, snapshot):
    assert convert_to_openai_tool(TOOLS[name]) == snapshot


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_no_argument_that_models_see_names_a_user_or_a_store(name):
    visible = TOOLS[name].tool_call_schema.model_json_schema()["properties"]
    forbidden = {"runtime", "store", "user", "user_id", "app_name", "namespace", "wrap"}
    assert not forbidden & visible.keys()


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_every_argument_and_tool_is_described(name):
    schema = TOOLS[name].tool_call_schema.model_json_schema()
    assert "current user" in schema["description"]
    assert all(field["description"] for field in schema["properties"].values())


def test_every_date_form_that_is_described_is_accepted():
    given = re.sub(r"(May 7), ", r"\1+ ", DATE_FORMS)
    for language in re.findall(r"\(([^)]+)\)", given):
        for form in re.split(r", | or ", language):
            parse_event_time(form.replace("+ ", ", "), zone("UTC"))


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("memory_add", {}, "memory is required"),
        ("memory_add", {"memory": None}, "memory"),
        ("memory_add", {"memory": 7}, "memory"),
        ("memory_add", {"memory": "x", "topics": "sport"}, "topics"),
        ("memory_add", {"memory": "x", "topics": [1]}, "topics.0"),
        ("memory_add", {"memory": "x", "participants": "Mia"}, "participants"),
        ("memory_add", {"memory": "x", "event_time": 2024}, "event_time"),
        ("memory_add", {"memory": "x", "mood": "happy"}, "unknown argument 'mood'"),
        ("memory_update", {"memory": "x"}, "memory_id is required"),
        ("memory_update", {"memory_id": "x"}, "memory is required"),
        ("memory_delete", {}, "memory_id is required"),
        ("memory_delete", {"memory_id": ["a", "b"]}, "memory_id"),
        ("memory_clear", {"everything": True}, "unknown argument 'everything'"),
        ("memory_search", {}, "query is required"),
        ("memory_search", {"query": "x", "limit": "5"}, "limit"),
        ("memory_search", {"query": "x", "limit": 3.0}, "limit"),
        ("memory_search", {"query": "x", "limit": True}, "limit"),
        ("memory_search", {"query": "x", "order_by_event_time": "yes"}, "order_by"),
        ("memory_load", {"limit": float("inf")}, "limit"),
    ],
)
async def test_arguments_that_do_not_fit_are_named_and_nothing_is_done(
    call, store, name, arguments, complaint
):
    kept = store.add_memory("alice", "Likes tea")
    answer = await call(name, **arguments)
    assert answer.status == "error"
    assert complaint in answer.content
    assert "Nothing was done" in answer.content
    assert store.read_memories("alice") == [kept]


async def test_a_complaint_does_not_repeat_what_was_given(call):
    answer = await call("memory_add", **{"k" * 1_000_000: "v", "memory": ["x" * 10**6]})
    assert answer.status == "error"
    assert len(answer.content) < 500


def test_checking_arguments_does_not_walk_through_the_runtime():
    for tool in TOOLS.values():
        fields = tool.args_schema.model_fields
        assert list(fields)[-1] == "runtime"
        assert fields["runtime"].exclude


@pytest.mark.parametrize("name", ["memory_clear", "memory_load"])
async def test_no_arguments_at_all_are_fine_where_none_is_required(call, name):
    assert (await call(name)).status == "success"


def test_a_plain_text_is_the_first_argument(tools, store):
    tools["memory_add"].invoke("Likes tea")
    assert [entry.memory for entry in store.read_memories("alice")] == ["Likes tea"]
    assert "Likes tea" in tools["memory_search"].invoke("tea")
