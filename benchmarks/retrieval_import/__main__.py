"""`python -m benchmarks.retrieval_import FILE`: import LoCoMo, ask every question.

The file is read and written by the code behind `memories import`, one user per
conversation; every question then goes through `search_memories` as it stands.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from benchmarks.retrieval_import.evidence import (
    ANSWERABLE,
    CATEGORIES,
    Conversation,
    Question,
    read_conversations,
    recall,
    turn_ids,
)
from langchain_agentmemory import MemoryStore
from langchain_agentmemory.transfer import (
    Statement,
    import_statements,
    read_file,
)
from langchain_agentmemory.types import MemoryEntry, UserKey

Ranking = Literal["default", "reference"]
Turns = Mapping[tuple[str, datetime | None], set[str]]

RANKINGS: Final[tuple[Ranking, ...]] = ("default", "reference")
DEPTHS: Final = (10, 30)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question found.

    Attributes:
        question: The question.
        recalls: Recall of its evidence at each of `DEPTHS`.
        seconds: How long the search took, wall.
    """

    question: Question
    recalls: tuple[float, ...]
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for.

    Args:
        arguments: The command line, that of this process if not given.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval_import",
        description=(
            "Import the conversations of a LoCoMo file, one user each, and print how "
            "much of the evidence of its questions search_memories finds."
        ),
    )
    parser.add_argument("file", type=Path, help="a LoCoMo file (not shipped)")
    parser.add_argument(
        "--url", help="a store that is empty; a SQLite file that is thrown away if not"
    )
    given = parser.parse_args(arguments)
    conversations = read_conversations(given.file)
    statements = read_statements(given.file)
    with tempfile.TemporaryDirectory(prefix="retrieval-benchmark-") as folder:
        url = given.url or f"sqlite:///{Path(folder) / 'store.db'}"
        bring_in(url, statements)
        turns = {name: turns_by_content(found) for name, found in statements.items()}
        for ranking in RANKINGS:
            answers = ask(url, ranking, conversations, turns)
            print("\n".join(summary(ranking, answers)))
    return 0


def read_statements(file: Path) -> dict[str, list[Statement]]:
    """Read a LoCoMo file; return its statements by conversation.

    Raises:
        SystemExit: If part of it cannot be read.
    """
    reading = read_file(file, format="locomo")
    if reading.problems:
        problems = "\n".join(map(str, reading.problems))
        msg = f"{len(reading.problems)} parts cannot be read:\n{problems}"
        raise SystemExit(msg)
    found: dict[str, list[Statement]] = defaultdict(list)
    for statement in reading.statements:
        found[statement.conversation or ""].append(statement)
    return dict(found)


def bring_in(url: str, statements: Mapping[str, list[Statement]]) -> None:
    """Import every conversation as memories of a user of that name."""
    with MemoryStore.from_url(url, memory_limit=None) as store:
        for name, found in statements.items():
            started = time.perf_counter()
            done = import_statements(store, UserKey("locomo", name), found)
            print(
                f"{name}: {done.added} added, {done.known} repeated, "
                f"{len(done.refused)} refused, {time.perf_counter() - started:.1f} s"
            )


def turns_by_content(statements: Sequence[Statement]) -> Turns:
    """Return which turns a memory stands for: what is repeated is stored once."""
    turns: dict[tuple[str, datetime | None], set[str]] = defaultdict(set)
    for statement in statements:
        source = statement.source
        ids = " ".join(source.message_ids) if source else ""
        said_at = source.said_at if source else None
        turns[statement.memory, said_at].update(turn_ids(ids))
    return turns


def ask(
    url: str,
    ranking: Ranking,
    conversations: Sequence[Conversation],
    turns: Mapping[str, Turns],
) -> list[Answer]:
    """Ask every question of every conversation."""
    answers = []
    with MemoryStore.from_url(url, memory_limit=None, ranking=ranking) as store:
        for conversation in conversations:
            user = UserKey("locomo", conversation.name)
            store.search_memories(user, "warm up", limit=1)
            for question in conversation.questions:
                search = _searcher(store, user, ranking)
                started = time.perf_counter()
                found = search(question.text)
                seconds = time.perf_counter() - started
                recalls = tuple(
                    recall(
                        question.evidence,
                        _turns_of(found[:depth], turns[conversation.name]),
                    )
                    for depth in DEPTHS
                )
                answers.append(Answer(question, recalls, seconds))
    return answers


def _searcher(
    store: MemoryStore, user: UserKey, ranking: Ranking
) -> Callable[[str], list[MemoryEntry]]:
    options: dict[str, Any] = {"limit": max(DEPTHS), "mode": "lexical"}
    if ranking == "reference":
        options["similarity_threshold"] = 0.0  # its default, 0.3, cuts the tail off
    return lambda text: store.search_memories(user, text, **options)


def _turns_of(entries: Sequence[MemoryEntry], turns: Turns) -> set[str]:
    found: set[str] = set()
    for entry in entries:
        said_at = entry.event_time
        naive = said_at.replace(tzinfo=None) if said_at else None
        found |= turns.get((entry.memory, naive), set())
    return found


def summary(ranking: str, answers: Sequence[Answer]) -> list[str]:
    """Return the lines that report a ranking."""
    depths = ", ".join(f"@{depth}" for depth in DEPTHS)
    lines = [f"\n{ranking} ranking: evidence recall {depths}"]
    groups = [("answerable", ANSWERABLE)]
    groups += [(name, frozenset({number})) for number, name in CATEGORIES.items()]
    for name, categories in groups:
        chosen = [a for a in answers if a.question.category in categories]
        if chosen:
            means = [
                100 * sum(a.recalls[place] for a in chosen) / len(chosen)
                for place in range(len(DEPTHS))
            ]
            numbers = "  ".join(f"{mean:5.1f}" for mean in means)
            lines.append(f"  {name:12} {numbers}   ({len(chosen)} questions)")
    waits = sorted(a.seconds for a in answers)
    lines.append(f"  search, wall p50: {waits[len(waits) // 2] * 1000:.2f} ms")
    return lines


if __name__ == "__main__":
    sys.exit(main())
