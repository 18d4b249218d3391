"""Ours with something replaced in this process, for as long as an engine is open.

The package has no switches for its ingredients: nobody should need them. So an ablation
replaces a module's constant or function, and puts it back when its engine is closed.
Only one engine may be open meanwhile, which is how `running` goes about it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from langchain_core.embeddings import Embeddings

from benchmarks.retrieval.engines import Hit, Ours
from benchmarks.retrieval.sets import Memory, Question
from langchain_agentmemory import MemoryStore
from langchain_agentmemory.search import chunks, english


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A name that stands for something else.

    Attributes:
        owner: The module or class that has the name.
        name: The name. Opening an engine fails if it is not there.
        value: What it stands for.
    """

    owner: Any
    name: str
    value: Any


class Changed:
    """Ours, with changes.

    Args:
        embedder: What it searches by meaning with, if anything.
        changes: What is replaced until it is closed.
        build: Makes the store, as in `Ours`.
    """

    def __init__(
        self,
        embedder: Embeddings | None,
        *,
        changes: Iterable[Change] = (),
        build: Callable[..., MemoryStore] = MemoryStore,
    ) -> None:
        """Replace, and start empty."""
        with ExitStack() as stack:
            stack.callback(_forget_words)
            for change in changes:
                stack.enter_context(
                    patch.object(change.owner, change.name, change.value)
                )
            _forget_words()
            self._engine = Ours(embedder, build)
            stack.callback(self._engine.close)
            self._restored = stack.pop_all()

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Store the memories of a user."""
        self._engine.add(user, memories)

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Search as `Ours` does."""
        return self._engine.search(question, limit, options)

    def close(self) -> None:
        """Close the store, and put everything back."""
        self._restored.close()


def _forget_words() -> None:
    """Empty what keeps the tokens of words met before."""
    chunks.CHUNKS.clear()
    english._STEMS.clear()  # noqa: SLF001 - has no public name
