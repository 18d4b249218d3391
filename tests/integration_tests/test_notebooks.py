"""The notebooks as a person uses them: cells run twice, tables shown, nothing left."""

import os
import re
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SECONDS = 15
"""How long a notebook may take, kernel included."""
SLOW = {"09_why_was_this_found": 45}
"""It loads the local embedder where that is installed, and draws."""

SAID = {
    "01_quickstart": ["Mia lives in Rome ← holds", "memory limit exceeded"],
    "02_tools_and_agents": [
        'You told me: "I live in Lisbon"',
        "你说过：「我住在杭州」",
        "passwords are never stored",
        "The arguments do not fit",
    ],
    "03_memory_nodes_in_a_graph": [
        'ann : In memory: "Ann is allergic to peanuts"',
        "小红: 记忆里有：「小红对海鲜过敏」",
        "bo  : I found nothing",
        "No user is named for this run",
        "The atlas team meets on Tuesdays",
    ],
    "04_automatic_memory": [
        "waiting  ann  monday",
        "pending       3",
        "recall --> extract",
        "WrongKey: invalid key",
        "says nothing that the memory does not say",
    ],
    "05_policies_explained": [
        "add, supersedes",
        "who does what to whom differs",
        "项目要求兼容 Go 1.23 ← holds",
        "what one says, the other denies",
    ],
    "09_why_was_this_found": [
        "newest first: evidence",
        "Bo moved to Berlin | earlier: Bo lives in Paris, near the canal",
        "go1.23     weight 3.0  found",
        "missing bad",
        "小红对花生过敏  0.",
        "× 1.30  Cy went hiking in the Harz",
    ],
}

pytestmark = [
    # Of zmq and the kernel's own start.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in NOTEBOOKS]),
]


@pytest.fixture
def kernel_environment(tmp_path, monkeypatch):
    """Give kernels an empty folder for temporary files, and no key."""
    for name in [*os.environ]:
        if name.startswith(("OPENAI_", "AGENTMEMORY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def output_of(cell):
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        texts += [output.get("text", ""), data.get("text/plain", "")]
    return "".join(texts)


def execute(path, notebook):
    NotebookClient(
        notebook,
        timeout=60,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()


def test_a_notebook_is_committed_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None


def test_a_notebook_says_what_it_promises_quickly(path, kernel_environment):
    notebook = nbformat.read(path, as_version=4)
    started = time.perf_counter()
    execute(path, notebook)
    took = time.perf_counter() - started
    everything = "\n".join(output_of(cell) for cell in notebook.cells)
    for expected in SAID[path.stem]:
        assert expected in everything
    tables = [
        output.data["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert any(re.search(r"<th[^>]*>memory</th>", table) for table in tables)
    assert not list(kernel_environment.glob("agentmemory-*"))
    assert took < SLOW.get(path.stem, SECONDS)


def test_every_cell_can_be_run_again(path, kernel_environment):
    notebook = nbformat.read(path, as_version=4)
    twice = [cell for cell in notebook.cells for _ in range(2)]
    notebook.cells = [nbformat.from_dict(dict(cell)) for cell in twice]
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    execute(path, notebook)
    assert not list(kernel_environment.glob("agentmemory-*"))
