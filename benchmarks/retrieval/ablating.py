"""Measuring ablations: each next to today's ranking, over the same questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from benchmarks.retrieval.ablations import ABLATIONS, Ablation
from benchmarks.retrieval.calibration import thresholds
from benchmarks.retrieval.changing import applied
from benchmarks.retrieval.contestants import Contestant, mode_name, ours
from benchmarks.retrieval.embedders import CachedEmbeddings
from benchmarks.retrieval.engines import Engine
from benchmarks.retrieval.intervals import difference, interval
from benchmarks.retrieval.own_set import Pair
from benchmarks.retrieval.running import Answer, Say, ask, filled
from benchmarks.retrieval.sets import EvaluationSet
from benchmarks.retrieval.summaries import ALL, percent

MAIN: Final = "use"
"""The embedder of hybrid search, of ablations that are not `thorough`."""

_HYBRID: Final = {"mode": "hybrid"}

METRICS: Final = ("recall@10", "hit@1", "mrr")

VERSION: Final = "right version first"
"""The version that an update question asks for is above the other."""


def ablations(
    sets: Iterable[EvaluationSet],
    embedders: Mapping[str, CachedEmbeddings],
    say: Say,
    *,
    chosen: Sequence[Ablation] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield what became of each metric without an ingredient, and by how much.

    Args:
        sets: The sets.
        embedders: The embedders by name.
        say: Where progress is told.
        chosen: The ablations, all if not given.
    """
    chosen = ABLATIONS if chosen is None else chosen
    for given in sets:
        given = _counted(given)  # noqa: PLW2901 - the others are never summed up
        for embedder in (None, *embedders):
            mode = "lexical" if embedder is None else "hybrid"
            wanted = [a for a in chosen if _concerns(a, given.name, mode, embedder)]
            if not wanted:
                continue
            model = None if embedder is None else embedders[embedder]
            if model is not None:
                model.prepare(given.texts(), [q.text for q in given.questions])
            name = mode_name(mode, embedder)
            full = Contestant(name, "ours", ours, embedder, {"mode": mode})
            with filled(given, ours, model) as engine:
                base = list(ask(given, full, engine))
                changed = {
                    ablation.name: _asked(given, full, ablation, engine)
                    for ablation in wanted
                    if not (ablation.stored or ablation.open)
                }
            for ablation in wanted:
                answers = changed.get(ablation.name)
                if answers is None:
                    with (
                        applied(ablation.changes),
                        filled(given, ablation.open or ours, model) as engine,
                    ):
                        answers = list(ask(given, full, engine))
                say(f"{given.name}: {name}, without {ablation.name}")
                for kind in (ALL, *(ablation.kinds if given.name == "ours" else ())):
                    found = _row(kind, base, answers)
                    if found:
                        yield {
                            "group": ablation.group,
                            "ablation": ablation.name,
                            "set": given.name,
                            "embedder": embedder,
                            "kind": kind,
                            **found,
                        }


def pairs_without(
    pairs: Sequence[Pair],
    embedders: Mapping[str, CachedEmbeddings],
    *,
    chosen: Sequence[Ablation] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield what `thresholds` does, of the ablations that are `thorough`."""
    for name in embedders:
        for ablation in ABLATIONS if chosen is None else chosen:
            if ablation.thorough:
                changed = Contestant(
                    ablation.name, "ours", ablation.open or ours, name, _HYBRID
                )
                with applied(ablation.changes):
                    rows = list(thresholds(pairs, [changed], embedders))
                for row in rows:
                    if row["language"] == ALL:
                        yield {**row, "ablation": ablation.name, "embedder": name}


def _asked(
    given: EvaluationSet, contestant: Contestant, ablation: Ablation, engine: Engine
) -> list[Answer]:
    with applied(ablation.changes):
        return list(ask(given, contestant, engine))


def _counted(given: EvaluationSet) -> EvaluationSet:
    kept = [q for q in given.questions if q.kind not in given.uncounted]
    return replace(given, questions=kept)


def _concerns(
    ablation: Ablation, set_name: str, mode: str, embedder: str | None
) -> bool:
    if mode not in ablation.modes or set_name not in ablation.sets:
        return False
    return embedder in (None, MAIN) or ablation.thorough


def _row(
    kind: str, base: Sequence[Answer], changed: Sequence[Answer]
) -> dict[str, Any] | None:
    pairs = [
        (before, after)
        for before, after in zip(base, changed, strict=True)
        if kind in (ALL, before.question.kind)
    ]
    if not pairs:
        return None
    found: dict[str, Any] = {"questions": len(pairs)}
    for metric in METRICS:
        found[metric] = _effect(
            [
                (before.measures[metric], after.measures[metric])
                for before, after in pairs
            ]
        )
    versions = [
        (float(before.right_version_first), float(after.right_version_first))
        for before, after in pairs
        if before.right_version_first is not None
        and after.right_version_first is not None
    ]
    if versions:
        found[VERSION] = _effect(versions)
    return found


def _effect(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return the mean with the ingredient, and what is lost or won without it."""
    full, without = zip(*pairs, strict=True)
    return {
        "full": percent(interval(full))[0],
        "change": percent(difference(without, full)),
    }
