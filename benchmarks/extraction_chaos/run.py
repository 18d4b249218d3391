"""Start the process again and again, kill it, and explain what is left."""

import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.extraction_chaos.process import THREADS, statement
from langchain_agentmemory import MemoryStore

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Plan:
    """How much chaos.

    Attributes:
        turns: Turns in all.
        users: Users that they belong to.
        kills: How often the process is killed at a random moment.
        workers: Background workers of the process.
    """

    turns: int = 500
    users: int = 20
    kills: int = 200
    workers: int = 1


@dataclass
class Outcome:
    """What came of it.

    Attributes:
        kills: Processes that were killed while they worked.
        queued: Turns that a process said were safe.
        asked: Statements that the extractor was asked about, repetitions included.
        remembered: Memories in the end.
        seconds: How long it took.
        problems: What cannot be explained; empty if all is well.
    """

    kills: int = 0
    queued: int = 0
    asked: int = 0
    remembered: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def run(folder: Path, plan: Plan, seed: int = 0) -> Outcome:
    """Carry out a plan on a new file in a folder."""
    chance = random.Random(seed)
    started = time.monotonic()
    log = folder / "log"
    log.touch()
    outcome = Outcome()
    per_user = plan.turns // plan.users
    # Kills are spread over the work: each process may queue a few turns more.
    for kill in range(plan.kills + 1):
        last = kill == plan.kills
        goal = per_user if last else -(-per_user * (kill + 1) // plan.kills)
        process = _start(folder, log, plan, goal, _queued(log))
        if last:
            if process.wait(timeout=300):
                outcome.problems.append("the last process did not empty the outbox")
            break
        _wait_until_it_works(process, log)
        try:
            process.wait(timeout=chance.uniform(0, 0.15))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            outcome.kills += 1
    _explain(folder, log, plan, outcome)
    outcome.seconds = time.monotonic() - started
    return outcome


def _start(
    folder: Path, log: Path, plan: Plan, goal: int, queued: dict[int, set[int]]
) -> "subprocess.Popen[bytes]":
    # A turn that was not acknowledged is queued once more, as an agent's next turn
    # would bring it again with its history.
    begin = [
        next((n for n in range(goal) if n not in queued.get(user, set())), goal)
        for user in range(plan.users)
    ]
    command = [
        *(sys.executable, "-m", "benchmarks.extraction_chaos.process"),
        *("--file", str(folder / "chaos.db"), "--log", str(log)),
        *("--users", str(plan.users), "--turns", str(goal)),
        *("--from-turn", ",".join(map(str, begin)), "--workers", str(plan.workers)),
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)


def _wait_until_it_works(process: "subprocess.Popen[bytes]", log: Path) -> None:
    size, deadline = log.stat().st_size, time.monotonic() + 20
    while (
        log.stat().st_size == size
        and process.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(0.002)


def _queued(log: Path) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:1] == ["queued"]:
            found.setdefault(int(words[1]), set()).add(int(words[2]))
    return found


def _explain(folder: Path, log: Path, plan: Plan, outcome: Outcome) -> None:
    lines = log.read_text(encoding="utf-8").splitlines()
    outcome.queued = sum(map(len, _queued(log).values()))
    outcome.asked = sum(line.startswith("asked ") for line in lines)
    per_user = plan.turns // plan.users
    with MemoryStore.from_url(f"sqlite:///{folder / 'chaos.db'}") as store:
        jobs = store.extraction_jobs()
        if jobs:
            outcome.problems.append(f"{len(jobs)} turns are still in the outbox")
        for user in range(plan.users):
            entries = store.read_memories(f"u{user}")[::-1]
            texts = [entry.memory for entry in entries]
            outcome.remembered += len(texts)
            expected = [statement(user, number) for number in range(per_user)]
            lost = set(expected) - set(texts)
            if lost:
                outcome.problems.append(f"u{user}: {len(lost)} turns lost: {lost}")
            if len(texts) != len(set(texts)):
                outcome.problems.append(f"u{user}: a turn was remembered twice")
            for thread in range(THREADS):
                said = [
                    entry.memory
                    for entry in sorted(entries, key=lambda entry: entry.created_at)
                    if entry.source and entry.source.thread_id == f"t{thread}"
                ]
                if said != sorted(said):
                    outcome.problems.append(f"u{user}, t{thread}: out of order: {said}")
