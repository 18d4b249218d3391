"""What a mailbox holds, and how it is written down.

The outbox lives in the store itself, as ordinary records of namespaces that no reader
sees. A user has one mailbox. Its records are

* jobs: what was said in one turn and waits to be extracted,
* a plan: the operations that a model made of some jobs, kept until all are done,
* its progress: how many of them are, apart because it is written with each of them,
* a lease: which worker has the mailbox; its revision is the fencing number.

All of them are written by conditional batches only, so every rule about them holds on
every engine.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, Literal, NamedTuple

from langchain_agentmemory.backends.base import Namespace, Record, RecordFlags
from langchain_agentmemory.extraction.texts import MESSAGE_LIMIT
from langchain_agentmemory.identity import decode_label, encode_label
from langchain_agentmemory.service.hidden import EXTRACTION_ROOT
from langchain_agentmemory.types import Operation, Source, UserKey

MAILBOXES: Final = (EXTRACTION_ROOT, "mailboxes")
"""Where the mailboxes are: one namespace per user."""

SEEN: Final = (EXTRACTION_ROOT, "seen")
"""Where the processed sets are: one namespace per user and thread."""

LEARNING: Final = (EXTRACTION_ROOT, "learning")
"""Where switches, usage and what was forgotten are: one namespace per user."""

LEASE: Final = "lease"
JOB: Final = "job:"
PLAN: Final = "plan:"
PROGRESS: Final = "done:"

_FINGERPRINT_BYTES: Final = 9
_NO_THREAD: Final = "-"
_LONGEST_LABEL: Final = 100

LARGEST: Final = 60_000
"""Characters that one extraction reads: 15,000 tokens of English, fewer than 60,000 of
Chinese, which every current model takes."""

Role = Literal["user", "assistant"]
State = Literal["waiting", "held", "parked"]


class Said(NamedTuple):
    """One message, as far as extraction needs it.

    Attributes:
        role: Who said it.
        text: What was said.
        id: The message's id, if it has one.
        name: The speaker's name, if one is given.
        position: Its place in the conversation, counted from 0.
    """

    role: Role
    text: str
    id: str | None = None
    name: str | None = None
    position: int | None = None


class Fingerprints(NamedTuple):
    """By what a message is recognised.

    Attributes:
        by_id: By its id and text; `None` without an id. An edited message is new.
        by_text: By role, text, and how many like it came before: for conversations
            whose ids are made anew in every run.
    """

    by_id: str | None
    by_text: str


@dataclass(frozen=True, slots=True)
class Job:
    """What was said in a turn and waits to be extracted.

    Attributes:
        id: Its key in the mailbox.
        user: Whose conversation it is.
        thread_id: The conversation, if it has a name.
        said: The messages, in order.
        fingerprints: Those of the messages.
        said_at: When, microseconds since the epoch.
        state: `"waiting"` for a worker, `"held"` until a checker says that it is
            time, `"parked"` after it failed for good.
        attempts: How often it was tried.
        due_at: Not to be tried before, microseconds since the epoch.
        error: Why the last attempt failed.
        forced: It is to be extracted, whatever the checkers say.
        revision: The revision of its record.
        updated_at: The time of its record.
    """

    id: str
    user: UserKey
    thread_id: str | None
    said: tuple[Said, ...]
    fingerprints: tuple[Fingerprints, ...]
    said_at: int
    state: State = "waiting"
    attempts: int = 0
    due_at: int = 0
    error: str | None = None
    forced: bool = False
    revision: int = field(default=0, compare=False)
    updated_at: int = field(default=0, compare=False)

    @property
    def size(self) -> int:
        """How much was said, in characters; of a long message only what is shown."""
        return size_of(self.said)

    def record(self) -> Record:
        """Return the job as a record."""
        value = {
            "thread": self.thread_id,
            "said": [list(message) for message in self.said],
            "prints": [list(pair) for pair in self.fingerprints],
            "said_at": self.said_at,
            "state": self.state,
            "attempts": self.attempts,
            "due_at": self.due_at,
            "error": self.error,
            "forced": self.forced,
        }
        # Only what waits is listed, so that the head of a mailbox says whether there
        # is work, and a limit counts it.
        waiting = self.state == "waiting"
        return Record(
            mailbox_of(self.user),
            self.id,
            dump(value),
            flags=RecordFlags.LISTED if waiting else RecordFlags.NONE,
            updated_at=self.updated_at,
        )

    def merged(self, other: "Job") -> "Job":
        """Return this job with the messages of a later one of the same thread."""
        return replace(
            self,
            said=(*self.said, *other.said),
            fingerprints=(*self.fingerprints, *other.fingerprints),
            said_at=max(self.said_at, other.said_at),
        )


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """The operations that a model made of some jobs.

    Attributes:
        id: Its key in the mailbox.
        jobs: The keys of the jobs.
        operations: What to do, in order.
        done: How many are done.
        planned_at: When it was written down, microseconds since the epoch.
        revision: The revision of its record.
        progress_revision: The revision of the record of `done`, 0 if there is none.
    """

    id: str
    jobs: tuple[str, ...]
    operations: tuple[Operation, ...]
    done: int = 0
    planned_at: int = 0
    revision: int = field(default=0, compare=False)
    progress_revision: int = field(default=0, compare=False)

    def record(self, mailbox: Namespace) -> Record:
        """Return the plan as a record."""
        value = {
            "jobs": self.jobs,
            "operations": [_operation_out(op) for op in self.operations],
            "done": self.done,
            "planned_at": self.planned_at,
        }
        return Record(mailbox, self.id, dump(value))

    @property
    def progress_key(self) -> str:
        """The key of the record that says how many operations are done."""
        return PROGRESS + self.id

    def progress(self, mailbox: Namespace) -> Record:
        """Return that record."""
        return Record(mailbox, self.progress_key, dump({"done": self.done}))

    def with_progress(self, record: Record) -> "WrittenPlan":
        """Return the plan with what that record says."""
        done = load(record.value)["done"]
        return replace(self, done=done, progress_revision=record.revision)


class Lease(NamedTuple):
    """Which worker has a mailbox.

    Attributes:
        owner: The worker.
        until: When it ends, microseconds since the epoch.
        fence: The revision of its record: every write of the worker requires it.
    """

    owner: str
    until: int
    fence: int = 0


def size_of(said: Iterable[Said]) -> int:
    """Return how much was said, in characters, as far as a model gets to see it."""
    return sum(min(len(message.text), MESSAGE_LIMIT) for message in said)


def pieces(
    said: Sequence[tuple[Said, Fingerprints]],
) -> list[Sequence[tuple[Said, Fingerprints]]]:
    """Split messages so that each piece fits into one extraction."""
    found, begin, size = [], 0, 0
    for position, (message, _) in enumerate(said):
        own = size_of([message])
        if position > begin and size + own > LARGEST:
            found.append(said[begin:position])
            begin, size = position, 0
        size += own
    found.append(said[begin:])
    return found


@lru_cache(4_096)
def mailbox_of(user: UserKey) -> Namespace:
    """Return the namespace of a user's mailbox."""
    return (*MAILBOXES, encode_label(user.app_name), encode_label(user.user_id))


