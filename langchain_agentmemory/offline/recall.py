"""What the offline model can know: memories in its prompt and in results of tools.

It reads them as any model does, from the lines `- [id] text (kind=…; date=…)` that
preloading and the memory tools write. Where a tool attached the entries themselves,
those are used, because they also carry when something was said.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_agentmemory.nodes.rendering import BEGIN, END
from langchain_agentmemory.offline.language import content_terms, coverage
from langchain_agentmemory.offline.subjects import Subject, subject_stated
from langchain_agentmemory.search.cues import time_named, version_asked
from langchain_agentmemory.search.past_statements import told_as_past
from langchain_agentmemory.types import MemoryEntry

_LINE: Final = re.compile(r"^\s*[-*•]\s+\[(?P<id>[^\]\s]+)\]\s*(?P<rest>.+?)\s*$")
# Preloading writes `date=…`, the tools write `date: …`.
_DETAILS: Final = re.compile(
    r"^(?P<text>.*) \((?P<details>(?:(?:kind|date|with|at|topics|saved|earlier)[=:]"
    r"|replaced by|outdated).*)\)$"
)
_DATE: Final = re.compile(r"(?:^|; )date(?:=|: )(?P<date>[^;]+)")
_SAVED: Final = re.compile(r"(?:^|; )saved(?:=|: )(?P<saved>[^;]+)")
_OUTDATED: Final = re.compile(r"(?:^|; )(?:outdated|replaced by)")
_MY_WORDS: Final = re.compile(r"\b(?:i|my|me|mine|we|our)\b|我|咱", re.IGNORECASE)
_SPEAKER: Final = re.compile(r"^[\w .'-]{1,40}[:：]\s")

# How much of what was asked a memory has to say. Half: one of the two words of
# "green tea". More is asked of an answer than of a mere mention.
_ANSWERS: Final = 0.99
_MENTIONS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """One memory as the offline model knows it.

    Attributes:
        id: Its id.
        text: Its text.
        date: The date of what it tells, as far as known.
        said: The day on which it was said or stored, if known.
        outdated: A newer memory has replaced it.
        own_words: The user said it, as opposed to someone else in an import.
        score: How well it fits what was searched for, `None` if it was not.
    """

    id: str
    text: str
    date: str = ""
    said: str = ""
    outdated: bool = False
    own_words: bool = True
    score: float | None = field(default=None, compare=False)

    @property
    def subject(self) -> Subject | None:
        """What it is about."""
        return subject_stated(self.text)


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found for a question.

    Attributes:
        answers: Memories that answer it, best first.
        mentions: Memories that only touch it, best first.
    """

    answers: tuple[Known, ...] = ()
    mentions: tuple[Known, ...] = ()


def preloaded(messages: Sequence[BaseMessage]) -> list[Known]:
    """Return the memories that were put into the prompt, best first."""
    found: list[Known] = []
    for message in messages:
        if isinstance(message, SystemMessage | HumanMessage):
            inside = False
            for line in message_text(message).splitlines():
                inside = line.strip() == BEGIN or (inside and line.strip() != END)
                if inside and (known := _read_line(line)):
                    found.append(known)
    return found


def spoken_text(message: BaseMessage) -> str:
    """Return what the user wrote, without memories that were put in front of it."""
    _, marker, after = message_text(message).rpartition(f"\n{END}")
    return after.strip() if marker else message_text(message).strip()


def message_text(message: BaseMessage) -> str:
    """Return the text parts of a message, joined by line breaks."""
    content = message.content
    if isinstance(content, str):
        return content
    parts = (
        part if isinstance(part, str) else str(part.get("text") or "")
        for part in content
        if isinstance(part, str) or part.get("type") == "text"
    )
    return "\n".join(part for part in parts if part)


def tool_memories(message: ToolMessage) -> list[Known]:
    """Return the memories that a tool gave back."""
    artifact = message.artifact
    given = [artifact] if isinstance(artifact, MemoryEntry) else artifact
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        entries = [entry for entry in given if isinstance(entry, MemoryEntry)]
        if entries:
            return [_from_entry(entry) for entry in entries]
    lines = message_text(message).splitlines()
    return [known for line in lines if (known := _read_line(line))]


def recall(
    question: str,
    subject: Subject | None,
    candidates: Iterable[Known],
    *,
    when: str | None = None,
) -> Recall:
    """Sort candidates into those that answer a question and those that touch it.

    A memory answers if it is about the subject asked for, or says every content word
    of the question. With a date in the question it also has to be of that date.

    Args:
        question: The question in the user's words.
        subject: What it asks about, if a rule knows it.
        candidates: Memories, most relevant first.
        when: The date named in the question, as exact as it was named.
    """
    # "叫什么" asks for a name; with it, "狗叫" would count as a word of the question.
    wanted = content_terms(_NAMING.sub(" ", question)) or content_terms(question)
    scored: list[tuple[float, Known]] = []
    for known in dict.fromkeys(candidates):
        if when and known.date.startswith(when):
            rest = content_terms(_without_dates(question))
            scored.append((2 + coverage(rest, known.text), known))
            continue
        grade = _grade(wanted, subject, known)
        if grade >= _MENTIONS:
            # With a date in the question, other dates are no answer.
            scored.append((min(grade, 1) if when else grade, known))
    ordered = [k for _, k in sorted(scored, key=lambda pair: -pair[0])]
    single = subject is not None and subject.single
    past = single and version_asked(question) == "past"
    if single:
        ordered.sort(key=lambda known: told_as_past(known.text) != past)
    grades = {known: grade for grade, known in scored}
    floor = _ANSWERS if not when else 2
    current = [k for k in ordered if grades[k] >= floor and not k.outdated]
    answers = current or [k for k in ordered if grades[k] >= floor]
    if answers and grades[answers[0]] >= 1 + _ANSWERS and not when:
        answers = [k for k in answers if grades[k] >= 1 + _ANSWERS]
    if single:
        # One thing at a time, but one after the other there may have been several.
        answers = [k for k in answers if past and told_as_past(k.text)] or answers[:1]
    mentions = [k for k in ordered if k not in answers and not k.outdated]
    return Recall(tuple(answers), () if answers else tuple(mentions))


