"""Memories as the model reads them: one line each, ids included."""

from collections.abc import Sequence

from langchain_agentmemory.times import format_event_time
from langchain_agentmemory.types import MemoryEntry, MemoryKind

MAX_TEXT = 2_000
"""Characters of one memory's text that a model gets to see. The artifact has it all."""


def memory_line(entry: MemoryEntry) -> str:
    """Return `[id] text (details)` on one line.

    Line breaks inside a memory become spaces, so that no text can pass for another
    memory. Dates are written so that the tools can read them back.
    """
    details = [
        f"{label}: {one_line(value)}"
        for label, value in (
            ("kind", "" if entry.kind == MemoryKind.FACT else str(entry.kind)),
            ("date", event_text(entry)),
            ("with", ", ".join(entry.participants)),
            ("at", entry.location or ""),
            ("topics", ", ".join(entry.topics)),
            ("saved", entry.created_at.date().isoformat()),
            ("outdated, replaced by", entry.superseded_by or ""),
        )
        if value
    ]
    return (
        f"[{one_line(entry.id)}] {_cut(one_line(entry.memory))} ({'; '.join(details)})"
    )


def memory_lines(entries: Sequence[MemoryEntry], order: str) -> str:
    """Return a heading and one line per memory."""
    if not entries:
        return "No memories found."
    count = "1 memory" if len(entries) == 1 else f"{len(entries)} memories"
    lines = [f"- {memory_line(entry)}" for entry in entries]
    return "\n".join([f"{count} of this user, {order}:", *lines])


def event_text(entry: MemoryEntry) -> str:
    """Return when it happened, as exactly as it is known, `""` for the undated."""
    if entry.event_time is None:
        return ""
    if entry.event_precision in {"year", "month", "day"}:
        return entry.event_label() or ""
    return format_event_time(entry.event_time)


def one_line(text: str) -> str:
    """Return the text with every kind of line break turned into a space.

    Lone surrogates become question marks: no model could be sent them.
    """
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").splitlines())


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… (cut: {len(text)} characters in all)"
