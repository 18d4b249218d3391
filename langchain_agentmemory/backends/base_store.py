"""The backend on top of any LangGraph store, such as the platform's own."""

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from langgraph.store.base import BaseStore, Op, PutOp

from langchain_agentmemory.backends.base import (
    Batch,
    Capability,
    Delta,
    Head,
    Namespace,
    Page,
    Record,
    RecordState,
    Write,
)
from langchain_agentmemory.backends.base_store_access import StoreBelow
from langchain_agentmemory.backends.base_store_looking import Lookout
from langchain_agentmemory.backends.base_store_mirror import Mirror
from langchain_agentmemory.backends.base_store_mirrors import Mirrors
from langchain_agentmemory.backends.base_store_writing import (
    COMPANIONS,
    HEADS,
    INTERNAL_ROOT,
    NO_TOKEN,
    Writing,
    head_key,
)
from langchain_agentmemory.backends.memory import stub_of, system_clock
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput

MIRRORED: Final = 50_000
"""Records kept in memory before the least recently used namespaces are let go."""

COUNTED: Final = 10_000
"""Items that `describe` counts at most: there is no cheaper way than reading them."""

_STRIPES: Final = 32  # locks per store, shared by its namespaces

_stripes_of: dict[int, list[Any]] = {}
_registry = threading.Lock()


