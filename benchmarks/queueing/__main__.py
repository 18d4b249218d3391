"""Time of the post-turn node, over that of a node that does nothing.

`python -m benchmarks.queueing` prints a row per engine and load: the median and the
99th percentile of many turns in a conversation of 40 messages, and the CPU time.
"""

import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from langchain_agentmemory import AppendOnly, MemoryStore, Operation, QueueExtraction
from langchain_agentmemory.extraction.operations import Operations

TURNS = 400
HISTORY = 40
PAUSE = 0.02
"""Seconds between turns: nobody speaks faster."""


class Echo:
    """Makes one memory of every statement."""

    policy = AppendOnly()

    def should_extract(self, context: object) -> bool:
        """Extract at once."""
        return context is not None

    def extract(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Operations:
        """Return an addition per statement of the user."""
        said = [str(m.content) for m in messages if isinstance(m, HumanMessage)]
        return Operations([Operation("add", memory=text) for text in said])

    async def aextract(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> Operations:
        """Do the same."""
        return self.extract(messages)


class Row(NamedTuple):
    """Milliseconds of one node."""

    median: float
    p99: float
    cpu: float


def graph_with(node: Any) -> Any:
    """Return a graph of one node."""
    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph.compile()


def measure(graph: Any, user: str) -> Row:
    """Run a conversation through a graph, and time its turns."""
    config = {"configurable": {"user_id": user, "thread_id": "t"}}
    history: list[BaseMessage] = []
    wall, cpu = [], []
    for number in range(-HISTORY // 2, TURNS):
        history += [
            HumanMessage(f"{user} states fact number {number}", id=f"h{number}"),
            AIMessage("Noted", id=f"a{number}"),
        ]
        history = history[-HISTORY:]
        time.sleep(PAUSE)
        started, began = time.perf_counter(), time.thread_time()
        graph.invoke({"messages": history}, config)
        if number >= 0:
            wall.append(time.perf_counter() - started)
            cpu.append(time.thread_time() - began)
    wall.sort()
    return Row(
        1e3 * statistics.median(wall),
        1e3 * wall[int(len(wall) * 0.99)],
        1e3 * statistics.median(cpu),
    )


@contextmanager
def writing(store: MemoryStore, file: Path | None) -> Iterator[None]:
    """Keep a worker busy with other users, and the write-ahead log checkpointed."""
    over = threading.Event()

    def talk() -> None:
        number = 0
        while not over.wait(0.01):
            number += 1
            said = HumanMessage(f"Something number {number}", id=f"other-{number}")
            store.enqueue_extraction(f"other{number % 7}", [said], thread_id="t")

    def checkpoint() -> None:
        while file is not None and not over.wait(0.2):
            with sqlite3.connect(file) as connection:
                connection.execute("PRAGMA wal_checkpoint(RESTART)")

    threads = [threading.Thread(target=target) for target in (talk, checkpoint)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def main() -> None:
    """Print the table."""
    print(
        f"{'engine':8}{'load':22}{'median':>9}{'p99':>9}{'CPU':>9}   (ms, node alone)"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "queue.db"
        for engine, url in (("memory", "memory://"), ("sqlite", f"sqlite:///{file}")):
            store = MemoryStore.from_url(url, extractor=Echo(), memory_limit=None)
            loads: dict[str, Callable[[], Any]] = {
                "idle": nullcontext,
                "writing, checkpoints": lambda store=store, engine=engine: writing(
                    store, file if engine == "sqlite" else None
                ),
            }
            for load, under in loads.items():
                with under():
                    nothing = measure(graph_with(lambda _: {}), "nobody")
                    queue = measure(graph_with(QueueExtraction(store)), f"u-{load[:4]}")
                print(
                    f"{engine:8}{load:22}"
                    f"{queue.median - nothing.median:9.3f}"
                    f"{queue.p99 - nothing.p99:9.3f}"
                    f"{queue.cpu - nothing.cpu:9.3f}",
                    flush=True,
                )
            store.flush(60)
            store.close()


if __name__ == "__main__":
    main()
