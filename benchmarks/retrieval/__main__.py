"""`python -m benchmarks.retrieval`: measure how well memories are found."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.command import say, write
from benchmarks.retrieval.ablation_tables import verdicts_table
from benchmarks.retrieval.comparing import compare
from benchmarks.retrieval.embedders import MODELS, CachedEmbeddings
from benchmarks.retrieval.figures import draw
from benchmarks.retrieval.gate import gate
from benchmarks.retrieval.measuring import PARTS, Plan, measure
from benchmarks.retrieval.merging import merged
from benchmarks.retrieval.own_set import FOLDER
from benchmarks.retrieval.report import report
from benchmarks.retrieval.tables import console

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for.

    Args:
        arguments: The command line, that of this process if not given.

    Returns:
        The exit status: 0, also when goals were missed; they are reported. 1 if the
        gate failed.
    """
    given = _parser().parse_args(arguments)
    if given.report_only and given.report is None:
        given.report = ROOT / "docs/retrieval.md"
    if given.gate:
        return _gate(given.cache)
    if given.compare:
        print(compare(*given.compare))
        return 0
    if given.report_only:
        found = json.loads(given.results.read_text(encoding="utf-8"))
    else:
        found = measure(_plan(given), say)
        if given.report:
            earlier = {}
            if given.results.exists():
                earlier = json.loads(given.results.read_text(encoding="utf-8"))
            found = merged(earlier, found)
            write(given.results, json.dumps(found, ensure_ascii=False) + "\n")
            say(f"results: {given.results}")
        if "sets" in found:
            print(console(found))
        print(verdicts_table(found))
    if given.report:
        figures = draw(found, given.report.parent / "assets")
        placed = [(f"assets/{name}", text) for name, text in figures]
        write(given.report, report(found, placed))
        say(f"report:  {given.report}")
    return 0


def _gate(cache: Path) -> int:
    use = MODELS["use"].installed
    failures = gate(CachedEmbeddings("use", cache, say) if use else None, say=say)
    for failure in failures:
        print(failure)
    return len(failures) > 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval",
        description=(
            "Measure how much of what answers a question search_memories finds, with "
            "and without embedders, next to LangGraph's stores and plain BM25. The "
            "data sets are not shipped; only those that are given are measured."
        ),
    )
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo, as JSON")
    parser.add_argument(
        "--longmemeval", type=Path, metavar="FILE", help="LongMemEval's evidence turns"
    )
    parser.add_argument(
        "--madial", type=Path, metavar="FOLDER", help="MADial-Bench's data files"
    )
    parser.add_argument(
        "--ours",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help="our own set (%(default)s)",
    )
    parser.add_argument(
        "--embedders",
        nargs="*",
        choices=list(MODELS),
        metavar="NAME",
        help=f"of {', '.join(MODELS)}; those that are installed if not given",
    )
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these sets")
    parser.add_argument(
        "--contestants",
        nargs="+",
        metavar="TEXT",
        help="only those whose name has one of these texts",
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        metavar="PART",
        help="contestants, ablations (default: both)",
    )
    parser.add_argument(
        "--only-kept",
        action="store_true",
        help="leave out an embedder on sets of which its vectors are not kept yet",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=_cache_folder(),
        metavar="FOLDER",
        help="where vectors are kept between runs (%(default)s)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / "benchmarks/retrieval/results.json",
        metavar="FILE",
        help="the JSON that belongs to the report (%(default)s)",
    )
    parser.add_argument(
        "--report",
        type=Path,
        nargs="?",
        const=ROOT / "docs/retrieval.md",
        metavar="FILE",
        help="write results and report (%(const)s); figures go to assets/ beside it; "
        "what is not measured anew stays as it was in the results",
    )
    parser.add_argument(
        "--report-only",
        action="store_true",
        help="measure nothing, write the report from the JSON of an earlier run",
    )
    parser.add_argument(
        "--gate",
        action="store_true",
        help="measure our own set only, and fail if it is below the floors",
    )
    parser.add_argument(
        "--compare",
        type=Path,
        nargs=2,
        metavar="FILE",
        help="measure nothing, compare two files that --details wrote",
    )
    parser.add_argument(
        "--details",
        type=Path,
        metavar="FILE",
        help="every answer as a line of JSON, to look at failures",
    )
    return parser


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "langchain-agentmemory" / "retrieval"


def _plan(given: argparse.Namespace) -> Plan:
    embedders: Any = given.embedders
    if embedders is None:
        embedders = [name for name, model in MODELS.items() if model.installed]
    return Plan(
        locomo=given.locomo,
        longmemeval=given.longmemeval,
        madial=given.madial,
        ours=given.ours,
        embedders=tuple(embedders),
        sets=tuple(given.sets or ()),
        contestants=tuple(given.contestants or ()),
        cache=given.cache,
        details=given.details,
        parts=tuple(given.parts),
        only_kept=given.only_kept,
    )


if __name__ == "__main__":
    sys.exit(main())
