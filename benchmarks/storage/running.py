"""Running all measurements, one process each, and putting the results together."""

import importlib.metadata
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.storage import startup
from benchmarks.storage.engines import obstacle
from benchmarks.storage.matrix import DIMENSIONS, MAIN, Plan, Row, rows

Progress = Callable[[str], None]

_PACKAGES: Final = (
    "langchain-agentmemory",
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langchain-core",
    "numpy",
    "jieba",
    "PyStemmer",
    "simsimd",
    "sqlite-vec",
)
_ONE_THREAD: Final = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
_ROOT: Final = Path(__file__).parents[2]


def run_all(plan: Plan, progress: Progress) -> dict[str, Any]:
    """Run everything in a plan.

    Args:
        plan: What and how often.
        progress: Called with a line after every measurement.

    Returns:
        The results: plain JSON.
    """
    machine = describe_machine()
    begun = time.monotonic()
    startups = startup.measure(plan.processes, progress)
    waits = _measure_waiting(progress)
    measured, skipped = _run_rows(list(rows(plan)), progress)
    return {
        "machine": machine,
        "minutes": (time.monotonic() - begun) / 60,
        "load_at_end": os.getloadavg()[0],
        "plan": asdict(plan),
        "startup": {name: asdict(found) for name, found in startups.items()},
        "waiting": waits,
        "rows": combine(measured),
        "not_runnable": skipped,
    }


def describe_machine() -> dict[str, Any]:
    """Return where and with what is measured, without names of hosts or folders."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "system": f"{platform.system()} {platform.machine()}",
        "load_at_start": os.getloadavg()[0],
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "versions": {name: _version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _measure_waiting(progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for contestant in MAIN:
        if obstacle(contestant, DIMENSIONS) is None:
            found[contestant] = _run_module("benchmarks.storage.waiting", contestant)
            progress(f"waiting for an embedding: {contestant}")
    return found


def _run_rows(
    planned: list[Row], progress: Progress
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    measured: list[dict[str, Any]] = []
    skipped: dict[str, str] = {}
    begun = time.monotonic()
    for number, row in enumerate(planned, start=1):
        reason = obstacle(row.contestant, row.dims)
        if reason is not None:
            skipped[str(row)] = reason
            continue
        started = time.monotonic()
        measured.append(
            _run_module("benchmarks.storage.row", json.dumps(row.to_json()))
        )
        now = time.monotonic()
        progress(
            f"[{number:3}/{len(planned)}] {_clock(now - begun)} {row}: "
            f"{now - started:.1f} s"
        )
    return measured, [{"row": row, "reason": why} for row, why in skipped.items()]


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60):2}:{int(seconds % 60):02}"


def _run_module(module: str, argument: str) -> dict[str, Any]:
    result = subprocess.run(
        [sys.executable, "-m", module, argument],
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        env={**os.environ, **_ONE_THREAD},
    )
    if result.returncode:
        msg = f"{module} {argument} failed:\n{result.stderr}"
        raise RuntimeError(msg)
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def combine(measured: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the repetitions of each row together: the median of every number."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for result in measured:
        same = {k: v for k, v in result["row"].items() if k != "repetition"}
        groups[json.dumps(same)].append(result)
    return [_combined(json.loads(same), group) for same, group in groups.items()]


def _combined(row: dict[str, Any], group: list[dict[str, Any]]) -> dict[str, Any]:
    operations = {
        name: {
            field: statistics.median(r["operations"][name][field] for r in group)
            for field in ("calls", "cpu_us", "wall_p50_us", "wall_p95_us")
        }
        for name in group[0]["operations"]
    }
    for name, found in operations.items():
        runs = [result["operations"][name]["cpu_us"] for result in group]
        found["cpu_us_range"] = [min(runs), max(runs)]
    return {
        "row": row,
        "repetitions": len(group),
        "operations": operations,
        "megabytes": {
            name: statistics.median(result["megabytes"][name] for result in group)
            for name in group[0]["megabytes"]
        },
        "answers": group[0]["answers"],
    }
