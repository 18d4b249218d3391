"""Where the block of memories goes in what a model is about to read.

Nothing here changes a message that it was given: a changed message is a copy, so the
stored history keeps its own.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

InjectionMode = Literal["system", "user"]
"""`"system"` merges into the system message, `"user"` into the current user message."""

_MessageT = TypeVar("_MessageT", bound=BaseMessage)


def inject(
    messages: Sequence[AnyMessage], block: str, mode: InjectionMode
) -> list[AnyMessage]:
    """Return the messages with the block in them. A blank block changes nothing."""
    if not block:
        return list(messages)
    if mode == "system":
        return inject_system(messages, block)
    return inject_user(messages, block)


def inject_system(messages: Sequence[AnyMessage], block: str) -> list[AnyMessage]:
    """Merge the block into the first system message, or put one in front.

    No system message is added beside another, because some providers refuse two.
    """
    result = list(messages)
    for position, message in enumerate(result):
        if isinstance(message, SystemMessage):
            result[position] = append_to_system(message, block)
            return result
    return [append_to_system(None, block), *result]


def append_to_system(message: SystemMessage | None, block: str) -> SystemMessage:
    """Return the system message with the block at its end.

    Content blocks are kept as they are, with their cache markers: what was cached
    before stays a prefix of what is sent.
    """
    if message is None or not _has_content(message):
        base = message or SystemMessage(content="")
        return base.model_copy(update={"content": block})
    return _extended(message, after=f"\n\n{block}")


def inject_user(messages: Sequence[AnyMessage], block: str) -> list[AnyMessage]:
    """Put the block at the beginning of the current user message.

    It becomes part of that message, because some providers refuse two user messages
    in a row. Without a user message one is added behind the leading system messages.
    """
    result = list(messages)
    position = current_position(result)
    if position is None:
        start = next(
            (i for i, m in enumerate(result) if not isinstance(m, SystemMessage)),
            len(result),
        )
        return [*result[:start], HumanMessage(content=block), *result[start:]]
    message = result[position]
    if _has_content(message):
        result[position] = _extended(message, before=f"{block}\n\n")
    else:
        result[position] = message.model_copy(update={"content": block})
    return result


def current_position(messages: Sequence[AnyMessage]) -> int | None:
    """Return where the current user message is: the last one that the user wrote."""
    for position in range(len(messages) - 1, -1, -1):
        if isinstance(messages[position], HumanMessage):
            return position
    return None


def current_query(messages: Sequence[AnyMessage]) -> str:
    """Return what the user said in this turn, `""` if they said nothing in words."""
    position = current_position(messages)
    if position is None:
        return ""
    content = messages[position].content
    parts = [content] if isinstance(content, str) else [_text(part) for part in content]
    return "\n".join(text for part in parts if (text := part.strip()))


def query_in(given: Any) -> str:
    """Return what the user said in this turn, in whatever `as_messages` reads.

    Raises:
        TypeError: If there are no messages in what was given.
    """
    return (
        given.strip() if isinstance(given, str) else current_query(as_messages(given))
    )


def as_messages(given: Any) -> list[AnyMessage]:
    """Return the messages of a graph's state, a prompt, a list of messages or a text.

    Raises:
        TypeError: If there are no messages in what was given.
    """
    if isinstance(given, str):
        return [HumanMessage(content=given)]
    if isinstance(given, PromptValue):
        return _converted(given.to_messages())
    if isinstance(given, BaseMessage):
        return _converted([given])
    if isinstance(given, dict) and "messages" in given:
        return _converted(given["messages"])
    if isinstance(given, Sequence):
        return _converted(given)
    if (messages := getattr(given, "messages", None)) is not None:
        return _converted(messages)
    msg = (
        f"There are no messages in a {type(given).__name__}: pass a text, a list of "
        f"messages, or a state with `messages`."
    )
    raise TypeError(msg)


def _converted(messages: Any) -> list[AnyMessage]:
    if isinstance(messages, str | BaseMessage):
        messages = [messages]
    # These are the message classes; the union that providers type against is wider
    # than what `convert_to_messages` promises, and the same objects.
    return list(convert_to_messages(messages))  # type: ignore[arg-type]


def _has_content(message: BaseMessage) -> bool:
    content = message.content
    return bool(content.strip() if isinstance(content, str) else content)


def _text(part: str | dict[str, Any]) -> str:
    if isinstance(part, str):
        return part
    return str(part.get("text") or "") if part.get("type") == "text" else ""


def _extended(message: _MessageT, *, before: str = "", after: str = "") -> _MessageT:
    content = message.content
    extended: str | list[str | dict[str, Any]]
    if isinstance(content, str):
        extended = before + content + after
    else:
        extended = [*_block(before), *content, *_block(after)]
    return message.model_copy(update={"content": extended})


def _block(text: str) -> list[str | dict[str, Any]]:
    return [{"type": "text", "text": text}] if text else []
