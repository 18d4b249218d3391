"""One writing process: mixed writes, each logged before it is tried and after.

Run as `python -m benchmarks.chaos.worker FILE LOG NUMBER WRITES LIMIT ON_LIMIT`. The
log is written with `os.write`, so that what stands in it survives a SIGKILL.
"""

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from langchain_agentmemory import MemoryEntry, MemoryStore
from langchain_agentmemory.errors import MemoryLimitExceeded, MemoryNotFound

USER = "ann"
SHARED = 60
"""Facts that every process adds, so that the same memory is added at the same time."""


class Log:
    """A file to which each line is written at once, in one piece."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, line: dict[str, Any]) -> None:
        """Write one line."""
        os.write(self._file, json.dumps(line).encode() + b"\n")


def open_store(path: str, limit: int, on_limit: str) -> MemoryStore:
    """Open the store that all processes share."""
    return MemoryStore.from_url(
        f"sqlite:///{path}",
        memory_limit=limit,
        on_limit=on_limit,
        soft_delete=on_limit == "evict",
    )


class Worker:
    """Add, update and delete memories of its own, and add shared ones."""

    def __init__(self, store: MemoryStore, log: Log, number: int) -> None:
        """Start without memories of its own."""
        self._store = store
        self._log = log
        self._number = number
        self._random = random.Random(number)
        self._own: list[str] = []

    def run(self, writes: int) -> None:
        """Do so many writes."""
        for turn in range(writes):
            self._one(turn)

    def _one(self, turn: int) -> None:
        text = f"fact {turn} of process {self._number}"
        dice = self._random.random()
        if dice < 0.15:  # noqa: PLR2004 - shares of the mix
            fact = f"shared fact {self._random.randrange(SHARED)}"
            self._logged(turn, "share", None, lambda: self._add(fact))
        elif dice < 0.5 and self._own:  # noqa: PLR2004
            old = self._own.pop(self._random.randrange(len(self._own)))
            self._logged(turn, "update", old, lambda: self._update(old, text))
        elif dice < 0.7 and self._own:  # noqa: PLR2004
            old = self._own.pop(self._random.randrange(len(self._own)))
            self._logged(turn, "delete", old, lambda: self._delete(old))
        else:
            self._logged(turn, "add", None, lambda: self._add(text))

    def _logged(self, turn: int, name: str, old: str | None, write: Any) -> None:
        self._log.write({"turn": turn, "try": name, "old": old})
        try:
            entry: MemoryEntry | bool = write()
        except MemoryLimitExceeded:
            self._log.write({"turn": turn, "refused": "limit"})
        except MemoryNotFound:
            self._log.write({"turn": turn, "refused": "unknown"})
        else:
            done: dict[str, Any] = {"turn": turn, "done": name}
            if isinstance(entry, MemoryEntry):
                done["id"] = entry.id
                done["at"] = entry.updated_at.isoformat(timespec="microseconds")
                if name != "share":
                    self._own.append(entry.id)
            else:
                done["existed"] = entry
            self._log.write(done)

    def _add(self, text: str) -> MemoryEntry:
        return self._store.add_memory(USER, text, topics=["chaos"])

    def _update(self, old: str, text: str) -> MemoryEntry:
        return self._store.update_memory(USER, old, text)

    def _delete(self, old: str) -> bool:
        return self._store.delete_memory(USER, old)


def main() -> None:
    """Run one process."""
    path, log, number, writes, limit, on_limit = sys.argv[1:]
    store = open_store(path, int(limit), on_limit)
    Worker(store, Log(Path(log)), int(number)).run(int(writes))
    store.close()


if __name__ == "__main__":
    main()
