"""Verbs as plans: written once, run synchronously or asynchronously.

A plan is a generator that does the blocking work of a verb and pauses whenever texts
must be embedded, or results reranked. `run` drives it in the caller's thread; `arun`
drives its steps in an executor and awaits the embedder and the reranker on the caller's
loop. Whatever is cancelled between steps has not written anything yet, and a step that
writes runs to its end.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.types import MemoryEntry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

CLOSED: Final = "The store is closed: create a new MemoryStore."


class Embed(NamedTuple):
    """A request for vectors: one row per text.

    Attributes:
        texts: What to embed.
        role: Whether it is stored or asked.
        probing: The embedder is measured with texts that are nobody's: what fails is
            neither logged nor reported as a failure of the store's embedder.
    """

    texts: tuple[str, ...]
    role: Literal["document", "query"]
    probing: bool = False


class Rerank(NamedTuple):
    """A request for the order of the best results of a search."""

    query: str
    entries: tuple[MemoryEntry, ...]


class Placed(NamedTuple):
    """One entry of a reranked list.

    Attributes:
        place: Where it was among the entries that were asked about.
        score: What the reranker gave it, finite; `None` if it gave an order only.
    """

    place: int
    score: float | None


Request = Embed | Rerank
Answer: TypeAlias = "NDArray[np.float32] | list[Placed] | None"
"""For `Embed` float32, shape (texts, dimensions); for `Rerank` what is kept of the
entries, best first. `None` when the embedder or the reranker failed."""

Plan = Generator[Request, Any, T]


def run(plan: Plan[T], answer: Callable[[Request], Answer]) -> T:
    """Run a plan to its end in this thread."""
    try:
        request = next(plan)
        while True:
            request = plan.send(answer(request))
    except StopIteration as stop:
        result: T = stop.value
        return result


class _Done(NamedTuple):
    """The end of a plan: StopIteration cannot travel through a future."""

    value: object


async def arun(
    plan: Plan[T],
    answer: Callable[[Request], Awaitable[Answer]],
    executor: Executor,
) -> T:
    """Run a plan to its end without blocking the loop.

    Raises:
        BackendUnavailable: If the store was closed between two steps.
    """
    context = contextvars.copy_context()

    def step(answered: object) -> Request | _Done:
        try:
            return plan.send(answered)
        except StopIteration as stop:
            return _Done(stop.value)

    answered: object = None
    while True:
        outcome = await in_executor(executor, context.run, step, answered)
        if isinstance(outcome, _Done):
            return outcome.value  # type: ignore[return-value]  # what the plan returned
        answered = await answer(outcome)


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
