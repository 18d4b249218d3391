"""A mailbox in the hands of one worker, and what it may write while it has it."""

import os
import socket
import threading
import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Capability,
    PreconditionFailed,
    Record,
    RecordState,
    Write,
)
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.extraction.mailbox import (
    LEASE,
    Job,
    Lease,
    WrittenPlan,
    dump,
    mailbox_of,
    seen_of,
)
from langchain_agentmemory.extraction.recognising import marks_of
from langchain_agentmemory.service.changes import ATTEMPTS
from langchain_agentmemory.types import UserKey

_CONTENDED: Final = "Other writers kept changing the same mailbox. Try again."


class LeaseLost(Exception):
    """Another worker has the mailbox, or it was emptied. Nothing was written."""


class Mailbox(NamedTuple):
    """A mailbox as it was read."""

    jobs: list[Job]
    plans: list[WrittenPlan]
    lease: Lease | None


class Claim:
    """A mailbox that one worker has.

    Attributes:
        user: Whose mailbox.
        mailbox: Its namespace.
        jobs: The jobs when it was claimed, oldest first.
        plans: The plans that an earlier worker left.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place
        self,
        backend: Backend,
        user: UserKey,
        owner: str,
        lease: int,
        fence: int,
        box: Mailbox,
    ) -> None:
        """Remember what was claimed."""
        self.user = user
        self.mailbox = mailbox_of(user)
        self.jobs = [job for job in box.jobs if job.state != "parked"]
        self.plans = box.plans
        self._backend = backend
        self._owner = owner
        self._lease = lease
        self._fence = fence
        self._lock = threading.Lock()
        self._over = False

    @property
    def atomic(self) -> bool:
        """Whether memories and mailbox can be written in one batch."""
        return Capability.ATOMIC_ACROSS_NAMESPACES in self._backend.capabilities

    def commit(self, batch: Batch) -> list[Record]:
        """Write, provided that the mailbox is still this worker's.

        Raises:
            LeaseLost: If it is not. Nothing was written.
            PreconditionFailed: If another condition of the batch failed.
            LimitReached: As `Backend.commit`.
        """
        with self._lock:
            if self._over:
                raise LeaseLost
            until = self._backend.now() + self._lease
            lease = lease_write(self.user, Lease(self._owner, until), self._fence)
            try:
                # The lease first: engines lock namespaces in order anyway.
                records = self._backend.commit(
                    Batch([lease, *batch.writes], batch.limits)
                )
            except PreconditionFailed:
                self.check()
                raise
            self._fence = records[0].revision
            return records[1:]

    def check(self) -> None:
        """Raise `LeaseLost` unless the mailbox is still this worker's."""
        if self._over or fence_of(self._backend, self.user) != self._fence:
            self._over = True
            raise LeaseLost

    def taken_over(self) -> "Claim":
        """Return a claim on the same mailbox in whose place this one writes no more.

        A thread that still works under this claim cannot write from now on.
        """
        with self._lock:
            self._over = True
            box = Mailbox(self.jobs, self.plans, None)
            return Claim(
                self._backend, self.user, self._owner, self._lease, self._fence, box
            )

    def plan(self, plan: WrittenPlan) -> WrittenPlan:
        """Write down what is to be done."""
        record = plan.record(self.mailbox)
        (stored,) = self.commit(Batch([Write(record, expect=0)]))
        return replace(plan, revision=stored.revision)

    def acknowledge(self, jobs: Sequence[Job], plan: WrittenPlan | None = None) -> None:
        """Remove what is done, and add its messages to the processed set.

        Args:
            jobs: The jobs.
            plan: The plan that they had, as it was last written.
        """
        removals = [removal(self.user, job.id, job.revision) for job in jobs]
        if plan is not None:
            removals += plan_removals(self.user, plan)
        seen = seen_writes(jobs)
        if self.atomic:
            self.commit(Batch([*removals, *seen]))
        else:
            for write in seen:
                self._backend.commit(Batch([write]))
            self.commit(Batch(removals))

    def keep(self, jobs: Sequence[Job], **changes: object) -> list[Job]:
        """Write jobs again with other fields: another state, another due time."""
        twins = [replace(job, **changes) for job in jobs]  # type: ignore[arg-type]  # fields of Job
        writes = [
            Write(twin.record(), expect=job.revision, stamp=False)
            for job, twin in zip(jobs, twins, strict=True)
        ]
        stored = self.commit(Batch(writes))
        return [
            replace(twin, revision=record.revision)
            for twin, record in zip(twins, stored, strict=True)
        ]

    def release(self) -> None:
        """Give the mailbox back."""
        with self._lock:
            if self._over:
                return
            self._over = True
            gone = removal(self.user, LEASE, self._fence)
            try:
                self._backend.commit(Batch([gone]))
            except PreconditionFailed:
                return


