"""What the store should do, as a plain model: dicts, no engine, no index, no bytes.

Written from the rules, not from the code. Expired rows are removed as soon as anybody
looks, which is what readers of the store must believe, too.
"""

from dataclasses import dataclass, field, replace

from langchain_agentmemory.errors import (
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
    NotKept,
)
from langchain_agentmemory.identity import memory_id

FIELDS = ("memory", "topics", "kind", "event_time", "participants", "location")


@dataclass
class Row:
    value: dict
    created: int
    updated: int
    ttl: int | None = None
    expires: int | None = None
    deleted: int | None = None

    @property
    def is_memory(self):
        return isinstance(self.value.get("memory"), str)


@dataclass
class Space:
    """A namespace: active rows, tombstones, latest time, and who replaced whom."""

    last: int = 0
    rows: dict[str, Row] = field(default_factory=dict)
    dead: dict[str, Row] = field(default_factory=dict)
    log: dict[str, list[tuple[int, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rules:
    limit: int | None = None
    evict: bool = False
    on_duplicate: str = "refresh"
    soft: bool = False
    ttl: int | None = None
    lazy: bool = False  # renew when half of the time to live has passed


class Model:
    def __init__(self, rules, clock):
        self.rules = rules
        self.clock = clock
        self.spaces = {}
        self.events = 0

    # -- state ------------------------------------------------------------------------

    def space(self, namespace):
        space = self.spaces.setdefault(namespace, Space())
        for key, row in list(space.rows.items()):
            if row.expires is not None and row.expires <= self.clock():
                self.remove(space, key)
        for key, row in list(space.dead.items()):
            if row.expires is not None and row.expires <= self.clock():
                del space.dead[key]
                space.log.pop(key, None)
        return space

    def all_rows(self, prefix):
        """Everything at and below a prefix, newest first."""
        found = [
            (namespace, key, row)
            for namespace in list(self.spaces)
            if namespace[: len(prefix)] == prefix
            for key, row in self.space(namespace).rows.items()
        ]
        return sorted(found, key=lambda entry: (-entry[2].updated, entry[0]))

    def memories(self, namespace):
        """The memories of a user, newest first."""
        rows = self.space(namespace).rows.items()
        found = [(key, row) for key, row in rows if row.is_memory]
        return sorted(found, key=lambda entry: -entry[1].updated)

    def stamp(self, space):
        space.last = max(self.clock(), space.last + 1)
        return space.last

    def remove(self, space, key):
        space.rows.pop(key, None)
        space.log.pop(key, None)

    def bury(self, space, key):
        """Delete a row: softly if the store does so and it is a memory, or for good."""
        row = space.rows[key]
        if self.rules.soft and row.is_memory:
            del space.rows[key]
            space.dead[key] = replace(row, deleted=self.clock())
        else:
            self.remove(space, key)

    def renew(self, row):
        """Reading renews the time to live, if that gains a half, or one percent."""
        if row.ttl is not None and row.expires is not None:
            renewed = self.clock() + row.ttl
            if renewed - row.expires >= row.ttl // (
                2 if self.rules.lazy and self.rules.ttl else 100
            ):
                row.expires = renewed

    def make_room(self, namespace, growth, planned):
        """Return who has to go, so that the namespace can grow."""
        if self.rules.limit is None or growth <= 0:
            return []
        memories = self.memories(namespace)
        excess = len(memories) + growth - self.rules.limit
        if excess <= 0:
            return []
        oldest = [key for key, _ in reversed(memories) if key not in planned]
        if not self.rules.evict or len(oldest) < excess or self.rules.limit == 0:
            raise MemoryLimitExceeded
        return oldest[:excess]

    # -- memory verbs -----------------------------------------------------------------

    def add(self, user, content, supersedes=(), *, outdated=False):
        """Add; `outdated` says that something superseded this very content."""
        space = self.space(user.namespace)
        key = identity(user, content)
        own = self.squatter(user, space, key)
        old = space.rows.get(key) if own is None else None
        exists = old is not None and old.is_memory
        news = bool(supersedes) or outdated
        if exists and self.rules.on_duplicate == "error" and not news:
            raise MemoryConflict
        if any(k not in space.rows and k not in space.dead for k in supersedes):
            raise MemoryNotFound
        if exists and self.rules.on_duplicate != "refresh":
            return key
        before = old or (space.dead.get(key) if own is None else None)
        value = {**(before.value if before else {}), **content}
        if exists and not content["topics"]:
            value["topics"] = before.value.get("topics") or []
        growth = not exists if own is None else own not in space.rows
        victims = self.make_room(user.namespace, growth, {key, own})
        for victim in victims:
            self.bury(space, victim)
        created = before and before.created
        if own is not None:
            created = space.rows[key].created
            self.move(space, key, own)
        self.store(space, key, value, created, self.rules.ttl)
        return key

    def squatter(self, user, space, key):
        """The id that what was put under another content's id should have."""
        row = space.rows.get(key)
        if row is None or not row.is_memory:
            return None
        own = identity(user, completed(row.value))
        return None if own == key else own

    def move(self, space, key, own):
        """Give an item its own id, unless the same is there already."""
        row, log = space.rows.pop(key), space.log.pop(key, [])
        if own not in space.rows:
            space.dead.pop(own, None)
            row.updated = self.stamp(space)
            space.rows[own] = row
            space.log[own] = log

    def store(self, space, key, value, created, ttl):
        now = self.stamp(space)
        space.dead.pop(key, None)
        expires = None if ttl is None else self.clock() + ttl
        made = now if created is None else created
        space.rows[key] = Row(value, made, now, ttl, expires)

    def update(self, user, key, patch):
        space = self.space(user.namespace)
        row = space.rows.get(key)
        if row is None or not row.is_memory:
            raise MemoryNotFound
        extra = {k: v for k, v in row.value.items() if k not in FIELDS}
        value = {**extra, **completed(row.value), **patch}
        target = identity(user, value)
        if target == key:
            self.store(space, key, value, row.created, row.ttl)
            return key
        own = self.squatter(user, space, target)
        if own is None and target in space.rows:
            raise MemoryConflict
        occupant = space.dead.get(target)
        made = occupant.created if occupant else row.created
        if own is not None:
            self.move(space, target, own)
        self.store(space, target, value, made, row.ttl)
        self.bury(space, key)
        self.events += 1
        space.log.setdefault(target, []).append((self.events, key))
        return target

    def delete(self, user, key):
        space = self.space(user.namespace)
        row = space.rows.get(key)
        if row is None or not row.is_memory:
            return False
        self.bury(space, key)
        return True

    def clear(self, user):
        space = self.space(user.namespace)
        keys = [key for key, _ in self.memories(user.namespace)]
        for key in keys:
            self.bury(space, key)
        return len(keys)

    def restore(self, user, key):
        if not self.rules.soft:
            raise NotKept
        space = self.space(user.namespace)
        if key in space.dead:
            row = space.dead[key]
            for victim in self.make_room(user.namespace, 1, {key}):
                self.bury(space, victim)
            self.store(space, key, row.value, row.created, row.ttl)
        elif key not in space.rows or not space.rows[key].is_memory:
            raise MemoryNotFound
        return key

    def history(self, user, key):
        if not self.rules.soft:
            raise NotKept
        space = self.space(user.namespace)

        def chain(found, until):
            row = space.rows.get(found) or space.dead.get(found)
            if row is None:
                return []
            earlier = [e for e in space.log.get(found, []) if e[0] < until]
            before = chain(earlier[-1][1], earlier[-1][0]) if earlier else []
            return [*before, *([found] if row.is_memory else [])]

        found = chain(key, self.events + 1)
        if not found:
            raise MemoryNotFound
        return found

    def purge(self, namespaces, older_than):
        purged = 0
        for namespace in namespaces:
            space = self.space(namespace)
            for key, row in list(space.dead.items()):
                if older_than is None or row.deleted <= self.clock() - older_than:
                    del space.dead[key]
                    space.log.pop(key, None)
                    purged += 1
        return purged

    def erase(self, user):
        """Forget the user, and the namespaces below that hold something."""
        for namespace in list(self.spaces):
            if namespace[:3] == user.namespace and (
                len(namespace) == 3 or self.space(namespace).rows
            ):
                del self.spaces[namespace]

    # -- LangGraph ---------------------------------------------------------------------

    def put(self, puts):
        """Write items, all or none: `puts` maps (namespace, key) to (value, ttl)."""
        victims = []
        for namespace in {namespace for namespace, _ in puts}:
            space = self.space(namespace)
            mine = {key: given for (ns, key), given in puts.items() if ns == namespace}
            if is_users(namespace):
                after = sum(is_memory(value) for value, _ in mine.values())
                before = sum(
                    key in space.rows and space.rows[key].is_memory for key in mine
                )
                room = self.make_room(namespace, after - before, set(mine))
                victims += [(space, key) for key in room]
        for space, key in victims:
            self.bury(space, key)
        for (namespace, key), (value, ttl) in puts.items():
            space = self.space(namespace)
            old = space.rows.get(key) or space.dead.get(key)
            if value is not None:
                self.store(space, key, value, old and old.created, ttl)
            elif key in space.rows and is_users(namespace):
                self.bury(space, key)
            else:
                self.remove(space, key) if key in space.rows else None


def is_users(namespace):
    return len(namespace) == 3 and namespace[0] == "memories"


def is_memory(value):
    return value is not None and isinstance(value.get("memory"), str)


def identity(user, value):
    """The canonical id of a value, by the published function."""
    from datetime import datetime  # noqa: PLC0415 - beside its only use

    moment = value["event_time"]
    return memory_id(
        value["memory"],
        user.app_name,
        user.user_id,
        kind=value["kind"],
        event_time=None if moment is None else datetime.fromisoformat(moment),
        participants=value["participants"],
        location=value["location"],
    )


def completed(value):
    """All six fields of a memory, also if LangGraph code stored only some."""
    return {
        "memory": value["memory"],
        "topics": value.get("topics") or [],
        "kind": value.get("kind") or "fact",
        "event_time": value.get("event_time"),
        "participants": value.get("participants") or [],
        "location": value.get("location"),
    }
