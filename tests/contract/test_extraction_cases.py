"""The cases for checkers, the prompt, tool calls and both stages of the extractor.

The folder is taken from `AGENTMEMORY_CASES`, by default a neighbour of the repository.
"""

import asyncio
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables import RunnableLambda

from langchain_agentmemory import AppendOnly, MergeSimilar, PreserveHistory, UserKey
from langchain_agentmemory.errors import ExtractionFailed
from langchain_agentmemory.extraction.assistant import episode_timeout
from langchain_agentmemory.extraction.checkers import (
    all_of,
    any_of,
    message_threshold,
    time_interval,
)
from langchain_agentmemory.extraction.context import ExtractionContext
from langchain_agentmemory.extraction.messages import extractable, shown_text
from langchain_agentmemory.extraction.operations import Skipped, parse_call
from langchain_agentmemory.extraction.prompts import DEFAULT_PROMPT, existing_line
from langchain_agentmemory.testing import ScriptedChatModel
from langchain_agentmemory.times import parse_event_time
from tests.unit_tests.extraction.doubles import Allowing, memory, scripted

CASES = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[3] / "shared" / "cases")
)
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)

_NO_TOOL_MESSAGES = (
    "What tools answered is never sent to the extraction model: only the user's own "
    "words lead to anything (design.md §7). So nothing of it can come last."
)
_NAMES_NO_MESSAGE = (
    "A deletion that names no message of the user which asks for it is not followed "
    "(design.md §7). The second stage is skipped all the same."
)
DECIDED_OTHERWISE: dict[str, tuple[str, dict[str, Any]]] = {
    # name: (why, what we do instead of `then`)
    "no_trailing_user_after_tool_result": (
        _NO_TOOL_MESSAGES,
        {"roles": ["system", "user"]},
    ),
    "no_trailing_user_after_assistant_tool_call": (
        _NO_TOOL_MESSAGES,
        {"roles": ["system", "user"]},
    ),
    "merge_empty_set_still_sends_all": (
        "An empty set allows nothing, whatever the policy.",
        {"tools_sent": [], "actions_listed": ["No actions available."]},
    ),
    "clear_out_of_range_skips_stage2": (_NAMES_NO_MESSAGE, {"operations": []}),
    "delete_null_indexes_skips_stage2": (_NAMES_NO_MESSAGE, {"operations": []}),
    "update_without_kind_defaults_to_fact": (
        "`None` leaves a field as it is: what an update does not repeat must stay.",
        {"kind": None, "topics": None, "participants": None},
    ),
    "unknown_policy_behaves_as_merge": (
        "A policy is an object that says what it lets through; there are no names.",
        {},
    ),
}

NOT_OURS = {
    "strictly_after_since": "What was read before is known by ids, not by time.",
    "assistant_mode_takes_index_zero": (
        "LangChain keeps one choice in the history: the first."
    ),
    "opaque_decorator_loses_policy": "An extractor without a policy is none.",
    "cooperating_decorator_keeps_policy": "An extractor without a policy is none.",
}
"""Rows about parts that we do not have, with the reason."""

WATERMARK = {"latest", "watermark", "watermark_after_success", "last_extract_at"}
"""What rows about the reference's watermark expect; ours is a set of what was read."""


def rows(area: str, when: str | None = None) -> list[Any]:
    path = CASES / "auto-memory.jsonl"
    if not path.is_file():
        missing = pytest.mark.skip(reason=f"no cases in {CASES}: AGENTMEMORY_CASES")
        return [pytest.param(None, None, marks=missing)]
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["area"] != area or (when and case["when"] != when):
            continue
        name = case["name"]
        expected = {**case["then"], **DECIDED_OTHERWISE.get(name, ("", {}))[1]}
        skip = pytest.mark.skip(reason=NOT_OURS.get(name, ""))
        marks = [skip] if name in NOT_OURS else []
        found.append(pytest.param(case, expected, id=name, marks=marks))
    return found


