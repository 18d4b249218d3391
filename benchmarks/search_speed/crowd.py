"""Very many users, visited in a cycle and by Zipf's law, under a budget.

`python -m benchmarks.search_speed.crowd '{"users": …, …}'`
"""

import json
import os
import sys
import tempfile
from bisect import bisect
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import accumulate, cycle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.search_speed.filling import Clock, fill, namespace, user_name
from benchmarks.search_speed.plan import DIMENSIONS
from benchmarks.search_speed.resident import resident_mb
from benchmarks.storage.corpus import HashEmbedder, Texts
from benchmarks.storage.engines import obstacle, open_store

_PEER_VISITS = 300
_RESIDENT_EVERY = 1_000


def measure(users: int, per_user: int, visits: int, budget: int) -> dict[str, Any]:
    """Return what visits cost, ours by words, by meaning and by both, and the peer's.

    A visit is one search of one user. The peer's visits are spread over ours.

    Args:
        users: How many there are.
        per_user: Memories of each.
        visits: In each order and mode.
        budget: Bytes that warm indexes may take.
    """
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415

    embedder = HashEmbedder(DIMENSIONS)
    clock, found = Clock(embedder), {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with open_store("ours-sqlite", folder, embedder, DIMENSIONS) as store:
            fill(store, Texts("en", seed=1), users, per_user)
        peer: Any = None
        if obstacle("SqliteStore", DIMENSIONS) is None:
            beside = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            opened = open_store("SqliteStore", beside, embedder, DIMENSIONS)
            peer = stack.enter_context(opened)
            fill(peer, Texts("en", seed=1), users, per_user)
        for order in ("cycle", "Zipf"):
            for mode in ("lexical", "vector", "hybrid"):
                store = MemoryStore.from_url(
                    f"sqlite:///{folder / 'store.db'}",
                    index={
                        "embed": embedder,
                        "dims": DIMENSIONS,
                        "fields": ["memory"],
                    },
                    search_memory=budget,
                )
                visitors = _cycle(users) if order == "cycle" else _zipf(users)
                seen = _visit(store, peer, visitors, visits, mode, clock)
                found[f"{order}, {mode}"] = seen
                store.close()
    return found


def _cycle(users: int) -> Iterator[int]:
    return cycle(range(users))


def _zipf(users: int) -> Iterator[int]:
    random = Random(5)
    sums = list(accumulate(1 / rank for rank in range(1, users + 1)))
    ranked = list(range(users))
    random.shuffle(ranked)
    while True:
        yield ranked[bisect(sums, random.random() * sums[-1])]


def _visit(
    store: Any, peer: Any, visitors: Iterator[int], visits: int, mode: str, clock: Clock
) -> dict[str, Any]:
    texts = Texts("en", seed=2)
    store.search_memories("nobody", "warm up", mode=mode)
    before = resident_mb()
    warm: set[int] = set()
    times: dict[str, list[float]] = {"all": [], "cold": [], "peer": []}
    most_resident = most_accounted = 0.0
    for number in range(visits):
        user, query = next(visitors), texts.query()
        cpu = clock.cpu_us(
            lambda user=user, query=query: store.search_memories(
                user_name(user), query, mode=mode, limit=10
            )
        )
        times["all"].append(cpu)
        if user not in warm:
            times["cold"].append(cpu)
            warm.add(user)
        if peer is not None and number % max(1, visits // _PEER_VISITS) == 0:
            times["peer"].append(
                clock.cpu_us(
                    lambda user=user, query=query: peer.search(
                        namespace(user), query=query, limit=10
                    )
                )
            )
        if (number + 1) % min(_RESIDENT_EVERY, visits) == 0:
            most_resident = max(most_resident, resident_mb() - before)
            held = store._service.shelves.describe()["bytes"] / 1e6  # noqa: SLF001
            most_accounted = max(most_accounted, held)
    return {
        "resident_mb": most_resident,
        "accounted_mb": most_accounted,
        "users": len(warm),
        **{f"{name}_us": _percentiles(cpu) for name, cpu in times.items()},
    }


def _percentiles(cpu: list[float]) -> dict[str, float] | None:
    if not cpu:
        return None
    p50, p95 = np.percentile(cpu, (50, 95))
    return {"p50": float(p50), "p95": float(p95), "mean": float(np.mean(cpu))}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
    sys.stdout.flush()
    os._exit(0)
