"""The backend protocol: store and fetch records, nothing else.

A backend knows nothing of memories, ranking or users. Every rule a user can observe is
written once, above it, as: read, decide, one conditional batch. A new engine has to
provide `Backend`, and passes `langchain_agentmemory.testing` when it does so correctly.

Times are integers: microseconds since the Unix epoch, UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Namespace = tuple[str, ...]

MICROSECONDS = 1_000_000


class Capability(Enum):
    """What an engine can do beyond storing and fetching."""

    DURABLE = "durable"
    """An acknowledged write survives the end of the process."""
    SHARED = "shared"
    """Several processes may open the same data."""
    ATOMIC_ACROSS_NAMESPACES = "atomic_across_namespaces"
    """A batch that touches several namespaces happens as a whole or not at all."""


class RecordState(IntEnum):
    """The life of a key."""

    ACTIVE = 0
    TOMBSTONE = 1
    """Soft-deleted: invisible to every read, restorable."""
    STUB = 2
    """Hard-deleted: only key and revision are left, so that caches notice."""


class RecordFlags:
    """What the layer above marks on a record: bits of an integer.

    Not an `enum.IntFlag`, whose operators take microseconds each: flags are looked at
    in every read and write.
    """

    NONE: Final = 0
    LISTED: Final = 1
    """Counts as a memory: in `Head.active`, limits and memory reads."""
    UNINDEXED: Final = 2
    """The writer asked for no index (`index=False`)."""


@dataclass(slots=True, eq=False, repr=False)
class Record:
    """One key of one namespace, as a backend keeps it.

    Attributes:
        namespace: Where it lives.
        key: Its key, unique in the namespace.
        value: The value as JSON text in UTF-8; empty for a stub.
        meta: What lives beside the value and survives a `put`, as JSON, or `None`.
        created_at: First write. `None` in a write means: keep that of an active
            record under this key, else the time of this write.
        updated_at: Last write of content. Set by `commit` when the write is stamped.
        deleted_at: When it became a tombstone.
        expires_at: When it ceases to exist for readers.
        ttl: The time to live that a refresh adds to now.
        revision: Set by `commit`: the namespace's revision after this write.
        state: Active, tombstone or stub.
        flags: Marks of the layer above.
        tokens: Opaque search tokens, made by the layer above.
        vectors: float32, shape (number of vectors, dimensions), or `None`.
        embedder: Fingerprint of the embedder that made `vectors`, 0 without vectors.
    """

    namespace: Namespace
    key: str
    value: bytes = b""
    meta: bytes | None = None
    created_at: int | None = None
    updated_at: int = 0
    deleted_at: int | None = None
    expires_at: int | None = None
    ttl: int | None = None
    revision: int = 0
    state: RecordState = RecordState.ACTIVE
    flags: int = RecordFlags.NONE
    tokens: bytes | None = None
    vectors: "NDArray[np.float32] | None" = None
    embedder: int = 0

    def __repr__(self) -> str:
        """Return what identifies the record and its state."""
        where = "/".join(self.namespace)
        return f"<Record {where} {self.key} {self.state.name} rev={self.revision}>"


class Write(NamedTuple):
    """One write of a batch.

    Attributes:
        record: What to store. A stub for a key that does not exist writes nothing.
        expect: The revision that the key's record must have, 0 for "no record at
            all", `None` for no condition.
        stamp: Whether this is a change of content: `updated_at` becomes the time of
            the write and the record the newest of its namespace. Otherwise
            `updated_at` is stored as given.
    """

    record: Record
    expect: int | None = None
    stamp: bool = True


class Batch(NamedTuple):
    """Writes that happen together or not at all.

    Attributes:
        writes: At most one write per key.
        limits: The most listed active records that a namespace may hold after the
            batch. A batch that does not add to a namespace passes its limit.
    """

    writes: Sequence[Write]
    limits: Mapping[Namespace, int] = MappingProxyType({})


class Head(NamedTuple):
    """The state of a namespace as a whole.

    Attributes:
        namespace: Which one.
        epoch: Identity of this incarnation; a namespace that was dropped and made
            anew has another.
        revision: Grows with every write of a record.
        items: Number of active, unexpired records.
        active: Number of those that are listed.
        last: The latest `updated_at` ever given in this namespace.
    """

    namespace: Namespace
    epoch: int
    revision: int
    items: int
    active: int
    last: int


class Page(NamedTuple):
    """A request for active, unexpired records of one namespace, by `updated_at`.

    Attributes:
        namespace: Which one.
        limit: How many at most, `None` for all.
        before: Only records with an earlier `updated_at` (later, when `oldest_first`).
        oldest_first: Turn the order round.
        listed: Only listed records.
        tombstones: Tombstones instead of active records.
    """

    namespace: Namespace
    limit: int | None
    before: int | None = None
    oldest_first: bool = False
    listed: bool = False
    tombstones: bool = False


class Delta(NamedTuple):
    """What changed in a namespace since a revision.

    Attributes:
        head: The head that the delta leads to.
        records: Changed records in order of revision: whole active ones; tombstones
            and stubs with key, state and revision only.
        reload: The revision is too old to be continued (stubs were purged, or the
            namespace was dropped): `records` are all active records instead.
    """

    head: Head
    records: list[Record]
    reload: bool


class PreconditionFailed(Exception):
    """Someone else wrote first: read again, decide again. Nothing was written."""


class LimitReached(Exception):
    """A namespace would hold more listed records than allowed. Nothing was written."""

    def __init__(self, namespace: Namespace, active: int, excess: int) -> None:
        """Remember the namespace, its present count and how many are too many."""
        super().__init__(namespace)
        self.namespace = namespace
        self.active = active
        self.excess = excess


class Backend(Protocol):
    """Where records live.

    Implementations are safe to use from several threads. Every method is synchronous
    and short; embedding and ranking happen elsewhere.

    Invariants: a batch is atomic at least within one namespace; a namespace's
    revision grows by one with each record written and never falls; `updated_at` of
    stamped writes is `max(now(), Head.last + 1)`, so it is unique and increasing in a
    namespace whatever the clock does; expired records are invisible to `page`,
    `heads` and counts, and `read` and `delta` return them for the caller to judge.
    """

    name: str
    capabilities: frozenset[Capability]
    keeps_records: bool
    """Whether the records that it returns are those it keeps: callers never change
    them, except that they may replace `vectors` by an equal array, and take away
    `tokens` that they can make again."""

    def open(self) -> None:
        """Connect, check or create the schema, migrate it forward. Idempotent.

        Raises:
            BackendUnavailable: If the data is corrupt, foreign, newer than this
                package, or cannot be reached.
        """
        ...

    def close(self) -> None:
        """Release everything. Later calls raise `BackendUnavailable`. Idempotent."""
        ...

    def now(self) -> int:
        """Return the engine's clock in microseconds."""
        ...

    def head(self, namespace: Namespace) -> Head | None:
        """Return the head of one namespace, `None` if it never existed."""
        ...

    def heads(self, prefix: Namespace) -> list[Head]:
        """Return the heads at and below a prefix that have items, sorted by path."""
        ...

    def read(self, namespace: Namespace, keys: Sequence[str]) -> list[Record | None]:
        """Return the records under these keys, in their order, in any state."""
        ...

    def page(self, page: Page) -> list[Record]:
        """Return records by `updated_at`, without tokens and vectors."""
        ...

    def delta(self, namespace: Namespace, epoch: int, since: int) -> Delta | None:
        """Return what changed since a revision, `None` for an unknown namespace."""
        ...

    def commit(self, batch: Batch) -> list[Record]:
        """Apply a batch and return its records as stored, in order of the writes.

        A write that changes nothing (a stub for an unknown key) keeps revision 0.

        Raises:
            PreconditionFailed: If a record is not at its expected revision.
            LimitReached: If a namespace would exceed its limit, expired records
                having been removed first.
            BackendUnavailable: If the engine refused; nothing was written.
        """
        ...

    def touch(self, namespace: Namespace, expiries: Mapping[str, int]) -> None:
        """Set `expires_at` of active records, without a new revision.

        Does not wait for other writers: callers only read, and try again next time.

        Raises:
            BackendUnavailable: If it could not be done at once.
        """
        ...

    def sweep(self) -> int:
        """Turn expired records, tombstones included, into stubs; return how many."""
        ...

    def purge(self, prefix: Namespace, deleted_before: int) -> int:
        """Turn tombstones at and below a prefix, deleted before a time, into stubs.

        Returns how many there were.
        """
        ...

    def drop(self, namespace: Namespace) -> dict[str, int]:
        """Remove a namespace with everything in it, head and stubs included.

        Returns how many `"active"`, `"tombstones"` and `"stubs"` it held.
        """
        ...

    def describe(self) -> dict[str, str]:
        """Return what a person wants to know: engine, place, version, settings."""
        ...
