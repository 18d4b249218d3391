"""Calls to the LangGraph store below a `BaseStoreBackend`, through its public API.

Everything goes through `batch`, from whatever thread: a store that lives in an event
loop runs it there. What such a store would answer with a deadlock is refused first.
"""

import asyncio
import json
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, Result, SearchOp
from langgraph.store.base.batch import AsyncBatchedBaseStore

from langchain_agentmemory.backends.base import Namespace
from langchain_agentmemory.errors import (
    BackendUnavailable,
    InvalidInput,
    MemoryStoreError,
)
from langchain_agentmemory.quoting import summary

PAGE: Final = 1_000
"""Items asked for in one call; LangGraph's own servers answer up to so many."""

_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # as JSON writes it

_READS_AT_MOST: Final = 20  # in-memory stores take no lock: see `call`

_WRONG_SIDE: Final = (
    "This store lives in the event loop that is running here, so a synchronous call "
    "would wait for itself: use the async twin, for example "
    "`await store.asearch_memories(...)` or `await graph.ainvoke(...)`."
)


class StoreBelow:
    """A LangGraph store, with its errors in our words.

    Args:
        store: The store.
        hold: Whether to keep it alive. Otherwise calls fail once nobody else does.
    """

    def __init__(self, store: BaseStore, *, hold: bool = True) -> None:
        """Remember the store."""
        self._ref = weakref.ref(store)
        self._held = store if hold else None
        self.kind = type(store).__name__
        self.expires = bool(store.supports_ttl)

    def check(self) -> BaseStore:
        """Return the store, if it can be called from here.

        Raises:
            InvalidInput: If the call would wait for the loop that it blocks.
            BackendUnavailable: If the store, or the loop that it lives in, is gone.
        """
        store = self._held or self._ref()
        if store is None:
            msg = f"The {self.kind} is gone: keep it as long as what wraps it."
            raise BackendUnavailable(msg)
        loop = _home(store)
        if loop is None:
            return store
        if loop is _running_loop():
            raise InvalidInput(_WRONG_SIDE)
        if loop.is_closed() or not loop.is_running():
            # It would wait for an answer that nobody can give.
            msg = (
                f"The event loop in which the {self.kind} was made has ended: make "
                f"the store in the loop that uses it."
            )
            raise BackendUnavailable(msg)
        return store

    def call(self, ops: Sequence[Op]) -> list[Result]:
        """Run operations as one batch, as atomic as the store makes it.

        Raises:
            InvalidInput: If the store can only be used asynchronously from here.
            BackendUnavailable: If the store failed.
        """
        if not ops:
            return []
        store = self.check()
        reading = not any(isinstance(op, PutOp) for op in ops)
        for attempt in range(1, _READS_AT_MOST + 1):
            try:
                return store.batch(ops)
            except asyncio.InvalidStateError as error:
                raise InvalidInput(_WRONG_SIDE) from error
            except MemoryStoreError:
                raise
            except Exception as error:
                # LangGraph's InMemoryStore takes no lock: a reader can meet a writer
                # of another thread in the middle of a dict. Reading again is safe.
                met = isinstance(error, RuntimeError) and "changed size" in str(error)
                if met and reading and attempt < _READS_AT_MOST:
                    continue
                raise self._refused(ops, error) from error
        raise AssertionError  # the last attempt returns or raises

    def _refused(self, ops: Sequence[Op], error: Exception) -> MemoryStoreError:
        detail = summary(error)
        values = [op.value for op in ops if isinstance(op, PutOp) and op.value]
        if any(map(_is_special, values)):
            msg = (
                f"The {self.kind} below cannot hold NUL characters or lone "
                f"surrogates: remove them from the text ({detail})."
            )
            return InvalidInput(msg)
        return BackendUnavailable(f"The {self.kind} below refused: {detail}")

    def items(self, prefix: Namespace) -> dict[Namespace, dict[str, Item]]:
        """Return all items at and below a prefix, by namespace and key."""
        found: dict[Namespace, dict[str, Item]] = {}
        for item in self._pages(prefix):
            found.setdefault(item.namespace, {})[item.key] = item
        return found

    def has_more_than(self, count: int) -> bool:
        """Tell whether the whole store holds more items than that."""
        op = SearchOp((), limit=1, offset=count, refresh_ttl=False)
        return bool(self.call([op])[0])

    def _pages(self, prefix: Namespace) -> Iterator[Item]:
        offset = 0
        while True:
            op = SearchOp(prefix, limit=PAGE, offset=offset, refresh_ttl=False)
            page: Any = self.call([op])[0]
            yield from page
            if len(page) < PAGE:
                return
            offset += PAGE

    def get(self, namespace: Namespace, keys: Sequence[str]) -> dict[str, Item]:
        """Return the items under keys of one namespace."""
        found: dict[str, Item] = {}
        for start in range(0, len(keys), PAGE):
            group = keys[start : start + PAGE]
            ops = [GetOp(namespace, key, refresh_ttl=False) for key in group]
            results: list[Any] = self.call(ops)
            found.update((item.key, item) for item in results if item is not None)
        return found


def _is_special(value: Mapping[str, Any]) -> bool:
    """Tell whether a value holds text that some databases have no place for."""
    text = json.dumps(dict(value), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return _NUL.search(text) is not None


def _home(store: BaseStore) -> asyncio.AbstractEventLoop | None:
    """Return the event loop that a store lives in, as far as it tells."""
    if not isinstance(store, AsyncBatchedBaseStore):
        return None
    # No public name for it is common to all of these stores.
    loop = getattr(store, "loop", None) or getattr(store, "_loop", None)
    return loop if isinstance(loop, asyncio.AbstractEventLoop) else None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
