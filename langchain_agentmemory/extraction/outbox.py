"""The outbox: turns that wait to be extracted, in the store itself.

A turn is in the outbox before the node that queues it returns. A worker claims a whole
mailbox, so jobs of one user neither overlap nor overtake each other, and every write
that it makes requires that the mailbox is still its own.
"""

import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final, NamedTuple

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Head,
    LimitReached,
    Namespace,
    Page,
    PreconditionFailed,
    Record,
    RecordState,
    Write,
)
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.extraction import forgotten
from langchain_agentmemory.extraction.claims import (
    Claim,
    Mailbox,
    fence_of,
    is_held,
    lease_write,
    plan_removals,
    removal,
    seen_writes,
    seize,
)
from langchain_agentmemory.extraction.mailbox import (
    JOB,
    LARGEST,
    LEASE,
    MAILBOXES,
    PLAN,
    PROGRESS,
    Job,
    Lease,
    Said,
    dump,
    is_job_of,
    job_of,
    lease_of,
    load,
    mailbox_of,
    pieces,
    plan_of,
    seen_of,
    user_of,
)
from langchain_agentmemory.extraction.recognising import marks_of, unseen
from langchain_agentmemory.service.changes import ATTEMPTS
from langchain_agentmemory.types import UserKey

KNOWN_THREADS: Final = 2_000
"""Conversations whose processed sets are kept in memory."""

SPILL: Final = 1_000
"""Turns kept in memory while the store cannot be written."""

AT_ONCE: Final = 1.0
"""Seconds within which a failed write is repeated."""

CHUNKS: Final = 64
"""Chunks of a processed set before they are joined into one."""


class Seen(NamedTuple):
    """What of a conversation was processed.

    Attributes:
        prints: Fingerprints of messages.
        last: When the last of them was said, microseconds, 0 for never.
        chunks: The records that say so.
    """

    prints: set[str]
    last: int
    chunks: list[Record]


class Known:
    """What this process knows of a conversation.

    Attributes:
        prints: Fingerprints of messages that were queued or extracted.
        glanced: Hashes of ids and contents of such messages, as they lay in memory: the
            quick look that spares the fingerprints of a long conversation.
    """

    __slots__ = ("glanced", "prints")

    def __init__(self, prints: set[str]) -> None:
        """Begin with fingerprints."""
        self.prints = prints
        self.glanced: set[int] = set()


