"""Opening, closing and describing a backend."""

from collections.abc import Callable
from typing import Any

from langchain_agentmemory.backends.base import (
    Backend,
    Batch,
    Capability,
    Page,
    Write,
)
from langchain_agentmemory.errors import BackendUnavailable
from langchain_agentmemory.testing.harness import Harness
from langchain_agentmemory.testing.records import ANN, put, record, shown


def it_names_itself_and_its_capabilities(harness: Harness) -> None:
    """A backend has a name, a frozen set of capabilities, and says what it returns."""
    backend = harness.backend
    assert backend.name
    assert isinstance(backend.name, str)
    assert isinstance(backend.capabilities, frozenset)
    assert all(isinstance(each, Capability) for each in backend.capabilities)
    assert isinstance(backend.keeps_records, bool)


def opening_again_changes_nothing(harness: Harness) -> None:
    """Opening an open backend keeps its data."""
    put(harness.backend, record("a"))
    harness.backend.open()
    assert shown(harness.backend) == ["a"]


def closing_twice_is_allowed(harness: Harness) -> None:
    """A closed backend can be closed again."""
    harness.backend.close()
    harness.backend.close()


def a_closed_backend_says_so(harness: Harness) -> None:
    """Every call after closing raises `BackendUnavailable` with a message."""
    put(harness.backend, record("a"))
    harness.backend.close()
    for name, call in _calls(harness.backend).items():
        try:
            call()
        except BackendUnavailable as error:
            assert str(error), f"{name} gave no message"
        else:
            msg = f"{name} answered although the backend is closed"
            raise AssertionError(msg)


def _calls(backend: Backend) -> dict[str, Callable[[], Any]]:
    return {
        "open": backend.open,
        "head": lambda: backend.head(ANN),
        "heads": lambda: backend.heads(()),
        "read": lambda: backend.read(ANN, ["a"]),
        "page": lambda: backend.page(Page(ANN, None)),
        "delta": lambda: backend.delta(ANN, 0, 0),
        "commit": lambda: backend.commit(Batch([Write(record("b"))])),
        "touch": lambda: backend.touch(ANN, {"a": 1}),
        "sweep": backend.sweep,
        "purge": lambda: backend.purge((), 0),
        "drop": lambda: backend.drop(ANN),
        "describe": backend.describe,
    }


def it_describes_itself_in_words(harness: Harness) -> None:
    """`describe` names the engine and counts the active items; all values are text."""
    put(harness.backend, record("a"), record("b"))
    facts = harness.backend.describe()
    assert facts["engine"]
    assert facts["items"] == "2"
    assert all(isinstance(fact, str) for fact in facts.values())


def its_clock_is_plausible(harness: Harness) -> None:
    """`now` is a number of microseconds since 1970, after 2020."""
    now = harness.backend.now()
    assert isinstance(now, int)
    year = 31_557_600_000_000
    assert 50 * year < now < 200 * year
