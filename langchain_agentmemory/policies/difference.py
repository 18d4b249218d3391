"""What a newer text says differently.

`changed` finds values that differ, which is when a newer text must not be taken for a
repetition. `is_new_version` says whether a text holds instead of another one.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from langchain_agentmemory.policies.apart import other_subject, swapped
from langchain_agentmemory.policies.content import FACT, Content, time_relation
from langchain_agentmemory.policies.critical import negations, numbers, turns, values
from langchain_agentmemory.policies.text import (
    LONGEST_ALIGNED,
    Text,
    Word,
    bare,
    jaccard,
    replacements,
    units,
)
from langchain_agentmemory.policies.vocabulary import (
    AUXILIARIES,
    DIRECTIONS,
    HAN_DIRECTIONS,
)

_COMPARABLE: Final = 0.4  # Jaccard from which single words can be compared.

_VALUES: Final = frozenset(("number", "negation", "unit", "sign or symbol"))
NEARLY_EQUAL: Final = 0.75
"""From this share of common words in order, little more than a value can differ."""
ALIKE: Final = 0.5
"""From this share of common words in order, two texts have the same frame."""
ALIKE_IF_DENIED: Final = 0.25
"""Enough where one denies what the other says: likes sushi, does not like sushi."""


def changed(old: Content, new: Content, *, alike: bool) -> list[str]:
    """Return what the new content says differently, in words; empty if nothing.

    Less detail than before is no change. Single words are compared only where the texts
    share enough of them.

    Args:
        old: What is stored.
        new: What was said.
        alike: Whether most words are the same, so that single ones can be compared.
    """
    a, b = old.text, new.text
    found = []
    if a.is_too_long or b.is_too_long:
        found.append("text")
    if values(b) - values(a):
        found.append("number")
    share = jaccard(a, b)
    if share > 0 and negations(a) != negations(b):
        found.append("negation")
    if share >= _COMPARABLE:
        if numbers(b) - numbers(a) and "number" not in found and _units_differ(a, b):
            found.append("unit")
        if _signs(a, b):
            found.append("sign or symbol")
        if turns(b) != turns(a):
            found.append("status")
        if _directions(a, b):
            found.append("direction")
    if alike and _words_replaced(a, b):
        found.append("word")
    return found + _new_circumstances(old, new)


def _words_replaced(old: Text, new: Text) -> bool:
    """Tell whether a word stands where another stood, or only small words differ."""
    if any(gone and came for _, gone, came, _ in replacements(old, new)):
        return True
    counts = [Counter(word.text for word in text.words) for text in (old, new)]
    return old.token_set == new.token_set and counts[0] != counts[1]


def only_a_value_differs(old: Content, new: Content) -> bool:
    """Tell whether two texts are the same but for a number, a sign or a negation."""
    if likeness(old.text, new.text) < NEARLY_EQUAL:
        return False
    return not _VALUES.isdisjoint(changed(old, new, alike=False))


def _units_differ(old: Text, new: Text) -> bool:
    """Tell whether a number that both have counts something else."""
    right = {number: r for _, number, r in numbers(old)}
    return any(
        unit and right.get(number, "") not in {"", unit}
        for _, number, unit in numbers(new)
    )


def _signs(old: Text, new: Text) -> bool:
    """Tell whether a word has other signs attached: C, C#; $50, €50; 18, -18."""
    known = {word.text for word in old.words}
    cores = {bare(word.text) for word in old.words}
    return any(
        word.text not in known and bare(word.text) in cores
        for word in new.words
        if not word.is_cjk
    )


def _directions(old: Text, new: Text) -> bool:
    """Tell whether a word that both have stands behind another preposition."""
    before = _governed(old.words)
    return any(
        before.get(word, governor) != governor
        for word, governor in _governed(new.words).items()
    )


def _governed(words: Sequence[Word]) -> dict[str, str]:
    return {
        word.text: left.text
        for left, word in pairwise(words)
        if left.text in (HAN_DIRECTIONS if left.is_cjk else DIRECTIONS)
        and not word.pause
    }


def _new_circumstances(old: Content, new: Content) -> list[str]:
    found = []
    if time_relation(old.event_time, new.event_time) in {"only new", "finer", "other"}:
        found.append("time")
    if new.people - old.people:
        found.append("participants")
    if new.place and new.place != old.place:
        found.append("location")
    return found


# --- versions ------------------------------------------------------------------------


def likeness(old: Text, new: Text) -> float:
    """Return the share of common words in order, CJK ones by character: 0 to 1."""
    a, b = units(old.words), units(new.words)
    if not a or not b:
        return 0.0
    if max(len(a), len(b)) > LONGEST_ALIGNED:
        return jaccard(old, new)
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def is_new_version(old: Content, new: Content) -> bool:
    """Tell whether a content that was said of a memory holds instead of it.

    The two must be of one kind and have the same frame (`Go 1.21`, `Go 1.23`); the new
    one must say something else, not only less. Events of different days, and the same
    words in other roles, are different statements, not versions of one.
    """
    if old.kind != new.kind or swapped(old.text, new.text):
        return False
    if other_subject(old.text, new.text):
        return False
    if time_relation(old.event_time, new.event_time) == "other" and old.kind != FACT:
        return False
    share = likeness(old.text, new.text)
    denied = negations(old.text) != negations(new.text)
    alike = (
        share >= ALIKE
        or (share >= ALIKE_IF_DENIED and denied)
        or _same_thing_counted(old.text, new.text)
    )
    return alike and not _says_less(old, new)


def _same_thing_counted(old: Text, new: Text) -> bool:
    """Tell whether both name the same thing with another number: Go 1.21, Go 1.23."""
    named = [
        {left: number for left, number, _ in numbers(text) if _names_a_thing(left)}
        for text in (old, new)
    ]
    return any(
        named[1].get(left, number) != number for left, number in named[0].items()
    )


def _names_a_thing(left: str) -> bool:
    return left.isascii() and left.isalnum() and left not in DIRECTIONS | AUXILIARIES


def _says_less(old: Content, new: Content) -> bool:
    """Tell whether the new content has nothing that the old one lacks."""
    added = Counter(word.text for word in new.text.words)
    added -= Counter(word.text for word in old.text.words)
    return (
        not added
        and negations(old.text) == negations(new.text)
        and not _new_circumstances(old, new)
    )
