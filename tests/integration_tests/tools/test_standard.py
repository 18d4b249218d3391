"""LangChain's own integration tests for tools, for all six on a real store."""

import pytest
from langchain_tests.integration_tests import ToolsIntegrationTests

from langchain_agentmemory import MemoryStore
from tests.unit_tests.tools.examples import EXAMPLES, STORED


class TestStandard(ToolsIntegrationTests):
    @pytest.fixture(autouse=True, params=sorted(EXAMPLES))
    def example(self, request):
        self.kind, self.arguments = EXAMPLES[request.param]
        self.store = MemoryStore()
        self.store.add_memory("alice", STORED)

    @property
    def tool_constructor(self):
        return self.kind

    @property
    def tool_constructor_params(self):
        return {"store": self.store, "user": "alice"}

    @property
    def tool_invoke_params_example(self):
        return self.arguments

    def test_the_example_call_succeeds(self, tool):
        call = {"args": self.arguments, "id": "1", "type": "tool_call"}
        assert tool.invoke(call | {"name": tool.name}).status == "success"
