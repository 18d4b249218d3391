"""When to extract: conditions on what is waiting, and ways to combine them.

A checker is any callable that takes an `ExtractionContext` and says whether it is time.
What is not extracted yet stays waiting and is offered again with what is said next.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.extraction.context import Checker, ExtractionContext

Clock = Callable[[], datetime]
"""Returns the present as an aware datetime."""


def message_threshold(count: int) -> Checker:
    """Extract when more than so many messages are waiting.

    Args:
        count: How many messages may wait. Exactly so many are not enough.

    Raises:
        InvalidInput: If it is not an integer of at least 0.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        msg = f"message_threshold needs an integer of at least 0, not {count!r}."
        raise InvalidInput(msg)
    return _MessageThreshold(count)


def time_interval(
    interval: timedelta | float, *, clock: Clock | None = None
) -> Checker:
    """Extract when the last extracted message was said longer ago than this.

    A thread of which nothing was extracted yet is always due.

    Args:
        interval: A `timedelta`, or seconds. Exactly so long ago is not enough.
        clock: Replaces the clock of the machine, for tests.

    Raises:
        InvalidInput: If the interval is negative or no length of time.
    """
    try:
        length = (
            interval
            if isinstance(interval, timedelta)
            else timedelta(seconds=_finite(interval))
        )
    except (OverflowError, TypeError, ValueError) as error:
        msg = f"time_interval needs a timedelta or seconds, not {interval!r}."
        raise InvalidInput(msg) from error
    if length < timedelta(0):
        msg = f"time_interval must not be negative, it is {length}."
        raise InvalidInput(msg)
    return _TimeInterval(length, clock or _now)


def all_of(*checkers: Checker) -> Checker:
    """Extract when every one of the checkers says so; with none of them, always.

    They are asked in order, up to the first that says no.

    Raises:
        InvalidInput: If one of them cannot be called.
    """
    return _AllOf(checked(checkers))


def any_of(*checkers: Checker) -> Checker:
    """Extract when at least one of the checkers says so; with none of them, never.

    They are asked in order, up to the first that says yes.

    Raises:
        InvalidInput: If one of them cannot be called.
    """
    return _AnyOf(checked(checkers))


def checked(checkers: tuple[Checker, ...]) -> tuple[Checker, ...]:
    """Return the checkers if all of them can be called.

    Raises:
        InvalidInput: If one cannot.
    """
    given: tuple[object, ...] = checkers
    for checker in given:
        if not callable(checker):
            msg = (
                f"A checker is a callable that takes an ExtractionContext and returns "
                f"True or False, not {checker!r}."
            )
            raise InvalidInput(msg)
    return checkers


@dataclass(frozen=True, slots=True)
class _MessageThreshold:
    count: int

    def __call__(self, context: ExtractionContext) -> bool:
        return len(context.messages) > self.count

    def __repr__(self) -> str:
        return f"message_threshold({self.count})"


@dataclass(frozen=True, slots=True)
class _TimeInterval:
    interval: timedelta
    clock: Clock = field(compare=False)

    def __call__(self, context: ExtractionContext) -> bool:
        last = context.last_extract_at
        return last is None or self.clock() - last > self.interval

    def __repr__(self) -> str:
        return f"time_interval({self.interval!r})"


@dataclass(frozen=True, slots=True)
class _AllOf:
    checkers: tuple[Checker, ...]

    def __call__(self, context: ExtractionContext) -> bool:
        return all(checker(context) for checker in self.checkers)

    def __repr__(self) -> str:
        return f"all_of({', '.join(map(repr, self.checkers))})"


@dataclass(frozen=True, slots=True)
class _AnyOf:
    checkers: tuple[Checker, ...]

    def __call__(self, context: ExtractionContext) -> bool:
        return any(checker(context) for checker in self.checkers)

    def __repr__(self) -> str:
        return f"any_of({', '.join(map(repr, self.checkers))})"


def _finite(seconds: float) -> float:
    if isinstance(seconds, bool) or not math.isfinite(seconds):
        raise ValueError(seconds)
    return seconds


def _now() -> datetime:
    return datetime.now(UTC)
