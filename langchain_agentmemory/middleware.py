"""Long-term memory for `create_agent`, in one object."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired

try:
    from langchain.agents.middleware.types import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        PrivateStateAttr,
    )
except ModuleNotFoundError as error:
    _message = (
        "MemoryMiddleware needs the package langchain: pip install "
        "'langchain-agentmemory[agents]', or use the nodes and tools without it."
    )
    raise ImportError(_message) from error
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.channels import UntrackedValue
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.types import TracePolicy, omit_payload

from langchain_agentmemory.nodes.injection import (
    InjectionMode,
    append_to_system,
    inject_user,
)
from langchain_agentmemory.nodes.loading import Gate, Loaded, MemoryLoader, Run
from langchain_agentmemory.nodes.preload import checked_mode
from langchain_agentmemory.nodes.turns import TurnQueue
from langchain_agentmemory.service.settings import check_switch
from langchain_agentmemory.types import MemoryReader
from langchain_agentmemory.users import UserResolver, UserSource

_KEY = "preloaded_memories"

_Request = ModelRequest[Any]
_Response = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]


class MemoryState(AgentState[Any]):
    """The agent's state, and what was preloaded in this turn.

    The latter is private to the middleware, and in no checkpoint.
    """

    preloaded_memories: NotRequired[
        Annotated[Loaded, UntrackedValue(Loaded, guard=False), PrivateStateAttr]
    ]


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Give an agent memories, the tools to work with them, and extraction.

    Memories are loaded once per turn and put into every model request of that turn.
    They are loaded again after a human-in-the-loop pause, and when the turn itself
    changed them (the agent just deleted one). They are never part of the history and
    never in a checkpoint.

    The memory tools come along when the store has tools; an agent that was also given
    one of them by hand still has it once. After the turn, a store that has an
    extractor is handed the conversation. A store that fails costs the turn its
    memories and leaves a message in the log; it never fails the turn.

    Example:
        ```python
        from langchain.agents import create_agent

        from langchain_agentmemory import MemoryMiddleware, MemoryStore

        store = MemoryStore()
        agent = create_agent(model, middleware=[MemoryMiddleware(store)])
        agent.invoke(
            {"messages": [("user", "What should I cook tonight?")]},
            config={"configurable": {"user_id": "alice"}},
        )
        ```
    """

    state_schema = MemoryState
    # Traces have the conversation already, and should not get the memories.
    trace_policy = TracePolicy(
        process_inputs=omit_payload, process_outputs=omit_payload
    )

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        store: MemoryReader | BaseStore | None = None,
        *,
        preload: int = 10,
        mode: InjectionMode = "system",
        playbook: str | None = None,
        tools: bool = True,
        extract: bool = True,
        user: UserSource | UserResolver = None,
        when: Gate | None = None,
    ) -> None:
        """Choose what the agent gets.

        Args:
            store: A `MemoryStore`, any other `MemoryReader`, or any LangGraph store.
                `None` is the store of the run.
            preload: 0 preloads nothing, N at most N memories, a negative number all.
            mode: `"system"` merges the memories into the system message, `"user"` puts
                them at the beginning of the current user message (the system prompt
                stays cacheable).
            playbook: What the model is told about its memories, in place of our words.
            tools: Bring the store's tools. Without a store these are the ones that a
                store shows by default, and they use the store of the run.
            extract: Hand finished turns to the store's extractor, if it has one.
            user: Whose memories: a user, a function of the runtime that returns one, or
                a `UserResolver`.
                `None` finds the user of the run.
            when: `(state, runtime) -> bool`; False preloads nothing in this turn, and
                neither does an error, which is logged.

        Raises:
            InvalidInput: If an option has a value that is not listed here.
        """
        super().__init__()
        for name, switch in (("tools", tools), ("extract", extract)):
            check_switch(name, switch)
        self._mode = checked_mode(mode)
        self._extract = extract
        self._loader = MemoryLoader(
            store, limit=preload, playbook=playbook, user=user, when=when
        )
        self._queue = TurnQueue(self._loader)
        self.tools = self._loader.tools() if tools else []

    def before_agent(
        self, state: MemoryState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Load what this turn should know.

        Raises:
            UserNotResolved: If it is not known who the user is.
            InvalidInput: If there is no store.
        """
        run = Run.current(runtime=runtime)
        if self.tools:
            self._loader.check_custom_tools(run)
        return {_KEY: self._loader.load(state, run)}

    async def abefore_agent(
        self, state: MemoryState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Async twin of `before_agent`."""
        run = Run.current(runtime=runtime)
        if self.tools:
            self._loader.check_custom_tools(run)
        return {_KEY: await self._loader.aload(state, run)}

    def wrap_model_call(
        self, request: _Request, handler: Callable[[_Request], _Response]
    ) -> _Response:
        """Call the model with the memories in its request."""
        loaded: Loaded | None = request.state.get(_KEY)  # type: ignore[assignment]
        run = Run.current(runtime=request.runtime)
        current = self._loader.current(loaded, request.state, run)
        request = request.override(tools=self._loader.gated(request.tools, run))
        return handler(_prepared(request, current.block, self._mode))

    async def awrap_model_call(
        self, request: _Request, handler: Callable[[_Request], Awaitable[_Response]]
    ) -> _Response:
        """Async twin of `wrap_model_call`."""
        loaded: Loaded | None = request.state.get(_KEY)  # type: ignore[assignment]
        run = Run.current(runtime=request.runtime)
        current = await self._loader.acurrent(loaded, request.state, run)
        request = request.override(tools=self._loader.gated(request.tools, run))
        return await handler(_prepared(request, current.block, self._mode))

    def after_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Hand the conversation to the store's extractor, if there is one."""
        if self._extract:
            self._queue.put(state, Run.current(runtime=runtime))

    async def aafter_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Async twin of `after_agent`."""
        if self._extract:
            await self._queue.aput(state, Run.current(runtime=runtime))


def _prepared(request: _Request, block: str, mode: InjectionMode) -> _Request:
    request = request.override(tools=_distinct(request.tools))
    if not block:
        return request
    if mode == "user":
        return request.override(messages=inject_user(request.messages, block))
    return request.override(
        system_message=append_to_system(request.system_message, block)
    )


def _distinct(
    tools: list[BaseTool | dict[str, Any]],
) -> list[BaseTool | dict[str, Any]]:
    """Keep each named tool once, the last one given, as the agent's tool node does."""
    kept: dict[Any, BaseTool | dict[str, Any]] = {}
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else tool.name
        kept[name or id(tool)] = tool
    return list(kept.values())
