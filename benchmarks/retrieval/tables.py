"""Tables of results as Markdown, for the console and the report."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.common.markdown import NONE, table
from benchmarks.retrieval.goals import goals
from benchmarks.retrieval.summaries import ALL

_SHOWN: Final = (
    "recall@5",
    "recall@10",
    "recall@20",
    "recall@30",
    "hit@1",
    "hit@10",
    "mrr",
    "ndcg@10",
)


def number(value: float | None) -> str:
    """Return a percentage with one decimal, or a dash."""
    return NONE if value is None else f"{value:.1f}"


def with_interval(found: Sequence[float] | None) -> str:
    """Return a mean with the ends of its interval."""
    if found is None:
        return NONE
    mean, low, high = found
    return f"{mean:.1f} ({low:.1f}…{high:.1f})"


def overview_table(found: Mapping[str, Any], metric: str = "recall@10") -> str:
    """Return one metric of all contestants on all sets."""
    sets = [given["name"] for given in found["sets"]]
    cells = {
        (row["contestant"], row["set"]): number(row[metric][0])
        for row in found["rows"]
        if row["kind"] == ALL
    }
    lines = [
        (c["name"], *(cells.get((c["name"], name), NONE) for name in sets))
        for c in found["contestants"]
    ]
    return table((metric, *sets), lines)


def metrics_table(found: Mapping[str, Any], set_name: str, *, kind: str = ALL) -> str:
    """Return all metrics of all contestants on a set."""
    lines = [
        (
            row["contestant"],
            *(
                with_interval(row[metric])
                if metric == "recall@10"
                else number(row[metric][0])
                for metric in _SHOWN
            ),
        )
        for row in found["rows"]
        if row["set"] == set_name and row["kind"] == kind
    ]
    return table(("", *_SHOWN), lines)


def kinds_table(
    found: Mapping[str, Any], set_name: str, *, metric: str = "recall@10"
) -> str:
    """Return one metric of all contestants by type of question."""
    by_contestant: dict[str, dict[str, str]] = {}
    counts: dict[str, int] = {}
    for row in found["rows"]:
        if row["set"] == set_name and row["kind"] != ALL:
            cells = by_contestant.setdefault(row["contestant"], {})
            cells[row["kind"]] = number(row[metric][0])
            counts[row["kind"]] = row["questions"]
    if len(counts) < 2:  # noqa: PLR2004 - one kind is the total again
        return ""
    head = (metric, *(f"{kind} ({count})" for kind, count in counts.items()))
    lines = [
        (name, *(cells[kind] for kind in counts))
        for name, cells in by_contestant.items()
    ]
    return table(head, lines)


def updates_table(found: Mapping[str, Any], set_name: str) -> str:
    """Return how often the newer version stood above the older, and the reverse."""
    lines = [
        (
            row["contestant"],
            row["asks"],
            str(row["questions"]),
            with_interval(row["newer_first"]),
            with_interval(row["older_first"]),
        )
        for row in found["updates"]
        if row["set"] == set_name
    ]
    if not lines:
        return ""
    return table(("", "asks for", "pairs", "newer first", "older first"), lines)


def differences_table(found: Mapping[str, Any], set_name: str) -> str:
    """Return the paired differences of a set."""
    lines = [
        (
            row["contestant"],
            row["other"],
            with_interval(row["recall@10"]),
            with_interval(row["recall@30"]),
            with_interval(row["ndcg@10"]),
        )
        for row in found["differences"]
        if row["set"] == set_name
    ]
    if not lines:
        return ""
    return table(("", "minus", "recall@10", "recall@30", "ndcg@10"), lines)


def thresholds_table(found: Mapping[str, Any]) -> str:
    """Return which pairs a threshold kept and rejected."""
    lines = [
        (
            row["contestant"],
            row["place"],
            row["language"],
            with_interval(row["kept"]),
            with_interval(row["rejected"]),
        )
        for row in found["thresholds"]
    ]
    head = ("", "memories", "language", "paraphrases kept", "unrelated rejected")
    return table(head, lines) if lines else ""


def goals_table(found: Mapping[str, Any]) -> str:
    """Return every goal with its number."""
    lines = [
        (
            goal.text,
            goal.wanted,
            number(goal.measured),
            number(goal.low),
            goal.verdict,
        )
        for goal in goals(found)
    ]
    return table(("goal", "wanted", "measured", "lower 95 % bound", ""), lines)


def console(found: Mapping[str, Any]) -> str:
    """Return all tables of a run of the contestants."""
    parts = ["## At a glance", overview_table(found)]
    for given in found["sets"]:
        name = given["name"]
        parts.append(
            f"## {given['title']}\n\n{given['memories']} memories, "
            f"{given['questions']} questions"
        )
        parts += [
            metrics_table(found, name),
            kinds_table(found, name),
            updates_table(found, name),
            differences_table(found, name),
        ]
    parts += [thresholds_table(found), goals_table(found), f"{found['seconds']} s"]
    return "\n\n".join(part for part in parts if part)
