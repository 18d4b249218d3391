"""The report: `docs/performance.md`, written from the results of a run."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchmarks.common.markdown import (
    NONE,
    goal_table,
    joined,
    number,
    pictures,
    table,
    times,
)
from benchmarks.storage.goals import ONE_COPY, goals
from benchmarks.storage.matrix import (
    DIMENSIONS,
    LABELS,
    MAIN,
    PEERS,
    Contestant,
    Language,
)
from benchmarks.storage.results import Results, ratio

OPERATIONS: Final = (
    "load",
    "put",
    "put overwrite",
    "get",
    "newest 10",
    "newest 10 of all users",
    "filter 10",
    "vector query 10",
    "vector query 10 with filter",
    "list_namespaces",
    "delete",
)
"""What all contestants do, in the order of the columns."""

OWN: Final = ("first query", "lexical query 10", "hybrid query 10")
"""What only ours do, or what is shown for ours only."""

_HEAD: Final = """\
# Performance

What `MemoryStore` costs next to the stores that LangGraph ships, all measured in one
run. This page is written by `make bench`; do not edit it.

Searches here are LangGraph's `search(query=…)`, by meaning alone, which its own stores
have as well. `search_memories`, which ranks by words, meaning, versions and times, is
measured in [performance of search](performance-search.md), with the memory that it
takes after many searches.

**CPU time per call is the number to look at.** A ratio of 20× means that ours takes a
twentieth of the CPU time; below 1× ours takes more. Wall time depends on what else the
machine does and stands further down.
"""

_METHOD: Final = """\
## How it was measured

* One fresh process per row and repetition. The contestants of one size run directly
  after each other, and all of that is repeated; every number is the median of the
  repetitions.
* CPU time is user and kernel time of the whole process, all threads, over a block of
  calls. Numerical libraries have one thread.
* Every store gets the same items, in the form of a memory, and the same calls of
  LangGraph's `BaseStore`. Texts are made from a seed: English of 25 words by Zipf's
  law, Chinese of about 50 characters from jieba's dictionary.
* Vectors come from one deterministic embedder. **What making them costs is measured
  inside the embedder and taken out**, for all contestants alike.
* `load` is per item, in batches of 500. The filter selects 5 %. Reads are of warm
  stores; the first query after writing is shown by itself.
* Ours prepares its search by words at every write, which the others do not have: `put`
  and `load` include it. Its `put` also checks the limit of memories.
* Resident memory is the growth since the store was opened, after filling and after all
  reads.
* Defaults everywhere. They differ in what a crash may cost: `SqliteStore` syncs its
  rollback journal at every write; ours writes a WAL with `synchronous=NORMAL`, which
  survives a killed process but may lose the last writes when power fails. The table of
  writes has ours with `FULL`, and `SqliteStore` with a WAL, as well.
"""

_AGAIN: Final = """\
## Run it again

```bash
make bench                                # everything; 20 minutes to half an hour
python -m benchmarks.storage --repetitions 1 --large-repetitions 1   # 7 minutes
python -m benchmarks.storage --quick      # small sizes, less than a minute
python -m benchmarks.storage --help
```

`SqliteStore` needs a Python whose `sqlite3` can load extensions for its vectors; on
others these rows are reported as not runnable. Ours need none. The numbers of this page
are in `benchmarks/storage/results.json`.
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
        "## How many times less CPU\n",
        *(_ratios(results, ours) for ours in PEERS),
        _writing(results),
        _memory(results),
        _waiting(results),
        _startup(results),
        _searches(results),
        _cpu(results),
        _wall(results),
        _METHOD,
        _machine(results),
        _AGAIN,
    ]
    return joined(sections)


def _goals(results: Results) -> str:
    note = (
        f"“One copy” is resident memory with vectors, less that without, over the size "
        f"of the bare float32 vectors: up to {ONE_COPY:g} counts."
    )
    caveats = (
        "The names of the package are loaded when they are first used: the last goal, "
        "not the one before it, shows what the store costs to load. Importing it alone "
        "takes less than `import langgraph.store.base`, so that its “more” is negative."
    )
    parts = ["## Goals", goal_table(goals(results)), note, caveats, _journals(results)]
    return "\n\n".join(part for part in parts if part)


