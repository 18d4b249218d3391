"""Entries for tests of policies, and a way to carry out what policies decide."""

from datetime import UTC, datetime

from langchain_agentmemory import MemoryEntry

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def entry(memory, id="m1", *, kind="fact", precision=None, **fields):  # noqa: A002
    """Return a stored memory; an event time is an instant unless said otherwise."""
    if fields.get("event_time") is not None:
        precision = precision or "instant"
    return MemoryEntry(
        id=id,
        app_name="app",
        user_id="u",
        memory=memory,
        topics=fields.pop("topics", ()),
        kind=kind,
        event_time=fields.pop("event_time", None),
        event_precision=precision,
        participants=fields.pop("participants", ()),
        location=fields.pop("location", None),
        created_at=WHEN,
        updated_at=WHEN,
        **fields,
    )


def carry_out(store, user, operations):
    """Carry out operations one after another with the verbs of a store."""
    for one in operations:
        fields = {
            "kind": one.kind,
            "event_time": one.event_time,
            "location": one.location,
        }
        if one.type == "add":
            store.add_memory(
                user,
                one.memory,
                topics=one.topics or (),
                participants=one.participants or (),
                supersedes=one.supersedes,
                **fields,
            )
        elif one.type == "update":
            store.update_memory(
                user,
                one.memory_id,
                one.memory,
                topics=one.topics,
                participants=one.participants,
                **fields,
            )
        elif one.type == "delete":
            store.delete_memory(user, one.memory_id)
        else:
            store.clear_memories(user)
