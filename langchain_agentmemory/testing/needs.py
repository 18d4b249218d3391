"""How a rule says what it needs of a backend."""

from collections.abc import Callable
from typing import Final

from langchain_agentmemory.testing.harness import Harness, Requirement

Check = Callable[[Harness], None]

_needs: Final[dict[Check, tuple[Requirement, ...]]] = {}


def needs(*requirements: Requirement) -> Callable[[Check], Check]:
    """Mark a rule as one that only concerns backends with these properties."""

    def mark(check: Check) -> Check:
        _needs[check] = requirements
        return check

    return mark


def needs_of(check: Check) -> tuple[Requirement, ...]:
    """Return what a rule needs."""
    return _needs.get(check, ())
