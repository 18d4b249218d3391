"""The goals that were set, and whether a run met them."""

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.common.goals import Goal
from benchmarks.storage.matrix import DIMENSIONS
from benchmarks.storage.results import Results, ratio
from benchmarks.storage.startup import BASE, FIRST_USE, IMPORT

ONE_COPY: Final = 1.3
"""Up to how many times the size of the bare vectors counts as one copy of them."""


def goals(results: Results) -> Iterator[Goal]:
    """Yield the goals with what a run measured."""
    largest, middle = 100_000, 10_000
    yield _times(
        f"newest 10 of {largest:,} items on SQLite, against SqliteStore",
        100,
        results.cpu("SqliteStore", largest, "newest 10"),
        results.cpu("ours-sqlite", largest, "newest 10"),
    )
    for language, name, bound in (("en", "English", 5), ("zh", "Chinese (jieba)", 2)):
        yield _times(
            f"put on SQLite, {name}, against SqliteStore",
            bound,
            results.writing_cpu("SqliteStore", language),  # type: ignore[arg-type]
            results.writing_cpu("ours-sqlite", language),  # type: ignore[arg-type]
        )
    yield _times(
        f"vector query over {middle:,} items in memory, against InMemoryStore",
        50,
        results.cpu("InMemoryStore", middle, "vector query 10", dims=DIMENSIONS),
        results.cpu("ours-memory", middle, "vector query 10", dims=DIMENSIONS),
    )
    yield Goal(
        f"one copy of the vectors in memory ({largest:,} items, resident)",
        ONE_COPY,
        results.copies("ours-memory", largest),
        "copies",
        at_least=False,
    )
    for contestant in ("ours-memory", "ours-sqlite"):
        yield Goal(
            f"get during an embedding call, longest, {contestant.partition('-')[2]}",
            5,
            _longest(results.found["waiting"].get(contestant)),
            "ms",
            at_least=False,
        )
    started = results.found["startup"]
    for text, bound, name in (
        ("import, more than `import langgraph.store.base`", 40, IMPORT),
        ("`MemoryStore()`, first add and search, more than the same", 150, FIRST_USE),
    ):
        more = started[name]["least_ms"] - started[BASE]["least_ms"]
        yield Goal(text, bound, more, "ms CPU", at_least=False)


def _times(text: str, bound: float, peer: float | None, ours: float | None) -> Goal:
    return Goal(text, bound, ratio(peer, ours), "× less CPU", at_least=True)


def _longest(found: dict[str, Any] | None) -> float | None:
    if found is None:
        return None
    return float(max(found[what]["longest_ms"] for what in ("put", "query")))