class BaseStoreBackend:
    """Keep records as ordinary items of another LangGraph store.

    A value stays under its own namespace and key, so that plain LangGraph code and
    memory verbs see the same data, whoever wrote it. What lives beside a value
    (times, source, versions, expiry, vectors) is a companion item below the namespace
    `("agentmemory_internal",)`, which only shows in the store below, never here.

    LangGraph's stores can neither check a condition when they write nor tell what
    changed. What that costs:

    * Conditions (limits, "nobody wrote meanwhile") hold between all threads of one
      process. Two processes that write the same user's memories in the same moment
      can overshoot a limit by what they add, and the later of two updates of one
      memory wins.
    * A batch is one `batch` of the store: as atomic as the store makes it. When a
      value arrived and its companion did not, it is a memory without a source.
    * Every use but a `get` reads the whole namespace: milliseconds for a thousand
      items. Made for the namespaces of users; a search or listing above them reads
      everything below it.
    * An expiry reaches the store below only if it knows expiry (`supports_ttl`); in
      others, plain LangGraph code sees expired items until they are swept.

    Args:
        store: The store. It is never closed from here.
        hold: Whether to keep the store alive; if not, someone else has to.
        clock: Returns the time in microseconds; for tests that move the clock.

    Attributes:
        ttl_config: How the store below lets items expire.
        closed: Whether this backend was closed.
    """

    name = "base_store"
    capabilities: frozenset[Capability] = frozenset()
    keeps_records = True

    def __init__(
        self,
        store: BaseStore | Any,
        *,
        hold: bool = True,
        clock: Callable[[], int] = system_clock,
    ) -> None:
        """Remember the store; nothing is read yet.

        Raises:
            InvalidInput: If it is not a LangGraph store.
        """
        if not isinstance(store, BaseStore):
            given: object = store
            msg = f"{type(given).__name__} is not a LangGraph store (a BaseStore)."
            raise InvalidInput(msg)
        self._below = StoreBelow(store, hold=hold)
        self.ttl_config = store.ttl_config
        self._clock = clock
        self._stripes = _stripes(store)
        self._mirrors = Mirrors(MIRRORED)
        self._look = Lookout(self._below, self._mirrors)
        self.closed = False

    def open(self) -> None:
        """Do nothing: the store below has its own setup."""
        self._check()

    def close(self) -> None:
        """Forget what was read. The store below stays open: it is not ours."""
        self.closed = True
        self._mirrors.clear()

    def now(self) -> int:
        """Return the clock in microseconds."""
        return self._clock()

    # -- reading ---------------------------------------------------------------------

    def head(self, namespace: Namespace) -> Head | None:
        """Return the head of one namespace."""
        with self._seen(namespace) as mirror:
            return None if mirror.void else mirror.head(self.now())

    def heads(self, prefix: Namespace) -> list[Head]:
        """Return the heads at and below a prefix that have items."""
        with self._locked(None):
            now = self.now()
            heads = [mirror.head(now) for mirror in self._look.see_below(prefix)]
        self._trim()
        found = [head for head in heads if head.items]
        return sorted(found, key=lambda head: head.namespace)

    def read(self, namespace: Namespace, keys: Sequence[str]) -> list[Record | None]:
        """Return the records under these keys in any state."""
        with self._locked([namespace]):
            mirror = self._look.glance(namespace, keys) or self._look.see(namespace)
            found = [mirror.find(key) for key in keys]
        self._trim()
        return found

    def page(self, page: Page) -> list[Record]:
        """Return records by `updated_at`."""
        with self._seen(page.namespace) as mirror:
            return mirror.page(page, self.now())

    def delta(self, namespace: Namespace, epoch: int, since: int) -> Delta | None:
        """Return what changed since a revision."""
        with self._seen(namespace) as mirror:
            return None if mirror.void else mirror.delta(epoch, since, self.now())

    def describe(self) -> dict[str, str]:
        """Return engine and size."""
        self._check()
        many = self._below.has_more_than(COUNTED)
        return {
            "engine": f"LangGraph's {self._below.kind}",
            "durable": "as the store below",
            "items": f"more than {COUNTED:,}"
            if many
            else str(sum(head.items for head in self.heads(()))),
        }

    # -- writing ---------------------------------------------------------------------

    def commit(self, batch: Batch) -> list[Record]:
        """Apply a batch as one batch of the store below."""
        groups: dict[Namespace, list[Write]] = {}
        for write in batch.writes:
            groups.setdefault(write.record.namespace, []).append(write)
        if any(namespace[:1] == (INTERNAL_ROOT,) for namespace in groups):
            msg = f"Namespaces below {INTERNAL_ROOT!r} are reserved: use another."
            raise InvalidInput(msg)
        with self._locked(groups):
            mirrors = {namespace: self._look.see(namespace) for namespace in groups}
            now = self.now()
            for namespace, writes in groups.items():
                mirrors[namespace].check(writes)
            planned = []
            for namespace, writes in groups.items():
                mirror = mirrors[namespace]
                room = mirror.make_room(batch.limits.get(namespace), writes, now)
                planned.append(self._writing(mirror, [*room, *writes], now))
            self._issue(planned)
            for writing in planned:
                writing.apply()
                self._mirrors.keep(writing.mirror)
        self._trim()
        return [write.record for write in batch.writes]

    def touch(self, namespace: Namespace, expiries: Mapping[str, int]) -> None:
        """Set `expires_at` of active records."""
        with self._seen(namespace) as mirror:
            writing = self._writing(mirror, (), self.now())
            writing.renew(expiries)
            self._issue([writing])
            writing.apply_renewals()

    def sweep(self) -> int:
        """Turn expired records into stubs."""
        return self._bury((), "expires_at", Mirror.all_expired)

    def purge(self, prefix: Namespace, deleted_before: int) -> int:
        """Turn old tombstones at and below a prefix into stubs."""

        def old(mirror: Mirror, _now: int) -> list[Record]:
            return [
                record
                for record in mirror.dead.values()
                if record.state is RecordState.TOMBSTONE
                and (record.deleted_at or 0) < deleted_before
            ]

        return self._bury(prefix, "deleted_at", old)

    def _bury(
        self,
        prefix: Namespace,
        having: str,
        choose: Callable[[Mirror, int], list[Record]],
    ) -> int:
        count = 0
        with self._locked(None):
            now = self.now()
            for place, items in self._below.items((*COMPANIONS, *prefix)).items():
                if not any(having in item.value for item in items.values()):
                    continue
                mirror = self._look.see(place[len(COMPANIONS) :])
                stubs = [stub_of(record) for record in choose(mirror, now)]
                writing = self._writing(mirror, stubs, now)
                self._issue([writing])
                writing.apply()
                count += len(stubs)
        self._trim()
        return count

    def drop(self, namespace: Namespace) -> dict[str, int]:
        """Remove a namespace with everything in it."""
        with self._seen(namespace) as mirror:
            dead = list(mirror.dead.values())
            stubs = sum(1 for record in dead if record.state is RecordState.STUB)
            place = (*COMPANIONS, *namespace)
            beside = (*mirror.companions, *mirror.orphans)
            ops: list[Op] = [PutOp(namespace, key, None) for key in mirror.active]
            ops += [PutOp(place, key, None) for key in beside]
            if mirror.token is not None:
                ops.append(PutOp(HEADS, head_key(namespace), None))
            try:
                self._below.call(ops)
            finally:
                self._mirrors.forget(mirror, dropped=True)
            return {
                "active": len(mirror.active),
                "tombstones": len(dead) - stubs,
                "stubs": stubs,
            }

    def _writing(self, mirror: Mirror, writes: Sequence[Write], now: int) -> Writing:
        writing = Writing(mirror, now, expires=self._below.expires)
        writing.write(writes)
        return writing

    def _issue(self, planned: Sequence[Writing]) -> None:
        try:
            self._below.call([op for writing in planned for op in writing.ops])
        except Exception:
            for writing in planned:  # who knows how much of it was done
                writing.mirror.token = NO_TOKEN
            raise

    # -- locks -----------------------------------------------------------------------

    @contextmanager
    def _seen(self, namespace: Namespace) -> Iterator[Mirror]:
        """Lend a namespace as it is now, while nobody else here changes it."""
        with self._locked([namespace]):
            yield self._look.see(namespace)
        self._trim()

    @contextmanager
    def _locked(self, namespaces: Iterable[Namespace] | None) -> Iterator[None]:
        """Hold the locks of some namespaces, of all if not given."""
        self._check()
        wanted = range(_STRIPES)
        chosen = (
            wanted
            if namespaces is None
            else sorted({self._stripe(namespace) for namespace in namespaces})
        )
        with ExitStack() as stack:
            for number in chosen:
                stack.enter_context(self._stripes[number])
            yield

    def _stripe(self, namespace: Namespace) -> int:
        return hash(namespace) % _STRIPES

    def _trim(self) -> None:
        """Let go of what was not used for long, unless somebody is using it."""
        for mirror in self._mirrors.surplus():
            lock = self._stripes[self._stripe(mirror.namespace)]
            if lock.acquire(blocking=False):
                try:
                    self._mirrors.forget(mirror)
                finally:
                    lock.release()

    def _check(self) -> None:
        if self.closed:
            msg = "The store is closed: create a new MemoryStore."
            raise BackendUnavailable(msg)
        self._below.check()


def _stripes(store: BaseStore) -> list[Any]:
    """Return the locks of a store, shared by all backends on top of it."""
    with _registry:
        found = _stripes_of.get(id(store))
        if found is None:
            found = [threading.RLock() for _ in range(_STRIPES)]
            _stripes_of[id(store)] = found
            weakref.finalize(store, _stripes_of.pop, id(store), None)
        return found
