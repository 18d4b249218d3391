"""Memory tools over a plain dict: what the offline model needs, and nothing more."""

import hashlib

from langchain_core.tools import BaseTool, ToolException, tool

from langchain_agentmemory.offline.language import content_terms


def memory_tools(memories: dict[str, str], *names: str) -> list[BaseTool]:
    """Return tools that write the given dict (id → text) and answer as ours do."""

    labels: dict[str, str] = {}  # topics are searched too, as in the store

    def lines(ids):
        return "\n".join(f"- [{i}] {memories[i]}" for i in ids) or "No memories."

    @tool
    def memory_add(
        memory: str,
        topics: list[str] | None = None,
        memory_kind: str = "fact",
        event_time: str = "",
    ) -> str:
        """Add."""
        key = hashlib.sha256(memory.encode()).hexdigest()
        suffix = f" (kind={memory_kind}; date={event_time})" if event_time else ""
        memories[key] = memory + suffix
        labels[key] = " ".join(topics or ())
        return f"Added [{key}]"

    @tool
    def memory_update(memory_id: str, memory: str) -> str:
        """Update."""
        if memory_id not in memories:
            msg = "no such memory"
            raise ToolException(msg)
        memories[memory_id] = memory
        return "Updated"

    @tool
    def memory_delete(memory_id: str) -> str:
        """Delete."""
        return f"Deleted {memories.pop(memory_id)}"

    @tool
    def memory_search(query: str) -> str:
        """Search."""
        terms = content_terms(query)
        ranked = [
            (len(terms & content_terms(f"{text} {labels.get(key)}")), key)
            for key, text in memories.items()
        ]
        return lines(key for hits, key in sorted(ranked, reverse=True) if hits)

    @tool
    def memory_load(limit: int = 10) -> str:
        """Load."""
        return lines(list(memories)[-limit:])

    made = {
        t.name: t
        for t in (memory_add, memory_update, memory_delete, memory_search, memory_load)
    }
    for one in made.values():
        one.handle_tool_error = True
    return [made[name] for name in names or made]
