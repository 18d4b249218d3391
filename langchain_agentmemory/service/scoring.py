"""What the slots of an index are ranked by, for one search."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.shelf import Shelf, top
from langchain_agentmemory.service.halves import (
    Halves,
    Request,
    Sharpened,
    halves_of,
    sharpened,
)
from langchain_agentmemory.service.settled_scores import Settler
from langchain_agentmemory.service.shelves import Held

Scores = NDArray[np.float32]

_MOST_SURE: Final = 200
"""So many results may be found by estimates: for more, all cosines are looked at."""


class Best(NamedTuple):
    """The best slots of an index, best first, later ones first among equals.

    Attributes:
        slots: Which they are.
        scores: What they are ranked by, positive, same order.
        complete: Whether nothing else has a positive score.
    """

    slots: list[int]
    scores: list[float]
    complete: bool


class Scoring:
    """Scores the slots of an index for one request, when they are asked for.

    Args:
        shelf: The index.
        request: What is looked for.
        settler: Puts the best in order; `None` leaves them, and adds up no evidence.
        exact: Look at all cosines, however many there are.
    """

    def __init__(
        self,
        shelf: Shelf[Held],
        request: Request,
        settler: Settler | None,
        *,
        exact: bool,
    ) -> None:
        """Remember what is asked; nothing is scored yet."""
        self._shelf = shelf
        self._request = request
        self._settler = settler
        self._exact = exact or settler is None
        self._halves: Halves | None = None
        self._near: Sharpened | None = None  # The best of them, where others are not.
        self._sure: int | None = None  # How many of the best are exact, None: all.
        self._linked: list[int] = []
        self._settled: Mapping[int, float] | None = None

    @property
    def halves(self) -> Halves:
        """What both halves say, exactly, and what all slots are ranked by."""
        halves = self._scored(None)
        if self._settled is None:
            self.best(1)
        if not self._settled:
            return halves
        total = halves.total.copy()
        total[list(self._settled)] = list(self._settled.values())
        return halves._replace(total=total)

    def best(self, k: int | None) -> Best:
        """Return the best slots, at least `k` of them if there are so many.

        Args:
            k: How many are wanted, `None` for all with a positive score.
        """
        halves = self._scored(k)
        # What is settled may fall behind what followed it.
        wanted = None if k is None else k + self._unsettled()
        slots, scores = self._top(halves.total, wanted)
        complete = wanted is None or (self._near is None and len(slots) < wanted)
        if self._settled is None and self._settler is not None:
            self._settled = self._settler.settle(
                self._shelf, slots, scores, halves, self._linked
            )
        if self._settled:
            slots, scores = _with(self._settled, slots, scores)
        return Best(slots, scores, complete)

    def _unsettled(self) -> int:
        """Return how many of the best may get other scores."""
        if self._settler is None:
            return 0
        return self._settler.count(self._shelf) + len(self._linked)

    def _top(self, total: Scores, k: int | None) -> tuple[list[int], list[float]]:
        """Return the best slots by their totals, and these."""
        if self._near is None:
            slots = top(total, k)
            return slots.tolist(), total[slots].tolist()
        places = top(self._near.totals, k)
        slots, totals = self._near
        return slots[places].tolist(), totals[places].tolist()

    def _scored(self, k: int | None) -> Halves:
        unsure = self._sure is not None and (k is None or k > self._sure)
        if self._halves is None or unsure:
            self._halves = self._score(k)
        return self._halves

    def _score(self, k: int | None) -> Halves:
        """Score all slots; so many of the best exactly, `None` for all."""
        settler, vector = self._settler, self._request.vector
        self._near = self._sure = self._settled = None
        halves = None
        if not (settler is None or vector is None or k is None or self._exact):
            halves = self._estimated(settler, vector, k) if k <= _MOST_SURE else None
        if halves is None:
            halves = self._halves_of(
                None if vector is None else self._shelf.vector(vector)
            )
            if settler is not None:
                self._linked = settler.linked(self._shelf, halves.total)
        if settler is not None and settler.only_time:
            total = settler.by_time(self._shelf, halves.total)
            self._near, self._settled = None, {}
            return halves._replace(total=total)
        return halves

    def _estimated(self, settler: Settler, vector: Scores, k: int) -> Halves | None:
        """Score by estimates, and the best of them exactly; `None` if unsure of it."""
        found = self._shelf.estimated_cosines(vector)
        halves = self._halves_of(found.values)
        self._linked = settler.linked(self._shelf, halves.total)
        if not found.error:
            return halves
        sure = max(k, settler.count(self._shelf))
        near = sharpened(
            self._shelf,
            self._request,
            halves,
            found.error,
            sure=sure,
            linked=self._linked,
        )
        if near is None:
            return None
        self._near, self._sure = near, sure
        total = halves.total.copy()
        total[near.slots] = near.totals
        return halves._replace(total=total)

    def _halves_of(self, cosines: Scores | None) -> Halves:
        by_evidence = self._settler is not None
        return halves_of(self._shelf, self._request, cosines, by_evidence=by_evidence)


def _with(
    settled: Mapping[int, float], slots: list[int], scores: list[float]
) -> tuple[list[int], list[float]]:
    """Return slots with settled scores among the others, best first."""
    totals = dict(zip(slots, scores, strict=True))
    totals.update(settled)
    order = sorted(zip(totals.values(), totals, strict=True), reverse=True)
    return [slot for _, slot in order], [score for score, _ in order]
