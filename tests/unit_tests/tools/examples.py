"""One call of each tool, for LangChain's standard suites."""

from langchain_agentmemory.identity import memory_id
from langchain_agentmemory.tools import (
    MemoryAddTool,
    MemoryClearTool,
    MemoryDeleteTool,
    MemoryLoadTool,
    MemorySearchTool,
    MemoryUpdateTool,
)

STORED = "Ran a marathon"
"""What alice's store holds before each call."""

STORED_ID = memory_id(STORED, "default", "alice")

EXAMPLES = {
    "memory_add": (
        MemoryAddTool,
        {
            "memory": "Ran a second marathon",
            "topics": ["sport"],
            "memory_kind": "episode",
            "event_time": "2024-09-07",
            "participants": ["Mia"],
            "location": "Berlin",
        },
    ),
    "memory_clear": (MemoryClearTool, {"reason": "The user wants a fresh start"}),
    "memory_delete": (MemoryDeleteTool, {"memory_id": STORED_ID}),
    "memory_load": (MemoryLoadTool, {"limit": 5}),
    "memory_search": (
        MemorySearchTool,
        {
            "query": "marathon",
            "kind": "episode",
            "time_after": "2024",
            "time_before": "Sep 2024",
            "order_by_event_time": True,
            "limit": 5,
        },
    ),
    "memory_update": (
        MemoryUpdateTool,
        {"memory_id": STORED_ID, "memory": "Ran two marathons"},
    ),
}
