"""The figures of the report."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.retrieval.calibration import BINS, THRESHOLD
from benchmarks.retrieval.summaries import ALL

_COLORS: Final = {
    "ours": "#0072b2",
    "reference": "#999999",
    "peer": "#eaae7f",
    "baseline": "#d55e00",
}
_STYLE: Final[Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.size": 9.0,
    "grid.color": "#e4e4e4",
    "svg.hashsalt": "retrieval",
}
_COLUMNS: Final = 2


def draw(found: Mapping[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Draw the figures as SVG.

    Args:
        found: The results of a run.
        folder: Where they go; made if it is not there.

    Returns:
        File names, and what each figure shows.
    """
    mpl.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    with mpl.rc_context(_STYLE):
        for name, text, figure in _figures(found):
            path = folder / f"{name}.svg"
            figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
            plt.close(figure)
            lines = path.read_text(encoding="utf-8").splitlines()
            path.write_text("\n".join(line.rstrip() for line in lines) + "\n")
            drawn.append((path.name, text))
    return drawn


def _figures(found: Mapping[str, Any]) -> Iterator[tuple[str, str, Figure]]:
    if found["rows"]:
        yield (
            "retrieval-recall",
            "Recall@10 with its 95 % interval; blue is ours, longer is better.",
            _recall(found),
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
        means, lows, highs = np.array([row["recall@10"] for row in rows]).T
        axis.barh(
            [row["contestant"] for row in rows],
            means,
            color=[_COLORS[families[row["contestant"]]] for row in rows],
            xerr=(means - lows, highs - means),
            error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
        )
        axis.set_title(given["name"])
        axis.set_xlim(0, 100)
        axis.grid(visible=False, axis="y")
        axis.tick_params(axis="y", labelsize=7)
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
