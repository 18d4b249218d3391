"""The lexical score: BM25 shaped into [0, 1] by coverage, rarity and word order.

Here it is written over plain texts, one document after the other; `matches` has the
same arithmetic over the postings of a shelf.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_agentmemory.search.formula import Formula
from langchain_agentmemory.search.scripts import is_cjk, lower, phrase_text
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import Query, Tokenizer

if TYPE_CHECKING:
    from langchain_agentmemory.search.reference import ReferenceTokenizer


def reference_scores(
    query: str,
    documents: Sequence[tuple[str, str]],
    *,
    tokenizer: "ReferenceTokenizer | None" = None,
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
def _reference_tokenizer() -> "ReferenceTokenizer":
    from langchain_agentmemory.search.reference import (  # noqa: PLC0415 - rare
        ReferenceTokenizer,
    )

    return ReferenceTokenizer()


class PlainMatches(NamedTuple):
    """How documents fare with a query, without an index.

    Attributes:
        scores: The lexical score of each document, in [0, 1].
        matched: Which terms of the query each holds: bit *i* stands for term *i*.
        labelled: Whether the topics of each hold one of them.
        statistics: Of these documents, `None` without any.
    """

    scores: list[float]
    matched: list[int]
    labelled: list[bool]
    statistics: Statistics | None


def plain_scores(
    query: Query, documents: Sequence[tuple[str, str]], tokenizer: Tokenizer
) -> list[float]:
    """Return the lexical score of each document, word by word, without an index."""
    return plain_matches(query, documents, tokenizer).scores


def plain_matches(
    query: Query, documents: Sequence[tuple[str, str]], tokenizer: Tokenizer
) -> PlainMatches:
    """Look for a query in documents, word by word, without an index.

    Args:
        query: The query.
        documents: Content, and topics joined with one blank, of each.
        tokenizer: The one that made the query.
    """
    count = len(documents)
    if not query.text or not count:
        return PlainMatches([0.0] * count, [0] * count, [False] * count, None)
    fields = [
        (_PlainField(tokenizer, content), _PlainField(tokenizer, topics))
        for content, topics in documents
    ]
    in_topics = [_matched(query.words, topics) for _, topics in fields]
    matched = [
        bits | _matched(query.words, content)
        for bits, (content, _) in zip(in_topics, fields, strict=True)
    ]
    frequencies = tuple(
        sum(bits >> place & 1 for bits in matched) for place in range(len(query.words))
    )
    statistics = Statistics(
        count,
        frequencies,
        sum(content.length for content, _ in fields),
        sum(topics.length for _, topics in fields),
    )
    rarities = statistics.rarities()
    means = statistics.mean_lengths()
    scores = []
    for pair, document in zip(fields, documents, strict=True):
        parts = _parts(query, rarities, means, pair)
        scores.append(
            fallback_score(query, *document)
            if parts is None
            else min(sum(parts.values()) * query.emphasis, 1.0)
        )
    labelled = [bits > 0 for bits in in_topics]
    return PlainMatches(scores, matched, labelled, statistics)


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


def _matched(words: Sequence[str], field: _PlainField) -> int:
    """Return which words a field holds, as bits."""
    return sum(1 << place for place, word in enumerate(words) if word in field)


def explain_score(
    query: Query,
    statistics: Statistics,
    document: tuple[str, str],
    tokenizer: Tokenizer,
) -> dict[str, Any]:
    """Return how the lexical score of one document comes about.

    Args:
        query: The query.
        statistics: Of the corpus, for this query.
        document: Content, and topics joined with one blank.
        tokenizer: The one that made the query.

    Returns:
        `matched` and `missing` words of the query, each part's weighted share of the
        score (`coverage`, `rarity`, `strength`, `phrase`, or `substring` where no word
        matched), and their sum, `lexical`.
    """
    fields = (_PlainField(tokenizer, document[0]), _PlainField(tokenizer, document[1]))
    found = [word in fields[0] or word in fields[1] for word in query.words]
    parts = _parts(query, statistics.rarities(), statistics.mean_lengths(), fields)
    if parts is None:
        parts = {"substring": fallback_score(query, *document)}
    pairs = list(zip(query.words, found, strict=True))
    return {
        "matched": [word for word, is_found in pairs if is_found],
        "missing": [word for word, is_found in pairs if not is_found],
        **parts,
        "lexical": min(sum(parts.values()) * query.emphasis, 1.0),
    }


def _parts(
    query: Query,
    rarities: Sequence[float],
    means: tuple[float, float],
    fields: tuple[_PlainField, _PlainField],
) -> dict[str, float] | None:
    """Return the parts of one document's score, `None` if no token matches."""
    formula = query.formula
    content, topics = fields
    raw = covered = rareness = all_weights = all_rare = 0.0
    for word, weight, rarity in zip(query.words, query.weights, rarities, strict=True):
        rare = weight * rarity
        all_weights += weight
        all_rare += rare
        gain = content.saturated(word, means[0], formula)
        gain += formula.topics * topics.saturated(word, means[1], formula)
        if gain > 0:
            raw += rare * gain
            covered += weight
            rareness += rare
    if not covered:
        return None
    bound = rareness if formula.strength_of == "matched" else all_rare
    strength = min(raw / (bound * (formula.saturation + 1)), 1)
    return {
        "coverage": formula.coverage * covered / max(all_weights, formula.floor),
        "rarity": formula.rarity * rareness / max(all_rare, formula.floor),
        "strength": formula.strength * strength,
        "phrase": formula.phrase * _phrase(query, content, topics),
    }


def _phrase(query: Query, content: _PlainField, topics: _PlainField) -> float:
    """Return how much of the phrase bonus a document earns."""
    words = [query.words[index] for index in query.phrase]
    if len(words) < 2:  # noqa: PLR2004 - order needs two
        return 0.0
    if content.contains_in_order(words):
        return 1.0
    return query.formula.phrase_in_topics if topics.contains_in_order(words) else 0.0


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
