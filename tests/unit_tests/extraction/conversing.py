"""A graph that answers and learns: the way of a user's words into the memories."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_agentmemory import QueueExtraction
from langchain_agentmemory.testing import ScriptedChatModel


@dataclass
class Conversation:
    """A compiled graph and what the user of it got to see."""

    graph: Any
    saver: InMemorySaver

    def say(self, text, *, user="ann", thread="t1", callbacks=()):
        """Say something; return everything that the run streams."""
        config = {
            "configurable": {"user_id": user, "thread_id": thread},
            "callbacks": list(callbacks),
        }
        modes = ["values", "updates", "messages", "custom", "tasks", "checkpoints"]
        return list(
            self.graph.stream(
                {"messages": [HumanMessage(text)]},
                config,
                stream_mode=modes,
                subgraphs=True,
            )
        )


def conversation(store, answers=100):
    """Return a graph: an answer (always the same), then `QueueExtraction`."""
    answering = ScriptedChatModel([AIMessage("Noted.")] * answers)
    saver = InMemorySaver()

    def answer(state):
        return {"messages": [answering.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_node("remember", QueueExtraction(store))
    graph.add_edge(START, "answer")
    graph.add_edge("answer", "remember")
    return Conversation(graph.compile(checkpointer=saver), saver)
