"""Reading LoCoMo: every turn of a conversation is a memory."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.retrieval.sets import EvaluationSet, Memory, Question
from langchain_agentmemory.types import Source

CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
UNANSWERABLE: Final = frozenset({"adversarial"})

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):(\d+)")  # some are written "D:11:26" or "D30:05"
_SAID_AT = "%I:%M %p on %d %B, %Y"


def read_locomo(path: Path, *, facts: bool = False) -> EvaluationSet:
    """Read a LoCoMo file: one user per conversation, one memory per turn.

    Questions without evidence are left out. The text of a turn is what was said, and
    the caption of its picture where it has one.

    Args:
        path: The file, a JSON list of conversations.
        facts: Whether the facts that the set extracted from each session become
            memories too. A fact carries the place of the turn that it names, and
            finding it counts as finding its turns.
    """
    memories: dict[str, list[Memory]] = {}
    questions: list[Question] = []
    samples = json.loads(path.read_text(encoding="utf-8"))
    for number, sample in enumerate(samples, start=1):
        user = str(sample.get("sample_id") or f"sample-{number}")
        turns = dict(_turns(sample["conversation"]))
        memories[user] = list(turns.values())
        if facts:
            memories[user] += _facts(sample.get("observation") or {}, turns)
        questions += _questions(user, sample.get("qa") or [])
    kept = "turns and extracted facts" if facts else "turns"
    return EvaluationSet(
        "locomo-facts" if facts else "locomo",
        f"LoCoMo, {kept} of {len(samples)} conversations",
        memories,
        questions,
        UNANSWERABLE,
    )


def turn_ids(text: str) -> Iterator[str]:
    """Yield the ids of turns in a text as `D<session>:<turn>`."""
    for session, turn in _TURN.findall(text):
        yield f"D{int(session)}:{int(turn)}"


def _turns(conversation: Mapping[str, Any]) -> Iterator[tuple[str, Memory]]:
    """Yield the id and the memory of every turn."""
    for session, turns in conversation.items():
        if not isinstance(turns, list) or not _SESSION.fullmatch(session):
            continue
        said_at = _time(conversation.get(f"{session}_date_time"))
        for position, turn in enumerate(turns):
            (name,) = turn_ids(turn["dia_id"])
            parts = (turn.get("text") or "", turn.get("blip_caption") or "")
            source = Source(session, (turn["dia_id"],), position, "user", said_at)
            text = "\n".join(filter(None, parts))
            yield name, Memory(text, frozenset({name}), source, (turn["speaker"],))


def _facts(
    observed: Mapping[str, Any], turns: Mapping[str, Memory]
) -> Iterator[Memory]:
    """Yield the facts of all sessions, in the place of the first turn they name."""
    for session in observed.values():
        for speaker, facts in session.items():
            for text, named in facts:
                told = named if isinstance(named, str) else " ".join(named)
                found = [name for name in turn_ids(told) if name in turns]
                if not found:
                    continue
                place = turns[found[0]].source
                assert place is not None
                source = Source(
                    place.thread_id,
                    tuple(found),
                    place.position,
                    place.role,
                    place.said_at,
                )
                yield Memory(text, frozenset(found), source, (speaker,))


def _questions(user: str, given: list[dict[str, Any]]) -> Iterator[Question]:
    for number, question in enumerate(given):
        evidence = frozenset(turn_ids(" ".join(question.get("evidence") or [])))
        if evidence:
            yield Question(
                f"{user}/{number}",
                user,
                question["question"],
                CATEGORIES[int(question["category"])],
                evidence,
            )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.strptime(text, _SAID_AT)  # noqa: DTZ007
