"""What of a conversation can be extracted from, and its text.

Only what a user or an assistant said counts. System messages, tool calls and what tools
answered do not; nor does a summary that a program put into the user's mouth.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage

from langchain_agentmemory.extraction.texts import bounded
from langchain_agentmemory.policies.base import Policy

Role = Literal["user", "assistant"]

QUERY_BYTES: Final = 7_168
"""Longest query for existing memories, UTF-8 (the reference's limit)."""

_CHAT_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
}
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_NAMED_PARTS: Final = {
    "image": "[image]",
    "image_url": "[image]",
    "input_image": "[image]",
    "audio": "[audio]",
    "input_audio": "[audio]",
    "video": "[video]",
    "video_url": "[video]",
    "file": "[file]",
    "input_file": "[file]",
    "document": "[file]",
    "media": "[file]",
    "text-plain": "[file]",
}


def role_of(message: BaseMessage) -> Role | None:
    """Return who speaks: `"user"`, `"assistant"`, or `None` for what is not said.

    Not said are system and tool messages, messages that call tools, and what a program
    wrote in the name of the user (LangChain marks its summaries with `lc_source`).
    """
    if message.additional_kwargs.get("lc_source"):
        return None
    if isinstance(message, HumanMessage):
        return "user"
    if isinstance(message, AIMessage):
        return None if _calls_tools(message) else "assistant"
    if isinstance(message, ChatMessage):
        return _CHAT_ROLES.get(message.role.lower())
    return None


def text_of(message: BaseMessage) -> str:
    """Return the words of a message: its text parts, trimmed, one per line."""
    texts = [text for kind, text in _parts(message.content) if kind == "text"]
    return "\n".join(filter(None, (text.strip() for text in texts)))


def shown_text(message: BaseMessage) -> str:
    """Return the words of a message; what is not text is named: `[image]`, …."""
    return "\n".join(
        filter(None, (text.strip() for _, text in _parts(message.content)))
    )


def extractable(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """Return the messages of user and assistant that say or show something."""
    return [message for message in messages if role_of(message) and shown_text(message)]


def user_texts(messages: Iterable[BaseMessage]) -> list[str]:
    """Return the words of the user, one text per message, without empty ones."""
    return _texts(messages, {"user"})


def existing_query(messages: Sequence[BaseMessage], policy: Policy) -> str:
    """Return the query that finds the memories which matter for these messages.

    `MergeSimilar` looks for what the user talks about; other policies also for what the
    assistant said, in at most `QUERY_BYTES` bytes.

    Returns:
        The query, `""` if nobody said anything.
    """
    if policy.name == "merge_similar":
        return " ".join(user_texts(messages))
    return bounded(" ".join(_texts(messages, {"user", "assistant"})), QUERY_BYTES)


def with_texts(
    messages: Iterable[BaseMessage], change: Callable[[str], str]
) -> list[BaseMessage]:
    """Return copies of the messages that are said, each text part changed.

    Other messages stay as they are: they are never shown to a model, but they keep
    their place.
    """
    return [
        message.model_copy(update={"content": _changed(message.content, change)})
        if role_of(message)
        else message
        for message in messages
    ]


def _texts(messages: Iterable[BaseMessage], roles: set[Role]) -> list[str]:
    texts = (text_of(message) for message in messages if role_of(message) in roles)
    return [text for text in texts if text]


def _calls_tools(message: AIMessage) -> bool:
    raw = message.additional_kwargs
    return bool(
        message.tool_calls
        or message.invalid_tool_calls
        or raw.get("tool_calls")
        or raw.get("function_call")
    )


def _parts(content: Any) -> list[tuple[Literal["text", "other"], str]]:
    """Return the parts that a person would notice; thoughts and calls are not shown."""
    if isinstance(content, str):
        return [("text", content)]
    parts: list[tuple[Literal["text", "other"], str]] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            parts.append(("text", part))
        elif isinstance(part, Mapping):
            kind, text = part.get("type"), part.get("text")
            if not isinstance(kind, str):
                continue
            if kind in _TEXT_PARTS and isinstance(text, str):
                parts.append(("text", text))
            elif kind in _NAMED_PARTS:
                parts.append(("other", _NAMED_PARTS[kind]))
    return parts


def _changed(content: Any, change: Callable[[str], str]) -> Any:
    if isinstance(content, str):
        return change(content)
    if not isinstance(content, list):
        return content
    return [_changed_part(part, change) for part in content]


def _changed_part(part: Any, change: Callable[[str], str]) -> Any:
    if isinstance(part, str):
        return change(part)
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return {**part, "text": change(part["text"])}
    return part
