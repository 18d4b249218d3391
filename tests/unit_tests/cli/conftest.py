"""Running commands on a store of their own, without a key."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    """No key, no file of the person who runs the tests, wide tables."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AGENTMEMORY_URL", "AGENTMEMORY_USER", "AGENTMEMORY_MODEL"):
        monkeypatch.delenv(name, raising=False)
    # Loading a model in every test would take minutes; test_embedding.py does.
    monkeypatch.setenv("AGENTMEMORY_EMBEDDINGS", "0")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'memories.db'}"


@pytest.fixture
def run():
    """Run a command in this process; the result has stdout, stderr and exit_code."""
    from langchain_agentmemory.cli.app import app  # noqa: PLC0415

    def invoke(*arguments, input=None):  # noqa: A002
        return CliRunner().invoke(app, [str(a) for a in arguments], input=input)

    return invoke


@pytest.fixture
def process():
    """Run `python -m langchain_agentmemory` in a process of its own."""

    def start(*arguments, input=""):  # noqa: A002
        return subprocess.run(
            [sys.executable, "-m", "langchain_agentmemory", *arguments],
            input=input.encode() if isinstance(input, str) else input,
            capture_output=True,
            check=False,
            timeout=100,
            env=dict(os.environ),
        )

    return start
