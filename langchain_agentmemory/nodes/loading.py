"""From a run to its rendered memories: find the store and the user, select, render.

Preload node, model wrapper and agent middleware are three faces of `MemoryLoader`.
"""

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import BaseTool
from langgraph.channels import UntrackedValue
from langgraph.channels.base import BaseChannel
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from langchain_agentmemory import tools as memory_tools
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.nodes.injection import query_in
from langchain_agentmemory.nodes.rendering import render_memories
from langchain_agentmemory.nodes.selection import aselect, select
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.own_thread import in_own_thread
from langchain_agentmemory.types import MemoryReader, User, UserKey
from langchain_agentmemory.users import (
    DEFAULT_APP_NAME,
    UserResolver,
    UserSource,
    as_user_key,
    current_runtime,
    runtime_in,
)

Gate = Callable[[Any, Any], bool]
"""`(state or messages, runtime) -> bool`: whether this turn gets memories."""

_UNCOUNTED = "It is not known whether the user's memories changed in this turn."

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Run:
    """What is known about the run that asks: LangGraph's runtime, and the config."""

    runtime: Runtime[Any] | None
    config: RunnableConfig

    @classmethod
    def current(
        cls, config: RunnableConfig | None = None, runtime: Runtime[Any] | None = None
    ) -> "Run":
        """Find the run that the caller is part of, in a graph or outside of one."""
        merged = ensure_config(config)
        return cls(runtime or current_runtime() or runtime_in(merged), merged)

    def saves(self, key: str) -> bool:
        """Tell whether this node's graph writes a state key into checkpoints.

        LangGraph has no public way to ask; where its own does not answer, it does not.
        """
        configurable = self.config.get("configurable") or {}
        if configurable.get("__pregel_checkpointer") is None:
            return False
        given = getattr(configurable.get("__pregel_read"), "args", ())
        channels = (a for a in given if isinstance(a, Mapping) and key in a)
        channel = next(channels, {}).get(key)
        return isinstance(channel, BaseChannel) and not isinstance(
            channel, UntrackedValue
        )


class Loaded(str):
    """A rendered block, and the revision of the user's memories that it shows.

    As a text it is only a remark. Whoever streams the state of an agent to a client
    streams private keys too; so the memories are an attribute, which is not streamed.

    Attributes:
        block: The text for the model, `""` when there is nothing to show.
        revision: As the store counts it, `None` if it does not.
    """

    __slots__ = ("block", "revision")

    block: str
    revision: int | None

    def __new__(cls, block: str = "", revision: int | None = None) -> Self:
        """Keep both."""
        loaded = super().__new__(cls, "(loaded)" if block else "(none)")
        loaded.block = block
        loaded.revision = revision
        return loaded


