"""Six tools with which an agent keeps a user's memories.

`MemoryStore.tools(user)` builds them. They can also be built alone, for any object that
has the memory verbs: `MemorySearchTool(store=store, user="alice")`. Without a store
they use the one that the graph was compiled with, without a user they find the user of
the run (see `langchain_agentmemory.users`).

Names are loaded on first use, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_agentmemory.tools.access import MemoryWriter, store_of, user_of
    from langchain_agentmemory.tools.build import build_tools
    from langchain_agentmemory.tools.read import MemoryLoadTool, MemorySearchTool
    from langchain_agentmemory.tools.registry import (
        TOOL_NAMES,
        ToolSelection,
        select_tools,
    )
    from langchain_agentmemory.tools.write import (
        MemoryAddTool,
        MemoryClearTool,
        MemoryDeleteTool,
        MemoryUpdateTool,
    )

__all__ = [
    "TOOL_NAMES",
    "MemoryAddTool",
    "MemoryClearTool",
    "MemoryDeleteTool",
    "MemoryLoadTool",
    "MemorySearchTool",
    "MemoryUpdateTool",
    "MemoryWriter",
    "ToolSelection",
    "build_tools",
    "select_tools",
    "store_of",
    "user_of",
]

_HOMES = {
    "access": ("MemoryWriter", "store_of", "user_of"),
    "build": ("build_tools",),
    "read": ("MemoryLoadTool", "MemorySearchTool"),
    "registry": ("TOOL_NAMES", "ToolSelection", "select_tools"),
    "write": (
        "MemoryAddTool",
        "MemoryClearTool",
        "MemoryDeleteTool",
        "MemoryUpdateTool",
    ),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__
