"""What a lexical score needs to know of the whole corpus, for one query."""

import math
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

    def rarities(self) -> list[float]:
        """Return each term's inverse document frequency; always positive."""
        return [
            math.log1p((self.documents - frequency + 0.5) / (frequency + 0.5))
            for frequency in self.frequencies
        ]

    def mean_lengths(self) -> tuple[float, float]:
        """Return the mean content and topics lengths, at least 1 each."""
        count = max(self.documents, 1)
        return max(self.content_length / count, 1), max(self.topics_length / count, 1)
