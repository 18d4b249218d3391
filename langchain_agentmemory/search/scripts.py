"""Which characters are Chinese, Japanese or Korean, and how text is folded.

Python's `unicodedata` has no Script property, so its ranges for Han, Hiragana, Katakana
and Hangul are a table here (Unicode 17). It is the property itself, not the blocks: the
prolonged sound mark U+30FC is Common, the iteration mark U+3005 is Han.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from langchain_agentmemory.lazy import lazy_property

_Ranges = tuple[tuple[int, int], ...]

# fmt: off
_HAN: _Ranges = (
    (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005),
    (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x16FE2, 0x16FE3),
    (0x16FF0, 0x16FF6), (0x20000, 0x2A6DF), (0x2A700, 0x2B81E), (0x2B820, 0x2CEAD),
    (0x2CEB0, 0x2EBE0), (0x2EBF0, 0x2EE5D), (0x2F800, 0x2FA1D), (0x30000, 0x3134A),
    (0x31350, 0x33479),
)
_HIRAGANA: _Ranges = (
    (0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11F), (0x1B123, 0x1B123),
    (0x1B132, 0x1B132), (0x1B150, 0x1B152), (0x1F200, 0x1F200),
)
_KATAKANA: _Ranges = (
    (0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE),
    (0x3300, 0x3357), (0xFF66, 0xFF6F), (0xFF71, 0xFF9D), (0x1AFF0, 0x1AFF3),
    (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE), (0x1B000, 0x1B000), (0x1B120, 0x1B122),
    (0x1B124, 0x1B128), (0x1B155, 0x1B155), (0x1B164, 0x1B168),
)
_HANGUL: _Ranges = (
    (0x1100, 0x11FF), (0x302E, 0x302F), (0x3131, 0x318E), (0x3200, 0x321E),
    (0x3260, 0x327E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7C6),
    (0xD7CB, 0xD7FB), (0xFFA0, 0xFFBE), (0xFFC2, 0xFFC7), (0xFFCA, 0xFFCF),
    (0xFFD2, 0xFFD7), (0xFFDA, 0xFFDC),
)
# fmt: on


class LazyPattern:
    """A regular expression that is compiled when first used.

    Classes of this many characters take milliseconds, which texts without any of them
    need not pay.
    """

    def __init__(self, pattern: str) -> None:
        """Keep the pattern's text."""
        self.pattern = pattern

    @lazy_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match anywhere."""
        return self.compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return all matches, one after the other."""
        return self.compiled.finditer(text)

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match at the beginning."""
        return self.compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text."""
        return self.compiled.fullmatch(text)

    def findall(self, text: str) -> list[str]:
        """Return all matches, for a pattern without groups."""
        return self.compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with all matches replaced."""
        return self.compiled.sub(replacement, text)


def _character_class(*tables: _Ranges) -> str:
    """Return a regular expression's character class."""
    ranges = [f"{chr(a)}-{chr(z)}" for table in tables for a, z in table]
    return f"[{''.join(ranges)}]"


_HAN_CLASS: Final = _character_class(_HAN)

HAN: Final = LazyPattern(_HAN_CLASS)
"""One Han character."""
HAN_RUN: Final = LazyPattern(f"{_HAN_CLASS}+")
"""A maximal run of Han characters."""
HAN_OR_OTHER_RUN: Final = LazyPattern(f"{_HAN_CLASS}+|[^{_HAN_CLASS[1:]}+")
"""A maximal run of Han characters, or of characters that are not Han."""
CJK_RUN: Final = LazyPattern(
    f"{_character_class(_HAN, _HIRAGANA, _KATAKANA, _HANGUL)}+"
)
"""A maximal run of Han, Hiragana, Katakana and Hangul characters."""

_WORD_CATEGORIES = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"))
_DOTTED_CAPITAL_I = 0x130  # The one character whose `str.lower()` is two characters.


def simple_lower(character: str) -> str:
    """Lower-case one character to one character, whatever stands around it."""
    return "i" if ord(character) == _DOTTED_CAPITAL_I else character.lower()


def has_han(text: str) -> bool:
    """Tell whether a text has a Han character."""
    return not text.isascii() and HAN.search(text) is not None


def is_cjk(text: str) -> bool:
    """Tell whether the text is one or more CJK characters and nothing else."""
    return not text.isascii() and CJK_RUN.fullmatch(text) is not None


def is_word_character(character: str) -> bool:
    """Tell whether it is a letter or a decimal digit, of any script."""
    return unicodedata.category(character) in _WORD_CATEGORIES


class _LowerTable(dict[int, str]):
    """Lower-cases each code point by itself; filled as characters are met."""

    def __missing__(self, code_point: int) -> str:
        lowered = self[code_point] = simple_lower(chr(code_point))
        return lowered


class _PhraseTable(dict[int, str]):
    """Lower-cases letters and digits and blanks out all that is neither nor CJK."""

    def __missing__(self, code_point: int) -> str:
        lowered = simple_lower(chr(code_point))
        keep = is_word_character(lowered) or is_cjk(lowered)
        folded = self[code_point] = lowered if keep else " "
        return folded


class _LatinTable(dict[int, str]):
    """Like the phrase table, with CJK blanked out too."""

    def __missing__(self, code_point: int) -> str:
        lowered = simple_lower(chr(code_point))
        keep = is_word_character(lowered) and not is_cjk(lowered)
        folded = self[code_point] = lowered if keep else " "
        return folded


# At most one entry for each of the 1.1 million code points; in practice some thousands.
_LOWER: Final = _LowerTable()
_PHRASE: Final = _PhraseTable()
_LATIN: Final = _LatinTable()


def lower(text: str) -> str:
    """Lower-case code point by code point: length and positions stay the same."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def latin_words(text: str) -> list[str]:
    """Return the lower-cased runs of letters and digits that are not CJK, in order."""
    return text.translate(_LATIN).split()


def phrase_text(text: str) -> str:
    """Return lower-cased letters, digits and CJK, all else one blank between them."""
    return " ".join(text.translate(_PHRASE).split())


def cjk_grams(text: str, size: int) -> list[str]:
    """Return all windows of `size` characters within each CJK run, in order."""
    return [
        run[start : start + size]
        for run in CJK_RUN.findall(text)
        for start in range(len(run) - size + 1)
    ]
