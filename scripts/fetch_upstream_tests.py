"""Fetch LangGraph's own store tests: the source packages of what is installed.

The tests are not part of any wheel and are not copied into this repository. `pip
download` gets the source package of exactly the installed version of each
distribution into the cache folder `.upstream/`, where tests/contract loads them from.
"""

import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

CACHE = Path(__file__).parent.parent / ".upstream"

DISTRIBUTIONS = (
    "langgraph-checkpoint",
    "langgraph-checkpoint-postgres",
    "langgraph-checkpoint-sqlite",
)


def folder_of(distribution: str) -> Path:
    """Return where the source of the installed version is, or will be, unpacked."""
    return CACHE / f"{distribution.replace('-', '_')}-{version(distribution)}"


def fetch(distribution: str) -> Path:
    """Download and unpack one source package unless it is already there.

    Returns:
        The folder that holds its `tests`.
    """
    target = folder_of(distribution)
    if target.is_dir():
        return target
    CACHE.mkdir(exist_ok=True)
    # Unpacked beside its place and then renamed: a folder that exists is complete.
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet"),
                *("--no-deps", "--no-binary", ":all:", "--no-build-isolation"),
                *("--dest", scratch, f"{distribution}=={version(distribution)}"),
            ],
            check=True,
        )
        (archive,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        Path(scratch, target.name).rename(target)
    return target


def main() -> None:
    """Fetch all of them and say where they are."""
    for distribution in DISTRIBUTIONS:
        target = fetch(distribution)
        print(f"{distribution} {version(distribution)}: {target / 'tests'}")


if __name__ == "__main__":
    main()
