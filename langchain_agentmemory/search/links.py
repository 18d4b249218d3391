"""What replaced what: the scores of memories that are linked as versions.

A link says for certain which of two memories holds now. The one that a query wants gets
at least the score of the other, which is put just below it. So what holds comes first
also where only the words of what it replaced match.
"""

from collections.abc import Mapping, MutableMapping
from typing import Final, TypeVar

K = TypeVar("K")

_LEAST: Final = 1e-6  # of the oldest in a long chain: low, but found
JUST_BELOW: Final = 0.98
"""The score of the version that a query does not want, as a share of the other's."""


def linked(
    scores: MutableMapping[K, float], links: Mapping[K, K], *, past: bool = False
) -> None:
    """Give linked memories the scores that they have as versions, in place.

    In a chain every version is compared with the next: what holds gets the best score
    of the chain, and what comes before it falls by `JUST_BELOW` at each step, but
    nothing is raised for having been replaced. Links that run in a circle, or into one,
    say nothing.

    Args:
        scores: Of memories by id, not negative. Links of others are left out.
        links: The id of what replaced it, for each memory that was replaced.
        past: Whether the query asks for what held before: then the oldest comes first.
    """
    levels = _levels({o: n for o, n in links.items() if o in scores and n in scores})
    inward = reversed(levels) if not past else iter(levels)
    outward = levels if not past else reversed(levels)
    for level in inward:
        for old, new in level.items():
            better, worse = (old, new) if past else (new, old)
            scores[better] = max(scores[better], scores[worse])
    for level in outward:
        for old, new in level.items():
            better, worse = (old, new) if past else (new, old)
            below = max(JUST_BELOW * scores[better], _LEAST)
            scores[worse] = min(scores[worse], below)


def _levels(links: Mapping[K, K]) -> list[dict[K, K]]:
    """Return the links by their steps from what holds, the nearest first."""
    replaced: dict[K, list[K]] = {}
    for old, new in links.items():
        replaced.setdefault(new, []).append(old)
    found: list[dict[K, K]] = []
    level = {old: new for old, new in links.items() if new not in links}
    while level:
        found.append(level)
        level = {old: new for new in level for old in replaced.get(new, ())}
    return found
