"""Figures as SVG, in one style, the same bytes for the same numbers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

_STYLE: Final[dict[str, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "grid.color": "#e4e4e4",
}

Drawn = tuple[str, str, Figure]
"""The name of a figure, what it shows, and the figure."""


def style(salt: str, font_size: float = 10.0) -> Any:
    """Return the context in which figures are made and drawn.

    Args:
        salt: Makes the ids inside the files: the same for one report, always.
        font_size: In points.
    """
    mpl.use("agg")
    given: Any = {**_STYLE, "font.size": font_size, "svg.hashsalt": salt}
    return mpl.rc_context(given)


def draw(figures: Iterable[Drawn], folder: Path) -> list[tuple[str, str]]:
    """Draw figures, inside of `style`.

    Args:
        figures: What to draw; each is closed afterwards.
        folder: Where they go; made if it is not there.

    Returns:
        File names, and what each figure shows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, text, figure in figures:
        path = folder / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line.rstrip() for line in lines) + "\n")
        drawn.append((path.name, text))
    return drawn
