"""What the time words of a query do to scores.

A preference raises what happened when the query says and lowers what happened far from
it, by less than a clear difference in relevance: people misremember dates, and a memory
may be dated by when it was told.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from langchain_agentmemory.search.moments import TimePreference, closeness
from langchain_agentmemory.types import EventPrecision

STRONGEST: Final = 1.3
"""Factor of what fits a time preference exactly. What is far from it is divided by it.

Measured on LoCoMo's dated questions and on our own; see docs/concepts/search.md.
"""

ANCHOR_FROM: Final = 0.3
"""What an event is dated by must match its name at least this well."""


class Dated(NamedTuple):
    """A memory that may be the event which a query names in place of a date.

    Attributes:
        score: How well it matches the name, in [0, 1].
        when: When it happened, aware.
        precision: How exactly that is known.
    """

    score: float
    when: datetime
    precision: EventPrecision | None = "instant"


def time_factor(
    preference: TimePreference,
    when: datetime | None,
    precision: EventPrecision | None = "instant",
) -> float:
    """Return what a score is multiplied by for when something happened.

    Args:
        preference: What the query wants.
        when: When it happened, or when it was said, aware. `None` if unknown.
        precision: How exactly that is known.

    Returns:
        `STRONGEST ** (2 * closeness - 1)`: from `1 / STRONGEST` to `STRONGEST`, 1 for
        the undated.
    """
    return float(STRONGEST ** (2 * closeness(preference, when, precision) - 1))


def anchored_by(
    preference: TimePreference, candidates: Iterable[Dated]
) -> TimePreference | None:
    """Return the preference with the date of the event that it names.

    Args:
        preference: One with an `anchor` ("before the trip to Kyoto").
        candidates: Dated memories that match the text of the anchor, in any order: the
            five best of a search for it are enough.

    Returns:
        The preference by the best match's date, the earliest of equals. `None` if the
        preference names no event, or nothing matches it well enough.
    """
    if preference.anchor is None:
        return None
    found = [match for match in candidates if match.score >= ANCHOR_FROM]
    if not found:
        return None
    best = min(found, key=lambda match: (-match.score, match.when))
    return preference.anchored(best.when, best.precision)
