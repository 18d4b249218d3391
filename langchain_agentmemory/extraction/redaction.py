"""Redaction: a function of the application sees every text before a model does."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from langchain_agentmemory.errors import ExtractionFailed
from langchain_agentmemory.extraction.operations import Operations
from langchain_agentmemory.types import MemoryEntry, Operation

Redact = Callable[[str], str]
"""Returns a text without what must not be seen or stored."""


def compose(*redactors: Redact) -> Redact:
    """Return one function that applies several, from left to right.

    Without any, it leaves every text as it is.
    """

    def redact(text: str) -> str:
        for redactor in redactors:
            text = redactor(text)
        return text

    return redact


def guarded(redact: Redact) -> Redact:
    """Return the function, its failures as `ExtractionFailed`.

    They say nothing of the text: it may be just what must not get into a log.
    """

    def guard(text: str) -> str:
        try:
            result: object = redact(text)
        except Exception as error:
            msg = (
                f"The redact function failed ({type(error).__name__}), so nothing was "
                f"shown to the model."
            )
            raise ExtractionFailed(msg) from error
        if not isinstance(result, str):
            msg = f"The redact function must return text, not {type(result).__name__}."
            raise ExtractionFailed(msg)
        return result

    return guard


def redacted_entries(
    entries: Iterable[MemoryEntry], redact: Redact
) -> list[MemoryEntry]:
    """Return the memories as the model may see them. Ids stay."""
    return [
        replace(
            entry,
            memory=redact(entry.memory),
            topics=tuple(map(redact, entry.topics)),
            participants=tuple(map(redact, entry.participants)),
            location=entry.location and redact(entry.location),
        )
        for entry in entries
    ]


def redacted_operations(operations: Operations, redact: Redact) -> Operations:
    """Return the operations as they may be stored, and what was skipped likewise."""
    skipped = [
        replace(item, arguments=_redacted(item.arguments, redact))
        for item in operations.skipped
    ]
    return Operations(
        [_operation(operation, redact) for operation in operations],
        skipped=skipped,
        model_calls=operations.model_calls,
        usage=operations.usage,
        scope=operations.scope,
    )


def _operation(operation: Operation, redact: Redact) -> Operation:
    topics, participants = operation.topics, operation.participants
    return replace(
        operation,
        memory=operation.memory and redact(operation.memory),
        topics=topics and tuple(map(redact, topics)),
        participants=participants and tuple(map(redact, participants)),
        location=operation.location and redact(operation.location),
    )


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(part, redact) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(part, redact) for part in value]
    return value
