"""The gate: our own set may not get worse than the floors of `floors.json`.

The floors lie a little below what was measured when they were last set, in percent, by
mode, metric and type of question. Whoever improves the ranking raises them.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.retrieval.ablating import VERSION
from benchmarks.retrieval.calibration import thresholds
from benchmarks.retrieval.contestants import Contestant, mode_name, ours
from benchmarks.retrieval.embedders import CachedEmbeddings
from benchmarks.retrieval.own_set import FOLDER, Pair, read_ours, read_pairs
from benchmarks.retrieval.running import Answer, run_set
from benchmarks.retrieval.sets import EvaluationSet
from benchmarks.retrieval.summaries import ALL

FLOORS: Final = Path(__file__).with_name("floors.json")

KEPT: Final = "paraphrases kept"
REJECTED: Final = "unrelated rejected"
"""Shares of pairs at the threshold, by where the first text is: see `thresholds`."""


def gate(
    embedder: CachedEmbeddings | None = None,
    *,
    given: EvaluationSet | None = None,
    pairs: Sequence[Pair] = (),
    floors: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Measure our own set and pairs by words, and hybrid if there is an embedder.

    Args:
        embedder: An embedder to search by meaning with, beside the search by words.
        given: Another set than ours.
        pairs: The pairs of texts that belong to it.
        floors: Other floors than those of `floors.json`.
        say: Where progress is told.

    Returns:
        What fell below its floor, a line each; nothing if all is well.
    """
    chosen = read_ours(FOLDER) if given is None else given
    asked = read_pairs(FOLDER) if given is None else pairs
    wanted = (
        json.loads(FLOORS.read_text(encoding="utf-8")) if floors is None else floors
    )
    failures: list[str] = []
    for mode in ("lexical",) if embedder is None else ("lexical", "hybrid"):
        name = None if mode == "lexical" else (embedder.name if embedder else None)
        contestant = Contestant(
            mode_name(mode, name), "ours", ours, name, {"mode": mode}
        )
        embedders = {embedder.name: embedder} if embedder else {}
        found = _means(run_set(chosen, [contestant], embedders, say))
        for row in thresholds(asked, [contestant], embedders) if asked else ():
            if row["language"] == ALL:
                found[KEPT, row["place"]] = row["kept"][0]
                found[REJECTED, row["place"]] = row["rejected"][0]
        failures += _failures(mode, found, wanted.get(mode, {}))
    return failures


def _means(answers: Iterable[Answer]) -> dict[tuple[str, str], float]:
    """Return the mean of each metric and type of question, in percent."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for answer in answers:
        measures = dict(answer.measures)
        if answer.right_version_first is not None:
            measures[VERSION] = float(answer.right_version_first)
        for metric, value in measures.items():
            for kind in (ALL, answer.question.kind):
                values[metric, kind].append(100 * value)
    return {place: fmean(group) for place, group in values.items()}


def _failures(
    mode: str,
    found: Mapping[tuple[str, str], float],
    floors: Mapping[str, Mapping[str, float]],
) -> Iterator[str]:
    for metric, kinds in floors.items():
        for kind, floor in kinds.items():
            mean = found.get((metric, kind))
            if mean is None:
                yield f"{mode}, {metric}, {kind}: the set has no such question"
            elif mean < floor:
                yield f"{mode}, {metric}, {kind}: {mean:.1f} is below {floor}"
