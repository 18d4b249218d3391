"""The default tokenizer: the words of `ranking="default"`.

English words are stemmed, accents and full-width forms folded, traditional Chinese
characters simplified. Identifiers are found whole and in parts. Chinese has dictionary
words and, beside them, single characters and the bigrams of every CJK run, which find
what the dictionary cuts elsewhere. Question words are dropped from queries.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from langchain_agentmemory.identity import trim
from langchain_agentmemory.search.chunks import CHUNKS, Chunk, hashed
from langchain_agentmemory.search.dictionary import UserDictionary
from langchain_agentmemory.search.formula import DEFAULT_FORMULA
from langchain_agentmemory.search.identifiers import (
    NUMBER,
    PHONE_NUMBER,
    chinese_dates,
    phone_numbers,
)
from langchain_agentmemory.search.scripts import (
    CJK_RUN,
    HAN,
    HAN_OR_OTHER_RUN,
    HAN_RUN,
    LazyPattern,
    has_han,
    is_cjk,
    phrase_text,
)
from langchain_agentmemory.search.segment import Segmenter, segmenter_with
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

_HOW_MUCH: Final = re.compile(
    r"\b(how) (?:long|often|far|soon|old|big|tall|high)\b", re.IGNORECASE
)
_LONG_QUERY: Final = 20
_MOST_EMPHASIS: Final = 2.0
_VERSION: Final = 2
_NO_WORDS: Final = UserDictionary()
_GRAM_WEIGHT: Final = 0.45
# Recall@10 on half of MADial (Chinese): words and bigrams 50, with single characters
# 55. Weights from 0.2 to 0.6 lie within noise of each other (132 queries).
_LONG_SOUND: Final = "ー"  # Common by script, but part of kana words.
_NEIGHBOURS: Final = bytes((NUMBER, NUMBER))


class _Parts(NamedTuple):
    """What a text is made of.

    Attributes:
        text: The text, folded where it has CJK.
        chunks: Blank-separated pieces without CJK.
        words: Its CJK words.
        grams: Its CJK n-grams that are no words.
        spans: What stretches over several chunks, or from a chunk into CJK, with its
            weights in queries.
    """

    text: str
    chunks: Sequence[Chunk]
    words: Sequence[str] = ()
    grams: Sequence[str] = ()
    spans: Mapping[str, float] = MappingProxyType({})


class DefaultTokenizer:
    """Makes the tokens of the default ranking.

    Args:
        segmenter: Splits Chinese text. The process's shared one if not given, or one
            that has the words of the dictionary.
        dictionary: Words to be added to the Chinese dictionary. They are found in
            traditional and simplified characters; those with letters or digits
            (`T恤`), of which the dictionary sees only the rest, are looked for as such.
    """

    name = "default"
    compares_stored = True

    def __init__(
        self,
        segmenter: Segmenter | None = None,
        dictionary: UserDictionary = _NO_WORDS,
    ) -> None:
        """Keep the segmenter; load nothing."""
        dictionary = dictionary.folded(_normalized)
        pure = tuple(w for w in dictionary.words if HAN_RUN.fullmatch(w.text))
        mixed = [w.text for w in dictionary.words if w not in pure]
        self._segmenter = segmenter or segmenter_with(pure)
        self._mixed = _any_of(word for word in mixed if CJK_RUN.search(word))
        self.fingerprint = fingerprint(self.name, _VERSION, dictionary.digest)

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
        parts = self._parts(text)
        primary = [*parts.words]
        extra: list[str] = []
        for chunk in parts.chunks:
            primary += chunk.tokens.primary
            extra += chunk.tokens.extra
        return Field(primary, [*extra, *parts.grams, *parts.spans])

    def token_set(self, text: str) -> frozenset[str]:
        """Return the tokens by which near-duplicates are recognised."""
        primary, extra = self.field(text)
        return frozenset(primary).union(extra)

    def query(self, text: str) -> Query:
        """Return the query's tokens: words count 1, wholes more, parts less."""
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
            emphasis=_emphasis(sum(weights.values())),
        )

    def _weighted(self, text: str) -> tuple[dict[str, float], int]:
        """Return tokens with weights, those whose order counts first, and how many."""
        parts = self._parts(_HOW_MUCH.sub(r"\1", text))
        tokens = [chunk.tokens for chunk in parts.chunks]
        told = _FUNCTION_WORDS.sub(" ", parts.text) if parts.words else ""
        asked = (word for word in parts.words if word not in CHINESE)
        weights = {word: 1.0 for word in asked if word in told}
        for chunk in tokens:
            for word, weight in zip(chunk.primary, chunk.weights, strict=True):
                if weight > weights.get(word, 0.0):
                    weights[word] = weight
        known = _grams(told)
        grams = [g for g in parts.grams if g in known and not CHINESE.issuperset(g)]
        if not weights and not grams:
            words = [*parts.words, *(w for chunk in tokens for w in chunk.primary)]
            weights = dict.fromkeys(words, 1.0)
        phrase = len(weights)
        beside = [chunk.extra for chunk in tokens if chunk.extra]
        for extra in (*beside, parts.spans):
            for word, weight in extra.items():
                if word not in ENGLISH and weight > weights.get(word, 0.0):
                    weights[word] = weight
        for gram in grams:
            weights.setdefault(gram, _GRAM_WEIGHT)
        return weights, phrase

    def _hashes(self, text: str) -> tuple[bytes, bytes]:
        """Return the hashes of the primary and extra tokens of one field."""
        if text.isascii():
            pieces = text.split()
            if not pieces:
                return b"", b""
            primary, extra, numbers, _ = zip(*map(_chunk_of, pieces), strict=True)
            beside = b"".join(extra)
            if any(numbers):
                beside += hashed(_phone_numbers(text, numbers))
            return b"".join(primary), beside
        parts = self._parts(text)
        return (
            hashed(parts.words) + b"".join([chunk.primary for chunk in parts.chunks]),
            b"".join([chunk.extra for chunk in parts.chunks])
            + hashed(parts.grams)
            + hashed(parts.spans),
        )

    def _parts(self, text: str) -> _Parts:
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
            if CJK_RUN.search(text) is not None:
                return self._cjk_parts(text)
        chunks = list(map(_chunk_of, text.split()))
        numbers = [chunk.number for chunk in chunks]
        return _Parts(text, chunks, spans=_phone_numbers(text, numbers))

    def _cjk_parts(self, text: str) -> _Parts:
        if has_han(text):
            text = simplified(text)
        words = [word for run in _RUN.findall(text) for word in self._cjk_words(run)]
        if self._mixed is not None:
            words += self._mixed.findall(text.casefold())
        known = set(words)
        grams = [gram for gram in _grams(text) if gram not in known]
        chunks = list(map(_chunk_of, _RUN.sub(" ", text).split()))
        if not chunks:
            return _Parts(text, chunks, words, grams)
        numbers = [chunk.number for chunk in chunks]
        spans = chinese_dates(text) | _phone_numbers(text, numbers)
        for span in _mixed_spans(text):
            spans.setdefault(span, _GRAM_WEIGHT)
        return _Parts(text, chunks, words, grams, spans)

    def _cjk_words(self, run: str) -> list[str]:
        words: list[str] = []
        for part in HAN_OR_OTHER_RUN.findall(run):
            if HAN.match(part):
                words += self._segmenter.words(part)
            else:
                words.append(part)
        return words


