"""How a tool gets at the store and the user of its run.

`store_of` and `user_of` are for authors of custom tools. Both work for a tool that a
`MemoryStore` hands out (bound to that store and, if given, to a user), and for a tool
that is put into a graph by itself.

Example:
    ```python
    from typing import Annotated, Any

    from langchain_core.tools import InjectedToolArg, tool

    from langchain_agentmemory.tools import store_of, user_of


    @tool
    def memory_add(memory: str, runtime: Annotated[Any, InjectedToolArg] = None) -> str:
        \"\"\"Remember a statement about the user, in upper case.\"\"\"
        entry = store_of(runtime).add_memory(user_of(runtime), memory.upper())
        return f"Remembered under {entry.id}"
    ```
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.types import (
    MemoryEntry,
    MemoryReader,
    Source,
    TimeInput,
    User,
    UserKey,
)
from langchain_agentmemory.users import (
    UserResolver,
    UserSource,
    current_runtime,
)

StoreWrapper = Callable[[Any], Any]
"""Turns a LangGraph store without memory verbs into one that has them."""


@runtime_checkable
class MemoryWriter(Protocol):
    """What the write tools need of a store, each verb with its async twin."""

    def add_memory(  # noqa: PLR0913 - the fields of a memory
        self,
        user: User,
        memory: str,
        *,
        topics: Iterable[str] = (),
        kind: str | None = None,
        event_time: TimeInput | None = None,
        participants: Iterable[str] = (),
        location: str | None = None,
        source: Source | None = None,
        supersedes: Iterable[str] = (),
    ) -> MemoryEntry:
        """Store a memory; the same content again is the same memory."""
        ...

    def update_memory(  # noqa: PLR0913 - the fields of a memory
        self,
        user: User,
        memory_id: str,
        memory: str | None = None,
        *,
        topics: Iterable[str] | None = None,
        kind: str | None = None,
        event_time: TimeInput | None = None,
        participants: Iterable[str] | None = None,
        location: str | None = None,
    ) -> MemoryEntry:
        """Change a memory: `None` leaves a field, an empty value clears it."""
        ...

    def delete_memory(self, user: User, memory_id: str) -> bool:
        """Delete a memory; `False` if the user has none with this id."""
        ...

    def clear_memories(self, user: User) -> int:
        """Delete all memories of the user and return how many there were."""
        ...

    async def aadd_memory(  # noqa: PLR0913 - the fields of a memory
        self,
        user: User,
        memory: str,
        *,
        topics: Iterable[str] = (),
        kind: str | None = None,
        event_time: TimeInput | None = None,
        participants: Iterable[str] = (),
        location: str | None = None,
        source: Source | None = None,
        supersedes: Iterable[str] = (),
    ) -> MemoryEntry:
        """Async twin of `add_memory`."""
        ...

    async def aupdate_memory(  # noqa: PLR0913 - the fields of a memory
        self,
        user: User,
        memory_id: str,
        memory: str | None = None,
        *,
        topics: Iterable[str] | None = None,
        kind: str | None = None,
        event_time: TimeInput | None = None,
        participants: Iterable[str] | None = None,
        location: str | None = None,
    ) -> MemoryEntry:
        """Async twin of `update_memory`."""
        ...

    async def adelete_memory(self, user: User, memory_id: str) -> bool:
        """Async twin of `delete_memory`."""
        ...

    async def aclear_memories(self, user: User) -> int:
        """Async twin of `clear_memories`."""
        ...


@dataclass(frozen=True, slots=True)
class Binding:
    """What a tool was given when it was built.

    Attributes:
        store: The store, or `None` for the run's own.
        user: A user, a function of the runtime, a `UserResolver`, or `None` to find
            the user of the run.
        wrap: Makes a memory store of a run's store that has no memory verbs.
    """

    store: Any = None
    user: UserSource | UserResolver = None
    wrap: StoreWrapper | None = None

    def find_store(self, runtime: Any) -> Any:
        """Return the store of this call."""
        if self.store is not None:
            return self.store
        runtime = _trusted(runtime) or current_runtime()
        store = getattr(runtime, "store", None)
        if store is None:
            msg = (
                "No memory store: compile the graph with store=MemoryStore(...), or "
                "take the tools from MemoryStore(...).tools()."
            )
            raise InvalidInput(msg)
        if isinstance(store, MemoryReader):
            return store
        if self.wrap is not None:
            return self.wrap(store)
        msg = (
            f"The run's store is a {type(store).__name__}, which has no memory verbs: "
            f"use a MemoryStore, or give the tools wrap=as_memory_store of "
            f"langchain_agentmemory.store."
        )
        raise InvalidInput(msg)

    def find_user(self, runtime: Any, store: Any = None) -> UserKey:
        """Return the user of this call; plain ids are of the store's application."""
        user = self.user
        resolver = user if isinstance(user, UserResolver) else UserResolver(user)
        owner = self.store if store is None else store
        return resolver.beside(owner).resolve(_trusted(runtime))


_BOUND: ContextVar[Binding | None] = ContextVar("bound_memory_tool", default=None)
_UNBOUND = Binding()


@contextmanager
def bound_to(binding: Binding) -> Iterator[None]:
    """Make `store_of` and `user_of` answer from this binding."""
    token = _BOUND.set(binding)
    try:
        yield
    finally:
        _BOUND.reset(token)


def store_of(runtime: Any = None, *, wrap: StoreWrapper | None = None) -> Any:
    """Return the memory store that a custom tool should use.

    Args:
        runtime: The `runtime` argument of the tool; `None` outside of a graph.
        wrap: How to make a memory store of a plain LangGraph store, for tools that
            are used without a `MemoryStore`:
            `langchain_agentmemory.store.as_memory_store`.

    Returns:
        The store that handed out the tool, else the one that the graph was compiled
        with. It has the memory verbs (`add_memory`, `search_memories`, …) and their
        async twins.

    Raises:
        InvalidInput: If there is none, or it has no memory verbs.
    """
    return (_BOUND.get() or Binding(wrap=wrap)).find_store(runtime)


def user_of(runtime: Any = None) -> UserKey:
    """Return the user whose memories a custom tool should touch.

    Args:
        runtime: The `runtime` argument of the tool; `None` outside of a graph.

    Returns:
        The user that the tool was bound to, else the user of the run.

    Raises:
        UserNotResolved: If nobody is named for this run.
    """
    binding = _BOUND.get() or _UNBOUND
    store = binding.store or getattr(_trusted(runtime), "store", None)
    return binding.find_user(runtime, store)


def _trusted(runtime: Any) -> Any:
    """Drop a runtime that a model could have written itself.

    Where a tool call does not pass through LangGraph's `ToolNode`, a model's arguments
    reach the tool as they are, and they can be nothing but JSON values.
    """
    forgeable = (dict, list, str, int, float, bool)
    return None if isinstance(runtime, forgeable) else runtime
