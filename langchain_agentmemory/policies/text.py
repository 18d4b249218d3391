"""One text, read once for all comparisons: its words in order, and its search tokens.

The search tokens are those of the reference ranking, so that Jaccard and coverage mean
what they mean there. The words are finer: they keep one-letter names (C), what is
attached to a word (C#, $50, -18, Ana's), prepositions and single Han characters, all of
which the search tokens drop.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from langchain_agentmemory.lazy import lazy_property
from langchain_agentmemory.search.reference import ReferenceTokenizer
from langchain_agentmemory.search.scripts import CJK_RUN, HAN, lower
from langchain_agentmemory.search.segment import SEGMENTER

_TOKENIZER: Final = ReferenceTokenizer()

_FULL_WIDTH: Final = range(0xFF01, 0xFF5F)
_TO_ASCII: Final = 0xFEE0
_SAME: Final = {
    **{code: chr(code - _TO_ASCII) for code in _FULL_WIDTH},
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc\u2032\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e"), '"'),
    **dict.fromkeys(map(ord, "\u2212\u2010\u2011\ufe63"), "-"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), None),
    0xFFE5: "\u00a5",
    0xFFE1: "\u00a3",
    0x3000: " ",
    0xA0: " ",
}
"""Ways to write one character: full width, curly, invisible."""

_SENTENCE_END: Final = ".!?。"
_OPENING: Final = "\"'([{«“‘「『【《〈（"
_CLOSING: Final = ".,;:!?…\"')]}»”’」』】》〉）、。；：·"
_PAUSES: Final = frozenset(",;:、。；：.!?()[]—–…")
_ARTICLES: Final = frozenset(("a", "an", "the"))
_CAPITALISED: Final = re.compile(r"\b[A-Z][A-Za-z0-9_-]*\b", re.ASCII)
_PARTS: Final = re.compile(
    r"""
    (?:(?<=[0-9])[.,:;/](?=[0-9]) | [^\s,;:、。；：—…] )+   # 1,000 and 7:30 stay whole
    | [,;:、。；：—…]
    """,
    re.VERBOSE,
)

LONGEST_READ: Final = 20_000
"""Characters. A memory is a sentence; what is longer is a document."""
LONGEST_ALIGNED: Final = 400
"""Words. Longer texts are compared by their multisets only: alignment is quadratic."""


def folded(text: str) -> str:
    """Return the text with one spelling of what only looks different.

    Full-width letters, digits and signs become ASCII, curly apostrophes straight,
    accents composed; characters without width go. Case stays.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_SAME))


def same_text(text: str) -> str:
    """Return what two texts have in common that say exactly the same.

    Lower case, one blank for any white space, no marks that end the sentence. Other
    punctuation counts: `C#` is not `C`.
    """
    words = " ".join(lower(folded(text)).split())
    return words.rstrip(_SENTENCE_END).strip()


class Word(NamedTuple):
    """One word as it stands in a text.

    Attributes:
        text: Lower-cased, with what is attached to it: `c++`, `$50`, `ana's`.
        pause: The punctuation between the word before and this one.
        written: As it was written.
        is_cjk: Whether it is Chinese, Japanese or Korean.
    """

    text: str
    pause: str
    written: str
    is_cjk: bool


class Text:
    """A text and what comparisons ask about it, each worked out when first asked for.

    Args:
        written: The text as it is stored or said.
    """

    def __init__(self, written: str) -> None:
        """Keep the text."""
        self.written = written
        self.folded = folded(written)
        self._read = "" if self.is_too_long else self.folded

    @property
    def is_too_long(self) -> bool:
        """Whether only its whole is compared, not its words."""
        return len(self.written) > LONGEST_READ

    @lazy_property
    def same(self) -> str:
        """The form in which exact duplicates are equal."""
        return same_text(self.written)

    @lazy_property
    def token_set(self) -> frozenset[str]:
        """Search tokens and trigrams of CJK runs."""
        return _TOKENIZER.token_set(self._read)

    @lazy_property
    def material(self) -> frozenset[str]:
        """Search tokens, and words written with a capital letter."""
        capitals = map(lower, _CAPITALISED.findall(self._read))
        return frozenset(_TOKENIZER.query_words(self._read)).union(capitals)

    @lazy_property
    def words(self) -> tuple[Word, ...]:
        """All words in order, articles left out."""
        return tuple(_words(self._read))


