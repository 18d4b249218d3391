"""How long a search waits for the embedder and for the reranker of its store.

They are other people's code, often behind a network. A search that gives one of them up
goes on without: by words, or in the order that it has.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from langchain_agentmemory.service.own_thread import OwnThread

T = TypeVar("T")

MOST_HANGING: Final = 8
"""Calls that were given up and have not returned: with so many, none is begun.

Those that run and still have time do not count: nobody can tell which of them will
hang, and a busy server whose embedder answers may have any number of them.
"""


class TimeLimit:
    """Waits for an answer, up to a limit.

    Without a limit a call is made in the thread of the caller; with one, a synchronous
    call is made in a thread of its own, because nothing else can be given up.

    Args:
        seconds: The limit, `None` to wait as long as it takes.
    """

    def __init__(self, seconds: float | None) -> None:
        """Begin with no call."""
        self.seconds = seconds
        self.exceeded = 0
        """How many calls were given up."""
        self._hanging: list[threading.Thread] = []
        self._lock = threading.Lock()

    def call(self, function: Callable[[], T]) -> T:
        """Return what a function returns.

        Raises:
            TimeoutError: If it takes too long, or too many earlier calls still hang.
        """
        if self.seconds is None:
            return function()
        with self._lock:
            self._hanging = [one for one in self._hanging if one.is_alive()]
            if len(self._hanging) >= MOST_HANGING:
                self.exceeded += 1
                msg = f"{MOST_HANGING} earlier calls have not returned yet"
                raise TimeoutError(msg)
        call = OwnThread(function)
        call.thread.start()
        call.thread.join(self.seconds)
        if call.thread.is_alive():
            with self._lock:
                self.exceeded += 1
                self._hanging.append(call.thread)
            raise TimeoutError(self._reason)
        return call.answer()

    async def acall(self, function: Callable[[], Awaitable[T]]) -> T:
        """Async twin of `call`, on the caller's loop; what takes too long is cancelled.

        Raises:
            TimeoutError: If it takes too long.
        """
        if self.seconds is None:
            return await function()
        try:
            return await asyncio.wait_for(function(), self.seconds)
        except TimeoutError as error:
            with self._lock:
                self.exceeded += 1
            raise TimeoutError(self._reason) from error

    @property
    def _reason(self) -> str:
        return f"no answer within {self.seconds:g} s"
