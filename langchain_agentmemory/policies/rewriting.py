"""Turning an operation into the one that a policy allows."""

from collections.abc import Iterable
from dataclasses import replace

from langchain_agentmemory.identity import trim
from langchain_agentmemory.policies.content import Content, merged_topics
from langchain_agentmemory.policies.standing import Standing
from langchain_agentmemory.types import Operation, distinct


def as_update(operation: Operation, target: Standing) -> Operation:
    """Return the operation as an update of a memory, from which it takes nothing away.

    Topics are joined, the memory's first. What the operation leaves open or empty stays
    as it is stored.
    """
    location = operation.location
    return replace(
        operation,
        type="update",
        memory_id=target.id,
        memory=target.content.memory if operation.memory is None else operation.memory,
        topics=merged_topics(target.content.topics, operation.topics or ()),
        kind=operation.kind or target.content.kind,
        participants=operation.participants or None,
        location=location if location and trim(location) else None,
        supersedes=(),
    )


def as_add(
    operation: Operation,
    target: Standing | None = None,
    *,
    supersedes: Iterable[str] = (),
) -> Operation:
    """Return an update as the addition of what it wanted to write.

    Args:
        operation: The update.
        target: The memory that it names. What the update leaves open is taken from
            there, except the event time, which is the older statement's own.
        supersedes: Memories instead of which the new one holds.
    """
    base = target.content if target else Content("")
    given = operation
    return replace(
        given,
        type="add",
        memory_id=None,
        memory=base.memory if given.memory is None else given.memory,
        topics=(base.topics or None) if given.topics is None else given.topics,
        kind=given.kind or (base.kind if target else None),
        participants=(
            (base.participants or None)
            if given.participants is None
            else given.participants
        ),
        location=base.location if given.location is None else given.location,
        supersedes=distinct((*given.supersedes, *supersedes)),
    )
