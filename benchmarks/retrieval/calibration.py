"""Does a score mean the same under every embedder? Pairs at a threshold; histograms."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.retrieval.contestants import Contestant
from benchmarks.retrieval.embedders import MODELS, CachedEmbeddings
from benchmarks.retrieval.engines import Engine
from benchmarks.retrieval.intervals import interval
from benchmarks.retrieval.own_set import Pair
from benchmarks.retrieval.running import Answer
from benchmarks.retrieval.sets import Memory, Question
from benchmarks.retrieval.summaries import percent

THRESHOLD: Final = 0.5
"""The threshold that should work with every embedder."""

BINS: Final = 20
"""Of histograms over scores in [0, 1]."""

_POOL: Final = "everyone"


def thresholds(
    pairs: Sequence[Pair],
    contestants: Sequence[Contestant],
    embedders: Mapping[str, CachedEmbeddings],
) -> Iterator[dict[str, Any]]:
    """Yield how many related and unrelated pairs a search at `THRESHOLD` returns.

    The first text of each pair is a memory, the second one the query. Once it is the
    only memory of its user (`"alone"`), and once all first texts are memories of one
    user (`"pool"`), where a pair is found if its own memory is among the results.
    Languages that the embedder was not made for are left out.

    Args:
        pairs: The pairs.
        contestants: Who is measured: ours.
        embedders: The embedders by name.
    """
    for contestant in contestants:
        name = contestant.embedder
        known = [
            p for p in pairs if name is None or p.language in MODELS[name].languages
        ]
        if name is not None:
            embedders[name].prepare(
                (pair.first for pair in known), (pair.second for pair in known)
            )
        engine = contestant.open(embedders[name] if name else None)
        try:
            _fill(engine, known)
            for place in ("alone", "pool"):
                scores = [_score(engine, contestant, p, place) for p in known]
                yield from _shares(contestant, place, known, scores)
        finally:
            engine.close()


def _fill(engine: Engine, pairs: Sequence[Pair]) -> None:
    memories = [Memory(pair.first, frozenset({_name(pair)})) for pair in pairs]
    engine.add(_POOL, memories)
    for pair, memory in zip(pairs, memories, strict=True):
        engine.add(_name(pair), [memory])


def _score(
    engine: Engine, contestant: Contestant, pair: Pair, place: str
) -> float | None:
    """Return the score of the pair's memory, `None` if the threshold drops it."""
    user = _POOL if place == "pool" else _name(pair)
    evidence = frozenset({_name(pair)})
    question = Question("", user, pair.second, "pair", evidence)
    options = {**contestant.options, "similarity_threshold": THRESHOLD}
    for hit in engine.search(question, 1000, options):
        if hit.ids & evidence:
            return hit.score
    return None


def _shares(
    contestant: Contestant,
    place: str,
    pairs: Sequence[Pair],
    scores: Sequence[float | None],
) -> Iterator[dict[str, Any]]:
    for language in ("all", *sorted({pair.language for pair in pairs})):
        chosen = [
            (pair.related, score is not None)
            for pair, score in zip(pairs, scores, strict=True)
            if language in ("all", pair.language)
        ]
        related = [kept for is_related, kept in chosen if is_related]
        others = [not kept for is_related, kept in chosen if not is_related]
        yield {
            "contestant": contestant.name,
            "place": place,
            "language": language,
            "related": len(related),
            "unrelated": len(others),
            "kept": percent(interval(related)),
            "rejected": percent(interval(others)),
        }


def histograms(
    set_name: str, by_contestant: Mapping[str, Sequence[Answer]]
) -> Iterator[dict[str, Any]]:
    """Yield how scores of right and of wrong results are spread, in `BINS` bins."""
    for name, answers in by_contestant.items():
        right: list[float] = []
        wrong: list[float] = []
        for answer in answers:
            for hit in answer.hits:
                found = right if hit.ids & answer.question.evidence else wrong
                found.append(hit.score)
        yield {
            "set": set_name,
            "contestant": name,
            "right": _histogram(right),
            "wrong": _histogram(wrong),
        }


def _histogram(scores: Sequence[float]) -> list[int]:
    counts, _ = np.histogram(np.clip(scores, 0, 1), bins=BINS, range=(0, 1))
    return [int(count) for count in counts]


def _name(pair: Pair) -> str:
    return f"{pair.first} | {pair.second}"