# --- checkers --------------------------------------------------------------------

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration(text: str) -> timedelta:
    number, unit = re.fullmatch(r"(\d+)([smhd])", text).groups()
    return timedelta(**{UNITS[unit]: int(number)})


def checker(text: str):
    if text.startswith("messages>"):
        return message_threshold(int(text.removeprefix("messages>")))
    if text.startswith("interval "):
        interval = duration(text.removeprefix("interval "))
        return time_interval(interval, clock=lambda: NOW)
    if text.startswith("checker("):
        answer = text == "checker(always true)"
        return lambda context: answer
    combine, inner = re.fullmatch(r"(all|any)\((.*)\)", text).groups()
    parts = [checker(part.strip()) for part in inner.split(",") if part.strip()]
    return {"all": all_of, "any": any_of}[combine](*parts)


@pytest.mark.parametrize(("case", "then"), rows("checkers"))
def test_checkers(case, then):
    given = case["given"]
    texts = given.get("checkers", given.get("options_in_order", []))
    checkers = [checker(text) for text in texts]
    if "any" in given:
        checkers.append(any_of(*map(checker, given["any"])))
    age = given.get("last_extract_age")
    context = ExtractionContext(
        UserKey("default", "ann"),
        [HumanMessage("hi")] * given.get("messages", 1),
        last_extract_at=NOW - duration(age) if age else None,
    )
    extractor, _ = scripted(checkers=checkers)

    assert extractor.should_extract(context) is then["result"]


# --- which messages --------------------------------------------------------------


def messages_of(event: dict[str, Any]) -> list[BaseMessage]:
    roles = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
    for role, kind in roles.items():
        if role in event:
            return [kind(event[role])]
        if parts := event.get(f"{role}_parts"):
            pairs = [part.split(": ", 1) for part in parts]
            return [kind([{"type": t, "text": text} for t, text in pairs])]
    if "tool" in event:
        return [ToolMessage(event["tool"], tool_call_id="c1")]
    return []


@pytest.mark.parametrize(("case", "then"), rows("delta_scan"))
def test_delta_scan(case, then):
    messages = [m for event in case["given"]["events"] for m in messages_of(event)]
    found = [shown_text(message) for message in extractable(messages)]

    assert set(then) <= {"messages", "message_count"} | WATERMARK
    assert found == then.get("messages", found)
    assert len(found) == then.get("message_count", len(found))


# --- the extractor ---------------------------------------------------------------


class Choices(ScriptedChatModel):
    """Answers a request with several choices at once."""

    def _generate(self, messages, *args, **kwargs):
        answers = [super(Choices, self)._generate(messages) for _ in self.responses]
        first, *others = answers
        first.generations += [
            ChatGeneration(message=o.generations[0].message) for o in others
        ]
        return first


ARGUMENTS = {
    "memory_add": {"memory": "Likes jazz"},
    "memory_delete": {"memory_id": "k", "source_user_index": 1},
}
ONE_ADD = AIMessage(
    "",
    tool_calls=[
        {"name": "memory_add", "args": ARGUMENTS["memory_add"], "id": "1"},
    ],
)


def model_of(given: dict[str, Any], scripts: ScriptedChatModel):
    if "before" in given:
        return RunnableLambda(lambda messages: ONE_ADD)
    if "after" in given:
        return scripts.with_fallbacks([RunnableLambda(lambda messages: ONE_ADD)])
    return scripts


