"""What is noted per user: whether to learn, and what learning has cost."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from langchain_agentmemory.backends.base import (
    MICROSECONDS,
    Backend,
    Batch,
    PreconditionFailed,
    Record,
    Write,
)
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.extraction.mailbox import dump, learning_of, load
from langchain_agentmemory.service.changes import ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_agentmemory.types import UserKey

KEY: Final = "habits"
HOUR: Final = 3600 * MICROSECONDS

FRESH_SECONDS: Final = 1.0
REMEMBERED: Final = 10_000


class Cost(Protocol):
    """What an extraction cost."""

    @property
    def model_calls(self) -> int:
        """Calls of a model."""
        ...

    @property
    def input_tokens(self) -> int:
        """Tokens that it read."""
        ...

    @property
    def output_tokens(self) -> int:
        """Tokens that it wrote."""
        ...


@dataclass(frozen=True, slots=True)
class UserHabits:
    """What is noted about one user.

    Attributes:
        paused: Nothing is learnt from this user.
        threads: Conversations from which nothing is learnt.
        model_calls: Calls of a model, in all.
        input_tokens: Tokens that it read, in all.
        output_tokens: Tokens that it wrote, in all.
        hour: The hour of `hour_calls`, counted from the epoch.
        hour_calls: Calls in that hour.
    """

    paused: bool = False
    threads: tuple[str, ...] = ()
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    hour: int = 0
    hour_calls: int = 0

    def is_paused(self, thread_id: str | None) -> bool:
        """Tell whether nothing is to be learnt from a conversation."""
        return self.paused or (thread_id is not None and thread_id in self.threads)

    def calls_this_hour(self, now: int) -> int:
        """Return the calls in the hour of a time in microseconds."""
        return self.hour_calls if self.hour == now // HOUR else 0

    @staticmethod
    def next_hour(now: int) -> int:
        """Return the beginning of the next hour, in microseconds."""
        return (now // HOUR + 1) * HOUR

    def counted(self, cost: Cost, now: int) -> "UserHabits":
        """Return these habits with the cost of an extraction added."""
        return replace(
            self,
            model_calls=self.model_calls + cost.model_calls,
            input_tokens=self.input_tokens + cost.input_tokens,
            output_tokens=self.output_tokens + cost.output_tokens,
            hour=now // HOUR,
            hour_calls=self.calls_this_hour(now) + cost.model_calls,
        )

    def switched(self, thread_id: str | None, *, paused: bool) -> "UserHabits":
        """Return these habits with learning switched for a thread, or altogether."""
        if thread_id is None:
            return replace(self, paused=paused, threads=())
        others = tuple(name for name in self.threads if name != thread_id)
        return replace(self, threads=(*others, thread_id) if paused else others)


class Habits:
    """Reads and writes what is noted per user.

    Args:
        backend: Where it is kept.
    """

    def __init__(self, backend: Backend) -> None:
        """Remember the backend."""
        self._backend = backend
        self._recent: OrderedDict[UserKey, tuple[float, UserHabits]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, user: "UserKey") -> UserHabits:
        """Return what is noted about a user."""
        return self._read(user)[0]

    def lately(self, user: "UserKey") -> UserHabits:
        """Return what was noted about a user a second ago, or later.

        For the turn that must not wait: the worker looks again.
        """
        recent = self._recent.get(user)
        if recent is not None and time.monotonic() - recent[0] < FRESH_SECONDS:
            return recent[1]
        return self.of(user)

    def switch(self, user: "UserKey", thread_id: str | None, *, paused: bool) -> None:
        """Stop learning from a user or one conversation, or go on."""
        self._edit(user, lambda habits: habits.switched(thread_id, paused=paused))

    def count(self, user: "UserKey", cost: Cost, now: int) -> None:
        """Add the cost of an extraction."""
        if cost.model_calls:
            self._edit(user, lambda habits: habits.counted(cost, now))

    def _read(self, user: "UserKey") -> tuple[UserHabits, int]:
        (record,) = self._backend.read(learning_of(user), [KEY])
        habits = UserHabits()
        if record is not None and record.value:
            value: dict[str, Any] = load(record.value)
            value["threads"] = tuple(value.get("threads", ()))
            habits = UserHabits(**value)
        with self._lock:
            self._recent[user] = (time.monotonic(), habits)
            while len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)
        return habits, record.revision if record is not None else 0

    def forget(self, user: "UserKey") -> None:
        """Drop from memory what is noted about a user."""
        with self._lock:
            self._recent.pop(user, None)

    def _edit(
        self, user: "UserKey", edit: "Callable[[UserHabits], UserHabits]"
    ) -> None:
        for _ in range(ATTEMPTS):
            habits, revision = self._read(user)
            changed = edit(habits)
            if changed == habits:
                return
            value = {
                name: getattr(changed, name) for name in UserHabits.__dataclass_fields__
            }
            write = Write(Record(learning_of(user), KEY, dump(value)), revision)
            try:
                self._backend.commit(Batch([write]))
            except PreconditionFailed:
                continue
            self.forget(user)
            return
        msg = "Other writers kept changing the same record. Try again."
        raise BackendUnavailable(msg)
