"""Whether a command searches by meaning, too."""

from typing import Any, Final, NamedTuple

from langchain_agentmemory.backends.base import Page
from langchain_agentmemory.cli.opening import default_url, missing_file
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.local_embeddings import (
    INSTALL,
    LocalEmbeddings,
    local_embedder_installed,
)
from langchain_agentmemory.service.embedding_settings import LOCAL, read_index
from langchain_agentmemory.service.hidden import visible
from langchain_agentmemory.urls import backend_from_url

_NAMESPACES: Final = 8
_RECORDS: Final = 8
"""What is looked at of a store, to see who made its vectors."""


class ChosenEmbedder(NamedTuple):
    """What embeds for a command.

    Attributes:
        options: What `MemoryStore` is given for it.
        label: How it searches, in one line.
    """

    options: dict[str, Any]
    label: str


def choose_embedder(wanted: bool | None, url: str | None) -> ChosenEmbedder:  # noqa: FBT001 - an option of three states
    """Return the local embedder where it is installed; no model is loaded.

    It keeps away from a store whose vectors another embedder made, unless asked for:
    the application that they belong to would have to make them anew.

    Args:
        wanted: `True` to insist on it, `False` for none, `None` where it fits.
        url: The store, `None` = in the user's data folder.

    Raises:
        InvalidInput: If it is asked for and not installed.
    """
    if wanted is False:
        return ChosenEmbedder({}, "words only (--embeddings: meaning, too)")
    if wanted is None and not local_embedder_installed():
        return ChosenEmbedder({}, f"words ({INSTALL} for meaning, too)")
    LocalEmbeddings()  # say at once what is missing
    if wanted is None and _has_others(url or default_url()):
        label = "words only: another embedder made the vectors of this store"
        return ChosenEmbedder({}, f"{label} (--embeddings: meaning, too)")
    label = "words and meaning (local embedder; --no-embeddings: words only)"
    return ChosenEmbedder({"embeddings": LOCAL}, label)


def needs_embedder(mode: str) -> InvalidInput:
    """Return the error of a search that wants meaning and has no embedder."""
    msg = (
        f"--mode {mode} needs an index by meaning: search with --embeddings (the local "
        f"embedder, extra `local`: {INSTALL}) and run `memories reindex` once, or "
        f"search with --mode lexical."
    )
    return InvalidInput(msg)


def _has_others(url: str) -> bool:
    if missing_file(url):
        return False  # and opening it would create it
    own = {0, read_index(LOCAL).fingerprint}
    backend = backend_from_url(url)
    try:
        backend.open()
        heads = visible(backend.heads(()))[:_NAMESPACES]
        return any(
            record.embedder not in own
            for head in heads
            for record in backend.page(Page(head.namespace, _RECORDS))
        )
    finally:
        backend.close()
