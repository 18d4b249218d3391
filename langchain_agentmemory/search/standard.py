"""The default tokenizer: the words of `ranking="default"`.

English words are stemmed, accents and full-width forms folded, traditional Chinese
characters simplified. Identifiers are found whole and in parts. Chinese has dictionary
words and, beside them, single characters and the bigrams of every CJK run, which find
what the dictionary cuts elsewhere. Question words are dropped from queries.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from langchain_agentmemory.identity import trim
from langchain_agentmemory.search.english import stem
from langchain_agentmemory.search.formula import DEFAULT_FORMULA
from langchain_agentmemory.search.scripts import (
    CJK_RUN,
    HAN,
    HAN_OR_OTHER_RUN,
    LazyPattern,
    is_cjk,
    phrase_text,
)
from langchain_agentmemory.search.segment import SEGMENTER, Segmenter
from langchain_agentmemory.search.simplified import simplified
from langchain_agentmemory.search.stopwords import CHINESE, ENGLISH
from langchain_agentmemory.search.tokenize import (
    HEADER,
    WORD_BYTES,
    Fallback,
    Field,
    Query,
    fingerprint,
    word_hash,
)

_VERSION: Final = 2
# Holds what 20,000 texts of 20,000 different words are made of. With half of this and
# of the stems, a text costs 75 instead of 23 µs, and memory is 5 MB less.
_CACHED_CHUNKS: Final = 1 << 15
_LONGEST_CACHED_CHUNK: Final = 40
_LONGEST_WHOLE: Final = 64
_EXTRA_WEIGHT: Final = 0.5
_GRAM_WEIGHT: Final = 0.45
# Recall@10 on half of MADial (Chinese): words and bigrams 50, with single characters
# 55. Weights from 0.2 to 0.6 lie within noise of each other (132 queries).

_ASCII_WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")
_CORE: Final = re.compile(r"(?<!\.)\.?\w(?:\S*\w)?[+#]{0,2}")
_IDENTIFIER: Final = re.compile(r"\.?\w+(?:[-._@:/\\+&'#~,]+\w+)*[+#]*")
_PIECE: Final = re.compile(r"\d+(?:\.\d+)+|\d+|[^\W\d_]+")
_GROUPED_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_CONTRACTIONS: Final = frozenset(("", "s", "m", "re", "ve", "ll", "d", "t"))
_CONTRACTED: Final = re.compile(r"'(?:s|m|re|ve|ll|d|t)$")
_LONG_SOUND: Final = "ー"  # Common by script, but part of kana words.


class DefaultTokenizer:
    """Makes the tokens of the default ranking.

    Args:
        segmenter: Splits Chinese text. The process's shared one if not given.
    """

    name = "default"

    def __init__(self, segmenter: Segmenter = SEGMENTER) -> None:
        """Keep the segmenter; load nothing."""
        self._segmenter = segmenter
        self.fingerprint = fingerprint(self.name, _VERSION)

    def document(self, content: str, topics: str) -> bytes:
        """Return the token blob of a document."""
        primary, extra = self._hashes(content)
        topics_primary, topics_extra = self._hashes(topics) if topics else (b"", b"")
        header = HEADER.pack(
            self.fingerprint,
            len(primary) // WORD_BYTES,
            len(extra) // WORD_BYTES,
            len(topics_primary) // WORD_BYTES,
            len(topics_extra) // WORD_BYTES,
        )
        return b"".join((header, primary, extra, topics_primary, topics_extra))

    def field(self, text: str) -> Field:
        """Return the tokens of one field of a document as text."""
        latin, words, grams = self._parts(text)
        chunks = [_CHUNKS[chunk] for chunk in latin]
        primary = words + [word for chunk in chunks for word in chunk.primary]
        extra = [word for chunk in chunks for word in chunk.extra] + grams
        return Field(primary, extra)

    def token_set(self, text: str) -> frozenset[str]:
        """Return the tokens by which near-duplicates are recognised."""
        primary, extra = self.field(text)
        return frozenset(primary).union(extra)

    def query(self, text: str) -> Query:
        """Return the query's tokens: words of weight 1, parts and n-grams of less."""
        trimmed = trim(text)
        weights, phrase = self._weighted(trimmed)
        words = tuple(weights)
        return Query(
            text=trimmed,
            words=words,
            terms=tuple(map(word_hash, words)),
            weights=tuple(weights.values()),
            phrase=tuple(range(phrase)),
            fallback=_fallback_of(trimmed, has_words=bool(weights)),
            formula=DEFAULT_FORMULA,
        )

    def _weighted(self, text: str) -> tuple[dict[str, float], int]:
        """Return tokens with weights, those whose order counts first, and how many."""
        latin, words, grams = self._parts(text)
        chunks = [_CHUNKS[chunk] for chunk in latin]
        asked = [word for word in words if word not in CHINESE]
        asked += [
            word
            for chunk in chunks
            for word, is_stopword in zip(chunk.primary, chunk.stopwords, strict=True)
            if not is_stopword
        ]
        told = _grams(_FUNCTION_WORDS.sub(" ", _normalized(text)))
        grams = [g for g in grams if g in told and not CHINESE.issuperset(g)]
        if not asked and not grams:
            asked = words + [word for chunk in chunks for word in chunk.primary]
        weights = dict.fromkeys(asked, 1.0)
        phrase = len(weights)
        for chunk in chunks:
            for word in chunk.extra:
                weights.setdefault(word, _EXTRA_WEIGHT)
        for gram in grams:
            weights.setdefault(gram, _GRAM_WEIGHT)
        return weights, phrase

    def _hashes(self, text: str) -> tuple[bytes, bytes]:
        """Return the hashes of the primary and extra tokens of one field."""
        if text.isascii():
            chunks = [_CHUNKS[chunk] for chunk in text.split()]
            return (
                b"".join([chunk.primary_hashes for chunk in chunks]),
                b"".join([chunk.extra_hashes for chunk in chunks]),
            )
        latin, words, grams = self._parts(text)
        chunks = [_CHUNKS[chunk] for chunk in latin]
        return (
            _hashed(words) + b"".join([chunk.primary_hashes for chunk in chunks]),
            b"".join([chunk.extra_hashes for chunk in chunks]) + _hashed(grams),
        )

    def _parts(self, text: str) -> tuple[list[str], list[str], list[str]]:
        """Return blank-separated chunks without CJK, CJK words, and n-grams."""
        if text.isascii():
            return text.split(), [], []
        text = _normalized(text)
        if CJK_RUN.search(text) is None:
            return text.split(), [], []
        words = [word for run in _RUN.findall(text) for word in self._cjk_words(run)]
        known = set(words)
        latin = _RUN.sub(" ", text).split()
        return latin, words, [gram for gram in _grams(text) if gram not in known]

    def _cjk_words(self, run: str) -> list[str]:
        words: list[str] = []
        for part in HAN_OR_OTHER_RUN.findall(run):
            if HAN.match(part):
                words += self._segmenter.words(part)
            else:
                words.append(part)
        return words


