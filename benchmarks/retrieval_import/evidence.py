"""The questions of a LoCoMo file and the turns that answer them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
ANSWERABLE: Final = frozenset({1, 2, 3, 4})

_TURN = re.compile(r"D:?(\d+):(\d+)")  # some are written "D:11:26" or "D30:05"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation.

    Attributes:
        text: What is asked.
        category: A key of `CATEGORIES`.
        evidence: Ids of the turns that answer it.
    """

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation: its name, and what is asked about it."""

    name: str
    questions: tuple[Question, ...]


def read_conversations(path: Path) -> list[Conversation]:
    """Read the questions of a LoCoMo file; those without evidence are left out."""
    samples = json.loads(path.read_text(encoding="utf-8"))
    return [
        Conversation(
            str(sample.get("sample_id") or f"sample-{number}"),
            tuple(_questions(sample.get("qa") or [])),
        )
        for number, sample in enumerate(samples, start=1)
    ]


def _questions(given: list[dict[str, Any]]) -> Iterator[Question]:
    for question in given:
        evidence = frozenset(turn_ids(" ".join(question.get("evidence") or [])))
        if evidence:
            yield Question(question["question"], int(question["category"]), evidence)


def turn_ids(text: str) -> Iterator[str]:
    """Yield the ids of turns in a text as `D<session>:<turn>`."""
    for session, turn in _TURN.findall(text):
        yield f"D{int(session)}:{int(turn)}"


def recall(evidence: frozenset[str], found: set[str]) -> float:
    """Return which part of the evidence was found."""
    return len(evidence & found) / len(evidence)
