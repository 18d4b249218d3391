"""The embedder of a store: which texts become vectors, and what happens when it fails.

An embedder that fails, answers with the wrong shape, with zeros only or with numbers
that are none never loses a write: the item is stored without vectors, found by its
words, and completed by `MemoryStore.reindex()`.
"""

import asyncio
import logging
import math
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langchain_agentmemory.large_arrays import large_array
from langchain_agentmemory.quoting import summary
from langchain_agentmemory.service.embedding_calls import EmbeddingCalls
from langchain_agentmemory.service.embedding_settings import Index, read_index
from langchain_agentmemory.service.field_paths import FieldPath, texts_at
from langchain_agentmemory.service.plans import Embed
from langchain_agentmemory.service.turns import Turns
from langchain_agentmemory.service.vector_cache import CacheKey, VectorCache, cache_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from langchain_agentmemory.search.calibration import Calibration

logger = logging.getLogger(__name__)

_IN_A_ROW: Final = 2
"""Batches of a request that fail one after the other before the rest is not tried."""

_TINY: Final = 1e-60
_HUGE: Final = 1e60
"""A squared length between these two is that of numbers which float32 can hold."""

_AT_ONCE: Final = 8
"""Answers that are checked on the loop; 128 vectors of 1,536 numbers take 10 ms."""

_Answer = list[list[float]] | Exception
_Asking = Generator[tuple[str, ...], _Answer, "NDArray[np.float32] | None"]


