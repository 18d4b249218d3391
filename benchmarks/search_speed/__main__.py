"""`python -m benchmarks.search_speed`: measure searches and write the report."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.common.command import say, say_goals, write
from benchmarks.search_speed.figures import draw
from benchmarks.search_speed.plan import FULL, QUICK, Plan
from benchmarks.search_speed.report import report
from benchmarks.search_speed.results import Results, goals
from benchmarks.search_speed.running import run_all

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for.

    Returns:
        The exit status: 0, also when goals were missed; they are reported.
    """
    given = _parser().parse_args(arguments)
    base = ROOT / "build" / "benchmarks" if given.quick else None
    results_file = given.results or (
        base / "search_speed.json"
        if base
        else ROOT / "benchmarks/search_speed/results.json"
    )
    report_file = given.report or (base or ROOT / "docs") / "performance-search.md"
    if given.report_only:
        found = json.loads(results_file.read_text(encoding="utf-8"))
    else:
        found = run_all(_plan(given), say)
        write(results_file, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    results = Results(found)
    drawn = draw(results, report_file.parent / "assets")
    figures = [(f"assets/{name}", text) for name, text in drawn]
    write(report_file, report(results, figures=figures))
    say_goals(goals(results))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search_speed",
        description="Measure searches beside InMemoryStore and SqliteStore.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, under a minute, to build/"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help="memories of the one user"
    )
    parser.add_argument("--crowd", type=int, metavar="N", help="users that are visited")
    parser.add_argument("--visits", type=int, metavar="N", help="visits in each order")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of each search")
    parser.add_argument("--large-rounds", type=int, metavar="N", help="of large sizes")
    parser.add_argument("--budget", type=int, metavar="BYTES", help="for warm indexes")
    parser.add_argument(
        "--files", metavar="FOLDER", help="keeps the crowd's files for another run"
    )
    parser.add_argument("--results", type=Path, metavar="FILE", help="where JSON goes")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="where Markdown goes"
    )
    parser.add_argument(
        "--report-only", action="store_true", help="write the report of an earlier run"
    )
    return parser


def _plan(given: argparse.Namespace) -> Plan:
    changes = {
        "sizes": given.sizes and tuple(sorted(given.sizes)),
        "crowd": given.crowd,
        "visits": given.visits,
        "rounds": given.rounds,
        "large_rounds": given.large_rounds,
        "budget": given.budget,
        "files": given.files,
    }
    plan = QUICK if given.quick else FULL
    return replace(plan, **{k: v for k, v in changes.items() if v is not None})


if __name__ == "__main__":
    sys.exit(main())
