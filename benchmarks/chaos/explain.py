"""Can the final state be explained by what the processes were told?"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.chaos.worker import USER
from langchain_agentmemory import MemoryStore


@dataclass
class Told:
    """What one process was told, and what it did not hear the end of.

    Attributes:
        holds: Ids of its own memories that must be there, with their latest time.
        gone: Ids of its own memories that must not be there.
        shared: Ids of shared memories that it was told are stored, with the time.
        open: Ids that its last, unfinished write may have changed.
        writes: How many writes were acknowledged.
        refused: How many were refused at the limit.
        evicted: Own memories that it was told are unknown: evicted before.
    """

    holds: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    shared: dict[str, str] = field(default_factory=dict)
    open: set[str | None] = field(default_factory=set)
    writes: int = 0
    refused: int = 0
    evicted: int = 0


def read_log(path: Path) -> Told:
    """Return what the process that wrote this log was told."""
    told = Told()
    tried: dict[str, Any] = {}
    for text in path.read_bytes().splitlines():
        line = json.loads(text)
        if "try" in line:
            tried = line
        else:
            _note(told, tried, line)
            tried = {}
    if tried:
        told.open.add(tried["old"])
    return told


def _note(told: Told, tried: dict[str, Any], line: dict[str, Any]) -> None:
    old = tried["old"]
    if line.get("refused") == "limit":
        told.refused += 1
        return
    if line.get("refused") == "unknown" or line.get("existed") is False:
        told.evicted += 1
        told.holds.pop(old, None)
        return
    told.writes += 1
    if line["done"] == "share":
        told.shared[line["id"]] = max(line["at"], told.shared.get(line["id"], ""))
        return
    if old is not None:
        told.holds.pop(old, None)
        told.gone.add(old)
    if "id" in line:
        told.holds[line["id"]] = line["at"]


def problems(
    path: Path, logs: Iterable[Path], *, limit: int, on_limit: str
) -> tuple[list[str], Told]:
    """Return what cannot be explained, and the sum of what processes were told."""
    total = Told()
    found: list[str] = []
    with MemoryStore.from_url(f"sqlite:///{path}", memory_limit=limit) as store:
        memories = store.read_memories(USER)
        counted = store.count_memories(USER)
    there = {entry.id for entry in memories}
    texts = {entry.memory for entry in memories}
    if len(there) != len(memories) or len(texts) != len(memories):
        found.append("a memory is there twice")
    if len(memories) > limit or counted != len(memories):
        found.append(f"{len(memories)} memories, counted {counted}, limit {limit}")
    # Whoever was evicted was older than everybody who stayed.
    oldest = min((e.updated_at for e in memories), default=None)
    edge = oldest.isoformat(timespec="microseconds") if oldest else ""
    known: set[str] = set()
    for log in logs:
        told = read_log(log)
        known |= {*told.holds, *told.shared, *told.gone}
        for memory_id, at in {**told.holds, **told.shared}.items():
            explained = memory_id in told.open or (on_limit == "evict" and at < edge)
            if memory_id not in there and not explained:
                found.append(f"{log.name}: acknowledged write {memory_id} is lost")
        found += [
            f"{log.name}: deleted or replaced memory {memory_id} is back"
            for memory_id in told.gone & there
        ]
        total.writes += told.writes
        total.refused += told.refused
        total.evicted += told.evicted
        total.open |= told.open
        if told.evicted and on_limit == "reject":
            found.append(f"{log.name}: {told.evicted} own memories were unknown")
    unknown = len(there - known)
    if unknown > len(list(logs)):
        found.append(f"{unknown} memories that nobody was told of")
    found += _damage(path)
    return found, total


def _damage(path: Path) -> list[str]:
    """Check the file, and that its counters say what its rows say."""
    connection = sqlite3.connect(path)
    found = []
    (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
    if sound != "ok":
        found.append(f"integrity: {sound}")
    rows = connection.execute(
        "SELECT n.items, n.active, n.stubs, n.revision, sum(r.state = 0), "
        "sum(r.state = 0 AND r.flags & 1), sum(r.state = 2), max(r.revision), "
        "count(DISTINCT r.revision) - count(*) "
        "FROM memories_namespaces n JOIN memories r ON r.ns = n.id GROUP BY n.id"
    )
    found += [
        f"counters {row[:4]} do not fit the rows {row[4:]}"
        for row in rows
        if row[:3] != row[4:7] or row[3] < row[7] or row[8]
    ]
    connection.close()
    return found
