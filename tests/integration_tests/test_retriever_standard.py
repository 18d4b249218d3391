"""LangChain's standard tests of retrievers."""

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.retriever import MemoryRetriever


class TestMemoryRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def fill(self):
        self.store = MemoryStore()
        for number in range(5):
            self.store.add_memory("ann", f"tea number {number}")

    @property
    def retriever_constructor(self):
        return MemoryRetriever

    @property
    def retriever_constructor_params(self):
        return {"store": self.store, "user": "ann"}

    @property
    def retriever_query_example(self):
        return "tea"


class TestWithLimit(TestMemoryRetriever):
    """By the name that the rest of the package uses."""

    @property
    def num_results_arg_name(self):
        return "limit"
