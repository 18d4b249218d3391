"""Ten of a user's memories in front of a turn.

`python -m benchmarks.search_speed.preload '{"backend": …, "items": …, "rounds": …}'`
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.search_speed.filling import Clock, fill, user_name
from benchmarks.search_speed.plan import DIMENSIONS
from benchmarks.storage.corpus import HashEmbedder, Texts
from benchmarks.storage.engines import open_store

_CALLS = 20


def measure(ours: str, items: int, rounds: int, *, vectors: bool) -> dict[str, Any]:
    """Return CPU microseconds of a preload, round by round: selected and rendered."""
    from langchain_agentmemory import PreloadMemories  # noqa: PLC0415

    embedder = HashEmbedder(DIMENSIONS) if vectors else None
    clock, texts = Clock(embedder), Texts("en", seed=2)
    dims = DIMENSIONS if vectors else 0
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(ours, Path(folder), embedder, dims) as store,  # type: ignore[arg-type]
    ):
        fill(store, Texts("en", seed=1), 1, items)
        preload = PreloadMemories(store, limit=10)
        preload.render(user_name(0), texts.query())
        return {
            "cpu_us": [
                clock.mean_us(
                    lambda query: preload.render(user_name(0), query),
                    [texts.query() for _ in range(_CALLS)],
                )
                for _ in range(rounds)
            ]
        }


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
