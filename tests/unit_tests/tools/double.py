"""A small memory store for testing the tools alone: a dict with the verbs' rules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from langchain_agentmemory.errors import (
    InvalidInput,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
)
from langchain_agentmemory.identity import memory_id as canonical_id
from langchain_agentmemory.identity import normalize_participants
from langchain_agentmemory.times import parse_event_time
from langchain_agentmemory.types import MemoryEntry
from langchain_agentmemory.users import as_user_key


class DictStore:
    """Memories of all users in one dict by owner and id."""

    def __init__(self, *, limit=1000, timezone=UTC, app_name="default"):
        self.limit = limit
        self.timezone = timezone
        self.app_name = app_name
        self.entries = {}
        self.searches = []
        self.clock = datetime(2026, 1, 1, tzinfo=UTC)

    def _now(self):
        self.clock += timedelta(microseconds=1)
        return self.clock

    def _own(self, user):
        return self.entries.setdefault(as_user_key(user, self.app_name), {})

    def _with_id(self, entry):
        found = canonical_id(
            entry.memory,
            entry.app_name,
            entry.user_id,
            kind=entry.kind,
            event_time=entry.event_time,
            participants=entry.participants,
            location=entry.location,
        )
        return replace(entry, id=found)

    def _when(self, value):
        if value is None or value == "":
            return {"event_time": None, "event_precision": None}
        moment, precision = parse_event_time(value, self.timezone)
        return {"event_time": moment, "event_precision": precision}

    def add_memory(  # noqa: PLR0913 - the fields of a memory
        self,
        user,
        memory,
        *,
        topics=(),
        kind=None,
        event_time=None,
        participants=(),
        location=None,
    ):
        if not memory:
            msg = "The memory text is required."
            raise InvalidInput(msg)
        key, now = as_user_key(user, self.app_name), self._now()
        entry = self._with_id(
            MemoryEntry(
                id="",
                app_name=key.app_name,
                user_id=key.user_id,
                memory=memory,
                topics=tuple(topics),
                kind=kind or "fact",
                participants=normalize_participants(participants),
                location=location,
                created_at=now,
                updated_at=now,
                **self._when(event_time),
            )
        )
        own = self._own(user)
        if entry.id in own:
            entry = replace(entry, created_at=own[entry.id].created_at)
        elif len(own) >= self.limit:
            msg = f"The limit of {self.limit} memories is reached."
            raise MemoryLimitExceeded(msg)
        own[entry.id] = entry
        return entry

    def update_memory(self, user, memory_id, memory=None, **patch):
        own = self._own(user)
        if memory_id not in own:
            msg = f"No memory has the id {memory_id}."
            raise MemoryNotFound(msg)
        old = own[memory_id]
        changes = {name: value for name, value in patch.items() if value is not None}
        if "event_time" in changes:
            changes |= self._when(changes["event_time"])
        if memory is not None:
            changes["memory"] = memory
        new = self._with_id(replace(old, updated_at=self._now(), **changes))
        if new.id != old.id and new.id in own:
            msg = "Another memory says this already."
            raise MemoryConflict(msg)
        del own[memory_id]
        own[new.id] = new
        return new

    def delete_memory(self, user, memory_id):
        return self._own(user).pop(memory_id, None) is not None

    def clear_memories(self, user):
        own = self._own(user)
        count = len(own)
        own.clear()
        return count

    def read_memories(self, user, limit=None):
        newest = sorted(self._own(user).values(), key=lambda e: e.updated_at)[::-1]
        return newest if limit is None else newest[:limit]

    def search_memories(self, user, query, options=None, **_):
        self.searches.append((query, options))
        words = set(query.lower().split())
        found = [
            entry.with_score(
                len(words & set(entry.memory.lower().split())) / len(words)
            )
            for entry in self.read_memories(user)
            if words & set(entry.memory.lower().split())
        ]
        found = [entry for entry in found if self._in_time(entry, options)]
        return sorted(found, key=lambda e: -e.score)[: options.limit]

    def _in_time(self, entry, options):
        if entry.event_time is None:
            return True
        after, before = options.time_after, options.time_before
        return not (
            (after and entry.event_time < after)
            or (before and entry.event_time > before)
        )

    async def aadd_memory(self, *args, **kwargs):
        return self.add_memory(*args, **kwargs)

    async def aupdate_memory(self, *args, **kwargs):
        return self.update_memory(*args, **kwargs)

    async def adelete_memory(self, *args):
        return self.delete_memory(*args)

    async def aclear_memories(self, *args):
        return self.clear_memories(*args)

    async def aread_memories(self, *args):
        return self.read_memories(*args)

    async def asearch_memories(self, *args, **kwargs):
        return self.search_memories(*args, **kwargs)
