"""`MemoryStore`: a LangGraph store that is also the memory service."""

import asyncio
import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta, tzinfo
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from langgraph.store.base import (
    BaseStore,
    IndexConfig,
    Op,
    Result,
    TTLConfig,
)

from langchain_agentmemory.backends.base import Backend
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.extraction.arguments import (
    as_conversation,
    as_ids,
    as_thread,
)
from langchain_agentmemory.extraction.settings import ExtractionSettings
from langchain_agentmemory.identity import require_id, user_namespace
from langchain_agentmemory.lazy import lazy_property
from langchain_agentmemory.reports import Report
from langchain_agentmemory.service.criteria import with_overrides
from langchain_agentmemory.service.item_methods import ItemMethods
from langchain_agentmemory.service.plans import Plan, arun, in_executor, run
from langchain_agentmemory.service.records import draft, text_list
from langchain_agentmemory.service.service import Service
from langchain_agentmemory.service.settings import (
    OnDuplicate,
    OnLimit,
    Settings,
    check_limit,
    minutes_of,
    ttl_config,
)
from langchain_agentmemory.service.verbs import Patch
from langchain_agentmemory.times import parse_event_time, to_us, zone
from langchain_agentmemory.types import (
    Memories,
    MemoryEntry,
    SearchOptions,
    Source,
    TimeInput,
    User,
    UserKey,
)
from langchain_agentmemory.urls import backend_from_url

if TYPE_CHECKING:
    from langchain_core.messages import MessageLikeRepresentation
    from langchain_core.tools import BaseTool
    from langgraph.graph.state import CompiledStateGraph

    from langchain_agentmemory.backends.base import Record
    from langchain_agentmemory.backends.base_store import BaseStoreBackend
    from langchain_agentmemory.backends.base_store_wrappers import Wrappers
    from langchain_agentmemory.extraction.base import Extractor
    from langchain_agentmemory.extraction.engine import Engine, Snapshot, Usage
    from langchain_agentmemory.extraction.graph import ChangeGraph
    from langchain_agentmemory.extraction.jobs import ExtractionJobs
    from langchain_agentmemory.retriever import MemoryRetriever
    from langchain_agentmemory.search.dictionary import UserWords
    from langchain_agentmemory.service.embedding_settings import Embed, Index
    from langchain_agentmemory.service.erasure import Erasure
    from langchain_agentmemory.service.reindexing import VectorCounts
    from langchain_agentmemory.service.reranking import RerankerLike
    from langchain_agentmemory.service.sweeper import Sweeper
    from langchain_agentmemory.tools.build import CustomTools
    from langchain_agentmemory.tools.registry import Switches, ToolSelection
    from langchain_agentmemory.users import UserResolver, UserSource

T = TypeVar("T")

logger = logging.getLogger("langchain_agentmemory")

THREADS: Final = 4
"""Threads that a store uses at most for its async methods."""


