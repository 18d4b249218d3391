"""What `index=` says about the embedder of a store, checked once."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final, Literal, get_args

from langchain_core.embeddings import Embeddings
from langgraph.store.base import ensure_embeddings

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.local_embeddings import LocalEmbeddings
from langchain_agentmemory.quoting import quoted, summary
from langchain_agentmemory.service.field_paths import FieldPath, field_path
from langchain_agentmemory.service.settings import check_choice, check_names

DistanceType = Literal["cosine", "inner_product", "l2"]
Embed = Embeddings | str | Callable[..., Any]
"""What embeds: a LangChain `Embeddings`, `"local"`, the name of a model, a function."""

Index = Mapping[str, Any] | Embed
"""What `index=` takes."""

LOCAL: Final = "local"
"""The name of `LocalEmbeddings`."""

BATCH_SIZE: Final = 128
"""Texts per request. OpenAI takes 2,048, Cohere 96 by itself, most servers between 32
and a few hundred; the local embedder gains nothing beyond 32 (measured)."""

CACHE_BYTES: Final = 4_000_000
"""What the cached vectors of a store may take: about 1,700 of 512 dimensions."""

_MOST_DIMS: Final = 1 << 20
_LARGEST_BATCH: Final = 10_000
_LARGEST_CACHE: Final = 1 << 40
_WHOLE: Final = ("$",)
_CONFIGURED: Final = (
    *("embed", "dims", "fields", "distance_type", "name"),
    *("query_prefix", "document_prefix", "batch_size", "cache_bytes", "calibrate"),
    *("text_fields", "ann_index_config"),  # of LangGraph's other stores
)
_OTHER_NAMES: Final = {
    **dict.fromkeys(("embedding", "embeddings", "embedder"), "embed"),
    **dict.fromkeys(("dimension", "dimensions", "size"), "dims"),
}


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """How a store embeds.

    Attributes:
        embeddings: What makes the vectors.
        name: The model, part of the fingerprint.
        dims: The dimension, `None` = that of the first vectors.
        fields: Which fields of items are embedded.
        whole_value: These are the whole value, which is the default.
        distance_type: Which number a search by meaning reports.
        query_prefix: What is put before queries.
        document_prefix: What is put before texts that are stored.
        batch_size: Texts per request.
        cache_bytes: What cached vectors may take, 0 = nothing is cached.
        calibrate: Whether the embedder is measured once, by embedding some texts.
    """

    embeddings: Embeddings
    name: str
    dims: int | None
    fields: tuple[FieldPath, ...]
    whole_value: bool
    distance_type: DistanceType
    query_prefix: str
    document_prefix: str
    batch_size: int
    cache_bytes: int
    calibrate: bool = True

    @property
    def fingerprint(self) -> int:
        """The mark of vectors that can be compared: 63 bits, never 0."""
        told = f"{self.name}|{self.dims or ''}"
        if self.query_prefix or self.document_prefix:
            told += json.dumps([self.query_prefix, self.document_prefix])
        text = told.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=8).digest()
        # 0 means "no vectors".
        return (int.from_bytes(digest, "little") >> 1) or 1


def read_index(given: Index) -> EmbeddingSettings:
    """Return what `index=` says.

    Args:
        given: LangGraph's `IndexConfig` and what else `MemoryStore` documents, or only
            what embeds: a LangChain `Embeddings`, a function of texts, `"local"`, or
            the name of a model.

    Raises:
        InvalidInput: If it cannot be used, or what it needs is not installed.
    """
    config: Mapping[str, Any] = (
        given if isinstance(given, Mapping) else {"embed": given}
    )
    embed = config.get("embed")
    if embed is None or (isinstance(embed, str) and not embed):
        msg = (
            "index must be a LangChain Embeddings, 'local', the name of a model, or a "
            "dict with 'embed' and 'dims' (LangGraph's IndexConfig)."
        )
        raise InvalidInput(msg)
    check_names("index", config, _CONFIGURED, _OTHER_NAMES)
    embeddings = _embeddings(embed)
    names = config.get("fields") or config.get("text_fields") or list(_WHOLE)
    if not isinstance(names, list | tuple):
        msg = f"fields must be a list of field paths, not {quoted(names)}."
        raise InvalidInput(msg)
    distance: DistanceType = "cosine"
    if config.get("distance_type"):
        distance = config["distance_type"]
    check_choice("distance_type", distance, get_args(DistanceType))
    local = isinstance(embeddings, LocalEmbeddings)
    return EmbeddingSettings(
        embeddings=embeddings,
        name=_text(config, "name") or _name(embeddings if local else embed),
        dims=_dims(config.get("dims"), embeddings),
        fields=tuple(field_path(name) for name in names),
        whole_value=tuple(names) == _WHOLE,
        distance_type=distance,
        query_prefix=_text(config, "query_prefix"),
        document_prefix=_text(config, "document_prefix"),
        batch_size=_number(config, "batch_size", BATCH_SIZE, 1, _LARGEST_BATCH),
        cache_bytes=_number(config, "cache_bytes", CACHE_BYTES, 0, _LARGEST_CACHE),
        calibrate=_flag(config, "calibrate", default=True),
    )


def _embeddings(given: object) -> Embeddings:
    if isinstance(given, str) and given == LOCAL:
        return LocalEmbeddings()
    if isinstance(given, type):
        msg = (
            f"An embedder must be an object, not the class {given.__qualname__}: make "
            f"one, as in embeddings={given.__qualname__}(…)."
        )
        raise InvalidInput(msg)
    if not isinstance(given, Embeddings | str) and not callable(given):
        msg = (
            f"index['embed'] must be a LangChain Embeddings, a function of texts, "
            f"'local', or a name such as 'openai:text-embedding-3-small', not "
            f"{quoted(given)}."
        )
        raise InvalidInput(msg)
    if isinstance(given, str) and ":" not in given:
        msg = (
            f"There is no embedder {quoted(given)}: use 'local', the name of a model "
            f"with its provider, such as 'openai:text-embedding-3-small', a LangChain "
            f"Embeddings, or a function of texts."
        )
        raise InvalidInput(msg)
    if isinstance(given, str) and find_spec("langchain") is None:
        provider = given.partition(":")[0]
        msg = (
            f"An embedder by its name ({quoted(given)}) needs the package langchain: "
            f"pip install 'langchain-agentmemory[agents]' and LangChain's package for "
            f"{quoted(provider)}, or pass a LangChain Embeddings itself."
        )
        raise InvalidInput(msg)
    try:
        return ensure_embeddings(given)
    except Exception as error:
        msg = f"index['embed']={quoted(given)} cannot be used: {summary(error)}"
        raise InvalidInput(msg) from error


def _dims(given: object, embeddings: Embeddings) -> int | None:
    known = embeddings.dims if isinstance(embeddings, LocalEmbeddings) else None
    if given is None:
        return known
    if (
        isinstance(given, bool)
        or not isinstance(given, int)
        or not 1 <= given <= _MOST_DIMS
    ):
        msg = f"dims must be an integer from 1 to {_MOST_DIMS:,}, not {quoted(given)}."
        raise InvalidInput(msg)
    if known not in {None, given}:
        msg = (
            f"index['dims'] is {given}, but the local embedder has {known}: leave "
            f"dims out."
        )
        raise InvalidInput(msg)
    return given


def _text(config: Mapping[str, Any], name: str) -> str:
    given = config.get(name)
    if given is None:
        return ""
    if not isinstance(given, str):
        msg = f"index[{name!r}] must be text, not {quoted(given)}."
        raise InvalidInput(msg)
    return given


def _number(
    config: Mapping[str, Any], name: str, default: int, least: int, most: int
) -> int:
    given = config.get(name)
    if given is None:
        return default
    if (
        isinstance(given, bool)
        or not isinstance(given, int)
        or not least <= given <= most
    ):
        msg = (
            f"index[{name!r}] must be an integer from {least} to {most:,}, not "
            f"{quoted(given)}."
        )
        raise InvalidInput(msg)
    return given


def _flag(config: Mapping[str, Any], name: str, *, default: bool) -> bool:
    given = config.get(name)
    if given is None:
        return default
    if not isinstance(given, bool):
        msg = f"index[{name!r}] must be True or False, not {quoted(given)}."
        raise InvalidInput(msg)
    return given


def _name(given: object) -> str:
    for attribute in ("model_name", "model", "model_id"):
        found = getattr(given, attribute, None)
        if isinstance(found, str) and found:
            return found
    if isinstance(given, str):
        return given
    kind = given if callable(given) else type(given)
    label = getattr(kind, "__qualname__", None) or type(given).__qualname__
    return f"{getattr(kind, '__module__', '')}.{label}"
