"""Which memories are preloaded: all while they are few, else those that fit the turn.

The decisions are one generator that asks for reads and searches; `select` and `aselect`
answer it. A reader that fails costs the turn its memories, never the turn itself.
"""

import logging
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from langchain_agentmemory.search.earlier import folded, wants_earlier
from langchain_agentmemory.service.own_thread import in_own_thread
from langchain_agentmemory.types import MemoryEntry, MemoryReader, SearchOptions, User

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Read:
    limit: int | None


@dataclass(frozen=True, slots=True)
class _Search:
    query: str
    options: SearchOptions


class _ReaderFailed(Exception):
    pass


_Found = list[MemoryEntry]
_Plan = Generator[_Read | _Search, _Found, _Found]


def _has_more(reader: MemoryReader, user: User, limit: int, count: int | None) -> bool:
    """Tell whether a reader that can count says that there are more than so many.

    Reading them to find out would cost more than all else of a preload.
    """
    counted = getattr(reader, "count_memories", None)
    try:
        if count is None and counted is not None and limit > 0:
            count = int(counted(user))
    except Exception:  # noqa: BLE001 - reading will tell what is wrong
        return False
    return count is not None and 0 < limit < count


async def _ahas_more(
    reader: MemoryReader, user: User, limit: int, count: int | None
) -> bool:
    """Async twin of `_has_more`."""
    counted = getattr(reader, "acount_memories", None)
    try:
        if count is None and counted is not None and limit > 0:
            count = int(await counted(user))
    except Exception:  # noqa: BLE001 - reading will tell what is wrong
        return False
    return count is not None and 0 < limit < count


def select(
    reader: MemoryReader, user: User, limit: int, query: str, count: int | None = None
) -> _Found:
    """Read the memories that a turn should start with.

    Args:
        reader: Where memories are. What it raises is logged as a warning.
        user: Whose memories.
        limit: 0 reads nothing, a negative number everything. A positive N gives all if
            there are at most N, else the N that fit the query best, or the N newest if
            the query is blank, finds nothing or fails.
        query: What the user said in this turn.
        count: How many memories there are, if that is known already.

    Returns:
        The memories, best or newest first. Empty when the reader failed. What a newer
        one replaced is told by it as `earlier`, unless the query asks about the past.
    """
    has_more = _has_more(reader, user, limit, count)
    plan = _folded(limit, query.strip(), has_more=has_more)
    try:
        ask = next(plan)
        while True:
            try:
                found = list(_answer(reader, user, ask))
            except Exception as error:  # noqa: BLE001 - a turn outlives its memories
                ask = plan.throw(_failed(ask, error))
            else:
                ask = plan.send(found)
    except StopIteration as done:
        return list(done.value)
    except _ReaderFailed:
        return []


async def aselect(
    reader: MemoryReader, user: User, limit: int, query: str, count: int | None = None
) -> _Found:
    """Async twin of `select`. Readers without async methods are read in a thread."""
    has_more = await _ahas_more(reader, user, limit, count)
    plan = _folded(limit, query.strip(), has_more=has_more)
    try:
        ask = next(plan)
        while True:
            try:
                found = list(await _aanswer(reader, user, ask))
            except Exception as error:  # noqa: BLE001 - a turn outlives its memories
                ask = plan.throw(_failed(ask, error))
            else:
                ask = plan.send(found)
    except StopIteration as done:
        return list(done.value)
    except _ReaderFailed:
        return []


def _folded(limit: int, query: str, *, has_more: bool) -> _Plan:
    """Let what holds now tell what it replaced, unless the past is asked for."""
    found = yield from _plan(limit, query, has_more=has_more)
    if any(entry.superseded_by for entry in found) and not wants_earlier(
        query, datetime.now(UTC), UTC
    ):
        return folded(found)
    return found


def _plan(limit: int, query: str, *, has_more: bool) -> _Plan:
    if limit == 0:
        return []
    if limit < 0:
        return (yield _Read(None))
    probe: _Found = []
    if not has_more:
        probe = yield _Read(limit + 1)
        if len(probe) <= limit:
            return probe
    if query:
        try:
            found = yield _Search(query, _options(limit))
        except _ReaderFailed:
            found = []
        if found:
            return found[:limit]
    try:
        newest = yield _Read(limit)
    except _ReaderFailed:
        newest = probe
    return newest[:limit]


@lru_cache(maxsize=16)
def _options(limit: int) -> SearchOptions:
    return SearchOptions(limit=limit, deduplicate=True, versions="current")


def _answer(reader: MemoryReader, user: User, ask: _Read | _Search) -> _Found:
    if isinstance(ask, _Read):
        return reader.read_memories(user, ask.limit)
    return reader.search_memories(user, ask.query, ask.options)


async def _aanswer(reader: MemoryReader, user: User, ask: _Read | _Search) -> _Found:
    twin: Any
    if isinstance(ask, _Read):
        if twin := getattr(reader, "aread_memories", None):
            return list(await twin(user, ask.limit))
    elif twin := getattr(reader, "asearch_memories", None):
        return list(await twin(user, ask.query, ask.options))
    return await in_own_thread(partial(_answer, reader, user, ask))


def _failed(ask: _Read | _Search, error: Exception) -> _ReaderFailed:
    verb = "read" if isinstance(ask, _Read) else "searched"
    _logger.warning(
        "Memories could not be %s; the turn goes on without them.", verb, exc_info=error
    )
    return _ReaderFailed()
