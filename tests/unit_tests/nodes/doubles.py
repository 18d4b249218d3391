"""A scripted chat model, and a reader of memories that can be told to fail."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from langchain_agentmemory import MemoryEntry, SearchOptions, UserKey

MOMENT = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def entry(text: str, /, **fields: Any) -> MemoryEntry:
    known: dict[str, Any] = {
        "id": f"id-{text[:12]}",
        "app_name": "default",
        "user_id": "alice",
        "memory": text,
        "topics": ("a topic",),
        "kind": "fact",
        "event_time": None,
        "event_precision": None,
        "participants": (),
        "location": None,
        "created_at": MOMENT,
        "updated_at": MOMENT,
    }
    return MemoryEntry(**(known | fields))


class Broken(Exception):
    """What a reader raises when its engine is gone."""


class SyncReader:
    """Reads a list, newest first, and remembers what it was asked."""

    def __init__(self, *memories: str | MemoryEntry, found: Any = None) -> None:
        self.memories = [
            m if isinstance(m, MemoryEntry) else entry(m) for m in memories
        ]
        self.found = found
        self.broken_reads: set[int] = set()
        self.reads: list[int | None] = []
        self.searches: list[tuple[str, SearchOptions]] = []
        self.users: list[UserKey] = []

    def read_memories(self, user: Any, limit: int | None = None) -> list[MemoryEntry]:
        self.users.append(user)
        self.reads.append(limit)
        if len(self.reads) in self.broken_reads:
            raise Broken
        return self.memories if limit is None else self.memories[:limit]

    def search_memories(
        self, user: Any, query: str, options: SearchOptions | None = None, **_: Any
    ) -> list[MemoryEntry]:
        self.users.append(user)
        assert options is not None
        self.searches.append((query, options))
        if self.found is Broken:
            raise Broken
        return list(self.found or [])


class Reader(SyncReader):
    """The same with async twins, and a revision that tests can move."""

    def __init__(self, *memories: str | MemoryEntry, found: Any = None) -> None:
        super().__init__(*memories, found=found)
        self.changes = 1

    async def aread_memories(
        self, user: Any, limit: int | None = None
    ) -> list[MemoryEntry]:
        return self.read_memories(user, limit)

    async def asearch_memories(
        self, user: Any, query: str, options: SearchOptions | None = None, **_: Any
    ) -> list[MemoryEntry]:
        return self.search_memories(user, query, options)

    def revision(self, user: Any) -> int:
        assert isinstance(user, UserKey)
        return self.changes

    async def arevision(self, user: Any) -> int:
        return self.revision(user)

    def forget(self, memory: str) -> None:
        self.memories = [m for m in self.memories if m.memory != memory]
        self.changes += 1


class ScriptedModel(BaseChatModel):
    """Says what it was told to say, and keeps what it was asked."""

    script: list[AIMessage] = Field(default_factory=list)
    asked: list[list[BaseMessage]] = Field(default_factory=list)
    bound: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.bound.append([tool.name for tool in tools])
        return self

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self.asked.append(messages)
        turn = len(self.asked) - 1
        return self.script[turn] if turn < len(self.script) else AIMessage("all done")

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages)
        for word in str(answer.content).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))


def calls(name: str, **args: Any) -> AIMessage:
    """Return an answer that calls one tool."""
    return AIMessage(
        "", tool_calls=[{"name": name, "args": args, "id": f"call-{name}"}]
    )


def systems(messages: list[BaseMessage]) -> list[str]:
    """Return the texts of the system messages."""
    return [str(m.text) for m in messages if m.type == "system"]


def everything_saved(saver: Any) -> bytes:
    """Return all that an `InMemorySaver` holds, as it holds it."""
    return repr((saver.storage, saver.writes, saver.blobs)).encode()
