"""Metrics and spans of extraction, where OpenTelemetry is installed; else nothing.

Only the API is used: what is measured goes to the providers that the application has
set up. Nothing of it contains text of a conversation, or says whose it was.
"""

import logging
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from langchain_agentmemory.errors import BackendUnavailable

if TYPE_CHECKING:
    from langchain_agentmemory.extraction.learner import Extracted

logger = logging.getLogger("langchain_agentmemory")

SCOPE: Final = "langchain_agentmemory"
"""The instrumentation scope of everything that is measured here."""

PREFIX: Final = "agentmemory.extraction"


class QueueState(NamedTuple):
    """How the queue of a store stands.

    Attributes:
        pending: Jobs that wait.
        held: Jobs that a checker holds back.
        running: Mailboxes that are being worked off in this process.
        failed: Jobs that failed for good.
        lag: Age of the oldest job that waits, seconds.
    """

    pending: int = 0
    held: int = 0
    running: int = 0
    failed: int = 0
    lag: float = 0.0


_GAUGES: Final = (
    ("pending", "{job}", "Turns that wait to be extracted."),
    ("running", "{mailbox}", "Mailboxes that are being worked off."),
    ("failed", "{job}", "Turns whose extraction failed for good."),
    ("lag", "s", "Age of the oldest turn that waits."),
)


class _Instruments(NamedTuple):
    tracer: Any
    status: Callable[[], Any]
    jobs: Any
    failures: Any
    model_calls: Any
    tokens: Any
    duration: Any


@cache
def _instruments() -> _Instruments | None:
    try:
        from opentelemetry import metrics, trace  # noqa: PLC0415 - only if installed
    except ImportError:
        return None
    meter = metrics.get_meter(SCOPE)
    for name, unit, description in _GAUGES:
        meter.create_observable_gauge(
            f"{PREFIX}.{name}", [_observer(name)], unit=unit, description=description
        )
    return _Instruments(
        trace.get_tracer(SCOPE),
        lambda: trace.Status(trace.StatusCode.ERROR),
        meter.create_counter(
            f"{PREFIX}.jobs", "{job}", "Turns that were worked off for good."
        ),
        meter.create_counter(
            f"{PREFIX}.failures", "{attempt}", "Extractions that failed."
        ),
        meter.create_counter(
            f"{PREFIX}.model_calls", "{call}", "Calls of a language model."
        ),
        meter.create_counter(
            f"{PREFIX}.tokens", "{token}", "Tokens that a language model used."
        ),
        meter.create_histogram(
            f"{PREFIX}.duration", "s", "How long an extraction took."
        ),
    )


# -- the queue -------------------------------------------------------------------------


class _Queue(Protocol):
    def queue_state(self) -> QueueState: ...


_QUEUES: "weakref.WeakSet[_Queue]" = weakref.WeakSet()
# A `WeakMethod` fails in its callback when the interpreter ends and the queue still is.


def observe(queue: _Queue) -> None:
    """Let the gauges look at a queue as long as it lives, or until `forget`.

    Args:
        queue: What says how it stands.
    """
    if _instruments() is not None:
        _QUEUES.add(queue)


def forget(queue: _Queue) -> None:
    """Let the gauges no longer look at a queue."""
    _QUEUES.discard(queue)


def _observer(name: str) -> Callable[[Any], Iterable[Any]]:
    def observed(_: Any) -> list[Any]:
        from opentelemetry.metrics import Observation  # noqa: PLC0415 - see above

        states = list(_states())
        values = [getattr(state, name) for state in states]
        total = max(values, default=0.0) if name == "lag" else sum(values)
        return [Observation(total)] if states else []

    return observed


def _states() -> Iterator[QueueState]:
    """Return how the queues stand that can be read; an exporter must not fail."""
    for queue in list(_QUEUES):
        try:
            yield queue.queue_state()
        except BackendUnavailable as error:
            # As text: a log record that is kept would keep the queue by the traceback.
            logger.warning("A queue could not be measured: %s", str(error))


# -- what happens ----------------------------------------------------------------------


def count_done(jobs: int) -> None:
    """Count jobs that were worked off."""
    found = _instruments()
    if found is not None and jobs:
        found.jobs.add(jobs)


def count_failure(error: BaseException, *, for_good: bool) -> None:
    """Count an extraction that failed.

    Args:
        error: Why. Only its type is told.
        for_good: Whether the turn was parked, and will not be tried again.
    """
    found = _instruments()
    if found is not None:
        labels = {"error.type": _cause(error), "agentmemory.parked": for_good}
        found.failures.add(1, labels)


def measured(extract: "Callable[[], Extracted]", messages: int) -> "Extracted":
    """Extract within a span, and count what it cost.

    Args:
        extract: Extracts.
        messages: How many messages it is given.
    """
    found = _instruments()
    if found is None:
        return extract()
    with _span(found, messages) as span:
        cost = extract()
        span.set_attribute("agentmemory.model_calls", cost.model_calls)
        span.set_attribute("gen_ai.usage.input_tokens", cost.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", cost.output_tokens)
    found.model_calls.add(cost.model_calls)
    found.tokens.add(cost.input_tokens, {"gen_ai.token.type": "input"})
    found.tokens.add(cost.output_tokens, {"gen_ai.token.type": "output"})
    return cost


@contextmanager
def _span(found: _Instruments, messages: int) -> Iterator[Any]:
    labels: dict[str, str] = {}
    started = time.perf_counter()
    # The message of an error can quote the conversation: its type has to do.
    with found.tracer.start_as_current_span(
        PREFIX,
        attributes={"agentmemory.messages": messages},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            labels["error.type"] = _cause(error)
            span.set_attribute("error.type", labels["error.type"])
            span.set_status(found.status())
            raise
        finally:
            found.duration.record(time.perf_counter() - started, labels)


def _cause(error: BaseException) -> str:
    """Return the type of what is behind an error: of the model's own, for example."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    return type(root).__name__
