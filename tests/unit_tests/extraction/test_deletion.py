"""What a user deletes or discards stays away, whatever a worker is just doing."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from langchain_agentmemory import MemoryStore, UserKey
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.extraction import retries
from langchain_agentmemory.extraction.claims import LeaseLost
from langchain_agentmemory.policies.base import Decision
from langchain_agentmemory.testing.clock import ManualClock
from tests.unit_tests.extraction.learning import Echo, texts, turn

ANN = UserKey("default", "ann")


@dataclass(frozen=True)
class Through:
    """A policy that compares nothing: only what was deleted keeps a memory away."""

    name: str = "through"
    instructions: str = ""
    operations: frozenset[str] = frozenset({"add"})

    def decide(self, operations, existing, *, search=None, enabled=None):
        return [
            Decision(wanted, wanted, "pass", "let through") for wanted in operations
        ]

    def reconcile(self, operations, existing, *, search=None, enabled=None):
        return list(operations)


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.01)


@pytest.mark.parametrize("again", ["Likes tea", "likes tea!"])
def test_what_is_deleted_while_the_model_is_asked_is_not_learnt_again(
    make_store, again
):
    extractor = Echo(policy=Through())
    extractor.gate.clear()
    store = make_store(extractor=extractor)
    entry = store.add_memory("ann", "Likes tea")
    store.enqueue_extraction("ann", turn(1, again), thread_id="t")
    assert extractor.entered.wait(10)
    assert store.delete_memory("ann", entry.id)
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == []


def test_a_deletion_leaves_no_lease_behind(make_store):
    extractor = Echo(policy=Through())
    extractor.gate.clear()
    store = make_store(extractor=extractor)
    entry = store.add_memory("ann", "Likes tea")
    store.enqueue_extraction("ann", turn(1, "Moved to Rome"), thread_id="t")
    assert extractor.entered.wait(10)
    store.delete_memory("ann", entry.id)
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["Moved to Rome"]
    assert store._engine.outbox.read(ANN).lease is None


def test_what_is_deleted_after_the_clock_was_set_back_is_not_learnt_again():
    clock = ManualClock()
    store = MemoryStore(
        InMemoryBackend(clock=clock),
        extractor=Echo(policy=Through()),
        extraction_mode="queue",
    )
    entry = store.add_memory("ann", "Likes tea")
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    clock.step(-timedelta(hours=1))
    store.delete_memory("ann", entry.id)
    store._engine.learner.work(ANN)
    assert texts(store) == []
    again = turn(1, "Likes tea") + turn(2, "Likes tea")
    clock.step(timedelta(hours=2))
    store.enqueue_extraction("ann", again, thread_id="t")
    store._engine.learner.work(ANN)
    assert texts(store) == ["Likes tea"]


@pytest.mark.parametrize("stop", ["clear_memories", "pause_learning", "discard_jobs"])
def test_a_worker_that_claims_while_jobs_are_discarded_writes_nothing(
    monkeypatch, stop
):
    store = MemoryStore(extractor=Echo(policy=Through()), extraction_mode="queue")
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    queue = store._engine.outbox
    claims = []
    mark_seen = queue.mark_seen

    def claimed_meanwhile(jobs):
        if not claims:
            claims.append(queue.claim(ANN, "somebody", 10_000_000))
        mark_seen(jobs)

    monkeypatch.setattr(queue, "mark_seen", claimed_meanwhile)
    getattr(store, stop)("ann")
    (claim,) = claims
    assert claim is not None
    with pytest.raises(LeaseLost):
        claim.check()
