"""All measurements, each in a process of its own, one after the other."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.bytecode import environment_with_bytecode
from benchmarks.search_speed.plan import DIMENSIONS, Plan
from benchmarks.storage.engines import obstacle
from benchmarks.storage.matrix import PEERS
from benchmarks.storage.running import describe_machine

Progress = Callable[[str], None]

ORDERS: Final = ("cycle", "Zipf")
MODES: Final = ("lexical", "vector", "hybrid")
_LARGE: Final = 10_000
_ONE_THREAD: Final = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
_ROOT: Final = Path(__file__).parents[2]


def run_all(plan: Plan, progress: Progress) -> dict[str, Any]:
    """Run everything in a plan and return the results: plain JSON."""
    machine, begun = describe_machine(), time.monotonic()
    found = {
        "one_user": _one_user(plan, progress),
        "many_users": _many_users(plan, progress),
        "resident": _resident(plan, progress),
        "preload": _preload(plan, progress),
        "adding": _adding(plan, progress),
        "restart": _restart(plan, progress),
        "crowd": _crowd(plan, progress),
    }
    return {
        "machine": machine,
        "minutes": (time.monotonic() - begun) / 60,
        "load_at_end": os.getloadavg()[0],
        "plan": plan.to_json(),
        **found,
    }


def _one_user(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for ours in PEERS:
        for items in plan.sizes:
            rounds = plan.large_rounds if items > _LARGE else plan.rounds
            found[f"{ours}, {items}"] = run_module(
                "one_user", ours=ours, users=1, per_user=items, rounds=rounds
            )
            progress(f"one user, {items:,} memories: {ours}")
    return found


def _many_users(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for ours in PEERS:
        found[ours] = run_module(
            "one_user",
            ours=ours,
            users=plan.many_users,
            per_user=plan.per_user,
            rounds=3 * plan.rounds,
        )
        progress(f"{plan.many_users:,} users: {ours}")
    return found


def _resident(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for contestant in (*PEERS, "InMemoryStore"):
        found[contestant] = run_module(
            "resident", contestant=contestant, items=plan.sizes[-1]
        )
        progress(f"resident memory: {contestant}")
    return found


def _preload(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for ours in PEERS:
        for vectors in (False, True):
            found[f"{ours}, {'hybrid' if vectors else 'lexical'}"] = run_module(
                "preload",
                ours=ours,
                items=plan.preloaded,
                rounds=plan.rounds,
                vectors=vectors,
            )
    progress("preload")
    return found


def _adding(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for ours in PEERS:
        found[ours] = run_module(
            "adding", ours=ours, sizes=list(plan.added_to), rounds=plan.rounds
        )
        progress(f"adding: {ours}")
    return found


def _restart(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, list[float]] = {"jieba": []}
    items = _LARGE if _LARGE in plan.sizes else plan.sizes[0]
    with tempfile.TemporaryDirectory(prefix="search-speed-") as folder:
        for language in ("en", "zh"):
            path = f"{folder}/{language}.db"
            run_module(
                "restart", task="fill", path=path, language=language, items=items
            )
            for _ in range(plan.processes):
                for vectors, numpy in ((False, False), (True, False), (True, True)):
                    name = f"{language}, {'hybrid' if vectors else 'lexical'}"
                    name += ", numpy loaded" if numpy else ""
                    given = run_module(
                        "restart",
                        task="search",
                        path=path,
                        language=language,
                        vectors=vectors,
                        numpy=numpy,
                    )
                    found.setdefault(name, []).append(given["cpu_ms"])
                if language == "zh":
                    loaded = run_module("restart", task="jieba")
                    found["jieba"].append(loaded["cpu_ms"])
            progress(f"restart: {language}")
    return {"items": items, "cpu_ms": found}


def _crowd(plan: Plan, progress: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="search-speed-") as name:
        size = f"{plan.crowd}x{plan.per_user}"
        base = Path(plan.files or name)
        ours, peers = base / f"ours-{size}", base / f"peers-{size}"
        with_peer = obstacle("SqliteStore", DIMENSIONS) is None
        folders = {"ours-sqlite": ours, **({"SqliteStore": peers} if with_peer else {})}
        for contestant, folder in folders.items():
            _fill_crowd(plan, contestant, folder)
            progress(f"crowd filled: {contestant}")
        for order in ORDERS:
            for mode in MODES:
                found[f"{order}, {mode}"] = run_module(
                    "crowd",
                    task="visit",
                    ours=str(ours),
                    peers=str(peers) if with_peer else None,
                    users=plan.crowd,
                    visits=plan.visits,
                    budget=plan.budget,
                    order=order,
                    mode=mode,
                )
                progress(f"crowd visited: {order}, {mode}")
    return found


def _fill_crowd(plan: Plan, contestant: str, folder: Path) -> None:
    """Write the file of a contestant, if an earlier run has not left it."""
    done = folder / "filled"
    if done.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run_module(
        "crowd",
        task="fill",
        contestant=contestant,
        folder=str(folder),
        users=plan.crowd,
        per_user=plan.per_user,
    )
    done.touch()


def run_module(module: str, **given: Any) -> Any:
    """Run one measurement in a fresh process and return what it printed."""
    name = f"benchmarks.search_speed.{module}"
    result = subprocess.run(
        [sys.executable, "-m", name, json.dumps(given)],
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        env=environment_with_bytecode() | _ONE_THREAD,
    )
    if result.returncode:
        msg = f"{name} {given} failed:\n{result.stderr}"
        raise RuntimeError(msg)
    return json.loads(result.stdout.splitlines()[-1])
