"""The queue: what is new is written down once, nothing is lost, nothing comes twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_agentmemory import (
    MemoryExtractor,
    MemoryStore,
    UserKey,
    redact_secrets,
)
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.errors import (
    BackendUnavailable,
    ExtractionFailed,
    InvalidInput,
)
from langchain_agentmemory.extraction import mailbox, outbox, retries
from langchain_agentmemory.extraction.mailbox import Said
from langchain_agentmemory.testing.scripted import ScriptedChatModel
from tests.unit_tests.extraction.learning import Echo, texts, turn, until

ANN = UserKey("default", "ann")


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.01)


def test_a_turn_is_remembered_with_its_source(make_store):
    store = make_store(extractor=Echo())
    assert store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t1")
    assert store.flush(10)
    (entry,) = store.read_memories("ann")
    assert entry.memory == "Likes tea"
    assert entry.source.thread_id == "t1"
    assert entry.source.message_ids == ("h1",)
    assert (entry.source.role, entry.source.position) == ("user", 0)
    assert entry.source.said_at is not None


def test_only_what_is_new_in_a_conversation_is_extracted(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    conversation = turn(1, "Likes tea")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    conversation += turn(2, "Moved to Rome")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert extractor.seen == [["Likes tea", "fine"], ["Moved to Rome", "fine"]]


def test_what_was_extracted_is_known_after_reopening(make_store, engine):
    if engine == "memory":
        pytest.skip("nothing outlives a store in memory")
    first = make_store(extractor=Echo())
    first.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert first.flush(10)
    first.close()
    extractor = Echo()
    again = make_store(extractor=extractor)
    conversation = turn(1, "Likes tea") + turn(2, "Moved to Rome")
    again.enqueue_extraction("ann", conversation, thread_id="t")
    assert again.flush(10)
    assert extractor.seen == [["Moved to Rome", "fine"]]


def test_what_waits_is_worked_off_after_reopening(make_store, engine):
    if engine == "memory":
        pytest.skip("nothing outlives a store in memory")
    queue = make_store(extraction_mode="queue")
    queue.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    queue.close()
    again = make_store(extractor=Echo())
    until(lambda: texts(again) == ["Likes tea"])


def test_an_edited_message_is_new(make_store):
    store = make_store(extractor=Echo())
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    store.flush(10)
    store.enqueue_extraction("ann", turn(1, "Likes coffee"), thread_id="t")
    store.flush(10)
    assert texts(store) == ["Likes tea", "Likes coffee"]


def test_a_history_that_a_summariser_cut_brings_only_what_is_new(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A") + turn(2, "B"), thread_id="t")
    store.flush(10)
    summary = HumanMessage(
        "Summary: A and B", id="s", additional_kwargs={"lc_source": "summarization"}
    )
    store.enqueue_extraction("ann", [summary, *turn(3, "C")], thread_id="t")
    store.flush(10)
    assert extractor.seen[1:] == [["C", "fine"]]


def test_ids_that_do_not_last_bring_only_what_is_new(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    words = ["yes", "ok", "yes", "ok"]

    def conversation(length):
        kinds = (HumanMessage, AIMessage)
        return [kinds[i % 2](text) for i, text in enumerate(words[:length])]

    for length in (2, 4, 4):
        store.enqueue_extraction("ann", conversation(length), thread_id="t")
        store.flush(10)
    assert extractor.seen == [["yes", "ok"], ["yes", "ok"]]


def test_without_a_thread_id_a_repeated_turn_is_known(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", [HumanMessage("Likes tea")])
    store.flush(10)
    store.enqueue_extraction("ann", [HumanMessage("Likes tea"), AIMessage("I know")])
    store.flush(10)
    assert extractor.seen == [["Likes tea"]]


def test_what_was_kept_out_stays_out_when_the_answer_follows(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    secret = [HumanMessage("I have a secret tattoo")]
    assert not store.enqueue_extraction("ann", secret, thread_id="t", learn=False)
    rest = [AIMessage("ok"), HumanMessage("I like green tea")]
    store.enqueue_extraction("ann", secret + rest, thread_id="t")
    assert store.flush(10)
    assert extractor.seen == [["I like green tea"]]


def test_only_what_was_said_is_written_down(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    call = {"name": "look", "args": {}, "id": "c1", "type": "tool_call"}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    conversation = [
        SystemMessage("You are helpful"),
        HumanMessage([{"type": "text", "text": "Look at this"}, picture], id="1"),
        AIMessage("", tool_calls=[call, {**call, "id": "c2"}], id="2"),
        ToolMessage("secret document", tool_call_id="c1", id="3"),
        ToolMessage("another", tool_call_id="c2", id="4"),
        AIMessage("A cat", id="5"),
    ]
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.flush(10)
    assert extractor.seen == [["Look at this\n[image]", "A cat"]]


def test_nothing_is_queued_when_the_user_said_nothing(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    assert store.enqueue_extraction("ann", [], thread_id="t")
    assert store.enqueue_extraction("ann", [AIMessage("Hello!")], thread_id="t")
    assert store.flush(10)
    assert extractor.seen == []


def test_pending_turns_of_a_thread_become_one_extraction(make_store):
    extractor = Echo()
    extractor.gate.clear()
    store = make_store(extractor=extractor)
    store.enqueue_extraction("bob", turn(0, "first"), thread_id="other")
    assert extractor.entered.wait(10)
    conversation = []
    for number, text in enumerate("ABC"):
        conversation += turn(number, text)
        store.enqueue_extraction("ann", conversation, thread_id="t")
    extractor.gate.set()
    assert store.flush(10)
    assert extractor.seen[1:] == [["A", "fine", "B", "fine", "C", "fine"]]


def test_at_max_pending_turns_join_and_none_is_lost(make_store):
    store = make_store(max_pending=3, extraction_mode="queue")
    conversation = []
    for number in range(10):
        conversation += turn(number, f"fact {number}")
        assert store.enqueue_extraction("ann", conversation, thread_id="t")
    jobs = store.extraction_jobs("ann")
    assert len(jobs) == 3
    said = [text for job in jobs for text in job.said if text.startswith("user")]
    assert said == [f"user: fact {number}" for number in range(10)]


def test_at_max_pending_a_turn_said_before_a_deletion_stays_apart(make_store):
    store, extractor = paused(make_store, max_pending=1)
    entry = store.add_memory("ann", "Likes tea")
    conversation = turn(1, "Likes tea")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.delete_memory("ann", entry.id)
    conversation += turn(2, "Moved to Rome")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["Moved to Rome"]


def test_at_max_pending_turns_of_different_days_stay_apart():
    now = [1_700_000_000_000_000]
    store = MemoryStore(
        InMemoryBackend(clock=lambda: now[0]),
        max_pending=1,
        timezone="Asia/Shanghai",
        extraction_mode="queue",
    )
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    now[0] += 24 * 3600 * 1_000_000
    for number in (2, 3):
        conversation += turn(number, "BC"[number - 2])
        store.enqueue_extraction("ann", conversation, thread_id="t")
    jobs = store.extraction_jobs("ann")
    assert [job.said[::2] for job in jobs] == [("user: A",), ("user: B", "user: C")]
    store.close()


def test_at_max_pending_another_thread_still_gets_in(make_store):
    store = make_store(max_pending=1, extraction_mode="queue")
    assert store.enqueue_extraction("ann", turn(1, "A"), thread_id="t1")
    assert store.enqueue_extraction("ann", turn(2, "B"), thread_id="t2")
    assert {job.thread_id for job in store.extraction_jobs()} == {"t1", "t2"}


def test_jobs_of_one_user_neither_overlap_nor_overtake(make_store):
    running, most = set(), []

    class Watching(Echo):
        def extract(self, messages, existing=(), **circumstances):
            user = messages[0].text[:1]
            assert user not in running
            running.add(user)
            most.append(len(running))
            found = super().extract(messages, existing, **circumstances)
            running.discard(user)
            return found

    extractor = Watching()
    store = make_store(extractor=extractor, extraction_concurrency=4, max_pending=None)
    for number in range(20):
        for user in "abcd":
            said = turn(number, f"{user}{number}")
            store.enqueue_extraction(user, said, thread_id=f"t{number}")
    assert store.flush(30)
    for user in "abcd":
        assert texts(store, user) == [f"{user}{number}" for number in range(20)]


def test_checkers_hold_turns_back_and_they_accumulate(make_store):
    extractor = Echo(due=lambda context: len(context.messages) > 3)
    store = make_store(extractor=extractor)
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert [job.state for job in store.extraction_jobs()] == ["held"]
    assert store.status()["held"] == 1
    conversation += turn(2, "B")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert extractor.seen == [["A", "fine", "B", "fine"]]
    assert store.extraction_jobs() == []
    first, second = extractor.contexts
    assert (first.user, first.thread_id) == (ANN, "t")
    assert first.last_extract_at is None
    assert second.last_extract_at is None


def test_a_checker_is_told_when_was_extracted_last(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.flush(10)
    conversation += turn(2, "B")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.flush(10)
    (entry, _) = store.read_memories("ann")
    assert extractor.contexts[1].last_extract_at < entry.source.said_at


def test_a_checker_that_fails_lets_extract(make_store, caplog):
    def broken(context):
        raise ZeroDivisionError

    store = make_store(extractor=Echo(due=broken))
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["A"]
    assert "A checker failed" in caplog.text


def test_what_can_pass_is_tried_again_in_order(make_store):
    extractor = Echo(fails=[TimeoutError("slow"), ConnectionError("gone")])
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t1")
    store.enqueue_extraction("ann", turn(2, "B"), thread_id="t2")
    assert store.flush(20)
    assert texts(store) == ["A", "B"]
    assert store.status()["failed"] == 0


def test_what_fails_for_good_is_parked_seen_and_run_again(make_store):
    extractor = Echo(fails=[TypeError("a bug")])
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    store.enqueue_extraction("ann", turn(2, "B"), thread_id="other")
    assert store.flush(10)
    assert texts(store) == ["B"]
    (job,) = store.extraction_jobs()
    assert (job.state, job.attempts, job.error) == ("parked", 1, "TypeError: a bug")
    status = store.status()
    assert status["failed"] == 1
    assert status["last_error"] == "TypeError: a bug"
    assert "a bug" in repr(store.extraction_jobs())
    assert "a bug" in store.extraction_jobs()._repr_html_()
    assert store.retry_jobs("ann", [job.id]) == 1
    assert store.flush(10)
    assert texts(store) == ["B", "A"]
    assert store.extraction_jobs() == []


def test_after_some_attempts_a_turn_is_parked(make_store, monkeypatch):
    monkeypatch.setattr(retries, "ATTEMPTS", 3)
    extractor = Echo(fails=[TimeoutError("slow")] * 3)
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.flush(10)
    (job,) = store.extraction_jobs()
    assert (job.state, job.attempts) == ("parked", 3)


def test_parked_jobs_can_be_discarded_and_are_not_learnt_later(make_store):
    extractor = Echo(fails=[TypeError("a bug")])
    store = make_store(extractor=extractor)
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.flush(10)
    assert store.discard_jobs("ann") == 1
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.flush(10)
    assert texts(store) == []


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (OSError("disk full"), True),
        (BackendUnavailable("locked"), True),
        (type("RateLimited", (Exception,), {"status_code": 429})(), True),
        (type("Overloaded", (Exception,), {"status_code": 529})(), True),
        (type("Refused", (Exception,), {"status_code": 400})(), False),
        (type("Forbidden", (Exception,), {"status_code": 401})(), False),
        (TypeError(), False),
        (InvalidInput("no"), False),
        (ExtractionFailed("of unknown cause"), True),
    ],
)
def test_which_errors_may_pass(error, passes):
    assert retries.may_pass(error) is passes
    wrapped = ExtractionFailed("the model failed")
    wrapped.__cause__ = error
    assert retries.may_pass(wrapped) is passes


def test_an_extraction_that_hangs_is_given_up_and_writes_nothing_later(make_store):
    extractor = Echo()
    extractor.gate.clear()
    store = make_store(extractor=extractor, job_timeout=0.2)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    until(lambda: "job_timeout" in str(store.status()["last_error"]))
    extractor.gate.set()
    assert store.flush(20)
    assert texts(store) == ["A"]
    (entry,) = store.read_memories("ann")
    assert entry.created_at == entry.updated_at  # written once


def test_inline_mode_extracts_before_it_returns(make_store):
    store = make_store(extractor=Echo(), extraction_mode="inline")
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert texts(store) == ["A"]


def test_queue_mode_leaves_the_work_to_another_process(make_store, engine):
    if engine == "memory":
        pytest.skip("nothing outlives a store in memory")
    idle = Echo()
    queue = make_store(extractor=idle, extraction_mode="queue")
    assert queue.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    assert not queue.flush(10)
    worker = make_store(extractor=Echo())
    assert worker.flush(10)
    assert queue.flush(10)
    assert texts(queue) == ["Likes tea"]
    assert idle.seen == []


def test_what_is_kept_in_memory_is_written_with_the_next_turn():
    backend = Unreliable(InMemoryBackend())
    store = MemoryStore(backend, extractor=Echo(), extraction_mode="queue")
    assert store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    backend.broken = True
    conversation = turn(1, "A") + turn(2, "B")
    assert not store.enqueue_extraction("ann", conversation, thread_id="t")
    backend.broken = False
    conversation += turn(3, "C")
    assert store.enqueue_extraction("ann", conversation, thread_id="t")
    said = [job.said[0] for job in store.extraction_jobs("ann")]
    assert said == ["user: A", "user: B", "user: C"]
    assert "only in memory" not in store.status()


def test_threads_that_write_what_was_kept_in_memory_lose_nothing():
    backend = Unreliable(InMemoryBackend())
    box = outbox.Outbox(backend, None, UTC)
    said = [Said("user", f"fact {number}") for number in range(200)]
    backend.broken = True
    for number, message in enumerate(said):
        with pytest.raises(BackendUnavailable):
            box.enqueue(ANN, f"t{number}", [message])
    backend.broken = False
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: box.unspill(), range(8)))
    written = {message.text for job in box.jobs(ANN) for message in job.said}
    assert written == {message.text for message in said}


def test_inline_mode_never_raises_and_loses_nothing(make_store):
    extractor = Echo(fails=[TimeoutError("slow")])
    store = make_store(extractor=extractor, extraction_mode="inline")
    assert store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert len(store.extraction_jobs()) == 1
    until(store.flush)
    assert texts(store) == ["A"]


async def test_async_twins(make_store):
    store = make_store(extractor=Echo())
    assert await store.aenqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert await store.aflush(10)
    assert texts(store) == ["A"]
    assert await store.aextraction_jobs() == []
    assert (await store.aextraction_usage("ann")).model_calls == 1
    await store.apause_learning("ann")
    assert not await store.aenqueue_extraction("ann", turn(2, "B"), thread_id="t")
    await store.aresume_learning("ann")
    assert await store.aretry_jobs() == 0
    assert await store.adiscard_jobs("ann") == 0


async def test_queueing_never_blocks_the_loop(make_store):
    store = make_store(extractor=Echo())
    with blockbuster_ctx("langchain_agentmemory"):
        for number in range(5):
            said = turn(number, f"fact {number}")
            await store.aenqueue_extraction("ann", said, thread_id="t")
        assert await store.aflush(10)


# --- forgetting ---------------------------------------------------------------------


def paused(make_store, **options):
    """Return a store whose only worker is busy with another user."""
    extractor = Echo()
    extractor.gate.clear()
    store = make_store(extractor=extractor, **options)
    store.enqueue_extraction("bob", turn(0, "first"), thread_id="b")
    assert extractor.entered.wait(10)
    return store, extractor


@pytest.mark.parametrize("soft_delete", [False, True])
@pytest.mark.parametrize("again", ["Likes tea", "likes tea!"])
def test_what_was_deleted_is_not_learnt_from_a_waiting_turn(
    make_store, soft_delete, again
):
    store, extractor = paused(make_store, soft_delete=soft_delete)
    entry = store.add_memory("ann", "Likes tea")
    said = turn(1, again) + turn(2, "Moved to Rome")
    store.enqueue_extraction("ann", said, thread_id="t")
    assert store.delete_memory("ann", entry.id)
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["Moved to Rome"]


def test_what_is_deleted_as_an_item_counts_too(make_store):
    store, extractor = paused(make_store)
    entry = store.add_memory("ann", "Likes tea")
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    store.delete(ANN.namespace, entry.id)
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == []


def test_what_is_said_again_after_it_was_deleted_is_learnt(make_store):
    store, extractor = paused(make_store)
    entry = store.add_memory("ann", "Likes tea")
    conversation = turn(1, "Likes tea")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.delete_memory("ann", entry.id)
    conversation += turn(2, "Likes tea")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["Likes tea"]


def test_clearing_discards_what_waits_and_what_is_under_way(make_store):
    extractor = Echo()
    extractor.gate.clear()
    store = make_store(extractor=extractor)
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert extractor.entered.wait(10)
    conversation += turn(2, "B")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    store.clear_memories("ann")
    extractor.gate.set()
    assert store.flush(10)
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert texts(store) == []


def test_erasing_removes_every_trace(make_store):
    extractor = Echo(fails=[TypeError("a bug")])
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    store.flush(10)
    store.enqueue_extraction("ann", turn(2, "B"), thread_id="t2")
    store.flush(10)
    receipt = store.erase_user("ann")
    assert receipt.memories == 1
    assert receipt.traces > 0
    assert store.extraction_jobs() == []
    assert store.extraction_usage("ann").model_calls == 0
    assert store.backend.heads(()) == []
    # Nothing is known of the conversation any more, so it can be learnt anew.
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["A"]


# --- switches and costs -------------------------------------------------------------


def test_nothing_is_learnt_while_learning_is_paused(make_store):
    store = make_store(extractor=Echo())
    conversation = turn(1, "A")
    store.pause_learning("ann")
    assert not store.enqueue_extraction("ann", conversation, thread_id="t")
    store.resume_learning("ann")
    conversation += turn(2, "B")
    assert store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["B"]  # what was said meanwhile is never extracted


def test_one_conversation_can_be_paused(make_store):
    store = make_store(extractor=Echo())
    store.pause_learning("ann", "private")
    assert not store.enqueue_extraction("ann", turn(1, "A"), thread_id="private")
    assert store.enqueue_extraction("ann", turn(2, "B"), thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["B"]


def test_pausing_discards_what_waits(make_store):
    store, extractor = paused(make_store)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="private")
    store.enqueue_extraction("ann", turn(2, "B"), thread_id="t")
    store.pause_learning("ann", "private")
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["B"]


def test_calls_per_hour_make_the_rest_wait(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor, extraction_calls_per_hour=2)
    for number in range(4):
        said = turn(number, f"fact {number}")
        store.enqueue_extraction("ann", said, thread_id=f"t{number}")
        store.flush(0.5)
    store.enqueue_extraction("bob", turn(9, "B"), thread_id="t")
    store.flush(2)
    assert texts(store) == ["fact 0", "fact 1"]
    assert texts(store, "bob") == ["B"]
    assert store.extraction_usage("ann").model_calls == 2
    assert [job.state for job in store.extraction_jobs("ann")] == ["waiting"] * 2


def test_conversations_with_retrieved_documents_can_be_kept_out(make_store):
    call = {"name": "docs_knowledge_search", "args": {}, "id": "c", "type": "tool_call"}
    looked_up = [
        HumanMessage("What does it say?", id="1"),
        AIMessage("", tool_calls=[call], id="2"),
        ToolMessage("a document", tool_call_id="c", name=call["name"], id="3"),
        AIMessage("It says so", id="4"),
    ]
    store = make_store(extractor=Echo(), learn_from_external_context=False)
    assert not store.enqueue_extraction("ann", looked_up, thread_id="t")
    assert not store.enqueue_extraction("ann", turn(5, "A"), thread_id="t")
    assert store.enqueue_extraction("ann", turn(6, "B"), thread_id="other")
    assert store.flush(10)
    assert texts(store) == ["B"]


# --- faults -------------------------------------------------------------------------


class Unreliable:
    """Lets commits fail while it is told to."""

    def __init__(self, backend):
        self._below = backend
        self.broken = False

    def __getattr__(self, name):
        return getattr(self._below, name)

    def commit(self, batch):
        if self.broken:
            msg = "the disk is full"
            raise BackendUnavailable(msg)
        return self._below.commit(batch)


def test_a_turn_that_cannot_be_written_is_kept_and_the_status_says_so(caplog):

    backend = Unreliable(InMemoryBackend())
    store = MemoryStore(backend, extractor=Echo())
    backend.broken = True
    assert not store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert "could not be written down" in caplog.text
    status = store.status()
    assert status["only in memory"] == 1
    assert status["state"] == "degraded: turns could not be written"
    assert "the disk is full" in str(status["last_error"])
    backend.broken = False
    assert store.flush(10)
    assert texts(store) == ["A"]
    assert store.status()["state"] == "ok"
    store.close()


def test_a_store_that_fails_during_the_work_is_tried_again():

    backend = Unreliable(InMemoryBackend())
    extractor = Echo()
    extractor.gate.clear()
    store = MemoryStore(backend, extractor=extractor, job_timeout=0.5)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert extractor.entered.wait(10)
    backend.broken = True
    extractor.gate.set()
    until(lambda: "disk is full" in str(store.status()["last_error"]))
    backend.broken = False
    assert store.flush(20)
    assert texts(store) == ["A"]
    store.close()


def test_a_full_limit_is_an_outcome_and_no_retry(make_store, caplog):
    extractor = Echo()
    store = make_store(extractor=extractor, memory_limit=2)
    said = [message for n in range(4) for message in turn(n, f"fact {n}")]
    store.enqueue_extraction("ann", said, thread_id="t")
    assert store.flush(10)
    assert texts(store) == ["fact 0", "fact 1"]
    assert len(extractor.seen) == 1
    assert "Not remembered" in caplog.text
    assert store.status()["nearly full"] == "1 users at 80% of their limit"


def test_bad_settings_are_refused():
    for options in (
        {"extraction_concurrency": 0},
        {"max_pending": 0},
        {"job_timeout": 0},
        {"job_timeout": float("inf")},
        {"extraction_mode": "later"},
        {"extraction_calls_per_hour": -1},
        {"extractor": object()},
    ):
        with pytest.raises(InvalidInput):
            MemoryStore(**options)


def test_nothing_of_it_is_an_item(make_store):
    store = make_store(extraction_mode="queue")
    store.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
    store.put(("docs",), "k", {"text": "tea"})
    assert store.list_namespaces() == [("docs",)]
    assert len(store.search((), limit=100)) == 1
    assert len(store.search((), query="tea", limit=100)) == 1
    (head,) = store.backend.heads(("agentmemory_extraction",))
    (job,) = store.extraction_jobs()
    assert store.get(head.namespace, job.id) is None
    assert store.search(head.namespace) == []
    with pytest.raises(InvalidInput, match="reserved"):
        store.put(head.namespace, job.id, {"x": 1})
    with pytest.raises(InvalidInput, match="reserved"):
        store.delete(head.namespace, job.id)


def test_closing_waits_for_what_is_under_way_and_keeps_the_rest(make_store, engine):
    store = make_store(extractor=Echo())
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    store.close()
    assert not store.enqueue_extraction("ann", turn(2, "B"), thread_id="t")


def test_turns_of_different_days_are_extracted_apart(tmp_path):

    day = 24 * 3600 * 1_000_000
    now = [1_700_000_000_000_000]
    extractor = Echo(due=lambda context: len(context.messages) > 3)
    told = []

    class Dated(Echo):
        def extract(self, messages, existing=(), **circumstances):
            told.append(circumstances["said_at"].date().isoformat())
            return super().extract(messages, existing, **circumstances)

    extractor = Dated(due=lambda context: len(context.messages) > 3)
    store = MemoryStore(InMemoryBackend(clock=lambda: now[0]), extractor=extractor)
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    now[0] += day
    conversation += turn(2, "B")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    assert extractor.seen == [["A", "fine"], ["B", "fine"]]
    assert told == ["2023-11-14", "2023-11-15"]
    store.close()


def test_a_turn_of_a_store_that_cannot_even_be_read_is_kept():

    class Unreadable(Unreliable):
        def page(self, page):
            return self._refuse("page", page)

        def read(self, namespace, keys):
            return self._refuse("read", namespace, keys)

        def _refuse(self, name, *arguments):
            if self.broken:
                msg = "no connection"
                raise BackendUnavailable(msg)
            return getattr(self._below, name)(*arguments)

    backend = Unreadable(InMemoryBackend())
    extractor = Echo()
    store = MemoryStore(backend, extractor=extractor)
    conversation = turn(1, "A")
    store.enqueue_extraction("ann", conversation, thread_id="t")
    assert store.flush(10)
    fresh = MemoryStore(backend, extractor=extractor)  # as after a restart
    backend.broken = True
    conversation += turn(2, "B")
    assert not fresh.enqueue_extraction("ann", conversation, thread_id="t")
    backend.broken = False
    assert fresh.flush(10)
    assert extractor.seen == [["A", "fine"], ["B", "fine"]]


def test_the_processed_set_of_a_long_conversation_stays_small(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor)
    conversation = []
    for number in range(outbox.CHUNKS + 10):
        conversation += turn(number, f"fact {number}")
        store.enqueue_extraction("ann", conversation, thread_id="t")
        assert store.flush(10)
    seen = store._engine.outbox.seen(ANN, "t")
    assert len(seen.chunks) < 20
    again = make_store(extractor=extractor)  # where data is shared: nothing is new
    if again.count_memories("ann"):
        again.enqueue_extraction("ann", conversation, thread_id="t")
        assert again.flush(10)
    assert len(extractor.seen) == outbox.CHUNKS + 10


def test_the_status_counts_only_items(make_store):
    store = make_store(extraction_mode="queue")
    store.put(("docs",), "k", {"text": "tea"})
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.status()["items"] == "1"


def test_what_is_held_back_can_be_extracted_at_the_end(make_store):
    extractor = Echo(due=lambda context: False)
    store = make_store(extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    store.enqueue_extraction("bob", turn(2, "B"), thread_id="t")
    assert store.flush(10)
    assert store.status()["held"] == 2
    assert store.flush(10, held=True)
    assert (texts(store), texts(store, "bob")) == (["A"], ["B"])
    assert store.extraction_jobs() == []


def test_an_old_conversation_has_its_own_time(make_store):
    told = []

    class Dated(Echo):
        def extract(self, messages, existing=(), **circumstances):
            told.append(circumstances["said_at"].isoformat())
            return super().extract(messages, existing, **circumstances)

    store = make_store(extractor=Dated(), timezone="Asia/Shanghai")
    said_at = "2023-05-07T09:00:00"
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t", said_at=said_at)
    assert store.flush(10)
    assert told == ["2023-05-07T01:00:00+00:00"]
    assert store.read_memories("ann")[0].source.said_at.year == 2023
    with pytest.raises(InvalidInput):
        store.enqueue_extraction("ann", turn(2, "B"), said_at="some day")


class Overloaded(Exception):
    status_code = 503


def test_an_outage_is_waited_out_and_an_unknown_error_is_not(make_store, monkeypatch):
    monkeypatch.setattr(retries, "LONGEST_DELAY", 0.02)
    outage = [Overloaded()] * (retries.PATIENT_ATTEMPTS - 1)
    store = make_store(extractor=Echo(fails=outage))
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.flush(20)
    assert texts(store) == ["A"]
    unknown = make_store("two", extractor=Echo(fails=[ValueError("odd")] * 9))
    unknown.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert unknown.flush(20)
    (job,) = unknown.extraction_jobs()
    assert (job.state, job.attempts) == ("parked", retries.ATTEMPTS)


def test_calls_that_failed_are_counted(make_store):
    failed = ExtractionFailed("the model failed")
    store = make_store(extractor=Echo(fails=[failed, failed]))
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.flush(20)
    assert store.extraction_usage("ann").model_calls == 3


def test_a_store_without_an_extractor_queues_nothing_and_says_so(make_store, caplog):
    store = make_store()
    assert not store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.extraction_jobs() == []
    assert "has no extractor" in caplog.text


def test_secrets_are_taken_out_before_anything_is_written_down(make_store):
    extractor = MemoryExtractor(ScriptedChatModel([]), redact=redact_secrets)
    store = make_store(extractor=extractor, extraction_mode="queue")
    said = [HumanMessage("my password is tea4two!", id="1")]
    assert store.enqueue_extraction("ann", said, thread_id="t")
    (job,) = store.extraction_jobs()
    assert "tea4two" not in str(job)
    assert "my password is" in job.said[0]


def test_the_description_tells_how_a_store_learns(make_store):
    assert make_store().describe()["learns"] == "no"
    learning = make_store("two", extractor=Echo())
    assert learning.describe()["learns"] == "Echo, append_only, background"


def test_a_conversation_too_long_for_one_extraction_is_read_in_pieces(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor, memory_limit=None)
    long = [m for n in range(300) for m in turn(n, f"fact {n} " + "very " * 100)]
    store.enqueue_extraction("ann", long, thread_id="t")
    assert store.flush(30)
    assert len(texts(store)) == 300
    assert len(extractor.seen) > 1
    for asked in extractor.seen:
        assert sum(map(len, asked)) <= mailbox.LARGEST


def test_many_waiting_turns_are_not_joined_beyond_that_size(make_store):
    extractor = Echo()
    store = make_store(extractor=extractor, memory_limit=None, max_pending=2)
    extractor.gate.clear()
    store.enqueue_extraction("bob", turn(0, "first"), thread_id="b")
    assert extractor.entered.wait(10)
    conversation = []
    for number in range(10):
        conversation += turn(number, f"fact {number} " + "very " * 4_000)
        store.enqueue_extraction("ann", conversation, thread_id="t")
    extractor.gate.set()
    assert store.flush(30)
    assert len(texts(store)) == 10
    for asked in extractor.seen:
        assert sum(map(len, asked)) <= mailbox.LARGEST