@pytest.mark.parametrize(("case", "then"), rows("extractor"))
def test_extractor(case, then):
    given = case["given"]
    if "choices" in given:
        names = given["choices"]
        scripts = Choices(
            [[{"name": n, "args": ARGUMENTS[n]} for n in choice] for choice in names]
        )
    elif "response_error" in given:
        scripts = ScriptedChatModel([RuntimeError(given["response_error"])])
    else:
        scripts = ScriptedChatModel([[]])
    extractor, _ = scripted(model=model_of(given, scripts))
    if case["when"] == "metadata()":
        extractor = type(extractor)(given["model"], policy=extractor.policy)
        assert extractor.metadata == then
        return
    messages = [HumanMessage("hi")] if "messages" not in given else []

    if then.get("error"):
        with pytest.raises(ExtractionFailed):
            extractor.extract(messages)
        return
    found = extractor.extract(messages)
    assert [op.type for op in found] == (then["operations"] or [])
    assert len(scripts.requests) == then.get("model_calls", len(scripts.requests))


# --- tool calls ------------------------------------------------------------------


@pytest.mark.parametrize(("case", "then"), rows("operation_parsing"))
def test_operation_parsing(case, then):
    found = parse_call(case["given"]["tool"], case["given"]["arguments"])

    if "operation" in then and then["operation"] is None:
        assert isinstance(found, Skipped)
        assert found.reason
        return
    for name, expected in then.items():
        value = getattr(found, {"memory_kind": "kind"}.get(name, name))
        if name == "event_time" and value is not None:
            value = parse_event_time(value, UTC)[0].isoformat().replace("+00:00", "Z")
        assert (list(value) if isinstance(value, tuple) else value) == expected, name


# --- the prompt ------------------------------------------------------------------


def spoken(text: str) -> BaseMessage:
    who, _, what = text.partition(": ")
    if who == "tool":
        return ToolMessage(what, tool_call_id="c1")
    if what == "(tool call)":
        call = {"name": "weather", "args": {}, "id": "c1"}
        return AIMessage("", tool_calls=[call])
    if text == "user(image only)":
        return HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}])
    return {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}[who](
        what
    )


ROLES = {"human": "user", "ai": "assistant"}


@pytest.mark.parametrize(("case", "then"), rows("prompt"))
def test_prompt(case, then):
    given = case["given"]
    if "entry" in given:
        entry = dict(given["entry"])
        if moment := entry.get("event_time"):
            entry["event_time"] = datetime.fromisoformat(moment)
        line = existing_line(memory(entry.pop("text"), entry.pop("id"), **entry))
        assert line == then["line"]
    elif "custom_prompt" in given:
        extractor, _ = scripted(prompt=given["custom_prompt"])
        assert extractor.prompt == DEFAULT_PROMPT
    else:
        extractor, model = scripted([])
        extractor.extract([spoken(text) for text in given["messages"]])
        sent = model.requests[0].messages
        assert [ROLES.get(m.type, m.type) for m in sent] == then["roles"]


POLICIES = {
    "merge_similar": MergeSimilar(),
    "preserve_history": PreserveHistory(),
    "append_only": AppendOnly(),
    "something_else": Allowing("something_else"),
}


@pytest.mark.parametrize(
    ("case", "then"), rows("tool_gating", "extraction request is built")
)
def test_tool_gating(case, then):
    given = case["given"]
    enabled = given["enabled_tools"]
    extractor, model = scripted([], policy=POLICIES[given["policy"]])
    extractor.extract(
        [HumanMessage("hi")], enabled=None if enabled is None else frozenset(enabled)
    )

    if not then["tools_sent"]:
        assert model.requests == []  # there is nothing to ask
        return
    [request] = model.requests
    assert request.tool_names == then["tools_sent"]
    system = request.messages[0].text
    [block] = re.findall(r"<available_actions>\n(.*?)\n</", system, re.DOTALL)
    listed = [line.removeprefix("- ").split(":")[0] for line in block.splitlines()]
    assert listed == then["actions_listed"]


# --- assistant episodes ----------------------------------------------------------


def flow_messages(given: Any) -> list[BaseMessage]:
    if given == "33 strong short pairs":
        pair = [HumanMessage("Ideas?"), AIMessage("- Oak\n- Elm")]
        return pair * 33
    if isinstance(given, str):
        long = "x" * 9000
        return [HumanMessage(long), AIMessage(f"- Oak\n- Elm\n{long}")] * 5
    return [spoken(text) for text in given]


