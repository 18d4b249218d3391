"""LangChain's standard unit tests for chat models."""

import pytest
from langchain_tests.unit_tests import ChatModelUnitTests

from langchain_agentmemory.offline import OfflineChatModel


class TestOfflineChatModel(ChatModelUnitTests):
    @property
    def chat_model_class(self):
        return OfflineChatModel

    @property
    def has_tool_choice(self):
        return False

    @property
    def has_structured_output(self):
        return False

    @pytest.mark.xfail(reason="It forces a tool, which rules cannot do: see bind_tools")
    def test_bind_tool_pydantic(self, model, my_adder_tool):
        super().test_bind_tool_pydantic(model, my_adder_tool)
