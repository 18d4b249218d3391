"""`start_worker` and `stop_worker`: working off what other processes have queued."""

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import ExtractionFailed, InvalidInput
from tests.unit_tests.extraction.learning import Echo, texts, turn, until


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'memories.db'}"


def test_a_started_worker_finds_what_others_queue_later(url):
    with (
        MemoryStore.from_url(url, extractor=Echo()) as working,
        MemoryStore.from_url(url, extraction_mode="queue") as queueing,
    ):
        working.start_worker()
        queueing.enqueue_extraction("ann", turn(1, "Likes tea"), thread_id="t")
        until(lambda: texts(queueing) == ["Likes tea"])


def test_a_stopped_worker_finishes_what_is_under_way_and_leaves_the_rest(url):
    extractor = Echo()
    extractor.gate.clear()
    with MemoryStore.from_url(url, extractor=extractor) as store:
        store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
        assert extractor.entered.wait(10)
        store.enqueue_extraction("bob", turn(1, "B"), thread_id="t")
        assert not store.stop_worker(0.05)
        extractor.gate.set()
        until(lambda: [job.user.user_id for job in store.extraction_jobs()] == ["bob"])
        assert texts(store) == ["A"]
        # The next turn starts a worker again.
        store.enqueue_extraction("bob", turn(2, "C"), thread_id="t")
        assert store.flush(10)
        assert texts(store, "bob") == ["B", "C"]


async def test_the_status_counts_what_ended_workers_have_done(url):
    with MemoryStore.from_url(url, extractor=Echo()) as store:
        assert store.stop_worker()  # none was started
        store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
        assert store.flush(10)
        assert store.stop_worker(10)
        assert store.status()["done"] == 1
        store.enqueue_extraction("ann", turn(2, "B"), thread_id="t")
        assert store.flush(10)
        assert await store.astop_worker(10)
        assert store.status()["done"] == 2


def test_a_store_that_cannot_work_in_the_background_says_so(url):
    with (
        MemoryStore.from_url(url) as store,
        pytest.raises(ExtractionFailed, match="extractor="),
    ):
        store.start_worker()
    options = {"extractor": Echo(), "extraction_mode": "inline"}
    with (
        MemoryStore.from_url(url, **options) as store,
        pytest.raises(InvalidInput, match="background"),
    ):
        store.start_worker()


async def test_a_switch_can_be_read(url):
    with MemoryStore.from_url(url, extractor=Echo()) as store:
        store.pause_learning("ann", "t")
        assert store.learning_paused("ann", "t")
        assert not store.learning_paused("ann")
        store.pause_learning("ann")
        assert await store.alearning_paused("ann", "other")
        assert not await store.alearning_paused("bob")
        store.resume_learning("ann")
        assert not store.learning_paused("ann", "t")
