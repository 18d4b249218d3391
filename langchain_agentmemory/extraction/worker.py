"""Background workers: threads that work off mailboxes when there is something in them.

They start with the first job, survive a fork, and end with the store or the process:
at exit what waits is worked off for a few seconds; what is left stays in the outbox.
"""

import atexit
import heapq
import itertools
import logging
import math
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from langchain_agentmemory.backends.base import MICROSECONDS, Capability
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.extraction.learner import Learner, Pass
from langchain_agentmemory.extraction.retries import delay
from langchain_agentmemory.types import UserKey

logger = logging.getLogger("langchain_agentmemory")

POLL_SECONDS: Final = 2.0
"""How often a worker looks for what other processes have queued."""

EXIT_SECONDS: Final = 10.0
"""How long the end of the process waits for the outbox to empty."""

TURN_SECONDS: Final = 2.0
"""How long one user's conversations are worked off while other users wait."""

SOON: Final = 600 * MICROSECONDS
"""`flush` waits for what is due within this time, and not for a later hour."""


class Worker:
    """Threads that work off the mailboxes of one store.

    Args:
        learner: What works off one mailbox.
        concurrency: How many mailboxes are worked off at a time.
    """

    def __init__(self, learner: Learner, concurrency: int) -> None:
        """Start nothing yet."""
        self._learner = learner
        self._concurrency = concurrency
        shared = learner.service.backend.capabilities
        self._polls = Capability.SHARED in shared
        self._closed = False
        self._reset()
        _WORKERS.add(self)

    def _reset(self) -> None:
        """Begin without threads: at first, and in a forked child."""
        self._pid = os.getpid()
        self._condition = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._ready: OrderedDict[UserKey, None] = OrderedDict()
        self._running: set[UserKey] = set()
        self._again: set[UserKey] = set()
        self._later: list[tuple[float, int, UserKey]] = []
        self._numbers = itertools.count()
        self._next_poll = 0.0
        self.done = 0
        self.last_error: str | None = None

    # -- telling ---------------------------------------------------------------------

    def notify(self, user: UserKey) -> None:
        """Say that something waits in a user's mailbox."""
        with self._condition:
            self._add(user)
            self._start()
            self._condition.notify()

    def start(self) -> None:
        """Start the threads; what other processes left is worked off too."""
        with self._condition:
            self._start()

    def _add(self, user: UserKey) -> None:
        if user in self._running:
            self._again.add(user)
        else:
            self._ready[user] = None

    def _start(self) -> None:
        if self._closed:
            return
        if len(self._threads) == self._concurrency and self.is_alive:
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        while len(self._threads) < self._concurrency:
            thread = threading.Thread(
                target=_loop,
                args=(weakref.ref(self),),
                name="agentmemory-worker",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    @property
    def running(self) -> int:
        """How many mailboxes are being worked off."""
        return len(self._running)

    @property
    def is_alive(self) -> bool:
        """Whether all threads work, or wait for work."""
        return bool(self._threads) and all(
            thread.is_alive() for thread in self._threads
        )

    # -- working ---------------------------------------------------------------------

    def step(self, patience: float) -> bool:
        """Work off one mailbox, waiting for one for some time; `False` when closed."""
        user = self._next(patience)
        if user is not None:
            self._work(user)
        return not self._closed

    def _next(self, patience: float) -> UserKey | None:
        with self._condition:
            deadline = time.monotonic() + patience
            while not self._closed:
                self._promote()
                if self._ready:
                    user, _ = self._ready.popitem(last=False)
                    self._running.add(user)
                    return user
                now = time.monotonic()
                if now >= self._next_poll:
                    # Once at the beginning, for what an earlier process left behind.
                    self._next_poll = now + (POLL_SECONDS if self._polls else math.inf)
                    break
                until = min(self._wakes(), deadline)
                if until <= now:
                    return None
                self._condition.wait(until - now)
        if not self._closed:
            self._poll()
        return None

    def _wakes(self) -> float:
        due = self._later[0][0] if self._later else math.inf
        return min(due, self._next_poll)

    def _promote(self) -> None:
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._add(heapq.heappop(self._later)[2])

    def _poll(self) -> None:
        """Look for what other processes have queued, or left behind."""
        try:
            self._learner.outbox.unspill()
            users = self._learner.outbox.waiting_users()
        except BackendUnavailable as error:
            self.last_error = str(error)
            return
        except Exception as error:  # the thread must live on: nobody would restart it
            logger.exception("The outbox could not be looked through.")
            self.last_error = f"{type(error).__name__}: {error}"
            return
        with self._condition:
            known = {user for _, _, user in self._later}
            for user in users:
                if user not in known and user not in self._running:
                    self._ready.setdefault(user, None)
            self._condition.notify_all()

    def _work(self, user: UserKey) -> None:
        try:
            end = time.monotonic() + TURN_SECONDS
            result = self._learner.work(user, lambda: self._may_go_on(end))
        except BackendUnavailable as error:
            result = Pass(due_at=self._soon(), error=str(error))
        except BaseException as error:  # or the thread ends, and the user stays taken
            logger.exception("Working off a mailbox failed; it will be tried again.")
            result = Pass(due_at=self._soon(), error=f"{type(error).__name__}: {error}")
        with self._condition:
            self._running.discard(user)
            self.done += result.done
            self.last_error = result.error or self.last_error
            if user in self._again:
                self._again.discard(user)
                self._ready[user] = None
            elif result.due_at is not None:
                wait = (result.due_at - self._learner.service.backend.now()) / 1e6
                due = time.monotonic() + max(wait, 0.01)
                heapq.heappush(self._later, (due, next(self._numbers), user))
            self._condition.notify_all()

    def _may_go_on(self, end: float) -> bool:
        """Tell whether a thread may go on with the same mailbox."""
        return not self._closed and (not self._ready or time.monotonic() < end)

    def _soon(self) -> int:
        return self._learner.service.backend.now() + delay(1)

    # -- ends ------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing waits that can be done now; tell whether it is so.

        What checkers hold back, what is parked and what is due much later is not
        waited for.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        outbox = self._learner.outbox
        while True:
            outbox.unspill()
            users = outbox.waiting_users()
            if not users and not self._busy():
                return not outbox.spilled
            with self._condition:
                if self._closed:
                    return False
                scheduled = {user for _, _, user in self._later}
                for user in users:
                    if user not in scheduled:
                        self._add(user)
                self._start()
                self._condition.notify_all()
            if not self._wait_idle(deadline):
                return False
            if self._only_much_later(users):
                return False

    def _busy(self) -> bool:
        with self._condition:
            return bool(self._ready or self._running)

    def _wait_idle(self, deadline: float | None) -> bool:
        horizon = SOON / MICROSECONDS
        with self._condition:
            while True:
                now = time.monotonic()
                soon = [due for due, _, _ in self._later if due <= now + horizon]
                if not self._ready and not self._running and not soon:
                    return True
                if self._closed or (deadline is not None and now >= deadline):
                    return False
                # Wakes up now and then, so that Ctrl-C is heard on every platform.
                until = now + 0.5 if deadline is None else min(deadline, now + 0.5)
                self._condition.wait(until - now)

    def _only_much_later(self, users: list[UserKey]) -> bool:
        with self._condition:
            later = {user for _, _, user in self._later}
        return bool(users) and set(users) <= later

    def close(self, timeout: float | None = None) -> bool:
        """End the threads after what they are doing; tell whether they did."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
            threads = list(self._threads)
        deadline = None if timeout is None else time.monotonic() + timeout
        for thread in threads:
            if thread is not threading.current_thread():
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                thread.join(left)
        return not any(thread.is_alive() for thread in threads)


def _loop(reference: "weakref.ref[Worker]") -> None:
    """Work until the worker is closed, or nobody has it any more."""
    while True:
        worker = reference()
        if worker is None or not worker.step(1.0):
            return
        del worker


_WORKERS: "weakref.WeakSet[Worker]" = weakref.WeakSet()


def _at_exit() -> None:
    deadline = time.monotonic() + EXIT_SECONDS
    for worker in list(_WORKERS):
        if worker.is_alive:
            left = max(deadline - time.monotonic(), 0)
            try:
                if not worker.flush(left):
                    logger.warning(
                        "The process ends while turns wait to be extracted. A durable "
                        "store keeps them: they are extracted when it is opened again."
                    )
            except BackendUnavailable:
                continue
            worker.close(1.0)


def _after_fork() -> None:
    for worker in list(_WORKERS):
        worker._reset()  # noqa: SLF001 - threads and locks of the parent are not ours


def _register(hook: Callable[[], None]) -> None:
    # Before the executors shut down, which extraction needs: a graph runs in one.
    early: Callable[[Callable[[], None]], None] | None = getattr(
        threading, "_register_atexit", None
    )
    if early is not None:
        try:
            early(hook)
        except RuntimeError:  # the interpreter is ending already
            return
        return
    atexit.register(hook)


_register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
