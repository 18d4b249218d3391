"""One conversation with an agent that has a memory, as a stream of what happens."""

import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_agentmemory.cli.learning import is_left_over
from langchain_agentmemory.middleware import MemoryMiddleware
from langchain_agentmemory.offline.model import OfflineChatModel
from langchain_agentmemory.offline.recall import Known, message_text, preloaded
from langchain_agentmemory.store import MemoryStore

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_PROMPT = (
    "You are a friendly assistant in a terminal. Answer briefly, in the language of "
    "the user. "
)
_WITH_TOOLS = (
    "Keep what the user tells you about themselves with the memory tools, and correct "
    "what has changed."
)
_BY_ITSELF = (
    "What the user tells you about themselves, corrects, or asks you to forget, is "
    "taken care of after your answer, without you: acknowledge it, and do not say that "
    "you cannot remember or forget."
)

_WRITING: Final = frozenset({"memory_add", "memory_update"})


@dataclass(frozen=True, slots=True)
class Preloaded:
    """Memories were put before the model."""

    memories: list[Known]


@dataclass(frozen=True, slots=True)
class Called:
    """The model called a tool."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Returned:
    """A tool answered."""

    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Spoken:
    """The model said a part of its answer."""

    text: str


Event = Preloaded | Called | Returned | Spoken


class _Watch(AgentMiddleware[Any, Any, Any]):
    """Notes which memories stand in what the model is about to read.

    While nothing is to be learnt it also takes the tools away that keep something.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Known] = []
        self.paused = False

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Look, and let the model be called."""
        return handler(self._looked_at(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Async twin of `wrap_model_call`."""
        return await handler(self._looked_at(request))

    def _looked_at(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        system = request.system_message
        self.seen = preloaded([*([system] if system else []), *request.messages])
        if not self.paused:
            return request
        kept = [t for t in request.tools if getattr(t, "name", None) not in _WRITING]
        return request.override(tools=kept)


class Conversation:
    """An agent with a memory, and the thread that it is in.

    Args:
        store: The memory.
        model: The model.
        user: Whose memory it uses.
    """

    def __init__(self, store: MemoryStore, model: BaseChatModel, user: str) -> None:
        """Build the agent and begin a thread."""
        self._watch = _Watch()
        memory = MemoryMiddleware(store)
        self.tools = sorted(tool.name for tool in memory.tools)
        # An agent that cannot write has an extractor that does.
        keeping = _WITH_TOOLS if _WRITING & set(self.tools) else _BY_ITSELF
        self._store = store
        if isinstance(model, OfflineChatModel) and store.extractor is not None:
            model = model.model_copy(update={"kept": self._is_kept})
        # The watch comes last, so that it sees what the memory middleware put in.
        self._agent = create_agent(
            model,
            system_prompt=_PROMPT + keeping,
            middleware=[memory, self._watch],
            checkpointer=InMemorySaver(),
            store=store,
        )
        self.user = user
        self.thread_id = ""
        self.begin_thread()

    def begin_thread(self) -> None:
        """Begin a new thread: nothing that was said is known, except by memory."""
        self.thread_id = uuid.uuid4().hex

    def _is_kept(self, sentence: str) -> bool:
        return not self._watch.paused and is_left_over(sentence)

    def say(self, text: str) -> Iterator[Event]:
        """Say something; yield what happens until the agent has answered."""
        self._watch.paused = self._store.learning_paused(self.user)
        config: RunnableConfig = {
            "configurable": {"thread_id": self.thread_id, "user_id": self.user}
        }
        told = False
        shown: set[str] = set()
        for mode, event in self._agent.stream(
            {"messages": [HumanMessage(text)]},
            config,
            stream_mode=["messages", "updates"],
        ):
            if mode == "updates":
                yield from _updates(event, shown)
                continue
            if not told:
                told = True
                yield Preloaded(self._watch.seen)
            message = event[0]
            if isinstance(message, AIMessageChunk | AIMessage) and (
                part := message_text(message)
            ):
                if message.id:
                    shown.add(message.id)
                yield Spoken(part)


def _updates(update: Any, shown: set[str]) -> Iterator[Event]:
    """Yield what a finished step brings that was not streamed before."""
    for change in update.values():
        for message in (change or {}).get("messages", ()):
            if isinstance(message, ToolMessage):
                yield Returned(message_text(message), message.status == "error")
            elif isinstance(message, AIMessage):
                text = message_text(message)
                if text and message.id not in shown:
                    yield Spoken(text)
                for call in message.tool_calls:
                    yield Called(call["name"], dict(call["args"]))
