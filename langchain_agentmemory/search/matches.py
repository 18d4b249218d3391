"""The lexical score over postings: the arithmetic of `lexical`, on whole arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.formula import Formula
from langchain_agentmemory.search.place import NEIGHBOUR_SHARES
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import Query

_SPARSE: Final = 64
"""What is sorted must be so many times shorter than what would be counted: sorting
takes much longer for each."""


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

    def terms_of(self, slots: Sequence[int], size: int) -> list[int]:
        """Return which terms occur in each of a few documents.

        Args:
            slots: The documents.
            size: Number of slots.

        Returns:
            For each document, a number whose bit *i* stands for term *i*.
        """
        wanted = np.zeros(size, np.bool_)
        wanted[slots] = True
        (found,) = wanted[self.slots].nonzero()
        bits = dict.fromkeys(slots, 0)
        pairs = zip(self.slots[found].tolist(), self.terms[found].tolist(), strict=True)
        for slot, term in pairs:
            bits[slot] |= 1 << term
        return [bits[slot] for slot in slots]

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
    formula, shares, rare, bound = _worth(query, statistics)
    gains = rare[matches.terms] * _saturated(formula, statistics, matches, lengths)
    terms, slots = matches.terms, matches.slots
    if matches.has_topics:
        terms, slots = terms[matches.first], slots[matches.first]
    scores = np.bincount(slots, shares[terms], minlength=size)
    hit = (scores != 0).nonzero()[0]
    gained = np.bincount(matches.slots, gains, minlength=size)[hit]
    if formula.strength_of == "matched":
        bound = np.bincount(slots, rare[terms], minlength=size)[hit]
    strength = np.minimum(gained / (bound * (formula.saturation + 1)), 1)
    return hit, scores[hit] + formula.strength * strength


def _worth(
    query: Query, statistics: Statistics
) -> tuple[Formula, NDArray[np.float64], NDArray[np.float64], float]:
    """Return what the terms of a query count.

    Returns:
        The formula; what each term adds to coverage and rarity together, which are
        sums over the matched terms; its weight times its rarity; the sum of these.
    """
    formula, weights = query.formula, query.weights
    rare = [w * r for w, r in zip(weights, statistics.rarities(), strict=True)]
    all_rare = sum(rare)
    covering = formula.coverage / max(sum(weights), formula.floor)
    telling = formula.rarity / max(all_rare, formula.floor)
    shares = [w * covering + r * telling for w, r in zip(weights, rare, strict=True)]
    return formula, np.array(shares), np.array(rare), all_rare


def score_neighbourhoods(
    query: Query,
    statistics: Statistics,
    matches: Matches,
    places: Places,
    of_slots: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Score every place by its words and those of its neighbours, as one text.

    The same parts as in `score_matches`. A neighbour's word counts as a fraction of a
    word; lengths play no part, topics neither.

    Args:
        query: The query.
        statistics: Of the whole corpus.
        matches: The postings of the query's terms in this shelf.
        places: Where the documents stand.
        of_slots: The place of each slot, see `Places.of_slots`.

    Returns:
        Shape (places + 1,): the last one, that of no place, is 0.
    """
    formula, shares, rare, bound = _worth(query, statistics)
    size = places.count + 1
    number = of_slots[matches.slots]
    terms, counts = matches.terms, matches.counts
    if matches.has_topics or len(places) < len(of_slots):
        counted = number < places.count
        if matches.has_topics:
            counted &= ~matches.in_topics
        number, terms, counts = number[counted], terms[counted], counts[counted]
    links, k = places.neighbours(), formula.saturation
    next_share, far_share = map(np.float32, NEIGHBOUR_SHARES)
    found = []
    for term in np.bincount(terms).nonzero()[0].tolist():
        (own,) = (terms == term).nonzero()
        here, amounts = number[own], counts[own]
        near = links[:, here].ravel()
        beside, far = next_share * amounts, far_share * amounts
        cells = np.concatenate((here, near))
        shared = np.concatenate((amounts, beside, beside, far, far))
        found.append((term, *_summed(cells, shared, size)))
    most: float | NDArray[np.float64] = bound * (k + 1)
    bounds = None
    if formula.strength_of == "matched":
        bounds = np.zeros(size)
        for term, place, _ in found:
            bounds[place] += rare[term]
    scores = np.zeros(size)
    for term, place, amount in found:
        if bounds is not None:
            most = bounds[place] * (k + 1)
        values = shares[term] * np.minimum(amount, 1)
        values += (
            formula.strength * rare[term] * amount * (k + 1) / ((amount + k) * most)
        )
        scores[place] += values
    scores[-1] = 0
    return scores


def _summed(
    cells: NDArray[np.int64], amounts: NDArray[np.float32], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the distinct cells, and the sum of the amounts of each.

    Args:
        cells: Numbers below `size`, some more than once.
        amounts: An amount for each, positive.
        size: How many cells there are.
    """
    if len(cells) * _SPARSE > size:
        sums = np.bincount(cells, amounts, minlength=size)
        (distinct,) = (sums != 0).nonzero()
        return distinct, sums[distinct]
    order = cells.argsort(kind="stable")
    ordered = cells[order]
    new = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    distinct = ordered[new]
    sums = np.bincount(new.cumsum() - 1, amounts[order])
    return distinct, np.asarray(sums, np.float64)


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
    per_token, least = np.float32(k * share / means[0]), np.float32(k * (1 - share))
    if len(slots) < lengths.shape[1]:
        norm = lengths[0][slots] * per_token + least
    else:
        norm = (lengths[0] * per_token + least)[slots]
    if not matches.has_topics:
        return np.asarray(counts * np.float32(k + 1) / (counts + norm), np.float32)
    topics = matches.in_topics
    of_topics = lengths[1, slots[topics]] * np.float32(k * share / means[1])
    norm[topics] = of_topics + least
    gain = counts * np.float32(k + 1) / (counts + norm)
    gain[topics] *= np.float32(formula.topics)
    return np.asarray(gain, np.float32)
