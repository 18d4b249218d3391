"""Ours and LangGraph's stores behind one protocol: add memories, answer a question."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore

from benchmarks.retrieval.sets import Memory, Question
from langchain_agentmemory import MemoryStore, UserKey
from langchain_agentmemory.backends.memory import InMemoryBackend, system_clock
from langchain_agentmemory.times import to_us

APP: Final = "retrieval"


class Hit(NamedTuple):
    """A result.

    Attributes:
        ids: What finding it counts as.
        score: Its score, in the engine's own measure.
    """

    ids: frozenset[str]
    score: float


class Engine(Protocol):
    """What can be filled with memories and asked."""

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Store the memories of a user."""

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Return the best results, best first."""

    def close(self) -> None:
        """Release everything."""


Open = Callable[[Embeddings | None], Engine]


class Ours:
    """`MemoryStore` in memory, through its public verbs.

    Args:
        embedder: What it searches by meaning with, if anything.
        build: Makes the store, of a backend, `index=` and `memory_limit=`.
        **options: Further arguments of the store.
    """

    def __init__(
        self,
        embedder: Embeddings | None = None,
        build: Callable[..., MemoryStore] = MemoryStore,
        **options: Any,
    ) -> None:
        """Start empty."""
        self._asked_at: datetime | None = None
        backend = InMemoryBackend(clock=self._now)
        self._store = build(backend, index=embedder, memory_limit=None, **options)
        self._ids: dict[tuple[str, str], frozenset[str]] = {}

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Store the memories of a user; the same content twice is one memory."""
        keys: dict[str, str] = {}
        for memory in memories:
            entry = self._store.add_memory(
                UserKey(APP, user),
                memory.text,
                topics=memory.topics,
                kind=memory.kind,
                event_time=memory.event_time,
                participants=memory.participants,
                location=memory.location,
                source=memory.source,
                supersedes=[keys[name] for name in memory.supersedes if name in keys],
            )
            place = (user, entry.id)
            self._ids[place] = self._ids.get(place, frozenset()) | memory.ids
            keys |= dict.fromkeys(memory.ids, entry.id)

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Search with the given options, by default all that is found up to `limit`.

        While a question is asked that states a time, the store's clock shows it.
        """
        given = {"limit": limit, "similarity_threshold": 0.0} | dict(options)
        user = UserKey(APP, question.user)
        self._asked_at = question.asked_at
        try:
            found = self._store.search_memories(user, question.text, **given)
        finally:
            self._asked_at = None
        return [
            Hit(self._ids[question.user, entry.id], entry.score or 0.0)
            for entry in found
        ]

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _now(self) -> int:
        if self._asked_at is None:
            return system_clock()
        aware = self._asked_at.tzinfo is not None
        return to_us(self._asked_at if aware else self._asked_at.replace(tzinfo=UTC))


class LangGraphStore:
    """A store that LangGraph ships, searching by meaning.

    Args:
        opened: The store, or what gives it when entered.
    """

    def __init__(self, opened: BaseStore | AbstractContextManager[BaseStore]) -> None:
        """Open it."""
        self._context = None if isinstance(opened, BaseStore) else opened
        self._store = opened if isinstance(opened, BaseStore) else opened.__enter__()
        setup = getattr(self._store, "setup", None)
        if setup is not None:
            setup()
        self._ids: dict[tuple[str, str], frozenset[str]] = defaultdict(frozenset)

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Store items, indexed by all they say: who took part helps a vector much."""
        for number, memory in enumerate(memories):
            self._store.put((user,), str(number), {"memory": memory.words}, ["memory"])
            self._ids[user, str(number)] = memory.ids

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Search by the vector of the question."""
        del options  # it has one way
        found = self._store.search((question.user,), query=question.text, limit=limit)
        return [
            Hit(self._ids[question.user, item.key], item.score or 0.0) for item in found
        ]

    def close(self) -> None:
        """Close what was entered."""
        if self._context is not None:
            self._context.__exit__(None, None, None)
