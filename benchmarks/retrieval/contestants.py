"""Who is compared. Ablations are not among them: see `ablating`."""

import importlib.util
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore

from benchmarks.retrieval.baselines import BM25S, FTS5, RankBM25
from benchmarks.retrieval.engines import Engine, LangGraphStore, Open, Ours

WORDS: Final = "ours, words"
"""The name of ours without an embedder."""

Family = Literal["ours", "reference", "peer", "baseline"]


@dataclass(frozen=True)
class Contestant:
    """A way to rank.

    Contestants of one `open` and one embedder share a filled engine.

    Attributes:
        name: As tables show it; unique.
        family: What it is to us.
        open: Makes an empty engine, with an embedder or without.
        embedder: The name of the embedder, `None` if it goes by words alone.
        options: What its searches are called with.
    """

    name: str
    family: Family
    open: Open
    embedder: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        """How it searches: `"lexical"`, `"vector"` or `"hybrid"`."""
        return str(self.options.get("mode", "vector" if self.embedder else "lexical"))


def contestants(
    embedders: Sequence[str], *, peers: bool = True
) -> Iterator[Contestant]:
    """Yield everyone who can take part here.

    Args:
        embedders: Names of embedders, in the order of the tables.
        peers: Whether LangGraph's stores and plain BM25 take part.
    """
    lexical = {"mode": "lexical"}
    yield Contestant(WORDS, "ours", ours, None, lexical)
    yield Contestant("ours, reference formula", "reference", reference, None, lexical)
    for embedder in embedders:
        for mode in ("vector", "hybrid"):
            name = mode_name(mode, embedder)
            yield Contestant(name, "ours", ours, embedder, {"mode": mode})
    if peers:
        yield from _peers(embedders)


def mode_name(mode: str, embedder: str | None) -> str:
    """Return the name of ours in a mode."""
    return WORDS if mode == "lexical" else f"ours, {mode}, {embedder}"


def not_run(embedders: Sequence[str]) -> Iterator[str]:
    """Yield who cannot take part here, and why."""
    if embedders and not _has_extensions():
        yield "`SqliteStore`: this Python's `sqlite3` cannot load `sqlite-vec`."
    for module in ("rank_bm25", "bm25s"):
        if not importlib.util.find_spec(module):
            yield f"`{module}`: not installed."


def ours(embedder: Embeddings | None) -> Engine:
    """Open ours as it comes."""
    return Ours(embedder)


def reference(embedder: Embeddings | None) -> Engine:
    """Open ours with the formula of the reference system."""
    return Ours(embedder, ranking="reference")


def in_memory_store(embedder: Embeddings | None) -> Engine:
    """Open LangGraph's `InMemoryStore`."""
    assert embedder is not None
    return LangGraphStore(InMemoryStore(index=_index(embedder)))


def sqlite_store(embedder: Embeddings | None) -> Engine:
    """Open LangGraph's `SqliteStore` in memory."""
    from langgraph.store.sqlite import SqliteStore  # noqa: PLC0415 - may be missing

    assert embedder is not None
    return LangGraphStore(
        SqliteStore.from_conn_string(":memory:", index=_index(embedder))
    )


def _index(embedder: Embeddings) -> Any:
    dims = len(embedder.embed_query("How many numbers are in a vector?"))
    return {"embed": embedder, "dims": dims, "fields": ["memory"]}


def _peers(embedders: Sequence[str]) -> Iterator[Contestant]:
    for embedder in embedders:
        name = f"InMemoryStore, {embedder}"
        yield Contestant(name, "peer", in_memory_store, embedder)
        if _has_extensions():
            name = f"SqliteStore, {embedder}"
            yield Contestant(name, "peer", sqlite_store, embedder)
    if importlib.util.find_spec("rank_bm25"):
        yield Contestant("rank_bm25", "baseline", lambda _: RankBM25())
    if importlib.util.find_spec("bm25s"):
        yield Contestant("bm25s, stems", "baseline", lambda _: BM25S())
    yield Contestant("SQLite FTS5, porter", "baseline", lambda _: FTS5())


def _has_extensions() -> bool:
    """Return whether `SqliteStore` can compare vectors here."""
    if not importlib.util.find_spec("sqlite_vec"):
        return False
    return hasattr(sqlite3.Connection, "enable_load_extension")