class MemoryStore(ItemMethods):
    """Long-term memory of many users, and a complete LangGraph store.

    Pass it to a graph as `store=`, use its verbs (`add_memory`, `search_memories`, …),
    hand its `tools()` to an agent. One object serves synchronous and asynchronous
    callers, any event loop and any thread. Every verb has an async twin with an `a` in
    front; results and errors are the same.

    A user is given as `UserKey`, or as a plain id of the store's application.

    Args:
        backend: Where items live; in memory if not given. See also `from_url`.
        index: Search by meaning: LangGraph's `IndexConfig` (`{"embed": …, "dims": …,
            "fields": […]}`), or only what embeds: a LangChain `Embeddings`, a function
            of texts, the name of a model, or `"local"` (see `LocalEmbeddings`). The
            dict also takes `name` (identifies the model), `query_prefix` and
            `document_prefix`, `batch_size` (128 texts per request) and `cache_bytes`
            (4 MB of vectors of texts that were embedded lately, 0 = none), and
            `calibrate` (`False` = do not measure the model with texts of its own).
            Without an index, search goes by words.
        embeddings: Short for `index={"embed": …}`.
        extractor: What extracts memories from conversations: a `MemoryExtractor`, a
            `VerbatimExtractor`, or your own. Beside an extractor, the tools that write
            are not shown to the agent unless exposed.
        app_name: The application of users that are given as a plain id.
        memory_limit: How many memories a user may own, `None` = any number.
        on_limit: At the limit, `"reject"` an addition with `MemoryLimitExceeded` or
            `"evict"` the least recently updated memory.
        on_duplicate: What adding a memory that exists does: `"refresh"` its topics and
            time, `"keep"` it as it is, or raise `MemoryConflict` (`"error"`).
        soft_delete: Keep deleted and replaced memories, invisible, for
            `restore_memory` and `memory_history`, until `purge_deleted`.
        ttl: Time to live: a `timedelta` for all new items, or LangGraph's `TTLConfig`.
            Reading renews it: every time with `refresh_on_read=True`, never with
            `False`, and once half of it has passed where the configuration does not
            say.
        ranking: `"default"`, or `"reference"` for the formula of the reference system.
        user_dictionary: Words that stay whole in Chinese text, such as names: a list of
            words or of `(word, frequency, tag)`, or the path of a jieba user
            dictionary. They are this store's; `jieba.add_word` has no effect on it.
        timezone: Where naive datetimes are taken: a name or a `tzinfo`.
        enabled_tools: Tools to switch on, or names mapped to on and off, for everyone,
            the extractor included.
        exposed_tools: The same for what agents get to see of the enabled tools.
        custom_tools: Tools or functions that replace built-in ones, by name.
        search_memory: Bytes that warm search indexes may hold; 256 MB if not given.
        reranker: Orders the best results of every search anew: a LangChain document
            compressor, or a function that takes a query and a list of `MemoryEntry`
            and returns a score for each.
        rerank_top: How many of the best results the reranker sees, and among how many
            `SearchOptions.diversity` chooses.
        search_timeout: Seconds that a search, and with it a preload, waits for its
            embedder, and for its reranker. Then it goes by words, or keeps the order
            that it has; the log and `status` say so. `None` waits as long as it takes.
        extraction_concurrency: How many users' turns are extracted at a time.
        max_pending: How many turns of a user wait apart; further ones join the last
            turn of their thread. `None` = any number. Nothing is dropped.
        job_timeout: Seconds that the extraction of a turn may take.
        extraction_mode: `"background"`: threads of this process extract. `"inline"`:
            `enqueue_extraction` does, for processes that are frozen after an answer.
            `"queue"`: another process extracts.
        extraction_graph: Changes the extraction subgraph: a function that is given the
            built-in one before it is compiled, and returns it changed, or any compiled
            graph of the same state.
        extraction_calls_per_hour: Model calls that a user may cause in an hour; what is
            beyond waits. `None` = any number.
        learn_from_external_context: Whether conversations are learnt from in which a
            tool brought in retrieved documents.

    Raises:
        InvalidInput: If an argument cannot be used.

    Example:
        ```python
        from langchain_agentmemory import MemoryStore

        store = MemoryStore()
        store.add_memory("ann", "Ann prefers window seats", topics=["travel"])
        print(store.search_memories("ann", "where does she like to sit?"))
        ```
    """

    supports_ttl = True

    def __init__(  # noqa: PLR0913 - the switches of a service
        self,
        backend: Backend | None = None,
        *,
        index: "IndexConfig | Index | None" = None,
        embeddings: "Embed | None" = None,
        extractor: "Extractor | None" = None,
        app_name: str = "default",
        memory_limit: int | None = 1000,
        on_limit: OnLimit = "reject",
        on_duplicate: OnDuplicate = "refresh",
        soft_delete: bool = False,
        ttl: TTLConfig | Mapping[str, Any] | timedelta | None = None,
        ranking: Literal["default", "reference"] = "default",
        user_dictionary: "UserWords | None" = None,
        timezone: str | tzinfo = "UTC",
        enabled_tools: "Switches" = None,
        exposed_tools: "Switches" = None,
        custom_tools: "CustomTools" = None,
        search_memory: int | None = None,
        reranker: "RerankerLike | None" = None,
        rerank_top: int = 50,
        search_timeout: float | None = None,
        extraction_concurrency: int = 1,
        max_pending: int | None = 10,
        job_timeout: float = 30.0,
        extraction_mode: Literal["background", "inline", "queue"] = "background",
        extraction_graph: "ChangeGraph | None" = None,
        extraction_calls_per_hour: int | None = None,
        learn_from_external_context: bool = True,
    ) -> None:
        """Check the arguments; the backend is opened on first use."""
        if backend is not None and not hasattr(backend, "commit"):
            msg = (
                f"backend must be a storage backend, not {type(backend).__name__}: "
                f"use MemoryStore.from_url('sqlite:///file.db') for a URL, and pass an "
                f"embedder as index=…."
            )
            raise InvalidInput(msg)
        if embeddings is not None:
            if index is not None:
                msg = (
                    "Give index or embeddings, not both: embeddings is index['embed']."
                )
                raise InvalidInput(msg)
            index = {"embed": embeddings}
        config = ttl_config(ttl)
        self.ttl_config = config  # type: ignore[assignment]  # a TTLConfig in substance
        minutes = (config or {}).get("default_ttl")
        self.settings = Settings(
            app_name=UserKey(app_name, "any").app_name,
            memory_limit=memory_limit,
            on_limit=on_limit,
            on_duplicate=on_duplicate,
            soft_delete=soft_delete,
            timezone=zone(timezone),
            default_ttl=None if minutes is None else round(minutes * 60_000_000),
            refresh_on_read=(config or {"refresh_on_read": True}).get(
                "refresh_on_read"
            ),
        )
        self.backend: Backend = backend if backend is not None else InMemoryBackend()
        self.extractor = extractor
        _check_extractor(extractor)
        self._extraction_settings = ExtractionSettings(
            extraction_concurrency,
            max_pending,
            job_timeout,
            extraction_mode,
            extraction_calls_per_hour,
            learn_from_external_context,
        )
        self._change_graph = extraction_graph
        self._told_not_learning = False
        self._service = Service(
            self.backend,
            self.settings,
            index,
            ranking,
            search_memory,
            reranker,
            rerank_top,
            words=user_dictionary,
            search_timeout=search_timeout,
        )
        self._service.verbs.on_delete = self._note_deleted
        if extraction_graph is not None and extractor is not None:
            self.extraction_graph()  # say at once what is wrong with it
        self._tool_switches = (enabled_tools, exposed_tools)
        self._custom_tools = custom_tools
        if any(given is not None for given in (*self._tool_switches, custom_tools)):
            self.tool_selection()  # say at once what is wrong with the switches
        self._threads: ThreadPoolExecutor | None = None
        self._threads_lock = threading.Lock()
        self._threads_pid = os.getpid()
        self._sweeper: Sweeper | None = None

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Open the store that a URL names.

        Args:
            url: `memory://`, `sqlite:///file.db` (relative), `sqlite:////tmp/file.db`
                (absolute). Options of the backend may follow:
                `sqlite:///file.db?table=notes&synchronous=FULL`.
            **options: What the constructor takes.

        Raises:
            InvalidInput: If the URL cannot be read, or names an unknown engine.
            BackendUnavailable: If what it names cannot be opened.
        """
        store = cls(backend_from_url(url), **options)
        store.setup()
        return store

    # -- life ------------------------------------------------------------------------

    @property
    def app_name(self) -> str:
        """The application of users that are given as a plain id."""
        return self.settings.app_name

    @property
    def index_config(self) -> Mapping[str, Any] | None:
        """The configuration of search by meaning, as LangGraph's stores show it."""
        return self._service.index_config

    @property
    def timezone(self) -> tzinfo:
        """Where naive datetimes are taken."""
        return self.settings.timezone

    def setup(self) -> None:
        """Open the backend: check, create or migrate its schema. Done on first use.

        Raises:
            BackendUnavailable: If it cannot be opened, or the store was closed.
        """
        self._service.check_open()
        self.backend.open()
        if self.extractor is not None:
            self._engine.resume()

    def close(self) -> None:
        """Release everything. Later calls raise `BackendUnavailable`. Idempotent.

        An extraction that is under way is waited for, `job_timeout` at most. What waits
        stays in the outbox of a durable store; call `flush` before to wait for it.
        """
        self.stop_ttl_sweeper()
        if "_engine" in vars(self):
            self._engine.close(self._extraction_settings.job_timeout)
        with self._threads_lock:
            # What is under way ends where it next needs a thread; nothing new begins.
            self._service.closed = True
            threads, self._threads = self._threads, None
        if threads is not None and self._threads_pid == os.getpid():
            threads.shutdown(wait=True)
        self._service.close()

    async def aclose(self) -> None:
        """Async twin of `close`."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        """Open the backend."""
        self.setup()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    async def __aenter__(self) -> Self:
        """Open the backend."""
        await self._hop(self.setup)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        await self.aclose()

    # -- LangGraph -------------------------------------------------------------------

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run LangGraph operations; results are in their order.

        Reads come first, then all writes happen together or not at all. Of several
        writes to one key the last one counts.

        Raises:
            InvalidInput: If one of them cannot be carried out; none was.
        """
        return self._run(self._service.batch(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async twin of `batch`."""
        return await self._arun(self._service.batch(_again(ops)))

    def sweep_ttl(self) -> int:
        """Delete what has expired; return how much. Readers never see it anyway."""
        self._service.check_open()
        return self.backend.sweep()

    def start_ttl_sweeper(
        self, sweep_interval_minutes: float | None = None
    ) -> Future[None]:
        """Sweep regularly in a background thread, until `stop_ttl_sweeper` or `close`.

        Args:
            sweep_interval_minutes: How often; the `TTLConfig`'s if not given, else
                every 5 minutes.

        Returns:
            A future that is done when the sweeper has stopped. Cancelling it stops it.

        Raises:
            BackendUnavailable: If the store was closed.
        """
        self._service.check_open()
        from langchain_agentmemory.service.sweeper import (  # noqa: PLC0415 - rare
            Sweeper,
        )

        interval = sweep_interval_minutes
        if interval is None:
            interval = (self.ttl_config or {}).get("sweep_interval_minutes") or 5
        if self._sweeper is None or self._sweeper.finished.done():
            self._sweeper = Sweeper(weakref.ref(self), minutes_of(interval) * 60)
        return self._sweeper.finished

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the background sweeper; tell whether it stopped within the timeout."""
        sweeper, self._sweeper = self._sweeper, None
        return True if sweeper is None else sweeper.stop(timeout)

    # -- memory verbs ----------------------------------------------------------------

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
        """Store a memory. The same content again is the same memory, refreshed.

        Args:
            user: Whose memory.
            memory: The text.
            topics: Labels for search.
            kind: `"fact"` if not given, `"episode"`, or any other text.
            event_time: When it happened: a datetime, a date, or text in one of the
                forms of `langchain_agentmemory.times.ACCEPTED_FORMS`.
            participants: Who took part.
            location: Where it happened.
            source: Where it comes from.
            supersedes: Ids of older memories that this one replaces as the valid
                version. They stay readable.

        Returns:
            The memory as stored, with its id.

        Raises:
            InvalidInput: If an argument cannot be used.
            MemoryLimitExceeded: At the limit, unless the store evicts.
            MemoryConflict: If it exists and the store says `on_duplicate="error"`.
            MemoryNotFound: If `supersedes` names an unknown memory.
        """
        return self._run(
            self._add(
                user,
                memory,
                topics=topics,
                kind=kind,
                event_time=event_time,
                participants=participants,
                location=location,
                source=source,
                supersedes=supersedes,
            )
        )

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
        return await self._arun(
            self._add(
                user,
                memory,
                topics=topics,
                kind=kind,
                event_time=event_time,
                participants=participants,
                location=location,
                source=source,
                supersedes=supersedes,
            )
        )

    def _add(  # noqa: PLR0913 - the fields of a memory
        self,
        user: User,
        memory: str,
        *,
        topics: Iterable[str],
        kind: str | None,
        event_time: TimeInput | None,
        participants: Iterable[str],
        location: str | None,
        source: Source | None,
        supersedes: Iterable[str],
    ) -> Plan[MemoryEntry]:
        content = draft(
            memory,
            topics=topics,
            kind=kind,
            event_time=event_time,
            participants=participants,
            location=location,
            timezone=self.settings.timezone,
        )
        replaced = text_list("supersedes", supersedes)
        return self._service.verbs.add(
            self.user(user),
            content,
            source=self._dated(source),
            supersedes=[require_id(old) for old in replaced],
        )

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
        """Change a memory. `None` leaves a field as it is, an empty value clears it.

        The id follows the content: take it from the returned memory. What the memory
        said before is kept when the store deletes softly (see `memory_history`).

        Raises:
            InvalidInput: If an argument cannot be used.
            MemoryNotFound: If the user has no such memory.
            MemoryConflict: If another memory already says the same; nothing changed.
        """
        return self._run(
            self._update(
                user,
                memory_id,
                memory,
                topics=topics,
                kind=kind,
                event_time=event_time,
                participants=participants,
                location=location,
            )
        )

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
        return await self._arun(
            self._update(
                user,
                memory_id,
                memory,
                topics=topics,
                kind=kind,
                event_time=event_time,
                participants=participants,
                location=location,
            )
        )

    def _update(  # noqa: PLR0913 - the fields of a memory
        self,
        user: User,
        memory_id: str,
        memory: str | None,
        *,
        topics: Iterable[str] | None,
        kind: str | None,
        event_time: TimeInput | None,
        participants: Iterable[str] | None,
        location: str | None,
    ) -> Plan[MemoryEntry]:
        patch = Patch(
            memory,
            None if topics is None else _again(topics),
            kind,
            event_time,
            None if participants is None else _again(participants),
            location,
        )
        patch.check(self.settings.timezone)
        return self._service.verbs.update(self.user(user), require_id(memory_id), patch)

    def delete_memory(self, user: User, memory_id: str) -> bool:
        """Delete a memory; `False` if the user has none with this id."""
        return self._run(
            self._service.verbs.delete(self.user(user), require_id(memory_id))
        )

    async def adelete_memory(self, user: User, memory_id: str) -> bool:
        """Async twin of `delete_memory`."""
        return await self._arun(
            self._service.verbs.delete(self.user(user), require_id(memory_id))
        )

    def clear_memories(self, user: User) -> int:
        """Delete all memories of the user and return how many there were.

        Turns that wait to be extracted, or failed to be, are discarded too.
        """
        return self._run(self._clear(self.user(user)))

    async def aclear_memories(self, user: User) -> int:
        """Async twin of `clear_memories`."""
        return await self._arun(self._clear(self.user(user)))

    def _clear(self, user: UserKey) -> Plan[int]:
        # First what waits: a worker that has some of it can write nothing from now on.
        self._engine.cleared(user)
        return (yield from self._service.verbs.clear(user))

    def restore_memory(self, user: User, memory_id: str) -> MemoryEntry:
        """Bring a deleted memory back, or let a superseded one hold again.

        Raises:
            NotKept: If the store does not keep what was deleted.
            MemoryNotFound: If nothing is kept under this id.
            MemoryLimitExceeded: At the limit, unless the store evicts.
        """
        return self._run(
            self._service.verbs.restore(self.user(user), require_id(memory_id))
        )

    async def arestore_memory(self, user: User, memory_id: str) -> MemoryEntry:
        """Async twin of `restore_memory`."""
        return await self._arun(
            self._service.verbs.restore(self.user(user), require_id(memory_id))
        )

    def memory_history(self, user: User, memory_id: str) -> Memories:
        """Return the memories that led to this one, oldest first, itself last.

        Raises:
            NotKept: If the store does not keep what was replaced.
            MemoryNotFound: If nothing is kept under this id.
        """
        return self._service.verbs.history(self.user(user), require_id(memory_id))

    async def amemory_history(self, user: User, memory_id: str) -> Memories:
        """Async twin of `memory_history`."""
        return await self._hop(self.memory_history, user, memory_id)

    def purge_deleted(
        self, older_than: timedelta | None = None, user: User | None = None
    ) -> int:
        """Remove for good what was deleted softly; return how much.

        Args:
            older_than: Only what was deleted longer ago than this.
            user: Only of this user; of all users if not given.
        """
        owner = None if user is None else self.user(user)
        return self._service.purge(owner, older_than)

    async def apurge_deleted(
        self, older_than: timedelta | None = None, user: User | None = None
    ) -> int:
        """Async twin of `purge_deleted`."""
        return await self._hop(self.purge_deleted, older_than, user)

    def read_memories(self, user: User, limit: int | None = None) -> Memories:
        """Return the user's memories, newest first. `None` = all, 0 = none."""
        return self._service.read(self.user(user), check_limit("limit", limit))

    async def aread_memories(self, user: User, limit: int | None = None) -> Memories:
        """Async twin of `read_memories`."""
        return await self._hop(self.read_memories, user, limit)

    def search_memories(
        self,
        user: User,
        query: str,
        options: SearchOptions | None = None,
        **overrides: Any,
    ) -> Memories:
        """Return the user's memories that fit a query, best first.

        Args:
            user: Whose memories.
            query: What to look for. Blank text finds nothing.
            options: How to search.
            **overrides: Fields of `SearchOptions`, on top of `options`.

        Raises:
            InvalidInput: If an option cannot be used.
        """
        return self._run(self._search(user, query, options, overrides))

    async def asearch_memories(
        self,
        user: User,
        query: str,
        options: SearchOptions | None = None,
        **overrides: Any,
    ) -> Memories:
        """Async twin of `search_memories`."""
        return await self._arun(self._search(user, query, options, overrides))

    def _search(
        self,
        user: User,
        query: str,
        options: SearchOptions | None,
        overrides: Mapping[str, Any],
    ) -> Plan[Memories]:
        chosen = with_overrides(options, overrides)
        return self._service.search(self.user(user), query, chosen)

    def as_retriever(
        self,
        user: "User | Callable[..., User] | UserResolver | None" = None,
        *,
        options: SearchOptions | None = None,
        **overrides: Any,
    ) -> "MemoryRetriever":
        """Return a LangChain retriever over one user's memories.

        Args:
            user: Whose memories: a user, a function of the runtime, or a
                `UserResolver`; the user of each run if not given.
            options: How to search.
            **overrides: Fields of `SearchOptions` on top of `options`, such as
                `limit=5`, and the `name`, `tags` and `metadata` of the retriever.

        Raises:
            InvalidInput: If an argument cannot be used.
        """
        from langchain_agentmemory.retriever import (  # noqa: PLC0415 - on demand
            MemoryRetriever,
        )

        retriever = MemoryRetriever(self, user, options=options, **overrides)
        self._service.check_options(retriever.options)
        return retriever

    def count_memories(self, user: User) -> int:
        """Return how many memories the user has."""
        return self.count_and_revision(user)[0]

    async def acount_memories(self, user: User) -> int:
        """Async twin of `count_memories`."""
        return await self._hop(self.count_memories, user)

    def revision(self, user: User) -> int:
        """Return a number that changes whenever a memory of the user does."""
        return self.count_and_revision(user)[1]

    async def arevision(self, user: User) -> int:
        """Async twin of `revision`."""
        return await self._hop(self.revision, user)

    def count_and_revision(self, user: User) -> tuple[int, int]:
        """Return what `count_memories` and `revision` do, in one read."""
        head = self._service.verbs.head(self.user(user))
        return (head.active, (head.epoch << 40) + head.revision) if head else (0, 0)

    async def acount_and_revision(self, user: User) -> tuple[int, int]:
        """Async twin of `count_and_revision`."""
        return await self._hop(self.count_and_revision, user)

    def erase_user(self, user: User) -> "Erasure":
        """Remove everything that is kept about a user, deleted memories included.

        Returns:
            A receipt of what was removed.
        """
        from langchain_agentmemory.service.erasure import (  # noqa: PLC0415 - rare
            erase,
        )

        owner = self.user(user)
        traces = self._engine.erase(owner)
        return erase(self._service, owner, traces)

    async def aerase_user(self, user: User) -> "Erasure":
        """Async twin of `erase_user`."""
        return await self._hop(self.erase_user, user)

    def reindex(
        self,
        user: User | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Embed what has no vectors yet, or another embedder's; return how much.

        Args:
            user: Only this user's memories; everything in the store if not given.
            progress: Called with how many items were looked at, and of how many.

        Raises:
            InvalidInput: If the store has no index, or one whose `dims` is not that of
                the model.
            BackendUnavailable: If the embedder fails; what was embedded is kept.
        """
        return self._run(self._service.reindexing.run(self._prefix(user), progress))

    async def areindex(
        self,
        user: User | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Async twin of `reindex`."""
        plan = self._service.reindexing.run(self._prefix(user), progress)
        return await self._arun(plan)

    def owed_vectors(self, user: User | None = None) -> "VectorCounts":
        """Count which items have vectors of this store's embedder, and which do not.

        Every record is read: this is a report, not something to do in every turn.

        Args:
            user: Only this user's memories; everything in the store if not given.

        Raises:
            InvalidInput: If the store has no index.
        """
        return self._service.reindexing.count(self._prefix(user))

    async def aowed_vectors(self, user: User | None = None) -> "VectorCounts":
        """Async twin of `owed_vectors`."""
        return await self._hop(self.owed_vectors, user)

    # -- tools -----------------------------------------------------------------------

    def tools(
        self,
        user: "User | Callable[..., User] | UserResolver | None" = None,
        *,
        enable: "Switches" = (),
        disable: "Switches" = (),
        expose: "Switches" = (),
    ) -> "list[BaseTool]":
        """Return the memory tools for an agent.

        Args:
            user: Whose memories: a user, a function of the runtime, or a
                `UserResolver`; the user of the run if not given.
            enable: Tools to switch on for this call, such as `["memory_delete"]`.
            disable: Tools to switch off for this call.
            expose: Tools to show although an extractor works behind the scenes.

        Raises:
            InvalidInput: If a name is not one of the six.
        """
        from langchain_agentmemory.tools.build import (  # noqa: PLC0415 - on demand
            build_tools,
            read_custom_tools,
        )

        selection = self.tool_selection().adjusted(
            enable=enable, disable=disable, expose=expose
        )
        from langchain_agentmemory.users import (  # noqa: PLC0415 - on demand
            UserResolver,
        )

        bound: UserSource | UserResolver
        if user is None or callable(user) or isinstance(user, UserResolver):
            bound = user
        else:
            bound = self.user(user)
        return build_tools(
            selection.exposed,
            store=self,
            user=bound,
            custom=read_custom_tools(self._custom_tools),
        )

    @property
    def has_custom_tools(self) -> bool:
        """Whether custom tools replace built-in ones."""
        return bool(self._custom_tools)

    def tool_selection(self) -> "ToolSelection":
        """Return which tools are enabled in this store, and which an agent gets."""
        from langchain_agentmemory.tools.build import (  # noqa: PLC0415 - on demand
            read_custom_tools,
        )
        from langchain_agentmemory.tools.registry import (  # noqa: PLC0415 - on demand
            select_tools,
        )

        enabled, exposed = self._tool_switches
        return select_tools(
            has_extractor=self.queues_turns,
            enabled=enabled,
            exposed=exposed,
            custom=read_custom_tools(self._custom_tools),
        )

    # -- automatic memory ------------------------------------------------------------

    def enqueue_extraction(
        self,
        user: User,
        messages: "Iterable[MessageLikeRepresentation]",
        *,
        thread_id: str | None = None,
        learn: bool = True,
        said_at: TimeInput | None = None,
    ) -> bool:
        """Queue a conversation for extraction.

        Pass the conversation as it stands: what was queued or extracted before is
        recognised and left out.

        Args:
            user: Whose conversation it is.
            messages: LangChain messages, or what converts to them.
            thread_id: The conversation's name.
            learn: False learns nothing from what is new in it, now or later.
            said_at: When what is new was said; now if not given. "Yesterday" in it
                refers to this.

        Returns:
            True if it is safe in the outbox, or nothing in it is new. False if nothing
            is learnt from this user, thread or turn, the store cannot be written, or
            it has no extractor and does not queue for another process.
        """
        owner, thread = self.user(user), as_thread(thread_id)
        snapshot = self._snapshot(owner, messages, thread)
        if not self._is_learning():
            return False
        moment = self._moment(said_at)
        return self._engine.enqueue(owner, snapshot, thread, learn, moment)

    async def aenqueue_extraction(
        self,
        user: User,
        messages: "Iterable[MessageLikeRepresentation]",
        *,
        thread_id: str | None = None,
        learn: bool = True,
        said_at: TimeInput | None = None,
    ) -> bool:
        """Async twin of `enqueue_extraction`."""
        owner, thread = self.user(user), as_thread(thread_id)
        snapshot = self._snapshot(owner, messages, thread)  # before they change
        if not self._is_learning():
            return False
        moment = self._moment(said_at)
        call = self._engine.enqueue
        return await self._hop(call, owner, snapshot, thread, learn, moment)

    def _is_learning(self) -> bool:
        """Tell whether turns are taken; if not, say so once in the log."""
        if not self.queues_turns and not self._told_not_learning:
            self._told_not_learning = True
            logger.warning(
                "This store has no extractor, so nothing is queued: open it with "
                "extractor=MemoryExtractor(model), or, if another process works off "
                "its outbox, with extraction_mode='queue'."
            )
        return self.queues_turns

    def _moment(self, said_at: TimeInput | None) -> int | None:
        if said_at is None:
            return None
        moment, _ = parse_event_time(said_at, self.settings.timezone)
        return to_us(moment)

    def _snapshot(
        self,
        user: UserKey,
        messages: "Iterable[MessageLikeRepresentation]",
        thread_id: str | None,
    ) -> "Snapshot":
        tools = self.tools() if self._custom_tools else ()
        conversation = as_conversation(messages)
        return self._engine.snapshot(user, conversation, thread_id, tools)

    @property
    def queues_turns(self) -> bool:
        """Whether nodes queue turns: for its extractor, or for another process."""
        return self.extractor is not None or self._extraction_settings.mode == "queue"

    def flush(self, timeout: float | None = None, *, held: bool = False) -> bool:
        """Extract what waits; tell whether nothing does any more.

        What failed for good, and what has to wait for another hour, is not waited for.

        Args:
            timeout: Seconds to wait at most; `None` = until it is done.
            held: Extract also what checkers hold back, for example at the end of a
                conversation.
        """
        return self._engine.flush(timeout, held=held)

    async def aflush(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - as `flush` has it
        *,
        held: bool = False,
    ) -> bool:
        """Async twin of `flush`."""
        # Not in the store's own threads: extraction may need all of them.
        return await asyncio.to_thread(self.flush, timeout, held=held)

    def extraction_graph(self) -> "CompiledStateGraph[Any, Any, Any, Any]":
        """Return the extraction subgraph, to run, draw or stream it by hand.

        It takes `{"user": UserKey, "messages": […]}`, and writes into this store. Its
        nodes are `recall`, `extract`, `assistant_episodes`, `reconcile`, `write`, and
        those that the store's `extraction_graph=` added.

        Raises:
            ExtractionFailed: If the store has no extractor.
        """
        return self._engine.graph()

    def extraction_jobs(self, user: User | None = None) -> "ExtractionJobs":
        """Return the turns that wait, are held back, or failed for good.

        Args:
            user: Of this user only; of all users if not given.
        """
        return self._engine.jobs(None if user is None else self.user(user))

    async def aextraction_jobs(self, user: User | None = None) -> "ExtractionJobs":
        """Async twin of `extraction_jobs`."""
        return await self._hop(self.extraction_jobs, user)

    def retry_jobs(
        self, user: User | None = None, ids: Iterable[str] | None = None
    ) -> int:
        """Let turns that failed for good wait again; return how many.

        Args:
            user: Of this user only; of all users if not given.
            ids: Only these jobs.
        """
        owner = None if user is None else self.user(user)
        return self._engine.retry(owner, as_ids(ids))

    async def aretry_jobs(
        self, user: User | None = None, ids: Iterable[str] | None = None
    ) -> int:
        """Async twin of `retry_jobs`."""
        return await self._hop(self.retry_jobs, user, ids)

    def discard_jobs(self, user: User, ids: Iterable[str] | None = None) -> int:
        """Drop turns of a user as if they had been extracted; return how many.

        Args:
            user: Whose turns.
            ids: Only these jobs; all if not given.
        """
        return self._engine.discard(self.user(user), as_ids(ids))

    async def adiscard_jobs(self, user: User, ids: Iterable[str] | None = None) -> int:
        """Async twin of `discard_jobs`."""
        return await self._hop(self.discard_jobs, user, ids)

    def start_worker(self) -> None:
        """Work off the outbox in the background, until `stop_worker` or `close`.

        What other processes queue in the same store is worked off, too. Without this
        call, workers start with the first turn that this process queues.

        Raises:
            ExtractionFailed: If the store has no extractor.
            InvalidInput: If the store does not extract in the background.
            BackendUnavailable: If the store was closed.
        """
        self._service.check_open()
        self._engine.start()

    def stop_worker(self, timeout: float | None = None) -> bool:
        """End the background workers after the mailbox that each has under way.

        What waits stays in the outbox. The next turn that this process queues starts
        them again.

        Args:
            timeout: Seconds to wait for them; `None` = until they have ended.

        Returns:
            True if they have ended. Those that have not still end by themselves.
        """
        return self._engine.stop(timeout)

    async def astop_worker(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - as `stop_worker` has it
    ) -> bool:
        """Async twin of `stop_worker`."""
        return await asyncio.to_thread(self.stop_worker, timeout)

    def pause_learning(self, user: User, thread_id: str | None = None) -> None:
        """Learn nothing more from a user, or from one conversation.

        What waits of it is discarded. What is said until `resume_learning` is never
        extracted.
        """
        self._engine.switch(self.user(user), as_thread(thread_id), paused=True)

    async def apause_learning(self, user: User, thread_id: str | None = None) -> None:
        """Async twin of `pause_learning`."""
        await self._hop(self.pause_learning, user, thread_id)

    def resume_learning(self, user: User, thread_id: str | None = None) -> None:
        """Learn from a user, or from one conversation, again."""
        self._engine.switch(self.user(user), as_thread(thread_id), paused=False)

    async def aresume_learning(self, user: User, thread_id: str | None = None) -> None:
        """Async twin of `resume_learning`."""
        await self._hop(self.resume_learning, user, thread_id)

    def learning_paused(self, user: User, thread_id: str | None = None) -> bool:
        """Tell whether nothing is learnt from a user, or from one conversation."""
        return self._engine.paused(self.user(user), thread_id)

    async def alearning_paused(self, user: User, thread_id: str | None = None) -> bool:
        """Async twin of `learning_paused`."""
        return await self._hop(self.learning_paused, user, thread_id)

    def extraction_usage(self, user: User) -> "Usage":
        """Return how many model calls and tokens learning from a user has cost."""
        return self._engine.usage(self.user(user))

    async def aextraction_usage(self, user: User) -> "Usage":
        """Async twin of `extraction_usage`."""
        return await self._hop(self.extraction_usage, user)

    @lazy_property
    def _engine(self) -> "Engine":
        from langchain_agentmemory.extraction.engine import (  # noqa: PLC0415 - on demand
            Engine,
        )

        return Engine(
            self._service,
            self.extractor,
            self._extraction_settings,
            self._enabled_tools,
            self._change_graph,
        )

    def _enabled_tools(self) -> frozenset[str]:
        return frozenset(self.tool_selection().enabled)

    def _note_deleted(self, user: UserKey, records: "Sequence[Record]") -> None:
        from langchain_agentmemory.extraction.forgotten import (  # noqa: PLC0415 - rare
            note,
        )

        if "_engine" in vars(self) and self._engine.outbox.spilled:
            self._engine.outbox.unspill()  # these turns were said before, too
        note(self.backend, user, records)

    # -- reports ---------------------------------------------------------------------

    def status(self) -> Report:
        """Return how the store is doing right now.

        With an extractor: turns that are pending, held back, running, and failed; how
        many this process's workers have done; the last error; and the lag, the age of
        the oldest turn that waits.
        """
        facts = self._service.status()
        if self.queues_turns:
            facts.update(self._engine.status())
            if facts.get("only in memory"):
                facts["state"] = "degraded: turns could not be written"
        return Report("MemoryStore status", facts)

    def describe(self) -> Report:
        """Return what the store is made of and how it is set up."""
        settings = self.settings
        return Report(
            "MemoryStore",
            {
                **self.backend.describe(),
                "items": str(self._service.status()["items"]),
                **self._service.describe(),
                "application": settings.app_name,
                "memory limit": f"{settings.memory_limit}, {settings.on_limit}"
                if settings.memory_limit is not None
                else "none",
                "deleted memories": "kept until purged"
                if settings.soft_delete
                else "gone at once",
                "tools": ", ".join(self.tool_selection().exposed),
                "learns": self._how_it_learns(),
            },
        )

    def _how_it_learns(self) -> str:
        mode = self._extraction_settings.mode
        if self.extractor is None:
            return "no: it queues for others" if mode == "queue" else "no"
        name = getattr(self.extractor.policy, "name", "a policy of yours")
        return f"{type(self.extractor).__name__}, {name}, {mode}"

    def __repr__(self) -> str:
        """Say where the memories live."""
        return f"<{type(self).__name__} on {self.backend.name}>"

    # -- inside ----------------------------------------------------------------------

    def user(self, user: User) -> UserKey:
        """Return a user as `UserKey`.

        Raises:
            InvalidInput: If it is neither a `UserKey` nor an id.
        """
        if isinstance(user, UserKey):
            return user
        return UserKey(self.settings.app_name, user)

    def _prefix(self, user: User | None) -> tuple[str, ...]:
        if user is None:
            return ()
        key = self.user(user)
        return user_namespace(key.app_name, key.user_id)

    def _dated(self, source: Source | None) -> Source | None:
        return None if source is None else self._service.dated(source)

    def _run(self, plan: Plan[T]) -> T:
        self._service.check_open()
        return run(plan, self._service.answer)

    async def _arun(self, plan: Plan[T]) -> T:
        return await arun(plan, self._service.aanswer, self._executor())

    async def _hop(self, call: Callable[..., T], *arguments: Any) -> T:
        return await in_executor(self._executor(), call, *arguments)

    def _executor(self) -> ThreadPoolExecutor:
        with self._threads_lock:
            self._service.check_open()
            if self._threads is None or self._threads_pid != os.getpid():
                self._threads_pid = os.getpid()
                self._threads = ThreadPoolExecutor(
                    THREADS, thread_name_prefix="agentmemory"
                )
            return self._threads


def _check_extractor(extractor: object) -> None:
    methods = ("policy", "should_extract", "extract")
    if extractor is not None and not all(hasattr(extractor, name) for name in methods):
        msg = (
            f"extractor must be an extractor, not {type(extractor).__name__}: use "
            f"MemoryExtractor(model) for a chat model."
        )
        raise InvalidInput(msg)


def _again(given: Any) -> Any:
    """Return what is iterable as something that can be read twice; else as it is."""
    again = isinstance(given, str) or not isinstance(given, Iterable)
    return given if again else list(given)


def as_memory_store(base_store: BaseStore, **options: Any) -> MemoryStore:
    """Return a memory store on top of any LangGraph store.

    Memories are ordinary items of that store: see
    `langchain_agentmemory.backends.base_store.BaseStoreBackend` for what it costs
    compared with a backend of our own. Without options, one store gets one wrapper,
    which has the store's own `ttl_config`. Closing it leaves the store below open.

    Args:
        base_store: The store. A `MemoryStore` is returned as it is.
        **options: What the constructor of `MemoryStore` takes. With options, every
            call makes a new wrapper.

    Raises:
        InvalidInput: If it is not a LangGraph store, or options are given for a
            `MemoryStore`, which has its own.
    """
    if isinstance(base_store, MemoryStore):
        if options:
            msg = "This is a MemoryStore already: give its constructor the options."
            raise InvalidInput(msg)
        return base_store
    if not options and isinstance(base_store, BaseStore):
        return _wrappers().of(base_store)
    from langchain_agentmemory.backends.base_store import (  # noqa: PLC0415 - on demand
        BaseStoreBackend,
    )

    options.setdefault("ttl", getattr(base_store, "ttl_config", None))
    return MemoryStore(BaseStoreBackend(base_store), **options)


@cache
def _wrappers() -> "Wrappers[MemoryStore]":
    from langchain_agentmemory.backends.base_store_wrappers import (  # noqa: PLC0415
        Wrappers,  # on demand
    )

    return Wrappers(_wrap)


def _wrap(backend: "BaseStoreBackend") -> MemoryStore:
    store = MemoryStore(backend, ttl=backend.ttl_config)
    store._executor()  # noqa: SLF001 - made now, so that the copies share its threads
    return store
