"""Two runs over the same questions: did a change help, and is that more than chance?"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.common.markdown import table
from benchmarks.retrieval.intervals import difference
from benchmarks.retrieval.locomo import UNANSWERABLE
from benchmarks.retrieval.summaries import COMPARED, percent
from benchmarks.retrieval.tables import with_interval

Answers = dict[tuple[str, str], dict[str, dict[str, Any]]]

HEAD: Final = ("set", "contestant", "questions", *COMPARED, "newer first")


def compare(before: Path, after: Path) -> str:
    """Return a table of paired differences, `after` minus `before`, in points.

    Args:
        before: What `--details` wrote.
        after: What it wrote after a change; only questions and contestants that are in
            both are compared.
    """
    return table(HEAD, _lines(_read(before), _read(after)))


def _lines(before: Answers, after: Answers) -> Iterator[tuple[str, ...]]:
    for place, then in before.items():
        now = after.get(place, {})
        questions = [question for question in then if question in now]
        if not questions:
            continue
        cells = [
            with_interval(
                percent(
                    difference(
                        [float(now[q][metric]) for q in questions],
                        [float(then[q][metric]) for q in questions],
                    )
                )
            )
            for metric in COMPARED
        ]
        paired = [q for q in questions if then[q]["newer_first"] is not None]
        cells.append(
            with_interval(
                percent(
                    difference(
                        [float(now[q]["newer_first"]) for q in paired],
                        [float(then[q]["newer_first"]) for q in paired],
                    )
                )
                if paired
                else None
            )
        )
        yield (*place, str(len(questions)), *cells)


def _read(file: Path) -> Answers:
    found: Answers = defaultdict(dict)
    with file.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["kind"] not in UNANSWERABLE:
                found[line["set"], line["contestant"]][line["question"]] = line
    return dict(found)