@lru_cache(4_096)
def learning_of(user: UserKey) -> Namespace:
    """Return the namespace of what is noted about a user's learning."""
    return (*LEARNING, encode_label(user.app_name), encode_label(user.user_id))


@lru_cache(4_096)
def seen_of(user: UserKey, thread_id: str | None) -> Namespace:
    """Return the namespace of the processed set of one conversation."""
    label = _NO_THREAD if thread_id is None else "." + thread_id
    if len(label) > _LONGEST_LABEL:
        label = "#" + _digest("thread", label)
    return (
        *SEEN,
        encode_label(user.app_name),
        encode_label(user.user_id),
        encode_label(label),
    )


def seen_below(user: UserKey) -> Namespace:
    """Return the prefix of all processed sets of a user."""
    return (*SEEN, encode_label(user.app_name), encode_label(user.user_id))


def user_of(namespace: Namespace) -> UserKey:
    """Return whose mailbox a namespace is."""
    return UserKey(decode_label(namespace[-2]), decode_label(namespace[-1]))


def fingerprints(said: Iterable[Said]) -> list[Fingerprints]:
    """Return by what each message of a conversation is recognised."""
    count: dict[tuple[str, str], int] = {}
    found = []
    for message in said:
        kind = (message.role, message.text)
        ordinal = count.get(kind, 0)
        count[kind] = ordinal + 1
        by_text = _digest("text", message.role, message.text, str(ordinal))
        by_id = None
        if message.id is not None:
            by_id = _digest("id", message.role, message.text, message.id)
        found.append(Fingerprints(by_id, by_text))
    return found


