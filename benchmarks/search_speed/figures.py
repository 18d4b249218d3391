"""The figures of the report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from benchmarks.common.drawing import Drawn, style
from benchmarks.common.drawing import draw as draw_all
from benchmarks.search_speed.results import Results

_LINES: Final = (
    ("peer", "the peer's vector query", "#888888", "--"),
    ("vector", "vector", "#0072b2", "-"),
    ("hybrid", "hybrid", "#d55e00", "-"),
    ("lexical", "lexical", "#009e73", "-"),
)
_TITLES: Final = {
    "ours-memory": "in memory, peer InMemoryStore",
    "ours-sqlite": "SQLite, warm, peer SqliteStore",
}


def draw(results: Results, folder: Path) -> list[tuple[str, str]]:
    """Draw the figures as SVG; return file names and what each figure shows."""
    with style("search-speed"):
        return draw_all(_figures(results), folder)


def _figures(results: Results) -> Iterator[Drawn]:
    yield (
        "performance-search-one-user",
        "CPU time of a search against the memories of one user; lower is better.",
        _one_user(results),
    )
    yield (
        "performance-search-crowd",
        "CPU time of a visit: median and 95th percentile; shorter is better.",
        _crowd(results),
    )


def _one_user(results: Results) -> Figure:
    figure, axes = plt.subplots(
        1, 2, figsize=(10, 3.8), sharey=True, layout="constrained"
    )
    sizes = results.plan["sizes"]
    for axis, (ours, title) in zip(axes, _TITLES.items(), strict=True):
        for what, label, color, line in _LINES:
            points = [
                (n, cpu / 1000) for n in sizes if (cpu := results.cpu(ours, n, what))
            ]
            if points:
                x, y = zip(*points, strict=True)
                axis.plot(x, y, line, marker="o", color=color, label=label)
        axis.set(xscale="log", yscale="log", title=title, xlabel="memories")
        axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axis.minorticks_off()
    axes[0].set_ylabel("CPU ms per search")
    axes[0].legend(frameon=False)
    return figure


def _crowd(results: Results) -> Figure:
    figure, axis = plt.subplots(figsize=(10, 4), layout="constrained")
    names, p50, p95 = [], [], []
    for name, found in results.found["crowd"].items():
        for kind in ("all_us", "cold_us", "peer_us"):
            if found[kind] is not None:
                label = {"all_us": "all", "cold_us": "first", "peer_us": "SqliteStore"}
                names.append(f"{name}: {label[kind]}")
                p50.append(found[kind]["p50"] / 1000)
                p95.append(found[kind]["p95"] / 1000)
    axis.barh(names, p95, color="#cccccc", label="p95")
    axis.barh(names, p50, color="#0072b2", label="p50")
    axis.set(xlabel="CPU ms per visit")
    axis.invert_yaxis()
    axis.legend(frameon=False)
    axis.grid(visible=False, axis="y")
    return figure
