"""What is measured on: memories of users, and questions with the right answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from langchain_agentmemory.types import Source

Asks = Literal["current", "past"]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory before it is stored.

    Attributes:
        text: The text.
        ids: What finding it counts as; a fact counts as the turns that it came from.
        source: Where it came from.
        participants: Who took part.
        topics: Labels.
        kind: `"fact"` or `"episode"`, `None` where the set does not say.
        event_time: When it happened, as text of any precision.
        location: Where it happened.
        supersedes: Ids of older memories of this user that it replaced.
    """

    text: str
    ids: frozenset[str]
    source: Source | None = None
    participants: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    kind: str | None = None
    event_time: str | None = None
    location: str | None = None
    supersedes: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What was said, and by whom: what ours embeds."""
        names = ", ".join(self.participants)
        return f"{names}: {self.text}" if names else self.text

    @property
    def words(self) -> str:
        """All that it says as one text, for rankings that know no fields."""
        return "\n".join(filter(None, (self.told, self.location, *self.topics)))


@dataclass(frozen=True, slots=True)
class Update:
    """Two versions of one statement.

    Attributes:
        newer: Ids of the version that holds.
        older: Ids of the version that it replaced.
        asks: Which of them the question asks for.
    """

    newer: frozenset[str]
    older: frozenset[str]
    asks: Asks


@dataclass(frozen=True, slots=True)
class Question:
    """A query and what it should find.

    Attributes:
        id: Unique in the set.
        user: Whose memories are searched.
        text: The query.
        kind: The type of the question, as the set names it.
        evidence: Ids of the memories that answer it, never empty.
        language: `"en"`, `"zh"` or `"mixed"`.
        asked_at: The time that words such as "last week" are relative to.
        update: Where it asks for one of two versions.
        ignored: Ids that are neither right nor wrong; they take up no place.
    """

    id: str
    user: str
    text: str
    kind: str
    evidence: frozenset[str]
    language: str = "en"
    asked_at: datetime | None = None
    update: Update | None = None
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Memories and questions.

    Attributes:
        name: Short, as it stands in tables and on the command line.
        title: What it is, for a reader of the report.
        memories: The memories of each user, in the order in which they are stored.
        questions: What is asked.
        uncounted: Kinds of questions that are reported apart, never in the total.
    """

    name: str
    title: str
    memories: Mapping[str, Sequence[Memory]]
    questions: Sequence[Question]
    uncounted: frozenset[str] = field(default_factory=frozenset)

    def __len__(self) -> int:
        """Return how many memories there are."""
        return sum(map(len, self.memories.values()))

    def texts(self) -> Iterator[str]:
        """Yield what is embedded of every memory, by ours and by the peers."""
        for memories in self.memories.values():
            for memory in memories:
                yield memory.told
                if memory.words != memory.told:
                    yield memory.words
