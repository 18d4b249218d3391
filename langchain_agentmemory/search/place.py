"""A position in a conversation, and what its neighbours count."""

from typing import Final, NamedTuple

NEIGHBOUR_SHARES: Final = (0.7, 0.4)
"""What the words of the next place count for this one, and those of the one after it.

Recall@10 on the LoCoMo development half, by words: without neighbours 63.5, with the
next places at full weight 70.4, with two at these weights 73.5.
"""
LENT_SHARES: Final = (0.5, 0.2)
"""The same for the evidence of vectors."""
MOST_APART: Final = 4
"""Neighbours are at most so many positions apart: between two messages of a user there
are answers, and calls of tools."""


class Place(NamedTuple):
    """A position in a conversation."""

    thread: str
    position: int
