"""Measuring an embedder: once, kept in the store, and never at anybody's cost."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends.memory import InMemoryBackend
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.search.calibration import Calibration
from langchain_agentmemory.search.probes import PROBES
from langchain_agentmemory.service import calibrating
from langchain_agentmemory.service.calibrating import AGAIN_AFTER, calibrated
from langchain_agentmemory.service.embedding import Embedder
from langchain_agentmemory.service.hidden import CALIBRATIONS
from langchain_agentmemory.service.plans import Embed, arun, run
from tests.unit_tests.service.counting import Counting


class Turned(Counting):
    """Embeds questions differently."""

    def embed_query(self, text):
        return super().embed_query(text)[::-1]


class Zeros(Counting):
    """Knows no word."""

    def vector(self, text):
        return [0.0] * self.dims


class Wider(Counting):
    """Answers questions with other dimensions than documents."""

    def embed_query(self, text):
        return [*super().embed_query(text), 1.0]


class Same(Embeddings):
    """Answers the same for everything."""

    def embed_documents(self, texts):
        return [[1.0, 2.0] for _ in texts]

    def embed_query(self, text):
        return [1.0, 2.0]


class Clock:
    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def backend():
    backend = InMemoryBackend()
    backend.open()
    return backend


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(calibrating, "time", clock)
    return clock


def measure(embedder, backend):
    return run(calibrated(embedder, backend), embedder.embed)


def make(embeddings, **options):
    return Embedder({"embed": embeddings, **options})


def test_an_embedder_is_measured_with_two_requests(backend):
    embeddings = Counting()
    embedder = make(embeddings)
    found = measure(embedder, backend)
    assert isinstance(found, Calibration)
    assert embedder.calibration is found
    assert [(role, len(texts)) for role, texts in embeddings.calls] == [
        ("document", 4 * len(PROBES)),
        ("query", 1),
    ]
    assert measure(embedder, backend) is found
    assert len(embeddings.calls) == 2


def test_levels_are_those_of_statements_and_their_twins(backend):
    embeddings = Counting()
    found = measure(make(embeddings), backend)

    def unit(texts):
        rows = np.array([embeddings.vector(text) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    square = (
        unit([p.english for p in PROBES]) @ unit([p.english_twin for p in PROBES]).T
    )
    assert found.other.related_mean == pytest.approx(square.diagonal().mean(), abs=1e-5)
    chinese = (
        unit([p.chinese for p in PROBES]) @ unit([p.chinese_twin for p in PROBES]).T
    )
    assert found.han.related_mean == pytest.approx(chinese.diagonal().mean(), abs=1e-5)


def test_where_questions_are_embedded_differently_the_twins_are_asked(backend):
    embeddings = Turned()
    found = measure(make(embeddings), backend)
    twins = [p.english_twin for p in PROBES] + [p.chinese_twin for p in PROBES]
    assert sorted(embeddings.asked("query")) == sorted(twins)
    assert found != measure(make(Counting(), name="symmetric"), backend)


def test_probes_have_the_prefixes_of_other_texts(backend):
    embeddings = Counting()
    measure(make(embeddings, query_prefix="Q: ", document_prefix="D: "), backend)
    assert all(text.startswith("D: ") for text in embeddings.asked("document"))
    assert all(text.startswith("Q: ") for text in embeddings.asked("query"))


async def test_it_is_measured_in_async_code_too(backend):
    embeddings = Counting()
    embedder = make(embeddings)
    with ThreadPoolExecutor(1) as executor:
        found = await arun(calibrated(embedder, backend), embedder.aembed, executor)
    assert found == measure(make(Counting()), backend)
    assert len(embeddings.calls) == 2


def test_another_process_reads_what_was_measured(tmp_path):
    first, second = Counting(), Counting()
    found = []
    for embeddings in (first, second):
        with MemoryStore.from_url(f"sqlite:///{tmp_path}/m.db") as store:
            found.append(measure(make(embeddings), store.backend))
    assert found[0] == found[1]
    assert (len(first.calls), len(second.calls)) == (2, 0)


def test_each_model_has_its_own(backend):
    measure(make(Counting()), backend)
    for other in ({"name": "other"}, {"query_prefix": "Q: "}, {"dims": 26}):
        embeddings = Counting()
        measure(make(embeddings, **other), backend)
        assert embeddings.requests("document") == 1, other


@pytest.mark.parametrize("value", [
    b"", b"{", b"[]", b'{"probes": 1}', b'{"probes": 0, "calibration": "{}"}',
    b'{"probes": 1, "calibration": "{}"}', b'{"probes": 1, "calibration": 3}',
])  # fmt: skip
def test_a_record_that_cannot_be_read_is_measured_anew(backend, value):
    expected = measure(make(Counting()), backend)
    key = f"{make(Counting()).fingerprint:016x}"
    (record,) = backend.read(CALIBRATIONS, [key])
    record.value = value
    embeddings = Counting()
    assert measure(make(embeddings), backend) == expected
    assert len(embeddings.calls) == 2
    embeddings.calls.clear()
    assert measure(make(embeddings), backend) == expected  # and written anew
    assert not embeddings.calls


@pytest.mark.parametrize("broken", ["read", "commit"])
def test_a_store_that_cannot_keep_it_does_not_prevent_it(backend, monkeypatch, broken):
    def refuse(*_):
        msg = "read-only"
        raise BackendUnavailable(msg)

    monkeypatch.setattr(backend, broken, refuse)
    assert measure(make(Counting()), backend) is not None


@pytest.mark.parametrize("embeddings", [Zeros(), Wider()])
def test_an_embedder_that_cannot_do_probes_goes_without(backend, embeddings, caplog):
    embedder = make(embeddings)
    with caplog.at_level(logging.WARNING):
        assert measure(embedder, backend) is None
    assert not caplog.records
    assert embedder.last_error is None
    assert embedder.answered
    assert backend.head(CALIBRATIONS) is None


def test_what_failed_is_tried_again_after_some_minutes(backend, clock):
    embeddings = Counting()
    embeddings.down = True
    embedder = make(embeddings)
    assert measure(embedder, backend) is None
    asked = len(embeddings.calls)
    for _ in range(20):
        assert measure(embedder, backend) is None
    assert len(embeddings.calls) == asked == 1
    clock.now += AGAIN_AFTER + 1
    embeddings.down = False
    assert measure(embedder, backend) is not None


def test_measuring_hides_no_failure_of_the_real_work(backend):
    embeddings = Counting()
    embedder = make(embeddings)
    embeddings.down = True
    assert embedder.embed(Embed(("drinks tea",), "document")) is None
    embeddings.down = False
    assert measure(embedder, backend) is not None
    assert embedder.last_error == "quota exceeded"


def test_an_embedder_that_answers_always_the_same_is_not_trusted(backend):
    found = measure(make(Same()), backend)
    assert found.reliability(han_query=False, han_documents=False) < 0.05


def test_measuring_can_be_switched_off(backend):
    embeddings = Counting()
    assert measure(make(embeddings, calibrate=False), backend) is None
    assert not embeddings.calls


@pytest.mark.parametrize("wrong", ["no", 0, 1, []])
def test_the_switch_is_true_or_false(wrong):
    with pytest.raises(InvalidInput, match=r"calibrate.*True or False"):
        make(Counting(), calibrate=wrong)


def test_threads_that_come_at_once_measure_once(backend):
    class Slow(Counting):
        def embed_documents(self, texts):
            found = super().embed_documents(texts)
            gate.wait(0.2)
            return found

    gate = threading.Event()
    embeddings = Slow()
    embedder = make(embeddings)
    with ThreadPoolExecutor(6) as pool:
        work = [pool.submit(measure, embedder, backend) for _ in range(6)]
        found = [one.result() for one in work]
    assert all(one == found[0] is not None for one in found)
    assert len(embeddings.calls) == 2


def test_a_calibration_shows_nowhere_and_is_nobodys(make_store):
    store = make_store(index=Counting())
    store.add_memory("ann", "drinks tea")
    before = store.status()["items"]
    measure(make(Counting()), store.backend)
    assert store.backend.head(CALIBRATIONS).items == 1
    assert store.status()["items"] == before
    assert not any(ns[:1] == CALIBRATIONS[:1] for ns in store.list_namespaces())
    assert store.search(CALIBRATIONS) == []
    with pytest.raises(InvalidInput):
        store.put(CALIBRATIONS, "key", {"a": 1})
    store.erase_user("ann")
    embeddings = Counting()
    measure(make(embeddings), store.backend)
    assert not embeddings.calls
    assert store.reindex() == 0
