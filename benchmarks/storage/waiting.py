"""How long a `get` waits while another thread waits for an embedding service.

Runs in a process of its own: `python -m benchmarks.storage.waiting CONTESTANT`.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from benchmarks.storage.corpus import HashEmbedder, value
from benchmarks.storage.engines import open_store
from benchmarks.storage.matrix import DIMENSIONS, Contestant

EMBEDDING_SECONDS: Final = 0.6
"""How long the embedding service takes to answer."""

_PAUSE: Final = 0.001
_NAMESPACE: Final = ("memories", "default", "ann")


def measure(contestant: Contestant) -> dict[str, Any]:
    """Return the waiting times of `get` in milliseconds, during a put and a query."""
    with tempfile.TemporaryDirectory(prefix="storage-benchmark-") as name:
        embedder = HashEmbedder(DIMENSIONS)
        with open_store(contestant, Path(name), embedder, DIMENSIONS) as store:
            for number in range(100):
                text = f"note number {number}"
                store.put(_NAMESPACE, f"item-{number}", value(text, number))
            store.search(_NAMESPACE, query="note")
            embedder.delay = EMBEDDING_SECONDS
            read = lambda: store.get(_NAMESPACE, "item-7")  # noqa: E731
            return {
                "contestant": contestant,
                "put": _waits(
                    lambda: store.put(_NAMESPACE, "new", value("a new note", 1)), read
                ),
                # Not the same question: its vector is known by now.
                "query": _waits(
                    lambda: store.search(_NAMESPACE, query="another note"), read
                ),
            }


def _waits(slow: Callable[[], object], read: Callable[[], object]) -> dict[str, Any]:
    thread = threading.Thread(target=slow)
    waits: list[float] = []
    thread.start()
    time.sleep(EMBEDDING_SECONDS / 10)  # until the embedder is waiting
    while thread.is_alive():
        started = time.perf_counter()
        read()
        waits.append((time.perf_counter() - started) * 1000)
        time.sleep(_PAUSE)
    thread.join()
    # The last calls run beside the write itself, which is not what is asked.
    during = waits[:-3] or waits
    return {
        "calls": len(during),
        "p50_ms": float(np.median(during)),
        "p99_ms": float(np.percentile(during, 99)),
        "longest_ms": max(during),
    }


if __name__ == "__main__":
    print(json.dumps(measure(cast("Contestant", sys.argv[1]))))
