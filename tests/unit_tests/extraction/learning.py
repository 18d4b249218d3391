"""Extractors and turns for tests of the queue, the worker and the subgraph."""

import threading
import time

from langchain_core.messages import AIMessage, HumanMessage

from langchain_agentmemory.extraction.operations import Operations
from langchain_agentmemory.policies.append_only import AppendOnly
from langchain_agentmemory.types import Operation


class Echo:
    """Remembers every word of the user; can be told to fail, to wait, to hold back."""

    def __init__(self, *, fails=(), policy=None, due=lambda context: True):
        self.policy = policy or AppendOnly()
        self.fails = list(fails)
        self.seen = []
        self.contexts = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self._due = due
        self._lock = threading.Lock()

    def should_extract(self, context):
        self.contexts.append(context)
        return self._due(context)

    def extract(self, messages, existing=(), **circumstances):
        with self._lock:
            self.seen.append([message.text for message in messages])
            error = self.fails.pop(0) if self.fails else None
        self.entered.set()
        assert self.gate.wait(20)
        if error is not None:
            raise error
        return Operations(
            [self.operation(message.text) for message in messages if is_user(message)],
            model_calls=1,
        )

    async def aextract(self, messages, existing=(), **circumstances):
        return self.extract(messages, existing, **circumstances)

    def operation(self, text):
        if text == "clear everything":
            return Operation("clear")
        return Operation("add", memory=text)


def is_user(message):
    return message.type == "human"


def turn(number, text, answer="fine"):
    """Return a user's message and its answer, with ids of their own."""
    return [HumanMessage(text, id=f"h{number}"), AIMessage(answer, id=f"a{number}")]


def texts(store, user="ann"):
    """Return what is remembered of a user, oldest first."""
    return [entry.memory for entry in reversed(store.read_memories(user))]


def until(condition, seconds=10):
    """Wait for something that another thread does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
