"""What users' code and the machine do wrong: no thread dies, no turn is lost."""

import asyncio
import socket
import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_agentmemory import MemoryStore, QueueExtraction, UserKey
from langchain_agentmemory.backends.base import Page
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.extraction import claims, graph, outbox, retries, worker
from langchain_agentmemory.extraction.mailbox import PROGRESS, Lease, mailbox_of
from langchain_agentmemory.testing.clock import ManualClock
from tests.unit_tests.extraction.learning import Echo, texts, turn, until

ANN = UserKey("default", "ann")

ENDINGS = [
    SystemExit("over"),
    KeyboardInterrupt(),
    asyncio.CancelledError(),
    GeneratorExit(),
]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.01)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda error: type(error).__name__)
def test_an_extractor_that_ends_the_thread_is_tried_again(make_store, ending):
    store = make_store(extractor=Echo(fails=[ending]))
    assert store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["Likes tea"]


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda error: type(error).__name__)
def test_a_checker_that_ends_the_thread_lets_extract(make_store, ending):
    def due(context):
        raise ending

    store = make_store(extractor=Echo(due=due))
    assert store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["Likes tea"]


def test_inline_an_extractor_that_exits_does_not_end_the_turn(make_store):
    store = make_store(extractor=Echo(fails=[SystemExit(1)]), extraction_mode="inline")
    assert store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert [job.state for job in store.extraction_jobs("ann")] == ["waiting"]


class Faulty(InMemoryBackend):
    """A backend in memory that cannot be written while `broken` says so."""

    broken = staticmethod(lambda batch: False)

    def commit(self, batch):
        if self.broken(batch):
            msg = "The disk is full."
            raise BackendUnavailable(msg)
        return super().commit(batch)


def break_for_now(backend):
    backend.broken = lambda batch: True


def mend(backend):
    backend.broken = lambda batch: False


def test_a_turn_kept_out_while_the_store_cannot_be_written_is_not_learnt_later():
    backend = Faulty()
    store = MemoryStore(backend, extractor=Echo())
    conversation = turn(1, "Likes tea")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    break_for_now(backend)
    conversation += turn(2, "A secret")
    assert not store.enqueue_extraction("ann", conversation, thread_id="t", learn=False)
    conversation += turn(3, "Moved to Rome")
    assert not store.enqueue_extraction("ann", conversation, thread_id="t")
    mend(backend)
    conversation += turn(4, "Has a cat")
    assert store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["Likes tea", "Moved to Rome", "Has a cat"]


@pytest.mark.parametrize("stop", ["clear_memories", "pause_learning", "discard_jobs"])
def test_discarding_reaches_turns_that_are_only_in_memory(stop):
    backend = Faulty()
    store = MemoryStore(backend, extractor=Echo())
    conversation = turn(1, "Likes tea")
    break_for_now(backend)
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.enqueue_extraction("bob", conversation, thread_id="t")
    mend(backend)
    getattr(store, stop)("ann")
    store.resume_learning("ann")
    assert store.flush(10)
    conversation += turn(2, "Moved to Rome")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["Moved to Rome"]
    assert texts(store, "bob") == ["Likes tea"]


def test_what_is_deleted_is_not_learnt_from_a_turn_that_was_only_in_memory():
    backend = Faulty()
    store = MemoryStore(backend, extractor=Echo())
    entry = store.add_memory("ann", "Likes tea")
    break_for_now(backend)
    store.enqueue_extraction("ann", turn(1, "likes tea!"), thread_id="t")
    mend(backend)
    store.delete_memory("ann", entry.id)
    assert store.flush(10)
    assert texts(store) == []


def test_after_a_failed_write_the_mailbox_is_free_at_once():
    backend = Faulty()
    store = MemoryStore(backend, extractor=Echo(due=lambda context: False))
    failures = []

    def broken(batch):
        in_worker = threading.current_thread().name == "agentmemory-worker"
        if in_worker and len(batch.writes) > 1 and not failures:
            failures.append(batch)
            return True
        return False

    backend.broken = broken
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    until(lambda: store.status()["held"] == 1, seconds=5)
    assert failures


def test_a_retry_does_not_wait_for_a_clock_that_was_set_back():
    clock = ManualClock()
    store = MemoryStore(
        InMemoryBackend(clock=clock),
        extractor=Echo(fails=[OSError("lost")]),
        extraction_mode="queue",
    )
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    store._engine.learner.work(ANN)
    clock.step(-timedelta(hours=10))
    store._engine.learner.work(ANN)
    assert texts(store) == ["Likes tea"]


