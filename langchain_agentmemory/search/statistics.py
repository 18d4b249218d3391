"""What a lexical score needs to know of the whole corpus, for one query."""

import math
from functools import lru_cache
from typing import NamedTuple


class Statistics(NamedTuple):
    """Counts over a corpus, for the terms of one query.

    Attributes:
        documents: How many documents there are.
        frequencies: In how many of them each term of the query occurs.
        content_length: Sum of their content lengths, in tokens.
        topics_length: Sum of their topics' lengths, in tokens.
    """

    documents: int
    frequencies: tuple[int, ...]
    content_length: int
    topics_length: int

    def merged(self, other: "Statistics") -> "Statistics":
        """Return the statistics of both corpora together, for the same query."""
        pairs = zip(self.frequencies, other.frequencies, strict=True)
        return Statistics(
            self.documents + other.documents,
            tuple(mine + theirs for mine, theirs in pairs),
            self.content_length + other.content_length,
            self.topics_length + other.topics_length,
        )

    def rarities(self) -> tuple[float, ...]:
        """Return each term's inverse document frequency; always positive."""
        return _rarities(self.documents, self.frequencies)

    def mean_lengths(self) -> tuple[float, float]:
        """Return the mean content and topics lengths, at least 1 each."""
        count = max(self.documents, 1)
        return max(self.content_length / count, 1), max(self.topics_length / count, 1)


@lru_cache(maxsize=16)
def _rarities(documents: int, frequencies: tuple[int, ...]) -> tuple[float, ...]:
    """Return what several parts of one search ask for."""
    return tuple(
        [math.log1p((documents - often + 0.5) / (often + 0.5)) for often in frequencies]
    )
