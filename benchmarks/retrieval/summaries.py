"""From answers to the numbers of the report."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.retrieval.contestants import Contestant
from benchmarks.retrieval.intervals import Interval, difference, interval
from benchmarks.retrieval.metrics import METRICS
from benchmarks.retrieval.running import Answer
from benchmarks.retrieval.sets import EvaluationSet

ALL: Final = "all"
"""The kind that stands for all questions that count."""

COMPARED: Final = ("recall@10", "recall@30", "ndcg@10")
"""What pairs of rankings are compared by."""

PERCENT: Final = 100.0


def rows(
    given: EvaluationSet, by_contestant: Mapping[str, Sequence[Answer]]
) -> Iterator[dict[str, Any]]:
    """Yield the metrics of each contestant, over all that counts and per kind.

    Percentages (all metrics) as `[mean, low, high]` of a 95 % interval.
    """
    for name, answers in by_contestant.items():
        groups: dict[str, list[Answer]] = defaultdict(list)
        for answer in answers:
            kind = answer.question.kind
            if kind not in given.uncounted:
                groups[ALL].append(answer)
            groups[kind].append(answer)
        for kind, group in groups.items():
            yield {
                "set": given.name,
                "contestant": name,
                "kind": kind,
                "questions": len(group),
                **{
                    metric: percent(interval([a.measures[metric] for a in group]))
                    for metric in METRICS
                },
            }


def updates(
    given: EvaluationSet, by_contestant: Mapping[str, Sequence[Answer]]
) -> Iterator[dict[str, Any]]:
    """Yield how often the newer, and the older, version stood above the other."""
    for name, answers in by_contestant.items():
        asking = [answer for answer in answers if answer.question.update is not None]
        groups: dict[str, list[Answer]] = {ALL: asking} if asking else {}
        for answer in asking:
            assert answer.question.update is not None
            groups.setdefault(answer.question.update.asks, []).append(answer)
        for asks, group in groups.items():
            yield {
                "set": given.name,
                "contestant": name,
                "asks": asks,
                "questions": len(group),
                "newer_first": percent(interval([bool(a.newer_first) for a in group])),
                "older_first": percent(interval([bool(a.older_first) for a in group])),
            }


def differences(
    given: EvaluationSet,
    contestants: Iterable[Contestant],
    by_contestant: Mapping[str, Sequence[Answer]],
) -> Iterator[dict[str, Any]]:
    """Yield paired differences of hybrid search to both of its halves."""
    for first, second in _pairs(list(contestants)):
        if first not in by_contestant or second not in by_contestant:
            continue
        ours, theirs = (
            [a for a in by_contestant[name] if a.question.kind not in given.uncounted]
            for name in (first, second)
        )
        yield {
            "set": given.name,
            "contestant": first,
            "other": second,
            "questions": len(ours),
            **{
                metric: percent(
                    difference(
                        [answer.measures[metric] for answer in ours],
                        [answer.measures[metric] for answer in theirs],
                    )
                )
                for metric in COMPARED
            },
        }


def _pairs(contestants: Sequence[Contestant]) -> Iterator[tuple[str, str]]:
    ours = [c for c in contestants if c.family == "ours"]
    for hybrid in ours:
        if hybrid.mode == "hybrid":
            for half in ours:
                if half.mode == "lexical" or (
                    half.mode == "vector" and half.embedder == hybrid.embedder
                ):
                    yield hybrid.name, half.name


def percent(found: Interval) -> list[float]:
    """Return an interval of shares in percent, to two decimals."""
    return [round(value, 2) for value in found.times(PERCENT)]