def test_closing_waits_for_one_extraction_and_frees_the_mailbox(tmp_path):
    url = f"sqlite:///{tmp_path}/m.db"
    extractor = Echo()
    extractor.gate.clear()
    store = MemoryStore.from_url(url, extractor=extractor)
    for number in range(3):
        said = turn(number, f"Fact {number}")
        store.enqueue_extraction("ann", said, thread_id=f"t{number}")
    store.enqueue_extraction("bob", turn(1, "Likes tea"), thread_id="b")
    assert extractor.entered.wait(10)
    release = threading.Timer(0.3, extractor.gate.set)
    release.start()
    store.close()
    assert len(extractor.seen) == 1
    again = MemoryStore.from_url(url, extractor=Echo())
    assert again.flush(10)
    assert len(texts(again)) == 3
    again.close()


def test_a_user_with_many_conversations_lets_others_in_between(monkeypatch):
    monkeypatch.setattr(worker, "TURN_SECONDS", 0.0)
    extractor = Echo()
    extractor.gate.clear()
    store = MemoryStore(extractor=extractor, max_pending=None)
    store.enqueue_extraction("bob", turn(0, "first"), thread_id="b")
    assert extractor.entered.wait(10)
    for number in range(5):
        said = turn(number, f"Fact {number}")
        store.enqueue_extraction("ann", said, thread_id=f"t{number}")
    store.enqueue_extraction("cid", turn(1, "Likes tea"), thread_id="c")
    extractor.gate.set()
    assert store.flush(10)
    order = [said[0] for said in extractor.seen]
    assert order.index("Likes tea") == 2
    assert order[3:] == [f"Fact {number}" for number in range(1, 5)]


def test_turns_of_interleaved_conversations_do_not_overtake(make_store):
    extractor = Echo()
    extractor.gate.clear()
    store = make_store(extractor=extractor)
    store.enqueue_extraction("bob", turn(0, "first"), thread_id="b")
    assert extractor.entered.wait(10)
    one = turn(1, "Lives in Rome")
    store.enqueue_extraction("ann", one, thread_id="t1")
    store.enqueue_extraction("ann", turn(2, "Lives in Oslo"), thread_id="t2")
    store.enqueue_extraction("ann", one + turn(3, "Lives in Bern"), thread_id="t1")
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["Lives in Rome", "Lives in Oslo", "Lives in Bern"]


def test_interleaved_turns_that_are_held_back_accumulate(make_store):
    extractor = Echo(due=lambda context: len(context.messages) > 3)
    store = make_store(extractor=extractor, extraction_mode="queue")
    one = turn(1, "A")
    store.enqueue_extraction("ann", one, thread_id="t1")
    store.enqueue_extraction("ann", turn(2, "B"), thread_id="t2")
    store.enqueue_extraction("ann", one + turn(3, "C"), thread_id="t1")
    store._engine.learner.work(ANN)
    assert extractor.seen == [["A", "fine", "C", "fine"]]
    assert [job.thread_id for job in store.extraction_jobs("ann")] == ["t2"]


def test_a_process_of_another_container_is_not_taken_for_dead(monkeypatch):
    claims._machine.cache_clear()
    mine = claims.owner_name()
    machine, _, _ = mine.partition("/")
    gone = f"{machine}/{2**22 + 1}/x"
    elsewhere = f"{socket.gethostname()}:another:1/{2**22 + 1}/x"
    assert claims.is_held(Lease(mine, 10), now=0)
    assert not claims.is_held(Lease(gone, 10), now=0)
    assert claims.is_held(Lease(elsewhere, 10), now=0)
    assert not claims.is_held(Lease(elsewhere, 10), now=10)


def test_what_is_remembered_of_users_is_bounded_and_erased(monkeypatch):
    monkeypatch.setattr(graph, "COUNTED", 2)
    store = MemoryStore(extractor=Echo(), extraction_mode="inline")
    for user in ("ann", "bob", "cid"):
        store.enqueue_extraction(user, turn(1, "Likes tea"), thread_id="t")
    counts = store._engine._subgraph.counts
    assert [user.user_id for user in counts] == ["bob", "cid"]
    store.erase_user("bob")
    assert [user.user_id for user in counts] == ["cid"]


