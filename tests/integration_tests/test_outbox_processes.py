"""Killed processes: what was queued is extracted, once, and in order."""

import pytest

from benchmarks.extraction_chaos.run import Plan, run


@pytest.mark.parametrize("workers", [1, 4])
def test_killed_processes_lose_no_turn_and_repeat_none(tmp_path, workers):
    plan = Plan(turns=60, users=6, kills=6, workers=workers)
    outcome = run(tmp_path, plan, seed=workers)
    assert outcome.problems == []
    assert outcome.remembered == plan.turns
    assert outcome.kills > 0
