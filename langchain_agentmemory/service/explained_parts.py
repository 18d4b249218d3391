"""Parts of an explanation that take no index: what words and versions did."""

import re
from collections.abc import Sequence
from typing import Final

from langchain_agentmemory.explanation import (
    QueryWord,
    TimePart,
    VersionPart,
    WordParts,
)
from langchain_agentmemory.search.lexical import explain_score
from langchain_agentmemory.search.moments import TimePreference
from langchain_agentmemory.search.past import Standing
from langchain_agentmemory.search.settling import Settled, dated
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.timeliness import time_factor
from langchain_agentmemory.search.tokenize import Query, Tokenizer
from langchain_agentmemory.types import MemoryEntry

_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")


def query_words(
    query: Query,
    statistics: Statistics | None,
    texts: tuple[str, str],
    tokenizer: Tokenizer,
) -> tuple[QueryWord, ...]:
    """Return the words of a query, as one memory holds them.

    Args:
        query: The query.
        statistics: Of the corpus, `None` if words were not looked at.
        texts: The searched text and labels of the memory.
        tokenizer: The one that made the query.
    """
    content, labels = (
        {*field.primary, *field.extra} for field in map(tokenizer.field, texts)
    )
    rarities: Sequence[float | None] = [None] * len(query.words)
    if statistics is not None:
        rarities = statistics.rarities()
    typed = _typed(query.text, tokenizer)
    return tuple(
        QueryWord(
            word,
            weight,
            rarity,
            word in content or word in labels,
            word in labels,
            typed.get(word, word),
        )
        for word, weight, rarity in zip(
            query.words, query.weights, rarities, strict=True
        )
    )


def _typed(text: str, tokenizer: Tokenizer) -> dict[str, str]:
    """Return the words of a query as they were typed, by what they are looked for as.

    These are stems: "physic" of "physics". What a word has beside it, and what is made
    of several or of parts of one, stays as it is.
    """
    typed: dict[str, str] = {}
    for word in _PLAIN_WORD.findall(text.lower()):
        tokens = tokenizer.field(word).primary
        if len(tokens) == 1:
            typed.setdefault(tokens[0], word)
    return typed


def word_parts(  # noqa: PLR0913 - what one score depends on
    query: Query,
    statistics: Statistics,
    texts: tuple[str, str],
    tokenizer: Tokenizer,
    *,
    score: float,
    neighbours: float | None = None,
) -> WordParts:
    """Return the parts of a lexical score.

    Args:
        query: The query.
        statistics: Of the corpus, for this query.
        texts: The searched text and labels of the memory.
        tokenizer: The one that made the query.
        score: The lexical score that the memory got.
        neighbours: What its words and those around it are worth together, `None` if
            it stands in no conversation.
    """
    parts = explain_score(query, statistics, texts, tokenizer)
    return WordParts(
        coverage=parts.get("coverage", 0.0),
        rarity=parts.get("rarity", 0.0),
        strength=parts.get("strength", 0.0),
        phrase=parts.get("phrase", 0.0),
        # What a neighbour has raised is not looked for as it stands.
        substring=0.0 if neighbours else parts.get("substring", 0.0),
        neighbours=neighbours or 0.0,
        neighbour_weight=0.0 if neighbours is None else query.formula.neighbourhood,
        emphasis=query.emphasis,
        score=score,
    )


def time_part(preference: TimePreference, entry: MemoryEntry) -> TimePart:
    """Return what the time words of a query did to a result.

    Args:
        preference: What was read of them.
        entry: The result.
    """
    when, precision = dated(entry)
    start, end, happened = (
        None if moment is None else moment.isoformat()
        for moment in (preference.start, preference.end, when)
    )
    return TimePart(start, end, happened, time_factor(preference, when, precision))


def version_part(
    found: Settled,
    place: int,
    entry: MemoryEntry,
    keys: Sequence[str],
    standing: Standing,
) -> VersionPart | None:
    """Return what being a version did to a result, `None` if it is none.

    Args:
        found: What became of the scores of all results that were looked at.
        place: Which of them it is.
        entry: The result.
        keys: The ids of all of them.
        standing: Which version the query asks for.
    """
    group = next((group for group in found.groups if place in group), [])
    others = [keys[other] for other in group if other != place]
    links = {*entry.supersedes, entry.superseded_by} - {None, *others}
    linked = [] if standing == "both" else [key for key in keys if key in links]
    certain = {*entry.supersedes, entry.superseded_by}.intersection(keys)
    over = place in found.over
    if not others and not linked and not over:
        return None
    return VersionPart(
        first="oldest" if standing == "past" else "newest",
        others=(*others, *linked),
        linked=bool(certain),
        before=found.timed[place],
        after=found.final[place],
        over=over,
    )
