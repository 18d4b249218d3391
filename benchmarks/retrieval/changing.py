"""Replacing constants and functions of the package in this process, for a while.

The package has no switches for its ingredients: nobody should need them. So an ablation
replaces a name of a module or class, and puts it back.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from langchain_agentmemory.search import chunks, english


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A name that stands for something else.

    Attributes:
        owner: The module or class that has the name.
        name: The name. Applying the change fails if it is not there.
        value: What it stands for.
    """

    owner: Any
    name: str
    value: Any


@contextmanager
def applied(changes: Iterable[Change]) -> Iterator[None]:
    """Apply changes; what keeps the tokens of words met before starts empty."""
    with ExitStack() as stack:
        stack.callback(_forget_words)
        for change in changes:
            stack.enter_context(patch.object(change.owner, change.name, change.value))
        _forget_words()
        yield


def _forget_words() -> None:
    chunks.CHUNKS.clear()
    english._STEMS.clear()  # noqa: SLF001 - has no public name
