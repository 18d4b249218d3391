"""The cases for external context: which turns drew on retrieved documents.

The folder is taken from `AGENTMEMORY_CASES`, by default a neighbour of the repository.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from langchain_agentmemory.extraction.external import consumed_external_context

CASES = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[3] / "shared" / "cases")
)

NOT_HERE = (
    "That a thread stays marked, and what a worker does with a marked one, belongs to "
    "the worker: whether a turn drew on documents is all that is decided here."
)


class Polluting:
    name = "inner"
    pollutes_auto_memory = True


class Wrapper:
    def __init__(self, name, inner):
        self.name = name
        self.original = lambda: inner


def rows() -> list[Any]:
    path = CASES / "auto-memory.jsonl"
    if not path.is_file():
        missing = pytest.mark.skip(reason=f"no cases in {CASES}: AGENTMEMORY_CASES")
        return [pytest.param(None, marks=missing)]
    cases = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        pytest.param(case, id=case["name"])
        for case in cases
        if case["area"] == "pollution"
    ]


@pytest.mark.parametrize("case", rows())
def test_case(case):
    given, then = case["given"], case["then"]
    if case["when"] != "tool call finishes" or "memory_mode" not in then:
        pytest.skip(NOT_HERE)
    name, _, description = given["tool"].partition(" ")
    tools = [Wrapper(name, Polluting())] if "pollutes" in description else []
    call = {"name": name, "args": {}, "id": "c1", "type": "tool_call"}
    status = "error" if given["result"] == "error" else "success"
    messages = [
        AIMessage("", tool_calls=[call]),
        ToolMessage("found", tool_call_id="c1", name=name, status=status),
    ]

    marked = then["memory_mode"] == "polluted"
    assert consumed_external_context(messages, tools) is marked
