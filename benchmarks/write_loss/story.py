"""The form of a story: what a user says on two visits, and what must come of it."""

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
Sort = Literal["change", "refine", "repeat", "contradict", "coexist"]
Extractor = Literal["careful", "careless"]

EXTRACTORS: tuple[Extractor, ...] = ("careful", "careless")

Detail = str
"""Parts, joined by ` + `, that must stand in the text of one and the same memory; or,
behind a `=`, its whole text."""


@dataclass(frozen=True, slots=True)
class Call:
    """What an extractor asks for.

    Attributes:
        memory: The text.
        changes: The text from the first visit whose memory an update names. `None` for
            an add.
        kind: `"fact"` or `"episode"`.
        when: The event time, if it is dated.
        who: Who took part.
        where: Where it happened.
    """

    memory: str
    changes: str | None = None
    kind: str = "fact"
    when: str | None = None
    who: tuple[str, ...] = ()
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Two visits of a user.

    Attributes:
        name: A short name, unique.
        language: `"en"` or `"zh"`.
        sort: How the second visit relates to the first.
        about: What could be mixed up.
        said: The words of the user, one text per visit.
        first: What an extractor makes of the first visit.
        careful: What a good one makes of the second: it adds what is new, and names the
            right memory where one is completed or has changed.
        careless: What a hasty one makes of it: it rephrases what is known, or names the
            wrong memory.
        old: Details of the first visit, none of which may be lost.
        now: What holds after the second visit.
        over: What no longer does.
        once: What is one statement, however often it was said.
        apart: Pairs that are two statements, both of which hold.
    """

    name: str
    language: Language
    sort: Sort
    about: str
    said: tuple[str, str]
    first: tuple[Call, ...]
    careful: tuple[Call, ...]
    careless: tuple[Call, ...]
    old: tuple[Detail, ...]
    now: tuple[Detail, ...]
    over: tuple[Detail, ...] = ()
    once: tuple[Detail, ...] = ()
    apart: tuple[tuple[Detail, Detail], ...] = ()

    def calls(self, extractor: Extractor) -> tuple[Call, ...]:
        """Return what an extractor makes of the second visit."""
        return self.careful if extractor == "careful" else self.careless


def add(memory: str) -> Call:
    """Return the addition of a fact."""
    return Call(memory)


def event(
    memory: str, when: str, who: tuple[str, ...] = (), where: str | None = None
) -> Call:
    """Return the addition of an episode."""
    return Call(memory, None, "episode", when, who, where)


def update(old: str, new: str, **details: str) -> Call:
    """Return an update of the memory that has the text `old`."""
    return Call(new, old, **details)  # type: ignore[arg-type]


def said_in(detail: Detail, text: str) -> bool:
    """Tell whether a text states a detail, in upper or lower case."""
    lowered = text.casefold()
    if detail.startswith("="):
        return lowered == detail.removeprefix("=").casefold()
    return all(part.casefold() in lowered for part in detail.split(" + "))
