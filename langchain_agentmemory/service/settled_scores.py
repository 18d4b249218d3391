"""The best results of a search, put in order by time and by version.

Words and meaning give every memory a number; here the best of them are looked at one by
one: what replaced what, what the query says about time (`search.settling`).
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.cues import time_named
from langchain_agentmemory.search.formula import score_of
from langchain_agentmemory.search.index import WordScores
from langchain_agentmemory.search.settling import (
    Settled,
    Wanted,
    dated,
    settled,
    wanted,
)
from langchain_agentmemory.search.shelf import Shelf, top
from langchain_agentmemory.search.standing import COMPARED
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.halves import Halves
from langchain_agentmemory.service.shelves import Held, WarmShelf
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import MemoryEntry

if TYPE_CHECKING:
    from langchain_agentmemory.explanation import TimePart, VersionPart
    from langchain_agentmemory.search.moments import TimePreference
    from langchain_agentmemory.service.found_by_time import TimeQuestion

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
        self._preferred: TimePreference | None = None
        self._has_read = False
        self._named = self._time_named()
        self._only_time = self._time_question()

    @property
    def words(self) -> Query:
        """The query, as far as its words are looked for.

        They are not where it is nothing but a time: "What happened in May?"
        """
        return self._query if self._only_time is None else self._only_time.words

    @property
    def only_time(self) -> bool:
        """Whether the query is nothing but a time."""
        return self._only_time is not None

    def by_time(self, shelf: Shelf[Held], total: Scores) -> Scores:
        """Return all scores of a query that is nothing but a time.

        Args:
            shelf: The index.
            total: What results are ranked by, shape (slots,), in [0, 1].
        """
        if self._only_time is None:
            return total
        return self._only_time.settle(shelf, total, parted=self._parted)

    def settle(
        self,
        shelf: Shelf[Held],
        slots: Sequence[int],
        scores: Sequence[float],
        halves: Halves,
        linked: Sequence[int],
    ) -> Mapping[int, float]:
        """Return the scores of the best results that change, by slot.

        Args:
            shelf: The index.
            slots: The best results, best first: at least `count` if there are so many.
            scores: What they are ranked by, same order, in [0, 1].
            halves: What all slots are ranked by, and how their words matched.
            linked: What `linked` returned.
        """
        looked_at = dict(zip(slots[: self.count(shelf)], scores, strict=False))
        for slot in linked:
            if slot not in looked_at:
                looked_at[slot] = float(halves.total[slot])
        all_held = dict(zip(looked_at, shelf.items_at(list(looked_at)), strict=True))
        places = [slot for slot, held in all_held.items() if held.listed]
        if not places:
            return {}
        given = [looked_at[slot] for slot in places]
        entries = [all_held[slot].entry(self._timezone) for slot in places]
        words, matched = halves.words, None
        if words is not None and words.statistics is not None:
            matched = words.matches.terms_of(places, len(halves.total)).__getitem__
        asked = wanted(
            self._query,
            self._rarities(words),
            self._preference(shelf),
            parted=self._parted,
        )
        found = settled(entries, given, asked, matched)
        self._slots, self._settled, self._asked = places, found, asked
        if found.final == given:
            return {}
        final = array("f", [min(score, 1.0) for score in found.final])
        return dict(zip(places, final, strict=True))

    def count(self, shelf: Shelf[Held]) -> int:
        """Return how many of the best results are looked at, beside what is linked.

        Args:
            shelf: The index.
        """
        return COMPARED + 1 if self._preference(shelf) is None else _DATED

    def time_part(self, slot: int, entry: MemoryEntry) -> "TimePart | None":
        """Return what the time words of the query did to a result, if anything.

        Args:
            slot: Where it is.
            entry: What it is.
        """
        if self._only_time is not None:
            return self._only_time.part(slot, entry)
        preference = None if self._asked is None else self._asked.preference
        if preference is None or slot not in self._slots:
            return None
        from langchain_agentmemory.service.explained_parts import (  # noqa: PLC0415
            time_part,
        )

        return time_part(preference, entry)

    def version_part(
        self, slot: int, entry: MemoryEntry, key: Callable[[int], str]
    ) -> "VersionPart | None":
        """Return what being a version did to a result, `None` if it is none.

        Args:
            slot: Where it is.
            entry: What it is.
            key: Returns the id of what is in a slot.
        """
        found, asked = self._settled, self._asked
        if found is None or asked is None or slot not in self._slots:
            return None
        from langchain_agentmemory.service.explained_parts import (  # noqa: PLC0415
            version_part,
        )

        place = self._slots.index(slot)
        keys = [key(other) for other in self._slots]
        return version_part(found, place, entry, keys, asked.standing)

    def linked(self, shelf: Shelf[Held], total: Scores) -> list[int]:
        """Return the slots of versions of which one or the other was found.

        Args:
            shelf: The index.
            total: What results are ranked by, shape (slots,).
        """
        found: dict[int, None] = {}
        for old, new in self._warm.replaced.items():
            before, after = shelf.slot(old), shelf.slot(new)
            if before is None or after is None:
                continue
            if total[before] <= 0 and total[after] <= 0:
                continue
            for slot in (before, after):
                if shelf.item(slot).listed:
                    found[slot] = None
        return list(found)

    def _rarities(self, words: WordScores | None) -> Sequence[float]:
        if words is None or words.statistics is None:
            return ()
        pairs = zip(self._query.weights, words.statistics.rarities(), strict=True)
        return [weight * rarity for weight, rarity in pairs]

    def _preference(self, shelf: Shelf[Held]) -> "TimePreference | None":
        """Return when the query wants things to have happened, read once."""
        if not self._has_read:
            self._preferred, self._has_read = self._read_preference(shelf), True
        return self._preferred

    def _time_named(self) -> "TimePreference | None":
        if self._query.emphasis > 1:
            return None  # a whole message or dialogue: its times are not asked for
        return time_named(self._query.text, from_us(self._now), self._timezone)

    def _time_question(self) -> "TimeQuestion | None":
        if self._named is None:
            return None
        from langchain_agentmemory.service.found_by_time import (  # noqa: PLC0415
            time_question,  # rare
        )

        return time_question(self._query, self._named, self._timezone)

    def _read_preference(self, shelf: Shelf[Held]) -> "TimePreference | None":
        found = self._named
        if found is None or found.anchor is None:
            return found
        from langchain_agentmemory.search.timeliness import (  # noqa: PLC0415 - rare
            Dated,
            anchored_by,
        )

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
