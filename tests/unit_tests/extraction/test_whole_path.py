"""From a user's words in a graph to a memory, over an OpenAI-compatible server.

tests/integration_tests/test_local_llm.py goes the same way with a real model.
"""

import re
from contextlib import contextmanager
from threading import Event

import pytest
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.context import collect_runs

from langchain_agentmemory import MemoryExtractor, PreserveHistory
from langchain_agentmemory.extraction import retries
from tests.unit_tests.extraction.conversing import conversation
from tests.unit_tests.extraction.openai_server import (
    chat_openai,
    completion,
    openai_server,
)

REMEMBERED = "Lives in Porto with a cat named Momo"
SHOWN = re.compile(r"^- \[([^\]]+)\] (.*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.02)
    monkeypatch.setattr(retries, "LONGEST_DELAY", 0.1)


@pytest.fixture
def learning(make_store):
    """Open a store that learns from a server's answers; yields it and the requests."""

    @contextmanager
    def learning(*responses, **options):
        with openai_server(*responses) as (requests, path), chat_openai(path) as model:
            extractor = MemoryExtractor(model, policy=PreserveHistory())
            yield make_store(extractor=extractor, **options), requests

    return learning


def adds(text=REMEMBERED):
    return completion([("memory_add", {"memory": text})])


def shown_id(body, text):
    """Return the id under which the request shows a memory."""
    shown = SHOWN.findall(body["messages"][0]["content"])
    return next(key for key, line in shown if line.startswith(text))


def texts(store, user="ann"):
    return sorted(entry.memory for entry in store.read_memories(user))


def test_learnt_changed_and_forgotten(learning):
    def changes(body):
        key = shown_id(body, "Lives in Porto")
        args = {"memory_id": key, "memory": "Lives in Lisbon"}
        return completion([("memory_update", args)])

    def forgets(body):
        key = shown_id(body, "Has a cat")
        args = {"memory_id": key, "source_user_index": 1}
        return completion([("memory_delete", args)])

    first = completion(
        [
            ("memory_add", {"memory": "Lives in Porto"}),
            ("memory_add", {"memory": "Has a cat named Momo"}),
        ]
    )
    with learning(first, changes, forgets) as (store, requests):
        talk = conversation(store)
        talk.say("I live in Porto with my cat Momo.")
        assert store.flush(20)
        assert texts(store) == ["Has a cat named Momo", "Lives in Porto"]

        talk.say("I have moved to Lisbon.", thread="t2")
        assert store.flush(20)
        by_text = {entry.memory: entry for entry in store.read_memories("ann")}
        assert by_text["Lives in Lisbon"].supersedes == (by_text["Lives in Porto"].id,)
        assert by_text["Lives in Lisbon"].source.thread_id == "t2"

        talk.say("Please forget my cat.", thread="t2")
        assert store.flush(20)
        assert texts(store) == ["Lives in Lisbon", "Lives in Porto"]

        usage = store.extraction_usage("ann")
        assert usage == (3, 21, 9)
    assert len(requests) == 3


@pytest.mark.parametrize(
    "burst",
    [(429, 429, 429), (500, 502, 503), (429, 500, 429, 500)],
    ids=["rate limit", "server errors", "both"],
)
def test_a_burst_of_errors_delays_a_turn_and_loses_nothing(learning, burst):
    with learning(*burst, adds()) as (store, requests):
        conversation(store).say("I live in Porto with Momo.")
        assert store.flush(30)

        assert texts(store) == [REMEMBERED]
        assert store.status()["failed"] == 0
        assert len(store.extraction_jobs()) == 0
    assert len(requests) == len(burst) + 1


def test_a_burst_that_does_not_end_parks_the_turn_until_it_is_retried(learning):
    burst = [429] * retries.PATIENT_ATTEMPTS
    with learning(*burst, adds()) as (store, _):
        conversation(store).say("I live in Porto with Momo.")
        store.flush(30)
        [job] = store.extraction_jobs()
        assert (job.state, job.attempts) == ("parked", retries.PATIENT_ATTEMPTS)
        assert texts(store) == []

        assert store.retry_jobs("ann") == 1
        assert store.flush(30)
        assert texts(store) == [REMEMBERED]


@pytest.mark.parametrize(
    "body",
    [b'{"choices": [', b"<html>busy</html>", b"[]", b'{"choices": []}', b""],
)
def test_a_body_that_is_no_answer_is_asked_for_again(learning, body):
    with learning(body, adds()) as (store, requests):
        conversation(store).say("I live in Porto with Momo.")
        assert store.flush(30)
        assert texts(store) == [REMEMBERED]
    assert len(requests) == 2


def test_one_broken_call_does_not_spoil_the_others(learning):
    answer = completion(
        [
            ("memory_add", '{"memory": "Lives in'),
            ("memory_add", {"memory": REMEMBERED}),
            ("memory_delete", {"memory_id": "unknown", "source_user_index": 7}),
        ]
    )
    with learning(answer) as (store, requests):
        conversation(store).say("I live in Porto with Momo.")
        assert store.flush(20)

        assert texts(store) == [REMEMBERED]
    assert len(requests) == 1


def test_an_answer_that_never_comes_is_given_up_and_asked_for_again(learning):
    let_go = Event()

    def hangs():
        let_go.wait(20)
        return adds("Comes too late")

    with learning(hangs, adds(), job_timeout=0.5) as (store, requests):
        conversation(store).say("I live in Porto with Momo.")
        assert store.flush(20)
        assert texts(store) == [REMEMBERED]
        let_go.set()
    assert len(requests) == 2
    assert texts(store) == [REMEMBERED]


class Watching(BaseTracer):
    """A tracer as an application attaches it to the user's run."""

    def __init__(self):
        super().__init__()
        self.traced = []

    def _persist_run(self, run):
        self.traced.append(run)


def names(runs):
    return {run.name for run in runs} | {
        name for run in runs for name in names(run.child_runs)
    }


@pytest.mark.parametrize("mode", ["background", "inline"])
def test_the_user_sees_nothing_of_the_extraction(learning, mode):
    watching = Watching()
    with learning(adds(), adds("Has a sister"), extraction_mode=mode) as (store, _):
        talk = conversation(store)
        with collect_runs() as collected:
            seen = talk.say("I live in Porto with Momo.", callbacks=[watching])
            assert store.flush(20)
            seen += talk.say("I have a sister.", callbacks=[watching])
            assert store.flush(20)

        assert texts(store) == ["Has a sister", REMEMBERED]

    assert [run.name for run in watching.traced] == ["LangGraph", "LangGraph"]
    assert names(watching.traced) >= {"answer", "remember", "ScriptedChatModel"}
    assert names(collected.traced_runs) >= {"LangGraph", "ScriptedChatModel"}
    for run in (*watching.traced, *collected.traced_runs):
        assert not names([run]) & {
            *("memory_extraction", "agentmemory_extraction", "ChatOpenAI"),
            *("recall", "extract", "reconcile", "write"),
        }
        said = run.model_dump_json() if hasattr(run, "model_dump_json") else run.json()
        assert "memory_add" not in said

    written = [*seen, *talk.saver.list(None)]
    assert len(written) > 20
    shown = "\n".join(map(repr, written))
    assert "I live in Porto with Momo." in shown
    for hidden in ("memory_add", "memory_extraction", REMEMBERED, "Has a sister"):
        assert hidden not in shown
    threads = {one.config["configurable"]["thread_id"] for one in talk.saver.list(None)}
    assert threads == {"t1"}


def test_the_turn_does_not_wait_for_the_model(learning):
    asked, let_go = Event(), Event()

    def waits():
        asked.set()
        assert let_go.wait(20)
        return adds()

    with learning(waits) as (store, _):
        conversation(store).say("I live in Porto with Momo.")  # would hang here
        assert asked.wait(20)
        assert store.status()["running"] == 1
        let_go.set()
        assert store.flush(20)
        assert texts(store) == [REMEMBERED]