class MemoryLoader:
    """Loads what one turn should know, from one store or from the store of the run."""

    def __init__(
        self,
        store: MemoryReader | BaseStore | None = None,
        *,
        limit: int = 10,
        playbook: str | None = None,
        user: UserSource | UserResolver = None,
        when: Gate | None = None,
    ) -> None:
        """Check and keep the options. See `PreloadMemories` for what they mean.

        Raises:
            InvalidInput: If `limit` is not an integer, `playbook` no text, `when` is
                not a plain function, or `user` names nobody.
        """
        if isinstance(limit, bool) or not isinstance(limit, int):
            msg = (
                f"The number of memories to preload must be an integer, not "
                f"{quoted(limit)}: "
                f"0 loads nothing, N at most N memories, -1 all of them."
            )
            raise InvalidInput(msg)
        if when is not None and (
            not callable(when) or inspect.iscoroutinefunction(when)
        ):
            msg = "when must be a plain function (state, runtime) -> bool."
            raise InvalidInput(msg)
        text: object = playbook
        if text is not None and not isinstance(text, str):
            msg = f"playbook must be text, not {quoted(text)}."
            raise InvalidInput(msg)
        self._limit = limit
        self._playbook = playbook
        self._when = when
        self._resolver = user if isinstance(user, UserResolver) else UserResolver(user)
        self._store = None if store is None else _as_reader(store)
        self._beside: tuple[str | None, UserResolver] | None = None

    def load(self, state: Any, run: Run) -> Loaded:
        """Load the block for a state or a list of messages.

        Raises:
            UserNotResolved: If it is not known who the user of the run is.
            InvalidInput: If there is no store.
        """
        if not self._wanted(state, run):
            return Loaded()
        reader = self.reader(run)
        user = self.user(reader, run)
        # First, so that later changes are noticed.
        count, revision = _count_and_revision(reader, user)
        return Loaded(self.render(reader, user, state, count), revision)

    def block(self, state: Any, run: Run) -> str:
        """Return what `load` finds, for those who show it once: no revision is read."""
        if not self._wanted(state, run):
            return ""
        reader = self.reader(run)
        return self.render(reader, self.user(reader, run), state)

    async def aload(self, state: Any, run: Run) -> Loaded:
        """Async twin of `load`."""
        if not self._wanted(state, run):
            return Loaded()
        reader = self.reader(run)
        user = self.user(reader, run)
        count, revision = await _acount_and_revision(reader, user)
        return Loaded(await self.arender(reader, user, state, count), revision)

    async def ablock(self, state: Any, run: Run) -> str:
        """Async twin of `block`."""
        if not self._wanted(state, run):
            return ""
        reader = self.reader(run)
        return await self.arender(reader, self.user(reader, run), state)

    def current(self, loaded: Loaded | None, state: Any, run: Run) -> Loaded:
        """Return what was loaded, or load again if it is missing or out of date."""
        if loaded is not None:
            if loaded.revision is None:
                return loaded
            reader = self.reader(run)
            if _revision(reader, self.user(reader, run)) in {None, loaded.revision}:
                return loaded
        return self.load(state, run)

    async def acurrent(self, loaded: Loaded | None, state: Any, run: Run) -> Loaded:
        """Async twin of `current`."""
        if loaded is not None:
            if loaded.revision is None:
                return loaded
            reader = self.reader(run)
            revision = await _arevision(reader, self.user(reader, run))
            if revision in {None, loaded.revision}:
                return loaded
        return await self.aload(state, run)

    def render(
        self, reader: MemoryReader, user: User, given: Any, count: int | None = None
    ) -> str:
        """Render a known user's memories for messages, a state or a question.

        Args:
            reader: The store.
            user: The user.
            given: What they said.
            count: How many memories they have, if that is known already.
        """
        entries = select(reader, user, self._limit, query_in(given), count)
        return render_memories(entries, self._playbook)

    async def arender(
        self, reader: MemoryReader, user: User, given: Any, count: int | None = None
    ) -> str:
        """Async twin of `render`."""
        entries = await aselect(reader, user, self._limit, query_in(given), count)
        return render_memories(entries, self._playbook)

    def reader(self, run: Run) -> MemoryReader:
        """Return the store that was given, else the store of the run.

        Raises:
            InvalidInput: If there is neither.
        """
        if self._store is not None:
            return self._store
        if (store := getattr(run.runtime, "store", None)) is None:
            msg = (
                "There is no store to load memories from: pass one, or compile the "
                "graph with `store=`."
            )
            raise InvalidInput(msg)
        return _as_reader(store)

    def user(self, reader: MemoryReader, run: Run, user: User | None = None) -> UserKey:
        """Return the user that is given, else the user of the run.

        Raises:
            UserNotResolved: If no user is given and the run names none.
        """
        app_name = getattr(reader, "app_name", None) or DEFAULT_APP_NAME
        if user is not None:
            return as_user_key(user, app_name)
        if self._beside is None or self._beside[0] != app_name:
            self._beside = (app_name, self._resolver.beside(reader))
        return self._beside[1].resolve(run.runtime, run.config)

    def tools(self) -> list[BaseTool]:
        """Return the tools of the store that was given, none if it has none.

        Without a store, those that a store shows by default, for the store of the run.
        """
        if self._store is None:
            names = memory_tools.select_tools(has_extractor=False).exposed
            return memory_tools.build_tools(names, user=self._resolver, wrap=_as_reader)
        if (tools := getattr(self._store, "tools", None)) is None:
            return []
        # Other platforms' readers need to know resolvers only where one says more.
        plain = UserResolver(self._resolver.user)
        of_whom = plain.user if plain == self._resolver else self._resolver
        return list(tools(of_whom))

    def gated(self, tools: "list[Any]", run: Run) -> "list[Any]":
        """Return the tools without memory tools that the run's own store hides.

        Raises:
            InvalidInput: If that store replaces tools by custom ones, which only
                arrive with the store itself.
        """
        if self._store is not None:
            return tools
        selection = getattr(self.reader(run), "tool_selection", None)
        if selection is None:
            return tools
        hidden = set(memory_tools.TOOL_NAMES) - set(selection().exposed)
        return [tool for tool in tools if getattr(tool, "name", None) not in hidden]

    def check_custom_tools(self, run: Run) -> None:
        """Refuse a run whose own store brings custom tools, which cannot be shown."""
        if self._store is None and getattr(self.reader(run), "has_custom_tools", False):
            msg = (
                "The run's store has custom_tools, which the middleware can only show "
                "when it is given the store: use MemoryMiddleware(store)."
            )
            raise InvalidInput(msg)

    def _wanted(self, state: Any, run: Run) -> bool:
        if self._limit == 0:
            return False
        if self._when is None:
            return True
        try:
            return bool(self._when(state, run.runtime))
        except Exception:
            _logger.exception("The gate when= failed: nothing is preloaded this turn.")
            return False


