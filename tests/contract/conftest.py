"""One parameter over all store tests of LangGraph, and the count they end in."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.contract.classification import CONTRACT_ITEMS, WAIVED

REPORTED = pytest.StashKey[dict[str, Counter]]()


@pytest.fixture
def _folder():
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def target(request, _folder):
    """The store that an upstream test runs against.

    Its folder is not pytest's `tmp_path`, which cannot be torn down twice: upstream
    marks some tests as `flaky`, and they are set up again when they are retried.
    """
    from tests.contract.targets import TARGETS  # noqa: PLC0415 - only where needed

    target = TARGETS[request.param](request.param, _folder)
    request.node.user_properties.append(("contract", target.name))
    reason = WAIVED.get(request.node.originalname)
    if reason and target.waives:
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    return target


def pytest_generate_tests(metafunc):
    if "target" in metafunc.fixturenames:
        from tests.contract.targets import TARGETS  # noqa: PLC0415

        metafunc.parametrize("target", TARGETS, indirect=True)


def pytest_configure(config):
    config.stash[REPORTED] = {}
    config.pluginmanager.register(_Reporter(config), "contract-report")


class _Reporter:
    """Counts outcomes, on the controller when tests run in several processes."""

    def __init__(self, config):
        self._counts = config.stash[REPORTED]

    def pytest_runtest_logreport(self, report):
        name = dict(report.user_properties).get("contract")
        # A failed setup is a failed item, and so is a failed teardown.
        if name is None or (report.when != "call" and report.passed):
            return
        outcome = "waived" if hasattr(report, "wasxfail") else report.outcome
        self._counts.setdefault(name, {})[report.nodeid] = outcome

    def pytest_terminal_summary(self, terminalreporter):
        for name, outcomes in sorted(self._counts.items()):
            counts = Counter(outcomes.values())
            run = "" if len(outcomes) == CONTRACT_ITEMS else f", {len(outcomes)} run"
            terminalreporter.write_line(
                f"LangGraph store contract, {name}: "
                f"{counts['passed']} of {CONTRACT_ITEMS} pass, "
                f"{counts['waived']} waived, {counts['failed']} fail{run}"
            )
