"""Doing what a policy let through: one operation at a time, on one user's memories."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from langchain_agentmemory.errors import (
    InvalidInput,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
)
from langchain_agentmemory.extraction.forgotten import Forgotten
from langchain_agentmemory.service.plans import Plan, run
from langchain_agentmemory.service.records import draft
from langchain_agentmemory.service.verbs import Patch, Verbs
from langchain_agentmemory.types import MemoryEntry, Operation, UserKey

if TYPE_CHECKING:
    from langchain_agentmemory.service.service import Service

T = TypeVar("T")

Status = Literal["done", "skipped", "refused"]

TOOL_OF: Final = {
    "add": "memory_add",
    "update": "memory_update",
    "delete": "memory_delete",
    "clear": "memory_clear",
}
"""The memory tool that must be enabled for each type of operation."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one operation.

    Attributes:
        operation: What was to be done.
        status: `"done"`; `"skipped"`, because there was nothing to do or it is not
            allowed; `"refused"` by the store, for example at the limit.
        reason: Why it was skipped or refused.
        entry: The memory as stored, if one was.
    """

    operation: Operation
    status: Status
    reason: str = ""
    entry: MemoryEntry | None = None


class Applier:
    """Does operations on the memories of one user.

    Args:
        service: The store's service.
        user: Whose memories.
        enabled: Names of the tools that may be used, `None` = all.
        verbs: The rules, if not the service's own: on a fenced backend, for example.
        forgotten: What the user had forgotten since it was said.
    """

    def __init__(
        self,
        service: "Service",
        user: UserKey,
        *,
        enabled: frozenset[str] | None = None,
        verbs: Verbs | None = None,
        forgotten: Forgotten | None = None,
    ) -> None:
        """Remember the parts."""
        self._service = service
        self._user = user
        self._enabled = enabled
        self._verbs = verbs or service.verbs
        self._forgotten = forgotten

    def apply(self, operation: Operation) -> Outcome:
        """Do one operation.

        What the store refuses is an outcome. What may pass later is raised.

        Raises:
            BackendUnavailable: If the store cannot be written.
            LeaseLost: If the mailbox is no longer this worker's.
        """
        tool = TOOL_OF.get(operation.type)
        if tool is None:
            return Outcome(operation, "skipped", f"unknown type {operation.type!r}")
        if self._enabled is not None and tool not in self._enabled:
            return Outcome(operation, "skipped", f"{tool} is not enabled")
        doing: dict[str, Callable[[Operation], Outcome]] = {
            "add": self._add,
            "update": self._update,
            "delete": self._delete,
            "clear": self._clear,
        }
        try:
            return doing[operation.type](operation)
        except (InvalidInput, MemoryConflict, MemoryLimitExceeded) as error:
            return Outcome(operation, "refused", str(error))

    def _add(self, operation: Operation) -> Outcome:
        content = draft(
            operation.memory or "",
            topics=operation.topics or (),
            kind=operation.kind,
            event_time=operation.event_time,
            participants=operation.participants or (),
            location=operation.location,
            timezone=self._service.settings.timezone,
        )
        key = content.id_for(self._user)
        if self._is_forgotten(key, content.memory):
            return Outcome(operation, "skipped", "the user deleted it meanwhile")
        source = operation.source
        entry = self._run(
            self._verbs.add(
                self._user,
                content,
                source=None if source is None else self._service.dated(source),
                supersedes=self._kept(operation.supersedes, key),
            )
        )
        return Outcome(operation, "done", entry=entry)

    def _update(self, operation: Operation) -> Outcome:
        target = operation.memory_id or ""
        if self._is_forgotten(target, operation.memory or ""):
            return Outcome(operation, "skipped", "the user deleted it meanwhile")
        source = operation.source
        patch = Patch(
            operation.memory,
            operation.topics,
            operation.kind,
            operation.event_time,
            operation.participants,
            operation.location,
            None if source is None else self._service.dated(source),
        )
        patch.check(self._service.settings.timezone)
        try:
            entry = self._run(self._verbs.update(self._user, target, patch))
        except MemoryNotFound:
            if self._enabled is not None and "memory_add" not in self._enabled:
                return Outcome(operation, "skipped", "there is no such memory")
            added = self._add(replace(operation, type="add", memory_id=None))
            return replace(added, operation=operation)
        return Outcome(operation, "done", entry=entry)

    def _delete(self, operation: Operation) -> Outcome:
        found = self._run(self._verbs.delete(self._user, operation.memory_id or ""))
        if not found:
            return Outcome(operation, "skipped", "there is no such memory")
        return Outcome(operation, "done")

    def _clear(self, operation: Operation) -> Outcome:
        self._run(self._verbs.clear(self._user))
        return Outcome(operation, "done")

    def _is_forgotten(self, key: str, memory: str) -> bool:
        return self._forgotten is not None and self._forgotten.covers(key, memory)

    def _kept(self, ids: Iterable[str], key: str) -> tuple[str, ...]:
        """Return those of some ids that still lead to a memory."""
        wanted = [memory_id for memory_id in ids if memory_id != key]
        if not wanted:
            return ()
        found = self._verbs.kept(self._user, wanted)
        return tuple(memory_id for memory_id in wanted if memory_id in found)

    def _run(self, plan: Plan[T]) -> T:
        return run(plan, self._service.answer)
