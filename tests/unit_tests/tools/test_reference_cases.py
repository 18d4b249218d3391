"""The reference cases of tools, their switches, and the dates they read.

The cases are data of a sibling folder; see `AGENTMEMORY_CASES`. Where we differ on
purpose, the tables say why, and the tests demand our behaviour instead: `REFUSED` are
errors that change nothing, `SHAPED` have the same content in another shape.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.identity import memory_id
from langchain_agentmemory.times import end_of_period, parse_event_time
from langchain_agentmemory.tools import TOOL_NAMES, build_tools, select_tools
from langchain_agentmemory.types import UserKey
from tests.unit_tests.tools.conftest import as_call

REPOSITORY = Path(__file__).parents[3]
FOLDER = Path(
    os.environ.get("AGENTMEMORY_CASES", REPOSITORY.parent / "shared" / "cases")
)
FILE = FOLDER / "memory-core.jsonl"
CASES = (
    [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    if FILE.is_file()
    else []
)
USER = UserKey("demo-app", "u-100")

pytestmark = pytest.mark.skipif(
    not CASES, reason=f"no reference cases at {FILE}: set AGENTMEMORY_CASES"
)

REFUSED = {
    "add unparsable time dropped": "a date that cannot be read is an error",
    "add only unparsable time": "a date that cannot be read is an error",
    "add unknown keys ignored": "unknown arguments are refused, so models learn",
    "context checked before arguments": "LangChain checks arguments first",
    "unknown tool name ignored": "unknown names are refused, so that typos show",
}
SHAPED = {
    "schema property names": "memory_search also takes a limit",
    "update returns rotated id": "the answer is a line of text and the entry",
    "search blank query echoed": "the answer is a line of text and the entries",
}
ELSEWHERE = {
    "sqlitevec dimension zero uses embedder": "the index, not the tools",
    "bad table name": "the SQLite backend",
    "redis key prefix ''": "the Redis backend",
    "redis key prefix 'prod'": "the Redis backend",
    "redis key prefix 'prod:'": "the Redis backend",
}


def cases(area, *, schemas=None):
    chosen = [
        case
        for case in CASES
        if case["area"] == area
        and case["name"] not in ELSEWHERE
        and schemas in {None, case["when"] == "inspect schemas"}
    ]
    return pytest.mark.parametrize(
        "case", chosen or [pytest.param({}, marks=pytest.mark.skip)], ids=_name
    )


def _name(case):
    return case.get("name", "none")


def moment(text):
    return None if text is None else datetime.fromisoformat(text)


def test_every_deviation_names_a_case():
    assert {*REFUSED, *SHAPED, *ELSEWHERE} <= {case["name"] for case in CASES}


@cases("time_parse")
def test_dates_are_read(case):
    expected = moment(case["then"]["value"])
    if expected is None:
        with pytest.raises(InvalidInput):
            parse_event_time(case["given"]["raw"], UTC)
    else:
        found, _ = parse_event_time(case["given"]["raw"], UTC)
        assert found == expected
        assert found.utcoffset() == expected.utcoffset()


@cases("end_of_period")
def test_periods_end_as_in_the_search_tool(case):
    """To the second: we include the last second's fractions, too."""
    found = end_of_period(case["given"]["raw"], UTC, whole_day=True)
    expected = moment(case["then"]["value"])
    assert found.replace(microsecond=0) == expected
    assert found.utcoffset() == expected.utcoffset()


@cases("options")
def test_tools_are_selected(case):
    given, then = case["given"], case["then"]
    shown = dict.fromkeys(given.get("hide", ()), False)
    shown |= dict.fromkeys(given.get("expose", ()), True)
    for step in given.get("sequence", ()):  # the last word counts, as in any mapping
        verb, name = step.split()
        shown[name] = verb == "expose"

    def select():
        return select_tools(
            has_extractor=given.get("extractor", False),
            enabled=given.get("enable"),
            exposed=shown,
            custom=[given["custom"]] if "custom" in given else (),
        )

    if case["name"] in REFUSED:
        with pytest.raises(InvalidInput):
            select()
        return
    selection = select()
    assert list(selection.exposed) == then["tools"]
    if "enabled" in then:
        assert sorted(selection.enabled) == then["enabled"]


