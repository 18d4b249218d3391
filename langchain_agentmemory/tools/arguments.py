"""The argument schemas of the six tools, as models see them.

All are strict: values of another JSON type and unknown arguments are refused, so that
a model learns of its mistake. The `runtime` argument is hidden from models and filled
in by LangGraph.
"""

from typing import Annotated, Any

from langchain_core.tools import InjectedToolArg
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from langchain_agentmemory.types import MemoryKind

DATE_FORMS = (
    "ISO 8601 (2024-05-07T10:30:00+08:00, 2024-05-07T10:30:00, 2024-05-07 10:30:00, "
    "2024-05-07, 2024-05 or 2024), English (7 May 2024, May 7, 2024 or May 2024) or "
    "Chinese (2024年5月7日, 2024年5月 or 2024年)"
)

Kind = Annotated[
    str,
    # Advice for the model only: stores keep other kinds too.
    WithJsonSchema({"type": "string", "enum": [str(kind) for kind in MemoryKind]}),
]

Runtime = Annotated[Any, InjectedToolArg]
"""A `ToolRuntime` in a graph, `None` in a direct call."""


# Excluded from dumps, which would otherwise walk through the state of the graph.
_HIDDEN: Any = Field(default=None, exclude=True)


class ToolArguments(BaseModel):
    """Common to all six: they are strict.

    `runtime` is the last field of each, because LangChain takes a plain text instead
    of arguments for the first.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


class AddArguments(ToolArguments):
    """Arguments of `memory_add`."""

    memory: str = Field(
        description=(
            "One self-contained statement about the user that will still make sense "
            "in another conversation: names instead of pronouns, no guesses, no "
            "secrets."
        )
    )
    topics: list[str] | None = Field(
        default=None, description="A few short labels that help to find it again."
    )
    memory_kind: Kind | None = Field(
        default=None,
        description=(
            "fact (the default) for what stays true of the user; episode for "
            "something that happened at a certain time."
        ),
    )
    event_time: str | None = Field(
        default=None,
        description=(
            f"When it happened; give it for every episode. An absolute date, as exact "
            f"as it is known: {DATE_FORMS}. Work out words like 'yesterday' first."
        ),
    )
    participants: list[str] | None = Field(
        default=None, description="Names of the other people who took part."
    )
    location: str | None = Field(default=None, description="Where it happened.")
    runtime: Runtime = _HIDDEN


class UpdateArguments(ToolArguments):
    """Arguments of `memory_update`."""

    memory_id: str = Field(
        description="The id of the memory, as memory_search or memory_load shows it."
    )
    memory: str = Field(
        description="The whole statement as it should read from now on."
    )
    topics: list[str] | None = Field(
        default=None,
        description="New labels. Leave out to keep the old ones; [] removes them.",
    )
    memory_kind: Kind | None = Field(
        default=None, description="The new kind. Leave out to keep the old one."
    )
    event_time: str | None = Field(
        default=None,
        description=(
            f"When it happened: {DATE_FORMS}. Leave out to keep the old date; an "
            f"empty text removes it."
        ),
    )
    participants: list[str] | None = Field(
        default=None,
        description="New names. Leave out to keep the old ones; [] removes them.",
    )
    location: str | None = Field(
        default=None,
        description="New place. Leave out to keep the old one; empty text removes it.",
    )
    runtime: Runtime = _HIDDEN


class DeleteArguments(ToolArguments):
    """Arguments of `memory_delete`."""

    memory_id: str = Field(
        description="The id of the memory, as memory_search or memory_load shows it."
    )
    runtime: Runtime = _HIDDEN


class ClearArguments(ToolArguments):
    """Arguments of `memory_clear`."""

    reason: str | None = Field(
        default=None, description="The user's request in a few words."
    )
    runtime: Runtime = _HIDDEN


class SearchArguments(ToolArguments):
    """Arguments of `memory_search`."""

    query: str = Field(
        description=(
            "A few key words of what you look for: names, things, places. Ask about "
            "one thing at a time."
        )
    )
    kind: Kind | None = Field(
        default=None,
        description=(
            "Prefer one kind: fact or episode. Others come too if few are found."
        ),
    )
    time_after: str | None = Field(
        default=None,
        description=(
            f"Leave out dated memories that happened earlier: {DATE_FORMS}. Undated "
            f"ones are not left out."
        ),
    )
    time_before: str | None = Field(
        default=None,
        description=(
            "Leave out dated memories that happened later. The day, month or year "
            "that you name is still included. Same forms as time_after."
        ),
    )
    order_by_event_time: bool | None = Field(
        default=None, description="Among equally relevant memories, earlier first."
    )
    limit: int | None = Field(
        default=None, description="At most how many memories to return; 10 if not set."
    )
    runtime: Runtime = _HIDDEN


class LoadArguments(ToolArguments):
    """Arguments of `memory_load`."""

    limit: int | None = Field(
        default=None, description="At most how many memories to return; 10 if not set."
    )
    runtime: Runtime = _HIDDEN
