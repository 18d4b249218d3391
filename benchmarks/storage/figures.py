"""The figures of the report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common.drawing import Drawn, style
from benchmarks.common.drawing import draw as draw_all
from benchmarks.storage.matrix import DIMENSIONS, LABELS, MAIN, Contestant
from benchmarks.storage.results import Results

_LOOKS: Final[dict[Contestant, dict[str, Any]]] = {
    "ours-memory": {"color": "#0072b2", "linestyle": "-", "marker": "o"},
    "InMemoryStore": {"color": "#7fb8d8", "linestyle": "--", "marker": "s"},
    "ours-sqlite": {"color": "#d55e00", "linestyle": "-", "marker": "o"},
    "SqliteStore": {"color": "#eaae7f", "linestyle": "--", "marker": "s"},
}
_PANELS: Final = (
    ("newest 10", 0),
    ("vector query 10", DIMENSIONS),
    ("filter 10", 0),
    ("put", 0),
    ("get", 0),
    ("list_namespaces", 0),
)


def draw(results: Results, folder: Path) -> list[tuple[str, str]]:
    """Draw the figures as SVG.

    Args:
        results: The results of a run.
        folder: Where they go; made if it is not there.

    Returns:
        File names, and what each figure shows.
    """
    with style("performance"):
        return draw_all(_figures(results), folder)


def _figures(results: Results) -> Iterator[Drawn]:
    yield (
        "performance-operations",
        "CPU time per call against the number of items of one user; lower is better.",
        _operations(results),
    )
    yield (
        "performance-memory-and-writes",
        "Resident memory with vectors, and CPU time of a put; shorter is better.",
        _memory_and_writes(results),
    )


def _operations(results: Results) -> Figure:
    figure, axes = plt.subplots(
        2, 3, figsize=(10, 5.6), sharey=True, layout="constrained"
    )
    for axis, (name, dims) in zip(axes.flat, _PANELS, strict=True):
        for contestant in MAIN:
            points = [
                (items, cpu)
                for items in results.sizes
                if (cpu := results.cpu(contestant, items, name, dims=dims)) is not None
            ]
            if points:
                x, y = zip(*points, strict=True)
                axis.plot(x, y, label=LABELS[contestant], **_LOOKS[contestant])
        axis.set(xscale="log", yscale="log", title=name)
        axis.set_xticks(results.sizes, [_short(items) for items in results.sizes])
        axis.minorticks_off()
    top = max(1e4, axes.flat[0].get_ylim()[1])
    ticks = [10.0**power for power in range(0, 8, 2) if 10.0**power <= top]
    axes.flat[0].set_ylim(1, top)
    axes.flat[0].set_yticks(ticks, [_duration(tick) for tick in ticks])
    for axis in axes[:, 0]:
        axis.set_ylabel("CPU time per call")
    for axis in axes[-1, :]:
        axis.set_xlabel("items")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=len(MAIN), frameon=False
    )
    return figure


def _short(items: int) -> str:
    return f"{items // 1000}k" if items >= 1000 else str(items)  # noqa: PLR2004


def _duration(microseconds: float) -> str:
    if microseconds >= 1e6:  # noqa: PLR2004
        return f"{microseconds / 1e6:g} s"
    if microseconds >= 1e3:  # noqa: PLR2004
        return f"{microseconds / 1e3:g} ms"
    return f"{microseconds:g} µs"


def _memory_and_writes(results: Results) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    _memory(left, results)
    _writes(right, results)
    return figure


def _memory(axis: Axes, results: Results) -> None:
    items = results.sizes[-1]
    found = {c: results.resident(c, items, dims=DIMENSIONS) for c in MAIN}
    shown = {c: mb for c, mb in found.items() if mb is not None}
    bars = axis.barh(
        [LABELS[c] for c in shown],
        list(shown.values()),
        color=[_LOOKS[c]["color"] for c in shown],
    )
    axis.bar_label(bars, fmt="%.0f", padding=3)
    bare = items * DIMENSIONS * 4 / 1e6
    axis.axvline(bare, color="#444444", linestyle=":", label="the vectors alone")
    axis.legend(frameon=False, loc="center right")
    axis.set(title=f"resident MB, {_short(items)} items × {DIMENSIONS} dims")
    axis.invert_yaxis()
    axis.margins(x=0.12)
    axis.grid(visible=False, axis="y")


def _writes(axis: Axes, results: Results) -> None:
    places = np.arange(len(LABELS))
    for offset, language, color, name in (
        (-0.2, "en", "#009e73", "English"),
        (0.2, "zh", "#cc79a7", "Chinese"),
    ):
        cpu = [
            results.writing_cpu(contestant, language) or 0  # type: ignore[arg-type]
            for contestant in LABELS
        ]
        bars = axis.barh(places + offset, cpu, height=0.38, color=color, label=name)
        axis.bar_label(bars, fmt="%.0f", padding=3, fontsize=8)
    axis.set_yticks(places, list(LABELS.values()))
    axis.set(title=f"CPU µs per put, {_short(results.written_items)} items")
    axis.invert_yaxis()
    axis.legend(frameon=False)
    axis.margins(x=0.12)
    axis.grid(visible=False, axis="y")
