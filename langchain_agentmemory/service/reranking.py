"""The reranker of a store: a second, more careful look at the best results.

A reranker that fails, or answers with something that makes no sense, never fails a
search: the order stays as it was, and the log says so.
"""

import inspect
import logging
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted, summary
from langchain_agentmemory.service.documents import document_of
from langchain_agentmemory.service.own_thread import in_own_loop, in_own_thread
from langchain_agentmemory.service.plans import Placed, Rerank
from langchain_agentmemory.types import MemoryEntry

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor

logger = logging.getLogger(__name__)

ScoreFunction = Callable[
    [str, list[MemoryEntry]], Iterable[float] | Awaitable[Iterable[float]]
]
"""Takes a query and entries, returns a score for each, in their order."""

RerankerLike: TypeAlias = "BaseDocumentCompressor | ScoreFunction"

_SCORE: Final = "relevance_score"  # where LangChain's compressors write it


class Reranker:
    """Asks what a store was given as its reranker, and checks the answer.

    Args:
        given: A LangChain document compressor, or a function (also an async one) that
            takes a query and a list of entries and returns one score per entry.

    Raises:
        InvalidInput: If it is neither.
    """

    def __init__(self, given: RerankerLike) -> None:
        """Check what was given; nothing is asked yet."""
        self._compressor: Any = None
        self._function: Any = None
        if all(
            callable(getattr(given, name, None))
            for name in ("compress_documents", "acompress_documents")
        ):
            self._compressor = given
        elif callable(given):
            self._function = given
        if isinstance(given, type):
            msg = (
                f"reranker must be an object, not the class {given.__qualname__}: make "
                f"one, as in reranker={given.__qualname__}(…)."
            )
            raise InvalidInput(msg)
        if not (self._compressor or self._function):
            msg = (
                f"reranker must be a LangChain document compressor, or a function of "
                f"a query and a list of entries that returns their scores, not "
                f"{quoted(given)}."
            )
            raise InvalidInput(msg)
        self.name = getattr(given, "__qualname__", None) or type(given).__qualname__
        self.last_error: str | None = None

    def rerank(self, request: Rerank) -> list[Placed] | None:
        """Return what is kept of the entries, best first; `None` if it failed."""
        try:
            answer = self._ask(request)
            if inspect.isawaitable(answer):
                answer = in_own_loop(partial(_awaited, answer))
            return self._read(answer, request)
        except Exception as error:  # noqa: BLE001 - whatever a reranker raises
            self._failed(error)
            return None

    async def arerank(self, request: Rerank) -> list[Placed] | None:
        """Async twin of `rerank`. What is not async runs in a thread of its own."""
        try:
            if self._compressor is not None:
                answer = await self._acompress(request)
            elif _is_async(self._function):
                answer = await self._ask(request)
            else:
                answer = await in_own_thread(partial(self._ask, request))
                if inspect.isawaitable(answer):
                    answer = await answer
            return self._read(answer, request)
        except Exception as error:  # noqa: BLE001 - whatever a reranker raises
            self._failed(error)
            return None

    async def _acompress(self, request: Rerank) -> Any:
        if not _has_own_async_method(self._compressor):
            return await in_own_thread(partial(self._ask, request))
        documents = _documents(request)
        try:
            return await self._compressor.acompress_documents(documents, request.query)
        except NotImplementedError:  # a method that some have in name only
            return await in_own_thread(partial(self._ask, request))

    def _ask(self, request: Rerank) -> Any:
        if self._compressor is None:
            return self._function(request.query, list(request.entries))
        return self._compressor.compress_documents(_documents(request), request.query)

    def _read(self, answer: Any, request: Rerank) -> list[Placed]:
        placed = (
            _placed_by_scores(answer, len(request.entries))
            if self._compressor is None
            else _placed_by_documents(answer, request.entries)
        )
        self.last_error = None
        return placed

    def gave_up(self, error: TimeoutError) -> None:
        """Note that a search did not wait for it any longer."""
        self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.last_error = summary(error)
        logger.warning(
            "The reranker %s failed (%s). The results keep the order that they had.",
            self.name,
            self.last_error,
        )


def _documents(request: Rerank) -> list[Any]:
    return [document_of(entry) for entry in request.entries]


def _placed_by_scores(answer: Iterable[object], expected: int) -> list[Placed]:
    """Return places by falling scores; equals keep their order.

    Raises:
        ValueError: If there are too few or too many, or one is no finite number.
    """
    scores = [_number(score) for score in islice(answer, expected + 1)]
    if len(scores) != expected:
        msg = f"it did not return one score for each of {expected} entries"
        raise ValueError(msg)
    return _by_score([Placed(place, score) for place, score in enumerate(scores)])


def _placed_by_documents(
    answer: Iterable[Any], entries: Sequence[MemoryEntry]
) -> list[Placed]:
    """Return the places of the documents that came back, of each the first time.

    Raises:
        ValueError: If a document is not one of those that were given, or has a score
            that is no finite number.
    """
    places = {entry.id: place for place, entry in enumerate(entries)}
    found: dict[int, Any] = {}
    for document in answer:
        # Some compressors make new documents, and copy the metadata only.
        place = places.get(document.id or "", places.get(document.metadata.get("id")))
        if place is None:
            msg = "it returned a document that it was not given"
            raise ValueError(msg)
        found.setdefault(place, document.metadata.get(_SCORE))
    if None in found.values():
        return [Placed(place, None) for place in found]
    return _by_score([Placed(place, _number(score)) for place, score in found.items()])


def _by_score(placed: list[Placed]) -> list[Placed]:
    return sorted(placed, key=lambda one: -(one.score or 0.0))


def _number(given: object) -> float:
    if isinstance(given, bool | str | bytes):
        msg = f"it returned {quoted(given)} as a score"
        raise TypeError(msg)
    number = float(given)  # type: ignore[arg-type]  # numbers of numpy and torch, too
    if not math.isfinite(number):
        msg = f"it returned the score {number}"
        raise ValueError(msg)
    return number


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async call
    )


def _has_own_async_method(compressor: Any) -> bool:
    """Tell whether the method is more than the synchronous one in some thread."""
    from langchain_core.documents import (  # noqa: PLC0415 - loaded with a compressor
        BaseDocumentCompressor,
    )

    method = getattr(compressor.acompress_documents, "__func__", None)
    return method is not BaseDocumentCompressor.acompress_documents


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer
