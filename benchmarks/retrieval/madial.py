"""Reading MADial-Bench: what a dialogue should remind of, in Chinese and English.

The benchmark queries with everything that was said before the first turn where a
memory is wanted, and searches the memories of the speaker only (`gen_dialog_embedding`
and `embedding_top_20_new` in its repository, github.com/hejunqing/MADial-Bench). That
is the set `-own` here. Without a suffix all memories are in one pool, where twice as
many compete, and with `-last` the query is only the last two utterances.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from benchmarks.retrieval.sets import EvaluationSet, Memory, Question

Query = Literal["history", "last"]

EVERYONE: Final = "everyone"
NAMES: Final = {1: "Bart", 2: "Lisa"}
"""The two speakers, by the `user-id` of a dialogue."""

_LANGUAGES: Final = {"zh": "Chinese", "en": "English"}
_LAST: Final = 2
_SPEAKER = re.compile(r"^\s*<[^>]*>\s*[:：]?\s*")


def read_madial(folder: Path) -> Iterator[EvaluationSet]:
    """Yield the sets of each language that the folder has, three per language.

    Args:
        folder: Where `MADial-Bench-<language>-memory.json` and `-dialogue.jsonl` are.
    """
    for language in _LANGUAGES:
        stem = f"MADial-Bench-{language}"
        memory = folder / f"{stem}-memory.json"
        dialogue = folder / f"{stem}-dialogue.jsonl"
        if memory.exists() and dialogue.exists():
            yield read_dialogues(memory, dialogue, language=language)
            yield read_dialogues(memory, dialogue, language=language, query="last")
            yield read_dialogues(memory, dialogue, language=language, own=True)


def read_dialogues(
    memory: Path,
    dialogue: Path,
    *,
    language: str,
    query: Query = "history",
    own: bool = False,
) -> EvaluationSet:
    """Read a set of memories and the dialogues that should find them.

    Args:
        memory: Lines of JSON, memories by id.
        dialogue: Lines of JSON, dialogues with the ids of what they should find.
        language: `"zh"` or `"en"`.
        query: `"history"`: all that was said before the first test turn; `"last"`: the
            last two utterances of it.
        own: Whether a dialogue searches its speaker's memories only.
    """
    memories: dict[str, list[Memory]] = {}
    for number, value in _memories(memory):
        user = _owner(value["event"]) if own else EVERYONE
        memories.setdefault(user, []).append(
            Memory(value["event"], frozenset({number}), event_time=value["time"])
        )
    questions = []
    for place, given in enumerate(_lines(dialogue)):
        said = utterances(given["dialogue"][: given["test-turn"][0]])
        chosen = said if query == "history" else said[-_LAST:]
        user = NAMES[given["user-id"]] if own else EVERYONE
        evidence = frozenset(map(str, given["relevant-id"]))
        text = "\n".join(chosen)
        questions.append(
            Question(str(place), user, text, "dialogue", evidence, language)
        )
    suffix = "-own" if own else "-last" if query == "last" else ""
    asked = "the last two utterances" if query == "last" else "the dialogue so far"
    pool = "the speaker's memories" if own else "one pool"
    return EvaluationSet(
        f"madial-{language}{suffix}",
        f"MADial-Bench, {_LANGUAGES[language]}, {asked} against {pool}",
        memories,
        questions,
    )


def utterances(dialogue: list[str]) -> list[str]:
    """Return what was said, without the names of speakers, quotes and markers."""
    said = (_SPEAKER.sub("", line.strip()).strip('"“” \n') for line in dialogue)
    return [text for text in said if text]


def _memories(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line in _lines(path):
        yield from line.items()


def _owner(event: str) -> str:
    """Return whose memory it is; the English file does not say it apart."""
    return next(name for name in NAMES.values() if name in event)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
