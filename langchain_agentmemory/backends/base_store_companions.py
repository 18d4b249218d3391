"""What lives beside a value in a LangGraph store: the companion of an item.

A companion is an item of its own, in a namespace that only this package reads. It is
valid for exactly the value whose digest it carries: where plain LangGraph code has
written another value since, only what survives a `put` is taken from it.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from langgraph.store.base import Item

from langchain_agentmemory.backends.base import (
    Namespace,
    Record,
    RecordFlags,
    RecordState,
)
from langchain_agentmemory.identity import owner_of

Companion = Mapping[str, Any]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_OPAQUE: Final = "agentmemory_bytes"
_PLAIN: Final = ("created_at", "updated_at", "deleted_at", "expires_at", "ttl")


def pack(value: Mapping[str, Any]) -> bytes | None:
    """Return the value of an item as JSON text, `None` if there is no such text.

    Stores in memory hold any Python object: those that JSON does not know become
    their `str`, as they would in a database.
    """
    if value.keys() == {_OPAQUE}:
        return base64.b64decode(value[_OPAQUE])
    try:
        text = json.dumps(
            value,
            ensure_ascii=False,
            separators=(",", ":"),
            default=str,
            skipkeys=True,
        )
    except (ValueError, RecursionError):
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), separators=(",", ":")).encode()


def unpack(packed: bytes) -> dict[str, Any]:
    """Undo `pack`. Every call returns a value of its own.

    What is not the text of a JSON object, which no store but ours could give back,
    becomes an object that holds its bytes.
    """
    try:
        value = json.loads(packed)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    return {_OPAQUE: base64.b64encode(packed).decode()}


def _as_json(blob: bytes) -> str | list[str]:
    try:
        return blob.decode()
    except UnicodeDecodeError:
        return [base64.b64encode(blob).decode()]


def _as_bytes(given: str | list[str]) -> bytes:
    return given.encode() if isinstance(given, str) else base64.b64decode(given[0])


def digest_of(value: Mapping[str, Any]) -> str:
    """Return a fingerprint of a value; the order of its keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def flags_of(namespace: Namespace, value: Mapping[str, Any]) -> int:
    """Return the flags of a value that other code wrote: memories are listed."""
    if owner_of(namespace) is not None and isinstance(value.get("memory"), str):
        return RecordFlags.LISTED
    return RecordFlags.NONE


def microseconds(moment: datetime) -> int:
    """Return a time of the store below in microseconds; naive ones are UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def companion_of(record: Record, digest: str) -> dict[str, Any]:
    """Return the companion of a record as a JSON value."""
    companion: dict[str, Any] = {
        "state": int(record.state),
        "digest": digest,
        "flags": int(record.flags),
        **{name: getattr(record, name) for name in _PLAIN},
    }
    if record.meta is not None:
        companion["meta"] = _as_json(record.meta)
    if record.state is RecordState.TOMBSTONE:
        companion["value"] = _as_json(record.value)
    if record.vectors is not None:
        packed = record.vectors.astype("<f4").tobytes()
        companion["vectors"] = base64.b64encode(packed).decode()
        companion["shape"] = list(record.vectors.shape)
    if record.embedder:
        companion["embedder"] = record.embedder
    return {name: item for name, item in companion.items() if item is not None}


def is_valid(companion: Companion, digest: str) -> bool:
    """Tell whether a companion was written with the value that has this digest."""
    return (
        companion.get("digest") == digest
        and companion.get("state") == RecordState.ACTIVE
    )


def tombstone_of(namespace: Namespace, key: str, companion: Companion) -> Record:
    """Return the soft-deleted record that a companion holds."""
    value = _as_bytes(companion.get("value", "{}"))
    return _record(namespace, key, value, companion, RecordState.TOMBSTONE)


def record_of(item: Item, packed: bytes, digest: str, companion: Companion) -> Record:
    """Return the active record of an item with its companion, `{}` if it has none."""
    if is_valid(companion, digest):
        return _record(item.namespace, item.key, packed, companion, RecordState.ACTIVE)
    meta = companion.get("meta")
    return Record(
        item.namespace,
        item.key,
        packed,
        None if meta is None else _as_bytes(meta),
        companion.get("created_at") or microseconds(item.created_at),
        microseconds(item.updated_at),
        flags=flags_of(item.namespace, item.value),
    )


def _record(
    namespace: Namespace,
    key: str,
    value: bytes,
    companion: Companion,
    state: RecordState,
) -> Record:
    meta = companion.get("meta")
    record = Record(
        namespace,
        key,
        value,
        None if meta is None else _as_bytes(meta),
        state=state,
        flags=int(companion.get("flags", 0)),
    )
    for name in _PLAIN:
        if name in companion:
            setattr(record, name, companion[name])
    if "vectors" in companion:
        import numpy as np  # noqa: PLC0415 - only stores with an index have vectors

        packed = base64.b64decode(companion["vectors"])
        vectors = np.frombuffer(packed, dtype="<f4").reshape(companion["shape"])
        record.vectors = vectors.astype(np.float32)
    record.embedder = companion.get("embedder", 0)
    return record
