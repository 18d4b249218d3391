"""A worker in the foreground: learns from what other processes have queued."""

import os
import signal
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from types import FrameType
from typing import Any, Final, Self

from langchain_agentmemory.backends.base import Capability
from langchain_agentmemory.cli.jobs import counted
from langchain_agentmemory.cli.learning import policy_named, telling
from langchain_agentmemory.cli.opening import choose_model, default_url
from langchain_agentmemory.cli.options import PolicyName
from langchain_agentmemory.cli.screen import say, shortened
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.extraction.base import Extractor
from langchain_agentmemory.extraction.extractor import MemoryExtractor
from langchain_agentmemory.extraction.verbatim import VerbatimExtractor
from langchain_agentmemory.store import MemoryStore
from langchain_agentmemory.types import UserKey

LOOK_SECONDS: Final = 0.25
"""How often the status is looked at."""

INTERRUPTED: Final = 130
"""Exit code after a second Ctrl-C."""

_SHOWN: Final = ("pending", "held", "running", "done", "failed")


def worker_extractor(
    model: str | None,
    policy: PolicyName | None,
    *,
    verbatim: bool,
    assistant_episodes: bool,
) -> tuple[Extractor, str]:
    """Return what a worker extracts with, and what to tell about it.

    Raises:
        InvalidInput: If there is no model, or both a model and `--verbatim`.
    """
    if verbatim:
        if model is not None:
            msg = "Choose one: --model NAME to ask a model, --verbatim to ask none."
            raise InvalidInput(msg)
        extractor = VerbatimExtractor(
            policy=policy_named(policy), assistant=assistant_episodes
        )
        return extractor, "none: what was said is kept word for word"
    chosen = choose_model(model)
    if chosen.offline:
        msg = (
            "A worker needs a language model: set OPENAI_API_KEY, or OPENAI_BASE_URL "
            "for a server of your own, and choose with --model. --verbatim works "
            "without one and keeps what was said word for word."
        )
        raise InvalidInput(msg)
    asking = MemoryExtractor(
        chosen.model,
        policy=policy_named(policy),
        assistant_episodes=assistant_episodes,
    )
    return asking, chosen.label


def open_worker_store(
    url: str | None, extractor: Extractor, *, verbose: bool = False, **options: Any
) -> MemoryStore:
    """Open the store whose outbox is worked off.

    Args:
        url: Where it is, `None` = in the user's data folder.
        extractor: What extracts.
        verbose: Print what is learnt, which are words of users.
        options: What else the constructor of `MemoryStore` takes.

    Raises:
        InvalidInput: If no other process can queue anything in it.
    """
    store = MemoryStore.from_url(
        url or default_url(),
        extractor=extractor,
        extraction_graph=telling(_tell) if verbose else None,
        **options,
    )
    if Capability.SHARED not in store.backend.capabilities:
        store.close()
        msg = (
            "No other process can put turns into this store: name one that is shared, "
            "e.g. --url sqlite:///memories.db."
        )
        raise InvalidInput(msg)
    return store


class Stop:
    """Whether the process was asked to end: once gracefully, twice at once.

    To be entered before anything is worked on.
    """

    def __init__(self) -> None:
        """Ask for nothing yet."""
        self.asked = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        """Listen to Ctrl-C and SIGTERM."""
        # Only the main thread may, and only it hears them.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave signals to who had them before."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _hear(self, _: int, __: FrameType | None) -> None:
        if self.asked:
            # Nothing can interrupt the thread of an extraction. What it has not
            # written stays in the outbox.
            os._exit(INTERRUPTED)
        self.asked = True


class Foreground:
    """Works off an outbox until it is told to stop, and says how it goes.

    Args:
        store: The store, with an extractor.
        stop: Tells when to stop.
    """

    def __init__(self, store: MemoryStore, stop: Stop) -> None:
        """Remember both."""
        self._store = store
        self._stop = stop
        self._unread: str | None = None  # why the status could not be read
        self._last: Mapping[str, object] = {}

    def run(self, *, once: bool) -> bool:
        """Work; tell whether no turn failed for good meanwhile.

        Args:
            once: End when nothing waits any more that can be done soon.
        """
        before = self._parked()
        self._look()
        if once:
            self._work_off()
        else:
            self._store.start_worker()
            while not self._stop.asked:
                time.sleep(LOOK_SECONDS)
                self._look()
        if self._stop.asked and self._store.status()["running"]:
            _print("stopping after what is under way …")
        self._store.stop_worker()
        self._look()
        left = self._count("waiting")
        new = self._parked() - before
        if new:
            _print(f"{counted(len(new))} failed for good: see `jobs list`", "red")
        _print(
            "ended" + (f", {counted(left)} left for the next worker" if left else "")
        )
        return not new

    def _work_off(self) -> None:
        while not self._stop.asked:
            began = time.monotonic()
            done = self._store.flush(LOOK_SECONDS)
            self._look()
            if done or time.monotonic() - began < LOOK_SECONDS:
                return  # what is left is due much later

    def _look(self) -> None:
        """Print a line if the status changed."""
        try:
            status = self._store.status()
        except BackendUnavailable as error:
            if str(error) != self._unread:
                self._unread = str(error)
                _print(shortened(self._unread), "red")
            return
        self._unread = None
        shown = {name: status[name] for name in _SHOWN}
        if shown != self._last:
            self._last = shown
            _print(_summary(status), "red" if status["failed"] else "")

    def _parked(self) -> set[str]:
        jobs = self._store.extraction_jobs()
        return {job.id for job in jobs if job.state == "parked"}

    def _count(self, state: str) -> int:
        return sum(1 for job in self._store.extraction_jobs() if job.state == state)


def _summary(status: Mapping[str, object]) -> str:
    counts = (
        f"{status['pending']} waiting",
        f"{status['held']} held" if status["held"] else "",
        "working" if status["running"] else "idle",
        f"{status['done']} done",
        f"{status['failed']} failed" if status["failed"] else "",
        f"lag {status['lag']}" if status["pending"] else "",
    )
    return " · ".join(filter(None, counts))


def _tell(user: UserKey, line: str) -> None:
    _print(f"  {user.user_id}  {line}", "magenta")


def _print(text: str, style: str = "") -> None:
    say(f"{datetime.now():%H:%M:%S}  {text}", style)  # noqa: DTZ005 - as on the wall