def _grade(wanted: frozenset[str], subject: Subject | None, known: Known) -> float:
    """Return how well a memory answers: 1 and more does, half and more touches it."""
    share = coverage(wanted, known.text)
    stated = known.subject
    if subject is None or stated is None:
        return share
    if stated.name != subject.name:
        # "I live in Rome" shares its words with "What do I do for a living?".
        return min(share, _MENTIONS)
    narrow = wanted - _ATTITUDES
    if not narrow and subject.name == "diet":
        return 1  # what one cannot eat is all of it, allergies too
    if subject.single or not narrow or coverage(narrow, known.text) > 0:
        return 1 + share
    return _MENTIONS  # a taste, but not in what was asked about


def asks_only_when(question: str) -> bool:
    """Tell whether a question names nothing but a time: "What did I do yesterday?"."""
    named = time_named(question, datetime.now(UTC), UTC)
    if named is None:
        return False
    from langchain_agentmemory.search.time_questions import (  # noqa: PLC0415 - rare
        asks_only_for_time,
    )

    return asks_only_for_time(named)


def to_replace(
    text: str, subject: Subject | None, candidates: Iterable[Known]
) -> Known | None:
    """Return the memory that a correction takes the place of, if there is one.

    It is about the same single-valued subject, or shares more than words of liking
    with the new statement. "I used to live in Rome" is no statement of where one lives:
    it replaces none, and none replaces it. One may have lived in several places.
    """
    if told_as_past(text):
        return None
    found = [
        known
        for known in dict.fromkeys(candidates)
        if not known.outdated and not told_as_past(known.text)
    ]
    if subject is not None and subject.single:
        return next((k for k in found if _same(subject, k.subject)), None)
    wanted = content_terms(text) - _ATTITUDES
    graded = [(coverage(wanted, known.text), -i) for i, known in enumerate(found)]
    best, position = max(graded, default=(0.0, 0))
    return found[-position] if best >= _MENTIONS else None


def to_forget(
    text: str, subject: Subject | None, candidates: Iterable[Known]
) -> tuple[Known | None, list[Known]]:
    """Return the memory to delete and other memories that mention the same."""
    found = recall(text, subject, candidates)
    both = [*found.answers, *found.mentions]
    wanted = content_terms(text)
    # The best answer, and of those the one that says the most of what was named.
    best = max(both, key=lambda known: coverage(wanted, known.text), default=None)
    return best, [known for known in both if known is not best]


_ATTITUDES: Final = content_terms(
    "like love enjoy prefer hate dislike stop quit use want eat drink 喜欢 讨厌"
) | {"喜欢", "讨厌", "欢喝", "欢吃", "爱吃", "爱喝", "吃", "喝"}


_NAMING: Final = re.compile("叫(?:什么|啥)(?:名字?)?")


def _same(asked: Subject, stated: Subject | None) -> bool:
    return stated is not None and stated.name == asked.name


def _without_dates(question: str) -> str:
    return re.sub(
        r"\b(?:yesterday|today|tomorrow|last \w+|do|did|happen(?:ed)?)\b"
        r"|\d{4}-\d\d-\d\d|昨天|今天|明天|前天|去年|上个?月|做|发生",
        " ",
        question,
        flags=re.IGNORECASE,
    )


def _read_line(line: str) -> Known | None:
    match = _LINE.match(line)
    if match is None:
        return None
    details = _DETAILS.match(match["rest"])
    if details is None:
        return Known(match["id"], match["rest"], own_words=_own(match["rest"]))
    text, given = details["text"], details["details"]
    date, saved = _DATE.search(given), _SAVED.search(given)
    return Known(
        match["id"],
        text,
        date["date"] if date else "",
        saved["saved"] if saved else "",
        outdated=_OUTDATED.search(given) is not None,
        own_words=_own(text),
    )


def _from_entry(entry: MemoryEntry) -> Known:
    said = (entry.source and entry.source.said_at) or entry.created_at
    role = entry.source.role if entry.source else None
    return Known(
        entry.id,
        entry.memory,
        entry.event_label() or "",
        said.astimezone().date().isoformat(),  # the day it was where the user is
        entry.superseded_by is not None,
        own_words=_own(entry.memory) and role in {None, "user", "human"},
        score=entry.score,
    )


def _own(text: str) -> bool:
    return bool(_MY_WORDS.search(text)) and not _SPEAKER.match(text)
