"""Attributes that are made when they are asked for."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, Self, TypeVar, overload

T = TypeVar("T")

FORK_PATIENCE: Final = 5.0
"""Seconds that a fork waits for what is being made."""


class lazy_property(Generic[T]):  # noqa: N801 - a decorator, as `property` is one
    """`functools.cached_property` without a lock, as Python has it from 3.12 on.

    That of 3.11 makes all instances of a class wait for each other. Here two threads
    may both make a value; the first one is kept, for both.

    A fork waits until nothing is being made: most of these values need modules that are
    imported only then, and a process that was forked in the middle of an import waits
    for it for ever.

    Args:
        make: Makes the value; its docstring is that of the attribute.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        """Remember how the value is made."""
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | Self:
        """Make the value; the next time it is found in the instance."""
        if instance is None:
            return self
        with _gate.making():
            value: T = vars(instance).setdefault(self._name, self._make(instance))
        return value


class _Gate:
    """Keeps forks and the making of values apart."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self.reset()

    def reset(self) -> None:
        """Begin anew, also in a child: of its threads there is only this one."""
        self._changed = threading.Condition()
        self._making = int(self._is_making)
        self._forking = False

    @property
    def _is_making(self) -> bool:
        """Whether this thread is making something."""
        return getattr(self._mine, "inside", False)

    @contextmanager
    def making(self) -> Iterator[None]:
        """Let no fork begin, unless this thread is in here already."""
        if self._is_making:
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._forking)
            self._making += 1
        self._mine.inside = True
        try:
            yield
        finally:
            self._mine.inside = False
            with self._changed:
                self._making -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Wait until nothing is being made, and let nobody begin."""
        with self._changed:
            self._forking = True
            mine = int(self._is_making)
            self._changed.wait_for(lambda: self._making <= mine, FORK_PATIENCE)

    def open(self) -> None:
        """Let others begin again."""
        with self._changed:
            self._forking = False
            self._changed.notify_all()


_gate: Final = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_gate.close,
        after_in_parent=_gate.open,
        after_in_child=_gate.reset,
    )
