"""The tools that change what is remembered: add, update, delete, clear."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from langchain_agentmemory.errors import InvalidInput, MemoryNotFound
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.tools.arguments import (
    AddArguments,
    ClearArguments,
    DeleteArguments,
    Runtime,
    UpdateArguments,
)
from langchain_agentmemory.tools.base import MemoryTool
from langchain_agentmemory.tools.failures import told_to_model
from langchain_agentmemory.tools.plain_text import detail
from langchain_agentmemory.tools.rendering import memory_line
from langchain_agentmemory.types import MemoryEntry

Answer = tuple[str, Any]
"""Text for the model, artifact for the program."""


class MemoryAddTool(MemoryTool):
    """Stores a memory; the artifact is its `MemoryEntry`."""

    name: str = "memory_add"
    description: str = (
        "Remember one lasting thing about the current user of this application: a "
        "preference, a fact, a plan, something that happened. Do so at once when the "
        "user asks you to remember something. If you correct something that is "
        "remembered already, use memory_update. Returns the id of the memory."
    )
    args_schema: type[BaseModel] = AddArguments

    def _run(self, memory: str, runtime: Runtime = None, **details: Any) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            entry = store.add_memory(user, _text(memory), **added(details))
        return f"Saved: {memory_line(entry)}", entry

    async def _arun(
        self, memory: str, runtime: Runtime = None, **details: Any
    ) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            entry = await store.aadd_memory(user, _text(memory), **added(details))
        return f"Saved: {memory_line(entry)}", entry


class MemoryUpdateTool(MemoryTool):
    """Changes a memory; the artifact is the `MemoryEntry` as it is now."""

    name: str = "memory_update"
    description: str = (
        "Correct or refine one memory of the current user of this application. Better "
        "than adding nearly the same thing again. Do so at once when the user corrects "
        "something. Fields that you leave out stay as they are. The id can change; the "
        "answer says the new one."
    )
    args_schema: type[BaseModel] = UpdateArguments

    def _run(
        self, memory_id: str, memory: str = "", runtime: Runtime = None, **details: Any
    ) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            which, text = _id(memory_id), _text(memory)
            entry = store.update_memory(user, which, text, **updated(details))
        return _now(entry, memory_id), entry

    async def _arun(
        self, memory_id: str, memory: str = "", runtime: Runtime = None, **details: Any
    ) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            which, text = _id(memory_id), _text(memory)
            entry = await store.aupdate_memory(user, which, text, **updated(details))
        return _now(entry, memory_id), entry


class MemoryDeleteTool(MemoryTool):
    """Deletes a memory; the artifact is its id."""

    name: str = "memory_delete"
    description: str = (
        "Delete one memory of the current user of this application, when the user "
        "clearly wants it forgotten or it was never true. To correct something, use "
        "memory_update instead."
    )
    args_schema: type[BaseModel] = DeleteArguments

    def _run(self, memory_id: str, runtime: Runtime = None) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            _require(store.delete_memory(user, _id(memory_id)), memory_id)
        return f"Deleted the memory [{detail(memory_id)}].", memory_id

    async def _arun(self, memory_id: str, runtime: Runtime = None) -> Answer:
        with told_to_model():
            store, user = self.target(runtime)
            _require(await store.adelete_memory(user, _id(memory_id)), memory_id)
        return f"Deleted the memory [{detail(memory_id)}].", memory_id


class MemoryClearTool(MemoryTool):
    """Deletes all memories of the user; the artifact is how many there were."""

    name: str = "memory_clear"
    description: str = (
        "Delete everything that is remembered about the current user of this "
        "application. Only when the user explicitly asks to forget everything."
    )
    args_schema: type[BaseModel] = ClearArguments

    def _run(self, reason: str | None = None, runtime: Runtime = None) -> Answer:  # noqa: ARG002
        with told_to_model():
            store, user = self.target(runtime)
            count = store.clear_memories(user)
        return _cleared(count), count

    async def _arun(self, reason: str | None = None, runtime: Runtime = None) -> Answer:  # noqa: ARG002
        with told_to_model():
            store, user = self.target(runtime)
            count = await store.aclear_memories(user)
        return _cleared(count), count


def added(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of `add_memory`: empty means not given."""
    return {
        "topics": tuple(details.get("topics") or ()),
        "kind": details.get("memory_kind") or None,
        "event_time": (details.get("event_time") or "").strip() or None,
        "participants": tuple(details.get("participants") or ()),
        "location": details.get("location") or None,
    }


def updated(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of `update_memory`: `None` keeps, empty clears."""
    topics, names = details.get("topics"), details.get("participants")
    event_time = details.get("event_time")
    return {
        "topics": None if topics is None else tuple(topics),
        # A memory always has a kind, so an empty one can only mean "as it is".
        "kind": details.get("memory_kind") or None,
        "event_time": None if event_time is None else event_time.strip(),
        "participants": None if names is None else tuple(names),
        "location": details.get("location"),
    }


def _text(memory: str) -> str:
    if not memory:
        msg = "The memory text is required: write down what to remember."
        raise InvalidInput(msg)
    return memory


def _id(memory_id: str) -> str:
    if not memory_id:
        msg = "The memory_id is required: memory_search and memory_load show ids."
        raise InvalidInput(msg)
    return memory_id


def _require(found: bool, memory_id: str) -> None:  # noqa: FBT001 - a verb's answer
    if not found:
        msg = f"This user has no memory with the id {quoted(memory_id)}."
        raise MemoryNotFound(msg)


def _now(entry: MemoryEntry, asked: str) -> str:
    line = memory_line(entry)
    if entry.id == asked:
        return f"Updated: {line}"
    return f"Updated, with a new id (was {detail(asked)}): {line}"


def _cleared(count: int) -> str:
    memories = "1 memory" if count == 1 else f"{count} memories"
    return f"Deleted everything: {memories} of this user."
