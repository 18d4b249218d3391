"""Statements that share their words but not their meaning.

The same people in other roles, the same said of somebody else, events of other days:
these are different statements, however alike their texts are.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from langchain_agentmemory.policies.content import FACT, Content, time_relation
from langchain_agentmemory.policies.critical import calendar_days, is_function
from langchain_agentmemory.policies.text import Text, Word, bare, replacements, units
from langchain_agentmemory.policies.vocabulary import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    HAN_NUMERALS,
    NICKNAMES,
    PASSIVE,
    SURNAMES,
)

_COORDINATING: Final = CONJUNCTIONS | {"和", "与", "與", "及", "或", "跟", "、", "以及"}
_NAME_LENGTHS: Final = (2, 3)  # Characters of most Chinese names.
_ENDS_AND_MIDDLE: Final = 3
_TITLE: Final = 2  # Words that may stand before a name: My friend Ana.


def swapped(old: Text, new: Text) -> bool:
    """Tell whether two texts give the same words other roles.

    `Alice manages Bob`, `Bob manages Alice`; `from Oslo to Bergen`, `from Bergen to
    Oslo`. Signs of it: two words have changed places around a third; two names have
    changed places; the first and the last word have; one of the two is passive.
    """
    a, b = old.words, new.words
    order = _common_order(units(a), units(b))
    return (
        _reversed_triple(order)
        or _exchanged_names(a, b)
        or _exchanged_ends(a, b)
        or _one_passive(a, b)
    )


def _common_order(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, str]]:
    """Return what occurs once in both: its place in `b`, in the order of `a`."""
    in_a, in_b = Counter(a), Counter(b)
    place = {unit: index for index, unit in enumerate(b)}
    return [
        (place[unit], unit) for unit in a if in_a[unit] == 1 and in_b.get(unit, 0) == 1
    ]


def _reversed_triple(order: Sequence[tuple[int, str]]) -> bool:
    """Tell whether A x B has become B x A, for an x that does not merely join."""
    highest = -1
    best: list[int] = []  # for each middle: whether something before is after it in b
    for place, _ in order:
        best.append(highest)
        highest = max(highest, place)
    lowest = highest + 1
    for index in range(len(order) - 1, -1, -1):
        place, unit = order[index]
        if best[index] > place > lowest and unit not in _COORDINATING:
            return True
        lowest = min(lowest, place)
    return False


def _exchanged_names(a: Sequence[Word], b: Sequence[Word]) -> bool:
    """Tell whether two names have changed places, more than `and` between them."""
    (likely_a, sure_a), (likely_b, sure_b) = _names(a), _names(b)
    names = likely_a & likely_b & (sure_a | sure_b)
    texts_a, texts_b = [w.text for w in a], [w.text for w in b]
    places = [
        (texts_a.index(name), texts_b.index(name))
        for name in names
        if texts_a.count(name) == texts_b.count(name) == 1
    ]
    for (a1, b1), (a2, b2) in pairwise(sorted(places)):
        if b1 > b2:
            between = {*texts_a[a1 + 1 : a2], *texts_b[b2 + 1 : b1]}
            if between - _COORDINATING:
                return True
    return False


def _names(words: Sequence[Word]) -> tuple[set[str], set[str]]:
    """Return words that look like names, and those of them that do so for sure.

    The first word of a sentence has its capital anyway.
    """
    likely, sure = set(), set()
    for index, word in enumerate(words):
        if word.is_cjk:
            if _is_han_name(word.text):
                likely.add(word.text)
                sure.add(word.text)
        elif word.written[:1].isupper() and word.text not in ADVERBS:
            likely.add(word.text)
            if index:
                sure.add(word.text)
    return likely, sure


def _is_han_name(word: str) -> bool:
    return len(word) in _NAME_LENGTHS and (word[0] in SURNAMES or word[0] in NICKNAMES)


def _exchanged_ends(a: Sequence[Word], b: Sequence[Word]) -> bool:
    """Tell whether the first and the last content word have changed places."""
    ends_a, ends_b = _ends(a), _ends(b)
    return ends_a is not None and ends_b is not None and ends_a == ends_b[::-1]


def _ends(words: Sequence[Word]) -> tuple[str, str] | None:
    content = [word.text for word in words if not is_function(word)]
    if len(content) < _ENDS_AND_MIDDLE or content[0] == content[-1]:
        return None
    return content[0], content[-1]


def _one_passive(a: Sequence[Word], b: Sequence[Word]) -> bool:
    """Tell whether one text is passive and both name the same two."""
    passives = [any(word.text in PASSIVE for word in words) for words in (a, b)]
    if passives[0] == passives[1]:
        return False
    content = [{w.text for w in words if not is_function(w)} for words in (a, b)]
    common = {name for name in _names(a)[0] & _names(b)[0] if name in content[0]}
    return len(common) > 1


# --- subjects ------------------------------------------------------------------------


def other_subject(old: Text, new: Text) -> bool:
    """Tell whether two texts say the same of different people: Ana is …, Bo is …."""
    if _other_han_name(old.folded, new.folded):
        return True
    return any(
        _is_subject(before, gone[-1], came[-1], after)
        for before, gone, came, after in replacements(old, new)
    )


def _is_subject(
    before: Sequence[Word], gone: Word, came: Word, after: Word | None
) -> bool:
    """Tell whether two words that replace each other are what a sentence is about."""
    if after is None or len(before) > _TITLE or any(map(is_function, before)):
        return False
    if bare(gone.text) == bare(came.text):
        return False  # C, C#
    if gone.text.endswith("'s") and came.text.endswith("'s"):
        return True
    return _is_named(gone) and _is_named(came) and _is_finite(after)


def _is_named(word: Word) -> bool:
    return not word.is_cjk and word.written[:1].isupper()


def _other_han_name(old: str, new: str) -> bool:
    """Tell whether two texts differ in a Chinese name at their beginning only.

    Compared by characters, as dictionaries cut names in many ways.
    """
    end = _common_start(old[::-1], new[::-1])
    heads = [text[: len(text) - end] for text in (old, new)]
    return (
        end >= _ENDS_AND_MIDDLE
        and _common_start(*heads) <= 1  # 小 of 小王 and 小李
        and all(_is_han_name(head) and head[1] not in HAN_NUMERALS for head in heads)
    )


def _common_start(a: str, b: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(a, b, strict=False)
    return next(
        (index for index, (one, other) in enumerate(pairs) if one != other),
        min(len(a), len(b)),
    )


def _is_finite(word: Word) -> bool:
    """Tell whether a word may be the verb of a subject before it."""
    return not word.is_cjk and (
        word.text in AUXILIARIES
        or (word.text.endswith(("s", "ed")) and not is_function(word))
    )


# --- apart ----------------------------------------------------------------------------


def reason_apart(old: Content, new: Content, *, kind_known: bool) -> str | None:
    """Return why two contents are different statements, `None` if they may be one.

    Args:
        old: What is stored.
        new: What was said.
        kind_known: Whether the kind of `new` was given. If not, any kind will do.
    """
    return next(_reasons_apart(old, new, kind_known=kind_known), None)


def _reasons_apart(old: Content, new: Content, *, kind_known: bool) -> Iterator[str]:
    if kind_known and new.kind != old.kind:
        yield f"one is a {old.kind}, the other a {new.kind}"
    if time_relation(old.event_time, new.event_time) == "other":
        yield "it happened at another time"
    if not (kind_known and new.kind == FACT):  # an event, or perhaps one
        days = calendar_days(old.text), calendar_days(new.text)
        if all(days) and not days[0] & days[1]:
            yield "they name different days"
    if old.kind != FACT:
        if old.people and new.people and not old.people & new.people:
            yield "other people took part"
        if old.place and new.place and old.place != new.place:
            yield "it happened in another place"
    if swapped(old.text, new.text):
        yield "the same words, but who does what to whom differs"
    if other_subject(old.text, new.text):
        yield "they are about different people or things"
