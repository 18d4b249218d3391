"""The full size: `python -m benchmarks.chaos` prints what came of each plan."""

import sys
import tempfile
from pathlib import Path

from benchmarks.chaos.run import Plan, run

PLANS = {
    "8 processes x 2,000 writes, reject": Plan(),
    "8 processes x 2,000 writes, evict": Plan(on_limit="evict"),
    "the same, reject, 50 kills": Plan(kills=50),
    "the same, evict, 50 kills": Plan(kills=50, on_limit="evict"),
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
