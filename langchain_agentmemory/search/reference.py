"""The reference tokenizer: the words of `ranking="reference"`, exactly.

Two scans make the words of a text: Chinese words from the dictionary (or whole kana and
hangul runs), then runs of other letters and digits of the whole text. Trigrams of CJK
runs stand beside them with less weight.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from langchain_agentmemory.identity import trim
from langchain_agentmemory.search.dictionary import UserDictionary
from langchain_agentmemory.search.formula import REFERENCE_FORMULA
from langchain_agentmemory.search.scripts import (
    CJK_RUN,
    cjk_grams,
    is_cjk,
    is_word_character,
    latin_words,
    lower,
    phrase_text,
)
from langchain_agentmemory.search.segment import Segmenter, segmenter_with
from langchain_agentmemory.search.tokenize import (
    Fallback,
    Field,
    Query,
    fingerprint,
    pack,
    word_hash,
)

_NO_WORDS: Final = UserDictionary()
_ENGLISH_STOPWORDS: Final = frozenset(
    "a an the and or of in on to for with is are am be been being was were this that "
    "these those".split()
)
_CJK_STOPWORDS: Final = frozenset(
    "的 了 是 在 和 有 我 他 她 它 这 那 都 也 就 不 会 到 说 对 "
    "一个 一些 一种 这个 那个 "
    "我们 你们 他们 她们 它们 自己 已经 还是 如果 因为 所以 然后 用户".split()
)
_TRIGRAM_WEIGHT: Final = 0.45
_TRIGRAM: Final = 3
_SHORTEST_WORD: Final = 2  # Bytes of UTF-8 for Latin words, characters for CJK.


class ReferenceTokenizer:
    """Reproduces the reference's tokens, weights and fallback texts.

    Args:
        segmenter: Splits Chinese text. The process's shared one if not given, or one
            that has the words of the dictionary.
        dictionary: Words to be added to the Chinese dictionary.
    """

    name = "reference"
    compares_stored = False

    def __init__(
        self,
        segmenter: Segmenter | None = None,
        dictionary: UserDictionary = _NO_WORDS,
    ) -> None:
        """Keep the segmenter; load nothing."""
        dictionary = dictionary.folded(lower)
        self._segmenter = segmenter or segmenter_with(dictionary.words)
        self.fingerprint = fingerprint(self.name, 1, dictionary.digest)

    def document(self, content: str, topics: str) -> bytes:
        """Return the token blob of a document."""
        of_content, of_topics = self.field(content), self.field(topics)
        return pack(
            self.fingerprint,
            (map(word_hash, of_content.primary), map(word_hash, of_content.extra)),
            (map(word_hash, of_topics.primary), map(word_hash, of_topics.extra)),
        )

    def query(self, text: str) -> Query:
        """Return tokens of weight 1 in order, then new trigrams of weight 0.45."""
        trimmed = trim(text)
        weighted = self.weighted_words(trimmed)
        primary = sum(1 for _, weight in weighted if weight == 1.0)
        return Query(
            text=trimmed,
            words=tuple(word for word, _ in weighted),
            terms=tuple(word_hash(word) for word, _ in weighted),
            weights=tuple(weight for _, weight in weighted),
            phrase=tuple(range(primary)),
            fallback=fallback_of(trimmed, has_words=primary > 0),
            formula=REFERENCE_FORMULA,
        )

    def field(self, text: str) -> Field:
        """Return the document tokens of a text, and the trigrams that are new."""
        words = self._words(text, single=False)
        known = set(words)
        grams = [g for g in dict.fromkeys(trigrams(text)) if g not in known]
        return Field(words, grams)

    def query_words(self, text: str) -> list[str]:
        """Return the primary tokens of a query, without repetitions."""
        return list(dict.fromkeys(self._words(text, single=_is_one_character(text))))

    def weighted_words(self, text: str) -> list[tuple[str, float]]:
        """Return the distinct tokens of a query with their weights."""
        weights = dict.fromkeys(self.query_words(text), 1.0)
        for gram in trigrams(text):
            weights.setdefault(gram, _TRIGRAM_WEIGHT)
        return list(weights.items())

    def token_set(self, text: str) -> frozenset[str]:
        """Return the query tokens and trigrams of a text."""
        return frozenset(self.query_words(text)).union(trigrams(text))

    def _words(self, text: str, *, single: bool) -> list[str]:
        lowered = lower(trim(text))
        latin = [
            word
            for word in latin_words(lowered)
            if word not in _ENGLISH_STOPWORDS and _is_long_enough(word)
        ]
        if lowered.isascii() or CJK_RUN.search(lowered) is None:
            return latin
        segments = self._segmenter.words(lowered)
        return [*_cjk_words(segments, single=single), *latin]


def _is_long_enough(word: str) -> bool:
    return len(word) >= _SHORTEST_WORD or not word.isascii()


def _is_latin_token(word: str) -> bool:
    return (
        CJK_RUN.search(word) is None
        and word not in _ENGLISH_STOPWORDS
        and _is_long_enough(word)
    )


def _cjk_words(segments: Iterable[str], *, single: bool) -> list[str]:
    """Keep the segments that count as CJK words, cleaned of punctuation."""
    words = []
    for segment in segments:
        word = lower(segment)
        if not is_cjk(word):
            word = "".join(c for c in word if is_word_character(c) or is_cjk(c))
        if CJK_RUN.search(word) is None:
            continue  # Letters and digits come from the Latin scan.
        if is_cjk(word) and (
            is_cjk_stopword(word) or (len(word) < _SHORTEST_WORD and not single)
        ):
            continue
        words.append(word)
    return words


def is_cjk_stopword(word: str) -> bool:
    """Tell whether a CJK word is listed, or made of listed characters only."""
    return word in _CJK_STOPWORDS or all(
        character in _CJK_STOPWORDS for character in word
    )


def trigrams(text: str) -> list[str]:
    """Return the 3-character windows of the CJK runs, without stopwords."""
    if text.isascii():
        return []
    return [
        gram for gram in cjk_grams(lower(text), _TRIGRAM) if not is_cjk_stopword(gram)
    ]


def _is_one_character(text: str) -> bool:
    """Tell whether, blanks and punctuation aside, the text is one CJK character."""
    found = ""
    for character in text:
        if trim(character) == "" or unicodedata.category(character)[0] in "PS":
            continue
        if found:
            return False
        found = character
    return found != "" and is_cjk(found)


def fallback_of(text: str, *, has_words: bool) -> Fallback | None:
    """Return what to look for where no token matches, `None` when nothing may.

    Args:
        text: The trimmed query.
        has_words: Whether the query has primary tokens. Only without them is the raw
            text looked for, and only if it mixes letters or digits with something
            else, as `C++` does.
    """
    normalized: str | None = phrase_text(text)
    if not normalized or (" " not in normalized and CJK_RUN.search(normalized) is None):
        normalized = None
    if normalized and any(map(_is_latin_token, normalized.split(" ")[1:-1])):
        # Whoever contains the text has this whole word as a token, which matched.
        normalized = None
    raw = None
    if not has_words:
        visible = [c for c in text if trim(c)]
        known = sum(unicodedata.category(c)[0] in "LN" for c in visible)
        raw = lower(text) if 0 < known < len(visible) else None
    return Fallback(raw, normalized) if raw or normalized else None
