"""The `preload` rows of the two case files, run against `PreloadMemories`.

The folder is taken from `AGENTMEMORY_CASES`, by default a neighbour of the repository.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableLambda

from langchain_agentmemory import PreloadMemories
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.nodes.injection import as_messages
from langchain_agentmemory.nodes.rendering import END
from tests.unit_tests.nodes.doubles import Broken, Reader, entry

CASES = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[4] / "shared" / "cases")
)

INVERTED = {
    "missing_user_no_preload": (
        "A run without a user is a mistake in the set-up, so it is an error and not a "
        "turn without memories."
    ),
    "user_mode_prepends_to_first_history_user": (
        "The block goes before the current user message, not before the oldest one: "
        "that keeps the history cacheable and the memories near the question."
    ),
}
"""Rows that describe what we do differently on purpose, with the reason."""

NOT_OURS = {
    "user_mode_order": "Summary and recall blocks belong to the session layer.",
    "memory_service_preferred_over_ingestor": (
        "There is one reader: the one that is given, else the store of the run."
    ),
}
"""Rows about parts that preload does not have."""

ROLES = {"user": HumanMessage, "system": SystemMessage}


def rows() -> list[Any]:
    found = []
    for name in ("memory-core.jsonl", "auto-memory.jsonl"):
        path = CASES / name
        if not path.is_file():
            continue
        cases = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found += [
            pytest.param(case, id=f"{path.stem}: {case['name']}")
            for case in cases
            if case["area"] == "preload"
        ]
    missing = pytest.mark.skip(reason=f"no case files in {CASES}: AGENTMEMORY_CASES")
    return found or [pytest.param(None, marks=missing)]


def reader_for(given: dict[str, Any]) -> Reader:
    found = given.get("search", given.get("hits", 0))
    if isinstance(found, int):
        found = [f"s{i + 1}" for i in range(found)]
    hits = Broken if found == "error" else [entry(name, id=name) for name in found]
    stored = given.get("stored", 1)
    reader = Reader(*(f"m{i + 1}" for i in range(stored)), found=hits)
    if given.get("read") == "error":
        reader.broken_reads = {1}
    return reader


def messages_for(given: dict[str, Any]) -> list[AnyMessage]:
    if "parts" in given:
        kinds = [part.partition(": ") for part in given["parts"]]
        parts = [{"type": kind, "text": text} for kind, _, text in kinds]
        return [HumanMessage([given["content"], *parts])]
    if "request" in given or "history" in given:
        listed = given.get("request") or given["history"]
        pairs = [line.split(":", 1) for line in listed]
        return as_messages([(role, text.strip()) for role, text in pairs])
    return [HumanMessage(given.get("query", given.get("message", "hello")))]


def request_of(preload: PreloadMemories, messages: list[AnyMessage]) -> list[Any]:
    seen: list[Any] = []
    model = RunnableLambda(lambda request: seen.append(request) or "ok")
    preload.wrap(model).invoke(ChatPromptValue(messages=messages))
    (request,) = seen
    return request


@pytest.mark.parametrize("case", rows())
def test_case(case):
    given, then, name = case["given"], case["then"], case["name"]
    if name in NOT_OURS:
        pytest.skip(NOT_OURS[name])
    reader, messages = reader_for(given), messages_for(given)
    user = given.get("user", "alice")
    if name == "missing_user_no_preload":
        with pytest.raises(InvalidInput):
            PreloadMemories(reader, limit=given["budget"], user=user)
        assert reader.reads == then["reads"]
        return
    preload = PreloadMemories(
        reader,
        limit=given.get("budget", 0 if "parts" not in given else 1),
        mode=given.get("mode", "system"),
        user=user,
    )
    if "parts" in given:
        reader.memories = [entry("a"), entry("b")]
    request = request_of(preload, messages)
    check_reads(then, reader)
    check_injected(then, "\n".join(str(m.text) for m in request))
    block = preload.render(user)
    if name == "user_mode_prepends_to_first_history_user":
        assert [str(m.text) for m in request] == ["earlier", "ok", f"{block}\n\nnow"]
    else:
        check_places(then, request, block)


def check_reads(then: dict[str, Any], reader: Reader) -> None:
    if "reads" in then:
        # Their 0 for "all" is our None.
        assert reader.reads == [limit or None for limit in then["reads"]]
    if "searches" in then:
        assert len(reader.searches) == then["searches"]
    if "search" in then:
        query, options = reader.searches[0]
        assert query == then["search"]["query"]
        assert options.limit == then["search"]["max_results"]
        assert options.deduplicate is then["search"]["deduplicate"]
        assert options.mode == "auto"  # hybrid wherever the store has an index
    if "query" in then:
        assert reader.searches[0][0] == then["query"]


def check_injected(then: dict[str, Any], text: str) -> None:
    if "injected" in then:
        assert text.count("\n- [") == (then["injected"] or 0)
        assert (END in text) is bool(then["injected"])
    for identifier in then.get("injected_ids", ()):
        assert f"- [{identifier}] " in text


def check_places(then: dict[str, Any], request: list[Any], block: str) -> None:
    if "roles" in then:
        roles = [{"human": "user"}.get(m.type, m.type) for m in request]
        assert roles == then["roles"]
    if expected := then.get("system_content"):
        before = expected.removesuffix("block only").removesuffix(
            " + blank line + block"
        )
        assert request[0].content == (f"{before}\n\n{block}" if before else block)


def test_every_deviation_names_a_row():
    names = {param.values[0]["name"] for param in rows() if param.values[0]}
    if not names:
        pytest.skip(f"no case files in {CASES}: AGENTMEMORY_CASES")
    assert {*INVERTED, *NOT_OURS} <= names
