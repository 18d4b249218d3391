"""Small records, and the few ways in which rules write and compare them."""

from collections.abc import Iterable
from typing import Any, Final

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Namespace,
    Page,
    Record,
    RecordFlags,
    RecordState,
    Write,
)

ANN: Final[Namespace] = ("memories", "app", "ann")
BEN: Final[Namespace] = ("memories", "app", "ben")

MINUTE: Final = 60_000_000
"""In microseconds."""


def record(key: str, namespace: Namespace = ANN, **fields: Any) -> Record:
    """Return a listed active record with a small value, other fields as given."""
    given: dict[str, Any] = {
        "value": b'{"memory":"something"}',
        "flags": RecordFlags.LISTED,
        **fields,
    }
    return Record(namespace, key, **given)


def stub(key: str, namespace: Namespace = ANN) -> Write:
    """Return the write that hard-deletes a key."""
    gone = Record(namespace, key, created_at=0, state=RecordState.STUB)
    return Write(gone, stamp=False)


def tombstone(key: str, deleted_at: int, namespace: Namespace = ANN) -> Write:
    """Return the write that soft-deletes a key."""
    dead = record(
        key,
        namespace,
        state=RecordState.TOMBSTONE,
        deleted_at=deleted_at,
        created_at=deleted_at,
        updated_at=deleted_at,
    )
    return Write(dead, stamp=False)


def put(backend: Backend, *records: Record, **batch: Any) -> list[Record]:
    """Write records unconditionally, as one batch."""
    return backend.commit(Batch([Write(given) for given in records], **batch))


def find(backend: Backend, key: str, namespace: Namespace = ANN) -> Record:
    """Return the record under a key, which must exist."""
    (found,) = backend.read(namespace, [key])
    assert found is not None, f"{key!r} is gone from {namespace}"
    return found


def keys(records: Iterable[Record | None]) -> list[str | None]:
    """Return the keys of records, in their order."""
    return [None if found is None else found.key for found in records]


def shown(backend: Backend, namespace: Namespace = ANN, **page: Any) -> list[str]:
    """Return the keys of a page; the whole namespace, newest first, if not limited."""
    limit = page.pop("limit", None)
    return [found.key for found in backend.page(Page(namespace, limit, **page))]


def revision(backend: Backend, namespace: Namespace = ANN) -> int:
    """Return the revision of a namespace, 0 if it does not exist."""
    head = backend.head(namespace)
    return head.revision if head else 0
