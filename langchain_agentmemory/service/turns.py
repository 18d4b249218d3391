"""One caller at a time for the same question; who waits finds the answer made."""

import asyncio
import threading
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final, NamedTuple

_LONGEST: Final = 30.0
"""Seconds that a caller waits for another one before it goes on by itself."""

_Place = tuple[asyncio.AbstractEventLoop, Hashable]


class _Turn(NamedTuple):
    thread: int
    running: threading.Lock
    """Held until it is done: an event takes ten times as long to make."""


class Turns:
    """Lets the first caller with a key go on, and the others wait until it is done.

    Then they go on, too: what the first one made is in a cache, or they have to make it
    themselves. Synchronous callers wait only for those of other threads, and coroutines
    only for those of their own loop, so that nobody can wait for itself.
    """

    def __init__(self) -> None:
        """Begin with nobody."""
        self._lock = threading.Lock()
        self._turns: dict[Hashable, _Turn] = {}
        self._async_turns: dict[
            tuple[asyncio.AbstractEventLoop, Hashable], asyncio.Event
        ]
        self._async_turns = {}

    @contextmanager
    def turn(self, key: Hashable, seconds: float | None = None) -> Iterator[None]:
        """Wait for the first caller of other threads, if there is one.

        Args:
            key: What callers have in common.
            seconds: How long to wait before giving up; without it, who waited long
                enough goes on by itself.

        Raises:
            TimeoutError: If the first caller takes longer than that.
        """
        mine = _Turn(threading.get_ident(), threading.Lock())
        with mine.running:
            with self._lock:
                first = self._turns.setdefault(key, mine)
            if first is mine:
                try:
                    yield
                finally:
                    with self._lock:
                        del self._turns[key]
                return
        if first.thread != mine.thread:
            _wait(first.running, seconds)
        yield

    @asynccontextmanager
    async def aturn(self, key: Hashable) -> AsyncIterator[None]:
        """Async twin of `turn`, among the coroutines of a loop."""
        mine, place = asyncio.Event(), (asyncio.get_running_loop(), key)
        with self._lock:
            first = self._async_turns.setdefault(place, mine)
        if first is not mine:
            with suppress(TimeoutError):
                await asyncio.wait_for(first.wait(), _LONGEST)
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                del self._async_turns[place]
            mine.set()


def _wait(running: threading.Lock, seconds: float | None) -> None:
    """Wait until a lock was free for a moment."""
    if running.acquire(timeout=_LONGEST if seconds is None else seconds):
        running.release()
    elif seconds is not None:
        msg = f"another caller with the same question had no answer in {seconds:g} s"
        raise TimeoutError(msg)
