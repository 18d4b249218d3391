"""Chinese word segmentation: jieba, loaded on the first Han text, quietly.

jieba keeps its parsed dictionary in a file that it unmarshals; its default is one
predictable name in the shared temporary folder, where anybody could have put a file
first. Here the file lives in a private folder. Nothing is printed or warned, and if the
dictionary cannot be loaded, the text's raw CJK runs serve as its words.
"""

import logging
import marshal
import os
import stat
import threading
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from langchain_agentmemory.search.dictionary import Word
from langchain_agentmemory.search.scripts import CJK_RUN, has_han

_CACHED_DICTIONARIES = 8
_CACHE = "jieba.cache"  # the name that jieba gives it
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_LOGGER = logging.getLogger(__name__)

Cut = Callable[[str], Iterable[str]]
"""Splits text into words, sub-words before the words that contain them."""


class Segmenter:
    """Splits Chinese text into words; loads its dictionary when first needed.

    Thread-safe: whoever comes while the dictionary loads waits for it.

    Args:
        load: Returns the function that segments, `load_dictionary` if not given. When
            it raises, this segmenter falls back to raw CJK runs for good, which the log
            says once.
    """

    def __init__(self, load: Callable[[], Cut] | None = None) -> None:
        """Remember how to load; load nothing yet."""
        self._load = load or load_dictionary
        self._lock = threading.Lock()
        self._cut: Cut | None = None

    @property
    def loaded(self) -> bool:
        """Whether the dictionary (or the fallback in its place) is ready."""
        return self._cut is not None

    def words(self, text: str) -> Iterable[str]:
        """Return the words of a text, in search mode.

        Text without Han characters needs no dictionary: its CJK runs are its words.
        """
        if not has_han(text):
            return raw_runs(text)
        cut = self._cut
        return cut(text) if cut is not None else self._ready()(text)

    def warm(self) -> threading.Thread:
        """Load the dictionary in a thread of its own and return that thread."""
        thread = threading.Thread(
            target=self._ready, name="agentmemory-segmenter", daemon=True
        )
        thread.start()
        return thread

    def _ready(self) -> Cut:
        with self._lock:
            if self._cut is None:
                try:
                    self._cut = self._load()
                except Exception:
                    _LOGGER.warning(
                        "The Chinese dictionary could not be loaded; whole runs of "
                        "characters serve as words.",
                        exc_info=True,
                    )
                    self._cut = raw_runs
            return self._cut


def raw_runs(text: str) -> list[str]:
    """Return the maximal CJK runs of a text."""
    return [] if text.isascii() else CJK_RUN.findall(text)


def load_dictionary() -> Cut:
    """Load rjieba if it is installed, else jieba: either makes the same words."""
    try:
        import rjieba  # noqa: PLC0415 - optional
    except ImportError:
        return load_jieba()
    if not hasattr(rjieba.Jieba, "has_word"):  # Before 0.2.
        return load_jieba()
    from langchain_agentmemory.search.rjieba_cut import (  # noqa: PLC0415 - optional
        RjiebaCut,
    )

    _import_jieba()
    from jieba import finalseg  # noqa: PLC0415 - only for Han text

    return RjiebaCut(rjieba.Jieba(), finalseg.cut)


def load_jieba(words: Iterable[Word] = ()) -> Cut:
    """Load jieba's default dictionary through a cache file that only we can write.

    Args:
        words: To be added to it. The dictionary is this function's own: what is added
            to another of jieba's, `jieba.add_word` included, is not in it.

    Returns:
        Its search-mode segmentation with the hidden Markov model.
    """
    logger = logging.getLogger("jieba")
    quiet = _OwnThreadIsSilent()
    logger.addFilter(quiet)
    import shutil  # noqa: PLC0415 - only here
    import tempfile  # noqa: PLC0415 - only here

    folder = private_cache_folder()
    throw_away = folder is None
    folder = folder or Path(tempfile.mkdtemp(prefix="langchain-agentmemory-"))
    try:
        tokenizer = _import_jieba().Tokenizer()
        tokenizer.tmp_dir = str(folder)
        if not _restored(tokenizer, folder / _CACHE):
            tokenizer.initialize()
    finally:
        logger.removeFilter(quiet)
        if throw_away:
            shutil.rmtree(folder, ignore_errors=True)
    for word in words:
        tokenizer.add_word(word.text, word.frequency, word.tag)
    cut: Cut = tokenizer.lcut_for_search
    return cut


def _restored(tokenizer: Any, cache: Path) -> bool:
    """Read a tokenizer's dictionary from jieba's cache file, if there is a sound one.

    jieba hands the open file to `marshal`, which reads it in very many small pieces;
    read as a whole, it loads in a quarter of the time.
    """
    try:
        tokenizer.FREQ, tokenizer.total = marshal.loads(  # noqa: S302 - only ours
            cache.read_bytes()
        )
    except (OSError, EOFError, ValueError, TypeError):
        return False
    tokenizer.initialized = True
    return True


def _import_jieba() -> Any:
    # Narrow and permanent: `catch_warnings` would swap the process's filters back and
    # forth under the feet of other threads.
    warnings.filterwarnings("ignore", module=r".*\bjieba\b.*")
    warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
    import jieba  # noqa: PLC0415 - takes a moment and prints; only for Han text

    return jieba


class _OwnThreadIsSilent(logging.Filter):
    """Drops the records of the thread that made it: levels and handlers stay."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread != self._thread


def private_cache_folder() -> Path | None:
    """Return the folder where caches of this user are safe, made if need be.

    Returns:
        `$XDG_CACHE_HOME/langchain-agentmemory` (or below `~/.cache`), or `None` where
        it cannot be made, is a link, is not ours, or others can write to it.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        parent = base if base.is_absolute() else Path.home() / ".cache"
        folder = parent / "langchain-agentmemory"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_private(folder) else None
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None


def _is_private(folder: Path) -> bool:
    """Tell whether it is our folder, to which we can write and nobody else can."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
        return False
    if not hasattr(os, "getuid"):  # Windows: profile folders are private already.
        return True
    return status.st_uid == os.getuid() and not status.st_mode & _WRITABLE_BY_OTHERS


SEGMENTER = Segmenter()
"""The segmenter that all tokenizers of the process share: one dictionary in memory."""


@lru_cache(maxsize=_CACHED_DICTIONARIES)
def segmenter_with(words: tuple[Word, ...]) -> Segmenter:
    """Return a segmenter whose dictionary has these words, too.

    It is jieba's, also where rjieba is installed, which would weigh added words in
    another way. Stores with the same words share it.
    """
    return Segmenter(partial(load_jieba, words)) if words else SEGMENTER


def warm() -> threading.Thread:
    """Load the shared dictionary ahead, in a thread, and return that thread."""
    return SEGMENTER.warm()
