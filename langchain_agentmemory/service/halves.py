"""The two halves of a search before they are one: what words and what cosines say."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.calibration import (
    BACKGROUND,
    Calibration,
)
from langchain_agentmemory.search.compressed import are_as_said
from langchain_agentmemory.search.fusion import (
    fused_evidence,
    hybrid_scores,
    trusted,
    vector_scores,
    with_labels,
)
from langchain_agentmemory.search.index import WordScores
from langchain_agentmemory.search.place import LENT_SHARES
from langchain_agentmemory.search.scripts import has_han
from langchain_agentmemory.search.shelf import Shelf, top
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.shelves import Held

Scores = NDArray[np.float32]
Mode = Literal["lexical", "vector", "hybrid"]

_MOST_LENT: Final = 1 + 2 * sum(LENT_SHARES) + LENT_SHARES[0]
"""So many times its own error may be what a slot's evidence is off by: two neighbours
on either side lend to it, and what stands at its own place."""
_LOOKED_AT: Final = 5
"""So many times as many as are wanted are compared by their vectors."""


class Request(NamedTuple):
    """A search, resolved: what to score by.

    Attributes:
        mode: What to rank by.
        words: The query as the scorer of words sees it.
        vector: The query's unit vector, `None` to go without.
        calibration: What cosines of its embedder mean, `None` if it was not measured.
    """

    mode: Mode
    words: Query
    vector: Scores | None
    calibration: Calibration | None = None


class Meaning(NamedTuple):
    """What cosines say, by slot.

    Attributes:
        own: Evidence of each cosine.
        lent: What neighbours lend, `None` if nothing has any.
        evidence: Both together, in [0, 1].
        reliability: How far it can be relied on, for all or for each.
        stretch: What their distance from 1 was multiplied by, to leave out what all
            cosines have in common.
        calibration: What they were read against, `None` if they count as they are.
        han_query: Whether the query holds Han characters.
    """

    own: Scores
    lent: Scores | None
    evidence: Scores
    reliability: float | Scores
    stretch: float
    calibration: Calibration | None
    han_query: bool


class Halves(NamedTuple):
    """By slot: the evidence of words, cosines, theirs, and what both are together."""

    words: WordScores | None
    similarity: Scores | None
    meaning: Meaning | None
    total: Scores


class Sharpened(NamedTuple):
    """Slots whose totals are exact, others being estimates.

    Attributes:
        slots: Which ones, ascending.
        totals: What each is ranked by.
    """

    slots: NDArray[np.int64]
    totals: Scores


def halves_of(
    shelf: Shelf[Held], request: Request, cosines: Scores | None, *, by_evidence: bool
) -> Halves:
    """Return what both halves say of a shelf's slots, and what they are together.

    Args:
        shelf: The index.
        request: What is looked for.
        cosines: Of its vector, by slot, `-inf` where there is none; `None` without.
        by_evidence: Whether both halves are evidence, which is added up.
    """
    words = None
    if (
        request.mode != "vector"
        or cosines is None
        or cosines.min(initial=0) == -np.inf  # what has no vector is found by words
    ):
        words = shelf.words(request.words)
    if cosines is None:
        meaning = None
    elif by_evidence:
        meaning = meaning_of(shelf, request, cosines)
    else:
        meaning = plain_meaning(cosines)
    lexical = np.zeros(0, np.float32) if words is None else words.scores
    labelled = None if words is None else words.matches.labelled()
    total = _total(request, lexical, cosines, meaning, labelled)
    return Halves(words, cosines, meaning, total)


def sharpened(  # noqa: PLR0913 - the last two are by name
    shelf: Shelf[Held],
    request: Request,
    halves: Halves,
    error: float,
    *,
    sure: int,
    linked: Sequence[int] = (),
) -> Sharpened | None:
    """Return the exact totals of the best, where cosines were estimated.

    The best by the estimates are compared by their vectors. That is enough if none of
    the others can reach the last that is wanted, however wrong its estimate.

    Args:
        shelf: The index.
        request: What is looked for.
        halves: What `halves_of` made of the estimates.
        error: By how much a cosine may be off.
        sure: How many of the best have to be exact.
        linked: Slots that have to be exact, too.

    Returns:
        Five times as many as are wanted; `None` if it would not be sure that the best
        are among them.
    """
    meaning, total, estimates = halves.meaning, halves.total, halves.similarity
    count = _LOOKED_AT * sure
    best = top(total, count)[:count]
    if len(best) < count:
        return None  # where few have a score at all, others may have one
    if meaning is None or estimates is None or request.vector is None:
        return None
    most = total[best[-1]]  # of those that are not looked at
    slots = np.sort(best)
    if linked:
        slots = np.union1d(best, np.array(linked, np.int64))
    compared = slots
    if len(shelf.places):
        compared = np.union1d(slots, shelf.places.around(slots, len(total)))
    exact_cosines = shelf.cosines_of(compared, request.vector)
    if not are_as_said(estimates[compared], exact_cosines, error):
        return None
    cosines = estimates.copy()
    cosines[compared] = exact_cosines
    near = _meaning_at(shelf, meaning, cosines, slots)
    lexical, labelled = np.zeros(0, np.float32), None
    if halves.words is not None:
        lexical = halves.words.scores[slots]
        marked = np.zeros(len(total), np.bool_)
        marked[halves.words.matches.labelled()] = True
        labelled = marked[slots].nonzero()[0]
    exact = _total(request, lexical, cosines[slots], near, labelled)
    wanted = np.partition(exact, len(exact) - sure)[len(exact) - sure]
    if len(shelf.places):
        error *= _MOST_LENT  # what lends to the others is off as well
    if wanted < most + _rise(meaning, request, float(most), error):
        return None
    return Sharpened(slots, exact)


def _rise(meaning: Meaning, request: Request, total: float, error: float) -> float:
    """Return by how much totals may grow with better known cosines.

    Args:
        meaning: What the cosines say so far.
        request: What is looked for.
        total: The greatest total.
        error: By how much a cosine may be off.
    """
    if meaning.calibration is None:
        return 1.0
    error *= meaning.stretch * (1 + request.words.formula.labelled)
    trust = 1.0
    if request.mode == "hybrid":
        trust = float(trusted(meaning.reliability, request.words.weights).max())

    def rise(evidence: float) -> float:
        slope = levels.steepest(min(evidence, 1.0), han_query=meaning.han_query)
        return trust * slope * error

    levels = meaning.calibration
    return rise((total + rise(1.0)) / trust)


def _total(
    request: Request,
    lexical: Scores,
    cosines: Scores | None,
    meaning: Meaning | None,
    labelled: NDArray[np.int64] | None,
) -> Scores:
    """Return what to rank by: for each slot, or for some of them, in all arguments."""
    if cosines is None or meaning is None:
        total = lexical
    elif request.mode == "hybrid" and meaning.calibration is not None:
        weights, trust = request.words.weights, meaning.reliability
        total = fused_evidence(lexical, meaning.evidence, trust, weights)
    elif request.mode == "hybrid":
        total = hybrid_scores(lexical, cosines)
    elif labelled is None:
        total = meaning.evidence
    else:  # what has no vector is found by its words
        total = np.where(np.isneginf(cosines), lexical, meaning.evidence)
    if labelled is not None and request.mode != "vector":
        total = with_labels(total, request.words.formula, labelled)
    return total


def plain_meaning(similarity: Scores) -> Meaning:
    """Return cosines as they are, cut to [0, 1]."""
    own = vector_scores(similarity)
    return Meaning(own, None, own, 1.0, 1.0, None, han_query=False)


def meaning_of(shelf: Shelf[Held], request: Request, similarity: Scores) -> Meaning:
    """Return the evidence of cosines, and how far it can be relied on.

    Args:
        shelf: The index.
        request: What is looked for.
        similarity: Cosines by slot, `-inf` where there is no vector.
    """
    calibration = request.calibration or Calibration.from_pool(similarity)
    han_query = has_han(request.words.text)
    stretch = calibration.stretch(similarity, han_query=han_query)
    return _read(shelf, calibration, similarity, stretch, han_query=han_query)


def _read(
    shelf: Shelf[Held],
    calibration: Calibration,
    similarity: Scores,
    stretch: float,
    *,
    han_query: bool,
) -> Meaning:
    """Return what the cosines of all slots say; arguments as in `Meaning`."""
    han = shelf.han()
    own = calibration.evidence(
        similarity, han_query=han_query, han_documents=han, stretch=stretch
    )
    lent, evidence = None, own
    if len(shelf.places):
        lendable = np.maximum(own - np.float32(BACKGROUND), 0)
        lent = shelf.places.lent(lendable, LENT_SHARES)
        evidence = own + lent
        np.minimum(evidence, 1, out=evidence)
    return Meaning(
        own,
        lent,
        evidence,
        calibration.reliability(han_query=han_query, han_documents=han),
        stretch,
        calibration,
        han_query,
    )


def _meaning_at(
    shelf: Shelf[Held], meaning: Meaning, cosines: Scores, slots: NDArray[np.int64]
) -> Meaning:
    """Return what better known cosines say of some slots.

    Args:
        shelf: The index.
        meaning: What was read of all, from estimates.
        cosines: Of all slots, well known for these and for what lends to them.
        slots: Which ones, shape (some,).
    """
    levels, han_query = meaning.calibration, meaning.han_query
    if levels is None:
        return plain_meaning(cosines[slots])
    if meaning.lent is not None:
        again = _read(shelf, levels, cosines, meaning.stretch, han_query=han_query)
        return _picked(again, slots)
    marks = shelf.han()
    han = marks if isinstance(marks, bool) else marks[slots]
    own = levels.evidence(
        cosines[slots],
        han_query=han_query,
        han_documents=han,
        stretch=meaning.stretch,
    )
    return _picked(meaning, slots)._replace(own=own, evidence=own)


def _picked(meaning: Meaning, slots: NDArray[np.int64]) -> Meaning:
    reliability = meaning.reliability
    if not isinstance(reliability, float):
        reliability = reliability[slots]
    return meaning._replace(
        own=meaning.own[slots],
        lent=None if meaning.lent is None else meaning.lent[slots],
        evidence=meaning.evidence[slots],
        reliability=reliability,
    )
