"""Stores filled with the same memories, and CPU time without that of the embedder."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langgraph.store.base import BaseStore, PutOp

from benchmarks.storage.corpus import HashEmbedder, Texts, value

AT_ONCE = 500
"""Items per batch while a store is filled."""


def user_name(number: int) -> str:
    """Return the name of a user."""
    return f"user-{number:05}"


def namespace(user: int) -> tuple[str, ...]:
    """Return where the memories of a user are."""
    return ("memories", "default", user_name(user))


def fill(store: BaseStore, texts: Texts, users: int, per_user: int) -> None:
    """Put memories, user after user."""
    for ops in _batches(texts, users, per_user):
        store.batch(ops)


def _batches(texts: Texts, users: int, per_user: int) -> Iterator[list[PutOp]]:
    ops: list[PutOp] = []
    for user in range(users):
        for number in range(per_user):
            given = value(texts.text(), number)
            ops.append(PutOp(namespace(user), f"item-{number:07}", given))
            if len(ops) == AT_ONCE:
                yield ops
                ops = []
    if ops:
        yield ops


class Clock:
    """CPU time of this process, all threads, without that of making vectors.

    Args:
        embedder: Whose costs are taken out, `None` without vectors.
    """

    def __init__(self, embedder: HashEmbedder | None) -> None:
        """Remember the embedder."""
        self._embedder = embedder

    def cpu_us(self, call: Callable[[], object]) -> float:
        """Call a function once and return the CPU microseconds that it took."""
        embedding = self._embedder.cpu_ns if self._embedder else 0
        started = time.process_time_ns()
        call()
        cpu = time.process_time_ns() - started
        if self._embedder:
            cpu -= self._embedder.cpu_ns - embedding
        return cpu / 1e3

    def mean_us(
        self, call: Callable[[Any], object], arguments: Sequence[object]
    ) -> float:
        """Call a function with each argument, return CPU microseconds per call."""

        def block() -> None:
            for argument in arguments:
                call(argument)

        return self.cpu_us(block) / len(arguments)
