"""What a rule of the contract gets to work with: a fresh backend and a clock."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

from langchain_agentmemory.backends.base import Backend, Capability
from langchain_agentmemory.testing.clock import ManualClock

MakeBackend = Callable[[Path, ManualClock], Backend]
"""Opens the data that belongs to a folder, with a clock that the test moves."""


class Harness:
    """Backends on one set of data, closed when the rule has been checked.

    Args:
        make: Opens a backend.
        folder: An empty folder of this rule.

    Attributes:
        clock: The clock of all backends made here.
        backend: The backend under test.
    """

    def __init__(self, make: MakeBackend, folder: Path) -> None:
        """Open the first backend."""
        self.clock = ManualClock()
        self._make = make
        self._folder = folder
        self._opened: list[Backend] = []
        self.backend = self.another()

    def another(self) -> Backend:
        """Open the same data once more, beside what is open."""
        backend = self._make(self._folder, self.clock)
        self._opened.append(backend)
        backend.open()
        return backend

    def reopen(self) -> Backend:
        """Close everything and open the data again."""
        self.close()
        self.backend = self.another()
        return self.backend

    def close(self) -> None:
        """Close everything."""
        while self._opened:
            self._opened.pop().close()

    def __enter__(self) -> Self:
        """Return the harness."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close everything."""
        self.close()


class Requirement(Enum):
    """What a rule needs of a backend; a backend without it is not asked.

    All but the last follow from the capabilities that the backend declares.
    """

    DURABLE = "a backend that declares Capability.DURABLE"
    VOLATILE = "a backend that does not declare Capability.DURABLE"
    SHARED = "a backend that declares Capability.SHARED"
    ATOMIC_ACROSS_NAMESPACES = (
        "a backend that declares Capability.ATOMIC_ACROSS_NAMESPACES"
    )
    GIVEN_CLOCK = "a backend that tells the time by the clock it was given"

    def met_by(self, harness: Harness) -> bool:
        """Tell whether the backend under test fulfils the requirement."""
        if self is Requirement.GIVEN_CLOCK:
            return harness.backend.now() == harness.clock()
        if self is Requirement.VOLATILE:
            return Capability.DURABLE not in harness.backend.capabilities
        return Capability[self.name] in harness.backend.capabilities
