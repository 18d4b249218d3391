"""Identifiers: what is looked for whole, and also by its parts.

`ann.lee@example.org` is an address, a name and a domain, `v2.14.3` is a release of
2.14, `getUserName` holds three words, and +49 170 1234567 is one number.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from langchain_agentmemory.search.english import stem
from langchain_agentmemory.search.scripts import LazyPattern

# What they count in a query, where a word counts 1. A whole outweighs a few matching
# words: a question for go1.23 is not answered by what else is said of go1.22.
WHOLE_WEIGHT: Final = 3.0
INNER_WEIGHT: Final = 1.0
COMPOUND_WEIGHT: Final = 0.5
PART_WEIGHT: Final = 0.3

_LONGEST_WHOLE: Final = 128
_LONGEST: Final = 512
_LONGEST_NUMBER: Final = 32

ATOM: Final = LazyPattern(r"[^\s,;|()\[\]{}<>\"!?*^`]+")
"""A run of characters that may be one identifier."""
GROUPED: Final = LazyPattern(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
"""A number whose digits are grouped by commas."""

_JOINERS: Final = "'-_.@:/\\+&#~=%$€£¥₩₹"
_CURRENCIES: Final = "$€£¥₩₹"
_SCHEME: Final = LazyPattern(r"(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?")
_RELEASE: Final = LazyPattern(r"v(?=\d+(?:\.\d+)+)")
_MIXED: Final = LazyPattern(r"[^\W\d_]\d|\d[^\W\d_]")
_COMPOUND: Final = LazyPattern(
    rf"[^\W_](?:_+|[^\w']+)[^\W_]|^[$€£¥₩₹.]|\d%|\w[+#]+$|{_MIXED.pattern}"
)
_WORDS_JOINED: Final = LazyPattern(r"[^\W\d_]+(?:[-'/&][^\W\d_]+)+")
_HYPHENATED: Final = LazyPattern(r"\w+(?:-\w+)+")
_ABBREVIATION: Final = LazyPattern(r"[^\W\d_](?:\.[^\W\d_])+")
_MEASURE: Final = LazyPattern(r"\d+(?:\.\d+)?[^\W\d_]{1,3}")
_DIVIDERS: Final = (LazyPattern(r"[/\\]+"), LazyPattern(r"[/\\@:=&~]+"))
_SIGNED: Final = LazyPattern(r"(?<![^\W_])[^\W\d_]\w*?(?:\+\+|#)(?![^\W\d_])")
_VERSION: Final = LazyPattern(r"\d+(?:\.\d+)+")
_RUN: Final = LazyPattern(r"\d+|[^\W\d_]+")
_CAMEL: Final = LazyPattern(r"[a-z][A-Z]|[A-Z]{2}(?!s\b)[a-z]")
_CAMEL_WORD: Final = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_YEAR_FIRST: Final = LazyPattern(r"(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?:t.*)?")
_DAY_FIRST: Final = LazyPattern(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_CHINESE_DATE: Final = LazyPattern(r"(\d{4})年(\d{1,2})月(?:(\d{1,2})[日号])?")
_MONTHS, _DAYS = 12, 31

_NUMBER: Final = LazyPattern(r"[+(]*\d[\d()./-]*[).,;:!?]*")
_DASHED: Final = LazyPattern(r"\d+(?:-\d+)+")
_SPACED: Final = LazyPattern(
    r"(?<![A-Za-z0-9_.+-])(\+|00)?\(?\d{1,4}(?:[ ()./-]{1,3}\d+)+"
)
_DIGITS: Final = LazyPattern(r"\d+")
_PHONE_DIGITS: Final = range(7, 20)
_LONGEST_COUNTRY_CODE: Final = 3
NO_NUMBER, NUMBER, PHONE_NUMBER = range(3)


def core_of(atom: str) -> str:
    """Return an atom without what surrounds it, but `.NET`, `C++`, `$50`, `50%`."""
    core = atom.strip(_JOINERS)
    if not core:
        return core
    before, _, after = atom.partition(core)
    if before[-1:] == "." and before[-2:-1] != "." and core[0].isalpha():
        core = f".{core}"
    elif before[-1:] and before[-1] in _CURRENCIES and core[0].isdigit():
        core = before[-1] + core
    if after and core[-1].isalpha():
        core += after[: len(after) - len(after.lstrip(after[0]))] * (after[0] in "+#")
    elif after[:1] == "%" and core[-1].isdigit():
        core += "%"
    return core


def is_signed_word(core: str) -> bool:
    """Tell whether it is a word with a sign that makes it another: `C#`, `.net`."""
    return (core[0] == "." or core[-1] in "+#") and core[-1] != "%"


def identifier_tokens(core: str, words: Sequence[str]) -> dict[str, float]:
    """Return the tokens of an identifier, with what they count in a query.

    Args:
        core: With width and accents folded, in its own case.
        words: Its words, lower-cased.

    Returns:
        Itself first, if it is one; what it holds; other spellings of it. Nothing for
        what is a plain word.
    """
    folded = core.casefold()
    start = _end_of_prefix(folded)
    whole = folded[start:]
    if len(whole) > _LONGEST:
        return {}
    if len(words) == 1 and words[0] == whole and not _MIXED.search(whole):
        return dict.fromkeys(_camel_words(core), PART_WEIGHT)
    tokens: dict[str, float] = {}
    if _COMPOUND.search(whole):
        plain = _is_plain(whole)
        date = list(_dates(whole))
        if date:
            whole = date[0]
        if len(whole) <= _LONGEST_WHOLE and not is_phone_number(whole):
            tokens[whole] = COMPOUND_WEIGHT if plain else WHOLE_WEIGHT
        inner = COMPOUND_WEIGHT if plain else INNER_WEIGHT
        for token in (*date[1:], *_inner(whole)):
            tokens.setdefault(token, inner)
    for part in _parts(core[start:], whole, words):
        tokens.setdefault(part, PART_WEIGHT)
    return tokens


def is_phone_number(whole: str) -> bool:
    """Tell whether it is digits joined by dashes, long enough for a phone."""
    digits = len(whole) - whole.count("-")
    return (
        digits in _PHONE_DIGITS
        and _DASHED.fullmatch(whole) is not None
        and _YEAR_FIRST.fullmatch(whole) is None
    )


def number_kind(chunk: str) -> int:
    """Return `PHONE_NUMBER`, or `NUMBER` for what may be a part of one."""
    if len(chunk) > _LONGEST_NUMBER or chunk.isalpha():
        return NO_NUMBER
    if _NUMBER.fullmatch(chunk) is None:
        return NO_NUMBER
    bare = chunk.strip("+.,;:!?")
    return PHONE_NUMBER if is_phone_number(bare) else NUMBER


def phone_numbers(text: str) -> dict[str, float]:
    """Return the long numbers of a text that have blanks or dashes, with weights.

    Phone numbers stand with and without their country code or leading zero.
    """
    tokens: dict[str, float] = {}
    for found in _SPACED.finditer(text):
        if _YEAR_FIRST.match(found.group()):
            continue
        groups = _DIGITS.findall(found.group().replace("(0)", ""))
        code = found.group(1)
        if code == "00":
            groups[0] = groups[0].removeprefix("00")
        digits = "".join(groups)
        if len(digits) not in _PHONE_DIGITS:
            continue
        tokens[digits] = WHOLE_WEIGHT
        if code and len(groups[0]) <= _LONGEST_COUNTRY_CODE:
            tokens["".join(groups[1:])] = INNER_WEIGHT
        elif digits[0] == "0":
            tokens[digits[1:]] = INNER_WEIGHT
    return tokens


def chinese_dates(text: str) -> dict[str, float]:
    """Return the dates that stand in a text in Chinese, as 2024-05-12, with weights."""
    tokens: dict[str, float] = {}
    for year, month, day in _CHINESE_DATE.compiled.findall(text):
        weight = WHOLE_WEIGHT
        for token in _iso(year, month, day):
            tokens.setdefault(token, weight)
            weight = INNER_WEIGHT
    return tokens


def _end_of_prefix(folded: str) -> int:
    """Return where the scheme of an address, or the `v` of a version, ends."""
    found = _SCHEME.match(folded)
    end = found.end() if found else 0
    release = _RELEASE.compiled.match(folded, end)
    return release.end() if release else end


def _is_plain(whole: str) -> bool:
    """Tell whether it is words put together, an abbreviation, or a measure."""
    return any(
        pattern.fullmatch(whole) for pattern in (_WORDS_JOINED, _ABBREVIATION, _MEASURE)
    )


def _inner(whole: str) -> Iterator[str]:
    """Yield the identifiers within an identifier, and other spellings of it."""
    for divider in _DIVIDERS:
        for piece in divider.compiled.split(whole):
            inner = piece if _SIGNED.fullmatch(piece) else piece.strip("-_.+")
            if _COMPOUND.search(inner) and not is_phone_number(inner):
                yield inner
    yield from _SIGNED.findall(whole)
    if _HYPHENATED.fullmatch(whole) and not is_phone_number(whole):
        yield whole.replace("-", "")
    if _ABBREVIATION.fullmatch(whole):
        yield whole.replace(".", "")
    yield from _VERSION.findall(whole)


def _parts(core: str, whole: str, words: Sequence[str]) -> Iterator[str]:
    """Yield releases, runs of letters and digits, and the words of camel case."""
    for version in _VERSION.findall(whole):
        numbers = version.split(".")
        for count in range(2, len(numbers)):
            yield ".".join(numbers[:count])
    for word in words:
        if _MIXED.search(word):
            yield from map(stem, _RUN.findall(word))
    yield from _camel_words(core)


def _camel_words(core: str) -> Iterator[str]:
    if core.isascii() and _CAMEL.search(core):
        for word in _CAMEL_WORD.findall(core):
            yield stem(word.lower())


def _dates(whole: str) -> Iterator[str]:
    """Yield the date that an identifier is: as 2024-05-12, and as 2024-05."""
    if found := _YEAR_FIRST.fullmatch(whole):
        yield from _iso(found[1], found[3], found[4] or "")
    elif found := _DAY_FIRST.fullmatch(whole):
        yield from _iso(found[3], found[2], found[1])


def _iso(year: str, month: str, day: str) -> Iterator[str]:
    if not 1 <= int(month) <= _MONTHS or (day and not 1 <= int(day) <= _DAYS):
        return
    if day:
        yield f"{year}-{int(month):02}-{int(day):02}"
    yield f"{year}-{int(month):02}"
