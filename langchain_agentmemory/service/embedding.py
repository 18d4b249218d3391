"""The embedder of a store: which texts become vectors, and what happens when it fails.

An embedder that fails, answers with the wrong shape, with zeros only or with numbers
that are none never loses a write: the item is stored without vectors, found by its
words, and completed by `MemoryStore.reindex()`.
"""

import asyncio
import hashlib
import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from langchain_core.embeddings import Embeddings
from langgraph.store.base import ensure_embeddings, get_text_at_path, tokenize_path
from langgraph.store.base.embed import EmbeddingsLambda

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted, summary
from langchain_agentmemory.service.plans import Embed
from langchain_agentmemory.service.settings import check_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

DistanceType = Literal["cosine", "inner_product", "l2"]

_WHOLE: Final = ("$",)
_MOST_DIMS: Final = 1 << 20
_CONFIGURED: Final = (
    *("embed", "dims", "fields", "distance_type", "name"),
    *("text_fields", "ann_index_config"),  # of LangGraph's other stores
)


class FieldPath(NamedTuple):
    """A field that is indexed, and the steps that lead to it."""

    name: str
    steps: Sequence[str]


class Embedder:
    """What turns the texts of items into vectors.

    Vectors are kept at unit length, as float32. `distance_type` decides which number
    a search by meaning reports: the cosine, or minus the distance of unit vectors.

    Args:
        config: LangGraph's `IndexConfig` (`embed`, `dims`, `fields`; also
            `distance_type` and a `name` that identifies the model), or a LangChain
            `Embeddings`.

    Raises:
        InvalidInput: If the configuration cannot be used.
    """

    def __init__(self, config: Mapping[str, Any] | Embeddings) -> None:
        """Check the configuration; nothing is embedded yet."""
        if isinstance(config, Embeddings):
            config = {"embed": config}
        if not isinstance(config, Mapping) or not config.get("embed"):
            msg = (
                "index must be a LangChain Embeddings, or a dict with 'embed' and "
                "'dims' (LangGraph's IndexConfig)."
            )
            raise InvalidInput(msg)
        check_names("index", config, _CONFIGURED)
        given = config["embed"]
        self._embeddings = _embeddings(given)
        self._async_only = isinstance(self._embeddings, EmbeddingsLambda) and not (
            hasattr(self._embeddings, "func")
        )
        self.dims = _dims(config.get("dims"))
        names = config.get("fields") or config.get("text_fields") or list(_WHOLE)
        if not isinstance(names, list | tuple):
            msg = f"fields must be a list of field paths, not {quoted(names)}."
            raise InvalidInput(msg)
        self.fields = tuple(field_path(name) for name in names)
        self.whole_value = tuple(names) == _WHOLE
        self.distance_type: DistanceType = config.get("distance_type") or "cosine"
        if self.distance_type not in get_args(DistanceType):
            msg = (
                f"Unknown distance_type {quoted(self.distance_type)}: use cosine, "
                f"inner_product or l2."
            )
            raise InvalidInput(msg)
        name = config.get("name")
        if name is not None and not isinstance(name, str):
            msg = f"index['name'] must be text, not {quoted(name)}."
            raise InvalidInput(msg)
        self.name = name or _name(given)
        self.fingerprint = _fingerprint(self.name, self.dims)
        self.last_error: str | None = None
        self.answered = True
        """Whether its last answer had the right shape, whatever was in it."""

    def embed(self, request: Embed) -> "NDArray[np.float32] | None":
        """Return unit vectors, one row per text, or `None` if the embedder failed.

        A row that is no direction (zeros only, infinite in float32) is not a number.
        """
        try:
            raw = self._embed(request)
        except Exception as error:  # noqa: BLE001 - whatever an embedder raises
            return self._failed(error)
        return self._checked(raw, request)

    async def aembed(self, request: Embed) -> "NDArray[np.float32] | None":
        """Async twin of `embed`, on the caller's loop."""
        try:
            raw = await self._aembed(request)
        except Exception as error:  # noqa: BLE001 - whatever an embedder raises
            return self._failed(error)
        return self._checked(raw, request)

    def _embed(self, request: Embed) -> list[list[float]]:
        texts = list(request.texts)
        if self._async_only:
            return _in_own_loop(self._embeddings, request)
        if request.role == "query":
            return [self._embeddings.embed_query(text) for text in texts]
        return self._embeddings.embed_documents(texts)

    async def _aembed(self, request: Embed) -> list[list[float]]:
        return await _await_vectors(self._embeddings, request)

    def _checked(
        self, raw: list[list[float]], request: Embed
    ) -> "NDArray[np.float32] | None":
        import numpy as np  # noqa: PLC0415 - loaded with the first vector

        try:
            given = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            return self._failed(error)
        texts = len(request.texts)
        dims = self.dims or (given.shape[-1] if given.ndim else 0) or 1
        if given.shape != (texts, dims):
            return self._failed(
                f"it answered with shape {given.shape}, expected {(texts, dims)}"
            )
        with np.errstate(over="ignore"):  # found out in the next line
            kept = given.astype(np.float32)
        # Lengths in double precision: squares of what float32 holds can be too large.
        norms = np.linalg.norm(kept.astype(np.float64), axis=1, keepdims=True)
        usable = np.isfinite(norms) & (norms > 0)
        bad = texts - int(np.count_nonzero(usable))
        self.last_error = None
        if bad:
            self._failed(
                f"for {bad} of {texts} texts it answered with zeros only, or with "
                f"numbers that are not finite in float32"
            )
        self.answered = True
        if bad == texts:
            return None
        norms[~usable] = np.nan
        unit: NDArray[np.float32] = np.divide(kept, norms).astype(np.float32)
        return unit

    def _failed(self, error: Exception | str) -> "NDArray[np.float32] | None":
        self.answered = False
        self.last_error = error if isinstance(error, str) else summary(error)
        logger.warning(
            "The embedder %s failed (%s). Nothing is lost: texts are stored and found "
            "by their words; run reindex() when it works again.",
            self.name,
            self.last_error,
        )
        return None

    def adopt(self, dims: int) -> None:
        """Take over the dimension of the first vectors, if none was configured."""
        if self.dims is None:
            self.dims = dims

    def texts(
        self, value: Mapping[str, Any], fields: Sequence[FieldPath] | None = None
    ) -> tuple[str, ...]:
        """Return the texts of a value that are embedded, each once.

        Args:
            value: The value of an item.
            fields: Fields chosen by the writer instead of the configured ones.
        """
        chosen = self.fields if fields is None else fields
        found = [
            text
            for path in chosen
            for text in get_text_at_path(value, list(path.steps) or "$")
        ]
        return tuple(dict.fromkeys(text for text in found if text))


