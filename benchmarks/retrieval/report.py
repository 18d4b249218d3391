"""The report: `docs/retrieval.md`, written from the results of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.retrieval.ablating import MAIN
from benchmarks.retrieval.ablation_tables import (
    changes_table,
    fusion_table,
    kinds_changes_table,
    pairs_table,
    verdicts_table,
)
from benchmarks.retrieval.embedders import MODELS
from benchmarks.retrieval.goals import goals
from benchmarks.retrieval.tables import (
    differences_table,
    goals_table,
    kinds_table,
    metrics_table,
    number,
    overview_table,
    thresholds_table,
    updates_table,
)

_HEAD: Final = """\
# Retrieval

How much of what answers a question `search_memories` finds, with and without embedders,
next to the stores that LangGraph ships and to plain BM25, over the same questions. This
page is written by `python -m benchmarks.retrieval`; do not edit it.

**Recall@10** is the part of a question's evidence that is among the first ten results,
averaged over questions, in percent. In brackets stands the 95 % interval.

What is searched, in the columns:

* `locomo`: turns of long conversations (LoCoMo); `locomo-facts`: with the facts that
  the data set extracted from them as well.
* `longmemeval`: one pool of what answers all questions (LongMemEval);
  `longmemeval-past`: with update questions reworded to ask for the older value.
* `madial-zh`, `madial-en`: memories of both speakers, by the dialogue so far
  (MADial-Bench); `-last`: by its last two utterances; `-own`: the memories of the
  speaker only.
* `ours`: our own set, Chinese and English.

What searches, in the rows: *words*, *vector* (by meaning) or *hybrid* (by both), with
the embedder *use* (the local one, Universal Sentence Encoder), *minilm*
(all-MiniLM-L6-v2, English only) or *e5* (multilingual-e5-small). More is in
[how it was measured](#how-it-was-measured).
"""

_ABLATIONS: Final = """\
## What each ingredient earns

Today's ranking without one thing, minus today's ranking, over the same questions: what
earns its place has negative numbers. Bold are changes whose 95 % interval (paired
bootstrap over the questions) has not 0 in it. With as many numbers as here, about one
in forty is bold to the left, and one in forty to the right, by chance alone. Where a
part of the lexical score is taken out, the other parts share its weight.

An ingredient *earns its place* where something is surely lost without it and nothing
surely won; *mixed* is both, *costs* the reverse. "No effect that is sure" means that
these sets cannot tell: some ingredients are for texts that they hardly have. Counted
are recall@10 on all sets, hit@1 on ours, and which version comes first.
"""

_TUNED: Final = """\
## What was tuned on what

* The constants of the ranking (weights of the lexical score, BM25, weights of bigrams
  and identifiers, shares of neighbours, bonus for labels, emphasis, limits for
  versions, strength of time words) were chosen on development halves only: five of
  LoCoMo's ten conversations, half of LongMemEval's questions, half of MADial-Bench.
  **These are the halves measured here**, so the numbers above are in-sample: expect a
  little less elsewhere.
* Some of the function words, irregular forms and derived families were added after
  looking at questions of these halves.
* The levels of an embedder come from 16 statements and their paraphrases in each
  language, written for this and used nowhere else. The threshold pairs are others.
* Our own set was written by us, with the ranking in mind. It says what kinds of
  question work, not how often they come.
* Ablations share all of this: an ingredient whose constant was chosen here looks a
  little better here.
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
* Ablations replace a constant or a function of the package in the process that
  measures (`benchmarks/retrieval/ablations.py`): the package has no switches for them.
"""

_AGAIN: Final = """\
## Run it again

```bash
pip install -e . --group bench
python -m benchmarks.retrieval \\
  --locomo locomo.json --longmemeval evidence.json --madial MADial-Bench/data
python -m benchmarks.retrieval … --parts ablations --report   # only these anew
python -m benchmarks.retrieval --report-only       # this page from the numbers
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
    shown = dict(figures)
    sections = [
        _HEAD,
        "## At a glance",
        overview_table(found),
        *_figure(shown, "recall"),
        *_goals(found),
        *_versions(shown),
        *_thresholds(found, shown),
        *_ablations(found, shown),
        *_sets(found),
        _TUNED,
        _METHOD,
        _machine(found),
        _AGAIN,
    ]
    return "\n\n".join(s.strip() for s in sections if s.strip()) + "\n"


def _figure(figures: Mapping[str, str], name: str) -> Iterator[str]:
    for path, text in figures.items():
        if path.endswith(f"retrieval-{name}.svg"):
            yield f"![{text}]({path})\n\n*{text}*"


def _goals(found: Mapping[str, Any]) -> Iterator[str]:
    all_goals = list(goals(found))
    measured = [goal for goal in all_goals if goal.verdict != "not measured"]
    missed = [goal for goal in measured if goal.verdict == "missed"]
    yield "## Goals"
    yield f"{len(measured) - len(missed)} of {len(measured)} measured goals are met."
    if missed:
        yield "Missed:"
        yield "\n".join(
            f"* {goal.text}: {number(goal.measured)}, wanted {goal.wanted}"
            for goal in missed
        )
    yield "All of them; a mean decides, and the bound says how sure it is:"
    yield goals_table(found)


def _versions(figures: Mapping[str, str]) -> Iterator[str]:
    figure = list(_figure(figures, "versions"))
    if figure:
        yield "## The version that holds"
        yield (
            "Two memories say the same thing with another value, at another time. "
            "Asked is for the one that holds, or for what was before; counted is how "
            "often that one stands above the other. Chance is 50 %."
        )
        yield from figure


def _ablations(found: Mapping[str, Any], figures: Mapping[str, str]) -> Iterator[str]:
    if not found.get("ablations"):
        return
    yield _ABLATIONS
    yield verdicts_table(found)
    yield from _figure(figures, "ablations")
    for text, table in (
        ("By words alone:", changes_table(found, None)),
        (f"Hybrid, with `{MAIN}`:", changes_table(found, MAIN)),
        ("Our own questions of the types that it is for:", kinds_changes_table(found)),
        ("Fusion under every embedder, recall@10:", fusion_table(found)),
        ("Pairs of texts at a threshold of 0.5:", pairs_table(found)),
    ):
        if table:
            yield text
            yield table


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


def _thresholds(found: Mapping[str, Any], figures: Mapping[str, str]) -> Iterator[str]:
    table = thresholds_table(found)
    if table:
        yield "## One threshold for all embedders"
        yield from _figure(figures, "threshold")
        yield table
    for name in ("calibration", "scores"):
        yield from _figure(figures, name)


def _machine(found: Mapping[str, Any]) -> str:
    embedders = "; ".join(f"`{k}` = {v}" for k, v in found["embedders"].items())
    left_out = [
        f"`{name}` ({model.title})."
        for name, model in MODELS.items()
        if name not in found["embedders"]
    ]
    missing = "".join(f"\n* Not run: {line}" for line in (*left_out, *found["not_run"]))
    seconds = found["seconds"] + found.get("ablation_seconds", 0)
    return (
        f"## Of this run\n\n* Embedders: {embedders or 'none'}.\n"
        f"* {found['versions']}.\n"
        f"* Its runs took {seconds / 60:.0f} minutes together.{missing}"
    )
