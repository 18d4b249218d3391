"""The cases for the worker, for carrying out operations, and for the end of a run.

The folder is taken from `AGENTMEMORY_CASES`, by default a neighbour of the repository.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from langchain_agentmemory import MemoryStore, MergeSimilar, Operation, QueueExtraction
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.errors import (
    BackendUnavailable,
    MemoryLimitExceeded,
    MemoryNotFound,
)
from langchain_agentmemory.extraction.applying import Applier
from langchain_agentmemory.types import UserKey
from tests.unit_tests.extraction.learning import Echo, texts, turn, until

CASES = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[3] / "shared" / "cases")
)

DECIDED_OTHERWISE = {
    # name: what we do instead, and why
    "extract_error_sync_returned": "an error never reaches the turn; the turn is kept",
    "after_stop_runs_synchronously": "a closed store queues nothing",
    "queue_full_runs_synchronously": "the turn joins the last one of its thread: a "
    "turn is never delayed by extraction",
    "cancelled_caller_skips_fallback": "a queued turn is extracted, whatever becomes "
    "of the run",
    "second_enqueue_while_queued_resubmits": "what is queued already is recognised",
    "assistant_only_delta_no_lookup": "without words of the user nothing is queued",
    "update_other_error": "ids are looked up with their owner, so there is no such "
    "error: an unknown user is an unknown id, and the text is added",
}
ELSEWHERE = {
    "hash_routing": "workers claim mailboxes; there are no queues to choose from",
}


def rows(*areas: str) -> list[Any]:
    file = CASES / "auto-memory.jsonl"
    if not file.exists():
        return []
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [
        pytest.param(row, id=f"{row['area']}/{row['name']}")
        for row in found
        if row["area"] in areas
    ]


def check_cases() -> None:
    if not CASES.exists():
        pytest.skip("The cases are not here: set AGENTMEMORY_CASES to their folder.")


@pytest.mark.parametrize("row", rows("worker"))
def test_worker(row: dict[str, Any]) -> None:
    name = row["name"]
    if name in ELSEWHERE:
        pytest.skip(ELSEWHERE[name])
    WORKER[name]()


def enqueued(store: MemoryStore, *said: Any, thread: str = "t") -> bool:
    return store.enqueue_extraction("ann", said or turn(1, "A"), thread_id=thread)


def error_keeps_the_turn() -> None:
    extractor = Echo(fails=[TypeError("broken")])
    store = MemoryStore(extractor=extractor, extraction_mode="inline")
    assert enqueued(store)
    assert [job.state for job in store.extraction_jobs()] == ["parked"]


def works_without_a_start() -> None:
    extractor = Echo()
    store = MemoryStore(extractor=extractor)
    assert enqueued(store)
    assert store.flush(10)
    assert len(extractor.seen) == 1
    assert store.extraction_jobs() == []
    store.close()


def a_closed_store_queues_nothing() -> None:
    extractor = Echo()
    store = MemoryStore(extractor=extractor)
    store.close()
    assert not enqueued(store)
    assert extractor.seen == []


def full_queue_joins() -> None:
    extractor = Echo()
    extractor.gate.clear()
    store = MemoryStore(extractor=extractor, max_pending=1)
    store.enqueue_extraction("bob", turn(0, "first"), thread_id="b")
    assert extractor.entered.wait(10)
    conversation = []
    for number, text in enumerate("ABC"):
        conversation += turn(number, text)
        enqueued(store, *conversation)
    assert len(store.extraction_jobs("ann")) == 1
    extractor.gate.set()
    assert store.flush(10)
    assert texts(store) == ["A", "B", "C"]
    store.close()


def cancelled_caller_is_extracted() -> None:
    store = MemoryStore(extractor=Echo())
    graph = StateGraph(MessagesState)
    graph.add_node("remember", QueueExtraction(store))
    graph.add_node("fail", lambda _: 1 / 0)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", "fail")
    config = {"configurable": {"user_id": "ann", "thread_id": "t"}}
    with contextlib.suppress(ZeroDivisionError):
        graph.compile().invoke({"messages": [("user", "A")]}, config)
    assert store.flush(10)
    assert texts(store) == ["A"]
    store.close()


def write_failures_do_not_stop_a_batch() -> None:
    store = MemoryStore(extractor=Echo(), memory_limit=1)
    store.add_memory("ann", "B")
    enqueued(store, *turn(1, "A"), *turn(2, "B"))
    assert store.flush(10)
    assert texts(store) == ["B"]  # A is refused at the limit, B is refreshed
    assert store.extraction_jobs() == []
    store.close()


def nothing_new_is_no_extraction() -> None:
    extractor = Echo()
    store = MemoryStore(extractor=extractor)
    for _ in range(2):
        enqueued(store)
        assert store.flush(10)
    assert len(extractor.seen) == 1
    store.close()


def queued_turns_are_recognised() -> None:
    store = MemoryStore(extraction_mode="queue")
    enqueued(store)
    enqueued(store)
    assert len(store.extraction_jobs()) == 1


def external_context_is_learnt_from_by_default() -> None:
    extractor = Echo()
    store = MemoryStore(extractor=extractor)
    call = {"name": "docs_knowledge_search", "args": {}, "id": "c", "type": "tool_call"}
    enqueued(
        store,
        HumanMessage("A", id="1"),
        AIMessage("", tool_calls=[call], id="2"),
        AIMessage("so", id="3"),
    )
    assert store.flush(10)
    assert len(extractor.seen) == 1
    store.close()


def a_failed_search_reads_the_newest() -> None:
    class Lame(Echo):
        def extract(self, messages, existing=(), **circumstances):
            self.existing = list(existing)
            return super().extract(messages, existing, **circumstances)

    extractor = Lame(policy=MergeSimilar())
    store = MemoryStore(extractor=extractor)
    for number in range(30):
        store.add_memory("ann", f"Fact {number}")

    def broken(*_: Any) -> Any:
        msg = "the search is broken"
        raise BackendUnavailable(msg)

    store._service.search = broken  # type: ignore[method-assign]
    enqueued(store)
    assert store.flush(10)
    newest = [entry.memory for entry in extractor.existing]
    assert newest == [f"Fact {number}" for number in range(29, 9, -1)]
    assert store.extraction_jobs() == []
    store.close()


def words_of_the_assistant_alone_are_not_queued() -> None:
    extractor = Echo()
    store = MemoryStore(extractor=extractor)
    assert enqueued(store, AIMessage("only me"))
    assert store.flush(10)
    assert extractor.seen == []
    store.close()


WORKER = {
    "extract_error_sync_returned": error_keeps_the_turn,
    "not_started_runs_synchronously": works_without_a_start,
    "after_stop_runs_synchronously": a_closed_store_queues_nothing,
    "queue_full_runs_synchronously": full_queue_joins,
    "cancelled_caller_skips_fallback": cancelled_caller_is_extracted,
    "write_failures_do_not_stop_batch": write_failures_do_not_stop_a_batch,
    "second_enqueue_after_success_is_noop": nothing_new_is_no_extraction,
    "second_enqueue_while_queued_resubmits": queued_turns_are_recognised,
    "polluted_guard_off": external_context_is_learnt_from_by_default,
    "search_error_uses_recent_read": a_failed_search_reads_the_newest,
    "assistant_only_delta_no_lookup": words_of_the_assistant_alone_are_not_queued,
}


class Recording:
    """The rules of a store that fails as a case wants it."""

    def __init__(self, store: MemoryStore, errors: dict[str, str]) -> None:
        self._verbs = store._service.verbs
        self._errors = errors
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._verbs, name)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        told = self._errors.get(f"{name}_error")
        if told is None:
            return
        if "not found" in told:
            raise MemoryNotFound(told)
        if told == "full":
            raise MemoryLimitExceeded(told)
        raise BackendUnavailable(told)

    def add(self, *arguments: Any, **options: Any) -> Any:
        self._called("add")
        return self._verbs.add(*arguments, **options)

    def update(self, *arguments: Any, **options: Any) -> Any:
        self._called("update")
        return self._verbs.update(*arguments, **options)

    def delete(self, *arguments: Any, **options: Any) -> Any:
        self._called("delete")
        return self._verbs.delete(*arguments, **options)

    def clear(self, *arguments: Any, **options: Any) -> Any:
        self._called("clear")
        return self._verbs.clear(*arguments, **options)


@pytest.mark.parametrize("row", rows("execution"))
def test_execution(row: dict[str, Any]) -> None:
    given, then = row["given"], dict(row["then"])
    if row["name"] == "update_other_error":
        then = {"calls": ["update", "add"], "error": None}
    store = MemoryStore(InMemoryBackend())
    verbs = Recording(store, given["store"])
    enabled = given["enabled_tools"]
    applier = Applier(
        store._service,
        UserKey("default", "ann"),
        enabled=None if enabled is None else frozenset(enabled),
        verbs=verbs,  # type: ignore[arg-type]  # in substance
    )
    stated = dict(given["operation"])
    operation = Operation(
        stated["type"],
        memory=stated.get("text"),
        memory_id=stated.get("memory_id"),
        topics=tuple(stated["topics"]) if "topics" in stated else None,
    )
    error = None
    try:
        outcome = applier.apply(operation)
        error = outcome.reason if outcome.status == "refused" else None
    except BackendUnavailable as failure:
        error = str(failure)
    if "calls" in then:
        assert verbs.calls == then["calls"]
    if "error" in then:
        assert bool(error) is bool(then["error"])
    if "add_kind" in then:
        assert store.read_memories("ann")[0].kind == then["add_kind"]


@pytest.mark.parametrize("row", rows("runner"))
def test_runner(row: dict[str, Any]) -> None:
    queued: list[Any] = []

    class Store(MemoryStore):
        def enqueue_extraction(self, *arguments: Any, **options: Any) -> bool:
            queued.append(arguments)
            if row["name"] == "hook_errors_swallowed":
                raise RuntimeError
            return super().enqueue_extraction(*arguments, **options)

    store = Store(extractor=Echo())
    graph = StateGraph(MessagesState)
    for step in range(12):
        graph.add_node(f"n{step}", lambda _: {"messages": [AIMessage("so")]})
        graph.add_edge(f"n{step - 1}" if step else START, f"n{step}")
    graph.add_node("remember", QueueExtraction(store))
    graph.add_edge("n11", "remember")
    config = {"configurable": {"user_id": "ann", "thread_id": "t"}}
    result = graph.compile().invoke({"messages": [("user", "hi")]}, config)
    assert result["messages"][-1].content == "so"
    assert len(queued) == 1
    store.close()


def test_every_case_is_run_or_listed() -> None:
    check_cases()
    names = {param.values[0]["name"] for param in rows("worker")}
    assert names <= set(WORKER) | set(ELSEWHERE)
    decided = {param.values[0]["name"] for param in rows("worker", "execution")}
    assert set(DECIDED_OTHERWISE) <= decided


def test_a_turn_under_way_is_no_longer_pending_when_it_is_done() -> None:
    store = MemoryStore(extractor=Echo())
    enqueued(store)
    until(lambda: store.extraction_jobs() == [])
    assert store.status()["pending"] == 0
    store.close()
