"""`python -m benchmarks.write_loss` tells all stories and writes docs/write-loss.md."""

import logging
import sys
import tempfile
from pathlib import Path

from benchmarks.write_loss.counting import tally
from benchmarks.write_loss.report import Results, Run, render, write
from benchmarks.write_loss.running import tell
from benchmarks.write_loss.stories import STORIES
from benchmarks.write_loss.story import EXTRACTORS
from langchain_agentmemory import AppendOnly, MergeSimilar, PreserveHistory
from langchain_agentmemory.policies import Policy

PAGE = Path(__file__).parents[2] / "docs" / "write-loss.md"
POLICIES: tuple[Policy, ...] = (MergeSimilar(), PreserveHistory(), AppendOnly())


def measure() -> Results:
    """Tell all stories under each policy, by both extractors, on both engines."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for policy in POLICIES:
            for extractor in EXTRACTORS:
                name = f"{policy.name}-{extractor}"
                urls = {
                    "memory": "memory://",
                    "SQLite": f"sqlite:///{folder}/{name}.db",
                }
                for engine, url in urls.items():
                    told = tell(STORIES, policy, extractor, url)
                    run = Run(type(policy).__name__, extractor, engine)
                    results[run] = tally(told)
    return results


def main() -> int:
    """Measure, print and write; 1 if `PreserveHistory` lost or merged anything."""
    logging.disable(logging.WARNING)
    results = measure()
    print(render(results))
    write(PAGE, results)
    preserved = [t for run, t in results.items() if run.policy == "PreserveHistory"]
    return int(any(t.kept.lacking or t.apart.lacking for t in preserved))


if __name__ == "__main__":
    sys.exit(main())