class _Chunk:
    """The tokens of one blank-separated piece of text without CJK.

    Attributes:
        primary: Its words, stemmed, in order.
        stopwords: Which of them say nothing in a query.
        extra: Wholes and parts of identifiers, symbols.
        primary_hashes: Little-endian hashes of `primary`.
        extra_hashes: Little-endian hashes of `extra`.
    """

    __slots__ = ("extra", "extra_hashes", "primary", "primary_hashes", "stopwords")

    def __init__(self, chunk: str) -> None:
        folded = _fold(chunk)
        raw = _words(folded)
        core_match = _CORE.search(folded)
        core = _CONTRACTED.sub("", core_match.group()) if core_match else ""
        if core and (core[0] == "." or core[-1] in "+#") and len(raw) == 1:
            stems, extra = [core], [stem(raw[0])]
        else:
            stems = [stem(word) for word in raw]
            extra = [] if [core] == raw else _identifier_tokens(core, raw)
        if not raw:
            extra = [c for c in folded if unicodedata.category(c)[0] == "S"]
        self.primary = tuple(stems)
        self.stopwords = tuple(
            word in ENGLISH and token == stem(word)
            for word, token in zip(raw, stems, strict=True)
        )
        known = set(stems)
        self.extra = tuple(w for w in dict.fromkeys(extra) if w not in known)
        self.primary_hashes = _hashed(self.primary)
        self.extra_hashes = _hashed(self.extra)


