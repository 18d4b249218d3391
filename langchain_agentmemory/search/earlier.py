"""What a memory replaced: told beside it in one line, not shown as a memory of its own.

"Lives in Berlin (earlier: Lives in Paris)" says more in less room than two statements
of which one is outdated. A question about the past gets every version.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final, Generic, TypeVar

from langchain_agentmemory.search.cues import time_named, version_asked
from langchain_agentmemory.search.pipeline import Candidate
from langchain_agentmemory.types import MemoryEntry

T = TypeVar("T")

MOST_EARLIER: Final = 3
"""Earlier versions that an entry tells at most."""


def wants_earlier(query: str, now: datetime, timezone: tzinfo) -> bool:
    """Tell whether earlier versions are wanted as memories of their own.

    So it is when the query asks for what held before, for a change, or for a time that
    is over.

    Args:
        query: What the user asked.
        now: The present, aware.
        timezone: Whose days are meant.
    """
    if version_asked(query) in ("past", "both"):
        return True
    when = time_named(query, now, timezone)
    if when is None:
        return False
    return when.side == "before" or (when.end is not None and when.end <= now)


class VersionView(Generic[T]):
    """The memories of one user, seen by version.

    Args:
        find: Returns the item with an id, `None` if it is not kept.
        entry: Returns the memory of an item.
    """

    def __init__(
        self, find: Callable[[str], T | None], entry: Callable[[T], MemoryEntry]
    ) -> None:
        """Remember both."""
        self._find = find
        self._entry = entry

    def current(self, candidates: Iterable[Candidate[T]]) -> list[Candidate[T]]:
        """Put in the place of each replaced memory the one that holds now.

        It gets the better of both scores. What was replaced by something that is not
        kept stays.

        Args:
            candidates: In any order.

        Returns:
            Each memory once; in order if the candidates were.
        """
        found: dict[str, Candidate[T]] = {}
        holding: dict[str, T] = {}
        for candidate in candidates:
            shown = self._holding(candidate, holding)
            known = found.get(shown.id)
            if known is None or known.score < shown.score:
                found[shown.id] = shown
        return list(found.values())

    def _holding(self, candidate: Candidate[T], known: dict[str, T]) -> Candidate[T]:
        """Return what holds in the place of a candidate; `known` grows on the way."""
        item, entry = candidate.item, self._entry(candidate.item)
        seen = {entry.id}
        while (newer := entry.superseded_by) and newer not in seen:
            following = known.get(newer) or self._find(newer)
            if following is None:
                break
            seen.add(newer)
            item, entry = following, self._entry(following)
        if newer not in seen:  # links in a circle lead nowhere in particular
            known.update(dict.fromkeys(seen, item))
        if item is candidate.item:
            return candidate
        return candidate._replace(
            item=item,
            id=entry.id,
            text=entry.memory,
            kind=entry.kind,
            event_time=entry.event_time,
            created_at=entry.created_at,
            updated_at=entry.updated_at,
        )

    def with_earlier(self, entry: MemoryEntry) -> MemoryEntry:
        """Return the entry with the texts of what it replaced, the newest first."""
        if not entry.supersedes:
            return entry
        texts: list[str] = []
        seen, level = {entry.id}, [entry]
        while level and len(texts) < MOST_EARLIER:
            ids = dict.fromkeys(i for e in level for i in e.supersedes if i not in seen)
            seen.update(ids)
            items = [item for i in ids if (item := self._find(i)) is not None]
            level = sorted(map(self._entry, items), key=_age, reverse=True)
            texts += [older.memory for older in level]
        return replace(entry, earlier=tuple(texts[:MOST_EARLIER]))


def _age(entry: MemoryEntry) -> tuple[datetime, str]:
    return entry.created_at, entry.id


def folded(entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """Return a list without what is replaced by something else in it.

    What replaces it tells it as `earlier`. The order stays.
    """
    known = {entry.id: entry for entry in entries}
    view = VersionView(known.get, lambda entry: entry)
    return [
        view.with_earlier(entry)
        for entry in entries
        if entry.superseded_by is None or entry.superseded_by not in known
    ]
