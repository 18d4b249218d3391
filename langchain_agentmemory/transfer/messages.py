"""Lists of chat messages: plain `{role, content}` objects and dumps of LangChain's.

A message may carry when it was said as `timestamp`, `created_at`, `create_time`,
`time` or `date`, in itself or in its `additional_kwargs`.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.transfer.statements import (
    ROLES,
    Problem,
    Statement,
    read_timestamp,
    said,
    split_statements,
)

_TIME_FIELDS = ("timestamp", "created_at", "create_time", "time", "date")


def is_message(value: object) -> bool:
    """Tell whether a JSON value is a chat message in one of the known forms."""
    if not isinstance(value, Mapping):
        return False
    try:
        fields = _fields(value)
    except InvalidInput:
        return False
    return "content" in fields and ("role" in fields or "type" in fields)


def read_messages(
    messages: Iterable[tuple[str, Any]],
    *,
    thread_id: str | None,
    roles: Collection[str],
) -> tuple[list[Statement], list[Problem]]:
    """Read the messages of one thread.

    Positions count the statements of all roles, so that they do not depend on which
    roles are imported.

    Args:
        messages: Pairs of where a message stands in the file, and the message.
        thread_id: The conversation.
        roles: Whose statements to keep: `"user"`, `"assistant"`.

    Returns:
        The statements, and the messages that could not be read.
    """
    statements: list[Statement] = []
    problems: list[Problem] = []
    position = 0
    for where, message in messages:
        try:
            role, text, said_at, message_id = _read(message)
        except InvalidInput as error:
            problems.append(Problem(where, str(error)))
            continue
        if role in roles:
            statements += said(
                text,
                role=role,
                position=position,
                said_at=said_at,
                thread_id=thread_id,
                message_id=message_id,
            )
        if role in {"user", "assistant"}:
            position += len(split_statements(text))
    return statements, problems


def content_text(content: object) -> str:
    """Return the text of a message's content, content blocks joined by line breaks.

    Raises:
        InvalidInput: If it is neither text nor a list of blocks.
    """
    if content is None:  # an assistant message that only calls tools
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        msg = f"content must be text or a list, not {type(content).__name__}"
        raise InvalidInput(msg)
    parts = (_part_text(part) for part in content)
    return "\n".join(part for part in parts if part)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return ""  # an image, a file, a tool call: nothing that was said


def _read(message: Any) -> tuple[str, str, datetime | None, str | None]:
    if not isinstance(message, Mapping):
        msg = f"a message must be an object, not {type(message).__name__}"
        raise InvalidInput(msg)
    fields = _fields(message)
    named = fields.get("role", fields.get("type"))
    if not isinstance(named, str) or "content" not in fields:
        msg = "a message needs a role (or type) and a content"
        raise InvalidInput(msg)
    role = ROLES.get(named.lower(), named)
    extra = fields.get("additional_kwargs")
    places = [fields, extra if isinstance(extra, Mapping) else {}]
    times = (place[name] for place in places for name in _TIME_FIELDS if name in place)
    said_at = read_timestamp(next(times, None))
    message_id = fields.get("id")
    identifier = message_id if isinstance(message_id, str) else None
    return role, content_text(fields["content"]), said_at, identifier


def _fields(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a message, out of the shells that LangChain puts it in."""
    data = message.get("data")
    if isinstance(data, Mapping):  # messages_to_dict
        return {"type": message.get("type"), **data}
    if message.get("lc") == 1:  # dumps
        kwargs, path = message.get("kwargs"), message.get("id")
        if not isinstance(kwargs, Mapping) or not isinstance(path, list) or not path:
            msg = "this LangChain object is no message"
            raise InvalidInput(msg)
        name = str(path[-1]).removesuffix("Chunk").removesuffix("Message").lower()
        return {"type": name, **kwargs}
    return message
