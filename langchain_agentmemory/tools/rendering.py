"""Memories as the model reads them: one line each, ids included."""

from collections.abc import Collection, Sequence

from langchain_agentmemory.times import format_event_time
from langchain_agentmemory.tools.plain_text import (
    approximate_tokens,
    detail,
    earlier_text,
    statement,
)
from langchain_agentmemory.types import MemoryEntry, MemoryKind

MAX_TEXT = 2_000
"""Characters of one memory's text that a model gets to see. The artifact has it all."""

MAX_TOKENS = 20_000
"""Longest list of memories, in approximate tokens."""


def memory_line(entry: MemoryEntry, listed: Collection[str] = ()) -> str:
    """Return `[id] text (details)` on one line.

    Whatever a memory says, it is one line, and its text, names and places cannot pass
    for another memory or for details that it does not have. Dates are written so that
    the tools can read them back.

    Args:
        entry: The memory.
        listed: Texts that have a line of their own: they are not told as earlier ones.
    """
    earlier = [text for text in entry.earlier if text not in listed]
    details = [
        f"{label}: {value}"
        for label, value in (
            ("earlier", earlier_text(earlier)),
            ("kind", "" if entry.kind == MemoryKind.FACT else detail(str(entry.kind))),
            ("date", event_text(entry)),
            ("with", detail(", ".join(entry.participants))),
            ("at", detail(entry.location or "")),
            ("topics", detail(", ".join(entry.topics))),
            ("saved", entry.created_at.date().isoformat()),
            ("outdated, replaced by", detail(entry.superseded_by or "")),
        )
        if value
    ]
    return f"[{detail(entry.id)}] {_text(entry.memory)} ({'; '.join(details)})"


def memory_lines(entries: Sequence[MemoryEntry], order: str) -> str:
    """Return a heading and one line per memory, as many as there is room for."""
    if not entries:
        return "No memories found."
    count = "1 memory" if len(entries) == 1 else f"{len(entries)} memories"
    lines = [f"{count} of this user, {order}:"]
    listed = {entry.memory for entry in entries}
    left = MAX_TOKENS
    for position, entry in enumerate(entries):
        line = f"- {memory_line(entry, listed)}"
        left -= approximate_tokens(line)
        if left < 0:
            hidden = len(entries) - position
            lines.append(f"({hidden} more not shown: ask for less at a time)")
            break
        lines.append(line)
    return "\n".join(lines)


def event_text(entry: MemoryEntry) -> str:
    """Return when it happened, as exactly as it is known, `""` for the undated."""
    if entry.event_time is None:
        return ""
    if entry.event_precision in {"year", "month", "day"}:
        return entry.event_label() or ""
    return format_event_time(entry.event_time)


def _text(text: str) -> str:
    shown = statement(text[:MAX_TEXT], MAX_TEXT)
    if len(text) <= MAX_TEXT:
        return shown
    return f"{shown}… (cut: {len(text)} characters in all)"
