"""One row: fill a store, time its operations, print the result as JSON.

Runs in a process of its own (`python -m benchmarks.storage.row '{"contestant": …}'`),
so that resident memory is that of one store.
"""

import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, Final

import psutil
from langgraph.store.base import BaseStore, PutOp

from benchmarks.storage.corpus import PLACES, HashEmbedder, Texts, value
from benchmarks.storage.engines import open_store
from benchmarks.storage.matrix import Row
from benchmarks.storage.timing import Timing, timed

AT_ONCE: Final = 500
"""Items per batch while a store is filled."""

READS: Final = 2_000
LISTS: Final = 300
QUERIES: Final = 100
WRITES: Final = 500


class Measurement:
    """A store under measurement.

    Args:
        row: What to measure.
        store: The store.
        embedder: What makes its vectors, `None` for none.
        folder: Where its files are.
    """

    def __init__(
        self, row: Row, store: BaseStore, embedder: HashEmbedder | None, folder: Path
    ) -> None:
        """Make what is written and asked for; nothing is measured yet."""
        self.row, self.store, self.embedder = row, store, embedder
        self._folder = folder
        self._random = Random(7)
        self._texts = Texts(row.language, seed=1)
        # Kept as bytes, so that the texts in the store are its own.
        self._stored = [self._texts.text().encode() for _ in range(row.items)]
        self._writes = min(WRITES, max(50, row.items // 5))
        self._new = [self._texts.text().encode() for _ in range(2 * self._writes + 1)]
        self._queries = [self._texts.query() for _ in range(QUERIES)]
        users = [f"user-{number:04}" for number in range(row.users)]
        self._users = users
        self._namespaces = [("memories", "default", user) for user in users]
        self.operations: dict[str, Timing] = {}
        self.answers: dict[str, Any] = {}
        self.memory: dict[str, float] = {}

    def run(self) -> dict[str, Any]:
        """Measure everything and return it."""
        started = _resident()
        self._warm_up()
        self._fill()
        gc.collect()
        self.memory["loaded"] = _resident() - started
        if not self.row.writes_only:
            self._first_query()
            self._reads()
            self._searches()
            gc.collect()
            self.memory["warm"] = _resident() - started
        self._change()
        files = [file.stat().st_size for file in self._folder.iterdir()]
        self.memory["disk"] = sum(files) / 1e6
        return {
            "row": self.row.to_json(),
            "operations": {n: asdict(t) for n, t in self.operations.items()},
            "megabytes": self.memory,
            "answers": self.answers,
        }

    def _time(
        self, name: str, call: Callable[[int], object], calls: int, *, warm: bool = True
    ) -> None:
        if warm:
            call(0)
        self.operations[name] = timed(
            call, calls, budget=self.row.budget, embedder=self.embedder
        )

    def _warm_up(self) -> None:
        """Load what is loaded with the first text: dictionaries, statements."""
        namespace = ("memories", "default", "warm-up")
        self.store.put(namespace, "key", value(self._texts.text(), 0))
        self.store.get(namespace, "key")
        self.store.delete(namespace, "key")

    def _fill(self) -> None:
        batches = list(range(0, self.row.items, AT_ONCE))
        embedder = self.embedder
        timing = timed(
            lambda number: self.store.batch(self._batch(batches[number])),
            len(batches),
            budget=float("inf"),
            embedder=embedder,
        )
        per_item = len(batches) / self.row.items
        self.operations["load"] = Timing(
            self.row.items,
            timing.cpu_us * per_item,
            timing.wall_p50_us / min(AT_ONCE, self.row.items),
            timing.wall_p95_us / min(AT_ONCE, self.row.items),
        )

    def _batch(self, start: int) -> list[PutOp]:
        numbers = range(start, min(start + AT_ONCE, self.row.items))
        return [
            PutOp(
                self._namespace(number),
                _key(number),
                value(self._stored[number].decode(), number),
            )
            for number in numbers
        ]

    def _namespace(self, number: int) -> tuple[str, ...]:
        return self._namespaces[number % self.row.users]

    def _some(self, count: int) -> list[int]:
        return [self._random.randrange(self.row.items) for _ in range(count)]

    def _first_query(self) -> None:
        """Time the first search after writing: what is prepared late, shows here."""
        query = self._queries[0]
        if self.row.dims:
            self._time(
                "first query",
                lambda _: self.store.search(self._namespace(0), query=query),
                1,
                warm=False,
            )
        elif self._is_ours:
            self._time("first query", lambda _: self._find(0, "lexical"), 1, warm=False)

    def _reads(self) -> None:
        store, some = self.store, self._some(READS)
        self._time(
            "get", lambda n: store.get(self._namespace(some[n]), _key(some[n])), READS
        )
        self._time(
            "newest 10",
            lambda n: store.search(self._namespace(some[n]), limit=10),
            LISTS,
        )
        if self.row.users > 1:
            self._time(
                "newest 10 of all users",
                lambda _: store.search(("memories",), limit=10),
                LISTS,
            )
        self._time(
            "filter 10",
            lambda n: store.search(
                self._namespace(some[n]),
                filter={"location": f"place-{n % PLACES}"},
                limit=10,
            ),
            LISTS,
        )
        self._time(
            "list_namespaces",
            lambda _: store.list_namespaces(prefix=("memories",), limit=100),
            LISTS,
        )
        self.answers["namespaces"] = len(store.list_namespaces(limit=5_000))
        found = store.search(
            self._namespace(3), filter={"location": "place-3"}, limit=10_000
        )
        self.answers["filtered"] = len(found)

    @property
    def _is_ours(self) -> bool:
        return self.row.contestant.startswith("ours")

    def _searches(self) -> None:
        store, some = self.store, self._some(QUERIES)
        if self.row.dims:
            self._time(
                "vector query 10",
                lambda n: store.search(
                    self._namespace(some[n]), query=self._queries[n], limit=10
                ),
                QUERIES,
            )
            self._time(
                "vector query 10 with filter",
                lambda n: store.search(
                    self._namespace(some[n]),
                    query=self._queries[n],
                    filter={"location": f"place-{n % PLACES}"},
                    limit=10,
                ),
                QUERIES,
            )
            self.answers["nearest"] = [
                item.key
                for item in store.search(
                    self._namespace(0), query=self._queries[0], limit=10
                )
            ]
        if self._is_ours:
            self._time("lexical query 10", lambda n: self._find(n, "lexical"), QUERIES)
        if self._is_ours and self.row.dims:
            self._time("hybrid query 10", lambda n: self._find(n, "hybrid"), QUERIES)

    def _find(self, number: int, mode: str) -> object:
        user = self._users[number % self.row.users]
        store: Any = self.store
        return store.search_memories(user, self._queries[number], mode=mode, limit=10)

    def _change(self) -> None:
        count, store, items = self._writes, self.store, self.row.items
        texts = [text.decode() for text in self._new]
        self._time(
            "put",
            lambda n: store.put(
                self._namespace(n), _key(items + n), value(texts[n], n)
            ),
            count,
            warm=False,
        )
        written = self.operations["put"].calls
        some = self._some(count)
        self._time(
            "put overwrite",
            lambda n: store.put(
                self._namespace(some[n]), _key(some[n]), value(texts[count + n], n)
            ),
            count,
            warm=False,
        )
        if not self.row.writes_only:
            self._time(
                "delete",
                lambda n: store.delete(self._namespace(n), _key(items + n)),
                written,
                warm=False,
            )


def _key(number: int) -> str:
    return f"item-{number:07}"


def _resident() -> float:
    """Return resident memory in MB (10^6 bytes)."""
    return float(psutil.Process().memory_info().rss) / 1e6


def measure(row: Row) -> dict[str, Any]:
    """Measure one row in this process."""
    with tempfile.TemporaryDirectory(prefix="storage-benchmark-") as name:
        folder = Path(name)
        embedder = HashEmbedder(row.dims) if row.dims else None
        with open_store(row.contestant, folder, embedder, row.dims) as store:
            return Measurement(row, store, embedder, folder).run()


if __name__ == "__main__":
    result = measure(Row.from_json(json.loads(sys.argv[1])))
    print(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # nothing to tidy up: taking down 100,000 items would take seconds
