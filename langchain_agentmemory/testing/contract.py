"""The rules as a whole: found in the spec, run by pytest or by a plain call."""

import importlib
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from langchain_agentmemory.testing.harness import Harness, MakeBackend, Requirement
from langchain_agentmemory.testing.needs import Check, needs_of

_SPEC: Final = "langchain_agentmemory.testing.spec"

AREAS: Final = (
    *("life", "commit", "times", "limits", "reading", "pages", "heads"),
    *("delta", "expiry", "removal", "fidelity", "threads", "sharing"),
)
"""The areas of the contract: one module of the spec each."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the contract.

    Attributes:
        area: The module of the spec that it stands in.
        name: What must hold, as an identifier.
        statement: What must hold, as a sentence.
        needs: What a backend must offer for the rule to concern it.
        check: Raises `AssertionError` when a backend breaks the rule.
    """

    area: str
    name: str
    statement: str
    needs: tuple[Requirement, ...]
    check: Check

    def unmet(self, harness: Harness) -> tuple[Requirement, ...]:
        """Return the requirements that the backend under test does not fulfil."""
        return tuple(need for need in self.needs if not need.met_by(harness))


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a backend did on one rule.

    Attributes:
        rule: The rule.
        outcome: `"kept"`, `"broken"`, or `"skipped"` where it does not apply.
        detail: The failure, or what was missing.
    """

    rule: Rule
    outcome: Literal["kept", "broken", "skipped"]
    detail: str = ""


def rules() -> list[Rule]:
    """Return all rules, area by area, in the order of the spec."""
    found = []
    for area in AREAS:
        module = importlib.import_module(f"{_SPEC}.{area}")
        for name, member in vars(module).items():
            if (
                inspect.isfunction(member)
                and member.__module__ == module.__name__
                and not name.startswith("_")
            ):
                statement = inspect.getdoc(member) or name
                found.append(Rule(area, name, statement, needs_of(member), member))
    return found


def check_backend(make: MakeBackend) -> list[Verdict]:
    """Run all rules without pytest.

    Args:
        make: Opens the backend of a folder, see the package's docstring.

    Example:
        ```python
        from langchain_agentmemory.backends.memory import InMemoryBackend
        from langchain_agentmemory.testing import check_backend

        verdicts = check_backend(lambda folder, clock: InMemoryBackend(clock=clock))
        assert not [v for v in verdicts if v.outcome == "broken"]
        ```
    """
    return [_verdict(rule, make) for rule in rules()]


def _verdict(rule: Rule, make: MakeBackend) -> Verdict:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        Harness(make, Path(folder)) as harness,
    ):
        if unmet := rule.unmet(harness):
            return Verdict(rule, "skipped", _missing(unmet))
        try:
            rule.check(harness)
        except Exception as error:  # noqa: BLE001 - whatever it is, the rule is broken
            return Verdict(rule, "broken", f"{type(error).__name__}: {error}")
    return Verdict(rule, "kept")


def _missing(unmet: Iterable[Requirement]) -> str:
    return "needs " + " and ".join(need.value for need in unmet)


def backend_contract(make: MakeBackend) -> Callable[..., None]:
    """Return a pytest test of all rules: assign it to a name that starts with `test_`.

    Args:
        make: Opens the backend of a folder, see the package's docstring.
    """
    import pytest  # noqa: PLC0415 - only who runs the contract needs it

    if _SPEC not in sys.modules:  # show the values in its assertions, as in any test
        pytest.register_assert_rewrite(_SPEC)

    @pytest.mark.parametrize(
        "rule", [pytest.param(rule, id=f"{rule.area}-{rule.name}") for rule in rules()]
    )
    def test_backend(rule: Rule, tmp_path: Path) -> None:
        with Harness(make, tmp_path) as harness:
            if unmet := rule.unmet(harness):
                pytest.skip(_missing(unmet))
            rule.check(harness)

    return test_backend