class Embedder:
    """What turns the texts of items into vectors.

    Vectors are kept at unit length, as float32. `distance_type` decides which number
    a search by meaning reports: the cosine, or minus the distance of unit vectors.

    Texts that were embedded lately are not embedded again, and a query that another
    caller is embedding right now is waited for. The others are sent in batches; what a
    failing batch holds has no vectors, the others do.

    Args:
        index: What `MemoryStore(index=…)` takes.

    Raises:
        InvalidInput: If the configuration cannot be used.
    """

    def __init__(self, index: Index) -> None:
        """Check the configuration; nothing is embedded yet."""
        settings = read_index(index)
        self.settings = settings
        self.name = settings.name
        self.dims = settings.dims
        self.whole_value = settings.whole_value
        self.distance_type = settings.distance_type
        self.batch_size = settings.batch_size
        self.fingerprint = settings.fingerprint
        self._calls = EmbeddingCalls(settings.embeddings)
        self._cache = VectorCache(settings.cache_bytes)
        self._turns = Turns()
        self._told_of_others = False
        self.last_error: str | None = None
        self.misconfigured: str | None = None
        """What is wrong with the configured dimension, `None` if nothing is."""
        self.answered = True
        """Whether its last answer had the right shape, whatever was in it."""
        self.calibration: Calibration | None = None
        """What its cosines mean, once it was measured (`service.calibrating`)."""
        self.calibrate_after = -math.inf
        """When it may be measured again, in seconds of `time.monotonic`."""

    def embed(
        self, request: Embed, seconds: float | None = None
    ) -> "NDArray[np.float32] | None":
        """Return unit vectors, one row per text, or `None` if there is none.

        A row that is no direction (zeros only, infinite in float32), or whose batch
        failed, is not a number. The array belongs to the caller.

        Args:
            request: What to embed.
            seconds: How long to wait for another caller that embeds the same question.

        Raises:
            TimeoutError: If that one takes longer.
        """
        with self._turns.turn(self._question(request), seconds):
            return self._embed(request)

    async def aembed(self, request: Embed) -> "NDArray[np.float32] | None":
        """Async twin of `embed`, on the caller's loop."""
        async with self._turns.aturn(self._question(request)):
            return await self._aembed(request)

    def _question(self, request: Embed) -> object:
        """Return what callers wait for: queries and probes, if they will be cached."""
        shared = request.role == "query" or request.probing
        if shared and self.settings.cache_bytes:
            return request.role, request.texts
        return object()

    def _embed(self, request: Embed) -> "NDArray[np.float32] | None":
        asking = self._asking(request)
        step = _step(asking, None)
        while not isinstance(step, _Done):
            answer: _Answer
            try:
                answer = self._calls(step, request.role)
            except Exception as error:  # noqa: BLE001 - whatever an embedder raises
                answer = error
            step = _step(asking, answer)
        return step.vectors

    async def _aembed(self, request: Embed) -> "NDArray[np.float32] | None":
        asking = self._asking(request)
        step = _step(asking, None)
        while not isinstance(step, _Done):
            few = len(step) <= _AT_ONCE
            answer: _Answer
            try:
                answer = await self._calls.acall(step, request.role)
            except Exception as error:  # noqa: BLE001 - whatever an embedder raises
                answer = error
            if few:
                step = _step(asking, answer)
            else:
                step = await asyncio.to_thread(_step, asking, answer)
        return step.vectors

    def _asking(self, request: Embed) -> _Asking:
        """Yield batches of texts, take the answers, return the vectors."""
        known, missing = self._known(request)
        if missing:
            yield from self._ask(missing, known, request)
        return _stacked(known, len(request.texts))

    def _known(
        self, request: Embed
    ) -> "tuple[dict[int, NDArray[np.float32]], list[_Wanted]]":
        known: dict[int, NDArray[np.float32]] = {}
        missing = []
        settings = self.settings
        prefix = (
            settings.query_prefix
            if request.role == "query"
            else settings.document_prefix
        )
        for row, text in enumerate(request.texts):
            key = cache_key(self.fingerprint, request.role, text)
            vector = self._cache.get(key)
            if vector is None:
                missing.append(_Wanted(row, prefix + text, key))
            else:
                known[row] = vector
        return known, missing

    def _ask(
        self,
        missing: "list[_Wanted]",
        known: "dict[int, NDArray[np.float32]]",
        request: Embed,
    ) -> Generator[tuple[str, ...], _Answer, None]:
        error: str | None = None
        answered, failures, done = False, 0, 0
        for start in range(0, len(missing), self.batch_size):
            wanted = missing[start : start + self.batch_size]
            answer = yield tuple(one.text for one in wanted)
            made = self._made(answer, len(wanted))
            if isinstance(made, str):
                error, failures = made, failures + 1
                if failures == _IN_A_ROW:
                    break
                continue
            answered, failures = True, 0
            for one, vector in zip(wanted, made, strict=True):
                if not math.isnan(vector[0]):
                    known[one.row] = vector
                    self._cache.put(one.key, vector)
                    done += 1
        left = len(missing) - done
        if left and error is None:
            error = (
                f"for {left} of {len(missing)} texts it answered with zeros only, or "
                f"with numbers that are not finite in float32"
            )
        if request.probing:
            return
        self.answered = answered
        self.last_error = error
        if error is not None:
            logger.warning(
                "The embedder %s failed on %d of %d texts (%s). Nothing is lost: texts "
                "are stored and found by their words; run reindex() when it works "
                "again.",
                self.name,
                left,
                len(request.texts),
                error,
            )

    def _made(self, answer: _Answer, texts: int) -> "NDArray[np.float32] | str":
        """Return unit vectors, or what is wrong with the answer.

        A row that is no direction is not a number.
        """
        import numpy as np  # noqa: PLC0415 - loaded with the first vector

        if isinstance(answer, Exception):
            return summary(answer)
        try:
            given = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            return summary(error)
        dims = self.dims or (given.shape[-1] if given.ndim else 0) or 1
        if given.shape != (texts, dims):
            wrong = f"it answered with shape {given.shape}, expected {(texts, dims)}"
            if given.ndim == 2 and given.shape[0] == texts:  # noqa: PLR2004
                wrong = self._wrong_dims(given.shape[1])
            return wrong
        self.misconfigured = None
        if texts == 1:
            with np.errstate(over="ignore"):
                square = float(np.dot(given[0], given[0]))
            if _TINY < square < _HUGE:
                return np.asarray(given / math.sqrt(square), np.float32)
        with np.errstate(over="ignore"):  # found out in the next line
            kept = given.astype(np.float32)
        # Lengths in double precision: squares of what float32 holds can be too large.
        norms = np.linalg.norm(kept.astype(np.float64), axis=1, keepdims=True)
        norms[~np.isfinite(norms) | (norms <= 0)] = np.nan
        unit: NDArray[np.float32] = np.divide(kept, norms).astype(np.float32)
        return unit

    def _wrong_dims(self, dims: int) -> str:
        if self.settings.dims is None:
            return f"it answered with {dims} dimensions, and before with {self.dims}"
        self.misconfigured = (
            f"The model {self.name} answers with {dims} dimensions, but index['dims'] "
            f"is {self.dims}: set it to {dims} or leave it out, open the store anew "
            f"and run reindex()."
        )
        return f"{dims} dimensions, but index['dims'] is {self.dims}"

    def gave_up(self, request: Embed, error: TimeoutError) -> None:
        """Note that a search did not wait for an answer any longer."""
        if request.probing:
            return
        self.last_error = summary(error)
        logger.warning(
            "The embedder %s did not answer a search (%s), which goes by words.",
            self.name,
            self.last_error,
        )

    def forget_vectors(self) -> None:
        """Forget the vectors of what was embedded lately, of all users."""
        self._cache.clear()

    def adopt(self, dims: int) -> None:
        """Take over the dimension of the first vectors, if none was configured."""
        if self.dims is None:
            self.dims = dims

    def note_others(self, count: int) -> None:
        """Say once that a store holds vectors of another model, or of other prefixes.

        Args:
            count: How many items have them where it was noticed.
        """
        if count and not self._told_of_others:
            self._told_of_others = True
            logger.warning(
                "This store holds vectors that another embedder made (%d of the items "
                "just read), which cannot be compared with those of %s: these items "
                "are found by their words until reindex() embeds them anew.",
                count,
                self.name,
            )

    def texts(
        self, value: Mapping[str, Any], fields: Sequence[FieldPath] | None = None
    ) -> tuple[str, ...]:
        """Return the texts of a value that are embedded, each once.

        Args:
            value: The value of an item.
            fields: Fields chosen by the writer instead of the configured ones.
        """
        chosen = self.settings.fields if fields is None else fields
        return tuple(dict.fromkeys(text for text in texts_at(value, chosen) if text))


class _Wanted(NamedTuple):
    """A text that has to be embedded, and which row of the answer it is."""

    row: int
    text: str
    key: CacheKey


def _stacked(
    known: "dict[int, NDArray[np.float32]]", texts: int
) -> "NDArray[np.float32] | None":
    """Return vectors as rows of a new array; rows without one are not a number."""
    if not known:
        return None
    if texts == 1:
        return known[0][None].copy()
    import numpy as np  # noqa: PLC0415 - loaded already: these are its arrays

    dims = next(iter(known.values())).shape[0]
    rows: NDArray[np.float32] = large_array((texts, dims), np.float32)
    rows.fill(np.nan)
    for row, vector in known.items():
        rows[row] = vector
    return rows


class _Done(NamedTuple):
    """The end of asking: StopIteration cannot travel through a future."""

    vectors: "NDArray[np.float32] | None"


def _step(asking: _Asking, answer: _Answer | None) -> tuple[str, ...] | _Done:
    """Hand over an answer; return the next batch, or the vectors."""
    try:
        return asking.send(answer)  # type: ignore[arg-type]  # None begins it
    except StopIteration as end:
        return _Done(end.value)
