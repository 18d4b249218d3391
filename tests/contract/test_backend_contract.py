"""The contract kit, run on our own backends, and on backends that break it."""

from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.testing import (
    Requirement,
    backend_contract,
    check_backend,
    rules,
)

test_in_memory = backend_contract(lambda folder, clock: InMemoryBackend(clock=clock))
test_sqlite_file = backend_contract(
    lambda folder, clock: SQLiteBackend(folder / "data.db", clock=clock)
)
test_sqlite_in_memory = backend_contract(
    lambda folder, clock: SQLiteBackend(":memory:", clock=clock)
)


def test_every_rule_is_stated_in_a_sentence():
    for rule in rules():
        first = rule.statement.splitlines()[0]
        assert first.endswith("."), rule.name
        assert first != rule.name


def test_every_requirement_is_used_by_some_rule():
    used = {need for rule in rules() for need in rule.needs}
    assert used == set(Requirement)


class Lossy(InMemoryBackend):
    """Forgets conditions and limits, and lets a prefix end inside a label."""

    def commit(self, batch):
        for write in batch.writes:
            write.expect = None
        return super().commit(batch._replace(limits={}))

    def heads(self, prefix):
        path = "/".join(prefix)
        heads = super().heads(())
        return [head for head in heads if "/".join(head.namespace).startswith(path)]


class Jumpy(InMemoryBackend):
    """Trusts the clock, also when it steps back, and shows what has expired."""

    def commit(self, batch):
        stored = super().commit(batch)
        for record in stored:
            record.updated_at = self.now()
        return stored

    def page(self, page):
        kept, self._clock = self._clock, lambda: 0
        try:
            return super().page(page)
        finally:
            self._clock = kept


def broken_rules(kind):
    verdicts = check_backend(lambda folder, clock: kind(clock=clock))
    return {v.rule.name for v in verdicts if v.outcome == "broken"}


def test_a_backend_without_conditions_and_limits_is_found_out():
    assert broken_rules(Lossy) >= {
        "a_refused_batch_writes_nothing",
        "expecting_a_revision_needs_that_revision",
        "a_batch_over_the_limit_writes_nothing",
        "the_limit_is_exact_under_a_race",
        "of_racing_conditions_one_wins",
        "a_prefix_ends_at_a_label",
    }


def test_a_backend_that_trusts_the_clock_is_found_out():
    assert broken_rules(Jumpy) >= {
        "stamps_are_unique_and_growing",
        "stamps_survive_a_clock_that_steps_back",
        "expired_records_are_on_no_page",
    }


def test_a_kept_contract_has_no_broken_verdicts():
    assert broken_rules(InMemoryBackend) == set()


def test_a_rule_that_does_not_apply_says_what_it_needs():
    verdicts = check_backend(lambda folder, clock: InMemoryBackend(clock=clock))
    skipped = {v.rule.name: v.detail for v in verdicts if v.outcome == "skipped"}
    assert "Capability.DURABLE" in skipped["data_survives_reopening"]
