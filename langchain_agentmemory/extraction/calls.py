"""The four write calls that a model can make: their arguments and their schemas.

The schemas are what strict tool calling demands (every property required, optional ones
nullable, nothing additional). Reading is lenient: a detail of the wrong type counts as
not given, and only a call without what it cannot do without is refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from functools import cache
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.times import parse_event_time
from langchain_agentmemory.types import MemoryKind

MAX_LABELS: Final = 100
"""Topics or participants of one call; a model that lists more is out of control."""

ENUMERATED: Final = 100
"""User messages that are listed in a schema; more are given as a range. OpenAI allows
1,000 enumerated values in all."""

SOURCE: Final = "source_user_index"
"""Names the user message that asks for a deletion."""

AFFECTED: Final = "affected_source_user_indexes"
"""Names the user messages whose answers must not be remembered after a deletion."""

_TO_THE_MINUTE: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2})(Z|[+-][0-9]{2}:[0-9]{2})?"
)


def _not_empty(text: str) -> str:
    if not text:
        msg = "must not be empty"
        raise ValueError(msg)
    return text


def _labels(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    return tuple(item for item in value if isinstance(item, str))[:MAX_LABELS]


def _kind(value: Any) -> MemoryKind | None:
    known = isinstance(value, str) and value in set(MemoryKind)
    return MemoryKind(value) if known else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _event_time(value: Any) -> str | None:
    """Return the text if it can be read as a point in time, as exact as it is."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if match := _TO_THE_MINUTE.fullmatch(text):
        zone = match[2] or ""
        text = f"{match[1].replace(' ', 'T')}:00{zone}"
    try:
        parse_event_time(text, UTC)
    except InvalidInput:
        return None
    return text


def _nullable(schema: Mapping[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [dict(schema), {"type": "null"}]})


_Required = Annotated[str, Field(strict=True), AfterValidator(_not_empty)]
_Labels = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(_labels),
    _nullable({"type": "array", "items": {"type": "string"}}),
]
_Kind = Annotated[
    MemoryKind | None,
    BeforeValidator(_kind),
    _nullable({"type": "string", "enum": [str(kind) for kind in MemoryKind]}),
]
_Time = Annotated[
    str | None, BeforeValidator(_event_time), _nullable({"type": "string"})
]
_Text = Annotated[str | None, BeforeValidator(_text), _nullable({"type": "string"})]


class WriteCall(BaseModel):
    """What the four have in common: arguments that nobody asked for are ignored."""

    model_config = ConfigDict(extra="ignore")


class AddCall(WriteCall):
    """Arguments of `memory_add`."""

    memory: _Required = Field(
        description="One self-contained statement, with names instead of pronouns."
    )
    topics: _Labels = Field(None, description="A few short labels.")
    memory_kind: _Kind = Field(
        None,
        description="fact: stays true. episode: happened, or will, at a certain time.",
    )
    event_time: _Time = Field(
        None,
        description=(
            "Absolute date, as exact as it is known: 2024-05-07T10:30:00+08:00, "
            "2024-05-07, 2024-05 or 2024. Every episode has one."
        ),
    )
    participants: _Labels = Field(None, description="Names of others who took part.")
    location: _Text = Field(None, description="Where it happened.")


class UpdateCall(AddCall):
    """Arguments of `memory_update`: details that are not given stay as they are."""

    memory_id: _Required = Field(description="The id in brackets of an existing one.")
    memory: _Required = Field(
        description="The whole statement as it should read from now on."
    )


class DeleteCall(WriteCall):
    """Arguments of `memory_delete`."""

    memory_id: _Required = Field(description="The id in brackets of an existing one.")


class ClearCall(WriteCall):
    """Arguments of `memory_clear`."""

    reason: _Text = Field(None, description="The user's request in a few words.")


CALLS: Final[Mapping[str, type[WriteCall]]] = {
    "memory_add": AddCall,
    "memory_update": UpdateCall,
    "memory_delete": DeleteCall,
    "memory_clear": ClearCall,
}
"""All there are, in the order in which they are offered."""

DESTRUCTIVE: Final = frozenset({"memory_delete", "memory_clear"})
"""Calls that only the user's own words can lead to."""

_DESCRIPTIONS: Final = {
    "memory_add": "Remember something new.",
    "memory_update": "Correct or refine an existing memory.",
    "memory_delete": "Delete one existing memory, at the user's request.",
    "memory_clear": "Delete all memories, at the user's request.",
}
_LEADING: Final = ("memory_id", "memory")  # first in the schema, as a person would ask


def tool_schemas(
    names: Iterable[str], *, user_messages: int, affected: bool = False
) -> list[dict[str, Any]]:
    """Return tools in OpenAI's format, which every LangChain model can bind.

    Args:
        names: Which of the four.
        user_messages: How many user messages are numbered. Deletions must name one.
        affected: Whether a deletion also says which answers it covers.
    """
    schemas = []
    for name in names:
        properties = dict(_properties(name))
        if name in DESTRUCTIVE:
            properties[SOURCE] = {
                **_number(user_messages),
                "description": (
                    "The number of the user message in which the user asks for it."
                ),
            }
        if name == "memory_delete" and affected:
            properties[AFFECTED] = {
                "type": "array",
                "items": _number(user_messages),
                "description": (
                    "Numbers of the user messages whose answers the request covers "
                    "too; [] if none."
                ),
            }
        schemas.append(function_schema(name, _DESCRIPTIONS[name], properties))
    return schemas


def function_schema(
    name: str, description: str, properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a tool in OpenAI's format that strict tool calling accepts."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": dict(properties),
                "required": list(properties),
                "additionalProperties": False,
            },
        },
    }


def source_index(arguments: Mapping[str, Any], user_messages: int) -> int | None:
    """Return the number of the user message that asks, `None` if there is none."""
    return _index(arguments.get(SOURCE), user_messages)


def affected_indexes(
    arguments: Mapping[str, Any], user_messages: int
) -> frozenset[int] | None:
    """Return the numbers that a deletion covers, `None` if it does not say so."""
    given = arguments.get(AFFECTED)
    if not isinstance(given, Sequence) or isinstance(given, str):
        return None
    numbers = [_index(item, user_messages) for item in given]
    valid = frozenset(number for number in numbers if number is not None)
    return None if None in numbers else valid


def _index(value: Any, user_messages: int) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON knows no difference
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 1 <= value <= user_messages else None


def _number(user_messages: int) -> dict[str, Any]:
    if user_messages <= ENUMERATED:
        return {"type": "integer", "enum": list(range(1, user_messages + 1))}
    return {"type": "integer", "minimum": 1, "maximum": user_messages}


@cache
def _properties(name: str) -> dict[str, Any]:
    given: dict[str, Any] = CALLS[name].model_json_schema()["properties"]
    order = [*(key for key in _LEADING if key in given), *given]
    dropped = {"title", "default"}
    return {
        key: {name: part for name, part in given[key].items() if name not in dropped}
        for key in dict.fromkeys(order)
    }