def _as_reader(store: Any) -> MemoryReader:
    if hasattr(store, "read_memories") and hasattr(store, "search_memories"):
        reader: MemoryReader = store
        return reader
    # Only a plain LangGraph store needs the facade to be loaded.
    from langchain_agentmemory.store import as_memory_store  # noqa: PLC0415

    return as_memory_store(store)


def _count_and_revision(
    reader: MemoryReader, user: UserKey
) -> tuple[int | None, int | None]:
    """Return how many memories there are and how often they changed, where known."""
    if (read := getattr(reader, "count_and_revision", None)) is None:
        return None, _revision(reader, user)
    try:
        count, revision = map(int, read(user))
    except Exception as error:
        _logger.warning(_UNCOUNTED, exc_info=error)
        return None, None
    return count, revision


async def _acount_and_revision(
    reader: MemoryReader, user: UserKey
) -> tuple[int | None, int | None]:
    """Async twin of `_count_and_revision`."""
    if (read := getattr(reader, "acount_and_revision", None)) is None:
        return None, await _arevision(reader, user)
    try:
        count, revision = map(int, await read(user))
    except Exception as error:
        _logger.warning(_UNCOUNTED, exc_info=error)
        return None, None
    return count, revision


def _revision(reader: MemoryReader, user: UserKey) -> int | None:
    """Return how often the user's memories have changed, if the reader counts."""
    if (count := getattr(reader, "revision", None)) is None:
        return None
    try:
        return int(count(user))
    except Exception as error:
        _logger.warning(_UNCOUNTED, exc_info=error)
        return None


async def _arevision(reader: MemoryReader, user: UserKey) -> int | None:
    """Async twin of `_revision`. Readers without async methods count in a thread."""
    if (count := getattr(reader, "arevision", None)) is None:
        if not hasattr(reader, "revision"):
            return None
        return await in_own_thread(partial(_revision, reader, user))
    try:
        return int(await count(user))
    except Exception as error:
        _logger.warning(_UNCOUNTED, exc_info=error)
        return None
