"""What OpenTelemetry is told of extraction, and that nothing needs it."""

import sys

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.extraction import telemetry
from langchain_agentmemory.extraction.operations import Operations
from tests.unit_tests.extraction.learning import Echo, turn, until


class Counting(Echo):
    """An extractor whose model says what it used."""

    def extract(self, messages, existing=(), **circumstances):
        found = super().extract(messages, existing, **circumstances)
        usage = {"input_tokens": 70, "output_tokens": 5, "total_tokens": 75}
        return Operations(found, model_calls=1, usage=usage)


@pytest.fixture(scope="module")
def exporters():
    """The application's providers, which can be set once per process."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import metrics, trace  # noqa: PLC0415 - may be missing
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (  # noqa: PLC0415
        InMemorySpanExporter,
    )

    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    telemetry._instruments.cache_clear()
    telemetry._instruments()
    return spans, reader


@pytest.fixture
def spans(exporters):
    exporters[0].clear()
    return exporters[0]


@pytest.fixture
def figures(exporters):
    """Return the figures of now; counters less what they were before the test."""

    def read():
        found = {}
        data = exporters[1].get_metrics_data()
        resources = data.resource_metrics if data else []
        scopes = [scope for one in resources for scope in one.scope_metrics]
        for metric in (metric for scope in scopes for metric in scope.metrics):
            assert metric.name.startswith("agentmemory.extraction.")
            for point in metric.data.data_points:
                name = metric.name.removeprefix("agentmemory.extraction.")
                key = (name, *(v for _, v in sorted(point.attributes.items())))
                found[key] = getattr(point, "value", getattr(point, "count", None))
        return found

    telemetry._QUEUES.clear()
    before = read()
    gauges = {"pending", "running", "failed", "lag"}

    def now():
        return {
            key: value if key[0] in gauges else value - before.get(key, 0)
            for key, value in read().items()
        }

    return now


def test_an_extraction_is_a_span_with_its_cost(spans, figures):
    with MemoryStore(extractor=Counting()) as store:
        store.enqueue_extraction("ann", turn(1, "a secret"), thread_id="t1")
        assert store.flush(20)
        now = figures()

    [span] = spans.get_finished_spans()
    assert span.name == "agentmemory.extraction"
    assert dict(span.attributes) == {
        "agentmemory.messages": 2,
        "agentmemory.model_calls": 1,
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 5,
    }
    assert now["jobs",] == now["model_calls",] == now["duration",] == 1
    assert (now["tokens", "input"], now["tokens", "output"]) == (70, 5)
    assert now["pending",] == now["failed",] == now["lag",] == 0


def test_the_queue_is_observed_while_it_waits(figures):
    extractor = Counting()
    extractor.gate.clear()
    with MemoryStore(extractor=extractor) as store:
        store.enqueue_extraction("ann", turn(1, "x"), thread_id="t1")
        assert extractor.entered.wait(20)
        now = figures()
        extractor.gate.set()
        assert store.flush(20)
        until(lambda: figures()["running",] == 0)

    assert (now["pending",], now["running",]) == (1, 1)
    assert now["lag",] > 0
    assert ("pending",) not in figures()  # closed


def test_a_failure_tells_its_type_and_nothing_that_was_said(spans, figures):
    error = TypeError("a secret")
    with MemoryStore(extractor=Counting(fails=[error])) as store:
        store.enqueue_extraction("ann", turn(1, "x"), thread_id="t1")
        store.flush(20)
        now = figures()

    [span] = spans.get_finished_spans()
    assert span.attributes["error.type"] == "TypeError"
    assert not span.status.is_ok
    assert "secret" not in span.to_json()
    assert span.events == ()
    assert now["failures", True, "TypeError"] == now["failed",] == 1
    assert now["duration", "TypeError"] == 1


def test_the_span_is_a_trace_of_its_own(spans):
    from opentelemetry import trace  # noqa: PLC0415 - may be missing

    with (
        MemoryStore(extractor=Counting(), extraction_mode="inline") as store,
        trace.get_tracer("app").start_as_current_span("the user's turn"),
    ):
        store.enqueue_extraction("ann", turn(1, "x"), thread_id="t1")

    extraction, users = spans.get_finished_spans()
    assert extraction.parent is None
    assert extraction.context.trace_id != users.context.trace_id


def test_a_queue_that_cannot_be_read_is_left_out(figures, caplog):
    class Broken:
        def queue_state(self):
            msg = "gone"
            raise BackendUnavailable(msg)

    class Fine:
        def queue_state(self):
            return telemetry.QueueState(pending=3, lag=2.0)

    queues = [Broken(), Fine(), Fine()]
    for queue in queues:
        telemetry.observe(queue)

    now = figures()
    assert (now["pending",], now["lag",]) == (6, 2.0)
    assert "could not be measured" in caplog.text
    del queues, queue
    assert ("pending",) not in figures()


def test_without_opentelemetry_everything_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    telemetry._instruments.cache_clear()
    try:
        with MemoryStore(extractor=Counting(fails=[TypeError("x")])) as store:
            for number in (1, 2):
                said = turn(number, f"fact {number}")
                store.enqueue_extraction("ann", said, thread_id=f"t{number}")
                store.flush(20)
            assert store.count_memories("ann") == 1
    finally:
        telemetry._instruments.cache_clear()
