"""Ours with one ingredient taken out or changed: what does each of them earn?

To measure a change, add it to `ABLATIONS`. It takes part in every run, in each of its
modes and with every embedder, next to what it is a change of; the report has the paired
difference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.retrieval.engines import Open


@dataclass(frozen=True)
class Ablation:
    """A change to ours.

    Attributes:
        name: What was changed: `"no stems"`.
        open: Makes an empty engine with the change: `partial(Ours, OPTION=VALUE)`, or
            `partial(Ours, build=FUNCTION)` for a function that makes the store.
        modes: The modes that it concerns.
        options: What searches are called with, if the change is in the search.
    """

    name: str
    open: Open
    modes: tuple[str, ...] = ("lexical", "hybrid")
    options: Mapping[str, Any] = field(default_factory=dict)


ABLATIONS: Final[tuple[Ablation, ...]] = ()
