"""What the tests of the tools share: a store, and ways to call a tool."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.tools import TOOL_NAMES, build_tools


@pytest.fixture
def store():
    with MemoryStore() as opened:
        yield opened


@pytest.fixture
def tools(store):
    """The six tools by name, bound to the store and to alice."""
    built = build_tools(TOOL_NAMES, store=store, user="alice")
    return {tool.name: tool for tool in built}


def as_call(name: str, **args: Any) -> dict[str, Any]:
    """A tool call as a model writes it."""
    return {"name": name, "args": args, "id": "call-1", "type": "tool_call"}


@pytest.fixture(params=["sync", "async"])
def call(request, tools):
    """Call a tool as an agent does, synchronously and asynchronously."""

    async def run(name: str, **args: Any) -> ToolMessage:
        if request.param == "sync":
            return tools[name].invoke(as_call(name, **args))
        return await tools[name].ainvoke(as_call(name, **args))

    return run
