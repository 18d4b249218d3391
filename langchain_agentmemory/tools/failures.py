"""What goes wrong, told to the model in words that it can act on."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from langchain_core.tools import ToolException
from pydantic import ValidationError

from langchain_agentmemory.errors import (
    BackendUnavailable,
    InvalidInput,
    MemoryConflict,
    MemoryLimitExceeded,
    MemoryNotFound,
    MemoryStoreError,
    UserNotResolved,
)
from langchain_agentmemory.tools.plain_text import one_line, short_line

_log = logging.getLogger(__name__)

_NEXT_STEPS: dict[type[MemoryStoreError], str] = {
    MemoryNotFound: (
        "Nothing was changed. Find the right id with memory_search or memory_load."
    ),
    MemoryConflict: (
        "Nothing was changed. If the old memory is wrong, delete it instead."
    ),
    MemoryLimitExceeded: (
        "Nothing was saved. Update an existing memory instead, or ask the user what "
        "may be deleted."
    ),
    InvalidInput: "Nothing was changed. Correct the arguments and call again.",
}

_SECRETIVE: dict[type[MemoryStoreError], str] = {
    UserNotResolved: (
        "Memory cannot be used here: the application did not say, or not clearly, who "
        "the user is. Go on without it."
    ),
    BackendUnavailable: (
        "The memory cannot be reached at the moment. Go on without it, and say so if "
        "the user asked you to remember something."
    ),
}
"""Errors whose own text is for the log: it can name users, files or addresses."""

_SHOWN_PROBLEMS = 5
_SHOWN_TOKENS = 400
_SHOWN_NAME = 40


@contextmanager
def told_to_model() -> Iterator[None]:
    """Turn errors of the memory store into `ToolException`s."""
    try:
        yield
    except MemoryStoreError as error:
        raise ToolException(failure_text(error)) from error


def failure_text(error: MemoryStoreError) -> str:
    """Return what to tell the model: what happened and what to do next."""
    for kind, text in _SECRETIVE.items():
        if isinstance(error, kind):
            _log.warning("A memory tool failed: %s", error)
            return text
    # It can quote what the model or a user wrote.
    what = short_line(str(error), _SHOWN_TOKENS)
    for kind, next_step in _NEXT_STEPS.items():
        if isinstance(error, kind):
            return f"{what} {next_step}"
    return f"{what} Go on without it, or tell the user."


def validation_text(error: ValidationError) -> str:
    """Return what is wrong with the arguments, without repeating their values."""
    problems = [
        _problem(".".join(map(str, item["loc"])), item["type"], item["msg"])
        for item in error.errors()[:_SHOWN_PROBLEMS]
    ]
    return (
        f"The arguments do not fit: {one_line('; '.join(problems))}. Nothing was done. "
        f"Correct them and call again."
    )


def _problem(name: str, kind: str, text: str) -> str:
    shown = name if len(name) <= _SHOWN_NAME else name[:_SHOWN_NAME] + "…"
    if kind == "extra_forbidden":
        return f"unknown argument {shown!r}"
    if kind == "missing":
        return f"{shown} is required"
    return f"{shown}: {text[:1].lower()}{text[1:]}"
