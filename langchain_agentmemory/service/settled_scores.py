"""The best results of a search, put in order by time and by version.

Words and meaning give every memory a number; here the best of them are looked at one by
one: what replaced what, what the query says about time (`search.settling`).
"""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.explanation import TimePart, VersionPart
from langchain_agentmemory.search.formula import score_of
from langchain_agentmemory.search.index import WordScores
from langchain_agentmemory.search.moments import TimePreference, time_preference
from langchain_agentmemory.search.settling import (
    Settled,
    Wanted,
    dated,
    settled,
    wanted,
)
from langchain_agentmemory.search.shelf import Shelf, top
from langchain_agentmemory.search.standing import COMPARED
from langchain_agentmemory.search.time_questions import asks_only_for_time
from langchain_agentmemory.search.timeliness import Dated, anchored_by, time_factor
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.explained_parts import version_part
from langchain_agentmemory.service.found_by_time import (
    Found,
    found_by_time,
    with_found,
    without_words,
)
from langchain_agentmemory.service.shelves import Held, WarmShelf
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import MemoryEntry

Scores = NDArray[np.float32]

_DATED: Final = 50
"""So many of the best results are looked at where the query names a time."""
_ANCHORS: Final = 5
"""So many memories may be the event that a query names in place of a date."""


class Settler:
    """Put the best results of one search in order.

    Args:
        warm: The index that was searched.
        query: The query.
        now: The time that it is asked at, in microseconds.
        timezone: Where "yesterday" is taken.
        parted: Whether versions with one score are parted: `settling.Wanted`.
    """

    def __init__(
        self,
        warm: WarmShelf,
        query: Query,
        now: int,
        timezone: tzinfo,
        *,
        parted: bool = True,
    ) -> None:
        """Remember what is asked; nothing is looked at yet."""
        self._warm = warm
        self._query = query
        self._now = now
        self._timezone = timezone
        self._parted = parted
        self._slots: list[int] = []
        self._settled: Settled | None = None
        self._asked: Wanted | None = None
        self._named = self._time_named()
        self._only_time = self._named is not None and asks_only_for_time(self._named)
        self._found: dict[int, Found] = {}

    @property
    def words(self) -> Query:
        """The query, as far as its words are looked for.

        They are not where it is nothing but a time: "What happened in May?"
        """
        return without_words(self._query) if self._only_time else self._query

    def settle(
        self, shelf: Shelf[Held], words: WordScores | None, total: Scores
    ) -> Scores:
        """Return all scores, those of the best results changed.

        Args:
            shelf: The index.
            words: How its words matched, `None` if they were not looked at.
            total: What results are ranked by, shape (slots,), in [0, 1].
        """
        if self._named is not None and self._only_time:
            zone = self._timezone
            self._found = found_by_time(shelf, self._query, self._named, zone)
            return with_found(total, self._found, parted=self._parted)
        preference = self._preference(shelf)
        count = COMPARED + 1 if preference is None else _DATED
        slots = [
            slot
            for slot in top(total, count).tolist()[:count]
            if shelf.item(slot).listed
        ]
        slots += self._linked(shelf, total, set(slots))
        if not slots:
            return total
        matched = None
        if words is not None and words.statistics is not None:
            matched = words.matches.terms_of(slots, len(total)).__getitem__
        asked = wanted(self._query, self._rarities(words), preference)
        asked = asked._replace(parted=self._parted)
        found = settled(
            [shelf.item(slot).entry(self._timezone) for slot in slots],
            total[slots].tolist(),
            asked,
            matched,
        )
        self._slots, self._settled, self._asked = slots, found, asked
        changed = total.copy()
        changed[slots] = np.minimum(found.final, 1)
        return changed

    def time_part(self, slot: int, entry: MemoryEntry) -> TimePart | None:
        """Return what the time words of the query did to a result, if anything.

        Args:
            slot: Where it is.
            entry: What it is.
        """
        if self._only_time:
            return self._found_part(slot, entry)
        preference = None if self._asked is None else self._asked.preference
        if preference is None or slot not in self._slots:
            return None
        when, precision = dated(entry)
        return TimePart(
            start=_iso(preference.start),
            end=_iso(preference.end),
            when=_iso(when),
            factor=time_factor(preference, when, precision),
        )

    def _found_part(self, slot: int, entry: MemoryEntry) -> TimePart | None:
        """Return what found a result by its time, `None` if nothing did."""
        found, preference = self._found.get(slot), self._named
        if found is None or preference is None:
            return None
        start, end = _iso(preference.start), _iso(preference.end)
        return TimePart(start, end, _iso(dated(entry)[0]), 1.0, found.by)

    def version_part(
        self, slot: int, entry: MemoryEntry, key: Callable[[int], str]
    ) -> VersionPart | None:
        """Return what being a version did to a result, `None` if it is none.

        Args:
            slot: Where it is.
            entry: What it is.
            key: Returns the id of what is in a slot.
        """
        found, asked = self._settled, self._asked
        if found is None or asked is None or slot not in self._slots:
            return None
        place = self._slots.index(slot)
        keys = [key(other) for other in self._slots]
        return version_part(found, place, entry, keys, asked.standing)

    def _linked(self, shelf: Shelf[Held], total: Scores, known: set[int]) -> list[int]:
        """Return what is linked, as a version, with something that was found."""
        replaced = self._warm.replaced
        if not replaced:
            return []
        found: dict[int, None] = {}
        for old, new in replaced.items():
            before, after = shelf.slot(old), shelf.slot(new)
            if before is None or after is None:
                continue
            if total[before] <= 0 and total[after] <= 0:
                continue
            for slot in (before, after):
                if slot not in known and shelf.item(slot).listed:
                    found[slot] = None
        return list(found)

    def _rarities(self, words: WordScores | None) -> Sequence[float]:
        if words is None or words.statistics is None:
            return ()
        pairs = zip(self._query.weights, words.statistics.rarities(), strict=True)
        return [weight * rarity for weight, rarity in pairs]

    def _time_named(self) -> TimePreference | None:
        if self._query.emphasis > 1:
            return None  # a whole message or dialogue: its times are not asked for
        return time_preference(self._query.text, from_us(self._now), self._timezone)

    def _preference(self, shelf: Shelf[Held]) -> TimePreference | None:
        found = self._named
        if found is None or found.anchor is None:
            return found
        event = shelf.tokenizer.query(found.anchor)
        scores = shelf.lexical(event)
        candidates = []
        for slot in top(scores, _ANCHORS).tolist():
            if not shelf.item(slot).listed:
                continue
            when, precision = dated(shelf.item(slot).entry(self._timezone))
            if when is not None:
                score = score_of(float(scores[slot]))
                candidates.append(Dated(score, when, precision))
        return anchored_by(found, candidates) or found


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