def _normalized(text: str) -> str:
    return simplified(unicodedata.normalize("NFKC", text)).casefold()


def _any_of(words: Iterable[str]) -> LazyPattern | None:
    """Return what finds the longest of some words, `None` for none."""
    longest_first = sorted(words, key=len, reverse=True)
    return (
        LazyPattern("|".join(map(re.escape, longest_first))) if longest_first else None
    )


_chunk_of: Final = CHUNKS.__getitem__
_FUNCTION_WORDS: Final = LazyPattern(
    "|".join(sorted((w for w in CHINESE if len(w) > 1), key=len, reverse=True))
)
_RUN: Final = LazyPattern(f"(?:{CJK_RUN.pattern}|{_LONG_SOUND})+")
_BESIDE_HAN: Final = LazyPattern(
    r"(?<![A-Za-z0-9_:/-])(?<![0-9][.,])"
    r"(?:[0-9]+(?:[.,][0-9]+)*|[A-Za-z]{1,2})(?![A-Za-z0-9+#_-])"
)


def _phone_numbers(text: str, kinds: Sequence[int]) -> dict[str, float]:
    """Return what `phone_numbers` finds, if the kinds of a text's chunks let it."""
    if PHONE_NUMBER in kinds or _NEIGHBOURS in bytes(kinds):
        return phone_numbers(text)
    return {}


def _mixed_spans(text: str) -> Iterator[str]:
    """Yield what numbers and letters make with the Han character beside: 50元, 维c."""
    for found in _BESIDE_HAN.finditer(text):
        piece = found.group().replace(",", "").lower()
        start, end = found.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if after not in CHINESE and HAN.match(after):
            yield piece + after
        if piece.isalpha() and before not in CHINESE and HAN.match(before):
            yield before + piece


def _grams(text: str) -> dict[str, None]:
    """Return the distinct bigrams of CJK runs, and their single Han characters."""
    grams: dict[str, None] = {}
    if text.isascii():
        return grams
    for run in _RUN.findall(text):
        for start in range(len(run) - 1):
            grams[run[start : start + 2]] = None
        grams.update(dict.fromkeys(HAN.findall(run)))
    return grams


def _emphasis(length: float) -> float:
    """Return what a query of this many words multiplies lexical scores by.

    The root of its length in 20 words, from 1 to 2. With whole dialogues as queries
    (MADial), recall@10 of hybrid search rose from 58.3 to 60.6 in Chinese and from 66.5
    to 68.5 in English; the order by words alone stays the same.
    """
    return float(min(max((length / _LONG_QUERY) ** 0.5, 1.0), _MOST_EMPHASIS))


def _fallback_of(text: str, *, has_words: bool) -> Fallback | None:
    """Return what to look for as it stands: one kana or hangul, or mere symbols."""
    normalized = phrase_text(text)
    if len(normalized) == 1 and is_cjk(normalized) and not HAN.match(normalized):
        return Fallback(None, normalized)
    if not has_words and text:
        return Fallback(text, None)
    return None