class _Chunks(dict[str, _Chunk]):
    """Chunks met before: emptied when full, so that its size is bounded."""

    def __missing__(self, text: str) -> _Chunk:
        chunk = _Chunk(text)
        if len(text) <= _LONGEST_CACHED_CHUNK:
            if len(self) >= _CACHED_CHUNKS:
                self.clear()
            self[text] = chunk
        return chunk


_CHUNKS: Final = _Chunks()
_FUNCTION_WORDS: Final = LazyPattern(
    "|".join(sorted((w for w in CHINESE if len(w) > 1), key=len, reverse=True))
)
_RUN: Final = LazyPattern(f"(?:{CJK_RUN.pattern}|{_LONG_SOUND})+")


def _hashed(words: Iterable[str]) -> bytes:
    return b"".join([word_hash(word).to_bytes(WORD_BYTES, "little") for word in words])


def _fold(chunk: str) -> str:
    """Fold case, width, apostrophes and the accents of Latin letters."""
    if chunk.isascii():
        return chunk.lower()
    folded = unicodedata.normalize("NFKC", chunk).casefold().replace("\u2019", "'")
    decomposed = unicodedata.normalize("NFKD", folded)
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", decomposed))


_ACCENTED: Final = re.compile("([a-z])[\u0300-\u036f]+")


class _Separators(dict[int, int | str]):
    """Blanks out all that is not a letter, a number, a mark or an apostrophe."""

    def __missing__(self, code_point: int) -> int | str:
        character = chr(code_point)
        keep = unicodedata.category(character)[0] in "LNM" or character == "'"
        self[code_point] = value = code_point if keep else " "
        return value


_SEPARATORS: Final = _Separators()


def _words(folded: str) -> list[str]:
    """Return the words of a folded chunk without their contractions."""
    if folded.isascii():
        found = _ASCII_WORD.findall(folded)
    else:
        found = folded.translate(_SEPARATORS).split()
    if "'" not in folded:
        return found
    words: list[str] = []
    for word in found:
        head, _, tail = word.strip("'").rpartition("'")
        words += [head] if head and tail in _CONTRACTIONS else word.split("'")
    return [word for word in words if word]


def _identifier_tokens(core: str, words: list[str]) -> list[str]:
    """Return the whole of an identifier, and its parts that are not words."""
    tokens = []
    if core and len(core) <= _LONGEST_WHOLE and _IDENTIFIER.fullmatch(core):
        tokens.append(core)
        if "-" in core or _GROUPED_NUMBER.fullmatch(core):
            tokens.append(core.replace("-", "").replace(",", ""))
    pieces = _PIECE.findall(core)
    if pieces != words:
        tokens += pieces
    return tokens


def _normalized(text: str) -> str:
    """Fold full and half width forms, and traditional Chinese to simplified."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return text if HAN.search(text) is None else simplified(text)


def _grams(text: str) -> dict[str, None]:
    """Return the distinct bigrams of CJK runs, and their single Han characters."""
    grams: dict[str, None] = {}
    for run in _RUN.findall(text):
        for start in range(len(run) - 1):
            grams[run[start : start + 2]] = None
        grams.update(dict.fromkeys(HAN.findall(run)))
    return grams


def _fallback_of(text: str, *, has_words: bool) -> Fallback | None:
    """Return what to look for as it stands: one kana or hangul, or mere symbols."""
    normalized = phrase_text(text)
    if len(normalized) == 1 and is_cjk(normalized) and not HAN.match(normalized):
        return Fallback(None, normalized)
    if not has_words and text:
        return Fallback(text, None)
    return None
