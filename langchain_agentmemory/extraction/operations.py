"""From a model's calls to operations; what cannot be used is reported, never raised."""

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from pydantic import ValidationError

from langchain_agentmemory.extraction.calls import (
    CALLS,
    DESTRUCTIVE,
    AddCall,
    DeleteCall,
    UpdateCall,
    WriteCall,
    affected_indexes,
    source_index,
)
from langchain_agentmemory.types import MemoryKind, Operation, Source

_SHOWN_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Skipped:
    """A call that was not followed.

    Attributes:
        tool: What was called, `""` if that cannot be told.
        arguments: As the model gave them: a mapping, or text that is no JSON.
        reason: Why, in words that quote nothing of the arguments.
    """

    tool: str
    arguments: Any
    reason: str


@dataclass(frozen=True, slots=True)
class ForgetScope:
    """What of the conversation itself the user wants forgotten.

    Attributes:
        cleared: Everything up to the user message of this number.
        deleted: The answers to the user messages of these numbers.
        unknown: A deletion did not say what it covers, so nothing of the assistant may
            be remembered.
    """

    cleared: int = 0
    deleted: frozenset[int] = frozenset()
    unknown: bool = False


class Operations(list[Operation]):
    """What a model wants done, in order, with what it took to find out.

    Attributes:
        skipped: Calls that were not followed, with reasons.
        model_calls: How often a model was asked.
        usage: Tokens of all calls together, `None` if the model does not say.
        scope: What the user wants forgotten of the conversation itself.
    """

    def __init__(
        self,
        operations: Iterable[Operation] = (),
        *,
        skipped: Iterable[Skipped] = (),
        model_calls: int = 0,
        usage: UsageMetadata | None = None,
        scope: ForgetScope | None = None,
    ) -> None:
        """Initialise the list."""
        super().__init__(operations)
        self.skipped = list(skipped)
        self.model_calls = model_calls
        self.usage = usage
        self.scope = scope or ForgetScope()

    def followed_by(self, later: "Operations") -> "Operations":
        """Return both lists as one, their figures summed; the scope is the first's."""
        usage = self.usage
        if usage or later.usage:
            usage = add_usage(self.usage, later.usage)
        return Operations(
            [*self, *later],
            skipped=[*self.skipped, *later.skipped],
            model_calls=self.model_calls + later.model_calls,
            usage=usage,
            scope=self.scope,
        )

    def __repr__(self) -> str:
        """Return one line per operation, and one per call that was skipped."""
        if not self and not self.skipped:
            return "Operations([])"
        lines = [f"  {op.type:8}{_what(op)}" for op in self]
        lines += [f"  skipped {s.tool or '?'}: {s.reason}" for s in self.skipped]
        return "\n".join([f"Operations({self._caption()})", *lines])

    def _caption(self) -> str:
        noun = "operation" if len(self) == 1 else "operations"
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{len(self)} {noun}{skipped}"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = [(op.type, _what(op)) for op in self]
        rows += [("skipped", f"{s.tool or '?'}: {s.reason}") for s in self.skipped]
        cells = "".join(
            f"<tr><td>{kind}</td>"
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for kind, text in rows
        )
        return f"<table><caption>{self._caption()}</caption>{cells}</table>"


def parse_call(tool: str, arguments: Any) -> Operation | Skipped:
    """Turn one call into an operation.

    Args:
        tool: The name of the tool.
        arguments: A mapping, or JSON text of one.

    Returns:
        The operation, or why there is none. An update leaves alone what it does not
        give, or gives as empty: a model that forgets a detail does not mean to erase
        it. A date that cannot be read is left out.
    """
    if not (model := CALLS.get(tool)):
        reason = "There is no such tool." if tool else "It names no tool."
        return Skipped(tool, arguments, reason)
    given = as_arguments(arguments)
    if given is None:
        return Skipped(tool, arguments, "The arguments are not a JSON object.")
    try:
        return _operation(model.model_validate(given))
    except ValidationError as error:
        names = sorted({str(item["loc"][0]) for item in error.errors()})
        reason = f"{' and '.join(names)} must be given, as text."
        return Skipped(tool, arguments, reason)


def _operation(call: WriteCall) -> Operation:
    if isinstance(call, UpdateCall):
        return Operation(
            "update",
            memory=call.memory,
            memory_id=call.memory_id,
            topics=call.topics or None,
            kind=call.memory_kind,
            event_time=call.event_time,
            participants=call.participants or None,
            location=call.location,
        )
    if isinstance(call, AddCall):
        return Operation(
            "add",
            memory=call.memory,
            topics=call.topics or (),
            kind=call.memory_kind or MemoryKind.FACT,
            event_time=call.event_time,
            participants=call.participants or (),
            location=call.location,
        )
    if isinstance(call, DeleteCall):
        return Operation("delete", memory_id=call.memory_id)
    return Operation("clear")


def as_arguments(arguments: Any) -> Mapping[str, Any] | None:
    """Return the arguments of a call as a mapping, `None` if they are none."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, Mapping) else None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the calls of one extraction are to be understood.

    Attributes:
        tools: What the model was offered.
        users: The numbered user messages, in order.
        ids: The ids that the model was shown, and the memories that they mean.
        affected: Whether deletions had to say which answers they cover.
    """

    tools: tuple[str, ...]
    users: tuple[BaseMessage, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    affected: bool = False

    def read(self, calls: Iterable[tuple[str, Any]]) -> Operations:
        """Turn the calls of a model into operations, in order."""
        found, skipped = [], []
        cleared, deleted, unknown = 0, frozenset[int](), False
        for tool, arguments in calls:
            result = self._parse(tool, arguments)
            if isinstance(result, Operation) and tool in DESTRUCTIVE:
                given = as_arguments(arguments) or {}
                source = source_index(given, len(self.users))
                if tool == "memory_clear":
                    cleared = max(cleared, source or 0)
                    unknown |= source is None
                else:
                    covered = affected_indexes(given, len(self.users))
                    deleted |= covered or frozenset()
                    unknown |= source is None or (self.affected and covered is None)
                result = self._authorised(result, source, tool, arguments)
            if isinstance(result, Operation):
                found.append(result)
            else:
                skipped.append(result)
        scope = ForgetScope(cleared, deleted, unknown)
        return Operations(found, skipped=skipped, scope=scope)

    def _parse(self, tool: str, arguments: Any) -> Operation | Skipped:
        if tool in CALLS and tool not in self.tools:
            return Skipped(tool, arguments, "This tool was not offered.")
        result = parse_call(tool, arguments)
        if isinstance(result, Skipped) or result.memory_id is None:
            return result
        shown = result.memory_id
        known = self.ids.get(shown) or self.ids.get(shown.strip().strip("[]"))
        return replace(result, memory_id=known or shown)

    def _authorised(
        self, operation: Operation, source: int | None, tool: str, arguments: Any
    ) -> Operation | Skipped:
        if source is None:
            reason = "It does not name the user message that asks for it."
            return Skipped(tool, arguments, reason)
        message = self.users[source - 1]
        ids = (message.id,) if message.id else ()
        return replace(operation, source=Source(message_ids=ids, role="user"))


def _what(operation: Operation) -> str:
    text = operation.memory or ""
    if len(text) > _SHOWN_CHARACTERS:
        text = text[: _SHOWN_CHARACTERS - 1] + "…"
    details = [str(operation.kind)] if operation.kind else []
    if operation.event_time is not None:
        details.append(str(operation.event_time))
    which = f"[{operation.memory_id[:8]}] " if operation.memory_id else ""
    return f"{which}{text}" + (f"  ({', '.join(details)})" if details else "")
