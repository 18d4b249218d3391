"""Decisions that all policies make alike."""

from dataclasses import replace

from langchain_agentmemory.policies.base import Decision
from langchain_agentmemory.policies.standing import Standing, StandingMemories
from langchain_agentmemory.types import Operation


def allows(enabled: frozenset[str] | None, tool: str) -> bool:
    """Tell whether a memory tool may be used. `None` = all of them."""
    return enabled is None or tool in enabled


def repetition(given: Operation, repeated: Standing) -> Decision:
    """Drop an exact duplicate."""
    where = "this batch" if repeated.entry is None else "a memory"
    reason = f"says exactly what {where} says already"
    return Decision(None, given, "drop", reason, repeated.shown)


def passed(
    given: Operation, memories: StandingMemories, enabled: frozenset[str] | None
) -> Decision:
    """Let through what a policy does not judge, and note what it does to memories.

    A deletion of a memory that this batch has moved names its new id.
    """
    operation = given
    shown = None
    if given.type == "delete":
        target = memories.find(given.memory_id)
        shown = target.shown if target else None
        now = memories.id_now(given.memory_id or "")
        if now != (given.memory_id or ""):
            operation = replace(given, memory_id=now)
        if allows(enabled, "memory_delete"):
            memories.delete(now)
    elif given.type == "clear" and allows(enabled, "memory_clear"):
        memories.clear()
    reason = f"a {given.type} is carried out as the extractor asked"
    return Decision(operation, given, "pass", reason, shown)
