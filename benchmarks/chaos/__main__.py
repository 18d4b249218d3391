"""The full size: `python -m benchmarks.chaos` prints what came of each plan."""

import sys

from benchmarks.chaos.run import Plan, run
from benchmarks.common.command import run_plans

PLANS = {
    "8 processes x 2,000 writes, reject": Plan(),
    "8 processes x 2,000 writes, evict": Plan(on_limit="evict"),
    "the same, reject, 50 kills": Plan(kills=50),
    "the same, evict, 50 kills": Plan(kills=50, on_limit="evict"),
}


def main() -> int:
    """Run all plans; 1 if something cannot be explained."""
    return run_plans(PLANS, run)


if __name__ == "__main__":
    sys.exit(main())
