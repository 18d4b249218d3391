"""Working off one user's mailbox: claim it, extract thread by thread, acknowledge.

Whatever happens in between, a job leaves the outbox only together with what came of it.
The operations that a model made are written down before the first one is done; a worker
that finds such a plan carries on with it instead of asking the model again.
"""

import contextvars
import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_agentmemory.backends.base import MICROSECONDS, Record, Write
from langchain_agentmemory.errors import ExtractionFailed
from langchain_agentmemory.extraction import forgotten, retries, telemetry
from langchain_agentmemory.extraction.applying import Applier, Outcome
from langchain_agentmemory.extraction.claims import Claim, LeaseLost, owner_name
from langchain_agentmemory.extraction.context import ExtractionContext
from langchain_agentmemory.extraction.fence import FencedBackend
from langchain_agentmemory.extraction.habits import HOUR, Habits
from langchain_agentmemory.extraction.mailbox import (
    LARGEST,
    PLAN,
    Job,
    Said,
    WrittenPlan,
    coalesced,
)
from langchain_agentmemory.extraction.outbox import Outbox
from langchain_agentmemory.extraction.recognising import without_seen
from langchain_agentmemory.service.verbs import Verbs
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import Operation, UserKey

if TYPE_CHECKING:
    from langchain_agentmemory.service.service import Service

logger = logging.getLogger("langchain_agentmemory")


LOOK_AGAIN: Final = MICROSECONDS
"""How long until a mailbox is looked at again that another worker has."""


T = TypeVar("T")

extracting: Final = contextvars.ContextVar("extracting", default=False)
"""Whether this code is called by an extraction, and must not wait for its end."""


class Extraction(NamedTuple):
    """What the worker asks for.

    Attributes:
        user: Whose conversation it is.
        thread_id: The conversation.
        messages: What was said.
        position: The place of the first one in the conversation.
        said_at: When, microseconds since the epoch.
        write: Does operations, under the worker's claim.
    """

    user: UserKey
    thread_id: str | None
    messages: list[BaseMessage]
    position: int | None
    said_at: int
    write: Callable[[Sequence[Operation]], list[Outcome]]


