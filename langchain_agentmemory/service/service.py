"""The parts of the service put together, and what needs several of them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_agentmemory.backends.base import (
    MICROSECONDS,
    Backend,
    Namespace,
    Record,
)
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.lazy import lazy_property
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.search.dictionary import UserWords, user_dictionary
from langchain_agentmemory.search.ranking import get_ranking
from langchain_agentmemory.service.arranging import (
    Arrangement,
    arranged,
    arrangement_of,
)
from langchain_agentmemory.service.criteria import criteria_of
from langchain_agentmemory.service.hidden import EXTRACTION_ROOT
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.plans import CLOSED, Answer, Embed, Plan, Request
from langchain_agentmemory.service.records import entry_of
from langchain_agentmemory.service.refresh import EAGER, LAZY, Refresh
from langchain_agentmemory.service.settings import (
    Settings,
    check_limit,
    check_positive,
    check_seconds,
)
from langchain_agentmemory.service.small_search import SmallSearch
from langchain_agentmemory.service.time_limit import TimeLimit
from langchain_agentmemory.service.verbs import Verbs
from langchain_agentmemory.times import parse_event_time
from langchain_agentmemory.types import Memories, SearchOptions, Source, UserKey

if TYPE_CHECKING:
    import numpy as np
    from langgraph.store.base import Op, Result
    from numpy.typing import NDArray

    from langchain_agentmemory.service.embedding import Embedder
    from langchain_agentmemory.service.embedding_settings import Index
    from langchain_agentmemory.service.items import Items
    from langchain_agentmemory.service.reindexing import Reindexing
    from langchain_agentmemory.service.reranking import Reranker, RerankerLike
    from langchain_agentmemory.service.search import Search
    from langchain_agentmemory.service.shelves import Shelves

_END_OF_TIME = 1 << 62
COUNTED = 10_000
"""Items that `status` looks through at most, to count those that have vectors."""


class Service:
    """Everything below the facade.

    Args:
        backend: Where records live.
        settings: How the store behaves.
        index: The embedder's configuration, `None` for none.
        ranking: The name of the lexical ranking.
        search_memory: Bytes for warm indexes, `None` for the default.
        reranker: What orders the best results anew, `None` for nothing.
        rerank_top: How many of the best results are looked at again.
        words: What the caller adds to the Chinese dictionary.
        search_timeout: Seconds that a search waits for the embedder, and for the
            reranker; `None` = as long as it takes.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a store
        self,
        backend: Backend,
        settings: Settings,
        index: "Index | None",
        ranking: str,
        search_memory: int | None,
        reranker: "RerankerLike | None" = None,
        rerank_top: int = 50,
        *,
        words: UserWords | None = None,
        search_timeout: float | None = None,
    ) -> None:
        """Put the parts together; nothing is opened yet."""
        self.backend = backend
        self.settings = settings
        self.embedder = None if index is None else _embedder(index)
        self.index_config: Mapping[str, Any] | None = None
        if self.embedder is not None:
            given = index if isinstance(index, Mapping) else {"embed": index}
            defaults = {"dims": self.embedder.dims, "fields": ["$"]}
            self.index_config = {**defaults, **given}
        self.reranker = None if reranker is None else _reranker(reranker)
        self._limit = TimeLimit(check_seconds("search_timeout", search_timeout))
        self._rerank_top = check_positive("rerank_top", rerank_top)
        self._search_memory = check_limit("search_memory", search_memory)
        self._dictionary = user_dictionary(words)
        self.indexer = Indexer(get_ranking(ranking, self._dictionary), self.embedder)
        self.verbs = Verbs(backend, self.indexer, settings)
        self._small = SmallSearch(backend, self.indexer, settings)
        self.closed = False

    def batch(self, ops: "Iterable[Op]") -> "Plan[list[Result]]":
        """Run LangGraph operations; see `service.items`."""
        return (yield from self._items.batch(ops))

    @lazy_property
    def _items(self) -> "Items":
        from langchain_agentmemory.service.items import (  # noqa: PLC0415 - on demand
            Items,
        )

        return Items(self.verbs, self._ranker, self._refresh)

    @lazy_property
    def _ranker(self) -> "Search":
        from langchain_agentmemory.service.search import (  # noqa: PLC0415 - numpy
            Search,
        )
        from langchain_agentmemory.service.shelves import (  # noqa: PLC0415 - numpy
            DEFAULT_BUDGET,
            Shelves,
        )

        given = self._search_memory
        budget = DEFAULT_BUDGET if given is None else given
        shelves = Shelves(self.backend, self.indexer, budget)
        ranker = Search(self.indexer, shelves, self.settings)
        # Of two threads that get here at once, both use the first one's: shelves that
        # only one of them knew would not be emptied when a user is erased.
        kept: Search = vars(self).setdefault("_ranker", ranker)
        return kept

    @property
    def shelves(self) -> "Shelves | None":
        """The warm indexes, `None` before anything needed one."""
        ranker: Search | None = vars(self).get("_ranker")
        return None if ranker is None else ranker.shelves

    def check_open(self) -> None:
        """Refuse to go on in a closed store, whatever the backend would answer.

        Raises:
            BackendUnavailable: If the store was closed.
        """
        if self.closed:
            raise BackendUnavailable(CLOSED)

    def close(self) -> None:
        """Release the backend and the warm indexes."""
        self.closed = True
        if self.shelves is not None:
            self.shelves.clear()
        self.backend.close()

    def embed(self, request: Embed) -> "NDArray[np.float32] | None":
        """Return vectors for a plan, `None` if the embedder failed."""
        embedder = self.embedder
        if embedder is None:
            return None
        if not _is_waited_for(request):
            return embedder.embed(request)
        try:
            seconds = self._limit.seconds
            return self._limit.call(partial(embedder.embed, request, seconds))
        except TimeoutError as error:
            embedder.gave_up(request, error)
            return None

    async def aembed(self, request: Embed) -> "NDArray[np.float32] | None":
        """Async twin of `embed`."""
        embedder = self.embedder
        if embedder is None:
            return None
        if not _is_waited_for(request):
            return await embedder.aembed(request)
        try:
            return await self._limit.acall(partial(embedder.aembed, request))
        except TimeoutError as error:
            embedder.gave_up(request, error)
            return None

    def answer(self, request: Request) -> Answer:
        """Return what a plan asks for, `None` if who should know it failed."""
        if isinstance(request, Embed):
            return self.embed(request)
        if self.reranker is None:
            return None
        try:
            return self._limit.call(partial(self.reranker.rerank, request))
        except TimeoutError as error:
            self.reranker.gave_up(error)
            return None

    async def aanswer(self, request: Request) -> Answer:
        """Async twin of `answer`."""
        if isinstance(request, Embed):
            return await self.aembed(request)
        if self.reranker is None:
            return None
        try:
            return await self._limit.acall(partial(self.reranker.arerank, request))
        except TimeoutError as error:
            self.reranker.gave_up(error)
            return None

    def read(self, user: UserKey, limit: int | None) -> Memories:
        """Return the newest memories first."""
        self.check_open()
        records = self.verbs.read(user, limit)
        self._renew(records)
        return Memories(entry_of(record, self.settings.timezone) for record in records)

    def search(
        self, user: UserKey, query: str, options: SearchOptions
    ) -> Plan[Memories]:
        """Return the memories that fit a query, best first."""
        how = self._arrangement(options)
        # What comes after the ranking may choose among more than the page holds.
        wide = options
        if how.fetched != how.limit:
            wide = replace(options, limit=how.fetched)
        found = None
        if self._small.is_due():
            found = self._small.memories(user.namespace, query, wide)
        if found is None:
            found = yield from self._ranker.memories(user.namespace, query, wide)
        found = yield from arranged(found, query, how, self.indexer)
        self._renew(record for record, _ in found)
        return Memories([entry for _, entry in found])

    def _arrangement(self, options: SearchOptions) -> Arrangement:
        return arrangement_of(
            options, self._rerank_top, has_reranker=self.reranker is not None
        )

    def check_options(self, options: SearchOptions) -> None:
        """Refuse search options that make no sense in this store.

        Raises:
            InvalidInput: With what there is.
        """
        self._arrangement(options)
        criteria_of(options, self.indexer, self.settings, now=0)

    def _refresh(self) -> Refresh:
        lazy = self.settings.refresh_on_read is None
        return Refresh(self.backend, LAZY if lazy else EAGER)

    def _renew(self, records: Iterable[Record]) -> None:
        expiring = [record for record in records if record.expires_at is not None]
        if expiring and self.settings.refresh_on_read is not False:
            refresh = self._refresh()
            for record in expiring:
                refresh.note(record)
            refresh.write()

    def purge(self, user: UserKey | None, older_than: object) -> int:
        """Remove tombstones for good.

        Raises:
            InvalidInput: If the age is not a `timedelta` or `None`.
        """
        before = _END_OF_TIME  # also what a clock that was ahead dated in the future
        if older_than is not None:
            if not isinstance(older_than, timedelta):
                msg = "older_than is a timedelta, such as timedelta(days=30), or None."
                raise InvalidInput(msg)
            if older_than < timedelta(0):
                msg = "older_than is negative: nothing was deleted in the future."
                raise InvalidInput(msg)
            age = older_than // timedelta(microseconds=1)
            before = max(0, self.backend.now() + 1 - age)
        self.backend.sweep()  # what expired is gone anyway, and is not counted
        prefix: Namespace = () if user is None else user.namespace
        return self.backend.purge(prefix, before)

    @property
    def reindexing(self) -> "Reindexing":
        """What counts and makes the vectors that are owed.

        Raises:
            InvalidInput: If the store has no index.
        """
        from langchain_agentmemory.service.reindexing import (  # noqa: PLC0415 - rare
            Reindexing,
        )

        self.check_open()
        return Reindexing(self.backend, self.indexer)

    def dated(self, source: object) -> Source:
        """Return a source whose time has an offset.

        Raises:
            InvalidInput: If it is no `Source`, or a field has the wrong type.
        """
        if not isinstance(source, Source):
            msg = "source must be a Source, such as Source(thread_id='t1', position=3)."
            raise InvalidInput(msg)
        for name, kind in (("thread_id", str), ("role", str), ("position", int)):
            given = getattr(source, name)
            if given is not None and (
                isinstance(given, bool) or not isinstance(given, kind)
            ):
                msg = f"source.{name} must be {kind.__name__}, not {quoted(given)}."
                raise InvalidInput(msg)
        if source.position is not None and abs(source.position) >= 1 << 63:
            msg = "source.position must be a number of at most 63 bits."
            raise InvalidInput(msg)
        said = source.said_at
        if said is not None:
            try:
                said, _ = parse_event_time(said, self.settings.timezone)
            except InvalidInput as error:
                msg = f"source.said_at: {error}"
                raise InvalidInput(msg) from error
        ids = _message_ids(source.message_ids)
        return replace(source, message_ids=ids, said_at=said)

    def status(self) -> dict[str, object]:
        """Return how things are right now."""
        started = self.backend.now()
        engine = self.backend.describe()
        warm = {"shelves": 0, "bytes": 0}
        if self.shelves is not None:
            warm = self.shelves.describe()
        facts: dict[str, object] = {
            "state": "ok",
            "engine": engine["engine"],
            "answered in": f"{(self.backend.now() - started) / MICROSECONDS:.3f} s",
            "items": self._visible_items(engine["items"]),
            "warm indexes": f"{warm['shelves']} ({warm['bytes'] / 1e6:.1f} MB)",
        }
        degraded = []
        if self.embedder is not None:
            error = self.embedder.last_error
            how = "ok" if error is None else f"failing: {error}"
            facts["embedder"] = f"{self.embedder.name}, {how}"
            if error is not None:
                degraded.append("search goes by words")
            facts["vectors"] = self._vectors(str(facts["items"]))
        if self.reranker is not None:
            error = self.reranker.last_error
            facts["reranker"] = "ok" if error is None else f"failing: {error}"
            if error is not None:
                degraded.append("results are not reranked")
        if self._limit.seconds is not None:
            facts["search timeouts"] = str(self._limit.exceeded)
        if degraded:
            facts["state"] = f"degraded: {', '.join(degraded)}"
        return facts

    def _vectors(self, items: str) -> str:
        if not items.isdecimal() or int(items) > COUNTED:
            return f"more than {COUNTED:,} items are not looked through here"
        made, others, missing = self.reindexing.count(())
        told = f"{made} items have them"
        if others:
            told += f", {others} have another embedder's"
        if missing:
            told += f", {missing} have none"
        return told + (": run reindex()" if others or missing else "")

    def _visible_items(self, counted: str) -> str:
        hidden = sum(head.items for head in self.backend.heads((EXTRACTION_ROOT,)))
        return str(int(counted) - hidden) if counted.isdecimal() else counted

    def describe(self) -> dict[str, str]:
        """Return how search is set up."""
        facts = {"ranking": self.indexer.ranking.name, "index": "by words"}
        if self.embedder is not None:
            dims = self.embedder.dims or "not known yet"
            facts["index"] = f"by words and meaning ({self.embedder.name}, {dims} dims)"
        if self._dictionary.words:
            facts["user dictionary"] = f"{len(self._dictionary.words)} words"
        if self.reranker is not None:
            facts["reranker"] = f"{self.reranker.name}, best {self._rerank_top}"
        if self._limit.seconds is not None:
            facts["search timeout"] = f"{self._limit.seconds:g} s"
        facts["timezone"] = str(self.settings.timezone)
        return facts


def _is_waited_for(request: Embed) -> bool:
    """Tell whether a search waits for these vectors, not a write."""
    return request.role == "query" or request.probing


def _message_ids(given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = (
            f"source.message_ids must be several ids, such as ('m1', 'm2'), not "
            f"{quoted(given)}."
        )
        raise InvalidInput(msg)
    ids = list(given)
    for one in ids:
        if isinstance(one, bool) or not isinstance(one, str | int):
            msg = f"source.message_ids has {quoted(one)}, which is no id: use text."
            raise InvalidInput(msg)
        if isinstance(one, int) and abs(one) >= 1 << 63:
            msg = "source.message_ids has a number of more than 63 bits: use text."
            raise InvalidInput(msg)
    return tuple(str(one) for one in ids)


def _embedder(index: "Index") -> "Embedder":
    from langchain_agentmemory.service.embedding import (  # noqa: PLC0415 - on demand
        Embedder,
    )

    return Embedder(index)


def _reranker(given: "RerankerLike") -> "Reranker":
    from langchain_agentmemory.service.reranking import (  # noqa: PLC0415 - on demand
        Reranker,
    )

    return Reranker(given)
