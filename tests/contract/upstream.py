"""Load LangGraph's own store tests from their source packages, unmodified.

`load` executes an upstream test file under a private name. `expose` hands its contract
tests to one of our test modules, which defines the fixtures they ask for. What is
replaced are names in the loaded module (`InMemoryStore`, `create_vector_store`, ...),
never a line of it.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.contract.classification import CONTRACT, TABLE, Suite

_CACHE = Path(__file__).parents[2] / ".upstream"


def _source_of(distribution: str) -> Path:
    """Return the unpacked source of what is installed, or skip the calling module."""
    name = f"{distribution.replace('-', '_')}-{version(distribution)}"
    source = _CACHE / name
    if not source.is_dir():
        msg = (
            f"The source package {name} is not in {_CACHE.name}/: "
            f"run `python scripts/fetch_upstream_tests.py` (`make contract` does)."
        )
        if os.environ.get("CI") == "true":
            raise FileNotFoundError(msg)
        pytest.skip(msg, allow_module_level=True)
    return source


@contextmanager
def _tests_package_at(folder: Path) -> Iterator[None]:
    """Let `import tests` mean another folder for a while."""

    def ours(name: str) -> bool:
        return name == "tests" or name.startswith("tests.")

    hidden = {name: sys.modules.pop(name) for name in [*sys.modules] if ours(name)}
    package = ModuleType("tests")
    package.__path__ = [str(folder)]
    sys.modules["tests"] = package
    try:
        yield
    finally:
        for name in [name for name in sys.modules if ours(name)]:
            del sys.modules[name]
        sys.modules.update(hidden)


def load(suite: Suite) -> ModuleType:
    """Import an upstream test file; nothing of it stays in `sys.modules`.

    It is imported as `tests.<file>`, because upstream files import each other so and
    because pytest then rewrites its assertions into telling ones.
    """
    with _tests_package_at(_source_of(suite.distribution) / "tests"):
        return importlib.import_module(f"tests.{suite.file.removesuffix('.py')}")


def functions_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the test functions of a module, those in classes included."""
    found = {}
    for name, value in vars(module).items():
        if name.startswith("test_"):
            found[name] = value
        elif name.startswith("Test"):
            found.update(functions_of(value))
    return found


def items_of(function: Callable[..., Any]) -> int:
    """Return how many items the `parametrize` marks of a test make of it."""
    items = 1
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            items *= len(mark.args[1])
    return items


def expose(module: ModuleType, suite: Suite) -> dict[str, Any]:
    """Return the contract tests of a loaded module, for `globals().update`."""
    wanted = {row.name for row in TABLE[suite] if row.kind == CONTRACT}
    return {
        name: value
        for name, value in vars(module).items()
        if name in wanted
        or (name.startswith("Test") and wanted >= set(functions_of(value)))
    }
