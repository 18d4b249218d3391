"""Which of several results that state the same thing comes first.

"I run 5 km a day" and, a year later, "I run 8 km a day" answer the same question, and
nothing but their dates tells which of them holds. Ranking by words or meaning puts the
newer one first no more often than by chance. So results of different conversations that
match the same words of the query about equally well are taken for versions of one
statement, and the scores that they have are dealt out anew: the best to the newest, or
to the oldest where the query asks for what held before.

The scores stay the same ones, so the best result is as good as before. Links that
writers set (`supersedes`) are certain where this is a guess: see
`langchain_agentmemory.search.links`.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import reduce
from operator import or_
from typing import Final, Literal, NamedTuple

COMPARED: Final = 5
"""So many of the best results are compared with each other."""
MOST_VERSIONS: Final = 3
"""When more results match the same words, these words name no single statement."""
STANDS_OUT: Final = 0.7
"""What follows results that stand out has at most this share of their score."""

_STEP: Final = 1 - 1e-4
"""What parts versions that have the same score."""

First = Literal["newest", "oldest"]
"""Which version of a statement a query wants first."""

Alike = Callable[[int, int], bool]
"""Tells whether two results, by their places, mean the same."""

Past = Callable[[Sequence[int]], Collection[int]]
"""Returns which of some results, by their places, say themselves that they are past."""


class Version(NamedTuple):
    """A result, as far as it matters for which version it is.

    Attributes:
        score: Its score, positive.
        when: When what it says held: any numbers that grow with time.
        thread: The conversation that it was said in, `None` if that is not known.
        participants: Who took part; results without anybody in common are no versions
            of each other, unless one of them names nobody.
        matched: Which terms of the query it matches: bit *i* stands for term *i*.
    """

    score: float
    when: float
    thread: str | None
    participants: tuple[str, ...]
    matched: int


class Terms(NamedTuple):
    """The terms of a query.

    Attributes:
        rarities: What each counts: its weight times its rarity, shape (terms,).
        exact: Which of them name one thing only (identifiers, numbers), as bits. What
            lacks one of those that the best result matches is about something else.
    """

    rarities: Sequence[float]
    exact: int = 0


class Limits(NamedTuple):
    """How much alike results must be to count as versions of one statement.

    All are shares, in [0, 1].

    Attributes:
        lesser: Of the matched rarity of the one that matches less: both must match it.
        greater: The same of the one that matches more.
        query: Of the rarity that all results match together: each must match it.
        score: Of the higher score: the lower one.
    """

    lesser: float
    greater: float
    query: float
    score: float


# Measured on halves of LoCoMo and LongMemEval: see docs/concepts/versions.md.
OUTSTANDING: Final = Limits(0.5, 0.3, 0.4, 0.45)
"""For two or three results that stand out from all others."""
STATES: Final = Limits(0.8, 0.7, 0.4, 0.5)
"""For results among others that are about as good."""
EVENTS: Final = Limits(0.8, 0.9, 0.4, 0.8)
"""For queries that ask what happened: things of one kind happen more than once."""


def redealt(
    versions: Sequence[Version],
    groups: list[list[int]],
    first: First,
    *,
    past: Past | None = None,
    parted: bool = True,
) -> list[float]:
    """Return the scores of results, dealt out anew among versions of one statement.

    Args:
        versions: The best results, best first.
        groups: Which of them are versions of one statement: see `version_groups`.
        first: Which version gets the best score of them.
        past: Tells which versions of one statement say themselves that they are past:
            they count as older than the others. Asked only about versions.
        parted: Part versions with one score by a hair, so that they have an order.

    Returns:
        The scores, in the order of `versions`: what held at the same time keeps its
        order.
    """
    scores = [version.score for version in versions]
    for group in groups:
        over = () if past is None else past(group)
        ages = {place: (place not in over, versions[place].when) for place in group}
        in_time = sorted(group, key=ages.__getitem__, reverse=first == "newest")
        above, age = math.inf, ages[in_time[0]]
        for place, better in zip(in_time, group, strict=True):
            step = _STEP if parted and ages[place] != age else 1
            above, age = min(versions[better].score, above * step), ages[place]
            scores[place] = above
    return scores


def version_groups(
    versions: Sequence[Version],
    terms: Terms,
    first: First,
    *,
    event: bool = False,
    alike: Alike | None = None,
) -> list[list[int]]:
    """Return which results are taken for versions of one statement.

    Args:
        versions: The best results, best first: one more than `COMPARED` are enough.
            Their times are not looked at.
        terms: What the query looks for.
        first: Which version is to get the best score of them.
        event: Whether the query asks what happened, not how something is.
        alike: Tells whether two results mean the same, in place of the terms that they
            match: for searches by meaning alone.

    Returns:
        Places, two or more in each group, best first.
    """
    dealer = _Dealer(versions, terms, first, alike)
    groups = []
    left = list(range(min(len(versions), COMPARED)))
    while len(left) > 1:
        group = dealer.group(left, event=event)
        if 1 < len(group) <= MOST_VERSIONS:
            groups.append(group)
        left = [place for place in left if place not in group]
    return groups


class _Dealer:
    """Finds versions of one statement among results."""

    def __init__(
        self,
        versions: Sequence[Version],
        terms: Terms,
        first: First,
        alike: Alike | None,
    ) -> None:
        self._versions = versions
        self._rarities = terms.rarities
        # "Before the second trip" names what it does not ask for.
        self._exact = terms.exact if first == "newest" else 0
        self._alike = alike
        self._known: dict[int, float] = {}
        self._matched = [version.matched for version in versions[:COMPARED]]
        self._masses = [self._mass(matched) for matched in self._matched]
        self._total = self._mass(reduce(or_, self._matched, 0))
        # Where there are more than versions can be, and the last is nearly as good as
        # the first, no few of them stand out.
        self._may_stand_out = (
            len(versions) <= MOST_VERSIONS
            or versions[-1].score <= STANDS_OUT * versions[0].score
        )

    def group(self, left: Sequence[int], *, event: bool) -> list[int]:
        """Return the places of the first result and of its versions, best first."""
        if event:
            return self._versions_of(left, EVENTS)
        if self._may_stand_out:
            group = self._versions_of(left, OUTSTANDING)
            if 1 < len(group) <= MOST_VERSIONS and self._stand_out(group):
                return group
        return self._versions_of(left, STATES)

    def _versions_of(self, left: Sequence[int], limits: Limits) -> list[int]:
        best, matching = left[0], self._alike is None
        model, group = self._versions[best], [best]
        if matching and self._masses[best] < limits.query * self._total:
            return group
        least = model.score * limits.score
        for place in left[1:]:
            version = self._versions[place]
            if version.score < least:
                break
            if matching:
                alike = self._match_alike(best, place, limits)
            else:
                alike = self._alike is not None and self._alike(best, place)
            if alike and _may_be_versions(model, version):
                group.append(place)
        return group

    def _stand_out(self, group: Sequence[int]) -> bool:
        """Tell whether nothing else is about as good as the versions."""
        most = self._versions[group[-1]].score * STANDS_OUT
        members = set(group)
        return all(
            version.score <= most
            for place, version in enumerate(self._versions)
            if place not in members
        )

    def _match_alike(self, best: int, place: int, limits: Limits) -> bool:
        mass, other = self._masses[best], self._masses[place]
        if other < limits.query * self._total:
            return False
        model, matched = self._matched[best], self._matched[place]
        if model & self._exact & ~matched:
            return False
        common = mass if model == matched else self._mass(model & matched)
        lesser, greater = (mass, other) if mass <= other else (other, mass)
        return (
            common > 0
            and common >= limits.lesser * lesser
            and common >= limits.greater * greater
        )

    def _mass(self, matched: int) -> float:
        """Return the rarity of a set of terms, given as bits."""
        mass = self._known.get(matched)
        if mass is None:
            mass, left = 0.0, matched
            while left:
                mass += self._rarities[(left & -left).bit_length() - 1]
                left &= left - 1
            self._known[matched] = mass
        return mass


def _may_be_versions(one: Version, other: Version) -> bool:
    if one.thread is not None and one.thread == other.thread:
        return False
    if not one.participants or not other.participants:
        return True
    return not set(one.participants).isdisjoint(other.participants)
