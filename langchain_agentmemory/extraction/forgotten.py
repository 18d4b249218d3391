"""What a user deleted while turns waited: it is not learnt again from these turns.

Of what was deleted only ids and hashed words are noted, only while something waits in
the user's mailbox, and the notes expire.
"""

import uuid
from collections.abc import Iterable, Sequence
from datetime import date, tzinfo
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from langchain_agentmemory.backends.base import (
    MICROSECONDS,
    Backend,
    Batch,
    Page,
    Record,
    Write,
)
from langchain_agentmemory.extraction.mailbox import (
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


def note(backend: Backend, user: "UserKey", deleted: Sequence[Record]) -> None:
    """Note what a user deletes, if something waits to be extracted."""
    head = backend.head(mailbox_of(user))
    if head is None or not head.items:
        return
    now = backend.now()
    texts = [decode(record.value).get("memory") for record in deleted]
    value = {
        "ids": [record.key for record in deleted],
        "words": [
            sorted(hashed_words(text)) for text in texts if isinstance(text, str)
        ],
        "at": now,
    }
    record = Record(
        learning_of(user),
        f"{NOTE}{uuid.uuid4().hex}",
        dump(value),
        expires_at=now + KEPT_FOR,
    )
    backend.commit(Batch([Write(record)]))


def notes(backend: Backend, user: "UserKey") -> list[tuple[int, Forgotten]]:
    """Return what the user deleted, and when, oldest first."""
    found = []
    for record in backend.page(Page(learning_of(user), None, oldest_first=True)):
        if record.key.startswith(NOTE):
            value = load(record.value)
            words = [frozenset(hashes) for hashes in value["words"]]
            found.append((value["at"], Forgotten(value["ids"], words)))
    return found


def period(
    said_at: int, found: Iterable[tuple[int, Forgotten]], timezone: tzinfo
) -> tuple[date, int]:
    """Return when something was said: the day, and after how many deletions.

    Only what was said in one period may become one extraction. It has one date, to
    which "yesterday" refers, and one answer to what was deleted after it.
    """
    day = from_us(said_at).astimezone(timezone).date()
    return day, sum(1 for at, _ in found if at <= said_at)


def since(found: Iterable[tuple[int, Forgotten]], said_at: int) -> Forgotten:
    """Return what was deleted after something was said."""
    later = [forgotten for at, forgotten in found if at > said_at]
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
