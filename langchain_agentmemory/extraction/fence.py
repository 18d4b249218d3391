"""A backend on which a worker can only write while it has the user's mailbox."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_agentmemory.backends.base import Backend, Batch, Record, Write
from langchain_agentmemory.extraction.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Sequence


class FencedBackend:
    """Reads as the backend below, and writes only under a claim.

    Where the engine can, the memories, the lease and the progress of the plan are
    written in one batch: an operation is done exactly once. Where it cannot, the lease
    is checked before and the progress written after, so that the operation in flight
    when a process dies is done once more.

    Args:
        below: The backend.
        claim: The claim on the user's mailbox.
        beside: Returns what to write together with the memories.
        written: Called with those records as stored.
    """

    def __init__(
        self,
        below: Backend,
        claim: Claim,
        beside: Callable[[], "Sequence[Write]"],
        written: Callable[["Sequence[Record]"], None],
    ) -> None:
        """Remember the parts."""
        self._below = below
        self._claim = claim
        self._beside = beside
        self._written = written

    def __getattr__(self, name: str) -> Any:
        """Do everything else as the backend below."""
        return getattr(self._below, name)

    def commit(self, batch: Batch) -> list[Record]:
        """Apply a batch, provided that the mailbox is still this worker's.

        Raises:
            LeaseLost: If it is not. Nothing was written.
            PreconditionFailed: As the backend below.
            LimitReached: As the backend below.
        """
        beside = list(self._beside())
        count = len(batch.writes)
        if self._claim.atomic:
            records = self._claim.commit(Batch([*batch.writes, *beside], batch.limits))
            self._written(records[count:])
            return records[:count]
        self._claim.check()
        records = self._below.commit(batch)
        self._written(self._claim.commit(Batch(beside)))
        return records
