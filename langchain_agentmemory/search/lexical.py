"""The lexical score: BM25 shaped into [0, 1] by coverage, rarity and word order.

`reference_scores` says what the score is, over plain texts. `score_matches` is the same
arithmetic over the postings of a shelf.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.formula import Formula
from langchain_agentmemory.search.reference import ReferenceTokenizer
from langchain_agentmemory.search.scripts import is_cjk, lower, phrase_text
from langchain_agentmemory.search.tokenize import Query, Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """What a score needs to know of the whole corpus. Corpora add up with `+`.

    Attributes:
        documents: How many documents there are.
        frequencies: In how many of them each term of the query occurs, int64.
        content_length: Sum of their content lengths, in tokens.
        topics_length: Sum of their topics' lengths, in tokens.
    """

    documents: int
    frequencies: NDArray[np.int64]
    content_length: int
    topics_length: int

    def __add__(self, other: "Statistics") -> "Statistics":
        """Return the statistics of both corpora together, for the same query."""
        return Statistics(
            self.documents + other.documents,
            self.frequencies + other.frequencies,
            self.content_length + other.content_length,
            self.topics_length + other.topics_length,
        )

    def rarities(self) -> NDArray[np.float64]:
        """Return each term's inverse document frequency; always positive."""
        frequencies = self.frequencies
        return np.log1p((self.documents - frequencies + 0.5) / (frequencies + 0.5))

    def mean_lengths(self) -> tuple[float, float]:
        """Return the mean content and topics lengths, at least 1 each."""
        count = max(self.documents, 1)
        return max(self.content_length / count, 1), max(self.topics_length / count, 1)


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
    formula, weights = query.formula, query.weights
    rare = weights * statistics.rarities()
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


def reference_scores(
    query: str,
    documents: Sequence[tuple[str, str]],
    *,
    tokenizer: ReferenceTokenizer | None = None,
) -> list[float]:
    """Return the reference score of each document, the documents being the corpus.

    Args:
        query: The query; blank means that nothing is relevant.
        documents: Content and topics (joined with one blank) of each.
        tokenizer: Another instance, for example with its own segmenter.
    """
    tokenizer = tokenizer or _reference_tokenizer()
    return plain_scores(tokenizer.query(query), documents, tokenizer)


@cache
def _reference_tokenizer() -> ReferenceTokenizer:
    return ReferenceTokenizer()


def plain_scores(
    query: Query, documents: Sequence[tuple[str, str]], tokenizer: Tokenizer
) -> list[float]:
    """Return the lexical score of each document, word by word, without an index."""
    if not query.text:
        return [0.0] * len(documents)
    fields = [
        (_PlainField(tokenizer, content), _PlainField(tokenizer, topics))
        for content, topics in documents
    ]
    frequencies = [
        sum(1 for content, topics in fields if word in content or word in topics)
        for word in query.words
    ]
    statistics = Statistics(
        len(documents),
        np.array(frequencies, np.int64),
        sum(content.length for content, _ in fields),
        sum(topics.length for _, topics in fields),
    )
    rarities = statistics.rarities().tolist()
    means = statistics.mean_lengths()
    return [
        _plain_score(query, rarities, means, pair) or fallback_score(query, *document)
        for pair, document in zip(fields, documents, strict=True)
    ]


class _PlainField:
    """Counts of one field of one document."""

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        tokens = tokenizer.field(text)
        self.order = tokens.primary
        self.counts = Counter(tokens.primary)
        self.counts.update(tokens.extra)
        self.length = self.counts.total()

    def __contains__(self, word: str) -> bool:
        return word in self.counts

    def contains_in_order(self, words: Sequence[str]) -> bool:
        rest = iter(self.order)
        return all(word in rest for word in words)

    def saturated(self, word: str, mean: float, formula: Formula) -> float:
        count = self.counts[word]
        share, k = formula.length_share, formula.saturation
        norm = k * (1 - share + share * self.length / mean)
        return count * (k + 1) / (count + norm) if count else 0.0


def _plain_score(
    query: Query,
    rarities: Sequence[float],
    means: tuple[float, float],
    fields: tuple[_PlainField, _PlainField],
) -> float:
    """Score one document by its matching tokens; 0 when there are none."""
    formula = query.formula
    content, topics = fields
    raw = covered = rareness = all_weights = all_rare = 0.0
    for word, weight, rarity in zip(query.words, query.weights, rarities, strict=True):
        rare = float(weight) * rarity
        all_weights += float(weight)
        all_rare += rare
        gain = content.saturated(word, means[0], formula)
        gain += formula.topics * topics.saturated(word, means[1], formula)
        if gain > 0:
            raw += rare * gain
            covered += float(weight)
            rareness += rare
    if not covered:
        return 0.0
    bound = rareness if formula.strength_of == "matched" else all_rare
    bound *= formula.saturation + 1
    words = [query.words[index] for index in query.phrase]
    phrase = 0.0
    if len(words) > 1 and content.contains_in_order(words):
        phrase = 1.0
    elif len(words) > 1 and topics.contains_in_order(words):
        phrase = formula.phrase_in_topics
    return min(
        formula.coverage * covered / max(all_weights, formula.floor)
        + formula.rarity * rareness / max(all_rare, formula.floor)
        + formula.strength * min(raw / bound, 1)
        + formula.phrase * phrase,
        1.0,
    )


def fallback_score(query: Query, content: str, topics: str) -> float:
    """Return the score of a document that no token matched but may hold the text."""
    fallback = query.fallback
    if fallback is None:
        return 0.0
    for needle, fold in ((fallback.raw, lower), (fallback.normalized, phrase_text)):
        if needle:
            if needle in fold(content):
                return query.formula.substring
            if needle in fold(topics):
                return query.formula.substring_in_topics
    return 0.0


def text_probe(query: Query) -> Callable[[tuple[str, str]], bool]:
    """Return a cheap test that texts pass in which the fallback may find something.

    Normalising every text would cost far more than looking for the longest part of the
    query first, which stands in the text as it is.
    """
    fallback = query.fallback
    if fallback is None:
        return lambda _: False
    if fallback.raw or not fallback.normalized:
        return lambda _: True
    part = max(fallback.normalized.split(), key=len)
    if is_cjk(part):  # No case to fold.
        return lambda texts: part in texts[0] or part in texts[1]
    return lambda texts: part in lower(texts[0]) or part in lower(texts[1])
