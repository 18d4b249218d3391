"""Calling other people's code in threads that no exit of the interpreter waits for.

The threads of `asyncio.to_thread`, and of every other executor, are joined at exit: one
call that hangs keeps the program from ending. `to_thread` cannot carry a StopIteration
either: whoever awaits such a call waits for ever.
"""

import asyncio
import contextvars
import os
import queue
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MOST_THREADS: Final = 32
"""Calls of coroutines that run at once, like those of `asyncio.to_thread`."""


class OwnThread(Generic[T]):
    """A call in a daemon thread, in the caller's context.

    Args:
        function: What is called once `thread` is started.
    """

    def __init__(self, function: Callable[[], T]) -> None:
        """Make the thread; it is not started."""
        self._work = _Work(function)
        self.thread = threading.Thread(
            target=self._work, name="agentmemory-ask", daemon=True
        )

    def answer(self) -> T:
        """Return what the call returned, or raise what it raised."""
        return self._work.answer()


def in_own_loop(function: Callable[[], Awaitable[T]]) -> T:
    """Wait for an async function on behalf of a synchronous caller.

    It runs in a loop and thread of its own, because the caller may have a loop.
    """

    async def awaited() -> T:
        return await function()

    call = OwnThread(lambda: asyncio.run(awaited()))
    call.thread.start()
    call.thread.join()
    return call.answer()


async def in_own_thread(function: Callable[[], T]) -> T:
    """Await a synchronous function that runs in one of a few daemon threads.

    Raises:
        RuntimeError: If it raises StopIteration, which coroutines cannot raise.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    work = _Work(function)

    def serve() -> None:
        if done.cancelled():  # given up before its turn came
            return
        work()
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(_set_done, done)

    _threads.run(serve)
    await done
    return work.answer()


def _set_done(done: "asyncio.Future[None]") -> None:
    if not done.done():
        done.set_result(None)


class _Work(Generic[T]):
    """A function that is called in another thread, and what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._context = contextvars.copy_context()
        self._answer: list[T] = []
        self._error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self._answer.append(self._context.run(self._function))
        except BaseException as error:  # noqa: BLE001 - raised again in `answer`
            self._error = error

    def answer(self) -> T:
        if self._error is not None:
            raise self._error
        return self._answer[0]


class _Threads:
    """A few daemon threads, started when they are needed and kept."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._started = 0

    def run(self, work: Callable[[], None]) -> None:
        self._queue.put(work)
        if self._idle.acquire(blocking=False):
            return
        with self._lock:
            if self._started == MOST_THREADS:
                return
            self._started += 1
        threading.Thread(
            target=self._serve, name="agentmemory-call", daemon=True
        ).start()

    def _serve(self) -> None:
        while True:
            self._queue.get()()
            self._idle.release()


_threads = _Threads()


def _start_over() -> None:
    """Threads do not survive a fork."""
    global _threads  # noqa: PLW0603 - one for all stores of a process
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)
