"""What a user deleted while turns waited: it is not learnt again from these turns.

Of what was deleted only ids and hashed words are noted, only while something waits in
the user's mailbox, and the notes expire.
"""

import uuid
from collections.abc import Iterable, Sequence
from datetime import date, tzinfo
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from langchain_agentmemory.backends.base import (
    MICROSECONDS,
    Backend,
    Batch,
    Page,
    Record,
    Write,
)
from langchain_agentmemory.extraction.claims import evict
from langchain_agentmemory.extraction.mailbox import (
    JOB,
    Job,
    dump,
    learning_of,
    load,
    mailbox_of,
)
from langchain_agentmemory.service.values import decode
from langchain_agentmemory.times import from_us

if TYPE_CHECKING:
    from langchain_agentmemory.types import UserKey

NOTE: Final = "forgotten:"
KEPT_FOR: Final = 30 * 24 * 3600 * MICROSECONDS

SAME: Final = 0.7
"""Jaccard of two word sets from which a text says what was deleted."""

_HASH_BYTES: Final = 6


class Forgotten:
    """What was deleted at one time, or at several.

    Args:
        ids: Ids of the memories.
        words: The hashed words of each.
    """

    def __init__(
        self, ids: Iterable[str] = (), words: Iterable[frozenset[str]] = ()
    ) -> None:
        """Remember both."""
        self.ids = frozenset(ids)
        self.words = [found for found in words if found]

    def covers(self, memory_id: str, memory: str) -> bool:
        """Tell whether a memory is, or says, what was deleted."""
        if memory_id in self.ids:
            return True
        if not self.words:
            return False
        mine = hashed_words(memory)
        return any(_jaccard(mine, words) >= SAME for words in self.words)


class Note(NamedTuple):
    """What a user deleted at one time.

    Attributes:
        at: When, microseconds since the epoch.
        jobs: The keys of the jobs that waited: they were said before, whatever the
            clock says.
        forgotten: What was deleted.
    """

    at: int
    jobs: frozenset[str]
    forgotten: Forgotten

    def follows(self, job: Job) -> bool:
        """Tell whether it was deleted after a job was said."""
        return job.id in self.jobs or self.at > job.said_at


def note(backend: Backend, user: "UserKey", deleted: Sequence[Record]) -> None:
    """Note what a user deletes, if something waits to be extracted.

    To be called before it is deleted. A worker that has the mailbox loses it, because
    it read the notes before: it comes back and reads them again.

    Raises:
        BackendUnavailable: If the store cannot be written.
    """
    waiting = backend.page(Page(mailbox_of(user), None))
    if not waiting:
        return
    now = backend.now()
    texts = [decode(record.value).get("memory") for record in deleted]
    value = {
        "ids": [record.key for record in deleted],
        "words": [
            sorted(hashed_words(text)) for text in texts if isinstance(text, str)
        ],
        "jobs": [item.key for item in waiting if item.key.startswith(JOB)],
        "at": now,
    }
    record = Record(
        learning_of(user),
        f"{NOTE}{uuid.uuid4().hex}",
        dump(value),
        expires_at=now + KEPT_FOR,
    )
    backend.commit(Batch([Write(record)]))
    evict(backend, user)


def notes(backend: Backend, user: "UserKey") -> list[Note]:
    """Return what the user deleted, and when, oldest first."""
    found = []
    for record in backend.page(Page(learning_of(user), None, oldest_first=True)):
        if record.key.startswith(NOTE):
            value = load(record.value)
            words = [frozenset(hashes) for hashes in value["words"]]
            jobs = frozenset(value.get("jobs", ()))
            found.append(Note(value["at"], jobs, Forgotten(value["ids"], words)))
    return found


def period(
    job: Job, found: Iterable[Note], timezone: tzinfo
) -> tuple[date, tuple[int, ...]]:
    """Return when a job was said: the day, and before which deletions.

    Only what was said in one period may become one extraction. It has one date, to
    which "yesterday" refers, and one answer to what was deleted after it.
    """
    day = from_us(job.said_at).astimezone(timezone).date()
    return day, tuple(n for n, note in enumerate(found) if note.follows(job))


def since(found: Iterable[Note], jobs: Iterable[Job]) -> Forgotten:
    """Return what was deleted after one of some jobs was said."""
    said = list(jobs)
    return _joined(note for note in found if any(note.follows(job) for job in said))


def since_planned(found: Iterable[Note], planned_at: int) -> Forgotten:
    """Return what was deleted after a plan was made whose jobs are gone."""
    return _joined(note for note in found if note.at > planned_at)


def _joined(found: Iterable[Note]) -> Forgotten:
    later = [note.forgotten for note in found]
    return Forgotten(
        (memory_id for forgotten in later for memory_id in forgotten.ids),
        (words for forgotten in later for words in forgotten.words),
    )


def hashed_words(text: str) -> frozenset[str]:
    """Return the words of a text as short hashes."""
    from langchain_agentmemory.search.reference import (  # noqa: PLC0415 - rare
        ReferenceTokenizer,
    )

    return frozenset(
        blake2b(
            word.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES
        ).hexdigest()
        for word in ReferenceTokenizer().token_set(text)
    )


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0
