"""A scored memory on its way to the caller, however its score was found."""

from typing import TypeVar

from langchain_agentmemory.search.pipeline import Candidate
from langchain_agentmemory.types import MemoryEntry

T = TypeVar("T")


def candidate_of(item: T, entry: MemoryEntry, score: float) -> Candidate[T]:
    """Return a memory as what filters and ordering look at."""
    return Candidate(
        item,
        entry.id,
        entry.memory,
        score,
        entry.kind,
        entry.event_time,
        entry.created_at,
        entry.updated_at,
    )
