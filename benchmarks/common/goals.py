"""A goal that was set, and whether a run met it."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["met", "MISSED", "not measured"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal and what was measured.

    Attributes:
        text: What was wanted.
        bound: The number to reach.
        measured: The number that was, `None` if it was not measured.
        unit: What both count.
        at_least: Whether more is better.
    """

    text: str
    bound: float
    measured: float | None
    unit: str
    at_least: bool

    @property
    def verdict(self) -> Verdict:
        """Whether it was met."""
        if self.measured is None:
            return "not measured"
        if self.at_least:
            return "met" if self.measured >= self.bound else "MISSED"
        return "met" if self.measured <= self.bound else "MISSED"
