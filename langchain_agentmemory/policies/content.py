"""What a memory says, whether it is stored already or still an operation."""

from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import Final, Literal, NamedTuple

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.identity import memory_id, trim
from langchain_agentmemory.lazy import lazy_property
from langchain_agentmemory.policies.text import Text
from langchain_agentmemory.search.scripts import lower
from langchain_agentmemory.times import parse_event_time
from langchain_agentmemory.types import (
    EventPrecision,
    MemoryEntry,
    MemoryKind,
    Operation,
    TimeInput,
)

FACT: Final = MemoryKind.FACT.value

_LABEL_LENGTH: Final = {"year": 4, "month": 7, "day": 10}
"""How much of an ISO date is known at each precision."""
_DAY: Final = _LABEL_LENGTH["day"]

TimeRelation = Literal["same", "finer", "coarser", "other", "only old", "only new"]


class Moment(NamedTuple):
    """An event time, or a text that cannot be read as one.

    Attributes:
        at: When, `None` if it cannot be read.
        precision: How exactly it is known.
        given: What was given.
    """

    at: datetime | None
    precision: EventPrecision
    given: TimeInput

    @property
    def label(self) -> str:
        """The date as far as it is known, on its own calendar."""
        if self.at is None:
            return str(self.given)
        return self.at.date().isoformat()[: _LABEL_LENGTH.get(self.precision, _DAY)]

    @property
    def is_date(self) -> bool:
        """Whether no time of day is known. Models write a bare date as midnight."""
        if self.precision != "instant":
            return True
        return self.at is not None and self.at.time() == time.min


class Content:
    """What a memory says. Never changed once made.

    Args:
        memory: The text.
        topics: Labels.
        kind: The kind; `None` and `""` mean fact.
        event_time: When it happened.
        participants: Who took part.
        location: Where it happened.
    """

    def __init__(  # noqa: PLR0913 - the fields of a memory
        self,
        memory: str,
        *,
        topics: Iterable[str] = (),
        kind: str | None = None,
        event_time: Moment | None = None,
        participants: Iterable[str] = (),
        location: str | None = None,
    ) -> None:
        """Keep the fields as they were given."""
        self.memory = memory
        self.topics = tuple(topics)
        self.kind = str(kind or FACT)
        self.event_time = event_time
        self.participants = tuple(participants)
        self.location = location

    @lazy_property
    def text(self) -> Text:
        """The text, read for comparison."""
        return Text(self.memory)

    @lazy_property
    def people(self) -> frozenset[str]:
        """Who took part, in the form in which names are compared."""
        return frozenset(map(_name, self.participants)) - {""}

    @lazy_property
    def place(self) -> str:
        """Where it happened, in the form in which places are compared."""
        return _name(self.location or "")

    def id_for(self, app_name: str, user_id: str) -> str:
        """Return the canonical id that the store gives to this content."""
        return memory_id(
            self.memory,
            app_name,
            user_id,
            kind=self.kind,
            event_time=self.event_time.at if self.event_time else None,
            participants=self.participants,
            location=self.location,
        )


def stored(entry: MemoryEntry) -> Content:
    """Return what a stored memory says."""
    moment = None
    if entry.event_time is not None:
        precision = entry.event_precision or "instant"
        moment = Moment(entry.event_time, precision, entry.event_time)
    return Content(
        entry.memory,
        topics=entry.topics,
        kind=entry.kind,
        event_time=moment,
        participants=entry.participants,
        location=entry.location,
    )


def said(operation: Operation, target: Content | None = None) -> Content:
    """Return what an operation says.

    Args:
        operation: An add or an update.
        target: The memory that an update changes: what the update leaves open is as it
            is there.
    """
    base = target or Content("")
    given = operation
    moment = base.event_time
    if given.event_time is not None and given.event_time != "":
        moment = _moment(given.event_time, base.event_time)
    return Content(
        base.memory if given.memory is None else given.memory,
        topics=base.topics if given.topics is None else given.topics,
        kind=given.kind or base.kind,
        event_time=moment,
        participants=(
            base.participants if given.participants is None else given.participants
        ),
        location=base.location if given.location is None else given.location,
    )


def _moment(given: TimeInput, like: Moment | None) -> Moment:
    """Read an event time; without a zone, it is taken where the other one is."""
    zone = like.at.tzinfo if like and like.at else None
    try:
        at, precision = parse_event_time(given, zone or UTC)
    except InvalidInput:
        return Moment(None, "instant", given)
    return Moment(at, precision, given)


def _name(text: str) -> str:
    return lower(trim(text))


def is_same(a: Content, b: Content) -> bool:
    """Tell whether two contents are exact duplicates. Topics do not count."""
    return (
        a.kind == b.kind
        and a.people == b.people
        and a.place == b.place
        and a.text.same == b.text.same
        and time_relation(a.event_time, b.event_time) in {None, "same"}
    )


def time_relation(old: Moment | None, new: Moment | None) -> TimeRelation | None:
    """Return how the event time of the new content relates to the old one's.

    `"finer"` is the same date known more exactly, `"coarser"` less exactly; `None` when
    neither has an event time.
    """
    if old is None:
        return None if new is None else "only new"
    if new is None:
        return "only old"
    if old.at is None or new.at is None:
        return "same" if old.given == new.given else "other"
    return _relation(old, new)


def _relation(old: Moment, new: Moment) -> TimeRelation:
    if old.precision == new.precision == "instant" and old.at == new.at:
        return "same"
    if old.is_date and new.is_date:
        return _dates(old.label, new.label)
    if old.is_date:
        return "finer" if _within(new, old) else "other"
    if new.is_date:
        return "coarser" if _within(old, new) else "other"
    return "other"


def _dates(old: str, new: str) -> TimeRelation:
    if old == new:
        return "same"
    if new.startswith(old):
        return "finer"
    return "coarser" if old.startswith(new) else "other"


def _within(instant: Moment, date: Moment) -> bool:
    """Tell whether a time of day lies on a date, on either one's calendar."""
    if instant.at is None or date.at is None:
        return False
    there = instant.at.astimezone(date.at.tzinfo).date().isoformat()
    return date.label in (there[: len(date.label)], instant.label[: len(date.label)])


def merged_topics(old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """Return old topics, then new ones: trimmed, in their first spelling."""
    kept: dict[str, str] = {}
    for topic in map(trim, (*old, *new)):
        if topic:
            kept.setdefault(lower(topic), topic)
    return tuple(kept.values())


def has_new_topic(old: Iterable[str], new: Iterable[str]) -> bool:
    """Tell whether there is a topic in `new` that `old` lacks."""
    known = {lower(trim(topic)) for topic in old}
    return any(lower(trim(topic)) not in known for topic in new if trim(topic))
