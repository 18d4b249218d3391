"""What an extractor is: conversation in, operations out, nothing written."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Protocol, runtime_checkable

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from langchain_agentmemory.extraction.context import ExtractionContext
from langchain_agentmemory.extraction.operations import Operations
from langchain_agentmemory.policies.base import Policy
from langchain_agentmemory.types import MemoryEntry


@runtime_checkable
class Extractor(Protocol):
    """Finds out what to remember. It neither reads nor writes a store."""

    @property
    def policy(self) -> Policy:
        """What may be written of it."""
        ...

    def should_extract(self, context: ExtractionContext) -> bool:
        """Say whether it is time; what is not extracted stays waiting."""
        ...

    def extract(  # noqa: PLR0913 - what is rarely needed comes by name
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Return what to do, in order.

        Args:
            messages: What was said since the last extraction.
            existing: Memories of this user that may matter.
            enabled: Names of the memory tools that may be used (`"memory_add"`, …).
                `None` = all, an empty set = none.
            said_at: When the turn was said; relative times in it refer to this. Naive
                values are taken in the timezone. `None` = now.
            timezone: Where the user is.
            config: For the calls of a model, if there are any.

        Raises:
            ExtractionFailed: If it could not be found out. Nothing was done.
        """
        ...

    async def aextract(  # noqa: PLR0913 - see extract
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Async twin of `extract`."""
        ...
