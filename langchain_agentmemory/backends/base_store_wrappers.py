"""One wrapper per LangGraph store, as long as the store lives.

A wrapper keeps its store alive, and a store that is still used should find what was
read of it still warm. A weak dictionary from stores to wrappers could not do both: its
values would keep its keys alive for ever. So what is kept per store is a pattern that
holds the store weakly, and callers get a copy of it that holds it strongly.
"""

import copy
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from langgraph.store.base import BaseStore

from langchain_agentmemory.backends.base_store import BaseStoreBackend

W = TypeVar("W")


class Wrappers(Generic[W]):
    """Make wrappers, and remember them.

    Args:
        make: Makes a wrapper of a backend, and keeps it as its `backend`.
    """

    def __init__(self, make: Callable[[BaseStoreBackend], W]) -> None:
        """Start with none."""
        self._make = make
        self._lock = threading.Lock()
        self._used: weakref.WeakValueDictionary[int, Any] = (
            weakref.WeakValueDictionary()
        )
        # By identity: a store may define equality, and be no key of a dictionary.
        self._patterns: dict[int, Any] = {}

    def of(self, store: BaseStore) -> W:
        """Return the wrapper of a store, a new one if the last was closed."""
        with self._lock:
            wrapper: Any = self._used.get(id(store))
            if wrapper is None or wrapper.backend.closed:
                pattern = self._patterns.get(id(store))
                if pattern is None:
                    weakref.finalize(store, self._patterns.pop, id(store), None)
                if pattern is None or pattern.backend.closed:
                    pattern = self._make(BaseStoreBackend(store, hold=False))
                    self._patterns[id(store)] = pattern
                wrapper = copy.copy(pattern)
                wrapper.wrapped_store = store
                self._used[id(store)] = wrapper
            result: W = wrapper
            return result
