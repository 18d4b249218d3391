"""Verbs as plans: written once, run synchronously or asynchronously.

A plan is a generator that does the blocking work of a verb and pauses whenever texts
must be embedded. `run` drives it in the caller's thread; `arun` drives its steps in an
executor and awaits the embedder on the caller's loop. Whatever is cancelled between
steps has not written anything yet, and a step that writes runs to its end.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from langchain_agentmemory.errors import BackendUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

CLOSED: Final = "The store is closed: create a new MemoryStore."


class Embed(NamedTuple):
    """A request for vectors: one row per text."""

    texts: tuple[str, ...]
    role: Literal["document", "query"]


Vectors = "NDArray[np.float32] | None"
"""float32, shape (texts, dimensions); `None` when the embedder failed."""

Plan = Generator[Embed, "NDArray[np.float32] | None", T]


def run(plan: Plan[T], embed: "Callable[[Embed], NDArray[np.float32] | None]") -> T:
    """Run a plan to its end in this thread."""
    try:
        request = next(plan)
        while True:
            request = plan.send(embed(request))
    except StopIteration as stop:
        result: T = stop.value
        return result


class _Done(NamedTuple):
    """The end of a plan: StopIteration cannot travel through a future."""

    value: object


async def arun(
    plan: Plan[T],
    aembed: "Callable[[Embed], Awaitable[NDArray[np.float32] | None]]",
    executor: Executor,
) -> T:
    """Run a plan to its end without blocking the loop.

    Raises:
        BackendUnavailable: If the store was closed between two steps.
    """
    context = contextvars.copy_context()

    def step(vectors: "NDArray[np.float32] | None") -> Embed | _Done:
        try:
            return plan.send(vectors)
        except StopIteration as stop:
            return _Done(stop.value)

    vectors = None
    while True:
        outcome = await in_executor(executor, context.run, step, vectors)
        if isinstance(outcome, _Done):
            return outcome.value  # type: ignore[return-value]  # what the plan returned
        vectors = await aembed(outcome)


def in_executor(
    executor: Executor, call: Callable[..., T], *arguments: object
) -> Awaitable[T]:
    """Start a call in a store's threads.

    Raises:
        BackendUnavailable: If the store was closed meanwhile, its threads with it.
    """
    loop = asyncio.get_running_loop()
    try:
        return loop.run_in_executor(executor, call, *arguments)
    except RuntimeError as error:  # how an executor refuses after its shutdown
        raise BackendUnavailable(CLOSED) from error
