"""The full size: `python -m benchmarks.extraction_chaos` prints what came of it."""

import sys
import tempfile
from pathlib import Path

from benchmarks.extraction_chaos.run import Plan, run

PLANS = {
    "500 turns of 20 users, 200 kills, 1 worker": Plan(),
    "the same, 4 workers": Plan(workers=4),
}


def main() -> int:
    """Run all plans; 1 if something cannot be explained."""
    failed = False
    for name, plan in PLANS.items():
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(Path(folder), plan)
        print(f"{name}: {outcome}", flush=True)
        failed = failed or bool(outcome.problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