def owner_name() -> str:
    """Return a name for a worker that tells other processes where it lives."""
    return f"{_machine()}/{os.getpid()}/{uuid.uuid4().hex}"


@cache
def _machine() -> str:
    """Return a name of what numbers the processes: containers may share a host's name.

    Were they taken for one machine, each would find the other's process missing, and
    take the mailbox from it again and again.
    """
    host = socket.gethostname().replace("/", "-")
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        processes = Path("/proc/self/ns/pid").stat().st_ino
    except (OSError, ValueError):  # not Linux
        return host
    return f"{host}:{boot}:{processes}"


def is_held(lease: Lease | None, now: int) -> bool:
    """Tell whether a lease keeps others out: it has not ended, and its owner lives."""
    if lease is None or lease.until <= now:
        return False
    host, _, rest = lease.owner.partition("/")
    pid = rest.partition("/")[0]
    if os.name != "posix" or host != _machine() or not pid.isdecimal():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False  # it died; should it live after all, its writes are fenced off
    except (OSError, OverflowError):
        return True
    return True


def evict(backend: Backend, user: UserKey) -> None:
    """Take a mailbox from the worker that has it; it may claim it again.

    Raises:
        BackendUnavailable: If the store cannot be written.
    """
    for _ in range(ATTEMPTS):
        (lease,) = backend.read(mailbox_of(user), [LEASE])
        if lease is None or lease.state is not RecordState.ACTIVE:
            return
        try:
            backend.commit(Batch([removal(user, LEASE, lease.revision)]))
        except PreconditionFailed:
            continue
        return
    raise BackendUnavailable(_CONTENDED)


def seize(backend: Backend, user: UserKey) -> int:
    """Take a mailbox from the worker that has it, if any.

    Returns:
        The fencing number that it has now. Whoever claims it meanwhile changes that.

    Raises:
        BackendUnavailable: If the store cannot be written.
    """
    for _ in range(ATTEMPTS):
        free = lease_write(user, Lease("", 0), fence_of(backend, user))
        try:
            (record,) = backend.commit(Batch([free]))
        except PreconditionFailed:
            continue
        return record.revision
    raise BackendUnavailable(_CONTENDED)


def seen_writes(jobs: Sequence[Job]) -> list[Write]:
    """Return what adds the messages of jobs to the processed sets."""
    groups: dict[tuple[UserKey, str | None], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.user, job.thread_id), []).append(job)
    writes = []
    for (user, thread_id), group in groups.items():
        value = {
            "prints": [mark for job in group for mark in marks_of(job.fingerprints)],
            "said_at": max(job.said_at for job in group),
        }
        record = Record(seen_of(user, thread_id), group[0].id, dump(value))
        writes.append(Write(record))
    return writes


def removal(user: UserKey, key: str, revision: int) -> Write:
    """Return what removes a record from a mailbox."""
    record = Record(mailbox_of(user), key, state=RecordState.STUB)
    return Write(record, expect=revision or None, stamp=False)


def plan_removals(user: UserKey, plan: WrittenPlan) -> list[Write]:
    """Return what removes a plan and its progress."""
    writes = [removal(user, plan.id, plan.revision)]
    if plan.progress_revision:
        writes.append(removal(user, plan.progress_key, plan.progress_revision))
    return writes


def fence_of(backend: Backend, user: UserKey) -> int:
    """Return the fencing number of a mailbox: the revision of its lease."""
    (record,) = backend.read(mailbox_of(user), [LEASE])
    return record.revision if record is not None else 0


def lease_write(user: UserKey, lease: Lease, fence: int) -> Write:
    """Return what puts a lease in the place of the one with this fencing number."""
    value = dump({"owner": lease.owner, "until": lease.until})
    return Write(Record(mailbox_of(user), LEASE, value), expect=fence, stamp=False)
