"""Resident memory of one store with one user's memories, warm.

`python -m benchmarks.search_speed.resident '{"contestant": …, "items": …}'`
"""

import gc
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

from benchmarks.search_speed.filling import fill, namespace, user_name
from benchmarks.search_speed.plan import DIMENSIONS
from benchmarks.storage.corpus import HashEmbedder, Texts
from benchmarks.storage.engines import open_store


def resident_mb() -> float:
    """Return resident memory of this process in MB (10^6 bytes)."""
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 1e6


def measure(contestant: str, items: int) -> dict[str, Any]:
    """Return the growth of resident memory since the store was opened, in MB."""
    embedder, texts = HashEmbedder(DIMENSIONS), Texts("en", seed=1)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(contestant, Path(folder), embedder, DIMENSIONS) as opened,  # type: ignore[arg-type]
    ):
        store: Any = opened
        store.put(namespace(1), "key", {"memory": texts.text()})
        store.search(namespace(1), query="warm up")
        before = resident_mb()
        fill(store, texts, 1, items)
        loaded = resident_mb() - before
        for _ in range(3):
            store.search(namespace(0), query=texts.query())
            if contestant.startswith("ours"):
                store.search_memories(user_name(0), texts.query(), mode="hybrid")
        found = {"loaded": loaded, "warm": resident_mb() - before}
        if contestant.startswith("ours"):
            shelves = store._service.shelves  # noqa: SLF001 - no public number
            found["accounted"] = shelves.describe()["bytes"] / 1e6
        return found


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
    sys.stdout.flush()
    os._exit(0)  # nothing to tidy up: taking down 100,000 items would take seconds
