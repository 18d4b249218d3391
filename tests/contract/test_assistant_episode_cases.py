"""The cases for assistant episodes that need no model: the filter and the numbers.

The folder is taken from `AGENTMEMORY_CASES`, by default a neighbour of the repository.
The flow through both stages is run with the extractor.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from langchain_agentmemory.extraction.assistant import Pair, candidates
from langchain_agentmemory.extraction.grounding import grounded

CASES = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[3] / "shared" / "cases")
)


def rows(area: str) -> list[Any]:
    path = CASES / "auto-memory.jsonl"
    if not path.is_file():
        missing = pytest.mark.skip(reason=f"no cases in {CASES}: AGENTMEMORY_CASES")
        return [pytest.param(None, marks=missing)]
    cases = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        pytest.param(case, id=case["name"]) for case in cases if case["area"] == area
    ]


@pytest.mark.parametrize("case", rows("assistant_episode_filter"))
def test_filter(case):
    given = case["given"]
    pair = Pair(1, given["user"], given["assistant"])

    assert bool(candidates([pair])) is case["then"]["candidate"]


@pytest.mark.parametrize("case", rows("assistant_episode_numbers"))
def test_numbers(case):
    given = case["given"]

    assert grounded(given["memory"], given["source"]) is case["then"]["accepted"]
