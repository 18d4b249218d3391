"""Long-term memory for LangGraph and LangChain agents.

Names are loaded on first use, so importing the package costs next to nothing and
loads neither `langchain` nor an engine or a dictionary that the program never needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_agentmemory.explanation import Explanation
    from langchain_agentmemory.extraction.checkers import (
        all_of,
        any_of,
        message_threshold,
        time_interval,
    )
    from langchain_agentmemory.extraction.context import ExtractionContext
    from langchain_agentmemory.extraction.extractor import MemoryExtractor
    from langchain_agentmemory.extraction.known_secrets import redact_secrets
    from langchain_agentmemory.extraction.verbatim import VerbatimExtractor
    from langchain_agentmemory.local_embeddings import LocalEmbeddings
    from langchain_agentmemory.middleware import MemoryMiddleware
    from langchain_agentmemory.nodes.preload import PreloadMemories
    from langchain_agentmemory.nodes.remember import QueueExtraction
    from langchain_agentmemory.policies.append_only import AppendOnly
    from langchain_agentmemory.policies.base import Decision
    from langchain_agentmemory.policies.merge_similar import MergeSimilar
    from langchain_agentmemory.policies.preserve_history import PreserveHistory
    from langchain_agentmemory.store import MemoryStore
    from langchain_agentmemory.types import (
        MemoryEntry,
        MemoryKind,
        MemoryReader,
        Operation,
        SearchOptions,
        Source,
        UserKey,
    )

    __version__: str

_HOME = {
    "AppendOnly": "langchain_agentmemory.policies.append_only",
    "Decision": "langchain_agentmemory.policies.base",
    "Explanation": "langchain_agentmemory.explanation",
    "ExtractionContext": "langchain_agentmemory.extraction.context",
    "LocalEmbeddings": "langchain_agentmemory.local_embeddings",
    "MemoryEntry": "langchain_agentmemory.types",
    "MemoryExtractor": "langchain_agentmemory.extraction.extractor",
    "MemoryKind": "langchain_agentmemory.types",
    "MemoryMiddleware": "langchain_agentmemory.middleware",
    "MemoryReader": "langchain_agentmemory.types",
    "MemoryStore": "langchain_agentmemory.store",
    "MergeSimilar": "langchain_agentmemory.policies.merge_similar",
    "Operation": "langchain_agentmemory.types",
    "PreloadMemories": "langchain_agentmemory.nodes.preload",
    "QueueExtraction": "langchain_agentmemory.nodes.remember",
    "PreserveHistory": "langchain_agentmemory.policies.preserve_history",
    "SearchOptions": "langchain_agentmemory.types",
    "Source": "langchain_agentmemory.types",
    "UserKey": "langchain_agentmemory.types",
    "VerbatimExtractor": "langchain_agentmemory.extraction.verbatim",
    "all_of": "langchain_agentmemory.extraction.checkers",
    "any_of": "langchain_agentmemory.extraction.checkers",
    "message_threshold": "langchain_agentmemory.extraction.checkers",
    "redact_secrets": "langchain_agentmemory.extraction.known_secrets",
    "time_interval": "langchain_agentmemory.extraction.checkers",
}

__all__ = [
    "AppendOnly",
    "Decision",
    "Explanation",
    "ExtractionContext",
    "LocalEmbeddings",
    "MemoryEntry",
    "MemoryExtractor",
    "MemoryKind",
    "MemoryMiddleware",
    "MemoryReader",
    "MemoryStore",
    "MergeSimilar",
    "Operation",
    "PreloadMemories",
    "PreserveHistory",
    "QueueExtraction",
    "SearchOptions",
    "Source",
    "UserKey",
    "VerbatimExtractor",
    "all_of",
    "any_of",
    "message_threshold",
    "redact_secrets",
    "time_interval",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if home := _HOME.get(name):
        value = getattr(import_module(home), name)
    elif name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - rarely asked for

        value = version("langchain-agentmemory")
    else:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__, "__version__"})
