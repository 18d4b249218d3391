"""What the command lines of benchmarks do at their end."""

import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from benchmarks.common.goals import Goal
from benchmarks.common.markdown import bound, number

P = TypeVar("P")


class Outcome(Protocol):
    """What came of a plan."""

    @property
    def problems(self) -> object:
        """What cannot be explained, empty if all is well."""


def say(line: str) -> None:
    """Show a line of progress at once."""
    print(line, file=sys.stderr, flush=True)


def say_goals(goals: Iterable[Goal]) -> None:
    """Show which goals were met."""
    for goal in goals:
        say(
            f"{goal.verdict:12} {number(goal.measured):>8}  ({bound(goal)})  "
            f"{goal.text}"
        )


def write(file: Path, text: str) -> None:
    """Write a text file, in a folder that is made if it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def run_plans(plans: Mapping[str, P], run: Callable[[Path, P], Outcome]) -> int:
    """Run plans by name, each in a folder of its own, and print what came of them.

    Returns:
        The exit status: 1 if something cannot be explained.
    """
    failed = False
    for name, plan in plans.items():
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(Path(folder), plan)
        print(f"{name}: {outcome}", flush=True)
        failed = failed or bool(outcome.problems)
    return int(failed)
