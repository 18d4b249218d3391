"""The full size: `python -m benchmarks.extraction_chaos` prints what came of it."""

import sys

from benchmarks.common.command import run_plans
from benchmarks.extraction_chaos.run import Plan, run

PLANS = {
    "500 turns of 20 users, 200 kills, 1 worker": Plan(),
    "the same, 4 workers": Plan(workers=4),
}


def main() -> int:
    """Run all plans; 1 if something cannot be explained."""
    return run_plans(PLANS, run)


if __name__ == "__main__":
    sys.exit(main())
