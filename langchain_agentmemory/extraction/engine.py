"""Automatic memory of one store: outbox, worker and subgraph put together."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from langchain_core.messages import BaseMessage

from langchain_agentmemory.backends.base import MICROSECONDS
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.extraction.base import Extractor
from langchain_agentmemory.extraction.external import consumed_external_context
from langchain_agentmemory.extraction.graph import Subgraph
from langchain_agentmemory.extraction.jobs import ExtractionJob, ExtractionJobs
from langchain_agentmemory.extraction.learner import Learner, Pass
from langchain_agentmemory.extraction.mailbox import (
    Job,
    Said,
    learning_of,
    mailbox_of,
    seen_below,
)
from langchain_agentmemory.extraction.messages import role_of, shown_text
from langchain_agentmemory.extraction.outbox import Outbox
from langchain_agentmemory.extraction.worker import Worker
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import UserKey

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from langchain_agentmemory.service.service import Service

logger = logging.getLogger("langchain_agentmemory")

Mode = Literal["background", "inline"]

NEARLY_FULL: Final = 0.8
"""Share of the memory limit from which the status warns."""


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """How a store learns.

    Attributes:
        concurrency: Mailboxes that are worked off at a time.
        max_pending: Turns of a user that wait apart; further ones join the last of
            their thread.
        job_timeout: Seconds that one extraction may take.
        mode: `"background"`, or `"inline"`: within `enqueue_extraction`, for
            processes that are frozen after they have answered.
        calls_per_hour: Model calls that a user may cause in an hour, `None` = any.
        external_context: Whether turns are learnt from that consumed retrieved
            documents.
    """

    concurrency: int = 1
    max_pending: int | None = 10
    job_timeout: float = 30.0
    mode: Mode = "background"
    calls_per_hour: int | None = None
    external_context: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        _positive("extraction_concurrency", self.concurrency)
        if self.max_pending is not None:
            _positive("max_pending", self.max_pending)
        if self.calls_per_hour is not None:
            _positive("extraction_calls_per_hour", self.calls_per_hour)
        timeout: object = self.job_timeout
        if (
            isinstance(timeout, bool)
            or not isinstance(timeout, int | float)
            or not 0 < timeout < float("inf")
        ):
            msg = f"job_timeout must be a number of seconds above 0, not {timeout!r}."
            raise InvalidInput(msg)
        if self.mode not in {"background", "inline"}:
            msg = (
                f"extraction_mode={self.mode!r} is not known: use background or inline."
            )
            raise InvalidInput(msg)


class Usage(NamedTuple):
    """What learning from one user has cost.

    Attributes:
        model_calls: Calls of a model.
        input_tokens: Tokens that it read.
        output_tokens: Tokens that it wrote.
    """

    model_calls: int
    input_tokens: int
    output_tokens: int


class Engine:
    """Automatic memory of one store.

    Args:
        service: The store's service.
        extractor: What extracts, `None` for a store that only keeps the queue.
        settings: How it learns.
        enabled: Returns the names of the tools that may be used, `None` = all.
        graph: A compiled subgraph in place of the built-in one.
    """

    def __init__(
        self,
        service: "Service",
        extractor: Extractor | None,
        settings: ExtractionSettings,
        enabled: Callable[[], frozenset[str] | None],
        graph: "CompiledStateGraph | None" = None,
    ) -> None:
        """Put the parts together; nothing is started yet."""
        self.settings = settings
        self.extractor = extractor
        self.outbox = Outbox(service.backend, settings.max_pending)
        self._service = service
        self._backend = service.backend
        self._subgraph = Subgraph(service, extractor, enabled, graph)
        self.learner = Learner(
            service,
            self.outbox,
            self._subgraph.extract,
            self._is_time,
            enabled=enabled,
            job_timeout=settings.job_timeout,
            calls_per_hour=settings.calls_per_hour,
        )
        self._worker: Worker | None = None
        self._lock = threading.Lock()

    # -- queueing --------------------------------------------------------------------

    def enqueue(
        self,
        user: UserKey,
        messages: Sequence[BaseMessage],
        thread_id: str | None,
        *,
        tools: Iterable[object] = (),
    ) -> bool:
        """Queue what is new in a conversation; tell whether it is safe in the outbox.

        Returns:
            True if it was written down, or nothing was new. False if nothing is learnt
            from this user, thread or turn, or the store could not be written.
        """
        said = [
            Said(role, text, message.id, message.name, position)
            for position, message in enumerate(messages)
            if (role := role_of(message)) and (text := shown_text(message))
        ]
        if not any(message.role == "user" for message in said):
            return True
        habits = self.learner.habits.of(user)
        external = not self.settings.external_context and consumed_external_context(
            messages, tools
        )
        if external and thread_id is not None and not habits.is_paused(thread_id):
            self.learner.habits.switch(user, thread_id, paused=True)
        if external or habits.is_paused(thread_id):
            self.outbox.skip(user, thread_id, said)
            return False
        try:
            job = self.outbox.enqueue(user, thread_id, said)
        except BackendUnavailable as error:
            logger.error(  # noqa: TRY400 - the message says it all
                "The turn could not be written down: %s It is kept in memory and "
                "written when the store works again.",
                error,
            )
            return False
        if job is not None and self.extractor is not None:
            self._tell(user)
        return True

    def _tell(self, user: UserKey) -> None:
        if self.settings.mode == "background":
            self.worker.notify(user)
            return
        try:
            self.learner.work(user)
        except Exception:
            logger.exception("The extraction failed; the turn stays in the outbox.")

    @property
    def worker(self) -> Worker:
        """The background worker; made when it is first needed."""
        with self._lock:
            if self._worker is None:
                self._worker = Worker(self.learner, self.settings.concurrency)
            return self._worker

    def _is_time(self, context: "object") -> bool:
        if self.extractor is None:
            return False
        return self.extractor.should_extract(context)  # type: ignore[arg-type]

    # -- life ------------------------------------------------------------------------

    def resume(self) -> None:
        """Start the worker if something was left in the outbox."""
        if (
            self.extractor is not None
            and self.settings.mode == "background"
            and self.outbox.waiting_users()
        ):
            self.worker.start()

    def flush(self, timeout: float | None = None) -> bool:
        """Work off what waits; tell whether nothing does any more."""
        if self.extractor is None:
            return not self.outbox.waiting_users()
        if self.settings.mode == "background":
            return self.worker.flush(timeout)
        self.outbox.unspill()
        results = [self.learner.work(user) for user in self.outbox.waiting_users()]
        return all(_is_clean(result) for result in results)

    def close(self, timeout: float | None = None) -> bool:
        """End the worker after what it is doing; what waits stays in the outbox."""
        with self._lock:
            worker, self._worker = self._worker, None
        return worker is None or worker.close(timeout)

    # -- looking at it ---------------------------------------------------------------

    def jobs(self, user: UserKey | None = None) -> ExtractionJobs:
        """Return what waits, is held back, or failed for good."""
        return ExtractionJobs(_shown(job) for job in self.outbox.jobs(user))

    def retry(self, user: UserKey | None, ids: Iterable[str] | None) -> int:
        """Let parked jobs wait again; return how many did."""
        wanted = None if ids is None else set(ids)
        parked = [
            job
            for job in self.outbox.jobs(user)
            if job.state == "parked" and (wanted is None or job.id in wanted)
        ]
        done = self.outbox.retry(parked)
        if self.extractor is not None:
            for owner in {job.user for job in parked}:
                self._tell(owner)
        return done

    def discard(self, user: UserKey, ids: Iterable[str] | None) -> int:
        """Drop jobs of a user; return how many."""
        if ids is None:
            return self.outbox.discard(user)
        wanted = set(ids)
        return self.outbox.discard(user, keep=lambda job: job.id not in wanted)

    def cleared(self, user: UserKey) -> None:
        """Drop what waits of a user whose memories were cleared."""
        if self._backend.head(mailbox_of(user)) is not None:
            self.outbox.discard(user)

    def erase(self, user: UserKey) -> int:
        """Remove everything about a user; return how many records it was."""
        heads = self._backend.heads(seen_below(user))
        places = [mailbox_of(user), learning_of(user)]
        places += [head.namespace for head in heads]
        self.outbox.forget(user)
        return sum(sum(self._backend.drop(place).values()) for place in places)

    def switch(self, user: UserKey, thread_id: str | None, *, paused: bool) -> None:
        """Stop learning from a user or one conversation, or go on."""
        self.learner.habits.switch(user, thread_id, paused=paused)
        if paused:
            self.outbox.discard(
                user,
                keep=lambda job: thread_id is not None and job.thread_id != thread_id,
            )

    def usage(self, user: UserKey) -> Usage:
        """Return what learning from a user has cost."""
        habits = self.learner.habits.of(user)
        return Usage(habits.model_calls, habits.input_tokens, habits.output_tokens)

    def status(self) -> dict[str, object]:
        """Return how extraction is doing."""
        jobs = list(self.outbox.jobs())
        states = [job.state for job in jobs]
        waiting = [job.said_at for job in jobs if job.state == "waiting"]
        lag = (self._backend.now() - min(waiting)) / MICROSECONDS if waiting else 0.0
        worker = self._worker
        error = worker.last_error if worker else None
        error = error or self.outbox.last_error
        parked = [job.error for job in jobs if job.state == "parked"]
        facts: dict[str, object] = {
            "pending": states.count("waiting"),
            "held": states.count("held"),
            "running": worker.running if worker else 0,
            "failed": len(parked),
            "last_error": error or (parked[-1] if parked else None),
            "lag": f"{lag:.1f} s",
        }
        if self.outbox.spilled:
            facts["only in memory"] = len(self.outbox.spilled)
        full = self._nearly_full()
        if full:
            facts["nearly full"] = f"{full} users at {NEARLY_FULL:.0%} of their limit"
        return facts

    def _nearly_full(self) -> int:
        limit = self._service.settings.memory_limit
        if not limit:
            return 0
        users = self._subgraph.counts
        return sum(1 for count in users.values() if count >= limit * NEARLY_FULL)


def _is_clean(result: Pass) -> bool:
    return result.error is None and result.due_at is None


def _shown(job: Job) -> ExtractionJob:
    return ExtractionJob(
        job.id,
        job.user,
        job.thread_id,
        job.state,
        tuple(f"{said.role}: {said.text}" for said in job.said),
        from_us(job.said_at),
        job.attempts,
        from_us(job.due_at) if job.due_at else None,
        job.error,
    )


def _positive(name: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        msg = f"{name} must be a positive integer, not {given!r}."
        raise InvalidInput(msg)

