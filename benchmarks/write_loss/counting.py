"""What became of the stories, counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from benchmarks.write_loss.running import Told
from benchmarks.write_loss.story import Detail, said_in
from langchain_agentmemory import MemoryEntry


@dataclass(slots=True)
class Share:
    """How many of how many; `lacking` names the others, with their stories."""

    good: int = 0
    of: int = 0
    lacking: list[str] = field(default_factory=list)

    def count(self, *, good: bool, what: str) -> None:
        """Count one more."""
        self.of += 1
        self.good += good
        if not good:
            self.lacking.append(what)

    def __str__(self) -> str:
        """Return both figures and the percentage."""
        percent = f"{self.good / self.of:.0%}" if self.of else "–"
        return f"{self.good} of {self.of} ({percent})"


@dataclass(slots=True)
class Tally:
    """What became of all stories under one policy and one extractor.

    Attributes:
        kept: Details of the first visit that can still be read.
        kept_in_history: The same, with the history of a store that deletes softly.
        apart: Pairs of statements that stand in two memories. The others were wrongly
            merged: one replaced the other, or was dropped as its repetition.
        linked_rightly: Of the pairs that are apart, those that both still hold. In the
            others, one is wrongly marked as an older version.
        holds: Statements of the second visit, and those that it leaves alone, that are
            stored and not marked as outdated.
        outdated: Statements that no longer hold, and are marked or gone.
        duplicates: Memories too many: further ones that hold and say the same.
    """

    kept: Share = field(default_factory=Share)
    kept_in_history: Share = field(default_factory=Share)
    apart: Share = field(default_factory=Share)
    linked_rightly: Share = field(default_factory=Share)
    holds: Share = field(default_factory=Share)
    outdated: Share = field(default_factory=Share)
    duplicates: list[str] = field(default_factory=list)

    def figures(self) -> tuple[object, ...]:
        """Return everything, to compare tallies by."""
        return tuple(getattr(self, one.name) for one in fields(self))


def tally(told: Iterable[Told]) -> Tally:
    """Count what became of stories."""
    total = Tally()
    for one in told:
        _count(total, one)
    return total


def _count(total: Tally, told: Told) -> None:
    story, name = told.story, told.story.name
    for detail in story.old:
        active = bool(_stating(detail, told.active))
        anywhere = active or bool(_stating(detail, told.kept))
        total.kept.count(good=active, what=f"{name}: {detail}")
        total.kept_in_history.count(good=anywhere, what=f"{name}: {detail}")
    for a, b in story.apart:
        what = f"{name}: {a} | {b}"
        apart = _two(a, b, told.active)
        total.apart.count(good=apart, what=what)
        if apart:
            total.linked_rightly.count(good=_two(a, b, told.current), what=what)
    for detail in story.now:
        holds = bool(_stating(detail, told.current))
        total.holds.count(good=holds, what=f"{name}: {detail}")
    for detail in story.over:
        gone = not _stating(detail, told.current)
        total.outdated.count(good=gone, what=f"{name}: {detail}")
    for detail in story.once:
        extra = len(_stating(detail, told.current)) - 1
        total.duplicates += [f"{name}: {detail}"] * extra


def _stating(detail: Detail, entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    return [entry for entry in entries if said_in(detail, entry.memory)]


def _two(a: Detail, b: Detail, entries: Sequence[MemoryEntry]) -> bool:
    """Tell whether two statements stand in two memories."""
    return any(
        one.id != other.id
        for one in _stating(a, entries)
        for other in _stating(b, entries)
    )