def _journals(results: Results) -> str:
    """Say how much of the advantage of a put is the peer's journal."""
    ours = results.writing_cpu("ours-sqlite", "en")
    shipped = results.writing_cpu("SqliteStore", "en")
    with_wal = results.writing_cpu("SqliteStore-wal", "en")
    if ours is None or shipped is None or with_wal is None:
        return ""
    return (
        f"Most of what a `put` of `SqliteStore` costs is its rollback journal: with a "
        f"write-ahead log set by hand it takes {number(with_wal)} µs of CPU time "
        f"instead of {number(shipped)} (English); ours, with a write-ahead log and the "
        f"index of words, takes {number(ours)}."
    )


def _places(results: Results) -> Iterator[tuple[int, int, int]]:
    for users in results.users:
        for items in results.sizes:
            for dims in (0, DIMENSIONS):
                yield items, users, dims


def _place(items: int, users: int, dims: int) -> str:
    who = "1 user" if users == 1 else f"{users:,} users"
    return f"{items:,} items, {who}{', vectors' if dims else ''}"


def _ratios(results: Results, ours: Contestant) -> str:
    peer = PEERS[ours]
    lines = []
    for items, users, dims in _places(results):
        cells = [
            times(
                ratio(
                    results.cpu(peer, items, name, users=users, dims=dims),
                    results.cpu(ours, items, name, users=users, dims=dims),
                )
            )
            for name in OPERATIONS
        ]
        memory = ratio(
            results.resident(peer, items, users=users, dims=dims),
            results.resident(ours, items, users=users, dims=dims),
        )
        lines.append((_place(items, users, dims), *cells, times(memory)))
    head = (f"{LABELS[ours]} against {LABELS[peer]}", *OPERATIONS, "resident memory")
    return table(head, lines)


def _writing(results: Results) -> str:
    languages: tuple[tuple[Language, str], ...] = (("en", "English"), ("zh", "Chinese"))
    lines = []
    for contestant, label in LABELS.items():
        cells = []
        for language, _ in languages:
            found = results.writing(contestant, language)
            cells += [
                number(found[name]["cpu_us"]) if found else NONE
                for name in ("put", "put overwrite", "load")
            ]
            cells.append(number(found["put"]["wall_p50_us"]) if found else NONE)
        lines.append((label, *cells))
    head = [""]
    for _, name in languages:
        head += [f"put, {name}", "overwrite", "load", "put, wall p50"]
    title = f"## Writing in English and Chinese ({results.written_items:,} items)"
    note = (
        "CPU µs per item, without vectors. Ours split the text into words when it is "
        "written: jieba for Chinese, stems for English."
    )
    return f"{title}\n\n{note}\n\n{table(head, lines)}"


def _memory(results: Results) -> str:
    lines = []
    for items, users, dims in _places(results):
        cells = [
            number(results.resident(c, items, users=users, dims=dims)) for c in MAIN
        ]
        disks = []
        for contestant in ("ours-sqlite", "SqliteStore"):
            row = results.row(
                contestant,
                items,
                users=users,
                dims=dims,
            )
            disks.append(number(row["megabytes"]["disk"]) if row else NONE)
        bare = number(items * dims * 4 / 1e6) if dims else NONE
        lines.append((_place(items, users, dims), *cells, bare, *disks))
    head = (
        "MB",
        *(LABELS[contestant] for contestant in MAIN),
        "bare vectors",
        "file, ours",
        "file, SqliteStore",
    )
    return f"## Resident memory and files\n\n{table(head, lines)}"


