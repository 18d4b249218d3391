"""The report: `docs/performance-search.md`, written from the results of a run."""

from collections.abc import Sequence
from typing import Final

from benchmarks.common.markdown import (
    NONE,
    goal_table,
    joined,
    number,
    pictures,
    table,
    times,
)
from benchmarks.search_speed.results import Results, goals
from benchmarks.storage.matrix import PEERS

_HEAD: Final = """\
# Performance of search

What a search costs beside the stores that LangGraph ships: ours and its peer take
turns in one process. This page is written by `python -m benchmarks.search_speed`; do
not edit it. What all other operations cost is in [Performance](performance.md).
"""

_METHOD: Final = """\
## How it was measured

* CPU time of the process, all threads, user and kernel; **making vectors is taken
  out**. Numerical libraries have one thread.
* Rounds in which every kind of search runs, ours and the peer's, each with other
  queries. A ratio is the median of the rounds' ratios: what slows the machine down for
  a while slows both. Exact search reads all vectors of the user, so that it suffers
  more than its peers where others keep the memory busy.
* The peers search by meaning only; they have no search by words. Our lexical and
  hybrid searches are compared with that.
* 384 dimensions; English texts of 25 words by Zipf's law, Chinese of about 50
  characters, all from a seed.
* Of the many users, each was visited once before the clock started; what a first visit
  costs is in the table of visits.
* After a restart: a fresh process opens a file and searches once. numpy is loaded
  within, as is jieba for Chinese; the package itself was imported before. Beyond
  loading jieba a search may take less than nothing: it reads jieba's dictionary from
  its cache as a whole, which takes less than jieba does.
* With simsimd, searches of 4,096 vectors and more read a copy of one byte per number
  and compare the best by the vectors themselves; without it they read them all.
* A preload selects and renders ten memories for a question.
* A first visit of the crowd reads the user's memories from the file; later ones find a
  warm index, unless it was dropped for the budget. Resident memory is the growth since
  before the first visit, looked at every 1,000 visits.
* The visits in the first row of the crowd may find the files outside of the system's
  cache, ours and the peer's, where later rows find them in it.
"""


def report(results: Results, *, figures: Sequence[tuple[str, str]] = ()) -> str:
    """Return the report as Markdown.

    Args:
        results: The results of a run.
        figures: Paths of figures, relative to the report, with what they show.
    """
    sections = [
        _HEAD,
        _goals(results),
        pictures(figures),
        _searches(results),
        _crowd(results),
        _memory(results),
        _small(results),
        _METHOD,
        _machine(results),
    ]
    return joined(sections)


def _goals(results: Results) -> str:
    return f"## Goals\n\n{goal_table(goals(results))}"


def _searches(results: Results) -> str:
    kinds = ("lexical", "vector", "hybrid", "peer")
    lines = []
    for ours, peer in PEERS.items():
        for items in results.plan["sizes"]:
            cells = [_ms(results.cpu(ours, items, what)) for what in kinds]
            ratios = [times(results.ratio(ours, items, what)) for what in kinds[:3]]
            lines.append((f"{ours} and {peer}, {items:,}", *cells, *ratios))
        label = f"{results.plan['many_users']:,} users × {results.plan['per_user']}"
        cells = [_ms(results.crowd_cpu(ours, what)) for what in kinds]
        ratios = [times(results.crowd_ratio(ours, what)) for what in kinds[:3]]
        lines.append((f"{ours} and {peer}, {label}", *cells, *ratios))
    head = ("CPU ms", *kinds, *(f"peer / {what}" for what in kinds[:3]))
    return f"## Searches\n\n{table(head, lines)}"


def _crowd(results: Results) -> str:
    lines = []
    for name, found in results.found["crowd"].items():
        cells = []
        for kind in ("all_us", "cold_us", "peer_us"):
            given = found[kind]
            cells += [_ms(given["p50"] if given else None)]
            cells += [_ms(given["p95"] if given else None)]
        memory = (number(found["accounted_mb"]), number(found["resident_mb"]))
        lines.append((name, f"{found['users']:,}", *cells, *memory))
    head = ["CPU ms", "users met"]
    for kind in ("all", "first visit", "SqliteStore"):
        head += [f"{kind}, p50", "p95"]
    head += ["indexes, MB", "resident, MB"]
    plan = results.plan
    title = f"## {plan['crowd']:,} users × {plan['per_user']} memories"
    note = f"{plan['visits']:,} visits, budget {plan['budget'] / 1e6:.0f} MB."
    return f"{title}\n\n{note}\n\n{table(head, lines)}"


def _memory(results: Results) -> str:
    lines = [
        (name, number(f["loaded"]), number(f["warm"]), number(f.get("accounted")))
        for name, f in results.found["resident"].items()
    ]
    head = ("MB", "filled", "after searches", "as the budget counts")
    items = results.plan["sizes"][-1]
    return f"## Resident memory, {items:,} memories\n\n{table(head, lines)}"


def _small(results: Results) -> str:
    restart = [
        (name, number(results.restart(name)))
        for name in results.found["restart"]["cpu_ms"]
    ]
    adds = []
    for ours in PEERS:
        for size in results.plan["added_to"]:
            costs = (results.adding(ours, size, what) for what in ("add", "refresh"))
            adds.append((f"{ours}, {size:,}", *(number(cost) for cost in costs)))
    preloads = [(n, _ms(results.preload(n))) for n in results.found["preload"]]
    items = results.found["restart"]["items"]
    return "\n\n".join(
        (
            f"## After a restart, {items:,} memories",
            table(("CPU ms", "median"), restart),
            "## Adding a memory",
            "The next search brings the warm index up to date: what that adds to it.",
            table(("CPU µs", "add", "the next search, more"), adds),
            f"## Preloading 10 of {results.plan['preloaded']:,}",
            table(("CPU ms", "median"), preloads),
        )
    )


def _ms(microseconds: float | None) -> str:
    return NONE if microseconds is None else number(microseconds / 1000)


def _machine(results: Results) -> str:
    found, machine = results.found, results.found["machine"]
    versions = ", ".join(f"{n} {v}" for n, v in machine["versions"].items())
    hardware = (
        f"* {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}"
    )
    load = (
        f"* Load {machine['load_at_start']:.1f} at the start, "
        f"{found['load_at_end']:.1f} at the end, of which the benchmark is 1: the rest "
        f"is the work of others."
    )
    again = (
        "`python -m benchmarks.search_speed --help` says how to run it again; "
        "`benchmarks/README.md` says which Python runs SqliteStore's vectors."
    )
    return "\n".join(
        (
            "## Where and when",
            "",
            f"* {machine['date']}, {found['minutes']:.0f} minutes",
            hardware,
            load,
            f"* Python {machine['python']}, SQLite {machine['sqlite']}, {versions}",
            "",
            again,
        )
    )
