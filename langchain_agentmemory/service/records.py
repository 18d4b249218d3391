"""Memories as records: what a memory's value and its companions look like in storage.

The value of a memory is an ordinary LangGraph item value with the fields `memory`,
`topics`, `kind`, `event_time`, `participants` and `location`. What must survive a `put`
by LangGraph code lives beside it, in `Meta`: source, version links, history, and how
exactly the event time is known.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, cast

from langchain_agentmemory.backends.base import Namespace, Record, RecordFlags
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.identity import (
    memory_id,
    normalize_participants,
    owner_of,
    trim,
)
from langchain_agentmemory.search.place import Place
from langchain_agentmemory.service.values import decode, encode
from langchain_agentmemory.times import (
    format_event_time,
    from_us,
    parse_event_time,
)
from langchain_agentmemory.types import (
    EventPrecision,
    MemoryEntry,
    MemoryKind,
    Source,
    TimeInput,
    UserKey,
    quick_entry,
)

VALUE_FIELDS: Final = (
    "memory",
    "topics",
    "kind",
    "event_time",
    "participants",
    "location",
)

INTERVALS_KEPT: Final = 100
"""How many transitions into one memory its version log remembers."""


class Transition(NamedTuple):
    """One line of the version log: this memory took the place of another.

    Attributes:
        replaced: Id of the memory that was current before.
        at: When, in microseconds since the epoch.
        how: `"rotation"` for an edited text, `"version"` for a newer statement.
    """

    replaced: str
    at: int
    how: Literal["rotation", "version"]


class Meta(NamedTuple):
    """What lives beside a value."""

    source: Source | None = None
    precision: EventPrecision | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    log: tuple[Transition, ...] = ()
    fields: tuple[str, ...] | None = None

    def logged(self, transition: Transition) -> "Meta":
        """Return this with one more line in the version log."""
        return self._replace(log=(*self.log, transition)[-INTERVALS_KEPT:])


_NO_META: Final = Meta()


def encode_meta(meta: Meta) -> bytes | None:
    """Return a `Meta` as JSON, `None` when there is nothing to remember."""
    packed: dict[str, Any] = {}
    if meta.source is not None:
        packed["source"] = source_to_json(meta.source)
    if meta.precision is not None:
        packed["precision"] = meta.precision
    if meta.supersedes:
        packed["supersedes"] = meta.supersedes
    if meta.superseded_by is not None:
        packed["superseded_by"] = meta.superseded_by
    if meta.log:
        packed["log"] = [(line.replaced, line.at, line.how) for line in meta.log]
    if meta.fields is not None:
        packed["index"] = meta.fields
    return encode(packed) if packed else None


def decode_meta(packed: bytes | None) -> Meta:
    """Undo `encode_meta`."""
    if packed is None:
        return _NO_META
    given = decode(packed)
    return Meta(
        source_from_json(given["source"]) if "source" in given else None,
        given.get("precision"),
        tuple(given.get("supersedes", ())),
        given.get("superseded_by"),
        tuple(Transition(*line) for line in given.get("log", ())),
        tuple(given["index"]) if "index" in given else None,
    )


class Standing(NamedTuple):
    """What a ranking wants to know of a record beside its text.

    Attributes:
        place: Where it comes from in a conversation.
        superseded_by: The memory that replaced it.
    """

    place: Place | None
    superseded_by: str | None


_NO_STANDING: Final = Standing(None, None)


def standing_of(packed: bytes | None) -> Standing:
    """Return the place and the replacement that a packed `Meta` names."""
    if packed is None:
        return _NO_STANDING
    given = decode(packed)
    source = given.get("source", {})
    thread, position = source.get("thread_id"), source.get("position")
    place = None if thread is None or position is None else Place(thread, position)
    return Standing(place, given.get("superseded_by"))


def source_to_json(source: Source) -> dict[str, Any]:
    """Return a source as JSON values, without the fields that it does not know."""
    said_at = source.said_at
    fields = {
        "thread_id": source.thread_id,
        "message_ids": list(source.message_ids) or None,
        "position": source.position,
        "role": source.role,
        "said_at": None if said_at is None else format_event_time(said_at),
    }
    return {name: value for name, value in fields.items() if value is not None}


def source_from_json(given: Mapping[str, Any]) -> Source:
    """Undo `source_to_json`."""
    said_at = given.get("said_at")
    return Source(
        given.get("thread_id"),
        tuple(given.get("message_ids", ())),
        given.get("position"),
        given.get("role"),
        None if said_at is None else datetime.fromisoformat(said_at),
    )


class Draft(NamedTuple):
    """The content of a memory that is about to be written, checked and normalised."""

    memory: str
    topics: tuple[str, ...]
    kind: str
    event_time: datetime | None
    precision: EventPrecision | None
    participants: tuple[str, ...]
    location: str | None
    extra: Mapping[str, Any] = MappingProxyType({})

    def id_for(self, user: UserKey) -> str:
        """Return the canonical id that this content has for a user."""
        return memory_id(
            self.memory,
            user.app_name,
            user.user_id,
            kind=self.kind,
            event_time=self.event_time,
            participants=self.participants,
            location=self.location,
        )

    def value(self) -> dict[str, Any]:
        """Return the item value. Fields that are not ours are kept."""
        moment = self.event_time
        return {
            **self.extra,
            "memory": self.memory,
            "topics": list(self.topics),
            "kind": self.kind,
            "event_time": None if moment is None else format_event_time(moment),
            "participants": list(self.participants),
            "location": self.location,
        }


def text_field(name: str, given: object, *, required: bool = False) -> str:
    """Return a text argument.

    Raises:
        InvalidInput: If it is not text, or empty although required.
    """
    if not isinstance(given, str):
        msg = f"{name} must be text, not {type(given).__name__}."
        raise InvalidInput(msg)
    if required and not given:
        msg = f"{name} is required: it must not be empty."
        raise InvalidInput(msg)
    return str(given)


def text_list(name: str, given: object) -> tuple[str, ...]:
    """Return a list-of-text argument. One text alone counts as a list of one.

    Raises:
        InvalidInput: If it is neither.
    """
    if isinstance(given, str):
        return (given,) if given else ()
    if not isinstance(given, Iterable):
        msg = f"{name} must be a list of texts, not {type(given).__name__}."
        raise InvalidInput(msg)
    return tuple(text_field(f"{name}[{i}]", item) for i, item in enumerate(given))


def draft(  # noqa: PLR0913 - the fields of a memory
    memory: object,
    *,
    topics: object,
    kind: object,
    event_time: TimeInput | None,
    participants: object,
    location: object,
    timezone: tzinfo,
) -> Draft:
    """Check and normalise the arguments of a new memory.

    Raises:
        InvalidInput: If one of them cannot be used.
    """
    moment, precision = moment_of(event_time, timezone)
    return Draft(
        text_field("memory", memory, required=True),
        text_list("topics", topics),
        kind_of(kind),
        moment,
        precision,
        normalize_participants(text_list("participants", participants)),
        place_of(location),
    )


def moment_of(
    given: TimeInput | None, timezone: tzinfo
) -> tuple[datetime | None, EventPrecision | None]:
    """Read an event time; `None` and blank text mean that there is none."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return None, None
    return parse_event_time(given, timezone)


