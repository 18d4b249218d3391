"""Timing: CPU time of the whole process, and wall time per call."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.storage.corpus import HashEmbedder

LEAST = 2
"""Calls that are made however long they take."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What a call costs, without making vectors.

    Attributes:
        calls: How many were measured.
        cpu_us: CPU microseconds per call, mean: all threads, user and kernel time.
        wall_p50_us: Median of wall microseconds.
        wall_p95_us: 95th percentile of wall microseconds.
    """

    calls: int
    cpu_us: float
    wall_p50_us: float
    wall_p95_us: float


def timed(
    call: Callable[[int], object],
    calls: int,
    *,
    budget: float,
    embedder: HashEmbedder | None,
) -> Timing:
    """Call a function with 0, 1, 2, … and time it.

    CPU time is that of the process (`time.process_time_ns`: user and kernel time of
    all threads), taken around all calls; no contestant starts child processes.

    Args:
        call: What to measure.
        calls: How often.
        budget: Seconds after which no further call is made.
        embedder: Whose costs are taken out.
    """
    walls: list[int] = []
    embedding_cpu = embedder.cpu_ns if embedder else 0
    deadline = time.perf_counter_ns() + budget * 1e9
    cpu = time.process_time_ns()
    for number in range(calls):
        embedding = embedder.wall_ns if embedder else 0
        started = time.perf_counter_ns()
        call(number)
        ended = time.perf_counter_ns()
        embedding = (embedder.wall_ns if embedder else 0) - embedding
        walls.append(ended - started - embedding)
        if ended > deadline and number + 1 >= LEAST:
            break
    cpu = time.process_time_ns() - cpu
    embedding_cpu = (embedder.cpu_ns if embedder else 0) - embedding_cpu
    p50, p95 = np.percentile(walls, (50, 95)) / 1e3
    return Timing(
        len(walls), (cpu - embedding_cpu) / len(walls) / 1e3, float(p50), float(p95)
    )
