"""Where the calls are in a model's answer: in tool calls, or in JSON.

A model without tool calling writes its calls as JSON, `{"operations": [{"tool": …,
"arguments": …}]}`. Reading it forgives a fence around it, prose before it, and a list
or a single call in place of the object.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage
from pydantic import BaseModel

Call = tuple[str, Any]
"""The name of a tool and its arguments: a mapping, or text that should be JSON."""

_FENCE: Final = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_BEGINNING: Final = re.compile(r"[\[{]")
_MAX_BEGINNINGS: Final = 200  # brackets in prose; JSON comes soon or not at all
_LISTS: Final = ("operations", "calls", "tool_calls")
_NAMES: Final = ("tool", "name")
_ARGUMENTS: Final = ("arguments", "args", "parameters")


def calls_of_message(message: AIMessage) -> list[Call]:
    """Return the tool calls of a message, those with broken arguments included."""
    return [
        *((call["name"], call["args"]) for call in message.tool_calls),
        *((c["name"] or "", c["args"] or "") for c in message.invalid_tool_calls),
    ]


def calls_in_json(answer: Any) -> list[Call]:
    """Return the calls of an answer in JSON.

    Args:
        answer: Text, or what a parser has made of it.

    Returns:
        The calls. Text that holds no JSON is a call of nothing, so that it is
        reported. Blank text is no call.
    """
    if isinstance(answer, BaseModel):
        answer = answer.model_dump()
    if not isinstance(answer, str):
        return _calls(answer)
    if not answer.strip():
        return []
    for value in _json_values(answer):
        calls = _calls(value)
        if all(name for name, _ in calls):  # not a footnote mark such as [1]
            return calls
    return [("", answer)]


def operations_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the JSON schema of an answer, as `with_structured_output` takes it."""
    choices = [
        {
            "type": "object",
            "properties": {
                "tool": {"type": "string", "enum": [tool["function"]["name"]]},
                "arguments": tool["function"]["parameters"],
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {
        "title": "memory_operations",
        "description": "Everything that the memory needs done.",
        "type": "object",
        "properties": {"operations": {"type": "array", "items": {"anyOf": choices}}},
        "required": ["operations"],
        "additionalProperties": False,
    }


def answer_format(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return instructions for a model that knows neither tool calls nor schemas."""
    described = "\n".join(
        f"{function['name']}: {function['description']} Arguments: "
        f"{json.dumps(function['parameters']['properties'], ensure_ascii=False)}"
        for function in (tool["function"] for tool in tools)
    )
    return (
        "<answer_format>\n"
        "You cannot call tools here. Answer with JSON and nothing else: "
        '{"operations": [{"tool": "…", "arguments": {…}}, …]}, with an empty list if '
        f"there is nothing to do. The tools:\n{described}\n"
        "</answer_format>"
    )


def _calls(value: Any) -> list[Call]:
    if isinstance(value, Mapping):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                value = value[key]
                break
        else:
            value = [value] if value else []
    if not isinstance(value, list):
        return [("", value)]
    return [_call(item) for item in value]


def _call(item: Any) -> Call:
    if not isinstance(item, Mapping):
        return "", item
    if isinstance(item.get("function"), Mapping):  # as OpenAI writes tool calls
        item = item["function"]
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), "")
    for key in _ARGUMENTS:
        if key in item:
            return name, item[key]
    return name, {key: part for key, part in item.items() if key not in _NAMES}


def _json_values(text: str) -> Iterator[Any]:
    """Yield the JSON values in a text: in fences, as a whole, then within prose."""
    for candidate in [*_FENCE.findall(text), text]:
        try:
            yield json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    decoder = json.JSONDecoder()
    for count, beginning in enumerate(_BEGINNING.finditer(text)):
        if count == _MAX_BEGINNINGS:
            return
        try:
            yield decoder.raw_decode(text, beginning.start())[0]
        except (ValueError, RecursionError):
            continue