def _waiting(results: Results) -> str:
    lines = []
    for contestant in MAIN:
        found = results.found["waiting"].get(contestant)
        cells = [
            number(found[what][which]) if found else NONE
            for what in ("put", "query")
            for which in ("p50_ms", "longest_ms")
        ]
        lines.append((LABELS[contestant], *cells))
    head = ("wall ms", "put, p50", "put, longest", "query, p50", "query, longest")
    note = (
        "How long a `get` takes while another thread's `put` or query waits 600 ms for "
        "its embedding."
    )
    return f"## Reading while an embedding is made\n\n{note}\n\n{table(head, lines)}"


def _startup(results: Results) -> str:
    found: dict[str, dict[str, Any]] = results.found["startup"]
    lines = [
        (f"`{name}`", number(f["least_ms"]), number(f["median_ms"]))
        for name, f in found.items()
    ]
    processes = next(iter(found.values()))["processes"]
    note = f"CPU ms of {processes} fresh processes each, run in turn."
    head = ("", "least", "median")
    return f"## Starting\n\n{note}\n\n{table(head, lines)}"


def _searches(results: Results) -> str:
    lines = []
    for contestant in PEERS:
        for items, users, dims in _places(results):
            if not dims:
                continue
            cells = []
            for name in ("vector query 10", *OWN):
                found = results.operation(
                    contestant, items, name, users=users, dims=dims
                )
                cells.append(number(found["cpu_us"] / 1000) if found else NONE)
            label = f"{LABELS[contestant]}: {_place(items, users, dims)}"
            lines.append((label, *cells))
    note = (
        "CPU ms of ours. The first query after writing also brings the index in memory "
        "up to date."
    )
    head = ("", "vector query 10", *OWN)
    return (
        f"## Search by words, by meaning and by both\n\n{note}\n\n{table(head, lines)}"
    )


def _cpu(results: Results) -> str:
    lines = []
    for items, users, dims in _places(results):
        for contestant in MAIN:
            cells = [
                number(results.cpu(contestant, items, name, users=users, dims=dims))
                for name in OPERATIONS
            ]
            label = f"{_place(items, users, dims)}: {LABELS[contestant]}"
            lines.append((label, *cells))
    head = ("CPU µs", *OPERATIONS)
    return f"## CPU time per call\n\n{table(head, lines)}"


def _wall(results: Results) -> str:
    lines = []
    for items, users, dims in _places(results):
        for contestant in MAIN:
            cells = []
            for name in OPERATIONS:
                found = results.operation(
                    contestant, items, name, users=users, dims=dims
                )
                cells.append(
                    f"{number(found['wall_p50_us'])} / {number(found['wall_p95_us'])}"
                    if found
                    else NONE
                )
            label = f"{_place(items, users, dims)}: {LABELS[contestant]}"
            lines.append((label, *cells))
    head = ("wall µs, p50 / p95", *OPERATIONS)
    return f"## Wall time per call\n\n{table(head, lines)}"


def _machine(results: Results) -> str:
    found = results.found
    machine = found["machine"]
    versions = ", ".join(f"{n} {v}" for n, v in machine["versions"].items())
    plan = found["plan"]
    hardware = (
        f"* {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}"
    )
    load = (
        f"* Load {machine['load_at_start']:.1f} at the start, "
        f"{found['load_at_end']:.1f} at the end. The benchmark itself keeps about one "
        f"core busy; what is above 1 was the work of others, so compare ratios, not "
        f"microseconds."
    )
    effort = (
        f"* {plan['repetitions']} repetitions, {plan['large_repetitions']} above "
        f"10,000 items; up to {plan['budget']:g} s per operation"
    )
    lines = [
        "## Where and when",
        "",
        f"* {machine['date']}, {found['minutes']:.0f} minutes",
        hardware,
        load,
        f"* Python {machine['python']}, SQLite {machine['sqlite']}, {versions}",
        effort,
    ]
    lines += [
        f"* Not runnable: {skipped['row']} ({skipped['reason']})"
        for skipped in found["not_runnable"]
    ]
    disagreements = results.disagreements()
    lines.append(
        "* All stores gave the same answers to the same filters and vector queries."
        if not disagreements
        else f"* Stores gave different answers: {'; '.join(disagreements)}."
    )
    return "\n".join(lines)