def jaccard(a: Text, b: Text) -> float:
    """Return the share of common search tokens, 0 if one text has none."""
    if not a.token_set or not b.token_set:
        return 0.0
    common = len(a.token_set & b.token_set)
    return common / (len(a.token_set) + len(b.token_set) - common)


def coverage(part: Text, whole: Text) -> float:
    """Return which share of `part` is in `whole`: 1 if all of it, 0 if it has no words.

    Counted in search tokens and trigrams, as the reference does. A word that is put
    into the middle of a Chinese text breaks its trigrams, so there the share of
    characters counts if it is higher.
    """
    if not part.token_set or not whole.token_set:
        return 0.0
    share = len(part.token_set & whole.token_set) / len(part.token_set)
    if part.folded.isascii() or not any(word.is_cjk for word in part.words):
        return share
    characters = Counter(units(part.words))
    common = characters & Counter(units(whole.words))
    return max(share, common.total() / characters.total())


def _words(text: str) -> list[Word]:
    found: list[Word] = []
    pause = ""
    for is_cjk, piece in _pieces(text):
        if is_cjk:
            for word in segmented(piece):
                found.append(Word(lower(word), pause, word, is_cjk=True))
                pause = ""
            continue
        for part in _PARTS.findall(piece):
            before, core, after = _stripped(part)
            pause += before
            if core and not (_is_article(core) and (core.islower() or not found)):
                found.append(Word(lower(core), pause, core, is_cjk=False))
                pause = ""
            pause += after
    return found


def _pieces(text: str) -> list[tuple[bool, str]]:
    """Cut a text into CJK runs (true) and what stands between them (false)."""
    pieces, end = [], 0
    if not text.isascii():
        for run in CJK_RUN.compiled.finditer(text):
            pieces += [(False, text[end : run.start()]), (True, run.group())]
            end = run.end()
    return [*pieces, (False, text[end:])]


def _stripped(part: str) -> tuple[str, str, str]:
    """Return the punctuation before a word, the word with its signs, and after it."""
    core = part.lstrip(_OPENING)
    before = part[: len(part) - len(core)]
    inner = core.rstrip(_CLOSING)
    after = core[len(inner) :]
    if inner and all(character in _PAUSES or character in "-~" for character in inner):
        return before + inner + after, "", ""  # a dash that stands alone
    return (
        "".join(c for c in before if c in _PAUSES),
        inner,
        "".join(c for c in after if c in _PAUSES),
    )


def _is_article(word: str) -> bool:
    return lower(word) in _ARTICLES


def segmented(run: str) -> list[str]:
    """Return the words of a CJK run without the sub-words that search mode adds.

    Search mode puts the parts of a word before the word itself, so the run is covered
    from its end.
    """
    if HAN.search(run) is None:
        return [run]
    end, words = len(run), []
    for word in reversed(list(SEGMENTER.words(run))):
        if word and run.endswith(word, 0, end):
            words.append(word)
            end -= len(word)
    if end:
        words.append(run[:end])
    return words[::-1]


def bare(word: str) -> str:
    """Return a word without what is attached to it: `c` for `c#`, `50` for `$50`."""
    return "".join(c for c in word.removesuffix("'s") if c.isalnum())


def units(words: Sequence[Word]) -> list[str]:
    """Return words, CJK ones character by character: names are often cut wrongly."""
    found: list[str] = []
    for word in words:
        found.extend(word.text if word.is_cjk else [word.text])
    return found


Replacement = tuple[Sequence[Word], Sequence[Word], Sequence[Word], Word | None]


def replacements(old: Text, new: Text) -> list[Replacement]:
    """Return what was replaced: words before it, gone, come, the next common word."""
    a, b = old.words, new.words
    if max(len(a), len(b)) > LONGEST_ALIGNED:
        return []
    matcher = SequenceMatcher(
        None, [w.text for w in a], [w.text for w in b], autojunk=False
    )
    return [
        (a[:i1], a[i1:i2], b[j1:j2], a[i2] if i2 < len(a) else None)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag == "replace"
    ]
