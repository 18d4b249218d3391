"""The Chinese dictionary is loaded when it is needed, privately and quietly."""

import logging
import marshal
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from langchain_agentmemory.search import segment
from langchain_agentmemory.search.segment import (
    Segmenter,
    load_jieba,
    private_cache_folder,
)

_SCRIPT = """
import logging, sys, warnings
sys.modules["rjieba"] = None  # jieba itself is under test
warnings.simplefilter("error")
logging.basicConfig(level=logging.DEBUG)
levels = logging.getLogger().level
from langchain_agentmemory.search.ranking import get_ranking
tokenizer = get_ranking("default").tokenizer
tokenizer.document("only English, кириллица and コーヒー", "")
assert "jieba" not in sys.modules, "loaded too early"
assert "喝茶" in tokenizer.field("我喜欢喝茶").primary
assert "jieba" in sys.modules
import jieba
assert logging.getLogger().level == levels
assert logging.getLogger("jieba").filters == []
assert not jieba.dt.initialized, "the default tokenizer of jieba is somebody else's"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir()
    return tmp_path


def test_loading_is_lazy_and_silent_and_leaves_loggers_as_they_were(
    tmp_path: Path,
) -> None:
    environment = os.environ | {
        "XDG_CACHE_HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_cache_lies_in_a_private_folder_and_not_in_the_shared_one(
    home: Path,
) -> None:
    cut = load_jieba()
    folder = home / "cache" / "langchain-agentmemory"
    assert list(cut("天气"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == ["jieba.cache"]
    assert list((home / "shared").iterdir()) == []


def test_the_cache_is_read_as_a_whole_and_not_by_jieba(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load_jieba()("来到北京清华大学")
    monkeypatch.setattr("marshal.load", None)  # as jieba reads it: four times slower
    monkeypatch.setattr("jieba.Tokenizer.gen_pfdict", None)

    assert (
        load_jieba()("来到北京清华大学")
        == words
        == ["来到", "北京", "清华", "华大", "大学", "清华大学"]
    )


@pytest.mark.parametrize("content", [b"", b"cut short", marshal.dumps(7)])
def test_a_cache_that_is_damaged_is_made_anew(home: Path, content: bytes) -> None:
    folder = private_cache_folder()
    assert folder is not None
    (folder / "jieba.cache").write_bytes(content)

    assert list(load_jieba()("天气")) == ["天气"]


def test_a_folder_that_others_can_write_to_is_not_trusted(home: Path) -> None:
    folder = home / "cache" / "langchain-agentmemory"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    planted = folder / "jieba.cache"
    planted.write_bytes(b"planted")
    assert private_cache_folder() is None
    assert list(load_jieba()("天气"))
    assert planted.read_bytes() == b"planted"
    assert list((home / "shared").iterdir()) == [], "the fresh folder is removed"


def test_a_link_is_not_trusted(home: Path) -> None:
    (home / "elsewhere").mkdir()
    (home / "cache").mkdir()
    (home / "cache" / "langchain-agentmemory").symlink_to(home / "elsewhere")
    assert private_cache_folder() is None


def test_a_folder_of_another_owner_is_not_trusted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert private_cache_folder() is not None
    monkeypatch.setattr(os, "getuid", lambda: -7)
    assert private_cache_folder() is None


def test_a_cache_folder_that_cannot_be_made_is_done_without(home: Path) -> None:
    (home / "cache").write_text("a file in the way")
    assert private_cache_folder() is None
    assert list(load_jieba()("天气"))


def test_without_dictionary_the_runs_are_the_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = []

    def fail() -> segment.Cut:
        calls.append(1)
        msg = "no dictionary"
        raise OSError(msg)

    segmenter = Segmenter(fail)
    with caplog.at_level(logging.WARNING):
        assert list(segmenter.words("周末去爬山 with Tom")) == ["周末去爬山"]
        assert list(segmenter.words("喝茶")) == ["喝茶"]
    assert len(calls) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_text_without_han_needs_no_dictionary() -> None:
    segmenter = Segmenter(lambda: pytest.fail("loaded"))
    assert list(segmenter.words("コーヒーと hello")) == ["コ", "ヒ", "と"]
    assert not segmenter.loaded


def test_threads_wait_for_one_load() -> None:
    loads = []

    def slow() -> segment.Cut:
        loads.append(threading.current_thread().name)
        time.sleep(0.05)
        return list

    segmenter = Segmenter(slow)
    results: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: results.append(list(segmenter.words("天气"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [["天", "气"]] * 8
    assert len(loads) == 1


def test_warm_loads_ahead_in_a_thread() -> None:
    segmenter = Segmenter(lambda: list)
    segmenter.warm().join()
    assert segmenter.loaded
