"""Very many users, visited in a cycle and by Zipf's law, under a budget.

`python -m benchmarks.search_speed.crowd '{"task": "fill" | "visit", …}'`
"""

import json
import os
import sys
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
from benchmarks.storage.engines import open_store

_PEER_VISITS = 300
_WARM_UP = 100
_RESIDENT_EVERY = 1_000


def fill_file(contestant: str, folder: str, users: int, per_user: int) -> None:
    """Write the file of a contestant."""
    embedder = HashEmbedder(DIMENSIONS)
    with open_store(contestant, Path(folder), embedder, DIMENSIONS) as store:  # type: ignore[arg-type]
        fill(store, Texts("en", seed=1), users, per_user)


def visit(  # noqa: PLR0913 - one number each
    *,
    ours: str,
    peers: str | None,
    users: int,
    visits: int,
    budget: int,
    order: str,
    mode: str,
) -> dict[str, Any]:
    """Return what visits cost, ours and the peer's. A visit is one search of one user.

    Args:
        ours: Folder of our file.
        peers: Folder of the peer's, whose visits are spread over ours.
        users: How many users there are.
        visits: How many visits.
        budget: Bytes that warm indexes may take.
        order: `"cycle"` or `"Zipf"`.
        mode: By words, by meaning or by both.
    """
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415

    embedder = HashEmbedder(DIMENSIONS)
    index: Any = {"embed": embedder, "dims": DIMENSIONS, "fields": ["memory"]}
    with ExitStack() as stack:
        peer = None
        if peers is not None:
            opened = open_store("SqliteStore", Path(peers), embedder, DIMENSIONS)
            peer = stack.enter_context(opened)
        store = MemoryStore.from_url(
            f"sqlite:///{Path(ours) / 'store.db'}", index=index, search_memory=budget
        )
        stack.enter_context(store)
        visitors = _cycle(users) if order == "cycle" else _zipf(users)
        return _visit(
            store, peer, visitors, visits=visits, mode=mode, clock=Clock(embedder)
        )


def _cycle(users: int) -> Iterator[int]:
    return cycle(range(users))


def _zipf(users: int) -> Iterator[int]:
    random = Random(5)
    sums = list(accumulate(1 / rank for rank in range(1, users + 1)))
    ranked = list(range(users))
    random.shuffle(ranked)
    while True:
        yield ranked[bisect(sums, random.random() * sums[-1])]


def _visit(  # noqa: PLR0913 - see `visit`
    store: Any,
    peer: Any,
    visitors: Iterator[int],
    *,
    visits: int,
    mode: str,
    clock: Clock,
) -> dict[str, Any]:
    texts = Texts("en", seed=2)
    store.search_memories("nobody", "warm up", mode=mode)
    for _ in range(_WARM_UP):  # what does not grow with the indexes is there already
        query = texts.query()
        store.search_memories("nobody", query, mode=mode)
        if peer is not None:
            peer.search(namespace(0), query=query, limit=10)
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
    given = json.loads(sys.argv[1])
    task = {"fill": fill_file, "visit": visit}[given.pop("task")]
    print(json.dumps(task(**given)))  # type: ignore[operator]
    sys.stdout.flush()
    os._exit(0)
