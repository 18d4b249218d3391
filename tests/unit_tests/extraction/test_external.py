"""Conversations that drew on retrieved documents are recognised, and only those."""

import functools

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool, create_retriever_tool, tool

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.extraction.external import (
    consumed_external_context,
    is_external,
)


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(page_content="Birch Loop is 6.4 km long.")]


@tool
def lookup(query: str) -> str:
    """Look something up."""
    return query


def turn(name, *, status="success", artifact=None, named=True):
    call = {"name": name, "args": {}, "id": "c1", "type": "tool_call"}
    return [
        HumanMessage("How long is it?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(
            "6.4 km",
            tool_call_id="c1",
            name=name if named else None,
            status=status,
            artifact=artifact,
        ),
        AIMessage("It is 6.4 km long."),
    ]


@pytest.mark.parametrize(
    ("name", "external"),
    [
        ("knowledge_search", True),
        ("docs_knowledge_search", True),
        ("knowledge_search_with_agentic_filter", True),
        ("a_knowledge_search_with_agentic_filter", True),
        ("docsknowledge_search", False),
        ("knowledge_search_docs", False),
        ("Knowledge_Search", False),
        ("memory_search", False),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_names_of_tools(name, external, named):
    assert consumed_external_context(turn(name, named=named)) is external


def test_a_failed_call_does_not_count():
    failed = turn("knowledge_search", status="error")

    assert not consumed_external_context(failed)
    assert consumed_external_context([*failed, *turn("knowledge_search")])


def test_a_conversation_without_tools_does_not_count():
    assert not consumed_external_context([], [create_retriever()])
    assert not consumed_external_context([HumanMessage("Hi")], ["lookup"])


def test_a_tool_that_was_not_called_does_not_count():
    assert not consumed_external_context(turn("weather"), [create_retriever()])


def test_a_name_that_is_given_counts():
    assert consumed_external_context(turn("lookup"), ["lookup"])
    assert not consumed_external_context(turn("lookup"), [lookup])


def create_retriever(**more):
    return create_retriever_tool(Shelf(), "library", "Search the library", **more)


@pytest.mark.filterwarnings("ignore:This API is in beta")
def test_retriever_tools_of_langchain_are_recognised():
    as_tool = Shelf().as_tool(name="library", description="Search the library")

    for made in (create_retriever(), as_tool):
        assert consumed_external_context(turn("library"), [made])
        assert not consumed_external_context(turn("library", status="error"), [made])


def test_documents_in_the_artifact_are_recognised_without_the_tool():
    made = create_retriever(response_format="content_and_artifact")
    call = {"name": "library", "args": {"query": "x"}, "id": "c1", "type": "tool_call"}
    message = made.invoke(call)

    assert consumed_external_context([message])
    assert not consumed_external_context(turn("library", artifact=["a", {"b": 1}]))


def declared_by(way):
    class Declaring(StructuredTool):
        pollutes_auto_memory: bool = True

    class Asked(StructuredTool):
        def pollutes_auto_memory(self):
            return True

    def search(query: str) -> str:
        """Search."""
        return query

    if way == "function":
        search.pollutes_auto_memory = True
    made = {"attribute": Declaring, "method": Asked}.get(way, StructuredTool)
    more = {
        "metadata": {"metadata": {"external_context": True}},
        "tag": {"tags": ["external_context"]},
    }
    return made.from_function(search, name="lookup", **more.get(way, {}))


@pytest.mark.parametrize("way", ["attribute", "method", "function", "metadata", "tag"])
def test_a_tool_declares_it(way):
    assert consumed_external_context(turn("lookup"), [declared_by(way)])


@pytest.mark.parametrize("declared", [False, None, "no", lambda: False])
def test_only_true_is_a_declaration(declared):
    class Plain:
        name = "lookup"
        pollutes_auto_memory = (
            staticmethod(declared) if callable(declared) else declared
        )
        metadata = {"external_context": "maybe"}  # noqa: RUF012
        tags = ["external"]  # noqa: RUF012

    assert not is_external(Plain())


class Wrapper:
    """A wrapper as tools have them: `original()` gives what it wraps."""

    name = "lookup"

    def __init__(self, inner):
        self.inner = inner

    def original(self):
        return self.inner


def test_what_a_wrapper_wraps_is_looked_at():
    wrapped = Wrapper(Wrapper(declared_by("tag")))
    shown = Wrapper(None)
    shown.original = declared_by("tag")

    assert consumed_external_context(turn("lookup"), [wrapped])
    assert consumed_external_context(turn("lookup"), [shown])
    assert not is_external(Wrapper(lookup))


def test_wrapped_functions_are_looked_at():
    def search(query: str) -> str:
        """Search."""
        return query

    search.pollutes_auto_memory = True

    @functools.wraps(search, updated=())
    def traced(query: str) -> str:
        return search(query)

    assert is_external(StructuredTool.from_function(traced))


def test_wrappers_in_a_circle_end():
    first, second = Wrapper(None), Wrapper(None)
    first.inner, second.inner = second, first

    class Endless(Wrapper):
        def original(self):
            return Endless(None)

    assert not is_external(first)
    assert not is_external(Endless(None))


def test_what_is_no_tool_is_an_error_that_says_what_to_pass():
    with pytest.raises(InvalidInput, match="names of tools"):
        consumed_external_context(turn("lookup"), [42])