@cases("tool", schemas=True)
def test_schemas_have_the_arguments(case):
    key = "required" if "required" in case["name"] else "properties"
    then = dict(case["then"])
    if case["name"] in SHAPED:
        then["memory_search"] = [*then["memory_search"], "limit"]
    for tool in build_tools(TOOL_NAMES):
        schema = tool.tool_call_schema.model_json_schema()
        if tool.name in then:
            assert sorted(schema.get(key, ())) == sorted(then[tool.name])


class Spy(MemoryStore):
    """Remembers how it was asked."""

    asked = None

    def search_memories(self, user, query, options=None, **overrides):
        self.asked = (query, options)
        return super().search_memories(user, query, options, **overrides)

    def read_memories(self, user, limit=None):
        self.asked = limit
        return super().read_memories(user, limit)


@cases("tool", schemas=False)
def test_tools_do_what_they_do(case):
    given, then, name = case["given"], case["then"], case["when"]
    store = Spy(app_name=USER.app_name)
    if "stored" in given:
        store.add_memory(USER, given["stored"])
    store.asked = None
    user = None if "context" in given else USER
    (tool,) = build_tools([name], store=store, user=user)
    answer = tool.invoke(as_call(name, **given["args"]))
    asked = store.asked
    stored = store.read_memories(USER)
    if case["name"] in REFUSED:
        assert (answer.status, stored) == ("error", [])
        return
    check_error(answer, then)
    check_search(asked, then)
    if "id" in then:
        assert answer.artifact.id == then["id"]
    if "event_time" in then:
        assert answer.artifact.event_time == moment(then["event_time"])
    if "kind" in then:
        assert answer.artifact.kind == then["kind"]
    if "stored_text" in then:
        assert [entry.memory for entry in stored] == [then["stored_text"]]
    if "limit_used" in then:
        assert asked == then["limit_used"]
    if "result" in then:
        check_result(answer, asked, then)


def check_error(answer, then):
    """Errors are of the equivalent sort; the words are ours."""
    expected = then.get("error_contains") or then.get("error")
    assert answer.status == ("error" if expected else "success")
    ours = {
        "memory content is required": "required",
        "memory ID is required": "memory_id",
        "failed to update memory": "Nothing was changed",
        "failed to delete memory": "no memory with the id",
        "no invocation context found": "who the user is",
        "no session available": "who the user is",
        "missing appName or userID": "who the user is",
        "argument decoding fails": "do not fit",
    }
    if expected:
        assert ours[expected] in answer.content


def check_search(asked, then):
    expected = then.get("options")
    if expected is None:
        return
    query, options = asked
    assert query == expected.get("query", query)
    assert (options.kind or "") == expected["kind"]
    assert options.kind_fallback == expected["kind_fallback"]
    assert options.deduplicate == expected["deduplicate"]
    assert options.order_by_event_time == expected["order_by_event_time"]
    assert options.mode == "auto"  # hybrid wherever there are vectors
    assert options.time_after == moment(expected["time_after"])
    before = options.time_before and options.time_before.replace(microsecond=0)
    assert before == moment(expected["time_before"])
    if "max_results" in expected:
        assert options.limit == 10
        assert options.similarity_threshold is None


def check_result(answer, asked, then):
    expected = then["result"]
    if "results" in expected:
        assert answer.artifact == expected["results"]
        assert (asked is not None) == then["service_called"]
        return
    assert answer.artifact.id == expected["memory_id"]
    assert expected["memory_id"] in answer.content
    assert answer.artifact.memory == expected["memory"]
    assert list(answer.artifact.topics) == expected["topics"]
    assert answer.artifact.id == memory_id(
        expected["memory"], USER.app_name, USER.user_id
    )
