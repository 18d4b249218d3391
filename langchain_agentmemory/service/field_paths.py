"""Which fields of a value become vectors, and how to get at them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langgraph.store.base import get_text_at_path, tokenize_path

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted


class FieldPath(NamedTuple):
    """A field that is indexed, and the steps that lead to it."""

    name: str
    steps: Sequence[str]


def field_path(name: str) -> FieldPath:
    """Return the steps of a field path such as `a.b[*].c` or `$`.

    Raises:
        InvalidInput: If it is not text.
    """
    if not isinstance(name, str) or not name:
        msg = f"{quoted(name)} is not a field path: use text like 'a.b[*].c' or '$'."
        raise InvalidInput(msg)
    return FieldPath(name, () if name == "$" else tuple(tokenize_path(name)))


def texts_at(value: Mapping[str, Any], paths: Sequence[FieldPath]) -> tuple[str, ...]:
    """Return the texts at some paths of a value, in their order, repeated ones, too."""
    return tuple(
        text
        for path in paths
        for text in get_text_at_path(value, list(path.steps) or "$")
    )
