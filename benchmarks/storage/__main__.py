"""`python -m benchmarks.storage`: run the storage benchmark and write its report."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common.command import say, say_goals, write
from benchmarks.storage.figures import draw
from benchmarks.storage.goals import goals
from benchmarks.storage.matrix import FULL, QUICK, Plan
from benchmarks.storage.report import report
from benchmarks.storage.results import Results
from benchmarks.storage.running import run_all

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for.

    Args:
        arguments: The command line, that of this process if not given.

    Returns:
        The exit status: 0, also when goals were missed; they are reported.
    """
    given = _parser().parse_args(arguments)
    base = ROOT / "build" / "benchmarks" if given.quick else None
    results_file = given.results or (
        base / "results.json" if base else ROOT / "benchmarks/storage/results.json"
    )
    report_file = given.report or (
        base / "performance.md" if base else ROOT / "docs/performance.md"
    )
    if given.report_only:
        found = json.loads(results_file.read_text(encoding="utf-8"))
    else:
        found = run_all(_plan(given), say)
        write(results_file, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    _write_report(found, report_file)
    say(f"results: {results_file}")
    say(f"report:  {report_file}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.storage",
        description=(
            "Measure MemoryStore in memory and on SQLite against InMemoryStore and "
            "SqliteStore, and write results.json, performance.md and its figures."
        ),
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, under a minute, to build/"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help="numbers of items, ascending"
    )
    parser.add_argument(
        "--users", type=int, nargs="+", metavar="N", help="numbers of users"
    )
    parser.add_argument(
        "--repetitions", type=int, metavar="N", help="of rows up to 10,000 items"
    )
    parser.add_argument(
        "--large-repetitions", type=int, metavar="N", help="of larger rows"
    )
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="at most, per operation"
    )
    parser.add_argument("--results", type=Path, metavar="FILE", help="where JSON goes")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="where the report goes; figures go to assets/ beside it",
    )
    parser.add_argument(
        "--report-only",
        action="store_true",
        help="measure nothing, write the report from the JSON of an earlier run",
    )
    return parser


def _plan(given: argparse.Namespace) -> Plan:
    changes = {
        "sizes": given.sizes and tuple(sorted(given.sizes)),
        "users": given.users and tuple(sorted(given.users)),
        "repetitions": given.repetitions,
        "large_repetitions": given.large_repetitions,
        "budget": given.budget,
    }
    plan = QUICK if given.quick else FULL
    return replace(plan, **{k: v for k, v in changes.items() if v is not None})


def _write_report(found: dict[str, Any], file: Path) -> None:
    results = Results(found)
    drawn = draw(results, file.parent / "assets")
    figures = [(f"assets/{name}", text) for name, text in drawn]
    write(file, report(results, figures=figures))
    say_goals(goals(results))


if __name__ == "__main__":
    sys.exit(main())
