"""The figures of the report."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common.drawing import Drawn, style
from benchmarks.common.drawing import draw as draw_all
from benchmarks.retrieval.ablating import MAIN
from benchmarks.retrieval.ablations import ABLATIONS
from benchmarks.retrieval.calibration import BINS, THRESHOLD
from benchmarks.retrieval.goals import KEPT, REJECTED
from benchmarks.retrieval.summaries import ALL

_COLORS: Final = {
    "ours": "#0072b2",
    "reference": "#999999",
    "peer": "#eaae7f",
    "baseline": "#d55e00",
}
_COLUMNS: Final = 2
_ENOUGH_PAIRS: Final = 20


def draw(found: Mapping[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Draw the figures as SVG.

    Args:
        found: The results of a run.
        folder: Where they go; made if it is not there.

    Returns:
        File names, and what each figure shows.
    """
    with style("retrieval", font_size=9.0):
        return draw_all(_figures(found), folder)


def _figures(found: Mapping[str, Any]) -> Iterator[Drawn]:
    if found["rows"]:
        yield (
            "retrieval-recall",
            "Recall@10 with its 95 % interval; blue is ours, longer is better.",
            _recall(found),
        )
    if _asked_for_versions(found):
        yield (
            "retrieval-versions",
            "How often the version that the question asks for stands above the other.",
            _versions(found),
        )
    if found["thresholds"]:
        yield (
            "retrieval-threshold",
            "Pairs at threshold 0.5: paraphrases kept, unrelated rejected, and goals.",
            _threshold(found),
        )
    if found.get("ablations"):
        yield (
            "retrieval-ablations",
            "What changes without each ingredient, in points: left, it is missed.",
            _ablations(found),
        )
    if found["calibration"]:
        yield (
            "retrieval-calibration",
            "Share of right results by score, all sets together; ideally one curve.",
            _calibration(found),
        )
        yield (
            "retrieval-scores",
            "Scores of right and of wrong results, over the sets together.",
            _scores(found),
        )


