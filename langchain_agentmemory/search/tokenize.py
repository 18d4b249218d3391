"""What a tokenizer is, and the blob of word hashes that is stored with each record.

A blob is little-endian: the tokenizer's fingerprint (uint64), four counts (uint32),
then that many uint64 word hashes: the content's primary tokens in order, the content's
extra tokens (n-grams, parts of identifiers), the topics' primary tokens, their extras.
"""

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol

from langchain_agentmemory.search.formula import REFERENCE_FORMULA, Formula

HEADER: Final = struct.Struct("<Q4I")
"""Fingerprint, then the counts of the four groups of tokens."""

UNINDEXED: Final = b""
"""The token blob of an item that takes no part in lexical search."""

WORD_BYTES: Final = 8
HEADER_WORDS: Final = HEADER.size // WORD_BYTES

_CACHED_WORDS: Final = 1 << 15
_LONGEST_CACHED_WORD: Final = 40


class Field(NamedTuple):
    """The tokens of one field of a document, as text.

    Attributes:
        primary: Words in order, with repetitions.
        extra: What is found beside them: n-grams, wholes and parts of identifiers.
    """

    primary: Sequence[str]
    extra: Sequence[str]


class Fallback(NamedTuple):
    """Texts to look for, as they stand, where no token of the query matched.

    Attributes:
        raw: To be found in the lower-cased text, or `None`.
        normalized: To be found in the normalised text (`scripts.phrase_text`), or
            `None`.
    """

    raw: str | None
    normalized: str | None


class Query(NamedTuple):
    """A query as the scorer sees it.

    Attributes:
        text: The query, trimmed.
        words: Its distinct tokens as text, for explanations.
        terms: The hashes of `words`, same order.
        weights: What each token counts, same order.
        phrase: Indexes into `words` of the tokens whose order counts.
        fallback: What to look for in documents that no token matched.
        formula: How documents are scored.
        emphasis: What scores are multiplied by: no document matches the whole of a
            long query, and need not to be relevant.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[int, ...]
    weights: tuple[float, ...]
    phrase: tuple[int, ...]
    fallback: Fallback | None = None
    formula: Formula = REFERENCE_FORMULA
    emphasis: float = 1.0


class Tokenizer(Protocol):
    """Turns documents into token blobs and queries into `Query` values."""

    @property
    def name(self) -> str:
        """A short name for people."""
        ...

    @property
    def compares_stored(self) -> bool:
        """Whether the token set of a text is what `document` stores of a content."""
        ...

    @property
    def fingerprint(self) -> int:
        """64 bits that change whenever the tokens of some text would."""
        ...

    def document(self, content: str, topics: str) -> bytes:
        """Return the token blob of a document; `topics` are joined with a blank."""
        ...

    def query(self, text: str) -> Query:
        """Return the query's tokens and weights."""
        ...

    def field(self, text: str) -> Field:
        """Return the tokens of one field of a document as text."""
        ...

    def token_set(self, text: str) -> frozenset[str]:
        """Return the tokens by which near-duplicates are recognised."""
        ...


def fingerprint(name: str, version: int, dictionary: str = "") -> int:
    """Return the fingerprint of a tokenizer.

    Args:
        name: Its name.
        version: Of its algorithm.
        dictionary: What names the words that a user added; blank without any.
    """
    named = f"{name}/{version}/{dictionary}" if dictionary else f"{name}/{version}"
    digest = blake2b(named.encode(), digest_size=WORD_BYTES).digest()
    return int.from_bytes(digest, "little")


def hash_word(word: str) -> int:
    """Return the 64-bit hash of a word."""
    encoded = word.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=WORD_BYTES).digest(), "little")


class _WordHashes(dict[str, int]):
    """Hashes of words met before: emptied when full, so its size is bounded."""

    def __missing__(self, word: str) -> int:
        value = hash_word(word)
        if len(word) <= _LONGEST_CACHED_WORD:
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = value
        return value


word_hash: Final = _WordHashes().__getitem__
"""The cached form of `hash_word`."""


def pack(
    fingerprint: int,
    content: tuple[Iterable[int], Iterable[int]],
    topics: tuple[Iterable[int], Iterable[int]],
) -> bytes:
    """Return the blob of the hashes of (primary, extra) tokens of both fields."""
    words = array("Q")
    counts = []
    for group in (*content, *topics):
        before = len(words)
        words.extend(group)
        counts.append(len(words) - before)
    if sys.byteorder == "big":
        words.byteswap()
    return HEADER.pack(fingerprint, *counts) + words.tobytes()


def is_blob_of(blob: bytes | None, fingerprint: int) -> bool:
    """Tell whether it is a complete blob of the tokenizer with this fingerprint."""
    if not blob or len(blob) < HEADER.size:
        return False
    marked, *counts = HEADER.unpack_from(blob)
    whole: bool = len(blob) == HEADER.size + WORD_BYTES * sum(counts)
    return whole and marked == fingerprint
