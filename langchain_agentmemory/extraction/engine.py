"""Automatic memory of one store: outbox, worker and subgraph put together."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langchain_agentmemory.backends.base import MICROSECONDS
from langchain_agentmemory.errors import (
    BackendUnavailable,
    ExtractionFailed,
    InvalidInput,
)
from langchain_agentmemory.extraction import telemetry
from langchain_agentmemory.extraction.external import consumed_external_context
from langchain_agentmemory.extraction.habits import Habits, UserHabits
from langchain_agentmemory.extraction.jobs import ExtractionJob, ExtractionJobs
from langchain_agentmemory.extraction.learner import (
    Extracted,
    Extraction,
    Learner,
    Pass,
    extracting,
)
from langchain_agentmemory.extraction.mailbox import (
    Job,
    Said,
    learning_of,
    mailbox_of,
    seen_below,
)
from langchain_agentmemory.extraction.messages import role_of, shown_text
from langchain_agentmemory.extraction.outbox import Outbox
from langchain_agentmemory.extraction.settings import ExtractionSettings
from langchain_agentmemory.extraction.worker import Worker
from langchain_agentmemory.lazy import lazy_property
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import UserKey

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from langchain_agentmemory.extraction.base import Extractor
    from langchain_agentmemory.extraction.graph import ChangeGraph, Subgraph
    from langchain_agentmemory.service.service import Service

logger = logging.getLogger("langchain_agentmemory")

NEARLY_FULL: Final = 0.8
"""Share of the memory limit from which the status warns."""


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


class Snapshot(NamedTuple):
    """A copy of what may be new in a conversation.

    Attributes:
        said: The messages that were not recognised at a glance.
        glances: Hashes of these messages, by which they are recognised later.
        lasting: Whether others were recognised: then ids can be relied on.
        external: The conversation drew on retrieved documents and nothing is to be
            learnt from it.
    """

    said: list[Said]
    glances: list[int]
    lasting: bool
    external: bool


class Engine:
    """Automatic memory of one store.

    Args:
        service: The store's service.
        extractor: What extracts, `None` for a store that only keeps the queue.
        settings: How it learns.
        enabled: Returns the names of the tools that may be used, `None` = all.
        change_graph: Changes the built-in subgraph.
    """

    def __init__(
        self,
        service: "Service",
        extractor: "Extractor | None",
        settings: ExtractionSettings,
        enabled: Callable[[], frozenset[str] | None],
        change_graph: "ChangeGraph | None" = None,
    ) -> None:
        """Put the parts together; nothing is started yet."""
        self.settings = settings
        self.extractor = extractor
        self.outbox = Outbox(
            service.backend, settings.max_pending, service.settings.timezone
        )
        self._service = service
        self._backend = service.backend
        self._enabled = enabled
        self._change_graph = change_graph
        self.learner = Learner(
            service,
            self.outbox,
            self._extract,
            self._is_time,
            enabled=enabled,
            job_timeout=settings.job_timeout,
            habits=Habits(service.backend),
            calls_per_hour=settings.calls_per_hour,
        )
        self._worker: Worker | None = None
        self._done = 0  # by workers that have ended
        self._error: str | None = None  # of them
        self._lock = threading.Lock()
        telemetry.observe(self)

    @lazy_property
    def _subgraph(self) -> "Subgraph":
        from langchain_agentmemory.extraction.graph import (  # noqa: PLC0415 - LangGraph
            Subgraph,
        )

        return Subgraph(
            self._service, self.extractor, self._enabled, self._change_graph
        )

    def _extract(self, extraction: Extraction) -> Extracted:
        return telemetry.measured(
            lambda: self._subgraph.extract(extraction), len(extraction.messages)
        )

    # -- queueing --------------------------------------------------------------------

    def snapshot(
        self,
        user: UserKey,
        messages: "Sequence[BaseMessage]",
        thread_id: str | None,
        tools: Iterable[object] = (),
    ) -> "Snapshot":
        """Return a copy of what may be new in a conversation. Reads no storage.

        Args:
            user: Whose conversation it is.
            messages: The conversation as it stands.
            thread_id: Its name.
            tools: Tools that declare whether they bring in retrieved documents.
        """
        known = self.outbox.glanced(user, thread_id)
        redact = getattr(self.extractor, "redact", None)
        lasting = False
        said, glances = [], []
        for position, message in enumerate(messages):
            message_id, content = message.id, message.content
            if message_id is not None and content.__class__ is str:
                glance = hash((message_id, content))
                if glance in known:
                    lasting = True
                    continue
                glances.append(glance)
            role = role_of(message)
            if role and (text := shown_text(message)):
                if redact is not None:
                    text = redact(text)
                said.append(Said(role, text, message_id, message.name, position))
        external = not self.settings.external_context and consumed_external_context(
            messages, tools
        )
        return Snapshot(said, glances, lasting, external)

    def enqueue(
        self,
        user: UserKey,
        snapshot: "Snapshot",
        thread_id: str | None,
        learn: bool = True,  # noqa: FBT001, FBT002 - also called by position, in a thread
        said_at: int | None = None,
    ) -> bool:
        """Queue what is new in a conversation; tell whether it is safe in the outbox.

        Args:
            user: Whose conversation it is.
            snapshot: What was said.
            thread_id: The conversation.
            learn: False notes it as processed instead.
            said_at: When, microseconds since the epoch; now if not given.

        Returns:
            True if it was written down, or nothing was new. False if nothing is learnt
            from this user, thread or turn, or the store could not be written.
        """
        said, glances, lasting, external = snapshot
        if learn and not any(message.role == "user" for message in said):
            return True
        try:
            habits = self.learner.habits.lately(user)
        except BackendUnavailable:
            habits = UserHabits()  # the worker looks again, before anything is learnt
        try:
            if not learn or external or habits.is_paused(thread_id):
                self.outbox.skip(user, thread_id, said, glances, lasting=lasting)
                if external and thread_id and not habits.is_paused(thread_id):
                    self.learner.habits.switch(user, thread_id, paused=True)
                return False
            job = self.outbox.enqueue(
                user, thread_id, said, glances, lasting=lasting, said_at=said_at
            )
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
        if self.settings.mode != "inline":
            return
        try:
            result = self.learner.work(user)
            self._done += result.done
            self._error = result.error or self._error
        except Exception:
            logger.exception("The extraction failed; the turn stays in the outbox.")

    @property
    def worker(self) -> Worker:
        """The background worker; made when it is first needed."""
        with self._lock:
            if self._worker is None:
                self._worker = Worker(self.learner, self.settings.concurrency)
            return self._worker

    def graph(self) -> "CompiledStateGraph[Any, Any, Any, Any]":
        """Return the compiled subgraph."""
        return self._subgraph.compiled

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

    def start(self) -> None:
        """Start the worker, whether or not something waits.

        Raises:
            ExtractionFailed: If there is no extractor.
            InvalidInput: If this process is not to extract in the background.
        """
        if self.extractor is None:
            msg = "There is no extractor: open the store with extractor=…."
            raise ExtractionFailed(msg)
        if self.settings.mode != "background":
            msg = (
                f"With extraction_mode={self.settings.mode!r} a store has no worker: "
                f"open it with 'background'."
            )
            raise InvalidInput(msg)
        self.worker.start()

    def flush(self, timeout: float | None = None, *, held: bool = False) -> bool:
        """Work off what waits; tell whether nothing does any more.

        Args:
            timeout: Seconds to wait at most, `None` = any.
            held: Also what checkers hold back.
        """
        if extracting.get():
            logger.warning("flush() within an extraction would wait for itself.")
            return False
        if held:
            jobs = [job for job in self.outbox.jobs() if job.state == "held"]
            self.outbox.retry(jobs, forced=True)
        if self.extractor is None or self.settings.mode == "queue":
            return not self.outbox.unspill() and not self.outbox.waiting_users()
        if self.settings.mode == "background":
            return self.worker.flush(timeout)
        self.outbox.unspill()
        results = [self.learner.work(user) for user in self.outbox.waiting_users()]
        return all(_is_clean(result) for result in results)

    def close(self, timeout: float | None = None) -> bool:
        """End the worker as `stop` does, and what is measured."""
        telemetry.forget(self)
        return self.stop(timeout)

    def stop(self, timeout: float | None = None) -> bool:
        """End the worker after what it is doing; what waits stays in the outbox."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is None:
            return True
        ended = worker.close(timeout)
        self._done += worker.done
        self._error = worker.last_error or self._error
        return ended

    # -- looking at it ---------------------------------------------------------------

    def jobs(self, user: UserKey | None = None) -> ExtractionJobs:
        """Return what waits, is held back, or failed for good."""
        return ExtractionJobs(_shown(job) for job in self.outbox.jobs(user))

    def retry(self, user: UserKey | None, ids: frozenset[str] | None) -> int:
        """Let parked jobs wait again; return how many did."""
        parked = [
            job
            for job in self.outbox.jobs(user)
            if job.state == "parked" and (ids is None or job.id in ids)
        ]
        done = self.outbox.retry(parked)
        if self.extractor is not None:
            for owner in {job.user for job in parked}:
                self._tell(owner)
        return done

    def discard(self, user: UserKey, ids: frozenset[str] | None) -> int:
        """Drop jobs of a user; return how many."""
        if ids is None:
            return self.outbox.discard(user)
        return self.outbox.discard(user, keep=lambda job: job.id not in ids)

    def cleared(self, user: UserKey) -> None:
        """Drop what waits of a user whose memories were cleared."""
        if self._backend.head(mailbox_of(user)) is not None:
            self.outbox.discard(user)
        else:
            self.outbox.forgo(user)

    def erase(self, user: UserKey) -> int:
        """Remove everything about a user; return how many records it was."""
        heads = self._backend.heads(seen_below(user))
        places = [mailbox_of(user), learning_of(user)]
        places += [head.namespace for head in heads]
        self.outbox.forget(user)
        self.learner.habits.forget(user)
        subgraph: Subgraph | None = vars(self).get("_subgraph")
        if subgraph is not None:
            subgraph.counts.pop(user, None)
        return sum(sum(self._backend.drop(place).values()) for place in places)

    def switch(self, user: UserKey, thread_id: str | None, *, paused: bool) -> None:
        """Stop learning from a user or one conversation, or go on."""
        self.learner.habits.switch(user, thread_id, paused=paused)
        if paused:
            self.outbox.discard(
                user,
                keep=lambda job: thread_id is not None and job.thread_id != thread_id,
            )

    def paused(self, user: UserKey, thread_id: str | None) -> bool:
        """Tell whether nothing is learnt from a user or one conversation."""
        return self.learner.habits.of(user).is_paused(thread_id)

    def usage(self, user: UserKey) -> Usage:
        """Return what learning from a user has cost."""
        habits = self.learner.habits.of(user)
        return Usage(habits.model_calls, habits.input_tokens, habits.output_tokens)

    def status(self) -> dict[str, object]:
        """Return how extraction is doing."""
        jobs = list(self.outbox.jobs())
        state = self._state(jobs)
        worker = self._worker
        error = (worker.last_error if worker else None) or self._error
        error = error or self.outbox.last_error
        parked = [job.error for job in jobs if job.state == "parked"]
        facts: dict[str, object] = {
            "pending": state.pending,
            "held": state.held,
            "running": state.running,
            "failed": state.failed,
            "done": self._done + (worker.done if worker else 0),
            "last_error": error or (parked[-1] if parked else None),
            "lag": f"{state.lag:.1f} s",
        }
        if self.outbox.spilled:
            facts["only in memory"] = len(self.outbox.spilled)
        full = self._nearly_full()
        if full:
            facts["nearly full"] = f"{full} users at {NEARLY_FULL:.0%} of their limit"
        return facts

    def queue_state(self) -> telemetry.QueueState:
        """Return how the queue stands, in figures."""
        return self._state(list(self.outbox.jobs()))

    def _state(self, jobs: "Sequence[Job]") -> telemetry.QueueState:
        states = [job.state for job in jobs]
        waiting = [job.said_at for job in jobs if job.state == "waiting"]
        lag = (self._backend.now() - min(waiting)) / MICROSECONDS if waiting else 0.0
        running = self._worker.running if self._worker else 0
        return telemetry.QueueState(
            states.count("waiting"),
            states.count("held"),
            running,
            states.count("parked"),
            lag,
        )

    def _nearly_full(self) -> int:
        limit = self._service.settings.memory_limit
        if not limit:
            return 0
        subgraph: Subgraph | None = vars(self).get("_subgraph")
        counts = list(subgraph.counts.values()) if subgraph is not None else ()
        return sum(1 for count in counts if count >= limit * NEARLY_FULL)


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
