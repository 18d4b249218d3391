"""Lists of chat messages."""

import json
from datetime import UTC, datetime

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, messages_to_dict

from langchain_agentmemory.transfer import read_file

CHAT = [
    {"role": "system", "content": "Be nice."},
    {"role": "user", "content": "I like tea.", "timestamp": 1715328000},
    {"role": "assistant", "content": "Noted.", "timestamp": 1715328060},
    {"role": "user", "content": "我住在北京。\n\n我有一只猫。", "id": "m4"},
]


def test_what_the_user_said_becomes_dated_episodes(written):
    reading = read_file(written(CHAT, "talk.json"))
    assert (reading.format, reading.problems) == ("messages", [])
    tea, home, cat = reading.statements
    said_at = datetime(2024, 5, 10, 8, tzinfo=UTC)
    assert (tea.memory, tea.kind, tea.event_time) == ("I like tea.", "episode", said_at)
    assert tea.source.said_at == said_at
    assert (home.memory, home.kind, home.event_time) == ("我住在北京。", None, None)
    assert cat.source.message_ids == ("m4",)
    assert {s.source.thread_id for s in reading.statements} == {"talk"}


def test_positions_do_not_depend_on_which_roles_are_read(written):
    file = written(CHAT)
    user = read_file(file).statements
    both = read_file(file, roles=["user", "assistant"]).statements
    assert [s.source.position for s in user] == [0, 2, 3]
    assert [s.source.position for s in both] == [0, 1, 2, 3]
    assert both[1].source.role == "assistant"


MESSAGES = [
    HumanMessage("I like tea", id="1", additional_kwargs={"timestamp": "2024-05-10"}),
    AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}]),
    HumanMessage([{"type": "text", "text": "I have a cat"}], id="2"),
]


@pytest.mark.parametrize(
    "dumped",
    [
        messages_to_dict(MESSAGES),
        [message.model_dump() for message in MESSAGES],
        [dumpd(message) for message in MESSAGES],
        {"messages": messages_to_dict(MESSAGES), "thread_id": "t"},
    ],
    ids=["messages_to_dict", "model_dump", "dumpd", "thread"],
)
def test_dumps_of_langchain_messages_are_read(written, dumped):
    reading = read_file(written(dumped))
    assert (reading.format, reading.problems) == ("messages", [])
    assert [(s.memory, s.source.message_ids) for s in reading.statements] == [
        ("I like tea", ("1",)),
        ("I have a cat", ("2",)),
    ]
    assert reading.statements[0].event_time == datetime(2024, 5, 10)  # noqa: DTZ001


def test_messages_one_per_line_are_read(written):
    lines = "\n".join(json.dumps(message) for message in CHAT)
    assert len(read_file(written(lines, "chat.jsonl")).statements) == 3


def test_several_threads_keep_their_names(written):
    threads = [
        {"id": "a", "messages": CHAT[1:2]},
        {"messages": [{"role": "user", "content": "I have a dog"}]},
    ]
    reading = read_file(written(threads, "talks.json"))
    assert [s.source.thread_id for s in reading.statements] == ["a", "talks/2"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("text", "must be an object"),
        ({"role": "user"}, "needs a role"),
        ({"content": "x"}, "needs a role"),
        ({"role": "user", "content": 5}, "content must be"),
        ({"role": "user", "content": "x", "timestamp": "soon"}, "cannot read"),
    ],
)
def test_a_broken_message_is_reported_and_the_others_are_read(written, message, reason):
    reading = read_file(written([CHAT[1], message, CHAT[3]]))
    assert len(reading.statements) == 3
    (problem,) = reading.problems
    assert problem.where == "item 2"
    assert reason in problem.reason
