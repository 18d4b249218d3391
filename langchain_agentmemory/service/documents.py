"""Memories as LangChain documents: what retrievers return and rerankers read."""

from typing import Any

from langchain_core.documents import Document

from langchain_agentmemory.service.records import source_to_json
from langchain_agentmemory.times import format_event_time
from langchain_agentmemory.types import MemoryEntry


def document_of(entry: MemoryEntry) -> Document:
    """Return a memory as a document.

    Returns:
        A document whose `page_content` is the text and whose `id` is the memory's. Its
        metadata are JSON values, with the same keys for every memory: `id`, `topics`,
        `kind`, `event_time` (ISO 8601 with its offset), `event_precision`,
        `participants`, `location`, `created_at`, `updated_at` (ISO 8601, UTC),
        `score`, `source`, `supersedes`, `superseded_by`; and `explanation` where the
        search was asked to explain.
    """
    event, source = entry.event_time, entry.source
    metadata: dict[str, Any] = {
        "id": entry.id,
        "topics": list(entry.topics),
        "kind": str(entry.kind),
        "event_time": None if event is None else format_event_time(event),
        "event_precision": entry.event_precision,
        "participants": list(entry.participants),
        "location": entry.location,
        "created_at": entry.created_at.isoformat(),
        "updated_at": entry.updated_at.isoformat(),
        "score": entry.score,
        "source": None if source is None else source_to_json(source),
        "supersedes": list(entry.supersedes),
        "superseded_by": entry.superseded_by,
    }
    if entry.explanation is not None:
        metadata["explanation"] = entry.explanation.as_dict()
    return Document(id=entry.id, page_content=entry.memory, metadata=metadata)
