"""Versions: which memory replaced which, and since when.

Identity of content and version are two things. A memory is *current* unless a newer
one supersedes it. Both ends of a link are stored beside the values, and each transition
is a line in the log of the memory that took over, so that a history can be told even
when something old becomes true again: Paris, Berlin, Paris.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Literal

from langchain_agentmemory.backends.base import Record
from langchain_agentmemory.errors import InvalidInput, MemoryNotFound
from langchain_agentmemory.quoting import named, quoted
from langchain_agentmemory.service.changes import Changes, changed
from langchain_agentmemory.service.records import (
    Meta,
    Transition,
    decode_meta,
    encode_meta,
)
from langchain_agentmemory.types import distinct

LONGEST_HISTORY: Final = 1_000


def supersede(changes: Changes, key: str, replaced: Iterable[str]) -> None:
    """Make one memory the valid version instead of others.

    Args:
        changes: The unit of work; it holds, or plans, a record under `key`.
        key: The memory that holds now.
        replaced: The memories that held before.

    Raises:
        InvalidInput: If a memory would supersede itself.
        MemoryNotFound: If one of the others does not exist.
    """
    olds = distinct(replaced)
    if key in olds:
        msg = (
            "A memory cannot supersede itself: supersedes names the older memories "
            "that the new text replaces."
        )
        raise InvalidInput(msg)
    changes.prefetch([key, *olds])
    for old in olds:
        if changes.kept(old) is None:
            msg = (
                f"supersedes names {quoted(old)}, but this user has no such memory: "
                f"pass ids "
                f"as read_memories or search_memories returned them."
            )
            raise MemoryNotFound(msg)
    for old in olds:
        earlier = decode_meta(_required(changes, old).meta).superseded_by
        if earlier not in {None, key}:  # one memory replaces another, not two
            _edit(changes, str(earlier), partial(_without_one, gone=old))
        # What now holds no longer counts as replaced by what it replaces.
        _edit(changes, old, lambda meta: _replaced(meta, by=key))
    if olds:
        _edit(
            changes, key, lambda meta: _take_over(meta, changes, key, olds, "version")
        )


def make_current(changes: Changes, key: str) -> None:
    """Let a superseded memory hold again, instead of the one that replaced it.

    A memory that comes back from deletion no longer claims to replace what something
    else has replaced meanwhile.
    """
    lost = {
        old
        for old in _supersedes(changes, key)
        if changes.kept(old) is not None and _by(changes, old) != key
    }
    if lost:
        _edit(changes, key, lambda meta: _without(meta, *lost))
    record = changes.kept(key)
    newer = decode_meta(record.meta).superseded_by if record else None
    if newer is None:
        return
    current = _current(changes, newer, key)
    _edit(changes, key, lambda meta: meta._replace(superseded_by=None))
    if current is not None:
        supersede(changes, key, [current])
    if newer != current and changes.kept(newer) is not None:
        _edit(
            changes,
            newer,
            lambda meta: meta._replace(
                supersedes=tuple(i for i in meta.supersedes if i != key)
            ),
        )


def rotate(changes: Changes, old: str, new: str, *, logged: bool = True) -> None:
    """Let the links of a rotated memory lead to its new id, and log the rotation.

    The new id may have had links of its own, in an earlier life: what it replaced then
    it still replaces; what replaced it then gives way to what replaces the old id.
    """
    record, target = changes.kept(old), changes.kept(new)
    if record is None or target is None:
        return
    meta, own = decode_meta(record.meta), decode_meta(target.meta)
    links = (*own.supersedes, *meta.supersedes)
    replaced = distinct(i for i in links if i != new and _by(changes, i) in {new, old})
    for before in replaced:
        _edit(changes, before, lambda other: _replaced(other, by=new))
    after = None if meta.superseded_by == new else meta.superseded_by
    if after is not None and _leads_to(changes, after, new):
        after = None  # what replaced the old text was itself replaced by the new one
    for claimant in (own.superseded_by, meta.superseded_by):
        if claimant is not None and claimant not in {new, after}:
            _edit(changes, claimant, lambda other: _without(other, old, new))
    if after is not None:
        _edit(
            changes,
            after,
            lambda other: other._replace(
                supersedes=distinct(new if i == old else i for i in other.supersedes)
            ),
        )
    replaced = tuple(i for i in replaced if i != after)
    _edit(
        changes,
        new,
        lambda mine: (
            _take_over(mine, changes, new, (old,), "rotation") if logged else mine
        )._replace(supersedes=replaced, superseded_by=after),
    )


def _leads_to(changes: Changes, start: str, end: str) -> bool:
    """Tell whether following `superseded_by` from one memory reaches another."""
    found: str | None = start
    seen: set[str] = set()
    while found is not None and found not in seen:
        if found == end:
            return True
        seen.add(found)
        found = _by(changes, found)
    return False


def _supersedes(changes: Changes, key: str) -> tuple[str, ...]:
    record = changes.kept(key)
    return decode_meta(record.meta).supersedes if record else ()


def _by(changes: Changes, key: str) -> str | None:
    """Return what replaced a memory, `None` if nothing did or it is not kept."""
    record = changes.kept(key)
    return decode_meta(record.meta).superseded_by if record else None


def _replaced(meta: Meta, *, by: str) -> Meta:
    return _without(meta, by)._replace(superseded_by=by)


def _without_one(meta: Meta, gone: str) -> Meta:
    return _without(meta, gone)


def _without(meta: Meta, *ids: str) -> Meta:
    return meta._replace(supersedes=tuple(i for i in meta.supersedes if i not in ids))


def history(read: Callable[[str], Record | None], key: str) -> list[Record]:
    """Return the records that led to a memory, oldest first, itself last.

    Args:
        read: Returns the active or soft-deleted record under an id.
        key: The memory whose history is told.
    """
    chain: list[Record] = []
    pending: list[tuple[str, int | None]] = [(key, None)]
    while pending and len(chain) < LONGEST_HISTORY:
        found, until = pending.pop()
        record = read(found)
        if record is None:
            continue
        chain.append(record)
        log = [
            line
            for line in decode_meta(record.meta).log
            if until is None or line.at < until
        ]
        if log:
            latest = max(line.at for line in log)
            pending.extend((line.replaced, latest) for line in log if line.at == latest)
    chain.reverse()
    return chain


def _current(changes: Changes, start: str, end: str) -> str | None:
    """Follow `superseded_by` to the memory that holds; `None` if none is kept."""
    found, seen = start, {end}
    while found not in seen:
        seen.add(found)
        record = changes.kept(found)
        if record is None:
            return None
        newer = decode_meta(record.meta).superseded_by
        if newer is None:
            return found
        found = newer
    return None


def _take_over(
    meta: Meta,
    changes: Changes,
    key: str,
    olds: tuple[str, ...],
    how: Literal["rotation", "version"],
) -> Meta:
    at = _moment(changes, (key, *olds))
    for old in olds:
        meta = meta.logged(Transition(old, at, how))
    if how == "version":
        newer = None if meta.superseded_by in olds else meta.superseded_by
        meta = meta._replace(
            supersedes=distinct((*meta.supersedes, *olds)), superseded_by=newer
        )
    return meta


def _moment(changes: Changes, keys: Iterable[str]) -> int:
    """Return now, or later: after everything that these memories remember."""
    latest = changes.now
    for key in keys:
        record = changes.kept(key)
        if record is not None:
            for line in decode_meta(record.meta).log:
                latest = max(latest, line.at + 1)
    return latest


def _required(changes: Changes, key: str) -> Record:
    record = changes.kept(key)
    if record is None:  # looked up before: see `supersede`
        msg = f"memory with id {named(key)} not found any more: read it again."
        raise MemoryNotFound(msg)
    return record


def _edit(changes: Changes, key: str, edit: Callable[[Meta], Meta]) -> None:
    record = changes.kept(key)
    if record is None:
        return
    meta = encode_meta(edit(decode_meta(record.meta)))
    if meta != record.meta:
        changes.write(changed(record, meta=meta), stamp=False)
