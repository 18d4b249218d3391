"""Add up JUnit result files and print one line: `N passed, N failed, N skipped`."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def count(path: str) -> tuple[int, int, int]:
    """Return how many tests of one result file passed, failed and were skipped.

    A run that left no result file broke down, which counts as one failure.
    """
    if not Path(path).is_file():
        return 0, 1, 0
    # Written a moment ago by our own pytest run, so trusted.
    suites = list(ET.parse(path).getroot().iter("testsuite"))  # noqa: S314

    def total(name: str) -> int:
        return sum(int(suite.get(name, 0)) for suite in suites)

    failed = total("failures") + total("errors")
    skipped = total("skipped")  # pytest counts expected failures here, too
    return total("tests") - failed - skipped, failed, skipped


def main() -> None:
    """Print the sum over all files named on the command line."""
    counts = [count(path) for path in sys.argv[1:]]
    passed, failed, skipped = (sum(column) for column in zip(*counts, strict=True))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main()