def _grid(count: int, *, height: float) -> tuple[Figure, list[Axes]]:
    lines = -(-count // _COLUMNS)
    figure, axes = plt.subplots(
        lines,
        _COLUMNS,
        figsize=(11, height * lines),
        layout="constrained",
        squeeze=False,
    )
    panels = list(axes.flat)
    for unused in panels[count:]:
        unused.set_axis_off()
    return figure, panels[:count]


def _recall(found: Mapping[str, Any]) -> Figure:
    families = {c["name"]: c["family"] for c in found["contestants"]}
    sets = found["sets"]
    height = 0.6 + 0.17 * len(families)
    figure, panels = _grid(len(sets), height=height)
    for axis, given in zip(panels, sets, strict=True):
        rows = [
            row
            for row in found["rows"]
            if row["set"] == given["name"] and row["kind"] == ALL
        ][::-1]
        _bars(
            axis,
            [row["contestant"] for row in rows],
            [row["recall@10"] for row in rows],
            [_COLORS[families[row["contestant"]]] for row in rows],
        )
        axis.set_title(given["name"])
    return figure


def _asked_for_versions(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of which there are enough questions for a figure."""
    return [
        row
        for row in found["updates"]
        if row["questions"] >= _ENOUGH_PAIRS and row["asks"] != ALL
    ]


def _versions(found: Mapping[str, Any]) -> Figure:
    rows = _asked_for_versions(found)
    places = list(dict.fromkeys((row["set"], row["asks"]) for row in rows))
    families = {c["name"]: c["family"] for c in found["contestants"]}
    figure, panels = _grid(len(places), height=0.6 + 0.17 * len(families))
    for axis, (name, asks) in zip(panels, places, strict=True):
        chosen = [r for r in rows if (r["set"], r["asks"]) == (name, asks)][::-1]
        which = "newer_first" if asks == "current" else "older_first"
        _bars(
            axis,
            [row["contestant"] for row in chosen],
            [row[which] for row in chosen],
            [_COLORS[families[row["contestant"]]] for row in chosen],
        )
        axis.set_title(
            f"{name}: asking for the {asks} value ({chosen[0]['questions']})"
        )
    return figure


def _bars(
    axis: Axes,
    names: Sequence[str],
    intervals: Sequence[Sequence[float]],
    colors: Sequence[str],
) -> None:
    means, lows, highs = np.array(intervals).T
    axis.barh(
        names,
        means,
        color=colors,
        xerr=(means - lows, highs - means),
        error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
    )
    axis.set_xlim(0, 100)
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", labelsize=7)


def _threshold(found: Mapping[str, Any]) -> Figure:
    rows = [row for row in found["thresholds"] if row["language"] == ALL][::-1]
    names = [f"{row['contestant']}, {row['place']}" for row in rows]
    figure, panels = _grid(2, height=0.6 + 0.17 * len(rows))
    for axis, (which, goal, title) in zip(
        panels,
        (
            ("kept", KEPT, "paraphrases kept, %"),
            ("rejected", REJECTED, "unrelated rejected, %"),
        ),
        strict=True,
    ):
        colors = [_COLORS["ours"]] * len(rows)
        _bars(axis, names, [row[which] for row in rows], colors)
        axis.axvline(goal, color="#444444", linestyle=":", linewidth=1)
        axis.set_title(title)
    return figure


_PANELS: Final = (
    ("locomo", "recall@10"),
    ("longmemeval", "recall@10"),
    ("madial-zh", "recall@10"),
    ("ours", "hit@1"),
)
_MODES: Final = ((None, "#d55e00", 0.15), (MAIN, "#0072b2", -0.15))


def _ablations(found: Mapping[str, Any]) -> Figure:
    known = {ablation.name for ablation in ABLATIONS}
    rows = [
        row
        for row in found["ablations"]
        if row["kind"] == ALL and row["ablation"] in known
    ]
    measured = {row["ablation"] for row in rows}
    names = [a.name for a in ABLATIONS if a.name in measured][::-1]
    figure, axes = plt.subplots(
        1,
        len(_PANELS),
        figsize=(11, 0.6 + 0.2 * len(names)),
        layout="constrained",
        sharey=True,
    )
    for axis, (given, metric) in zip(axes, _PANELS, strict=True):
        axis.axvline(0, color="#444444", linewidth=0.8)
        for embedder, color, shift in (
            (None, "#d55e00", 0.15),
            (MAIN, "#0072b2", -0.15),
        ):
            chosen = [
                row
                for row in rows
                if (row["set"], row["embedder"]) == (given, embedder)
            ]
            if not chosen:
                continue
            means, lows, highs = np.array([row[metric]["change"] for row in chosen]).T
            axis.errorbar(
                means,
                [names.index(row["ablation"]) + shift for row in chosen],
                xerr=(means - lows, highs - means),
                fmt="o",
                color=color,
                markersize=3,
                elinewidth=0.8,
                label="words" if embedder is None else f"hybrid, {embedder}",
            )
        axis.set_title(f"{given}, {metric}", fontsize=8)
    axes[0].set_yticks(range(len(names)), names, fontsize=7)
    if axes[0].get_legend_handles_labels()[0]:
        axes[0].legend(fontsize=7, loc="lower left")
    return figure


def _sums(found: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the histograms of right and wrong results, sets added up."""
    sums: dict[str, tuple[Any, Any]] = {}
    for row in found["calibration"]:
        right, wrong = sums.get(row["contestant"], (0, 0))
        sums[row["contestant"]] = (
            right + np.array(row["right"]),
            wrong + np.array(row["wrong"]),
        )
    return sums


def _calibration(found: Mapping[str, Any]) -> Figure:
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    middles = (np.arange(BINS) + 0.5) / BINS
    for name, (right, wrong) in _sums(found).items():
        total = right + wrong
        enough = total >= BINS  # fewer results say little about a share
        axis.plot(
            middles[enough],
            100 * right[enough] / total[enough],
            marker="o",
            markersize=3,
            linestyle=":" if "vector" in name else "-",
            label=name,
        )
    axis.axvline(THRESHOLD, color="#888888", linewidth=0.8)
    axis.set_xlim(0, 1)
    axis.set_xlabel("score")
    axis.set_ylabel("right results, %")
    axis.legend(fontsize=7)
    return figure


def _scores(found: Mapping[str, Any]) -> Figure:
    sums = _sums(found)
    figure, panels = _grid(len(sums), height=1.6)
    edges = np.arange(BINS + 1) / BINS
    for axis, (name, (right, wrong)) in zip(panels, sums.items(), strict=True):
        for counts, label, color in (
            (wrong, "wrong", "#d55e00"),
            (right, "right", "#0072b2"),
        ):
            shares = 100 * counts / max(1, counts.sum())
            axis.stairs(shares, edges, label=label, color=color, fill=True, alpha=0.5)
        axis.axvline(THRESHOLD, color="#888888", linewidth=0.8)
        axis.set_title(name)
        axis.set_xlim(0, 1)
        axis.set_ylabel("% of results")
    panels[0].legend(fontsize=7)
    return figure
