"""What a chat has to do with its learning: show what came of it, and wait for it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from langchain_agentmemory.backends.base import Capability
from langchain_agentmemory.cli.jobs import counted
from langchain_agentmemory.cli.learning import Learning
from langchain_agentmemory.cli.screen import say, show_warning, waiting
from langchain_agentmemory.extraction.jobs import ExtractionJob
from langchain_agentmemory.store import MemoryStore

SETTLE_SECONDS: Final = 20.0
"""How long a command waits that shows what is known."""

LEAVE_SECONDS: Final = 30.0
"""How long leaving waits for what was said last."""

_LOOK_SECONDS: Final = 0.05


class Background:
    """The learning of a chat, as the person at the prompt sees it.

    Args:
        store: The memory.
        learning: How it learns, `None` if it does not.
    """

    def __init__(self, store: MemoryStore, learning: Learning | None) -> None:
        """Remember both."""
        self._store = store
        self._learning = learning

    def show_news(self, user: str) -> None:
        """Print what was learnt from a user since the last call."""
        if self._learning is not None:
            for line in self._learning.news.of(self._store.user(user)):
                say(f"  {line}", "magenta")

    def settle(self, user: str, seconds: float = SETTLE_SECONDS) -> bool:
        """Wait until what a user said is learnt; tell whether it is.

        What is to be tried again only later is not waited for, and Ctrl-C ends it.
        """
        if self._learning is None:
            return True
        end = datetime.now(UTC) + timedelta(seconds=seconds)
        left = self._waiting(user, end)
        if left and not self._learning.by_rules:
            try:
                with waiting(f"learning from {counted(len(left))} …"):
                    while left and datetime.now(UTC) < end:
                        time.sleep(_LOOK_SECONDS)
                        left = self._waiting(user, end)
            except KeyboardInterrupt:
                pass
        self.show_news(user)
        return not left

    def leave(self, user: str) -> None:
        """Wait for what was said last, and say what is left."""
        if self._learning is None:
            return
        self.settle(user, LEAVE_SECONDS)
        jobs = self._store.extraction_jobs(user)
        left = sum(1 for job in jobs if job.state == "waiting")
        parked = sum(1 for job in jobs if job.state == "parked")
        if left and Capability.DURABLE in self._store.backend.capabilities:
            say(f"Not learnt from yet, and kept for next time: {counted(left)}.", "dim")
        elif left:
            show_warning(f"Not learnt from, and lost with this store: {counted(left)}.")
        if parked:
            show_warning(f"{counted(parked)} could not be learnt from: see /jobs.")

    def replay(self, user: str, ids: list[str]) -> None:
        """Try again what failed, and say what came of it."""
        self._store.retry_jobs(user, ids)
        self.settle(user)
        left = [job for job in self._store.extraction_jobs(user) if job.id in ids]
        done = len(ids) - len(left)
        if done:
            say(f"Learnt from {counted(done)} that had failed.")
        for job in left:
            show_warning(f"Still not learnt from: {job.error or 'it waits'}")

    def _waiting(self, user: str, end: datetime) -> list[ExtractionJob]:
        jobs = self._store.extraction_jobs(user)
        found = [job for job in jobs if job.state == "waiting"]
        # What was said later does not overtake what has to wait.
        later = bool(found and found[0].due_at and found[0].due_at > end)
        return [] if later else found
