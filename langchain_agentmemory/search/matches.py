"""The lexical score over postings: the arithmetic of `lexical`, on whole arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.formula import Formula
from langchain_agentmemory.search.place import NEIGHBOUR_SHARES
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import Query


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Where the terms of a query occur: parallel arrays, one element per posting.

    A posting is one term in one field of one document.

    Attributes:
        terms: Index of the term in the query.
        slots: The document.
        in_topics: Whether it is in the topics, else in the content.
        first: Whether it is the term's first posting in this document.
        counts: How often the term occurs there.
        has_topics: Whether any posting is in the topics.
    """

    terms: NDArray[np.int64]
    slots: NDArray[np.int64]
    in_topics: NDArray[np.bool_]
    first: NDArray[np.bool_]
    counts: NDArray[np.float32]
    has_topics: bool

    def keep(self, mask: NDArray[np.bool_]) -> "Matches":
        """Return the postings that the mask selects."""
        return Matches(
            self.terms[mask],
            self.slots[mask],
            self.in_topics[mask],
            self.first[mask],
            self.counts[mask],
            self.has_topics,
        )

    def labelled(self) -> NDArray[np.int64]:
        """Return the slots whose topics hold a term, some more than once."""
        return self.slots[self.in_topics] if self.has_topics else self.slots[:0]

    def terms_of(self, slot: int) -> int:
        """Return which terms occur in a document: bit *i* stands for term *i*."""
        return sum(1 << term for term in set(self.terms[self.slots == slot].tolist()))

    def frequencies(self, terms: int) -> NDArray[np.int64]:
        """Return in how many documents each of the query's terms occurs."""
        firsts = self.terms[self.first] if self.has_topics else self.terms
        return np.bincount(firsts, minlength=terms)


def score_matches(
    query: Query,
    statistics: Statistics,
    matches: Matches,
    lengths: NDArray[np.float32],
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Score the documents in which at least one term matched, without word order.

    Args:
        query: The query.
        statistics: Of the whole corpus.
        matches: The postings of the query's terms in this shelf.
        lengths: Field lengths by slot, shape (2, slots): content, then topics.
        size: Number of slots.

    Returns:
        The slots of those documents, ascending, and their scores.
    """
    formula, weights = query.formula, np.array(query.weights)
    rare = weights * np.array(statistics.rarities())
    gains = rare[matches.terms] * _saturated(formula, statistics, matches, lengths)
    # Coverage and rarity are sums over the matched terms: one sum does for both.
    shares = weights * (formula.coverage / max(weights.sum(), formula.floor))
    shares += rare * (formula.rarity / max(rare.sum(), formula.floor))
    terms, slots = matches.terms, matches.slots
    if matches.has_topics:
        terms, slots = terms[matches.first], slots[matches.first]
    scores = np.bincount(slots, shares[terms], minlength=size)
    hit = np.flatnonzero(scores)
    gained = np.bincount(matches.slots, gains, minlength=size)[hit]
    if formula.strength_of == "matched":
        bound = np.bincount(slots, rare[terms], minlength=size)[hit]
    else:
        bound = rare.sum()
    strength = np.minimum(gained / (bound * (formula.saturation + 1)), 1)
    return hit, scores[hit] + formula.strength * strength


def score_neighbourhoods(
    query: Query, statistics: Statistics, matches: Matches, places: Places
) -> NDArray[np.float64]:
    """Score every place by its words and those of its neighbours, as one text.

    The same parts as in `score_matches`. A neighbour's word counts as a fraction of a
    word; lengths play no part, topics neither.

    Args:
        query: The query.
        statistics: Of the whole corpus.
        matches: The postings of the query's terms in this shelf.
        places: Where the documents stand.

    Returns:
        Shape (places + 1,): the last one, that of no place, is 0.
    """
    formula, weights = query.formula, np.array(query.weights)
    rare = weights * np.array(statistics.rarities())
    size = places.count + 1
    number = places.of_slots(int(matches.slots.max(initial=0)) + 1)[matches.slots]
    counted = number < places.count
    if matches.has_topics:
        counted &= ~matches.in_topics
    number = number[counted]
    terms, counts = matches.terms[counted], matches.counts[counted]
    near = places.neighbours()[:, number]
    next_share, far_share = NEIGHBOUR_SHARES
    cells = np.concatenate((number[None], near)) + terms * size
    amounts = np.multiply.outer(
        np.array((1, next_share, next_share, far_share, far_share), np.float32), counts
    )
    found = np.bincount(cells.ravel(), amounts.ravel(), minlength=len(weights) * size)
    cell = np.flatnonzero(found)
    term, place, amount = cell // size, cell % size, found[cell]
    k = formula.saturation
    bound = rare.sum() * (k + 1)
    if formula.strength_of == "matched":
        bound = np.bincount(place, rare[term], minlength=size)[place] * (k + 1)
    shares = weights * (formula.coverage / max(weights.sum(), formula.floor))
    shares += rare * (formula.rarity / max(rare.sum(), formula.floor))
    values = shares[term] * np.minimum(amount, 1)
    values += formula.strength * rare[term] * amount * (k + 1) / ((amount + k) * bound)
    scores = np.asarray(np.bincount(place, values, minlength=size), np.float64)
    scores[-1] = 0
    return scores


def _saturated(
    formula: Formula,
    statistics: Statistics,
    matches: Matches,
    lengths: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return BM25's saturated term frequency of each posting, topics discounted."""
    k, share = formula.saturation, formula.length_share
    means = statistics.mean_lengths()
    counts, slots = matches.counts, matches.slots
    norms = lengths[0] * np.float32(k * share / means[0]) + np.float32(k * (1 - share))
    norm = norms[slots]
    if not matches.has_topics:
        return np.asarray(counts * np.float32(k + 1) / (counts + norm), np.float32)
    topics = matches.in_topics
    of_topics = lengths[1, slots[topics]] * np.float32(k * share / means[1])
    norm[topics] = of_topics + np.float32(k * (1 - share))
    gain = counts * np.float32(k + 1) / (counts + norm)
    gain[topics] *= np.float32(formula.topics)
    return np.asarray(gain, np.float32)
