"""A clock that a test sets and moves, forwards and backwards."""

from datetime import timedelta
from typing import Final

START: Final = 1_700_000_000_000_000
"""14 November 2023, in microseconds since the epoch: any time in the past would do."""

_MICROSECOND: Final = timedelta(microseconds=1)


class ManualClock:
    """Stand still until moved; calling it tells the time.

    Args:
        microseconds: The first time that it tells, since the Unix epoch.
    """

    def __init__(self, microseconds: int = START) -> None:
        """Start at a time."""
        self.microseconds = microseconds

    def __call__(self) -> int:
        """Return the time in microseconds since the Unix epoch."""
        return self.microseconds

    def step(self, by: timedelta | int) -> None:
        """Move by a `timedelta` or by microseconds; negative steps go back."""
        self.microseconds += by // _MICROSECOND if isinstance(by, timedelta) else by
