"""Erasing a user: everything that is kept about one person, with a receipt."""

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import UserKey

if TYPE_CHECKING:
    from langchain_agentmemory.service.service import Service


class Erasure(NamedTuple):
    """The receipt of an erasure.

    Attributes:
        user: Who was erased.
        memories: Active items removed.
        deleted_memories: Soft-deleted memories removed.
        stubs: Traces of earlier deletions removed.
        namespaces: Namespaces removed, those below the user's own included.
        traces: Records of automatic memory removed: turns that waited or had failed,
            processed sets, switches, counted costs.
        at: When, UTC.
    """

    user: UserKey
    memories: int
    deleted_memories: int
    stubs: int
    namespaces: int
    traces: int
    at: datetime


def erase(service: "Service", user: UserKey, traces: int = 0) -> Erasure:
    """Remove a user's namespace and all below it, from storage and from caches."""
    backend = service.backend
    backend.sweep()  # namespaces that hold only what has expired are not among heads
    below = {head.namespace for head in backend.heads(user.namespace)}
    counts = {"active": 0, "tombstones": 0, "stubs": 0}
    namespaces = sorted(below | {user.namespace})
    for namespace in namespaces:
        for state, count in backend.drop(namespace).items():
            counts[state] += count
        if service.shelves is not None:
            service.shelves.forget(namespace)
    if service.embedder is not None:
        service.embedder.forget_vectors()  # who a text belonged to is not known there
    return Erasure(
        user,
        counts["active"],
        counts["tombstones"],
        counts["stubs"],
        len(namespaces),
        traces,
        from_us(backend.now()),
    )
