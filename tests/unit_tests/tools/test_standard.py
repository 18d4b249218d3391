"""LangChain's own unit tests for tools, for all six."""

import pytest
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_agentmemory import MemoryStore
from tests.unit_tests.tools.examples import EXAMPLES, STORED


class TestStandard(ToolsUnitTests):
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
