"""From statements to memories, and from memories to a file."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.service.records import draft
from langchain_agentmemory.transfer.json_lines import lines_of
from langchain_agentmemory.transfer.statements import Statement
from langchain_agentmemory.types import MemoryEntry, UserKey

if TYPE_CHECKING:
    from langchain_agentmemory.store import MemoryStore


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        added: Memories that were written.
        known: Statements that the user had already, or that the file repeats.
        refused: Statements that the store did not take, with its reasons.
    """

    added: int = 0
    known: int = 0
    refused: tuple[str, ...] = ()


def import_statements(
    store: "MemoryStore",
    user: UserKey,
    statements: Iterable[Statement],
    *,
    on_progress: Callable[[], None] | None = None,
) -> Imported:
    """Write statements as memories of a user, in their order.

    What the user has already is left alone, so an import that was interrupted can
    simply be run again. Ids differ between users; links from a memory to those it
    replaced are translated.

    Args:
        store: Where to write.
        user: Whose memories they become.
        statements: What to write.
        on_progress: Called after every statement.

    Raises:
        MemoryStoreError: If the store cannot take more. What was written stays.
    """
    known = {entry.id for entry in store.read_memories(user)}
    ids: dict[str, str] = {}
    done = Imported()
    for statement in statements:
        try:
            done = _import_one(store, user, statement, known, ids, done)
        except InvalidInput as error:
            done = replace(done, refused=(*done.refused, str(error)))
        if on_progress is not None:
            on_progress()
    return done


def _import_one(  # noqa: PLR0913, PLR0917 - the state of one loop
    store: "MemoryStore",
    user: UserKey,
    statement: Statement,
    known: set[str],
    ids: dict[str, str],
    done: Imported,
) -> Imported:
    content = draft(
        statement.memory,
        topics=statement.topics,
        kind=statement.kind,
        event_time=statement.event_time,
        participants=statement.participants,
        location=statement.location,
        timezone=store.settings.timezone,
    )
    key = content.id_for(user)
    if statement.id is not None:
        ids[statement.id] = key
    if key in known:
        return replace(done, known=done.known + 1)
    store.add_memory(
        user,
        statement.memory,
        topics=statement.topics,
        kind=statement.kind,
        event_time=statement.event_time,
        participants=statement.participants,
        location=statement.location,
        source=statement.source,
        supersedes=tuple(
            ids[old] for old in statement.supersedes if ids.get(old) in known
        ),
    )
    known.add(key)
    return replace(done, added=done.added + 1)


def export_entries(
    entries: Sequence[MemoryEntry],
    path: str | Path,
    *,
    on_progress: Callable[[], None] | None = None,
) -> None:
    """Write memories to a file as JSON Lines.

    The file appears, or changes, only when it is complete.

    Args:
        entries: The memories, in any order.
        path: The file. Its folder has to exist.
        on_progress: Called after every memory.

    Raises:
        InvalidInput: If the file cannot be written.
    """
    target = Path(path)
    try:
        with _replacing(target) as file:
            for line in lines_of(entries):
                file.write(line)
                if on_progress is not None:
                    on_progress()
    except OSError as error:
        msg = f"Cannot write {target}: {error.strerror or error}."
        raise InvalidInput(msg) from error


@contextmanager
def _replacing(target: Path) -> Iterator[IO[str]]:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
