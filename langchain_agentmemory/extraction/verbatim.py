"""An extractor without a language model: what was said is stored as it was said."""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Final, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.extraction.assistant import PARTICIPANTS, pairs
from langchain_agentmemory.extraction.checkers import checked
from langchain_agentmemory.extraction.context import Checker, ExtractionContext
from langchain_agentmemory.extraction.forget_requests import (
    Utterance,
    taken_back,
)
from langchain_agentmemory.extraction.messages import (
    Role,
    role_of,
    text_of,
    with_texts,
)
from langchain_agentmemory.extraction.operations import Operations
from langchain_agentmemory.extraction.redaction import Redact, guarded
from langchain_agentmemory.extraction.splitting import pieces, sentences
from langchain_agentmemory.extraction.worth import worth_keeping
from langchain_agentmemory.policies.append_only import AppendOnly
from langchain_agentmemory.policies.base import Policy, as_policy
from langchain_agentmemory.search.scripts import has_han
from langchain_agentmemory.times import zone
from langchain_agentmemory.types import MemoryEntry, MemoryKind, Operation, Source

Keep = Callable[[str, Role], bool]
"""Says whether a sentence, said by `"user"` or `"assistant"`, is worth keeping."""

MAX_CHARACTERS: Final = 300
"""Longest entry: two or three sentences, so that "It was great." says of what."""

MAX_ENTRIES: Final = 20
"""Most entries of one message: what is longer was pasted rather than said."""

_FEWEST_CHARACTERS: Final = 20
_LONGEST_QUESTION: Final = 80  # characters of what an answer quotes

_logger = logging.getLogger("langchain_agentmemory")


class _Message(NamedTuple):
    """What one side said.

    Attributes:
        role: Who said it.
        text: What.
        id: The id of the message, if it has one.
        asked: What it answers, `""` for messages of the user.
    """

    role: Role
    text: str
    id: str | None
    asked: str = ""