class Extracted(NamedTuple):
    """What an extraction came to.

    Attributes:
        model_calls: Calls of a model.
        input_tokens: Tokens read by it.
        output_tokens: Tokens written by it.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Extract(Protocol):
    """Runs the extraction subgraph."""

    def __call__(self, extraction: Extraction) -> Extracted:
        """Extract; call `extraction.write` once, with what is to be done."""
        ...


class Pass(NamedTuple):
    """What became of one look at a mailbox.

    Attributes:
        done: Jobs that were worked off.
        due_at: When to look again, microseconds since the epoch; `None`: when
            something new is queued.
        error: The last error.
    """

    done: int = 0
    due_at: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Learner:
    """Works off mailboxes, one at a time per call, from any thread.

    Attributes:
        service: The store's service.
        outbox: The outbox.
        extract: Runs the extraction subgraph.
        should_extract: Whether it is time; what is not due is held.
        enabled: Returns the names of the tools that may be used, `None` = all.
        job_timeout: Seconds that an extraction may take.
        habits: What is noted per user.
        calls_per_hour: Model calls that a user may cause in an hour, `None` = any.
    """

    service: "Service"
    outbox: Outbox
    extract: Extract
    should_extract: Callable[[ExtractionContext], bool]
    enabled: Callable[[], frozenset[str] | None]
    job_timeout: float
    habits: Habits
    calls_per_hour: int | None = None

    def work(self, user: UserKey, may_go_on: Callable[[], bool] = lambda: True) -> Pass:
        """Work off what waits in a user's mailbox.

        Args:
            user: Whose mailbox.
            may_go_on: Asked after every extraction. If not, the rest of the mailbox
                stays for another pass.

        Raises:
            BackendUnavailable: If the store cannot be read or written.
        """
        lease = round(2 * self.job_timeout * MICROSECONDS)
        claim = self.outbox.claim(user, owner_name(), lease)
        if claim is None:
            return Pass(due_at=self._look_again(user))
        result = _Work(self, claim, may_go_on).run()
        telemetry.count_done(result.done)
        return result

    def _look_again(self, user: UserKey) -> int | None:
        """Return when to look again at a mailbox that another worker has."""
        ends = self.outbox.lease_ends(user)
        if not ends:
            return None
        return min(ends, self.service.backend.now() + LOOK_AGAIN)


class _Work:
    """One pass over one claimed mailbox."""

    def __init__(
        self, learner: Learner, claim: Claim, may_go_on: Callable[[], bool]
    ) -> None:
        self._learner = learner
        self._may_go_on = may_go_on
        self._service = learner.service
        self._outbox = learner.outbox
        self._backend = learner.service.backend
        self._claim = claim
        self._user = claim.user
        self._held: dict[str | None, list[Job]] = {}
        self._done = 0
        self._due_at: int | None = None
        self._error: str | None = None

    def run(self) -> Pass:
        try:
            self._work()
        except LeaseLost:
            self._due_at = self._backend.now() + LOOK_AGAIN // 10
        except BaseException:
            self._let_go()
            raise
        else:
            self._claim.release()
        return Pass(self._done, self._due_at, self._error)

    def _let_go(self) -> None:
        """Give the mailbox back after a failure, or it would be taken for a while."""
        try:
            # Through a new claim: an extraction that still runs writes no more.
            self._claim.taken_over().release()
        except Exception:
            logger.debug("The mailbox stays taken until its lease ends.", exc_info=True)

    def _work(self) -> None:
        self._replay()
        jobs = self._claim.jobs
        waiting = [job for job in jobs if job.state == "waiting"]
        now = self._backend.now()
        # Nothing waits longer than an hour: a later time was written before the clock
        # was set back.
        if waiting and now < waiting[0].due_at <= now + HOUR:
            self._due_at = waiting[0].due_at  # what was said later does not overtake
            return
        if not waiting:
            return
        notes = forgotten.notes(self._backend, self._user)
        for number, thread in enumerate(coalesced(jobs)):
            if number and not self._may_go_on():
                self._due_at = self._backend.now()
                return
            kept = self._held.pop(thread[0].thread_id, ())
            if not self._thread([*kept, *thread], notes):
                return

    def _replay(self) -> None:
        """Carry on with the plans that an earlier worker left."""
        by_id = {job.id: job for job in self._claim.jobs}
        planned: set[str] = set()
        for plan in self._claim.plans:
            jobs = [by_id[key] for key in plan.jobs if key in by_id]
            planned.update(plan.jobs)
            notes = forgotten.notes(self._backend, self._user)
            covered = (
                forgotten.since(notes, jobs)
                if jobs
                else forgotten.since_planned(notes, plan.planned_at)
            )
            self._carry_out(self._claim, jobs, plan, covered)
            self._done += len(jobs)
        self._claim.jobs = [job for job in self._claim.jobs if job.id not in planned]

    def _thread(self, jobs: list[Job], notes: list[forgotten.Note]) -> bool:
        """Work off the jobs of one thread; tell whether the next may follow."""
        thread_id = jobs[0].thread_id
        seen = self._outbox.seen(self._user, thread_id)
        self._outbox.compact(self._user, thread_id, seen)
        merged = without_seen(_merged(jobs), seen.prints)
        habits = self._learner.habits.of(self._user)
        if not merged.said or habits.is_paused(thread_id):
            self._claim.acknowledge(jobs)
            self._done += len(jobs)
            return True
        context = ExtractionContext(
            self._user,
            [_message(said) for said in merged.said],
            from_us(seen.last) if seen.last else None,
            thread_id,
        )
        forced = any(job.forced for job in jobs)
        if not forced and not self._is_time(context):
            self._held[thread_id] = self._claim.keep(jobs, state="held")
            return True
        return all(
            self._part(part, seen.prints, notes) for part in self._parts(jobs, notes)
        )

    def _parts(self, jobs: list[Job], notes: list[forgotten.Note]) -> list[list[Job]]:
        """Split jobs by day, by what the user deleted in between, and by size."""
        timezone = self._service.settings.timezone
        periods: dict[object, list[Job]] = {}
        for job in jobs:
            period = forgotten.period(job, notes, timezone)
            periods.setdefault(period, []).append(job)
        parts: list[list[Job]] = []
        for period_jobs in periods.values():
            size = LARGEST
            for job in period_jobs:
                if size + job.size > LARGEST:
                    parts.append([])
                    size = 0
                parts[-1].append(job)
                size += job.size
        return parts

    def _part(
        self,
        jobs: list[Job],
        seen: set[str],
        notes: list[forgotten.Note],
    ) -> bool:
        merged = without_seen(_merged(jobs), seen)
        if not merged.said:
            self._claim.acknowledge(jobs)
            self._done += len(jobs)
            return True
        now = self._backend.now()
        limit = self._learner.calls_per_hour
        habits = self._learner.habits.of(self._user)
        if limit is not None and habits.calls_this_hour(now) >= limit:
            self._due_at = habits.next_hour(now)
            self._claim.keep(jobs, state="waiting", due_at=self._due_at)
            return False
        return self._try(merged, jobs, notes)

    def _is_time(self, context: ExtractionContext) -> bool:
        try:
            return self._in_time(lambda: self._learner.should_extract(context))
        except Exception:
            logger.exception("A checker failed: extracting now.")
            return True

    def _try(
        self,
        merged: Job,
        jobs: list[Job],
        notes: list[forgotten.Note],
    ) -> bool:
        written = threading.Event()
        covered = forgotten.since(notes, jobs)
        claim = self._claim

        def write(operations: Sequence[Operation]) -> list[Outcome]:
            plan = WrittenPlan(
                f"{PLAN}{uuid.uuid4().hex}",
                tuple(job.id for job in jobs),
                tuple(operations),
                planned_at=self._backend.now(),
            )
            plan = claim.plan(plan)
            written.set()
            return self._carry_out(claim, jobs, plan, covered)

        extraction = Extraction(
            self._user,
            merged.thread_id,
            [_message(said) for said in merged.said],
            merged.said[0].position,
            merged.said_at,
            write,
        )
        try:
            cost = self._in_time(lambda: self._learner.extract(extraction))
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - anything a model or a node does
            if written.is_set():
                # The plan is in the mailbox: what is left of it is done next time.
                self._error = _told(error)
                self._due_at = self._backend.now() + retries.delay(1)
                return False
            return self._failed(jobs, error)
        if not written.is_set():
            self._claim.acknowledge(jobs)
        self._learner.habits.count(self._user, cost, self._backend.now())
        self._done += len(jobs)
        return True

    def _in_time(self, call: Callable[[], T]) -> T:
        """Run what users wrote in a thread of its own; stop waiting at the timeout.

        An empty context keeps it out of the run, trace and stream that queued it.
        """
        result: list[T] = []
        errors: list[BaseException] = []

        def within(call: Callable[[], T]) -> T:
            extracting.set(True)
            return call()

        def target() -> None:
            try:
                result.append(contextvars.Context().run(within, call))
            except BaseException as error:  # noqa: BLE001 - told to the waiting thread
                errors.append(error)

        thread = threading.Thread(
            target=target, name="agentmemory-extraction", daemon=True
        )
        thread.start()
        thread.join(self._learner.job_timeout)
        if thread.is_alive():
            # Whatever it still does cannot be written any more.
            self._claim = self._claim.taken_over()
            msg = f"It took longer than job_timeout={self._learner.job_timeout:g} s."
            raise retries.ExtractionTimeout(msg)
        if errors:
            raise _as_failure(errors[0])
        return result[0]

    def _carry_out(
        self,
        claim: Claim,
        jobs: list[Job],
        plan: WrittenPlan,
        covered: forgotten.Forgotten,
    ) -> list[Outcome]:
        progress = _Progress(claim, plan)
        fenced = FencedBackend(self._backend, claim, progress.beside, progress.written)
        verbs = Verbs(fenced, self._service.indexer, self._service.settings)
        applier = Applier(
            self._service,
            self._user,
            enabled=self._learner.enabled(),
            verbs=verbs,
            forgotten=covered,
        )
        outcomes = []
        for number in range(plan.done, len(plan.operations)):
            progress.next = number + 1
            outcomes.append(applier.apply(plan.operations[number]))
        claim.acknowledge(jobs, progress.plan)
        for outcome in outcomes:
            if outcome.status == "refused":
                logger.warning("Not remembered: %s", outcome.reason)
        return outcomes

    def _failed(self, jobs: list[Job], error: BaseException) -> bool:
        self._error = _told(error)
        if isinstance(error, ExtractionFailed):  # a call that failed may cost as well
            self._learner.habits.count(self._user, Extracted(1), self._backend.now())
        attempts = jobs[0].attempts + 1
        for_good = attempts >= retries.attempts_for(error)
        telemetry.count_failure(error, for_good=for_good)
        if for_good:
            logger.error(
                "Extraction failed for good after %d attempts, the turn is parked: %s",
                attempts,
                self._error,
            )
            self._claim.keep(jobs, state="parked", attempts=attempts, error=self._error)
            return True
        self._due_at = self._backend.now() + retries.delay(attempts)
        logger.warning("Extraction failed, it will be tried again: %s", self._error)
        self._claim.keep(
            jobs,
            state="waiting",
            attempts=attempts,
            due_at=self._due_at,
            error=self._error,
        )
        return False


class _Progress:
    """How much of a plan is done, written together with each operation."""

    def __init__(self, claim: Claim, plan: WrittenPlan) -> None:
        self.plan = plan
        self.next = plan.done
        self._claim = claim

    def beside(self) -> list[Write]:
        twin = replace(self.plan, done=self.next)
        record = twin.progress(self._claim.mailbox)
        return [Write(record, expect=self.plan.progress_revision, stamp=False)]

    def written(self, records: Sequence[Record]) -> None:
        (record,) = records
        revision = record.revision
        self.plan = replace(self.plan, done=self.next, progress_revision=revision)


def _merged(jobs: list[Job]) -> Job:
    merged = jobs[0]
    for job in jobs[1:]:
        merged = merged.merged(job)
    return merged


def _message(said: Said) -> BaseMessage:
    make = HumanMessage if said.role == "user" else AIMessage
    fields: dict[str, Any] = {"content": said.text}
    if said.id is not None:
        fields["id"] = said.id
    if said.name is not None:
        fields["name"] = said.name
    return make(**fields)


def _as_failure(error: BaseException) -> Exception:
    """Return what went wrong as an error that ends no thread and no process.

    `sys.exit()` in an extractor, or a cancellation within it, fails this extraction
    only: whoever waits for it was not meant.
    """
    if isinstance(error, Exception):
        return error
    failure = ExtractionFailed(f"The extraction ended with {_told(error)}.")
    failure.__cause__ = error
    return failure


def _told(error: BaseException) -> str:
    text = " ".join(str(error).split())[:500]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
