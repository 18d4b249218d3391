"""The gate: our own set may not get worse than the floors of `floors.json`.

The floors lie a little below what was measured when they were last set, in percent, by
mode, metric and type of question. Whoever improves the ranking raises them.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.retrieval.ablating import VERSION
from benchmarks.retrieval.contestants import Contestant, mode_name, ours
from benchmarks.retrieval.embedders import CachedEmbeddings
from benchmarks.retrieval.own_set import FOLDER, read_ours
from benchmarks.retrieval.running import Answer, run_set
from benchmarks.retrieval.sets import EvaluationSet
from benchmarks.retrieval.summaries import ALL

FLOORS: Final = Path(__file__).with_name("floors.json")


def gate(
    embedder: CachedEmbeddings | None = None,
    *,
    given: EvaluationSet | None = None,
    floors: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Measure our own set by words, and hybrid if there is an embedder.

    Args:
        embedder: An embedder to search by meaning with, beside the search by words.
        given: Another set than ours.
        floors: Other floors than those of `floors.json`.
        say: Where progress is told.

    Returns:
        What fell below its floor, a line each; nothing if all is well.
    """
    chosen = read_ours(FOLDER) if given is None else given
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
        answers = list(run_set(chosen, [contestant], embedders, say))
        failures += _failures(mode, answers, wanted.get(mode, {}))
    return failures


def _failures(
    mode: str, answers: list[Answer], floors: Mapping[str, Mapping[str, float]]
) -> Iterator[str]:
    groups: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[ALL].append(answer)
        groups[answer.question.kind].append(answer)
    for metric, kinds in floors.items():
        for kind, floor in kinds.items():
            values = list(_values(metric, groups[kind]))
            if not values:
                yield f"{mode}, {metric}, {kind}: the set has no such question"
            elif (found := 100 * fmean(values)) < floor:
                yield f"{mode}, {metric}, {kind}: {found:.1f} is below {floor}"


def _values(metric: str, answers: list[Answer]) -> Iterator[float]:
    for answer in answers:
        if metric != VERSION:
            yield answer.measures[metric]
        elif answer.right_version_first is not None:
            yield float(answer.right_version_first)