def _digest(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=_FINGERPRINT_BYTES).hexdigest()


def job_of(record: Record) -> Job:
    """Read a job."""
    value = load(record.value)
    return Job(
        record.key,
        user_of(record.namespace),
        value["thread"],
        tuple(Said(*message) for message in value["said"]),
        tuple(Fingerprints(*pair) for pair in value["prints"]),
        value["said_at"],
        value["state"],
        value["attempts"],
        value["due_at"],
        value["error"],
        value.get("forced", False),
        record.revision,
        record.updated_at,
    )


def is_job_of(record: Record, thread_id: str | None) -> bool:
    """Tell whether a record is a job of a conversation, without reading it."""
    start = dump({"thread": thread_id})[:-1] + b","
    return record.key.startswith(JOB) and record.value.startswith(start)


def plan_of(record: Record) -> WrittenPlan:
    """Read a plan."""
    value = load(record.value)
    return WrittenPlan(
        record.key,
        tuple(value["jobs"]),
        tuple(_operation_in(op) for op in value["operations"]),
        value["done"],
        value["planned_at"],
        record.revision,
    )


def lease_of(record: Record) -> Lease:
    """Read a lease."""
    value = load(record.value)
    return Lease(value["owner"], value["until"], record.revision)


def dump(value: Mapping[str, Any]) -> bytes:
    """Write a value down; what UTF-8 cannot hold is escaped."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def load(value: bytes) -> dict[str, Any]:
    """Undo `dump`."""
    loaded: dict[str, Any] = json.loads(value)
    return loaded


def _operation_out(operation: Operation) -> dict[str, Any]:
    source = operation.source
    found: dict[str, Any] = {
        "type": operation.type,
        "memory": operation.memory,
        "memory_id": operation.memory_id,
        "topics": operation.topics,
        "kind": None if operation.kind is None else str(operation.kind),
        "event_time": _time_out(operation.event_time),
        "participants": operation.participants,
        "location": operation.location,
        "supersedes": operation.supersedes,
        "source": None,
    }
    if source is not None:
        said_at = source.said_at
        found["source"] = [
            source.thread_id,
            source.message_ids,
            source.position,
            source.role,
            None if said_at is None else said_at.isoformat(),
        ]
    return {name: value for name, value in found.items() if value not in (None, ())}


def _operation_in(value: Mapping[str, Any]) -> Operation:
    def listed(name: str) -> tuple[str, ...] | None:
        return tuple(value[name]) if name in value else None

    source = None
    if "source" in value:
        thread_id, message_ids, position, role, said_at = value["source"]
        moment = None if said_at is None else datetime.fromisoformat(said_at)
        source = Source(thread_id, tuple(message_ids), position, role, moment)
    return Operation(
        value["type"],
        value.get("memory"),
        value.get("memory_id"),
        listed("topics"),
        value.get("kind"),
        value.get("event_time"),
        listed("participants"),
        value.get("location"),
        source,
        tuple(value.get("supersedes", ())),
    )


def _time_out(moment: object) -> str | None:
    if moment is None or isinstance(moment, str):
        return moment
    return moment.isoformat()  # type: ignore[no-any-return, attr-defined]  # a date


def coalesced(jobs: Sequence[Job]) -> list[list[Job]]:
    """Group the jobs that wait, in order: a thread's next to each other become one.

    A turn of another thread in between keeps them apart, or it would be overtaken. What
    was held back comes with the first one of its thread.
    """
    held: dict[str | None, list[Job]] = {}
    for job in jobs:
        if job.state == "held":
            held.setdefault(job.thread_id, []).append(job)
    groups: list[list[Job]] = []
    for job in jobs:
        if job.state != "waiting":
            continue
        if groups and groups[-1][-1].thread_id == job.thread_id:
            groups[-1].append(job)
        else:
            groups.append([*held.pop(job.thread_id, ()), job])
    return groups
