"""Rankings by words that anyone can have: rank_bm25, bm25s, SQLite's FTS5.

Stores, not rankings, are what a user chooses between; these say how far plain BM25
goes. They index who took part, the place and the topics as part of the text. Chinese is
cut into words by jieba for the first two, which know no Chinese. FTS5 has its `porter`
tokenizer, as it is.
"""

import importlib
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from benchmarks.retrieval.engines import Hit
from benchmarks.retrieval.sets import Memory, Question

_WORD: Final = re.compile(r"\w+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


def words(text: str) -> list[str]:
    """Return lower-cased words; runs with Chinese characters are cut by jieba."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _HAN.search(word):
            jieba: Any = importlib.import_module("jieba")
            found += jieba.cut_for_search(word)
        else:
            found.append(word)
    return found


class RankBM25:
    """`rank_bm25.BM25Okapi` over words."""

    def __init__(self) -> None:
        """Start empty."""
        self._library: Any = importlib.import_module("rank_bm25")
        self._users: dict[str, tuple[Any, Sequence[Memory]]] = {}

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Index the memories of a user."""
        texts = [words(memory.words) for memory in memories]
        self._users[user] = (self._library.BM25Okapi(texts), memories)

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Return what has a positive score."""
        del options  # it has one way
        index, memories = self._users[question.user]
        scores = index.get_scores(words(question.text))
        return _best(scores, memories, limit)

    def close(self) -> None:
        """Nothing is open."""


class BM25S:
    """`bm25s` over English stems, without its English stop words."""

    def __init__(self) -> None:
        """Start empty."""
        self._library: Any = importlib.import_module("bm25s")
        stemmer: Any = importlib.import_module("Stemmer")
        stops: Any = importlib.import_module("bm25s.stopwords")
        self._stem = stemmer.Stemmer("english").stemWords
        self._stops = frozenset(stops.STOPWORDS_EN)
        self._users: dict[str, tuple[Any, Sequence[Memory]]] = {}

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Index the memories of a user."""
        index = self._library.BM25()
        texts = [self._tokens(memory.words) for memory in memories]
        index.index(texts, show_progress=False)
        self._users[user] = (index, memories)

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Return what has a positive score."""
        del options  # it has one way
        index, memories = self._users[question.user]
        known = [t for t in self._tokens(question.text) if t in index.vocab_dict]
        return _best(index.get_scores(known), memories, limit) if known else []

    def close(self) -> None:
        """Nothing is open."""

    def _tokens(self, text: str) -> list[str]:
        kept = [word for word in words(text) if word not in self._stops]
        return list(self._stem(kept))


class FTS5:
    """A full-text index of SQLite per user: `porter` stems, any word of a question."""

    def __init__(self) -> None:
        """Open a database in memory."""
        self._database = sqlite3.connect(":memory:")
        self._users: dict[str, tuple[str, Sequence[Memory]]] = {}

    def add(self, user: str, memories: Sequence[Memory]) -> None:
        """Index the memories of a user."""
        name = f"texts_{len(self._users)}"
        self._database.execute(
            f"CREATE VIRTUAL TABLE {name} USING fts5(text, tokenize='porter unicode61')"
        )
        self._database.executemany(
            f"INSERT INTO {name} (rowid, text) VALUES (?, ?)",
            [(place, memory.words) for place, memory in enumerate(memories)],
        )
        self._users[user] = (name, memories)

    def search(
        self, question: Question, limit: int, options: Mapping[str, Any]
    ) -> list[Hit]:
        """Return what has any word of the question."""
        del options  # it has one way
        name, memories = self._users[question.user]
        asked = dict.fromkeys(_WORD.findall(question.text.lower()))
        if not asked:
            return []
        rows = self._database.execute(
            f"SELECT rowid, -rank FROM {name} WHERE {name} MATCH ? "
            f"ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in asked), limit),
        )
        return [Hit(memories[place].ids, score) for place, score in rows]

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _best(scores: Any, memories: Sequence[Memory], limit: int) -> list[Hit]:
    order = np.argsort(-np.asarray(scores), kind="stable")[:limit]
    return [
        Hit(memories[place].ids, float(scores[place]))
        for place in order
        if scores[place] > 0
    ]
