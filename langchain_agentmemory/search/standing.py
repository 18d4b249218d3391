"""Which of several results that state the same thing comes first.

"I run 5 km a day" and, a year later, "I run 8 km a day" answer the same question, and
nothing but their dates tells which of them holds. Ranking by words or meaning puts the
newer one first no more often than by chance. Results of different conversations that
match the same words of the query about equally well are therefore taken for versions of
one statement, and the scores that they have are dealt out anew: to the newest first, or
to the oldest first where the query asks for what held before.

The scores stay the same ones, so the best result is as good as before. Links that
writers set (`supersedes`) are certain where this is a guess: see
`langchain_agentmemory.search.links`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from langchain_agentmemory.search.scripts import LazyPattern

MOST_VERSIONS: Final = 10
"""So many of the best results are compared with each other."""

First = Literal["newest", "oldest"]
"""Which version of a statement a query wants first."""

Alike = Callable[[int, int], bool]
"""Tells whether two candidates, by their places, mean the same."""


class Version(NamedTuple):
    """A result, as far as it matters for which version it is.

    Attributes:
        score: Its score, positive.
        when: When what it says held: any numbers that grow with time.
        thread: The conversation that it was said in, `None` if that is not known.
        matched: Which terms of the query it matches: bit *i* stands for term *i*.
    """

    score: float
    when: float
    thread: str | None
    matched: int


class Limits(NamedTuple):
    """How much alike results must be to count as versions of one statement.

    Attributes:
        lesser: Share of the matched rarity of the one that matches less which both
            match.
        greater: The same of the one that matches more.
        query: Share of the query's rarity that each must match.
        score: The lower score as a share of the higher.
    """

    lesser: float
    greater: float
    query: float
    score: float


STATES: Final = Limits(0.8, 0.45, 0.4, 0.5)
"""For queries that ask how something is.

Measured on the development halves of LongMemEval and LoCoMo; see docs/retrieval.md.
"""
EVENTS: Final = Limits(0.8, 0.9, 0.4, 0.8)
"""For queries that ask what happened: things of one kind happen more than once."""


def redealt(
    versions: Sequence[Version],
    rarities: Sequence[float],
    first: First,
    limits: Limits = STATES,
    alike: Alike | None = None,
) -> list[float]:
    """Return the scores of results, dealt out anew among versions of one statement.

    Args:
        versions: The best results, best first. What is not positive stays as it is.
        rarities: What each term of the query counts: its weight times its rarity.
        first: Which version gets the best score of them.
        limits: How much alike versions are.
        alike: Tells whether two results mean the same, in place of the terms that they
            match: for searches by meaning alone.

    Returns:
        As many scores, in the order of `versions`: the same ones, in another order.
        What held at the same time keeps its order.
    """
    scores = [version.score for version in versions]
    left = [place for place, score in enumerate(scores) if score > 0]
    masses = _Masses(rarities)
    while len(left) > 1:
        group = _group(left, versions, masses, limits, alike)
        if len(group) > 1:
            by_time = sorted(
                group,
                key=lambda place: versions[place].when,
                reverse=first == "newest",
            )
            for place, old in zip(by_time, group, strict=True):
                scores[place] = versions[old].score
        left = [place for place in left if place not in group]
    return scores


def _group(
    left: Sequence[int],
    versions: Sequence[Version],
    masses: "_Masses",
    limits: Limits,
    alike: Alike | None,
) -> list[int]:
    """Return the places of the first result and of its other versions, best first."""
    best = left[0]
    model = versions[best]
    least = limits.query * masses.total
    if alike is None and masses.of(model.matched) < least:
        return [best]
    group = [best]
    for place in left[1:]:
        version = versions[place]
        if version.score < limits.score * model.score:
            break
        if version.thread is not None and version.thread == model.thread:
            continue
        if alike is not None:
            if alike(best, place):
                group.append(place)
        elif masses.of(version.matched) >= least and masses.overlap(
            model.matched, version.matched, limits
        ):
            group.append(place)
    return group


class _Masses:
    """The rarity that sets of terms have together.

    Args:
        rarities: Of each term.
    """

    def __init__(self, rarities: Sequence[float]) -> None:
        self._rarities = rarities
        self.total = sum(rarities)
        self._known: dict[int, float] = {}

    def of(self, matched: int) -> float:
        """Return the rarity of a set of terms, given as bits."""
        mass = self._known.get(matched)
        if mass is None:
            mass = self._known[matched] = sum(
                rarity
                for term, rarity in enumerate(self._rarities)
                if matched >> term & 1
            )
        return mass

    def overlap(self, one: int, other: int, limits: Limits) -> bool:
        """Tell whether two sets have enough in common."""
        common, lesser, greater = self.of(one & other), self.of(one), self.of(other)
        if lesser > greater:
            lesser, greater = greater, lesser
        return common >= limits.lesser * lesser and common >= limits.greater * greater


_EVENT: Final = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_STILL: Final = re.compile(
    r"\b(?:current(?:ly)?|now|latest|last|most recent|recently|these days|so far)\b",
    re.IGNORECASE,
)
_ZH_EVENT: Final = LazyPattern(
    "什么时候|什麼時候|何时|何時|哪一?[天年月日]|几[月号]|幾[月號]|[那哪][一]?次"
)


def asks_for_event(query: str) -> bool:
    """Tell whether a question asks what happened, not how something is.

    "When did I …?", "Where was the party?", 什么时候, 那次: what happened does not stop
    being so when something like it happens again.

    Args:
        query: A question in English or Chinese.
    """
    if not query.isascii() and _ZH_EVENT.search(query):
        return True
    return bool(_EVENT.search(query)) and not _STILL.search(query)