def kind_of(given: object) -> str:
    """Return a kind as text; `None` and empty text mean fact."""
    return (
        MemoryKind.FACT.value
        if given is None
        else (text_field("kind", given) or MemoryKind.FACT.value)
    )


def place_of(given: object) -> str | None:
    """Return a location without white space around it; blank means none."""
    return None if given is None else trim(text_field("location", given)) or None


def is_memory(value: Mapping[str, Any]) -> bool:
    """Tell whether a value reads as a memory: it has a text `memory`."""
    return isinstance(value.get("memory"), str)


def listed(value: Mapping[str, Any], namespace: Namespace) -> int:
    """Return the flag that makes a record count as a memory, if it is one."""
    if owner_of(namespace) is not None and is_memory(value):
        return RecordFlags.LISTED
    return RecordFlags.NONE


def draft_of(
    value: Mapping[str, Any], precision: EventPrecision | None, timezone: tzinfo
) -> Draft:
    """Read a stored value, also one that other code wrote, as leniently as possible."""
    moment, read_precision = _stored_moment(value.get("event_time"), timezone)
    kind, place = value.get("kind"), value.get("location")
    return Draft(
        value["memory"],
        _texts(value.get("topics")),
        kind if isinstance(kind, str) and kind else MemoryKind.FACT.value,
        moment,
        (precision or read_precision) if moment else None,
        _names(value.get("participants")),
        (trim(place) or None) if isinstance(place, str) else None,
        {name: item for name, item in value.items() if name not in VALUE_FIELDS},
    )


def _stored_moment(
    given: object, timezone: tzinfo
) -> tuple[datetime | None, EventPrecision | None]:
    if not isinstance(given, str) or not given:
        return None, None
    try:
        # What this package wrote; much faster than the tolerant reader.
        moment = datetime.fromisoformat(given)
    except ValueError:
        moment = None
    if moment is not None and moment.utcoffset() is not None:
        return moment, "instant"
    try:
        return parse_event_time(given, timezone)
    except InvalidInput:
        return None, None


def _texts(given: object) -> tuple[str, ...]:
    if not given:
        return ()
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list):
        return ()
    return tuple([item for item in given if isinstance(item, str)])


def _names(given: object) -> tuple[str, ...]:
    names = _texts(given)
    return normalize_participants(names) if names else ()


def entry_of(
    record: Record, timezone: tzinfo, *, score: float | None = None
) -> MemoryEntry:
    """Return the memory that a record holds, read as `draft_of` does."""
    meta = decode_meta(record.meta)
    value = decode(record.value)
    moment = precision = None
    if given := value.get("event_time"):
        moment, precision = _stored_moment(given, timezone)
    topics, names = value.get("topics"), value.get("participants")
    kind, place = value.get("kind"), value.get("location")
    app_name, user_id = cast("tuple[str, str]", owner_of(record.namespace))
    updated_at = created_at = from_us(record.updated_at)
    if record.created_at != record.updated_at:
        created_at = from_us(record.created_at or 0)
    return quick_entry(
        record.key,
        app_name,
        user_id,
        value["memory"],
        _texts(topics) if topics else (),
        kind if isinstance(kind, str) and kind else MemoryKind.FACT.value,
        moment,
        (meta.precision or precision) if moment else None,
        _names(names) if names else (),
        (trim(place) or None) if isinstance(place, str) else None,
        created_at,
        updated_at,
        score,
        meta.source,
        meta.supersedes,
        meta.superseded_by,
    )
