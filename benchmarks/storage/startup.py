"""What starting costs: imports, and a first memory with a first search.

Each measurement is a fresh interpreter that reports its own CPU time (user and kernel)
from before the first statement to after the last. All are run in turn, round by round;
modules are compiled before, as they are when installed.
"""

import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks.bytecode import environment_with_bytecode

_PROGRAM: Final = """
import resource
before = resource.getrusage(resource.RUSAGE_SELF)
{code}
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
"""
_FIRST_USE: Final = """
from langchain_agentmemory import MemoryStore
store = MemoryStore()
store.add_memory("ann", "{text}")
assert store.search_memories("ann", "{query}")
"""

PROGRAMS: Final[dict[str, str]] = {
    "import langgraph.store.base": "import langgraph.store.base",
    "import langchain_agentmemory": "import langchain_agentmemory",
    "from langchain_agentmemory import MemoryStore": (
        "from langchain_agentmemory import MemoryStore"
    ),
    "MemoryStore(), first add and search": _FIRST_USE.format(
        text="Ann likes green tea", query="green tea"
    ),
    "the same in Chinese (loads jieba)": _FIRST_USE.format(
        text="安喜欢喝绿茶", query="绿茶"
    ),
}
"""What is run, by name."""

BASE: Final = "import langgraph.store.base"
IMPORT: Final = "import langchain_agentmemory"
FIRST_USE: Final = "MemoryStore(), first add and search"


@dataclass(frozen=True, slots=True)
class StartUp:
    """CPU time of one program.

    Attributes:
        least_ms: The least of all processes.
        median_ms: Their median.
        processes: How many there were.
    """

    least_ms: float
    median_ms: float
    processes: int


def measure(processes: int, progress: Callable[[str], None]) -> dict[str, StartUp]:
    """Run every program in fresh processes.

    Args:
        processes: How many of each.
        progress: Called with a line after each round.
    """
    found: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for code in PROGRAMS.values():
        _cpu_ms(code)  # compiles modules
    for number in range(processes):
        for name, code in PROGRAMS.items():
            found[name].append(_cpu_ms(code))
        progress(f"start-up, round {number + 1} of {processes}")
    return {
        name: StartUp(min(values), statistics.median(values), processes)
        for name, values in found.items()
    }


def _cpu_ms(code: str) -> float:
    program = [sys.executable, "-c", _PROGRAM.format(code=code)]
    result = subprocess.run(
        program,
        capture_output=True,
        text=True,
        check=True,
        env=environment_with_bytecode(),
    )
    return float(result.stdout.split()[-1]) * 1000
