"""`langchain_agentmemory.search.links` for arrays: one score per slot."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.links import JUST_BELOW

Slots = NDArray[np.intp]


class Level(NamedTuple):
    """Links that are equally far from what holds.

    Attributes:
        old: Slots of what was replaced, shape (links,).
        new: Slots of what replaced it, shape (links,).
    """

    old: Slots
    new: Slots


def levels_of(old: Slots, new: Slots, size: int) -> list[Level]:
    """Return links by how many steps they are from what holds, the nearest first.

    They depend on the links alone, so that they can be kept until a link changes. One
    pass per step of the longest chain.

    Args:
        old: Slots of what was replaced, shape (links,), each at most once.
        new: Slots of what replaced it, shape (links,).
        size: How many slots there are; all given ones are below it.

    Returns:
        The links, without those that run in a circle or into one.
    """
    replaced = np.zeros(size, bool)
    replaced[old] = True
    reached = ~replaced
    levels: list[Level] = []
    while len(old):
        near = reached[new]
        if not near.any():
            break
        levels.append(Level(old[near], new[near]))
        reached[old[near]] = True
        old, new = old[~near], new[~near]
    return levels


def apply_links(
    scores: NDArray[np.float32], levels: Sequence[Level], *, past: bool = False
) -> None:
    """Give linked memories the scores that they have as versions, in place.

    The same as `langchain_agentmemory.search.links.linked`.

    Args:
        scores: Of each slot, shape (slots,), not negative.
        levels: The links, see `levels_of`.
        past: Whether the query asks for what held before: then the oldest comes first.
    """
    just_below = np.float32(JUST_BELOW)
    if past:
        for level in levels:  # each old slot is there once
            scores[level.old] = np.maximum(scores[level.old], scores[level.new])
        for level in reversed(levels):
            np.minimum.at(scores, level.new, just_below * scores[level.old])
        return
    for level in reversed(levels):
        np.maximum.at(scores, level.new, scores[level.old])
    for level in levels:
        scores[level.old] = np.minimum(
            scores[level.old], just_below * scores[level.new]
        )
