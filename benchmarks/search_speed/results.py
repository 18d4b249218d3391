"""Looking things up in the results of a run, and the goals that were set."""

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.storage.goals import Goal


class Results:
    """The results of a run.

    Args:
        found: What `run_all` returned.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        """Keep them."""
        self.found = found
        self.plan: dict[str, Any] = found["plan"]

    def cpu(self, ours: str, items: int, what: str) -> float | None:
        """Return the median CPU microseconds of a search of one user's memories."""
        return _median(_rounds(self.found["one_user"].get(f"{ours}, {items}"), what))

    def ratio(self, ours: str, items: int, what: str) -> float | None:
        """Return how many times less CPU than the peer: median over the rounds."""
        return _ratio(self.found["one_user"].get(f"{ours}, {items}"), what)

    def crowd_ratio(self, ours: str, what: str) -> float | None:
        """Return the same for one of many users."""
        return _ratio(self.found["many_users"].get(ours), what)

    def crowd_cpu(self, ours: str, what: str) -> float | None:
        """Return the median CPU microseconds of a search of one of many users."""
        return _median(_rounds(self.found["many_users"].get(ours), what))

    def resident(self, contestant: str) -> float | None:
        """Return resident megabytes, warm."""
        found = self.found["resident"].get(contestant)
        return None if found is None else float(found["warm"])

    def restart(self, name: str) -> float | None:
        """Return median CPU milliseconds of a first search, or of loading jieba."""
        return _median(self.found["restart"]["cpu_ms"].get(name))

    def preload(self, name: str) -> float | None:
        """Return median CPU microseconds of a preload."""
        found = self.found["preload"].get(name)
        return None if found is None else _median(found["cpu_us"])

    def adding(self, ours: str, size: int, what: str = "add") -> float | None:
        """Return median CPU microseconds of adding to a user with so many memories."""
        found = self.found["adding"].get(ours)
        return None if found is None else _median(found[str(size)][what])


def _rounds(found: dict[str, Any] | None, what: str) -> list[float] | None:
    return None if found is None else found["cpu_us"].get(what)


def _median(values: list[float] | None) -> float | None:
    return statistics.median(values) if values else None


def _ratio(found: dict[str, Any] | None, what: str) -> float | None:
    ours, peer = _rounds(found, what), _rounds(found, "peer")
    if not ours or not peer:
        return None
    return statistics.median(p / o for p, o in zip(peer, ours, strict=True))


def goals(results: Results) -> Iterator[Goal]:
    """Yield the goals with what a run measured."""
    memory, sqlite = "ours-memory", "ours-sqlite"
    for ours, what, items, bound in (
        (memory, "vector", 10_000, 150),
        (memory, "vector", 100_000, 250),
        (memory, "hybrid", 10_000, 80),
        (sqlite, "hybrid", 10_000, 20),
        (sqlite, "hybrid", 100_000, 30),
    ):
        peer = "InMemoryStore" if ours == memory else "SqliteStore"
        yield Goal(
            f"{what} query of {items:,}, {ours.partition('-')[2]}, against the vector "
            f"query of {peer}",
            bound,
            results.ratio(ours, items, what),
            "× less CPU",
            at_least=True,
        )
    own, peers = results.resident(memory), results.resident("InMemoryStore")
    large = results.plan["sizes"][-1] >= 100_000  # noqa: PLR2004
    yield Goal(
        "resident memory of 100,000 with vectors, against InMemoryStore",
        6,
        peers / own if own and peers and large else None,
        "× less",
        at_least=True,
    )
    lexical = results.cpu(memory, 10_000, "lexical")
    yield _most("lexical query of 10,000", 0.5, lexical, 1000, "ms")
    yield from _restart_goals(results)
    for name in results.found["preload"]:
        cpu = results.preload(name)
        yield _most(
            f"preload of 10 from {results.plan['preloaded']:,}: {name}",
            1,
            cpu,
            1000,
            "ms",
        )
    for ours in (memory, sqlite):
        few, many = (results.adding(ours, n) for n in results.plan["added_to"])
        more = many / few if few and many else None
        text = "adding to {1:,} memories against adding to {0:,}".format(
            *results.plan["added_to"]
        )
        yield Goal(f"{text}, {ours.partition('-')[2]}", 1.5, more, "×", at_least=False)
    yield from _crowd_goals(results)


def _most(text: str, bound: float, found: float | None, unit: float, name: str) -> Goal:
    measured = None if found is None else found / unit
    return Goal(text, bound, measured, f"{name} CPU", at_least=False)


def _restart_goals(results: Results) -> Iterator[Goal]:
    items, jieba = results.found["restart"]["items"], results.restart("jieba")
    for mode in ("lexical", "hybrid"):
        english = results.restart(f"en, {mode}")
        text = f"first {mode} query after a restart, {items:,}"
        yield _most(f"{text}, English", 250, english, 1, "ms")
        chinese = results.restart(f"zh, {mode}")
        more = chinese - jieba if chinese and jieba else None
        yield _most(f"{text}, Chinese, beyond loading jieba", 100, more, 1, "ms")


def _crowd_goals(results: Results) -> Iterator[Goal]:
    plan = results.plan
    for what in ("lexical", "vector", "hybrid"):
        yield Goal(
            f"{what} query, {plan['many_users']:,} users × {plan['per_user']}, against "
            f"SqliteStore's vector query",
            1,
            results.crowd_ratio("ours-sqlite", what),
            "× less CPU",
            at_least=True,
        )
    visits = results.found["crowd"]
    yield Goal(
        f"{plan['crowd']:,} users visited: growth of resident memory, of a budget of "
        f"{plan['budget'] / 1e6:.0f} MB",
        1.25,
        max(v["resident_mb"] for v in visits.values()) * 1e6 / plan["budget"],
        "× the budget",
        at_least=False,
    )
    for name, found in visits.items():
        if not name.startswith("cycle"):
            continue
        cold, peer = found["cold_us"], found["peer_us"]
        yield Goal(
            f"cold visit, {name.partition(', ')[2]}, against SqliteStore's query",
            1,
            peer["p50"] / cold["p50"] if peer and cold else None,
            "× less CPU",
            at_least=True,
        )
