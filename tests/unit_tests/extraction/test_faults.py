"""What users' code and the machine do wrong: no thread dies, no turn is lost."""

import asyncio

import pytest

from langchain_agentmemory.extraction import retries
from tests.unit_tests.extraction.learning import Echo, texts, turn

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
