"""Adding a memory to a user with few and to one with very many, in turn.

`python -m benchmarks.search_speed.adding '{"ours": …, "sizes": [100, 100000], …}'`
"""

import json
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.search_speed.filling import Clock, fill, user_name
from benchmarks.search_speed.plan import DIMENSIONS
from benchmarks.storage.corpus import HashEmbedder, Texts
from benchmarks.storage.engines import open_store

_CALLS = 30


def measure(ours: str, sizes: list[int], rounds: int) -> dict[str, Any]:
    """Return CPU microseconds of an add, and of the search that shows it.

    Each user has a store of their own, so that neither's warm index is dropped for
    the other's. The search is the same before and after: the difference is what
    bringing the index up to date costs.
    """
    embedder = HashEmbedder(DIMENSIONS)
    clock, texts = Clock(embedder), Texts("en", seed=2)
    found: dict[str, Any] = {str(size): {"add": [], "refresh": []} for size in sizes}
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory())
        stores: dict[int, Any] = {}
        for size in sizes:
            folder = Path(name) / str(size)
            folder.mkdir()
            opened = open_store(ours, folder, embedder, DIMENSIONS)  # type: ignore[arg-type]
            stores[size] = stack.enter_context(opened)
            fill(stores[size], Texts("en", seed=1), 1, size)
            stores[size].search_memories(user_name(0), texts.query())
        for _ in range(rounds):
            for size, store in stores.items():
                new = [texts.text() for _ in range(_CALLS)]
                adds = clock.mean_us(
                    lambda text, store=store: store.add_memory(user_name(0), text), new
                )
                found[str(size)]["add"].append(adds)
                found[str(size)]["refresh"].append(_refresh(clock, store, texts))
    return found


def _refresh(clock: Clock, store: Any, texts: Texts) -> float:
    """Return what one added memory makes the next search dearer."""
    query = texts.query()
    search = lambda: store.search_memories(user_name(0), query, mode="lexical")  # noqa: E731
    search()
    more = []
    for _ in range(5):
        store.add_memory(user_name(0), texts.text())
        more.append(clock.cpu_us(search) - clock.cpu_us(search))
    return statistics.median(more)


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
    sys.stdout.flush()
    os._exit(0)  # taking down 100,000 items would take seconds