class VerbatimExtractor:
    """Stores what the user said, in the user's words, without asking a model.

    Each message is cut into dated entries of a few sentences; lists and code stay
    whole. Small talk, questions and commands are left out by rules for English and
    Chinese (`worth_keeping`). Nothing is reworded, merged or resolved: "yesterday"
    stays, and the date of the entry says from when it counts.

    An entry is an episode on the day of the turn. That it was said then is certain;
    whether it still holds, only a reader who knows the date can judge. The time of day
    is in `source.said_at`.

    It never deletes and never changes a memory. A request to forget is not stored
    itself, and neither is what it names in the turns before it that wait together with
    it.

    Example:
        ```python
        extractor = VerbatimExtractor()
        extractor.extract([HumanMessage("Hi! I moved to Porto. Any tips?")])
        ```
    """

    def __init__(  # noqa: PLR0913 - each of them is optional
        self,
        *,
        assistant: bool = False,
        max_characters: int = MAX_CHARACTERS,
        max_entries: int | None = MAX_ENTRIES,
        keep: Keep = worth_keeping,
        policy: Policy | None = None,
        checkers: Sequence[Checker] | Checker = (),
        redact: Redact | None = None,
    ) -> None:
        """Initialise the extractor.

        Args:
            assistant: Also store what the assistant answered, named as its answer and
                with the question.
            max_characters: Longest entry made of sentences. Lists and code may be
                longer.
            max_entries: Most entries of one message, the first ones; `None` = all.
            keep: Whether a sentence is worth keeping.
            policy: What may be written. `None` is `AppendOnly()`.
            checkers: When to extract: all of them must say yes. None: always.
            redact: Sees every text before it is split.

        Raises:
            InvalidInput: If an argument cannot be used.
        """
        self.assistant = assistant
        self.max_characters = _at_least(
            _FEWEST_CHARACTERS, max_characters, "max_characters"
        )
        self.max_entries = (
            None if max_entries is None else _at_least(1, max_entries, "max_entries")
        )
        self.checkers = checked(
            (checkers,) if callable(checkers) else tuple(checkers or ())
        )
        self._keep = keep
        self._policy = as_policy(policy, AppendOnly)
        self._redact = None if redact is None else guarded(redact)

    @property
    def policy(self) -> Policy:
        """What may be written."""
        return self._policy

    @property
    def redact(self) -> Redact | None:
        """What every text goes through before it is written down."""
        return self._redact

    def should_extract(self, context: ExtractionContext) -> bool:
        """Say whether it is time: all checkers must say yes, in order."""
        return all(checker(context) for checker in self.checkers)

    def extract(  # noqa: PLR0913 - see Extractor
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),  # noqa: ARG002 - nothing is compared
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,  # noqa: ARG002 - no model is run
    ) -> Operations:
        """Return what to store, in the order in which it was said.

        Args:
            messages: What was said since the last extraction.
            existing: Not used: the policy drops what is stored already.
            enabled: Names of the memory tools that may be used. Without `"memory_add"`
                there is nothing to do; `None` = all.
            said_at: When the turn was said. Naive values are taken in the timezone.
                `None` = now.
            timezone: Where the user is: decides which day it was.
            config: Not used.

        Raises:
            ExtractionFailed: If the redact function fails: then nothing is stored.
            InvalidInput: If there is no such timezone.
        """
        where = zone(timezone)
        if enabled is not None and "memory_add" not in enabled:
            return Operations()
        if "add" not in self._policy.operations:
            return Operations()
        moment = datetime.now(UTC) if said_at is None else said_at
        if moment.utcoffset() is None:
            moment = moment.replace(tzinfo=where)
        if self._redact is not None:
            messages = with_texts(messages, self._redact)
        day = moment.astimezone(where).date().isoformat()
        return Operations(self._operations(messages, day, moment))

    async def aextract(  # noqa: PLR0913 - see Extractor
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Async twin of `extract`, which waits for nothing."""
        return self.extract(
            messages,
            existing,
            enabled=enabled,
            said_at=said_at,
            timezone=timezone,
            config=config,
        )

    def __repr__(self) -> str:
        """Name the policy and the checkers."""
        assistant = "assistant=True, " if self.assistant else ""
        return (
            f"VerbatimExtractor({assistant}policy={self._policy.name!r}, "
            f"checkers={list(self.checkers)!r})"
        )

    def _operations(
        self, messages: Sequence[BaseMessage], day: str, said_at: datetime
    ) -> Iterator[Operation]:
        said = list(self._said(messages))
        dropped = taken_back([Utterance(m.role, sentences(m.text)) for m in said])
        for message, gone in zip(said, dropped, strict=True):
            for piece in self._pieces(message, gone):
                yield _operation(message, piece, day, said_at)

    def _said(self, messages: Sequence[BaseMessage]) -> Iterator[_Message]:
        """Yield what the user said and, if wanted, how it was answered, in order."""
        answers = {pair.user_index: pair for pair in pairs(messages)}
        spoken = (m for m in messages if role_of(m) == "user" and text_of(m))
        for number, message in enumerate(spoken, start=1):
            text = text_of(message)
            yield _Message("user", text, message.id)
            if self.assistant and (pair := answers.get(number)):
                yield _Message("assistant", pair.assistant, pair.assistant_id, text)

    def _pieces(self, message: _Message, gone: frozenset[str]) -> list[str]:
        def keep(sentence: str) -> bool:
            return sentence not in gone and self._keep(sentence, message.role)

        found = (
            piece
            for piece in pieces(message.text, self.max_characters, keep)
            if not any(sentence in piece for sentence in gone)  # within a list
        )
        kept = list(islice(found, self.max_entries))
        if left := sum(1 for _ in found):
            _logger.warning(
                "A message of the %s has %d parts, of which the first %d are stored. "
                "Raise max_entries or max_characters to store more.",
                message.role,
                len(kept) + left,
                len(kept),
            )
        return kept


def _operation(message: _Message, piece: str, day: str, said_at: datetime) -> Operation:
    answers = message.role == "assistant"
    return Operation(
        "add",
        memory=_attributed(piece, message.asked) if answers else piece,
        topics=(),
        kind=MemoryKind.EPISODE,
        event_time=day,
        participants=PARTICIPANTS if answers else (),
        source=Source(
            message_ids=(message.id,) if message.id else (),
            role=message.role,
            said_at=said_at,
        ),
    )


def _attributed(piece: str, asked: str) -> str:
    """Return what the assistant said as what it is, with the question."""
    question = " ".join(asked.split())
    if len(question) > _LONGEST_QUESTION:
        question = question[: _LONGEST_QUESTION - 1].rstrip() + "…"
    if has_han(piece):
        return f"助手回答“{question}”：{piece}"
    return f'The assistant answered "{question}": {piece}'


def _at_least(least: int, given: object, name: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        msg = f"{name} must be an integer of at least {least}, not {given!r}."
        raise InvalidInput(msg)
    return given
