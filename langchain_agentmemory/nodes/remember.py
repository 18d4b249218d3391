"""The post-turn node: queue what was said, and let the turn end."""

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.store.base import BaseStore

from langchain_agentmemory.nodes.loading import MemoryLoader, Run
from langchain_agentmemory.nodes.turns import TurnQueue
from langchain_agentmemory.users import UserResolver, UserSource


class QueueExtraction(Runnable[Any, dict[str, Any]]):
    """Queue the turn for extraction, as the last node of a graph.

    Writes what is new in the conversation into the store's outbox and returns at once;
    the store's worker extracts it in the background. It changes nothing in the state,
    and it never fails a turn: what goes wrong is in the log and in `store.status()`,
    and a conversation that a checkpointer keeps is picked up with its next turn.

    A turn is kept out with `config={"configurable": {"agentmemory_learn": False}}`.

    Example:
        ```python
        graph.add_node("remember", QueueExtraction(store))
        graph.add_edge("chat", "remember")
        ```
    """

    def __init__(
        self,
        store: BaseStore | None = None,
        *,
        user: UserSource | UserResolver = None,
    ) -> None:
        """Choose the store, and whose turns these are.

        Args:
            store: A `MemoryStore` with an extractor. `None` is the store of the run.
            user: A user, a function of the runtime that returns one, or a
                `UserResolver`. `None` finds the user of the run.

        Raises:
            InvalidInput: If `user` names nobody.
        """
        self._queue = TurnQueue(MemoryLoader(store, limit=0, user=user), expected=True)

    def invoke(
        self,
        input: Any,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Queue the messages of a state; return no update.

        Args:
            input: The state, with `messages`, or a list of messages.
            config: The config of the run.
        """
        self._queue.put(input, Run.current(config))
        return {}

    async def ainvoke(
        self,
        input: Any,  # noqa: A002 - the name that Runnable gives it
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Async twin of `invoke`."""
        await self._queue.aput(input, Run.current(config))
        return {}

    def __call__(
        self, state: Any, config: RunnableConfig | None = None
    ) -> dict[str, Any]:
        """Do what `invoke` does, for nodes that call this one as a function."""
        return self.invoke(state, config)
