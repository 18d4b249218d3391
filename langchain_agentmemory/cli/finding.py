"""Finding the memory that a person means, also among the deleted ones."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from langchain_agentmemory.backends.base import Page, Record
from langchain_agentmemory.errors import InvalidInput, NotKept
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.records import entry_of, is_memory
from langchain_agentmemory.service.values import decode
from langchain_agentmemory.store import MemoryStore
from langchain_agentmemory.types import MemoryEntry

_SHOWN: Final = 12  # letters of ids in messages


def active_id(store: MemoryStore, user: str, beginning: str) -> str:
    """Return the id of the user's memory that begins so.

    Raises:
        InvalidInput: If there is none, or more than one.
    """
    ids = (entry.id for entry in store.read_memories(user))
    return _only(ids, beginning, "memory", "list them to see their ids")


def deleted_id(store: MemoryStore, user: str, beginning: str) -> str:
    """Return the id of the user's deleted memory that begins so.

    Raises:
        InvalidInput: If there is none, or more than one.
        NotKept: If the store keeps no deleted memories.
    """
    ids = (record.key for record in _deleted(store, user))
    return _only(ids, beginning, "deleted memory", "list the deleted to see their ids")


def deleted_memories(
    store: MemoryStore, user: str, limit: int | None = None
) -> list[MemoryEntry]:
    """Return the deleted memories of a user that can be restored, the newest first.

    What was replaced by an update is among them.

    Raises:
        NotKept: If the store keeps no deleted memories.
    """
    zone = store.settings.timezone
    kept = (r for r in _deleted(store, user) if is_memory(decode(r.value)))
    return [entry_of(record, zone) for record in islice(kept, limit)]


def _deleted(store: MemoryStore, user: str) -> list[Record]:
    if not store.settings.soft_delete:
        msg = "Deleted memories are not kept: start with --soft-delete to keep them."
        raise NotKept(msg)
    page = Page(store.user(user).namespace, None, tombstones=True)
    return store.backend.page(page)


def _only(ids: Iterable[str], beginning: str, what: str, advice: str) -> str:
    wanted = beginning.strip()
    if not wanted:
        msg = "Give the id of a memory, or its first letters."
        raise InvalidInput(msg)
    found = [identifier for identifier in ids if identifier.startswith(wanted)]
    if wanted in found:
        return wanted
    if not found:
        msg = f"No {what} has an id that begins with {quoted(wanted)}: {advice}."
        raise InvalidInput(msg)
    if len(found) > 1:
        some = ", ".join(identifier[:_SHOWN] for identifier in found[:3])
        msg = (
            f"{len(found)} ids begin with {quoted(wanted)} ({some}, …): type more "
            f"letters."
        )
        raise InvalidInput(msg)
    return found[0]
