"""One thing that was said and is worth keeping, on its way into a store.

Every reader of `langchain_agentmemory.transfer` turns a file into these, and
`import_statements` writes them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.types import MemoryKind, Source, TimeInput

MAX_STATEMENT = 300
"""Longest statement in characters before a text is cut at the ends of sentences.

Long enough for two or three sentences, so that "It was great." stays with what was.
"""

USER_ROLE: Final = "user"
ROLES: Final = {
    "human": USER_ROLE,
    "user": USER_ROLE,
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "humanmessagechunk": USER_ROLE,
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
"""What the roles of messages are called in a `Source`, by the names in the wild."""

_FENCED = re.compile(r"^(```|~~~).*?(?:^\1\s*$|\Z)", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？!?])(?=\S)|\n+")
_LATEST_EPOCH_SECOND: Final = 100_000_000_000  # year 5138: larger numbers are in ms


@dataclass(frozen=True, slots=True)
class Statement:
    """One dated memory to be written.

    Attributes:
        memory: The text.
        topics: Labels for search.
        kind: Its kind, `None` = fact.
        event_time: When it happened or, for what was said in a conversation, when it
            was said. Naive datetimes are taken in the timezone of the store.
        participants: Who took part.
        location: Where it happened.
        source: Where it came from.
        supersedes: Ids, as in the file, of the memories that it replaced.
        id: Its id in the file, if it has one.
        conversation: The group of threads it belongs to, where a file has groups.
    """

    memory: str
    topics: tuple[str, ...] = ()
    kind: str | None = None
    event_time: TimeInput | None = None
    participants: tuple[str, ...] = ()
    location: str | None = None
    source: Source | None = None
    supersedes: tuple[str, ...] = ()
    id: str | None = None
    conversation: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a file that could not be read.

    Attributes:
        where: `"line 7"`, or `"message 12"` in files that are one JSON value.
        reason: What is wrong with it.
    """

    where: str
    reason: str

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.where}: {self.reason}"


def said(  # noqa: PLR0913 - what is known of a message
    text: str,
    *,
    role: str,
    position: int,
    said_at: datetime | None,
    thread_id: str | None,
    message_id: str | None,
) -> Iterator[Statement]:
    """Yield the statements of one message as dated memories.

    A dated message becomes episodes at the time it was said; one without a date
    becomes facts.

    Args:
        text: What was said.
        role: Who said it.
        position: The place of the message's first statement in its thread.
        said_at: When.
        thread_id: The conversation.
        message_id: The message.
    """
    for offset, statement in enumerate(split_statements(text)):
        yield Statement(
            statement,
            kind=MemoryKind.EPISODE.value if said_at else None,
            event_time=said_at,
            source=Source(
                thread_id=thread_id,
                message_ids=(message_id,) if message_id else (),
                position=position + offset,
                role=role,
                said_at=said_at,
            ),
            conversation=thread_id,
        )


def split_statements(text: str, max_length: int = MAX_STATEMENT) -> list[str]:
    """Cut what was said in one message into statements.

    A paragraph is one statement if it is not too long, so that sentences which lean
    on each other stay together; a longer one is cut at the ends of sentences, a
    sentence without end at blanks. Fenced code is no statement and is left out.

    Args:
        text: What was said.
        max_length: Longest statement in characters.
    """
    spoken = _FENCED.sub("\n\n", text.replace("\r\n", "\n"))
    statements: list[str] = []
    for paragraph in _PARAGRAPH.split(spoken):
        statements += _packed(paragraph.strip(), max_length)
    return statements


def _packed(paragraph: str, max_length: int) -> list[str]:
    if len(paragraph) <= max_length:
        return [paragraph] if paragraph else []
    packed = [""]
    for sentence in _SENTENCE.split(paragraph):
        for piece in _wrapped(sentence.strip(), max_length):
            # No blank belongs between Chinese sentences.
            gap = "" if not packed[-1] or packed[-1][-1] in "。！？" else " "
            if len(packed[-1]) + len(gap) + len(piece) <= max_length:
                packed[-1] += gap + piece
            else:
                packed.append(piece)
    return [statement for statement in packed if statement]


def _wrapped(sentence: str, max_length: int) -> Iterator[str]:
    while len(sentence) > max_length:
        cut = sentence.rfind(" ", 1, max_length + 1)
        cut = cut if cut > 0 else max_length
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


def read_timestamp(given: Any) -> datetime | None:
    """Read when something was said.

    Args:
        given: Seconds or milliseconds since 1970, ISO 8601 text, or nothing.

    Returns:
        The time; naive if the text had no offset.

    Raises:
        InvalidInput: If it is something else.
    """
    if given is None or given == "":
        return None
    try:
        if isinstance(given, str):
            text = given.strip()
            if not text.replace(".", "", 1).isdecimal() or len(text) <= len("2024"):
                return datetime.fromisoformat(text)
            given = float(text)
        seconds = given / 1000 if given > _LATEST_EPOCH_SECOND else given
        return datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        msg = (
            f"cannot read {quoted(given)} as a time: use ISO 8601 text such as "
            f"2024-05-07T10:30:00+02:00, or seconds since 1970."
        )
        raise InvalidInput(msg) from error
