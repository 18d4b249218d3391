"""Our own format: one memory per line, with everything that the store knows about it.

A line is a JSON object with the fields of `MemoryEntry` (scores left out). Writing an
entry and reading it back gives an equal entry.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any, get_args

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.records import source_from_json, source_to_json
from langchain_agentmemory.times import format_event_time
from langchain_agentmemory.transfer.statements import Statement
from langchain_agentmemory.types import EventPrecision, MemoryEntry, Source, TimeInput


def entry_to_record(entry: MemoryEntry) -> dict[str, Any]:
    """Return an entry as JSON values. Fields that are empty are left out."""
    moment = entry.event_time
    record = {
        "id": entry.id,
        "app_name": entry.app_name,
        "user_id": entry.user_id,
        "memory": entry.memory,
        "topics": list(entry.topics),
        "kind": str(entry.kind),
        "event_time": None if moment is None else format_event_time(moment),
        "event_precision": entry.event_precision,
        "participants": list(entry.participants),
        "location": entry.location,
        "created_at": entry.created_at.isoformat(),
        "updated_at": entry.updated_at.isoformat(),
        "source": None if entry.source is None else source_to_json(entry.source),
        "supersedes": list(entry.supersedes),
        "superseded_by": entry.superseded_by,
    }
    return {name: value for name, value in record.items() if value not in (None, [])}


def record_to_entry(record: Mapping[str, Any]) -> MemoryEntry:
    """Undo `entry_to_record`.

    Raises:
        InvalidInput: If a field is missing or of another type.
    """
    statement = record_to_statement(record)
    return MemoryEntry(
        id=_text(record, "id"),
        app_name=_text(record, "app_name"),
        user_id=_text(record, "user_id"),
        memory=statement.memory,
        topics=statement.topics,
        kind=statement.kind or "fact",
        event_time=_moment(record, "event_time"),
        event_precision=_precision(record),
        participants=statement.participants,
        location=statement.location,
        created_at=_required(_moment(record, "created_at"), "created_at"),
        updated_at=_required(_moment(record, "updated_at"), "updated_at"),
        source=statement.source,
        supersedes=statement.supersedes,
        superseded_by=_optional_text(record, "superseded_by"),
    )


def record_to_statement(record: Mapping[str, Any]) -> Statement:
    """Return what the verbs of a store need to write a record.

    Only `memory` is required, so that lines written by hand can be imported too. The
    verbs set `created_at` and `updated_at` themselves. An event time that is known to
    the day, month or year is passed on as such.

    Raises:
        InvalidInput: If a field is missing or of another type.
    """
    return Statement(
        _text(record, "memory"),
        topics=_texts(record, "topics"),
        kind=_optional_text(record, "kind"),
        event_time=_event_time(record),
        participants=_texts(record, "participants"),
        location=_optional_text(record, "location"),
        source=_source(record),
        supersedes=_texts(record, "supersedes"),
        id=_optional_text(record, "id"),
        conversation=_optional_text(record, "user_id"),
    )


def to_line(entry: MemoryEntry, *, scores: bool = False) -> str:
    """Return an entry as one line of a file, with its line break.

    Lone surrogates, which UTF-8 cannot carry, are escaped.

    Args:
        entry: The entry.
        scores: Add what a search said of it: `score` and `explanation`, if there are.
    """
    record = entry_to_record(entry)
    if scores:
        record |= _found(entry)
    line = json.dumps(record, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(record)
    return f"{line}\n"


def _found(entry: MemoryEntry) -> dict[str, Any]:
    """Return what a search said of an entry, as JSON values."""
    why = entry.explanation
    found = {
        "score": entry.score,
        "explanation": None if why is None else why.as_dict(),
    }
    return {name: value for name, value in found.items() if value is not None}


def lines_of(entries: Iterable[MemoryEntry]) -> Iterator[str]:
    """Yield the lines of a file, the memory that was written first at the top.

    Importing such a file gives the memories the same order, and finds every memory
    before the one that replaced it.
    """
    for entry in sorted(entries, key=lambda entry: (entry.updated_at, entry.id)):
        yield to_line(entry)


def _event_time(record: Mapping[str, Any]) -> TimeInput | None:
    given = _optional_text(record, "event_time")
    if given is None:
        return None
    precision = _precision(record)
    if precision is None:  # written by hand: any form that the verbs read
        return given
    moment = _required(_moment(record, "event_time"), "event_time")
    if precision == "instant":
        return moment
    day = moment.date()
    if precision == "day":
        return date(day.year, day.month, day.day)
    return day.isoformat()[: len("2024-05") if precision == "month" else len("2024")]


def _precision(record: Mapping[str, Any]) -> EventPrecision | None:
    given = _optional_text(record, "event_precision")
    known: tuple[EventPrecision, ...] = get_args(EventPrecision)
    for precision in known:
        if given == precision:
            return precision
    if given is None:
        return None
    msg = f"event_precision must be one of {', '.join(known)}, not {quoted(given)}"
    raise InvalidInput(msg)


def _source(record: Mapping[str, Any]) -> Source | None:
    given = record.get("source")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        msg = f"source must be an object, not {type(given).__name__}"
        raise InvalidInput(msg)
    position = given.get("position")
    if position is not None and (
        isinstance(position, bool) or not isinstance(position, int)
    ):
        msg = f"source.position must be an integer, not {quoted(position)}"
        raise InvalidInput(msg)
    for name in ("thread_id", "role"):
        _optional_text(given, name)
    _texts(given, "message_ids")
    _moment(given, "said_at")
    return source_from_json(given)


def _moment(record: Mapping[str, Any], name: str) -> datetime | None:
    given = _optional_text(record, name)
    try:
        return None if given is None else datetime.fromisoformat(given)
    except ValueError as error:
        msg = f"{name} must be an ISO 8601 time, not {quoted(given)}"
        raise InvalidInput(msg) from error


def _required(given: datetime | None, name: str) -> datetime:
    if given is None:
        msg = f"{name} is missing"
        raise InvalidInput(msg)
    return given


def _text(record: Mapping[str, Any], name: str) -> str:
    given = record.get(name)
    if not isinstance(given, str) or not given.strip():
        msg = f"{name} must be a text that is not blank"
        raise InvalidInput(msg)
    return given


def _optional_text(record: Mapping[str, Any], name: str) -> str | None:
    given = record.get(name)
    if given is None or isinstance(given, str):
        return given
    msg = f"{name} must be text, not {type(given).__name__}"
    raise InvalidInput(msg)


def _texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = record.get(name, [])
    if isinstance(given, list) and all(isinstance(item, str) for item in given):
        return tuple(given)
    msg = f"{name} must be a list of texts"
    raise InvalidInput(msg)
