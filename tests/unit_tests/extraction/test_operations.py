import json
from datetime import UTC, timedelta

import pytest
from langchain_core.messages import HumanMessage

from langchain_agentmemory.extraction.calls import CALLS, MAX_LABELS, tool_schemas
from langchain_agentmemory.extraction.operations import (
    ForgetScope,
    Operations,
    Reading,
    Skipped,
    parse_call,
)
from langchain_agentmemory.times import parse_event_time
from langchain_agentmemory.types import Operation

WRONG = [None, 1, 1.5, True, [], {}, ["x"], {"a": 1}, "", float("nan")]


def strict(schema):
    """Check what OpenAI demands of a strict schema, all the way down."""
    allowed = {"type", "properties", "required", "additionalProperties"}
    allowed |= {"anyOf", "enum", "items", "description", "minimum", "maximum"}
    assert set(schema) <= allowed
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        assert schema["properties"]
    for part in [
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        *([schema["items"]] if "items" in schema else ()),
    ]:
        strict(part)


@pytest.mark.parametrize("affected", [False, True])
@pytest.mark.parametrize("users", [1, 3, 100, 101, 5000])
def test_schemas_are_strict(users, affected):
    schemas = tool_schemas(CALLS, user_messages=users, affected=affected)

    assert [schema["function"]["name"] for schema in schemas] == list(CALLS)
    for schema in schemas:
        strict(schema["function"]["parameters"])
    assert json.dumps(schemas).count("enum") < 10


def test_the_schemas(snapshot):
    assert tool_schemas(CALLS, user_messages=2, affected=True) == snapshot


def test_schemas_of_different_requests_do_not_touch_each_other():
    tool_schemas(CALLS, user_messages=7, affected=True)
    [schema] = tool_schemas(["memory_delete"], user_messages=2)

    properties = schema["function"]["parameters"]["properties"]
    assert list(properties) == ["memory_id", "source_user_index"]
    assert properties["source_user_index"]["enum"] == [1, 2]


def test_a_full_add():
    arguments = {
        "memory": "Met Ana in Porto",
        "topics": ["Ana", 3, "travel", None],
        "memory_kind": "episode",
        "event_time": " 2024-05-07T10:30:00+08:00 ",
        "participants": ["Ana"],
        "location": "Porto",
        "unknown": 1,
    }

    assert parse_call("memory_add", arguments) == Operation(
        "add",
        memory="Met Ana in Porto",
        topics=("Ana", "travel"),
        kind="episode",
        event_time="2024-05-07T10:30:00+08:00",
        participants=("Ana",),
        location="Porto",
    )


def test_an_update_leaves_alone_what_it_does_not_give_or_gives_as_empty():
    bare = {"memory_id": "m", "memory": "t"}
    empty = {
        **bare,
        "topics": [],
        "memory_kind": "",
        "event_time": "",
        "participants": [],
        "location": "",
    }
    nothing = dict.fromkeys(empty, None) | bare

    for arguments in (bare, empty, nothing):
        assert parse_call("memory_update", arguments) == Operation(
            "update", memory="t", memory_id="m"
        )


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize(
    "name", ["topics", "memory_kind", "event_time", "participants", "location"]
)
def test_a_detail_of_the_wrong_type_counts_as_not_given(name, value):
    found = parse_call("memory_add", {"memory": "t", name: value})

    expected = ("x",) if value == ["x"] and name in {"topics", "participants"} else ()
    assert (found.memory, found.kind, found.location) == ("t", "fact", None)
    assert found.event_time is None
    assert {found.topics, found.participants} == {(), expected}


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("memory_add", "memory"),
        ("memory_update", "memory"),
        ("memory_update", "memory_id"),
        ("memory_delete", "memory_id"),
    ],
)
def test_what_a_call_cannot_do_without_must_be_text(tool, name, value):
    arguments = {"memory_id": "m", "memory": "t", name: value}
    found = parse_call(tool, arguments)

    assert found == Skipped(tool, arguments, f"{name} must be given, as text.")


@pytest.mark.parametrize(
    "arguments", [*WRONG[:5], "", "{", '{"memory":', "[1]", "null", "[" * 100_000]
)
def test_arguments_that_are_no_object_are_skipped(arguments):
    found = parse_call("memory_add", arguments)

    assert found.reason == "The arguments are not a JSON object."


@pytest.mark.parametrize("tool", ["", "memory_search", "Memory_Add", "rm"])
def test_unknown_tools_are_skipped(tool):
    assert isinstance(parse_call(tool, {"memory": "t"}), Skipped)


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("2024", "year"),
        ("2024-05", "month"),
        ("2024年5月7日", "day"),
        ("7 May 2024", "day"),
        ("2024-05-07T10:30", "instant"),
        ("2024-05-07 10:30", "instant"),
        ("2024-05-07T10:30Z", "instant"),
        ("2024-05-07T10:30+08:00", "instant"),
    ],
)
def test_event_times_keep_their_precision(text, precision):
    found = parse_call("memory_add", {"memory": "t", "event_time": text})

    assert parse_event_time(found.event_time, UTC)[1] == precision


