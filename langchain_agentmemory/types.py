"""The values that users of the memory store see.

`UserKey` says whose memory it is, `MemoryEntry` is one memory, `Source` says where it
came from, `SearchOptions` how to look for it, and `Operation` what an extractor wants
done. `Memories` is the list that reading verbs return: a `list` with a notebook view.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, make_dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    Protocol,
    cast,
    runtime_checkable,
)

from langchain_agentmemory.errors import InvalidInput

if TYPE_CHECKING:
    from langchain_agentmemory.explanation import Explanation

EventPrecision = Literal["year", "month", "day", "instant"]
"""How exactly an event time is known: a birthday is a day, not an instant."""

TimeInput = datetime | date | str
"""A point in time as callers may give it: see `langchain_agentmemory.times`."""

SearchMode = Literal["auto", "lexical", "vector", "hybrid"]

ShownVersions = Literal["all", "current"]
"""Whether replaced memories are results of their own: see `SearchOptions.versions`."""

_ID_BITS: Final = 256  # integers that serve as ids have 64, those of UUIDs 128


class MemoryKind(StrEnum):
    """The kinds of memory that the package knows. Others are kept as they are."""

    FACT = "fact"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True)
class UserKey:
    """Whose memory it is.

    Attributes:
        app_name: The application. Users of different applications are strangers.
        user_id: The user. Any non-empty text or integer: e-mail addresses, names with
            dots, Chinese. Kept as `str`.

    Raises:
        InvalidInput: If one of them is empty, or neither text nor an integer.
    """

    app_name: str
    user_id: str

    if TYPE_CHECKING:  # what is given, as opposed to what is kept

        def __init__(self, app_name: str | int, user_id: str | int) -> None:
            """Take both ids."""

    def __post_init__(self) -> None:
        """Normalise both ids to `str` and refuse empty ones."""
        for name in ("app_name", "user_id"):
            given: object = getattr(self, name)
            check_id(name, given)
            text = str(given)
            if not text:
                msg = f"{name} is required: it must not be empty."
                raise InvalidInput(msg)
            object.__setattr__(self, name, text)

    @property
    def namespace(self) -> tuple[str, str, str]:
        """The LangGraph namespace that holds this user's memories."""
        from langchain_agentmemory.identity import user_namespace  # noqa: PLC0415

        return user_namespace(self.app_name, self.user_id)


def check_id(name: str, given: object) -> None:
    """Refuse what cannot be the id of an application or a user.

    Raises:
        InvalidInput: If it is neither text nor an integer.
    """
    if isinstance(given, bool) or not isinstance(given, str | int):
        msg = (
            f"{name} must be text or an integer, not {type(given).__name__}: pass "
            f"str(...) of it."
        )
        raise InvalidInput(msg)
    if isinstance(given, int) and given.bit_length() > _ID_BITS:
        msg = f"{name} is a number of more than {_ID_BITS} bits: use text."
        raise InvalidInput(msg)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from.

    Neighbours in ranking are entries of one thread at adjacent positions.

    Attributes:
        thread_id: The conversation.
        message_ids: The messages that were read.
        position: The place of the statement in the conversation, counted from 0.
        role: Who said it, for example `"user"`.
        said_at: When it was said. Naive datetimes are taken in the store's timezone.
    """

    thread_id: str | None = None
    message_ids: tuple[str, ...] = ()
    position: int | None = None
    role: str | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One memory, as the store gives it back.

    Attributes:
        id: The canonical id (see `langchain_agentmemory.identity.memory_id`), or the
            foreign key under which LangGraph code stored it.
        app_name: The application that it belongs to.
        user_id: The user that it belongs to.
        memory: The text.
        topics: Labels for search.
        kind: `"fact"`, `"episode"`, or any other text that was stored.
        event_time: When it happened, with its own offset. `None` for the undated.
        event_precision: How exactly `event_time` is known, `None` for the undated.
        participants: Who took part: trimmed, sorted, without repetitions.
        location: Where it happened.
        created_at: When it was first stored, UTC.
        updated_at: When it was last written, UTC. Later writes of one user have
            strictly later times.
        score: Relevance in [0, 1], `None` when nothing was ranked.
        source: Where it came from, if the writer said so.
        supersedes: Ids of older memories that this one replaced as the valid version.
        superseded_by: Id of the newer memory that replaced this one, if any.
        explanation: How the score came about, if the search was asked to explain.
        earlier: Texts of what this memory replaced and is still kept, the newest first,
            at most three. Searches and preloading fill it, plain reads do not.
    """

    id: str
    app_name: str
    user_id: str
    memory: str
    topics: tuple[str, ...]
    kind: str
    event_time: datetime | None
    event_precision: EventPrecision | None
    participants: tuple[str, ...]
    location: str | None
    created_at: datetime
    updated_at: datetime
    score: float | None = None
    source: Source | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    explanation: "Explanation | None" = field(default=None, compare=False, repr=False)
    earlier: tuple[str, ...] = field(default=(), compare=False)

    @property
    def user(self) -> UserKey:
        """The owner."""
        return UserKey(self.app_name, self.user_id)

    def with_score(
        self, score: float | None, explanation: "Explanation | None" = None
    ) -> "MemoryEntry":
        """Return the same memory with another score."""
        return quick_entry(
            self.id,
            self.app_name,
            self.user_id,
            self.memory,
            self.topics,
            self.kind,
            self.event_time,
            self.event_precision,
            self.participants,
            self.location,
            self.created_at,
            self.updated_at,
            score,
            self.source,
            self.supersedes,
            self.superseded_by,
            explanation,
            self.earlier,
        )

    def event_label(self) -> str | None:
        """Return the event time as far as it is known: `2024`, `2024-05`, ….

        Instants are shown to the minute with their offset.
        """
        if self.event_time is None:
            return None
        length = {"year": 4, "month": 7, "day": 10}.get(self.event_precision or "")
        if length is None:
            return self.event_time.isoformat(sep=" ", timespec="minutes")
        return self.event_time.date().isoformat()[:length]

    def _repr_html_(self) -> str:
        return Memories([self])._repr_html_()