async def cancel_the_extraction(messages):
    [task] = [t for t in asyncio.all_tasks() if t.get_name() == "extraction"]
    task.cancel()
    await asyncio.sleep(60)


def flow_calls(given: Any) -> Any:
    if given == "error":
        return RuntimeError("quota")
    if given == "parent context cancelled":
        return cancel_the_extraction
    calls = json.loads(json.dumps(given))
    for call in calls:
        call["name"] = call.pop("tool")
        text = call["args"].get("memory", "")
        if match := re.match(r"<(\d+) ASCII letters(.*)>", text):
            blanks = "  " if "blanks" in match[2] else ""
            call["args"]["memory"] = blanks + "x" * int(match[1]) + blanks
    return calls


def shown_operation(operation) -> str:
    return operation.memory or " ".join(
        filter(None, [operation.type, operation.memory_id])
    )


@pytest.mark.parametrize(
    ("case", "then"), rows("assistant_episode_flow", "stage 2 starts")
)
def test_assistant_episode_deadline(case, then):
    remaining = duration(case["given"]["parent_remaining"]).total_seconds()

    assert episode_timeout(remaining) == duration(then["child_remaining"]).seconds


@pytest.mark.parametrize(
    ("case", "then"),
    rows("assistant_episode_flow", "extract with assistant episodes on"),
)
async def test_assistant_episode_flow(case, then, caplog):
    given = case["given"]
    policy = POLICIES[given.get("policy", "merge_similar")]
    script = [flow_calls(given["stage1_calls"]), flow_calls(given["stage2_calls"])]
    extractor, model = scripted(*script, policy=policy, assistant_episodes=True)
    enabled = given.get("enabled_tools")
    date = given.get("reference_date")
    arguments = {
        "enabled": None if enabled is None else frozenset(enabled),
        "said_at": datetime.fromisoformat(date) if date else None,
    }
    extraction = asyncio.create_task(
        extractor.aextract(flow_messages(given["messages"]), **arguments),
        name="extraction",
    )

    if then.get("error"):
        with pytest.raises((ExtractionFailed, asyncio.CancelledError)):
            await extraction
        return
    found = await extraction

    texts = [shown_operation(operation) for operation in found]
    episodes = [op for op in found if op.kind == "episode"]
    checks = {
        "operations": lambda: texts,
        "model_calls": lambda: len(model.requests),
        "episodes": lambda: len(episodes),
        "episode_kind": lambda: episodes[0].kind,
        "participants": lambda: list(episodes[0].participants),
        "event_time": lambda: episodes[0].event_time.isoformat().replace("+00:00", "Z"),
        "pairs_offered": lambda: len(model.requests[1].messages) // 2 - 1,
        "pair_1_assistant": lambda: body(model, 2),
        "pair_2_user": lambda: body(model, 3),
        "clear_index_enum": lambda: clear_enum(model),
        "skipped": lambda: int(re.search(r"(\d+) of \d+ answers", caplog.text)[1]),
        "error": lambda: None,
    }
    for name, expected in then.items():
        assert checks[name]() == expected, name


def body(model: ScriptedChatModel, position: int) -> str:
    return model.requests[1].messages[position].text.split("\n", 1)[1]


def clear_enum(model: ScriptedChatModel) -> list[int]:
    [schema] = [
        t["function"]
        for t in model.requests[0].tools
        if "clear" in t["function"]["name"]
    ]
    return schema["parameters"]["properties"]["source_user_index"]["enum"]


def test_every_deviation_is_about_a_case_that_exists():
    if not (CASES / "auto-memory.jsonl").is_file():
        pytest.skip("no cases")
    text = (CASES / "auto-memory.jsonl").read_text("utf-8")
    known = {json.loads(line)["name"] for line in text.splitlines()}

    assert DECIDED_OTHERWISE.keys() | NOT_OURS.keys() <= known