def test_an_event_time_keeps_its_offset():
    found = parse_call(
        "memory_add", {"memory": "t", "event_time": "2024-05-07T10:30+08:00"}
    )

    moment, _ = parse_event_time(found.event_time, UTC)
    assert moment.utcoffset() == timedelta(hours=8)


@pytest.mark.parametrize(
    "text", ["yesterday", "上周", "2024-02-30", "05/07/2024", "x" * 9]
)
def test_a_date_that_cannot_be_read_is_left_out(text):
    found = parse_call("memory_add", {"memory": "t", "event_time": text})

    assert (found.memory, found.event_time) == ("t", None)


def test_labels_are_capped_in_number():
    topics = [str(number) for number in range(MAX_LABELS + 50)]
    found = parse_call("memory_add", {"memory": "t", "topics": topics})

    assert found.topics == tuple(topics[:MAX_LABELS])


def reading(users=2, **options):
    messages = tuple(HumanMessage("x", id=f"u{i}") for i in range(1, users + 1))
    return Reading(tuple(CALLS), messages, **options)


def test_500_calls_are_all_read_in_order():
    calls = [("memory_add", {"memory": str(number)}) for number in range(500)]

    assert [op.memory for op in reading().read(calls)] == [str(n) for n in range(500)]


@pytest.mark.parametrize("index", [None, 0, 3, -1, "1", True, 1.5, [1], {}])
@pytest.mark.parametrize("tool", ["memory_delete", "memory_clear"])
def test_a_deletion_must_name_a_message_of_the_user(tool, index):
    arguments = {"memory_id": "m", "source_user_index": index}
    found = reading().read([(tool, arguments), ("memory_add", {"memory": "t"})])

    assert [op.type for op in found] == ["add"]
    assert found.skipped == [
        Skipped(tool, arguments, "It does not name the user message that asks for it.")
    ]
    assert found.scope.unknown


@pytest.mark.parametrize("index", [2, 2.0])
def test_a_deletion_says_which_message_asked_for_it(index):
    found = reading().read(
        [("memory_delete", {"memory_id": "m", "source_user_index": index})]
    )

    assert found[0].memory_id == "m"
    assert found[0].source.message_ids == ("u2",)
    assert found.scope == ForgetScope()


def test_without_messages_of_the_user_nothing_is_deleted():
    calls = [("memory_clear", {"source_user_index": 1})]

    assert reading(users=0).read(calls) == []


def test_what_was_not_offered_is_skipped():
    found = Reading(("memory_add",)).read(
        [("memory_update", {}), ("memory_search", {})]
    )

    assert [skip.reason for skip in found.skipped] == [
        "This tool was not offered.",
        "There is no such tool.",
    ]


def test_the_scope_of_what_shall_be_forgotten():
    calls = [
        ("memory_clear", {"source_user_index": 1}),
        (
            "memory_delete",
            {
                "memory_id": "m",
                "source_user_index": 2,
                "affected_source_user_indexes": [2, 2],
            },
        ),
    ]

    found = reading(affected=True).read(calls)
    assert found.scope == ForgetScope(cleared=1, deleted=frozenset({2}))


@pytest.mark.parametrize("covered", [None, 1, "1", [3], [1, "2"], [None]])
def test_a_deletion_that_does_not_say_what_it_covers_leaves_the_scope_unknown(covered):
    arguments = {
        "memory_id": "m",
        "source_user_index": 1,
        "affected_source_user_indexes": covered,
    }

    found = reading(affected=True).read([("memory_delete", arguments)])
    assert [op.type for op in found] == ["delete"]
    assert found.scope.unknown


@pytest.mark.parametrize("shown", ["abc", "[abc]", " abc "])
def test_short_ids_mean_the_memories_that_were_shown(shown):
    found = reading(ids={"abc": "abc" * 20}).read(
        [("memory_update", {"memory_id": shown, "memory": "t"})]
    )

    assert found[0].memory_id == "abc" * 20


def test_operations_show_themselves():
    operations = Operations(
        [
            Operation("add", memory="Likes <b>tea</b>", kind="fact"),
            Operation(
                "update", memory="x" * 200, memory_id="m" * 64, event_time="2024"
            ),
        ],
        skipped=[Skipped("", "?", "It names no tool.")],
    )

    assert repr(operations) == (
        "Operations(2 operations, 1 skipped)\n"
        "  add     Likes <b>tea</b>  (fact)\n"
        f"  update  [mmmmmmmm] {'x' * 79}…  (2024)\n"
        "  skipped ?: It names no tool."
    )
    assert "Likes &lt;b&gt;tea" in operations._repr_html_()
    assert repr(Operations()) == "Operations([])"


def test_operations_of_two_stages_are_joined():
    usage = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
    scope = ForgetScope(cleared=1)
    first = Operations([Operation("clear")], model_calls=1, usage=usage, scope=scope)
    second = Operations([Operation("add", memory="t")], model_calls=1, usage=usage)
    both = first.followed_by(second)

    assert [op.type for op in both] == ["clear", "add"]
    assert (both.model_calls, both.usage["total_tokens"]) == (2, 6)
    assert both.scope == scope
    assert first.followed_by(Operations()).usage["total_tokens"] == 3
    assert Operations().followed_by(Operations()).usage is None
