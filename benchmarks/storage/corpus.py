"""Texts and vectors: made from a seed, the same for every contestant.

English texts have 25 words drawn by Zipf's law from 20,000 made-up words of English
shape and from the commonest real ones, so that stemming, stop words and a vocabulary
that repeats are all exercised. Chinese texts have about 50 characters: words of jieba's
own dictionary drawn by their frequency in it.
"""

import hashlib
import random
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import numpy as np
from langchain_core.embeddings import Embeddings

from benchmarks.storage.matrix import Language

PLACES: Final = 20
"""Different values of the field that the filter asks for: it selects 5 %."""

_WORDS_PER_TEXT: Final = 25
_CHARACTERS_PER_TEXT: Final = 50
_CHARACTERS_PER_CLAUSE: Final = 14
_QUERY_WORDS: Final = 6
_MADE_UP_WORDS: Final = 20_000
_COMMON: Final = (
    "the to and a i you it of in that is my was for on with we this have so be at "
    "like about but just me they are really she he had good not go do what out"
).split()
_STARTS: Final = (
    "b br c ch d f fl g gr h j k l m n p pl pr qu r s sh sp st t tr v w".split()
)
_VOWELS: Final = "a e i o u ai ea ee oo ou".split()
_ENDS: Final = "b ck d g l ll m n nd ng nt p r rd s ss st t th".split()
_TAILS: Final = ["", "", "", "s", "ed", "ing", "er", "ly", "tion", "ness"]


class Texts:
    """An endless row of texts.

    Args:
        language: Their language.
        seed: Two rows of one seed are equal.
    """

    def __init__(self, language: Language, seed: int) -> None:
        """Build the vocabulary."""
        self.language = language
        self._random = random.Random(seed)
        self._words, self._sums = _VOCABULARIES[language]()

    def __iter__(self) -> Iterator[str]:
        """Yield texts."""
        while True:
            yield self.text()

    def text(self) -> str:
        """Return the next text."""
        if self.language == "en":
            words = [self._word() for _ in range(_WORDS_PER_TEXT)]
            return f"{' '.join(words).capitalize()}."
        text = clause = ""
        while len(text) + len(clause) < _CHARACTERS_PER_TEXT:
            clause += self._word()
            if len(clause) >= _CHARACTERS_PER_CLAUSE:
                text, clause = f"{text}{clause}，", ""
        return f"{text}{clause}。"

    def query(self) -> str:
        """Return a query: six words, as common as those of the texts."""
        gap = " " if self.language == "en" else ""
        return gap.join(self._word() for _ in range(_QUERY_WORDS))

    def _word(self) -> str:
        return self._words[bisect(self._sums, self._random.random() * self._sums[-1])]


Vocabulary = tuple[list[str], list[float]]
"""Words, and the running sums of their weights."""


@cache
def _english() -> Vocabulary:
    source = random.Random("words")
    words = dict.fromkeys(_COMMON)
    while len(words) < _MADE_UP_WORDS:
        syllables = source.choice((1, 2, 2, 3))
        word = "".join(
            source.choice(_STARTS) + source.choice(_VOWELS) for _ in range(syllables)
        )
        words[word + source.choice(_ENDS) + source.choice(_TAILS)] = None
    weights = (1 / rank for rank in range(1, len(words) + 1))
    return list(words), list(accumulate(weights))


@cache
def _chinese() -> Vocabulary:
    import jieba  # noqa: PLC0415 - only where Chinese texts are made

    dictionary = Path(jieba.__file__).with_name("dict.txt")
    words: list[str] = []
    weights: list[float] = []
    for line in dictionary.read_text(encoding="utf-8").splitlines():
        word, count, *_ = line.split(" ")
        if len(word) <= 4 and all("一" <= letter <= "鿿" for letter in word):  # noqa: PLR2004
            words.append(word)
            weights.append(float(count))
    return words, list(accumulate(weights))


_VOCABULARIES: Final[dict[Language, Callable[[], Vocabulary]]] = {
    "en": _english,
    "zh": _chinese,
}


def value(text: str, number: int) -> dict[str, Any]:
    """Return the value of an item, in the form of a memory.

    Args:
        text: The memory.
        number: The number of the item; every twentieth is at the same place.
    """
    return {
        "memory": text,
        "topics": [f"topic-{number % 50}"],
        "kind": "fact",
        "event_time": None,
        "participants": [],
        "location": f"place-{number % PLACES}",
    }


class HashEmbedder(Embeddings):
    """Vectors made from a hash of the text; what making them costs is counted apart.

    A vector is the sum of three rows of one random matrix, at unit length: cheap, the
    same in every process, and different for different texts.

    Args:
        dims: Length of the vectors.
        delay: Seconds that a call waits, as for a service over the network.
    """

    def __init__(self, dims: int, delay: float = 0.0) -> None:
        """Build the matrix."""
        generator = np.random.default_rng(384)
        self._rows = generator.standard_normal((4096, dims), dtype=np.float32)
        self.delay = delay
        self.cpu_ns = 0
        self.wall_ns = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        if self.delay:
            time.sleep(self.delay)
        vectors = [self._vector(text) for text in texts]
        self.wall_ns += time.perf_counter_ns() - wall
        self.cpu_ns += time.thread_time_ns() - cpu
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        return self.embed_documents([text])[0]

    def _vector(self, text: str) -> list[float]:
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        rows = self._rows
        total = rows[number & 4095] + rows[(number >> 12) & 4095]
        total += rows[(number >> 24) & 4095]
        unit: list[float] = (total / np.linalg.norm(total)).tolist()
        return unit
