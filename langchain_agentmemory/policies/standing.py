"""The memories as the decisions so far have left them.

Operations of one batch are carried out one after another, so the second must be judged
by what the first one leaves. An update moves a memory to the id of its new content;
what follows in the batch has to name that id.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from langchain_agentmemory.policies.content import Content, is_same, stored
from langchain_agentmemory.types import MemoryEntry


@dataclass(slots=True)
class Standing:
    """A memory at this point of the batch.

    Attributes:
        id: Its id now. `""` for a new one whose id cannot be known.
        content: What it says now.
        entry: The memory as it was stored, `None` if this batch adds it.
        written: Whether this batch has written it.
        replaced_by: The id of the memory that holds instead of it, if any.
    """

    id: str
    content: Content
    entry: MemoryEntry | None = None
    written: bool = False
    replaced_by: str | None = None

    @property
    def shown(self) -> MemoryEntry | None:
        """The memory as it is now, for the explanation of a decision."""
        if self.entry is None or not self.written:
            return self.entry
        content = self.content
        return replace(
            self.entry,
            id=self.id,
            memory=content.memory,
            topics=content.topics,
            kind=content.kind,
            event_time=content.event_time.at if content.event_time else None,
            event_precision=(
                content.event_time.precision if content.event_time else None
            ),
            participants=content.participants,
            location=content.location,
            score=None,
        )


class StandingMemories:
    """The memories that a batch is judged against.

    Args:
        existing: The memories that are stored. Of several with one id the last counts.
    """

    def __init__(self, existing: Iterable[MemoryEntry | None]) -> None:
        """Take over what is stored."""
        self._all: dict[str, Standing] = {}
        self._added: list[Standing] = []
        self._moved: dict[str, str] = {}
        self._deleted: set[str] = set()
        self._cleared = False
        self._owner: tuple[str, str] | None = None
        for entry in existing:
            if entry is not None:
                self.meet(entry)

    def meet(self, entry: MemoryEntry) -> Standing | None:
        """Return the memory as the batch left it, `None` if the batch deleted it."""
        self._owner = self._owner or (entry.app_name, entry.user_id)
        if entry.id in self._moved or entry.id in self._deleted or self._cleared:
            return self.find(entry.id)
        known = self._all.get(entry.id)
        if known is None or not known.written:
            replaced_by = known.replaced_by if known else None
            known = Standing(
                entry.id,
                stored(entry),
                entry,
                replaced_by=replaced_by or entry.superseded_by,
            )
            self._all[entry.id] = known
        return known

    def find(self, memory_id: str | None) -> Standing | None:
        """Return the memory that an operation means by an id, if it is known."""
        return self._all.get(self.id_now(memory_id or ""))

    def id_now(self, memory_id: str) -> str:
        """Return the id to which this batch has moved a memory."""
        return self._moved.get(memory_id, memory_id)

    def head(self, standing: Standing) -> Standing:
        """Return the memory that holds instead of this one, itself if none is known."""
        seen = {standing.id}
        while standing.replaced_by and standing.replaced_by not in seen:
            seen.add(standing.replaced_by)
            following = self.find(standing.replaced_by)
            if following is None:
                break
            standing = following
        return standing

    def holding(self) -> Iterator[Standing]:
        """Iterate over the stored memories that hold: not replaced by newer ones."""
        return (one for one in self._all.values() if one.replaced_by is None)

    def repeated(self, content: Content) -> Standing | None:
        """Return the memory that says exactly the same and holds, if there is one."""
        candidates = (*self.holding(), *self._added)
        return next((one for one in candidates if is_same(one.content, content)), None)

    def is_outdated(self, content: Content) -> bool:
        """Tell whether a memory says exactly this that no longer holds."""
        return any(
            one.replaced_by is not None and is_same(one.content, content)
            for one in self._all.values()
        )

    def repeated_in_batch(self, content: Content) -> Standing | None:
        """Return what this batch has written that says exactly the same, if any."""
        candidates = (*(one for one in self._all.values() if one.written), *self._added)
        return next((one for one in candidates if is_same(one.content, content)), None)

    def update(self, standing: Standing, content: Content) -> None:
        """Take note that a memory now says something else."""
        old = standing.id
        if standing.entry is not None:
            new = content.id_for(standing.entry.app_name, standing.entry.user_id)
            self._all.pop(old, None)
            for given, now in [*self._moved.items(), (old, old)]:
                if now == old:
                    self._moved[given] = new
            standing.id = new
            self._all[new] = standing
        standing.content = content
        standing.written = True

    def add(self, content: Content, supersedes: Iterable[str] = ()) -> None:
        """Take note that there is one more memory, which may replace others."""
        added = Standing(
            content.id_for(*self._owner) if self._owner else "", content, written=True
        )
        replaced = [one for one in map(self.find, supersedes) if one is not None]
        if replaced and added.id:
            self._all[added.id] = added
            for one in replaced:
                one.replaced_by = added.id
        else:
            self._added.append(added)

    def delete(self, memory_id: str) -> None:
        """Take note that a memory is gone."""
        now = self.id_now(memory_id)
        self._deleted.add(now)
        self._all.pop(now, None)
        self._added = [one for one in self._added if one.id != now]

    def clear(self) -> None:
        """Take note that all memories are gone."""
        self._cleared = True
        self._all.clear()
        self._added.clear()
