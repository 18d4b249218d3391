"""A scored memory on its way to the caller, however its score was found."""

from typing import Any, NamedTuple, TypeVar

from langchain_agentmemory.backends.base import Record
from langchain_agentmemory.search.pipeline import Candidate
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.types import MemoryEntry

T = TypeVar("T")


class Marks(NamedTuple):
    """How a memory fared in a search.

    Attributes:
        mode: What was ranked by: `"lexical"`, `"vector"` or `"hybrid"`.
        score: The score it was ranked by.
        lexical: Its score by words, `None` if words were not looked at.
        similarity: Its cosine, `None` if there is none.
    """

    mode: str
    score: float
    lexical: float | None
    similarity: float | None


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


def explanation(
    indexer: Indexer, query: Query, record: Record, marks: Marks
) -> dict[str, Any]:
    """Return what an entry says of its score when `explain` is asked for.

    Args:
        indexer: Whose tokenizer made the query.
        query: The query.
        record: The memory's record.
        marks: How it fared.
    """
    fields = [indexer.ranking.tokenizer.field(t) for t in indexer.words_of(record)]
    words = {
        word
        for found in fields
        for group in (found.primary, found.extra)
        for word in group
    }
    return {
        **marks._asdict(),
        "query_words": list(query.words),
        "matched_words": [word for word in query.words if word in words],
    }
