"""`python -m benchmarks.retrieval`: measure how well memories are found."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.retrieval.embedders import MODELS
from benchmarks.retrieval.measuring import Plan, measure
from benchmarks.retrieval.ours import FOLDER
from benchmarks.retrieval.tables import console

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for.

    Args:
        arguments: The command line, that of this process if not given.

    Returns:
        The exit status: 0, also when goals were missed; they are reported.
    """
    given = _parser().parse_args(arguments)
    found = measure(_plan(given), _say)
    if given.results:
        _write(given.results, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        _say(f"results: {given.results}")
    print(console(found))
    return 0


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
        "--cache",
        type=Path,
        default=_cache_folder(),
        metavar="FOLDER",
        help="where vectors are kept between runs (%(default)s)",
    )
    parser.add_argument("--results", type=Path, metavar="FILE", help="where JSON goes")
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
    )


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
