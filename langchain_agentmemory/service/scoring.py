"""What the slots of an index are ranked by, for one search."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.service.halves import (
    Halves,
    Request,
    halves_of,
    sharpened,
)
from langchain_agentmemory.service.settled_scores import Settler
from langchain_agentmemory.service.shelves import Held

Scores = NDArray[np.float32]

_MOST_SURE: Final = 200
"""So many results may be found by estimates: for more, all cosines are looked at."""


class Scoring:
    """Scores every slot of an index for one request, when they are asked for.

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
        self._sure: int | None = None  # How many of the best are exact, None: all.

    @property
    def halves(self) -> Halves:
        """What both halves say, exactly."""
        return self._scored(None)

    def totals(self, k: int | None) -> Scores:
        """Return what to rank by, shape (slots,), in [0, 1].

        Args:
            k: How many of the best have to be exact and in order, `None` for all.
        """
        return self._scored(k).total

    def _scored(self, k: int | None) -> Halves:
        unsure = self._sure is not None and (k is None or k > self._sure)
        if self._halves is None or unsure:
            halves, self._sure = self._score(k)
            if self._settler is not None:
                total = self._settler.settle(self._shelf, halves.words, halves.total)
                halves = halves._replace(total=total)
            self._halves = halves
        return self._halves

    def _score(self, k: int | None) -> tuple[Halves, int | None]:
        """Return scores, and how many of the best are exact, `None` for all."""
        vector, settler = self._request.vector, self._settler
        if vector is None:
            return self._halves_of(None), None
        if settler is None or self._exact or k is None or k > _MOST_SURE:
            return self._halves_of(self._shelf.vector(vector)), None
        found = self._shelf.estimated_cosines(vector)
        halves = self._halves_of(found.values)
        if not found.error:
            return halves, None
        sure = max(k, settler.count(self._shelf))
        linked = settler.linked(self._shelf, halves.total)
        total = sharpened(
            self._shelf, self._request, halves, found.error, sure=sure, linked=linked
        )
        if total is not None:
            return halves._replace(total=total), sure
        return self._halves_of(self._shelf.vector(vector)), None

    def _halves_of(self, cosines: Scores | None) -> Halves:
        by_evidence = self._settler is not None
        return halves_of(self._shelf, self._request, cosines, by_evidence=by_evidence)
