"""A run: read the sets, let everyone answer, sum up."""

import contextlib
import json
import platform
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from benchmarks.retrieval.ablating import ablations, pairs_without
from benchmarks.retrieval.calibration import histograms, thresholds
from benchmarks.retrieval.contestants import Contestant, contestants, not_run
from benchmarks.retrieval.embedders import MODELS, CachedEmbeddings
from benchmarks.retrieval.locomo import read_locomo
from benchmarks.retrieval.longmemeval import read_longmemeval, rewritten
from benchmarks.retrieval.madial import read_madial
from benchmarks.retrieval.own_set import Pair, read_ours, read_pairs, read_rewrites
from benchmarks.retrieval.running import Answer, Say, details, run_set
from benchmarks.retrieval.sets import EvaluationSet
from benchmarks.retrieval.summaries import differences, rows, updates

PARTS: Final = ("contestants", "ablations")
"""What can be measured by itself; the results of both belong into one report."""


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        locomo: A LoCoMo file.
        longmemeval: A file of LongMemEval's evidence.
        madial: The folder of MADial-Bench's files.
        ours: The folder of our own set.
        embedders: Names of embedders.
        sets: Names of sets, all that are there if empty.
        contestants: Parts of names, everyone if empty.
        cache: Where vectors are kept.
        details: Where every answer goes, if anywhere.
        parts: What is measured of `PARTS`.
        only_kept: Leave out sets of which an embedder has no vectors yet.
    """

    locomo: Path | None
    longmemeval: Path | None
    madial: Path | None
    ours: Path
    embedders: tuple[str, ...]
    sets: tuple[str, ...]
    contestants: tuple[str, ...]
    cache: Path
    details: Path | None = None
    parts: tuple[str, ...] = PARTS
    only_kept: bool = False

    def chosen(self) -> list[Contestant]:
        """Return who takes part."""
        everyone = contestants(self.embedders)
        wanted = self.contestants
        return [c for c in everyone if not wanted or any(w in c.name for w in wanted)]

    def read(self) -> Iterator[EvaluationSet]:
        """Yield the sets."""
        for found in self._all_sets():
            if not self.sets or found.name in self.sets:
                yield found

    def _all_sets(self) -> Iterator[EvaluationSet]:
        if self.locomo is not None:
            yield read_locomo(self.locomo)
            yield read_locomo(self.locomo, facts=True)
        if self.longmemeval is not None:
            pool = read_longmemeval(self.longmemeval)
            yield pool
            yield rewritten(pool, read_rewrites(self.ours))
        if self.madial is not None:
            yield from read_madial(self.madial)
        yield read_ours(self.ours)


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Run all of it; return the results as JSON.

    Args:
        plan: What is measured.
        say: Where progress is told.

    Returns:
        What belongs to the parts that were measured, and nothing else.
    """
    embedders = {
        name: CachedEmbeddings(name, plan.cache, say) for name in plan.embedders
    }
    found: dict[str, Any] = {}
    if "contestants" in plan.parts:
        found |= _contestants(plan, embedders, say)
    if "ablations" in plan.parts:
        found |= _ablations(plan, embedders, say)
    for embedder in embedders.values():
        embedder.save()
    return found


def _ablations(
    plan: Plan, embedders: Mapping[str, CachedEmbeddings], say: Say
) -> dict[str, Any]:
    started = time.perf_counter()
    found: dict[str, Any] = {"ablations": [], "ablation_pairs": []}
    for given in plan.read():
        usable = _usable_of_set(plan, given, embedders)
        found["ablations"] += ablations([given], usable, say)
    if not plan.sets:
        pairs = read_pairs(plan.ours)
        usable = _usable_of_pairs(plan, pairs, embedders)
        found["ablation_pairs"] += pairs_without(pairs, usable)
    found["ablation_seconds"] = round(time.perf_counter() - started, 1)
    return found


def _usable(
    plan: Plan,
    documents: Iterable[str],
    queries: Iterable[str],
    embedders: Mapping[str, CachedEmbeddings],
) -> dict[str, CachedEmbeddings]:
    """Return the embedders that are to be asked about these texts."""
    texts = list(documents), list(queries)
    return {
        name: embedder
        for name, embedder in embedders.items()
        if not plan.only_kept or embedder.knows(*texts)
    }


def _usable_of_set(
    plan: Plan, given: EvaluationSet, embedders: Mapping[str, CachedEmbeddings]
) -> dict[str, CachedEmbeddings]:
    queries = (question.text for question in given.questions)
    return _usable(plan, given.texts(), queries, embedders)


def _usable_of_pairs(
    plan: Plan, pairs: Sequence[Pair], embedders: Mapping[str, CachedEmbeddings]
) -> dict[str, CachedEmbeddings]:
    firsts, seconds = (pair.first for pair in pairs), (pair.second for pair in pairs)
    return _usable(plan, firsts, seconds, embedders)


def _contestants(
    plan: Plan, embedders: Mapping[str, CachedEmbeddings], say: Say
) -> dict[str, Any]:
    started = time.perf_counter()
    taking_part = plan.chosen()
    found: dict[str, Any] = {
        "embedders": {name: MODELS[name].title for name in plan.embedders},
        "contestants": [
            {
                "name": contestant.name,
                "family": contestant.family,
                "mode": contestant.mode,
                "embedder": contestant.embedder,
            }
            for contestant in taking_part
        ],
        "not_run": list(not_run(plan.embedders)),
        "versions": _versions(),
        "sets": [],
        "rows": [],
        "updates": [],
        "differences": [],
        "calibration": [],
        "thresholds": [],
    }
    if plan.details is not None:
        plan.details.parent.mkdir(parents=True, exist_ok=True)
        plan.details.write_text("", encoding="utf-8")
    for given in plan.read():
        answers: dict[str, list[Answer]] = defaultdict(list)
        usable = _usable_of_set(plan, given, embedders)
        able = [c for c in taking_part if c.embedder is None or c.embedder in usable]
        for answer in run_set(given, able, usable, say):
            answers[answer.contestant].append(answer)
        found["sets"].append(
            {
                "name": given.name,
                "title": given.title,
                "users": len(given.memories),
                "memories": len(given),
                "questions": len(given.questions),
                "uncounted": sorted(given.uncounted),
            }
        )
        found["rows"] += rows(given, answers)
        found["updates"] += updates(given, answers)
        found["differences"] += differences(given, able, answers)
        own = {c.name: answers[c.name] for c in able if c.family == "ours"}
        found["calibration"] += histograms(given.name, own)
        if plan.details is not None:
            with plan.details.open("a", encoding="utf-8") as file:
                for group in answers.values():
                    for line in details(group):
                        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    if not plan.sets:
        say("pairs of texts at the threshold")
        pairs = read_pairs(plan.ours)
        usable = _usable_of_pairs(plan, pairs, embedders)
        measured = [
            c
            for c in taking_part
            if c.family == "ours" and c.embedder in {None, *usable}
        ]
        found["thresholds"] += thresholds(pairs, measured, usable)
    found["seconds"] = round(time.perf_counter() - started, 1)
    return found


def _versions() -> str:
    """Return which Python and which packages ran."""
    names = ("langgraph-checkpoint", "numpy", "jieba", "rank-bm25", "bm25s")
    found = [f"Python {platform.python_version()}"]
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return ", ".join(found)
