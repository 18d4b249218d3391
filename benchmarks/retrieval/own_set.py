"""Reading our own set, which is in `ours/` with its description."""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.retrieval.sets import EvaluationSet, Memory, Question, Update
from langchain_agentmemory.types import Source

FOLDER: Final = Path(__file__).parent / "ours"


class Pair(NamedTuple):
    """Two texts that mean the same, or do not.

    Attributes:
        first: A text.
        second: Another.
        language: `"zh"` or `"en"`.
        related: Whether they mean the same.
    """

    first: str
    second: str
    language: str
    related: bool


def read_ours(folder: Path = FOLDER) -> EvaluationSet:
    """Read `memories.jsonl` and `questions.jsonl`."""
    memories: dict[str, list[Memory]] = defaultdict(list)
    for line in _lines(folder / "memories.jsonl"):
        memories[line["user"]].append(_memory(line))
    questions = [_question(line) for line in _lines(folder / "questions.jsonl")]
    return EvaluationSet(
        "ours",
        "Ours, Chinese and English",
        dict(memories),
        questions,
    )


def read_rewrites(folder: Path = FOLDER) -> list[dict[str, str]]:
    """Read `past_tense.jsonl`: `question_id` and `question`."""
    return _lines(folder / "past_tense.jsonl")


def read_pairs(folder: Path = FOLDER) -> list[Pair]:
    """Read `pairs.jsonl`."""
    return [
        Pair(line["a"], line["b"], line["lang"], line["related"])
        for line in _lines(folder / "pairs.jsonl")
    ]


def _memory(line: Mapping[str, Any]) -> Memory:
    source = Source(
        line.get("thread"),
        (line["id"],) if "thread" in line else (),
        line.get("position"),
        line.get("role"),
        datetime.fromisoformat(line["said_at"]),
    )
    return Memory(
        line["text"],
        frozenset({line["id"]}),
        source,
        tuple(line.get("participants", ())),
        tuple(line.get("topics", ())),
        line.get("kind"),
        line.get("event_time"),
        line.get("location"),
        tuple(line.get("supersedes", ())),
    )


def _question(line: Mapping[str, Any]) -> Question:
    update = None
    if "newer" in line:
        newer, older = frozenset({line["newer"]}), frozenset({line["older"]})
        update = Update(newer, older, line["asks"])
    return Question(
        line["id"],
        line["user"],
        line["question"],
        line["type"],
        frozenset(line["relevant"]),
        line["lang"],
        datetime.fromisoformat(line["now"]) if "now" in line else None,
        update,
        frozenset(line.get("context", ())),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
