"""Vectors that are owed: counting them, and making them."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Namespace,
    Page,
    PreconditionFailed,
    Record,
    RecordFlags,
    RecordState,
    Write,
)
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.service.changes import changed
from langchain_agentmemory.service.hidden import visible
from langchain_agentmemory.service.plans import Plan
from langchain_agentmemory.service.verbs import with_index

if TYPE_CHECKING:
    from langchain_agentmemory.service.embedding import Embedder
    from langchain_agentmemory.service.indexing import Indexer

_IN_A_ROW: Final = 2
"""Groups of which nothing could be embedded before the embedder counts as down."""


class VectorCounts(NamedTuple):
    """How many items have vectors that can be searched.

    Attributes:
        made: Items with vectors of the store's embedder.
        others: Items with vectors of another model, dimension or prefix; they are
            found by their words.
        missing: Items without vectors, found by their words. Items that have no text
            to embed do not count.
    """

    made: int
    others: int
    missing: int

    @property
    def owed(self) -> int:
        """How many `reindex` has to embed."""
        return self.others + self.missing


class Reindexing:
    """Completes what lacks vectors, in batches; what is done is kept at once.

    Args:
        backend: Where the records are.
        indexer: Whose embedder makes the vectors.

    Raises:
        InvalidInput: If there is no embedder.
    """

    def __init__(self, backend: Backend, indexer: "Indexer") -> None:
        """Refuse to work without an embedder."""
        if indexer.embedder is None:
            msg = (
                "Vectors need an index: open the store with embeddings=… or "
                "index={'embed': …}."
            )
            raise InvalidInput(msg)
        self._backend = backend
        self._indexer = indexer
        self._embedder: Embedder = indexer.embedder

    def count(self, prefix: Namespace) -> VectorCounts:
        """Count items at and below a prefix. Every record is read."""
        made = others = missing = 0
        for head in visible(self._backend.heads(prefix)):
            for record in self._backend.page(Page(head.namespace, None)):
                if record.flags & RecordFlags.UNINDEXED:
                    continue
                if record.embedder == self._embedder.fingerprint:
                    made += 1
                elif not self._indexer.owed(record):
                    continue
                elif record.embedder:
                    others += 1
                else:
                    missing += 1
        return VectorCounts(made, others, missing)

    def run(
        self, prefix: Namespace, progress: Callable[[int, int], None] | None
    ) -> Plan[int]:
        """Embed what is owed at and below a prefix; return how much was.

        Raises:
            BackendUnavailable: If the embedder failed on something.
            InvalidInput: If it has another dimension than configured.
        """
        heads = visible(self._backend.heads(prefix))
        total = sum(head.items for head in heads)
        seen = embedded = failed = in_a_row = 0
        for head in heads:
            for records in self._in_groups(head.namespace):
                owed = [record for record in records if self._indexer.owed(record)]
                done, left = yield from self._complete(owed)
                embedded, failed = embedded + done, failed + left
                if owed:
                    in_a_row = 0 if done or self._embedder.answered else in_a_row + 1
                if in_a_row == _IN_A_ROW or (left and self._embedder.misconfigured):
                    raise self._unfinished(failed)
                seen += len(records)
                if progress is not None:
                    progress(min(seen, total), total)
        if failed:  # the embedder cannot do some texts: the others are done by now
            raise self._unfinished(failed)
        return embedded

    def _unfinished(self, failed: int) -> Exception:
        if self._embedder.misconfigured is not None:
            return InvalidInput(self._embedder.misconfigured)
        return BackendUnavailable(
            f"The embedder failed on {failed} items: {self._embedder.last_error}. What "
            f"was embedded is kept: run reindex() again when it works."
        )

    def _in_groups(self, namespace: Namespace) -> Iterator[list[Record]]:
        keys = [r.key for r in self._backend.page(Page(namespace, None))]
        at_once = self._embedder.batch_size
        for start in range(0, len(keys), at_once):
            found = self._backend.read(namespace, keys[start : start + at_once])
            yield [r for r in found if r is not None and r.state is RecordState.ACTIVE]

    def _complete(self, owed: Sequence[Record]) -> Plan[tuple[int, int]]:
        """Embed some items; return how many were, and on how many that failed.

        One text that an embedder refuses fails the whole request that it is in. So
        what failed is tried again in halves, unless two single items say that the
        embedder is down.
        """
        done, left = yield from self._embed(owed)
        if len(left) < 2 or self._embedder.answered:  # noqa: PLR2004
            return done, len(left)
        single: list[Record] = []
        for one in (left[0], left[-1]):
            made, refused = yield from self._embed([one])
            done += made
            single.extend(refused)
            if not refused:
                break
        else:
            return done, len(left)
        rest = left[len(single) : -1] if single else left[1:]
        failed = len(single)
        half = len(rest) // 2
        for part in (rest[:half], rest[half:]):
            more, refusals = yield from self._complete(part)
            done, failed = done + more, failed + refusals
        return done, failed

    def _embed(self, owed: Sequence[Record]) -> Plan[tuple[int, list[Record]]]:
        """Embed some items; return how many were, and those on which that failed."""
        if not owed:
            return 0, []
        indexed = yield from self._indexer.index(
            [self._indexer.subject_of(record) for record in owed]
        )
        done, left = 0, []
        for record, found in zip(owed, indexed, strict=True):
            if found.vectors is None:
                left.append(record)
                continue
            twin = with_index(changed(record), found)
            write = Write(twin, expect=record.revision, stamp=False)
            try:
                self._backend.commit(Batch([write]))
            except PreconditionFailed:
                continue  # rewritten meanwhile, and embedded by that write
            done += 1
        return done, left
