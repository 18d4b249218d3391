"""The first search after a restart, and what loading jieba takes by itself.

`python -m benchmarks.search_speed.restart '{"task": "fill" | "search" | "jieba", …}'`
"""

import json
import sys
import time
from typing import Any

from benchmarks.search_speed.plan import DIMENSIONS

_QUERIES = {"en": "what do they really like about it", "zh": "他们喜欢什么地方"}


class ConstantEmbedder:
    """Gives every text the same vector, in no time and without numpy."""

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""
        return [[DIMENSIONS**-0.5] * DIMENSIONS for _ in texts]


def fill(path: str, language: str, items: int) -> None:
    """Write a file with memories of one user, as a process of the past did."""
    from benchmarks.search_speed.filling import fill as put_all  # noqa: PLC0415
    from benchmarks.storage.corpus import HashEmbedder, Texts  # noqa: PLC0415
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415

    with MemoryStore.from_url(
        f"sqlite:///{path}",
        index={"embed": HashEmbedder(DIMENSIONS), "dims": DIMENSIONS, "name": "bench"},
        memory_limit=None,
    ) as store:
        put_all(store, Texts(language, seed=1), 1, items)  # type: ignore[arg-type]


def search(path: str, language: str, *, vectors: bool, numpy: bool) -> dict[str, Any]:
    """Return CPU milliseconds of opening the file and of one search.

    Args:
        path: The file.
        language: Of the query.
        vectors: Open it with an embedder.
        numpy: Load numpy before the clock starts, as most embedders do.
    """
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415

    if numpy:
        import numpy  # noqa: ICN001, PLC0415
    index: Any = {"embed": ConstantEmbedder(), "dims": DIMENSIONS, "name": "bench"}
    started = time.process_time()
    store = MemoryStore.from_url(
        f"sqlite:///{path}", index=index if vectors else None, memory_limit=None
    )
    found = store.search_memories("user-00000", _QUERIES[language])
    cpu = (time.process_time() - started) * 1000
    return {"cpu_ms": cpu, "found": len(found)}


def jieba() -> dict[str, Any]:
    """Return CPU milliseconds of loading jieba and its dictionary."""
    started = time.process_time()
    import jieba as module  # noqa: PLC0415

    module.initialize()
    return {"cpu_ms": (time.process_time() - started) * 1000}


def measure(task: str, **given: Any) -> object:
    """Do one of the tasks."""
    return {"fill": fill, "search": search, "jieba": jieba}[task](**given)  # type: ignore[operator]


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
