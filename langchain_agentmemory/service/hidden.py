"""Namespaces that belong to the package itself: no reader sees them, no item is one.

What waits to be extracted, and what was, lives in the same backend as the memories, so
that it is as durable as they are and can be written in the same batch. So do the
calibrations of embedders, which are nobody's.
"""

from collections.abc import Iterable
from typing import Final

from langchain_agentmemory.backends.base import Head, Namespace
from langchain_agentmemory.errors import InvalidInput

EXTRACTION_ROOT: Final = "agentmemory_extraction"
CALIBRATIONS: Final = (EXTRACTION_ROOT, "calibrations")
"""Where the calibrations of embedders are kept, under their fingerprints."""


def is_hidden(namespace: Namespace) -> bool:
    """Tell whether a namespace, or all below a prefix, is the package's own."""
    return namespace[:1] == (EXTRACTION_ROOT,)


def visible(heads: Iterable[Head]) -> list[Head]:
    """Leave out the heads of the package's own namespaces."""
    return [head for head in heads if head.namespace[0] != EXTRACTION_ROOT]


def refuse_hidden(namespace: Namespace) -> None:
    """Refuse to write an item among what is the package's own.

    Raises:
        InvalidInput: If the namespace is reserved.
    """
    if is_hidden(namespace):
        msg = (
            f"Namespaces below {EXTRACTION_ROOT!r} are reserved: put the item "
            f"elsewhere."
        )
        raise InvalidInput(msg)