def field_path(name: str) -> FieldPath:
    """Return the steps of a field path such as `a.b[*].c` or `$`.

    Raises:
        InvalidInput: If it is not text.
    """
    if not isinstance(name, str) or not name:
        msg = f"{quoted(name)} is not a field path: use text like 'a.b[*].c' or '$'."
        raise InvalidInput(msg)
    return FieldPath(name, () if name == "$" else tuple(tokenize_path(name)))


def _embeddings(given: object) -> Embeddings:
    if not isinstance(given, Embeddings | str) and not callable(given):
        msg = (
            f"index['embed'] must be a LangChain Embeddings, a function of texts, or a "
            f"name such as 'openai:text-embedding-3-small', not {quoted(given)}."
        )
        raise InvalidInput(msg)
    try:
        return ensure_embeddings(given)
    except Exception as error:
        msg = f"index['embed']={quoted(given)} cannot be used: {summary(error)}"
        raise InvalidInput(msg) from error


def _dims(given: object) -> int | None:
    if given is None:
        return None
    if (
        isinstance(given, bool)
        or not isinstance(given, int)
        or not 1 <= given <= _MOST_DIMS
    ):
        msg = f"dims must be an integer from 1 to {_MOST_DIMS:,}, not {quoted(given)}."
        raise InvalidInput(msg)
    return given


def _name(given: object) -> str:
    for attribute in ("model_name", "model", "model_id"):
        found = getattr(given, attribute, None)
        if isinstance(found, str) and found:
            return found
    if isinstance(given, str):
        return given
    kind = given if isinstance(given, type) or callable(given) else type(given)
    label = getattr(kind, "__qualname__", None) or type(given).__qualname__
    return f"{getattr(kind, '__module__', '')}.{label}"


def _fingerprint(name: str, dims: int | None) -> int:
    text = f"{name}|{dims or ''}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=8).digest()
    # 63 bits, and never 0, which means "no vectors".
    return (int.from_bytes(digest, "little") >> 1) or 1


async def _await_vectors(embeddings: Embeddings, request: Embed) -> list[list[float]]:
    texts = list(request.texts)
    if request.role == "query":
        return list(
            await asyncio.gather(*(embeddings.aembed_query(text) for text in texts))
        )
    return await embeddings.aembed_documents(texts)


def _in_own_loop(embeddings: Embeddings, request: Embed) -> list[list[float]]:
    """Run an async-only embedder for a synchronous caller, in a thread of its own."""
    vectors: list[list[float]] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            vectors.extend(asyncio.run(_await_vectors(embeddings, request)))
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    thread = threading.Thread(target=work, name="agentmemory-embed")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return vectors
