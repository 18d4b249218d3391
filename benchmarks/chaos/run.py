"""Start the processes, kill some, watch the limit, and explain what is left."""

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.chaos.explain import problems
from benchmarks.chaos.worker import USER, open_store

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Plan:
    """How much chaos.

    Attributes:
        processes: Writers at a time.
        writes: Writes of each.
        limit: The user's memory limit.
        on_limit: What happens there.
        kills: How often one of the writers is killed, and another one started.
    """

    processes: int = 8
    writes: int = 2_000
    limit: int = 500
    on_limit: Literal["reject", "evict"] = "reject"
    kills: int = 0


@dataclass
class Outcome:
    """What came of it.

    Attributes:
        problems: What cannot be explained; empty if all is well.
        writes: Acknowledged writes.
        refused: Writes refused at the limit.
        evicted: Writes that found their own memory evicted.
        kills: Processes killed while they were writing.
        seen: The most memories that the watching reader ever saw.
        looks: How often it looked.
        seconds: How long it took.
    """

    problems: list[str]
    writes: int
    refused: int
    evicted: int
    kills: int
    seen: int
    looks: int
    seconds: float


class Writers:
    """The running processes and their logs.

    Args:
        folder: Where the database and the logs are.
        plan: How much chaos.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        """Start all processes."""
        self.path = folder / "chaos.db"
        self.logs: list[Path] = []
        self._folder = folder
        self._plan = plan
        self.steady = [self._start() for _ in range(plan.processes)]
        self.victim = self.steady.pop()
        self.failed: list[str] = []

    def _start(self) -> subprocess.Popen[bytes]:
        number, plan = len(self.logs), self._plan
        log = self._folder / f"{number}.log"
        log.touch()
        self.logs.append(log)
        arguments = [self.path, log, number, plan.writes, plan.limit, plan.on_limit]
        return subprocess.Popen(
            [sys.executable, "-m", "benchmarks.chaos.worker", *map(str, arguments)],
            cwd=ROOT,
        )

    def kill(self) -> bool:
        """Kill the victim and start another; tell whether it was busy writing."""
        busy = self.victim.poll() is None and self.logs[-1].stat().st_size > 0
        if not busy and self.victim.poll() is None:
            return False  # still starting
        self.victim.kill()  # SIGKILL, unless it has ended
        self.victim.wait()
        self.victim = self._start()
        return busy

    def working(self) -> bool:
        """Tell whether a process is still writing."""
        return any(each.poll() is None for each in (*self.steady, self.victim))

    def failures(self) -> list[str]:
        """Return what is wrong with how the processes ended."""
        codes = [each.wait() for each in (*self.steady, self.victim)]
        return [f"a process ended with {code}" for code in codes if code]


def run(folder: Path, plan: Plan) -> Outcome:
    """Carry out a plan in an empty folder."""
    began = time.monotonic()
    dice = random.Random(plan.kills)
    with open_store(str(folder / "chaos.db"), plan.limit, plan.on_limit) as reader:
        writers = Writers(folder, plan)
        kills = seen = looks = 0
        due = began + 1
        while writers.working() or kills < plan.kills:
            seen = max(seen, reader.count_memories(USER))
            seen = max(seen, len(reader.read_memories(USER)))
            looks += 1
            if kills < plan.kills and time.monotonic() > due:
                kills += writers.kill()
                due = time.monotonic() + dice.uniform(0.02, 0.3)
            time.sleep(0.005)
        found = writers.failures()
    left, total = problems(
        writers.path, writers.logs, limit=plan.limit, on_limit=plan.on_limit
    )
    if seen > plan.limit:
        left.append(f"a reader saw {seen} memories, limit {plan.limit}")
    return Outcome(
        [*found, *left],
        total.writes,
        total.refused,
        total.evicted,
        kills,
        seen,
        looks,
        time.monotonic() - began,
    )