_Unfrozen: Final[Any] = make_dataclass(
    "_Unfrozen",
    [(one.name, one.type, field(default=one.default)) for one in fields(MemoryEntry)],
    slots=True,
)
"""A memory before it is frozen: the same fields in the same places."""


def quick_entry(*values: Any) -> MemoryEntry:
    """Return `MemoryEntry(*values)`, four times as fast.

    A frozen dataclass sets each of its fields by a call. A search makes twenty entries
    of eighteen fields, which would be a sixth of its time.
    """
    entry = _Unfrozen(*values)
    entry.__class__ = MemoryEntry
    return cast("MemoryEntry", entry)


_SHOWN_CHARACTERS: Final = 100


class Memories(list[MemoryEntry]):
    """A list of memories that shows itself as a table in a notebook."""

    def __repr__(self) -> str:
        """Return one line per memory."""
        if not self:
            return "Memories([])"
        noun = "entry" if len(self) == 1 else "entries"
        lines = [f"Memories({len(self)} {noun})"]
        for entry in self:
            score = "" if entry.score is None else f"{entry.score:.3f}  "
            when = entry.event_label()
            text = entry.memory
            if len(text) > _SHOWN_CHARACTERS:
                text = text[: _SHOWN_CHARACTERS - 1] + "…"
            note = f"  ({entry.kind}{f', {when}' if when else ''})"
            lines.append(f"  {entry.id[:8]}  {score}{text}{note}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html  # noqa: PLC0415 - only for notebooks

        columns: list[tuple[str, list[str]]] = [
            ("id", [entry.id[:8] for entry in self]),
            (
                "score",
                ["" if e.score is None else f"{e.score:.3f}" for e in self],
            ),
            ("memory", [entry.memory for entry in self]),
            ("kind", [str(entry.kind) for entry in self]),
            ("event", [entry.event_label() or "" for entry in self]),
            ("topics", [", ".join(entry.topics) for entry in self]),
            ("participants", [", ".join(entry.participants) for entry in self]),
            ("location", [entry.location or "" for entry in self]),
            (
                "updated (UTC)",
                [f"{entry.updated_at:%Y-%m-%d %H:%M:%S}" for entry in self],
            ),
        ]
        shown = [
            (name, cells)
            for name, cells in columns
            if name in {"id", "memory"} or any(cells)
        ]
        why = ["" if e.explanation is None else e.explanation.in_brief() for e in self]
        head = "".join(f'<th style="text-align:left">{name}</th>' for name, _ in shown)
        if any(why):
            head += '<th style="text-align:left">why</th>'
        rows = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:left">{html.escape(cells[i])}</td>'
                for _, cells in shown
            )
            + (f'<td style="text-align:left">{why[i]}</td>' if any(why) else "")
            + "</tr>"
            for i in range(len(self))
        )
        label = "1 memory" if len(self) == 1 else f"{len(self)} memories"
        return (
            f"<table><caption>{label}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search one user's memories.

    Attributes:
        kind: Keep only this kind.
        time_after: Keep entries whose event is not earlier. Undated entries pass. A
            text of reduced precision (`"2024-05"`) means the beginning of that period.
        time_before: Keep entries whose event is not later. Undated entries pass. A
            text of reduced precision (`"2024-05"`) means the end of that period.
        limit: How many at most. `None` = all, 0 = none.
        similarity_threshold: Drop scores below it. `None` is the ranking's own: 0 in
            the default ranking, 0.3 in `"reference"`.
        order_by_event_time: Earlier events first among equal scores.
        kind_fallback: With `kind`, fill up with other kinds when fewer than 3 match.
        deduplicate: Drop near-duplicates of better results (token Jaccard ≥ 0.8).
        mode: `"lexical"`, `"vector"`, `"hybrid"`, or `"auto"`: hybrid when the store
            has an index, else lexical.
        decay: Half-life of relevance since the last write: a score is multiplied by
            `0.5 ** (age / decay)`. `None` = age does not count.
        explain: Attach the parts of each score as `MemoryEntry.explanation`.
        rerank: Let the store's reranker, if it has one, order the best results.
        diversity: From 0 to 1: how much results should differ from each other, by
            maximal marginal relevance. 0 is the order of relevance.
        together: Results that are neighbours in one conversation (positions at most 2
            apart) come as one run, in the order in which they were said, in the place
            of the best of them.
        versions: `"all"`: what a newer memory replaced is a result of its own.
            `"current"`: the memory that holds now stands in its place and tells it as
            `MemoryEntry.earlier`, unless the query asks about the past.
    """

    kind: MemoryKind | str | None = None
    time_after: TimeInput | None = None
    time_before: TimeInput | None = None
    limit: int | None = 10
    similarity_threshold: float | None = None
    order_by_event_time: bool = False
    kind_fallback: bool = False
    deduplicate: bool = False
    mode: SearchMode = "auto"
    decay: timedelta | None = None
    explain: bool = False
    rerank: bool = True
    diversity: float = 0.0
    together: bool = False
    versions: ShownVersions = "all"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that an extractor or a policy wants done.

    Attributes:
        type: `"add"`, `"update"`, `"delete"` or `"clear"`.
        memory: The text, for `add` and `update`.
        memory_id: The memory that is meant, for `update` and `delete`.
        topics: Labels. `None` in an update leaves them as they are.
        kind: The kind. `None` in an update leaves it as it is.
        event_time: When it happened.
        participants: Who took part. `None` in an update leaves them as they are.
        location: Where it happened. `None` in an update leaves it as it is.
        source: Where it came from.
        supersedes: Ids of the memories that an `add` replaces as the valid version.
    """

    type: Literal["add", "update", "delete", "clear"]
    memory: str | None = None
    memory_id: str | None = None
    topics: tuple[str, ...] | None = None
    kind: MemoryKind | str | None = None
    event_time: TimeInput | None = None
    participants: tuple[str, ...] | None = None
    location: str | None = None
    source: Source | None = None
    supersedes: tuple[str, ...] = ()


User = UserKey | str | int
"""A user as verbs accept it: a plain id means this user of the store's application."""


@runtime_checkable
class MemoryReader(Protocol):
    """What preload and the read tools need, so that other platforms fit too."""

    def read_memories(self, user: User, limit: int | None = None) -> list[MemoryEntry]:
        """Return the newest memories first. `None` = all, 0 = none."""
        ...

    async def aread_memories(
        self, user: User, limit: int | None = None
    ) -> list[MemoryEntry]:
        """Async twin of `read_memories`."""
        ...

    def search_memories(
        self,
        user: User,
        query: str,
        options: SearchOptions | None = None,
        **overrides: Any,
    ) -> list[MemoryEntry]:
        """Return the most relevant memories first."""
        ...

    async def asearch_memories(
        self,
        user: User,
        query: str,
        options: SearchOptions | None = None,
        **overrides: Any,
    ) -> list[MemoryEntry]:
        """Async twin of `search_memories`."""
        ...


def distinct(items: Iterable[str]) -> tuple[str, ...]:
    """Return the items without repetitions, in order of first appearance."""
    return tuple(dict.fromkeys(items))