class Outbox:
    """The outbox of one store.

    Args:
        backend: Where it is kept.
        max_pending: How many turns of a user may wait apart. Further ones join the
            newest one of their thread: nothing is dropped.
        timezone: Where days begin: turns of different days are not joined.
    """

    def __init__(
        self, backend: Backend, max_pending: int | None, timezone: tzinfo
    ) -> None:
        """Start with nothing known."""
        self._timezone = timezone
        self.backend = backend
        self.max_pending = max_pending
        self.spilled: deque[Job] = deque()
        self.last_error: str | None = None
        self._known: OrderedDict[tuple[UserKey, str | None], Known] = OrderedDict()
        self._lock = threading.Lock()
        self._unspilling = threading.Lock()

    # -- enqueueing ------------------------------------------------------------------

    def glanced(self, user: UserKey, thread_id: str | None) -> set[int]:
        """Return the hashes of messages that this process has queued already."""
        known = self._known.get((user, thread_id))
        return known.glanced if known is not None else set()

    def enqueue(  # noqa: PLR0913 - what is known of a turn
        self,
        user: UserKey,
        thread_id: str | None,
        said: Sequence[Said],
        glances: Iterable[int] = (),
        *,
        lasting: bool = False,
        said_at: int | None = None,
    ) -> Job | None:
        """Write down what is new in a conversation.

        Args:
            user: Whose conversation it is.
            thread_id: The conversation.
            said: All of it, or as much as is left of it; what was seen before is
                left out.
            glances: Hashes by which `glanced` knows these messages from now on.
            lasting: Whether other messages of it were recognised by their ids.
            said_at: When, microseconds since the epoch; now if not given.

        Returns:
            The job, the last one of a conversation too long for one, `None` if nothing
            is new.

        Raises:
            BackendUnavailable: If it could not be written. `spill` keeps it in memory.
        """
        if self.spilled:
            self.unspill()
        known = self._known_of(user, thread_id)
        new = unseen(said, known.prints, lasting=lasting)
        if not new:
            known.glanced.update(glances)
            return None
        moment = self.backend.now() if said_at is None else said_at
        jobs = [
            Job(
                f"{JOB}{uuid.uuid4().hex}",
                user,
                thread_id,
                tuple(message for message, _ in piece),
                tuple(prints for _, prints in piece),
                moment,
            )
            for piece in pieces(new)
        ]
        failed = None
        for job in jobs:
            try:
                self.write(job)
            except BackendUnavailable as error:
                failed = error  # this one is kept in memory; so are the others
        if failed is not None:
            raise failed
        known.glanced.update(glances)
        return jobs[-1]

    def skip(
        self,
        user: UserKey,
        thread_id: str | None,
        said: Sequence[Said],
        glances: Iterable[int] = (),
        *,
        lasting: bool = False,
    ) -> None:
        """Note what is new in a conversation as processed, without extracting it.

        Takes what `enqueue` takes.

        Raises:
            BackendUnavailable: If it could not be noted. That is kept in memory.
        """
        known = self._known_of(user, thread_id)
        new = unseen(said, known.prints, lasting=lasting)
        if not new:
            known.glanced.update(glances)
            return
        job = Job(
            f"{JOB}{uuid.uuid4().hex}",
            user,
            thread_id,
            (),
            tuple(prints for _, prints in new),
            self.backend.now(),
        )
        try:
            self.mark_seen([job])
        except BackendUnavailable as error:
            self.last_error = str(error)
            self._spill(job)  # or the next turn would bring it along
            raise
        self._remember(job)
        known.glanced.update(glances)

    def write(self, job: Job) -> None:
        """Write a job down, once more if it fails at once, and remember its messages.

        A database that was waited for in vain is not waited for a second time.
        """
        began = time.monotonic()
        try:
            self._put(job)
        except BackendUnavailable as error:
            self.last_error = str(error)
            try:
                if time.monotonic() - began > AT_ONCE:
                    raise
                self._put(job)
            except BackendUnavailable:
                self._spill(job)
                raise
        self._remember(job)

    def _remember(self, job: Job) -> None:
        with self._lock:
            known = self._known.get((job.user, job.thread_id))
            if known is not None:
                known.prints.update(marks_of(job.fingerprints))

    def _put(self, job: Job) -> None:
        mailbox = mailbox_of(job.user)
        limits = {} if self.max_pending is None else {mailbox: self.max_pending}
        record = job.record()
        try:
            self.backend.commit(Batch([Write(record, expect=0)], limits))
        except LimitReached:
            if not self._join(job):
                self.backend.commit(Batch([Write(job.record(), expect=0)]))
        except PreconditionFailed:
            return  # written by the attempt whose answer was lost

    def _join(self, job: Job) -> bool:
        """Merge a job into the newest one of its thread that no worker has."""
        for _ in range(ATTEMPTS):
            box = self.read(job.user)
            if is_held(box.lease, self.backend.now()):
                return False
            same = [
                other
                for other in box.jobs
                if other.thread_id == job.thread_id and other.state == "waiting"
            ]
            planned = {key for plan in box.plans for key in plan.jobs}
            if not same or same[-1].id in planned:
                return False
            older = same[-1]
            if self._period(older) != self._period(job):
                return False  # they must not become one extraction
            if older.size + job.size > LARGEST:
                return False
            writes = [
                Write(older.merged(job).record(), expect=older.revision, stamp=False),
                # A worker that read the mailbox before this must read it again.
                lease_write(job.user, Lease("", 0), fence_of(self.backend, job.user)),
            ]
            try:
                self.backend.commit(Batch(writes))
            except PreconditionFailed:
                continue
            return True
        return False

    def _period(self, job: Job) -> object:
        notes = forgotten.notes(self.backend, job.user)
        return forgotten.period(job, notes, self._timezone)

    def _spill(self, job: Job) -> None:
        with self._lock:
            if len(self.spilled) < SPILL:
                self.spilled.append(job)

    def unspill(self) -> int:
        """Write down what could not be written before; return how much is left."""
        with self._unspilling:  # or what one thread wrote, another would take out
            while self.spilled:
                job = self.spilled[0]
                try:
                    if job.said:
                        self._put(job)
                    else:
                        self.mark_seen([job])
                except BackendUnavailable as error:
                    self.last_error = str(error)
                    return len(self.spilled)
                self._remember(job)
                with self._lock:
                    if self.spilled and self.spilled[0] is job:  # nobody forgot it
                        self.spilled.popleft()
        return 0

    def _known_of(self, user: UserKey, thread_id: str | None) -> Known:
        key = (user, thread_id)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        try:
            prints = self.seen(user, thread_id).prints
            records = self.backend.page(Page(mailbox_of(user), None))
        except BackendUnavailable as error:
            self.last_error = str(error)
            return Known(set())  # too much is queued; the worker leaves out the rest
        for record in records:
            if is_job_of(record, thread_id):
                prints.update(marks_of(job_of(record).fingerprints))
        with self._lock:
            known = self._known.setdefault(key, Known(prints))
            while len(self._known) > KNOWN_THREADS:
                self._known.popitem(last=False)
            return known

    def forget(self, user: UserKey) -> None:
        """Drop from memory what is known of a user's conversations."""
        with self._lock:
            for key in [key for key in self._known if key[0] == user]:
                del self._known[key]
            self.spilled = deque(job for job in self.spilled if job.user != user)

    def forgo(self, user: UserKey, keep: Callable[[Job], bool] | None = None) -> int:
        """Learn nothing from turns of a user that are only in memory; return how many.

        Takes what `discard` takes.
        """

        def is_meant(job: Job) -> bool:
            mine = job.user == user and bool(job.said)
            return mine and (keep is None or not keep(job))

        if not self.spilled:
            return 0
        with self._unspilling, self._lock:
            count = sum(map(is_meant, self.spilled))
            self.spilled = deque(
                replace(job, said=()) if is_meant(job) else job for job in self.spilled
            )
        return count

    # -- reading ---------------------------------------------------------------------

    def read(self, user: UserKey) -> Mailbox:
        """Return a user's mailbox, oldest job first."""
        return self._read(mailbox_of(user))

    def _read(self, mailbox: Namespace) -> Mailbox:
        jobs, plans, lease = [], [], None
        progress: dict[str, Record] = {}
        for record in self.backend.page(Page(mailbox, None, oldest_first=True)):
            if record.key == LEASE:
                lease = lease_of(record)
            elif record.key.startswith(JOB):
                jobs.append(job_of(record))
            elif record.key.startswith(PLAN):
                plans.append(plan_of(record))
            elif record.key.startswith(PROGRESS):
                progress[record.key] = record
        plans = [
            plan.with_progress(progress[plan.progress_key])
            if plan.progress_key in progress
            else plan
            for plan in plans
        ]
        return Mailbox(jobs, plans, lease)

    def heads(self) -> list[Head]:
        """Return the heads of mailboxes that hold anything; `active` = jobs waiting."""
        return self.backend.heads(MAILBOXES)

    def jobs(self, user: UserKey | None = None) -> Iterator[Job]:
        """Yield all jobs, user by user, oldest first."""
        if user is not None:
            yield from self.read(user).jobs
            return
        for head in self.heads():
            yield from self._read(head.namespace).jobs

    def waiting_users(self) -> list[UserKey]:
        """Return the users for whom a job waits."""
        return [user_of(head.namespace) for head in self.heads() if head.active]

    def seen(self, user: UserKey, thread_id: str | None) -> Seen:
        """Return what of a conversation was processed."""
        chunks = self.backend.page(Page(seen_of(user, thread_id), None))
        prints: set[str] = set()
        last = 0
        for record in chunks:
            value = load(record.value)
            prints.update(value["prints"])
            last = max(last, value["said_at"])
        return Seen(prints, last, chunks)

    def compact(self, user: UserKey, thread_id: str | None, seen: Seen) -> None:
        """Join a processed set of many records into one of few."""
        if len(seen.chunks) <= CHUNKS:
            return
        place = seen_of(user, thread_id)
        value = dump({"prints": sorted(seen.prints), "said_at": seen.last})
        joined = Record(place, f"joined:{uuid.uuid4().hex}", value)
        gone = [
            Write(
                Record(place, chunk.key, state=RecordState.STUB),
                expect=chunk.revision,
                stamp=False,
            )
            for chunk in seen.chunks
        ]
        try:
            self.backend.commit(Batch([Write(joined, expect=0), *gone]))
        except PreconditionFailed:
            return  # somebody else joined them

    # -- claims ----------------------------------------------------------------------

    def claim(self, user: UserKey, owner: str, lease: int) -> Claim | None:
        """Take a user's mailbox, `None` if another worker has it or nothing waits.

        Args:
            user: Whose mailbox.
            owner: A name of the worker that no other one has.
            lease: For how long, in microseconds; every write of the claim renews it.
        """
        for _ in range(ATTEMPTS):
            fence = fence_of(self.backend, user)
            box = self.read(user)
            now = self.backend.now()
            if not any(job.state == "waiting" for job in box.jobs) and not box.plans:
                return None
            if is_held(box.lease, now):
                return None
            taken = lease_write(user, Lease(owner, now + lease), fence)
            try:
                (record,) = self.backend.commit(Batch([taken]))
            except PreconditionFailed:
                continue
            return Claim(self.backend, user, owner, lease, record.revision, box)
        return None

    def lease_ends(self, user: UserKey) -> int:
        """Return when the lease on a mailbox ends, microseconds, 0 without one."""
        lease = self.read(user).lease
        return lease.until if lease is not None else 0

    # -- by hand ---------------------------------------------------------------------

    def retry(self, jobs: Iterable[Job], *, forced: bool = False) -> int:
        """Let parked or held jobs wait again; return how many did.

        Args:
            jobs: The jobs.
            forced: Extract them whatever the checkers say.
        """
        done = 0
        for job in jobs:
            again = replace(job, state="waiting", attempts=0, due_at=0, forced=forced)
            write = Write(again.record(), expect=job.revision, stamp=False)
            try:
                self.backend.commit(Batch([write]))
            except PreconditionFailed:
                continue
            done += 1
        return done

    def discard(self, user: UserKey, keep: Callable[[Job], bool] | None = None) -> int:
        """Drop jobs of a user, as if they had been extracted; return how many.

        A worker that has the mailbox loses it.

        Args:
            user: Whose jobs.
            keep: Tells which jobs stay; none if not given.
        """
        only_here = self.forgo(user, keep)
        for _ in range(ATTEMPTS):
            box = self.read(user)
            jobs = [job for job in box.jobs if keep is None or not keep(job)]
            if not jobs and not box.plans:
                return only_here
            # A worker that claims the mailbox from here on has the batch below fail.
            fence = seize(self.backend, user)
            box = self.read(user)
            jobs = [job for job in box.jobs if keep is None or not keep(job)]
            gone = {job.id for job in jobs}
            writes = [removal(user, job.id, job.revision) for job in jobs]
            for plan in box.plans:
                if gone & set(plan.jobs):
                    writes += plan_removals(user, plan)
            writes.append(removal(user, LEASE, fence))
            try:
                self.mark_seen(jobs)
                self.backend.commit(Batch(writes))
            except PreconditionFailed:
                continue
            return len(jobs) + only_here
        msg = "Other writers kept changing the same mailbox. Try again."
        raise BackendUnavailable(msg)

    def mark_seen(self, jobs: Iterable[Job]) -> None:
        """Add the messages of jobs to the processed sets."""
        writes = seen_writes(list(jobs))
        for write in writes:
            self.backend.commit(Batch([write]))
