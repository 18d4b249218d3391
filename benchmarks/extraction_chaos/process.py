"""One process: it queues turns of its users, or works off the outbox, until killed.

Queued turns are acknowledged on a line of its log; what the log does not say may be in
the outbox or not.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_agentmemory import AppendOnly, MemoryStore, Operation
from langchain_agentmemory.extraction.operations import Operations

THREADS = 3
"""Conversations per user."""


class Echo:
    """Makes one memory of every statement; says in its log what it was asked."""

    def __init__(self, log: Path, pause: float) -> None:
        """Remember where to write, and how long a model would take."""
        self.policy = AppendOnly()
        self._log = log
        self._pause = pause

    def should_extract(self, context: object) -> bool:
        """Extract at once."""
        return context is not None

    def extract(
        self, messages: Sequence[BaseMessage], *_: Any, **__: Any
    ) -> Operations:
        """Return an addition per statement of the user."""
        said = [str(m.content) for m in messages if isinstance(m, HumanMessage)]
        with self._log.open("a", encoding="utf-8") as log:
            log.write("".join(f"asked {text}\n" for text in said))
        time.sleep(self._pause)
        return Operations([Operation("add", memory=text) for text in said])

    async def aextract(
        self, messages: Sequence[BaseMessage], *_: Any, **__: Any
    ) -> Operations:
        """Do the same."""
        return self.extract(messages)


def statement(user: int, number: int) -> str:
    """Return what a user says in a turn."""
    return f"User {user} states fact number {number:05d}"


def turn(user: int, number: int) -> list[BaseMessage]:
    """Return a turn."""
    return [
        HumanMessage(statement(user, number), id=f"{user}-{number}"),
        AIMessage("Noted", id=f"{user}-{number}-answer"),
    ]


def main() -> int:
    """Run one process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--file", required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--turns", type=int, default=0, help="per user, 0 = work only")
    parser.add_argument("--from-turn", default="")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.01)
    options = parser.parse_args()
    store = MemoryStore.from_url(
        f"sqlite:///{options.file}",
        extractor=Echo(options.log, options.pause),
        extraction_concurrency=options.workers,
        memory_limit=None,
        job_timeout=5,
    )
    begun = [int(text) for text in options.from_turn.split(",") if text]
    with options.log.open("a", encoding="utf-8", buffering=1) as log:
        for number in range(options.turns):
            for user in range(options.users):
                if number < (begun[user] if begun else 0):
                    continue
                thread = f"t{number % THREADS}"
                said = turn(user, number)
                if store.enqueue_extraction(f"u{user}", said, thread_id=thread):
                    log.write(f"queued {user} {number}\n")
    done = store.flush(60)
    store.close()
    sys.stdout.flush()
    os._exit(0 if done else 1)


if __name__ == "__main__":
    main()
