"""Processes that write one SQLite file at once lose nothing, killed or not.

`AGENTMEMORY_SOAK=1` runs the full size: 8 processes with 2,000 writes each, 50 kills.
"""

import os
from dataclasses import replace

import pytest

from benchmarks.chaos.run import Plan, run

SOAK = os.environ.get("AGENTMEMORY_SOAK") == "1"
PLAN = Plan() if SOAK else Plan(processes=3, writes=120, limit=20)

pytestmark = pytest.mark.timeout(3_600 if SOAK else 120)


@pytest.mark.parametrize("on_limit", ["reject", "evict"])
@pytest.mark.parametrize("kills", [0, 50 if SOAK else 3])
def test_no_acknowledged_write_is_lost_and_the_limit_holds(tmp_path, on_limit, kills):
    outcome = run(tmp_path, replace(PLAN, on_limit=on_limit, kills=kills))
    print(outcome)  # noqa: T201 - the numbers are wanted
    assert outcome.problems == []
    assert outcome.seen == PLAN.limit
    assert outcome.kills == kills
    if not kills:
        tried = outcome.writes + outcome.refused + outcome.evicted
        assert tried == PLAN.processes * PLAN.writes
    if on_limit == "reject":
        assert outcome.refused
    else:
        assert outcome.evicted
