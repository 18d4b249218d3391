"""What callers give to automatic memory, checked before anything is read or written."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


def as_thread(thread_id: object) -> str | None:
    """Return the name of a conversation as text.

    Raises:
        InvalidInput: If it is neither text nor an integer nor a UUID, or empty.
    """
    if thread_id is None:
        return None
    known = isinstance(thread_id, str | int | UUID) and not isinstance(thread_id, bool)
    if not known or thread_id == "":
        msg = (
            f"thread_id must be text, an integer or a UUID, not {quoted(thread_id)}: "
            f"leave it out for a conversation without a name."
        )
        raise InvalidInput(msg)
    try:
        return str(thread_id)
    except ValueError as error:  # an integer of thousands of digits
        msg = "thread_id is too long a number: use a shorter name."
        raise InvalidInput(msg) from error


def as_ids(ids: object) -> frozenset[str] | None:
    """Return ids of jobs, `None` for all.

    Raises:
        InvalidInput: If they are no texts.
    """
    if ids is None:
        return None
    given = [ids] if isinstance(ids, str) else ids
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        given = [given]
    listed = list(given)
    if not all(isinstance(job_id, str) for job_id in listed):
        msg = f"ids must be ids as extraction_jobs() shows them, not {quoted(ids)}."
        raise InvalidInput(msg)
    return frozenset(listed)


def as_conversation(messages: object) -> "list[BaseMessage]":
    """Return messages as LangChain's.

    Raises:
        InvalidInput: If something among them does not convert.
    """
    from langchain_core.messages import (  # noqa: PLC0415 - importing it is slow
        BaseMessage,
        convert_to_messages,
    )

    if isinstance(messages, str | bytes | BaseMessage) or not isinstance(
        messages, Iterable
    ):
        msg = (
            f"messages must be a list of messages, not {quoted(messages)}: pass "
            f"[HumanMessage('…'), AIMessage('…')]."
        )
        raise InvalidInput(msg)
    given: list[Any] = list(messages)
    if all(isinstance(message, BaseMessage) for message in given):
        return given
    try:
        return convert_to_messages(given)
    except Exception as error:
        msg = (
            f"messages must hold LangChain messages, or what converts to them, such as "
            f"('user', 'Hi'): {quoted(str(error))}"
        )
        raise InvalidInput(msg) from error
