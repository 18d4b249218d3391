"""Long-term memory for LangGraph and LangChain agents.

Names are loaded on first use, so importing the package costs next to nothing and
loads neither `langchain` nor an engine or a dictionary that the program never needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_agentmemory.middleware import MemoryMiddleware
    from langchain_agentmemory.nodes.preload import PreloadMemories
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
    "MemoryEntry": "langchain_agentmemory.types",
    "MemoryKind": "langchain_agentmemory.types",
    "MemoryMiddleware": "langchain_agentmemory.middleware",
    "MemoryReader": "langchain_agentmemory.types",
    "MemoryStore": "langchain_agentmemory.store",
    "Operation": "langchain_agentmemory.types",
    "PreloadMemories": "langchain_agentmemory.nodes.preload",
    "SearchOptions": "langchain_agentmemory.types",
    "Source": "langchain_agentmemory.types",
    "UserKey": "langchain_agentmemory.types",
}

__all__ = [
    "MemoryEntry",
    "MemoryKind",
    "MemoryMiddleware",
    "MemoryReader",
    "MemoryStore",
    "Operation",
    "PreloadMemories",
    "SearchOptions",
    "Source",
    "UserKey",
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
