"""Pieces of a report in Markdown."""

from collections.abc import Iterable, Sequence
from typing import Final

from benchmarks.common.goals import Goal

NONE: Final = "–"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    rows = [list(head), ["---", *(["--:"] * (len(head) - 1))], *map(list, lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def number(value: float | None) -> str:
    """Return a number with three significant digits, or a dash."""
    if value is None:
        return NONE
    if abs(value) >= 1000:  # noqa: PLR2004
        return f"{value:,.0f}"
    if abs(value) >= 100:  # noqa: PLR2004
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"  # noqa: PLR2004


def times(value: float | None) -> str:
    """Return a ratio."""
    return NONE if value is None else f"{number(value)}×"


def bound(goal: Goal) -> str:
    """Return what was wanted, as `≥ 20 ×`."""
    return f"{'≥' if goal.at_least else '≤'} {goal.bound:g} {goal.unit}"


def goal_table(goals: Iterable[Goal]) -> str:
    """Return a table of goals, measured beside wanted."""
    lines = ((g.text, bound(g), number(g.measured), g.verdict) for g in goals)
    return table(("goal", "wanted", "measured", ""), lines)


def pictures(figures: Iterable[tuple[str, str]]) -> str:
    """Return figures with what they show below them.

    Args:
        figures: Paths relative to the report, and texts.
    """
    return "\n\n".join(f"![{text}]({path})\n\n*{text}*" for path, text in figures)


def joined(sections: Iterable[str]) -> str:
    """Return a page of sections, those without text left out."""
    return "\n\n".join(s.strip() for s in sections if s.strip()) + "\n"
