"""Whether a new text only adds detail to an old one.

All of the old text must still be there, in its order, with the same numbers, negations
and relations; and what is new may neither turn nor rename anything. Whoever asks may
then replace the old text without losing what it said. In doubt the answer is no: a
second memory can be lived with, a lost one cannot.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from langchain_agentmemory.policies.content import Content, is_same, time_relation
from langchain_agentmemory.policies.critical import (
    is_function,
    negations,
    numbers,
    turns,
)
from langchain_agentmemory.policies.text import Text, Word, coverage, jaccard
from langchain_agentmemory.policies.vocabulary import (
    ADVERBS,
    ALIENATING,
    AUXILIARIES,
    DETERMINERS,
    DIRECTIONS,
    HAN_DIRECTIONS,
    HAN_OF,
    HAN_TIMES,
)

Check = Literal[
    "kind",
    "time",
    "participants",
    "location",
    "coverage",
    "material",
    "numbers",
    "negation",
    "turn",
    "order",
    "relation",
]
"""The tests, in the order in which they are made."""

_JOINING: Final = frozenset(("and", "or", "&", "和", "与", "與", "及", "以及", "或"))
_OTHER_ORDER: Final = "the words come in another order: who does what may differ"
_TIME_REASONS: Final = {
    "coarser": "its time would be known less exactly",
    "other": "it happened at another time",
}


class Verdict(NamedTuple):
    """How a new content relates to an old one.

    Attributes:
        same: Whether they are exact duplicates.
        failed: The first test that was not passed. `None`: it only adds detail.
        reason: What that means, in words.
        measures: `old_coverage`, `new_coverage` and `jaccard`.
    """

    same: bool
    failed: Check | None
    reason: str
    measures: dict[str, float]


def compare(
    old: Content, new: Content, *, old_coverage: float, new_coverage: float
) -> Verdict:
    """Compare a new content with an old one.

    Args:
        old: What is stored.
        new: What was said.
        old_coverage: The least share of the old tokens that must be in the new text.
        new_coverage: The least share of the new tokens that must be in the old text.
    """
    if is_same(old, new):
        whole = {"old_coverage": 1.0, "new_coverage": 1.0, "jaccard": 1.0}
        return Verdict(same=True, failed=None, reason="says the same", measures=whole)
    a, b = old.text, new.text
    measures = {
        "old_coverage": coverage(a, b),
        "new_coverage": coverage(b, a),
        "jaccard": jaccard(a, b),
    }
    failed: tuple[Check, str] | None = metadata_conflict(old, new)
    if failed is None and measures["old_coverage"] < old_coverage:
        failed = "coverage", _loss(a, b)
    if failed is None and measures["new_coverage"] < new_coverage:
        reason = _other_negation(a, b) or "more of it is new than known"
        failed = "coverage", reason
    if failed is None:
        failed = text_conflict(a, b)
    check, reason = failed or (None, "adds detail and keeps all that was said")
    return Verdict(same=False, failed=check, reason=reason, measures=measures)


def metadata_conflict(old: Content, new: Content) -> tuple[Check, str] | None:
    """Return why the two are not about the same event or fact, `None` if they may be.

    Times agree if one is missing, if they are equal, or if the new one is the same date
    known more exactly. Nobody may disappear from the participants.
    """
    if old.kind != new.kind:
        return "kind", f"one is a {old.kind}, the other a {new.kind}"
    reason = _TIME_REASONS.get(time_relation(old.event_time, new.event_time) or "")
    if reason:
        return "time", reason
    if old.people and new.people and not old.people <= new.people:
        return "participants", "other people took part"
    if old.place and new.place and old.place != new.place:
        return "location", "it happened in another place"
    return None


def text_conflict(old: Text, new: Text) -> tuple[Check, str] | None:
    """Return what the new text would lose or change first, `None` if nothing."""
    return next(_text_conflicts(old, new), None)


def _text_conflicts(old: Text, new: Text) -> Iterator[tuple[Check, str]]:
    if not old.material <= new.material:
        yield "material", _loss(old, new)
    if reason := _other_number(old, new):
        yield "numbers", reason
    if reason := _other_negation(old, new):
        yield "negation", reason
    if added := turns(new) - turns(old):
        yield "turn", f"“{next(iter(added))}” turns what was said"
    if lacking := _texts(old.words) - _texts(new.words):
        yield "order", _lost(lacking)
    placements = [p for p in _placements(old.words, new.words) if p is not None]
    if not old.words or not placements:
        yield "order", _OTHER_ORDER
    problems = [_problem(old, new, placement) for placement in placements]
    if problems and all(problems):
        yield "relation", problems[0] or ""


def _other_number(old: Text, new: Text) -> str | None:
    gone = numbers(old) - numbers(new)
    if not gone:
        return None
    if _texts(old.words) == _texts(new.words):
        return _OTHER_ORDER
    shown = " ".join(part for part in next(iter(gone)) if part)
    return f"the number in “{shown}” is another one, or gone"


def _other_negation(old: Text, new: Text) -> str | None:
    if negations(old) == negations(new):
        return None
    return "what one says, the other denies"


def _loss(old: Text, new: Text) -> str:
    """Return the most telling of what the new text lacks."""
    return (
        _other_number(old, new)
        or _other_negation(old, new)
        or _lost(_texts(old.words) - _texts(new.words) or old.token_set - new.token_set)
    )


def _lost(tokens: Iterable[str]) -> str:
    shown = ", ".join(sorted(tokens, key=lambda token: (-len(token), token))[:3])
    return f"the old text says more: {shown}"


def _texts(words: Iterable[Word]) -> Counter[str]:
    return Counter(word.text for word in words)


# --- where the old words stand in the new text ---------------------------------------


def _placements(old: Sequence[Word], new: Sequence[Word]) -> Iterator[list[int] | None]:
    """Find the old words in the new text in order: as early, and as late as possible.

    `None` if they are not all there in their order.
    """
    yield _early(old, new)
    late = _early(old[::-1], new[::-1])
    yield None if late is None else [len(new) - 1 - index for index in late[::-1]]


def _early(old: Sequence[Word], new: Sequence[Word]) -> list[int] | None:
    positions, start = [], 0
    for word in old:
        for position in range(start, len(new)):
            if new[position].text == word.text:
                break
        else:
            return None
        positions.append(position)
        start = position + 1
    return positions


def _problem(old: Text, new: Text, placement: Sequence[int]) -> str | None:
    """Return what an insertion does to the words around it, `None` if nothing."""
    before: Word | None = None
    start = 0
    for word, position in zip(old.words, placement, strict=True):
        here = new.words[position]
        problem = _insertion(before, new.words[start:position], word, here)
        if problem:
            return problem
        before, start = word, position + 1
    rest = new.words[start:]
    return _appended(old.words[-1], rest) if rest else None


def _insertion(
    before: Word | None, added: Sequence[Word], word: Word, here: Word
) -> str | None:
    """Judge the words added between two neighbours of the old text.

    Args:
        before: The neighbour on the left.
        added: What stands between them now.
        word: The neighbour on the right, in the old text.
        here: The same in the new text.
    """
    if not added:
        parted = set(here.pause) - set(word.pause)
        if before is not None and parted and word.text not in _JOINING:
            return f"a pause parts “{before.written} {word.written}”"
        return None
    if not here.pause and (problem := _governed(added[-1], word)):
        return problem
    if before is None or added[0].pause:
        return None
    if _owns(added[0]):
        return f"it is about something of “{before.written}”"
    renames = bool(here.pause) or _introduces(word)
    return _renamed(before, added) if renames else None


def _governed(added: Word, word: Word) -> str | None:
    """Judge a word added directly before a word of the old text."""
    if _governs(added):
        return f"“{added.written}” gives “{word.written}” another part in it"
    if added.text in ALIENATING:
        return f"“{added.written} {word.written}” is another thing"
    return None


def _appended(before: Word, added: Sequence[Word]) -> str | None:
    """Judge the words added after the end of the old text."""
    if added[0].pause:
        return None
    if _owns(added[0]):
        return f"it is about something of “{before.written}”"
    if before.written[:1].isupper() and not before.is_cjk:
        return None  # a name goes on: Genoa Italy
    return _renamed(before, added)


def _renamed(before: Word, added: Sequence[Word]) -> str | None:
    """Tell whether bare words make another thing of what they follow: `dog house`."""
    if is_function(before) or any(map(_introduces, added)):
        return None
    return f"“{before.written} {added[0].written}” may be another thing"


def _introduces(word: Word) -> bool:
    """Tell whether a word begins a phrase of its own, or tells when or how."""
    if word.pause or is_function(word):
        return True
    if word.is_cjk:
        return HAN_TIMES.match(word.text) is not None
    return (
        word.text in ADVERBS
        or word.text.removesuffix("s") in ADVERBS
        or word.text in DETERMINERS
        or word.text.endswith("ly")
        or any(character.isdecimal() for character in word.text)
    )


def _governs(word: Word) -> bool:
    """Tell whether a word decides what part the next one plays."""
    if word.is_cjk:
        return word.text in HAN_DIRECTIONS
    return word.text in DIRECTIONS or word.text in AUXILIARIES


def _owns(word: Word) -> bool:
    return word.text in HAN_OF if word.is_cjk else word.text in {"'s", "of"}
