"""The parts of a statement that must not change unnoticed.

Numbers with what stands beside them, negations, words that mark a change or a doubt.
Each is a multiset, so that two texts can be compared by it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from langchain_agentmemory.policies.text import Text, Word
from langchain_agentmemory.policies.vocabulary import (
    AUXILIARIES,
    CONJUNCTIONS,
    CONTRACTED_NOT,
    DIRECTIONS,
    HAN_COMPLEMENT,
    HAN_FUNCTIONS,
    HAN_NEGATING,
    HAN_NEGATION_INSIDE,
    HAN_NEGATIONS,
    HAN_NUMERALS,
    HAN_TURNS,
    JUST_NOT,
    LONG_RUN,
    NEGATIONS,
    NO_NEGATIONS,
    NUMBER_WORDS,
    SCALES,
    TURNS,
    USED_TO,
)
from langchain_agentmemory.search.scripts import is_cjk, is_word_character, lower

Placed = tuple[str, str, str]
"""A number between the words beside it, `""` where there is none."""

_HAN_SCALE: Final = re.compile("[百千万萬亿億]+")
_HAN_NUMBER: Final = re.compile(
    f"(?<![统統唯])(?!一[起直些样樣定般边邊共切旦向])(?!十分)[{HAN_NUMERALS}]+"
)
_YEAR_DATE: Final = re.compile(
    r"(?<![0-9])([0-9]{4}) ?[-/.年] ?([0-9]{1,2}) ?[-/.月] ?([0-9]{1,2})(?![0-9])"
)
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NAMED_DATE: Final = re.compile(
    r"\b(?:(?P<before>[0-9]{1,2})(?:st|nd|rd|th)? (?:of )?)?"
    rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
    r"(?: (?P<after>[0-9]{1,2})(?:st|nd|rd|th)?\b)?"
)
_HAN_DATE: Final = re.compile(r"([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?[日号號]")
_LATIN_FUNCTIONS: Final = DIRECTIONS | AUXILIARIES | CONJUNCTIONS
_COMPLEMENT_LENGTH: Final = 3


def is_function(word: Word) -> bool:
    """Tell whether a word only relates others to each other."""
    return word.text in (HAN_FUNCTIONS if word.is_cjk else _LATIN_FUNCTIONS)


def numbers(text: Text) -> Counter[Placed]:
    """Return the numbers of a text, each with its neighbours.

    What stands beside a number says what it counts: `50 euros`, `Go 1.21`, `3只`. The
    word after it does not matter if it only relates (`at 9 on Monday`), nor if the
    number carries its unit (`4pm`).
    """
    found: Counter[Placed] = Counter(_han_numbers(text.folded))
    words = text.words
    for position, word in enumerate(words):
        if not is_number(word):
            continue
        left = ""
        if position and not word.pause:
            left = _last(words[position - 1])
        number, right = word.text, ""
        follower = words[position + 1] if position + 1 < len(words) else None
        if follower and not follower.pause:
            scale = _scale(follower)
            number += scale
            if not scale and _is_bare(word) and not is_function(follower):
                right = _first(follower)
        found[left, number, right] += 1
    return found


def _is_bare(word: Word) -> bool:
    """Tell whether a number carries no unit of its own, as `4pm` does."""
    return word.text in NUMBER_WORDS or not any(c.isalpha() for c in word.text)


def _scale(word: Word) -> str:
    """Return what multiplies the number before it: `50 thousand`, `50万`."""
    if word.is_cjk:
        match = _HAN_SCALE.match(word.text)
        return match.group() if match else ""
    return word.text if word.text in SCALES else ""


def is_number(word: Word) -> bool:
    """Tell whether a word is a number, or has one in it."""
    return not word.is_cjk and (
        word.text in NUMBER_WORDS or any(c.isdecimal() for c in word.text)
    )


def values(text: Text) -> Counter[str]:
    """Return the numbers alone, with their signs and currencies."""
    found: Counter[str] = Counter()
    for (_, number, _), count in numbers(text).items():
        found[number] += count
    return found


def _last(word: Word) -> str:
    """Of a CJK word the last character: how it was cut does not matter."""
    return word.text[-1] if word.is_cjk else word.text


def _first(word: Word) -> str:
    return word.text[0] if word.is_cjk else word.text


def _han_numbers(text: str) -> Iterator[Placed]:
    if text.isascii():
        return
    for run in _HAN_NUMBER.finditer(text):
        before, after = text[: run.start()][-1:], text[run.end() :][:1]
        yield _if_word(before), run.group(), _if_word(after)


def _if_word(character: str) -> str:
    is_word = character and (is_word_character(character) or is_cjk(character))
    return lower(character) if is_word else ""


def negations(text: Text) -> Counter[str]:
    """Return the negations of a text. `can't` and `cannot` count as `not`."""
    return Counter(_negations(text.words))


def _negations(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        if word.is_cjk:
            yield from _han_negations(word.text)
        elif CONTRACTED_NOT.fullmatch(word.text) or word.text in JUST_NOT:
            yield "not"
        elif word.text in NEGATIONS:
            yield word.text


def _han_negations(word: str) -> Iterator[str]:
    if word in NO_NEGATIONS:
        return
    if (
        word in HAN_NEGATIONS
        or word[0] in HAN_NEGATING
        or (len(word) == _COMPLEMENT_LENGTH and HAN_COMPLEMENT.fullmatch(word))
    ):
        yield word
    elif len(word) >= LONG_RUN:
        for listed in NO_NEGATIONS:
            word = word.replace(listed, " ")
        yield from HAN_NEGATION_INSIDE.findall(word)


def turns(text: Text) -> Counter[str]:
    """Return the words that mark a change, a doubt or a restriction."""
    found = Counter(
        word.text for word in text.words if not word.is_cjk and word.text in TURNS
    )
    found["used to"] += len(USED_TO.findall(text.same))
    found.update(HAN_TURNS.findall(text.folded))
    return +found


def calendar_days(text: Text) -> frozenset[tuple[int, int]]:
    """Return the days (month, day) that a text names."""
    plain = text.same
    found = {(int(m), int(d)) for _, m, d in _YEAR_DATE.findall(plain)}
    found |= {(int(m), int(d)) for m, d in _HAN_DATE.findall(plain)}
    for match in _NAMED_DATE.finditer(plain):
        if day := match["before"] or match["after"]:
            found.add((_MONTHS.index(match["month"]) + 1, int(day)))
    return frozenset(found)
