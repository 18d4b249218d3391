"""The tools that look at what is remembered: search and load."""

from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any

from pydantic import BaseModel

from langchain_agentmemory.times import end_of_period, parse_event_time, zone
from langchain_agentmemory.tools.arguments import (
    LoadArguments,
    Runtime,
    SearchArguments,
)
from langchain_agentmemory.tools.base import MemoryTool
from langchain_agentmemory.tools.failures import told_to_model
from langchain_agentmemory.tools.rendering import memory_lines
from langchain_agentmemory.types import Memories, MemoryEntry, SearchOptions

DEFAULT_LIMIT = 10
"""Used when a model names no limit, or one below 1 (reference behaviour)."""

Answer = tuple[str, list[MemoryEntry]]
"""Text for the model, entries for the program."""


class MemorySearchTool(MemoryTool):
    """Finds memories by relevance; the artifact is the list of `MemoryEntry`."""

    name: str = "memory_search"
    description: str = (
        "Search what is remembered about the current user of this application. Do so "
        "without asking whenever an answer could depend on the user's preferences, "
        "past or plans. Use few key words, names included; split a question about "
        "several things into several searches; bound the time when the question does. "
        "Check that a memory is about the right person before you rely on it."
    )
    args_schema: type[BaseModel] = SearchArguments

    def _run(self, query: str, runtime: Runtime = None, **options: Any) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            chosen = search_options(options, timezone_of(store))
            found = store.search_memories(user, query, chosen) if query else []
        return _found(found)

    async def _arun(
        self, query: str, runtime: Runtime = None, **options: Any
    ) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            chosen = search_options(options, timezone_of(store))
            found = await store.asearch_memories(user, query, chosen) if query else []
        return _found(found)


class MemoryLoadTool(MemoryTool):
    """Lists the newest memories; the artifact is the list of `MemoryEntry`."""

    name: str = "memory_load"
    description: str = (
        "List the newest memories of the current user of this application, for an "
        "overview. Do so without asking when it helps. To find something particular, "
        "use memory_search."
    )
    args_schema: type[BaseModel] = LoadArguments

    def _run(self, limit: int | None = None, runtime: Runtime = None) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            found = store.read_memories(user, usable_limit(limit))
        return _newest(found)

    async def _arun(self, limit: int | None = None, runtime: Runtime = None) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            found = await store.aread_memories(user, usable_limit(limit))
        return _newest(found)


def usable_limit(limit: int | None) -> int:
    """Return the limit that a model meant: none, zero and less mean the default."""
    return limit if limit is not None and limit > 0 else DEFAULT_LIMIT


def search_options(options: Mapping[str, Any], timezone: tzinfo) -> SearchOptions:
    """Return how to search.

    Near-duplicates are dropped; a kind is a preference, filled up with others when few
    are found; an upper bound includes the whole day, month or year that it names.

    Raises:
        InvalidInput: If a date cannot be read.
    """
    kind = options.get("kind") or None
    after = (options.get("time_after") or "").strip()
    before = (options.get("time_before") or "").strip()
    return SearchOptions(
        kind=kind,
        kind_fallback=kind is not None,
        deduplicate=True,
        limit=usable_limit(options.get("limit")),
        order_by_event_time=bool(options.get("order_by_event_time")),
        time_after=parse_event_time(after, timezone)[0] if after else None,
        time_before=(
            end_of_period(before, timezone, whole_day=True) if before else None
        ),
    )


def timezone_of(store: Any) -> tzinfo:
    """Return where a store takes dates without a zone, UTC if it does not say.

    Args:
        store: It can say so as `timezone` (a name or a `tzinfo`), or like a
            `MemoryStore` in its `settings`.
    """
    for holder in (store, getattr(store, "settings", None)):
        if given := getattr(holder, "timezone", None):
            return zone(given)
    return UTC


def _found(entries: Sequence[MemoryEntry]) -> Answer:
    return memory_lines(entries, "most relevant first"), Memories(entries)


def _newest(entries: Sequence[MemoryEntry]) -> Answer:
    return memory_lines(entries, "newest first"), Memories(entries)
