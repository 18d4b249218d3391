"""The report: `docs/retrieval.md`, written from the results of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.retrieval.tables import (
    differences_table,
    goals_table,
    kinds_table,
    metrics_table,
    overview_table,
    thresholds_table,
    updates_table,
)

_HEAD: Final = """\
# Retrieval

How much of what answers a question `search_memories` finds, with and without embedders,
next to the stores that LangGraph ships and to plain BM25, all in one run. This page is
written by `python -m benchmarks.retrieval`; do not edit it.

**Recall@10** is the part of a question's evidence that is among the first ten results,
averaged over questions, in percent. In brackets stands the 95 % interval.
"""

_METHOD: Final = """\
## How it was measured

* Everything goes through the public API: `add_memory`, then `search_memories` with
  `limit=30`, `similarity_threshold=0` and the mode that the table names. Other options
  are the defaults.
* **LoCoMo**: one user per conversation, one memory per turn with its `Source` (thread =
  session, position, time) and its speaker as participant; the text is what was said and
  the caption of the picture, if there is one. Questions of the category *adversarial*
  have no answer; they are reported apart and are not in the totals. Malformed ids of
  evidence are normalised. In the second LoCoMo set the facts that the data set
  extracted per session are memories as well, in the place of the turn they name:
  finding a fact counts as finding its turns.
* **LongMemEval**: the evidence turns of all questions are the memories of one user. A
  question's evidence are its own turns. In update pairs, the version of the latest
  session is the newer one. The set has a few questions whose answer is the older value;
  they are told by the words of their answer and stand apart as *past*. In the second
  LongMemEval set the update questions are reworded, by us, to ask for the older value.
* **MADial-Bench**: the query is the dialogue before the first turn where a memory is
  wanted, as in the benchmark itself, which searches the memories of the speaker only
  (`-own`). The harder variants search both speakers' memories in one pool, with all of
  the dialogue or with its last two utterances.
* **Ours** is in the repository (`benchmarks/retrieval/ours`), made for this.
* nDCG and reciprocal rank count a result that brings evidence which none before it had.
* The peers have no fields, so speaker, place and topics are part of the text that they
  index, for vectors and for BM25.
* Intervals are percentiles of 2,000 bootstrap resamples of the questions. Differences
  are paired: the same resample of questions for both rankings.
* The threshold table searches with `similarity_threshold=0.5` for the second text of a
  pair whose first text is a memory: once the only memory of its user, once one among
  those of all pairs. Pairs in a language that the embedder was not made for are left
  out.
* The constants of the ranking were chosen on these halves of the data sets: expect a
  little less elsewhere.
"""

_AGAIN: Final = """\
## Run it again

```bash
pip install -e . --group bench
python -m benchmarks.retrieval \\
  --locomo locomo.json --longmemeval evidence.json --madial MADial-Bench/data
python -m benchmarks.retrieval --gate     # our own set against the floors; CI runs it
python -m benchmarks.retrieval --compare before.jsonl after.jsonl   # of --details
```

The data sets are not ours to ship. Vectors are kept in a folder (`--cache`), so a
second run needs no model. The numbers of this page are in
`benchmarks/retrieval/results.json`.
"""


def report(found: Mapping[str, Any], figures: Sequence[tuple[str, str]] = ()) -> str:
    """Return the report as Markdown.

    Args:
        found: The results of a run.
        figures: Paths of figures, relative to the report, with what they show.
    """
    sections = [
        _HEAD,
        "## Recall@10 at a glance",
        overview_table(found),
        *(f"![{text}]({path})\n\n*{text}*" for path, text in figures),
        "## Goals",
        goals_table(found),
        *_sets(found),
        _thresholds(found),
        _METHOD,
        _machine(found),
        _AGAIN,
    ]
    return "\n\n".join(s.strip() for s in sections if s.strip()) + "\n"


def _sets(found: Mapping[str, Any]) -> Iterator[str]:
    for given in found["sets"]:
        name = given["name"]
        yield f"## {given['title']}"
        users = "1 user" if given["users"] == 1 else f"{given['users']} users"
        yield (
            f"`{name}`: {given['memories']:,} memories of {users}, "
            f"{given['questions']:,} questions."
        )
        yield metrics_table(found, name)
        for text, table in (
            ("By type of question:", kinds_table(found, name)),
            ("Which version stands above the other:", updates_table(found, name)),
            ("Paired differences, in points:", differences_table(found, name)),
        ):
            if table:
                yield text
                yield table


def _thresholds(found: Mapping[str, Any]) -> str:
    table = thresholds_table(found)
    return f"## One threshold for all embedders\n\n{table}" if table else ""


def _machine(found: Mapping[str, Any]) -> str:
    embedders = "; ".join(f"`{k}` = {v}" for k, v in found["embedders"].items())
    missing = "".join(f"\n* Not run: {line}" for line in found["not_run"])
    return (
        f"## Of this run\n\n* Embedders: {embedders or 'none'}.\n"
        f"* {found['versions']}.\n* It took {found['seconds']:.0f} s.{missing}"
    )
