"""External context: did a conversation draw on documents that were retrieved?

What an answer takes from documents is not what the user said. An application that
keeps such conversations out of automatic memory asks here which ones they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_agentmemory.errors import InvalidInput

DECLARATION: Final = "pollutes_auto_memory"
"""Attribute, or method, by which a tool or its function says so: true if it does."""

METADATA_KEY: Final = "external_context"
"""Key in a tool's `metadata` (with the value `True`), or one of its `tags`."""

TOOL_NAMES: Final = ("knowledge_search", "knowledge_search_with_agentic_filter")
"""Tools with these names count, and tools whose names end with `_` and one of them."""

_SUFFIXES: Final = tuple(f"_{name}" for name in TOOL_NAMES)
_INNER: Final = ("original", "__wrapped__", "__self__", "func", "coroutine")
_MAX_INNER: Final = 64  # objects looked at behind one tool


def consumed_external_context(
    messages: Sequence[BaseMessage], tools: Iterable[Any] = ()
) -> bool:
    """Tell whether a tool brought retrieved documents into a conversation.

    A tool message counts if its artifact holds LangChain documents, if the name of its
    tool is one of `TOOL_NAMES` or ends like one, or if its tool is among `tools` and
    `is_external` says so. A failed call (status `"error"`) never counts: nothing
    external came in.

    Args:
        messages: The conversation, with its tool messages.
        tools: The tools that it could use, as far as they are at hand. A text names a
            tool that always counts.

    Raises:
        InvalidInput: If `tools` holds something that has no name.
    """
    brought = [m for m in messages if isinstance(m, ToolMessage) and _succeeded(m)]
    if not brought:
        return False
    called = _called_names(messages)
    names = {message.name or called.get(message.tool_call_id) for message in brought}
    return (
        any(_holds_documents(message.artifact) for message in brought)
        or any(name is not None and _is_external_name(name) for name in names)
        or any(_name_of(tool) in names and is_external(tool) for tool in tools)
    )


def is_external(tool: Any) -> bool:
    """Tell whether what a tool returns comes from outside the conversation.

    A tool declares it by an attribute or method `pollutes_auto_memory`, by
    `metadata={"external_context": True}` or by the tag `"external_context"`. Tools made
    of a LangChain retriever (`create_retriever_tool`, `as_tool`) are recognised, and so
    is what stands behind a wrapper that shows it as `original` or `__wrapped__`. A text
    is the name of a tool that counts.
    """
    if isinstance(tool, str) or _is_external_name(str(getattr(tool, "name", ""))):
        return True
    return any(_declares(part) or _retrieves(part) for part in _parts(tool))


def _succeeded(message: ToolMessage) -> bool:
    return message.status != "error"


def _is_external_name(name: str) -> bool:
    return name in TOOL_NAMES or name.endswith(_SUFFIXES)


def _name_of(tool: Any) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None)
    if not isinstance(name, str):
        msg = (
            f"tools must hold tools or names of tools, not {type(tool).__name__}: pass "
            f"what the agent was given, made a tool with langchain_core.tools.tool."
        )
        raise InvalidInput(msg)
    return name


def _called_names(messages: Iterable[BaseMessage]) -> dict[str | None, str]:
    return {
        call["id"]: call["name"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }


def _holds_documents(artifact: Any) -> bool:
    from langchain_core.documents import Document  # noqa: PLC0415 - with artifacts only

    parts = artifact if isinstance(artifact, list | tuple) else (artifact,)
    return any(isinstance(part, Document) for part in parts)


def _parts(tool: Any) -> Iterator[Any]:
    """Yield a tool and what stands behind it, each object once."""
    waiting, seen = [tool], set[int]()
    while waiting and len(seen) < _MAX_INNER:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        for name in _INNER:
            inner = getattr(part, name, None)
            if name == "original" and callable(inner) and not hasattr(inner, "name"):
                inner = inner()
            waiting.append(inner)


def _declares(part: Any) -> bool:
    declared = getattr(part, DECLARATION, False)
    if (declared() if callable(declared) else declared) is True:
        return True
    metadata, tags = getattr(part, "metadata", None), getattr(part, "tags", None)
    if isinstance(metadata, dict) and metadata.get(METADATA_KEY) is True:
        return True
    return isinstance(tags, list | tuple | set) and METADATA_KEY in tags


def _retrieves(part: Any) -> bool:
    """Tell whether a tool was made of a retriever, or a function holds one."""
    from langchain_core.retrievers import BaseRetriever  # noqa: PLC0415 - tools only
    from langchain_core.tools.retriever import RetrieverInput  # noqa: PLC0415

    if isinstance(part, BaseRetriever):
        return True
    if getattr(part, "args_schema", None) is RetrieverInput:
        return True
    return any(isinstance(held, BaseRetriever) for held in _held_by(part))


def _held_by(function: Any) -> Iterator[Any]:
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