def test_a_checker_that_hangs_is_given_up():
    stuck = threading.Event()
    store = MemoryStore(extractor=Echo(due=lambda _: stuck.wait(20)), job_timeout=0.1)
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    store.enqueue_extraction("bob", turn(1, "Likes tea"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == texts(store, "bob") == ["Likes tea"]
    stuck.set()


def test_flush_within_an_extraction_does_not_wait_for_itself(make_store):
    answers = []

    class Flushing(Echo):
        def extract(self, messages, existing=(), **circumstances):
            answers.append(store.flush())
            return super().extract(messages, existing, **circumstances)

    store = make_store(extractor=Flushing())
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert store.flush(10)
    assert answers == [False]
    assert texts(store) == ["Likes tea"]


def test_nodes_of_the_subgraph_may_be_coroutines(make_store):
    async def shout(state):
        await asyncio.sleep(0)
        louder = [
            replace(wanted, memory=wanted.memory.upper())
            for wanted in state["operations"]
        ]
        return {"operations": louder}

    store = make_store(
        extractor=Echo(),
        extraction_graph=lambda built: graph.insert_node(
            built, "shout", shout, before="reconcile"
        ),
    )
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["LIKES TEA"]


def test_a_write_that_was_waited_for_is_not_repeated(monkeypatch):
    monkeypatch.setattr(outbox, "AT_ONCE", 0.01)
    backend = Faulty()
    tried = []

    def slow(batch):
        tried.append(batch)
        time.sleep(0.05)
        return True

    backend.broken = slow
    store = MemoryStore(backend, extractor=Echo(), extraction_mode="queue")
    assert not store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert len(tried) == 1


def test_a_run_whose_thread_has_an_empty_name_is_queued():
    store = MemoryStore(extractor=Echo())
    config = {"configurable": {"thread_id": "", "user_id": "ann"}}
    QueueExtraction(store).invoke({"messages": turn(1, "Likes tea")}, config)
    assert store.flush(10)
    assert texts(store) == ["Likes tea"]


def test_another_conversation_is_not_read_to_see_what_is_new(monkeypatch):
    store = MemoryStore(extractor=Echo(), extraction_mode="queue")
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    store._engine.outbox.forget(ANN)
    read = []
    job_of = outbox.job_of
    monkeypatch.setattr(
        outbox, "job_of", lambda record: (read.append(record), job_of(record))[1]
    )
    store.enqueue_extraction("ann", turn(2, "Has a cat"), thread_id="t2")
    assert read == []
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert len(read) == 1
    assert len(store.extraction_jobs("ann")) == 2


def test_an_operation_does_not_write_the_whole_plan_again():
    backend = Faulty()
    sizes = []

    def weighed(batch):
        sizes.extend(
            len(write.record.value)
            for write in batch.writes
            if write.record.namespace == mailbox_of(ANN)
        )
        return False

    store = MemoryStore(backend, extractor=Echo(), memory_limit=None)
    talk = [message for n in range(100) for message in turn(n, f"Fact {n}")]
    backend.broken = weighed
    store.enqueue_extraction("ann", talk, thread_id="t")
    assert store.flush(30)
    assert store.count_memories("ann") == 100
    assert sum(sizes) < 3 * max(sizes)
    box = store._engine.outbox.read(ANN)
    assert (box.jobs, box.plans, box.lease) == ([], [], None)
    assert backend.page(Page(mailbox_of(ANN), None)) == []


@pytest.mark.parametrize("clears", [False, True])
def test_a_plan_is_carried_on_with_where_it_stopped(clears):
    backend = Faulty()
    done = []

    def fails_at_the_third(batch):
        if not any(write.record.key.startswith(PROGRESS) for write in batch.writes):
            return False
        done.append(batch)
        return len(done) == 3

    backend.broken = fails_at_the_third
    extractor = Echo()
    store = MemoryStore(backend, extractor=extractor, extraction_mode="queue")
    talk = [message for n in range(5) for message in turn(n, f"Fact {n}")]
    store.enqueue_extraction("ann", talk, thread_id="t")
    store._engine.learner.work(ANN)
    (plan,) = store._engine.outbox.read(ANN).plans
    assert (plan.done, len(plan.operations)) == (2, 5)
    mend(backend)
    if clears:
        store.discard_jobs("ann")
    else:
        store._engine.learner.work(ANN)
    assert len(extractor.seen) == 1
    assert store.count_memories("ann") == (2 if clears else 5)
    assert backend.page(Page(mailbox_of(ANN), None)) == []
