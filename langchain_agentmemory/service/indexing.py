"""What of an item is searched: its words, and the texts that become vectors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langchain_agentmemory.backends.base import Record, RecordFlags
from langchain_agentmemory.search.tokenize import UNINDEXED
from langchain_agentmemory.service.plans import Embed, Plan
from langchain_agentmemory.service.records import Meta, decode_meta
from langchain_agentmemory.service.values import decode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from langchain_agentmemory.search.ranking import Ranking
    from langchain_agentmemory.service.embedding import Embedder

INDEXED_CHARACTERS: Final = 100_000
"""Words beyond this many characters of an item are stored, but not searched."""


class Subject(NamedTuple):
    """An item that is to be indexed.

    Attributes:
        value: Its value.
        flags: `LISTED` for memories, `UNINDEXED` to leave it out.
        fields: Names of fields chosen by the writer, `None` for the configured ones.
        old: The record that it replaces, whose vectors may still fit.
    """

    value: Mapping[str, Any]
    flags: int
    fields: tuple[str, ...] | None = None
    old: Record | None = None


class Indexed(NamedTuple):
    """What indexing makes of an item."""

    tokens: bytes | None = None
    vectors: "NDArray[np.float32] | None" = None
    embedder: int = 0


class Indexer:
    """Turn items into tokens and vectors.

    Args:
        ranking: Whose tokenizer makes the tokens.
        embedder: What makes vectors, `None` for a store without an index.
    """

    def __init__(self, ranking: "Ranking", embedder: "Embedder | None") -> None:
        """Remember both."""
        self.ranking = ranking
        self.embedder = embedder

    def index(self, subjects: Sequence[Subject]) -> Plan[list[Indexed]]:
        """Index items; their distinct texts are embedded in one request."""
        wanted = [self._embedded_texts(subject) for subject in subjects]
        reused = [
            self._reusable(subject, texts)
            for subject, texts in zip(subjects, wanted, strict=True)
        ]
        missing = tuple(
            dict.fromkeys(
                text
                for texts, old in zip(wanted, reused, strict=True)
                if old is None
                for text in texts
            )
        )
        rows: dict[str, int] = {}
        vectors = None
        if missing:
            vectors = yield Embed(missing, "document")
            if vectors is not None and self.embedder is not None:
                self.embedder.adopt(int(vectors.shape[1]))
                rows = {text: row for row, text in enumerate(missing)}
        result = []
        for subject, texts, old in zip(subjects, wanted, reused, strict=True):
            own = old
            if own is None and vectors is not None and texts:
                own = _usable(_rows(vectors, [rows[text] for text in texts]))
            mark = self.embedder.fingerprint if self.embedder and own is not None else 0
            result.append(Indexed(self._tokens(subject), own, mark))
        return result

    def _tokens(self, subject: Subject) -> bytes | None:
        if subject.flags & RecordFlags.UNINDEXED:
            return UNINDEXED
        content, topics = self.words(subject.value, subject.flags, subject.fields)
        return self.ranking.tokenizer.document(content, topics)

    def words(
        self,
        value: Mapping[str, Any],
        flags: int,
        fields: Sequence[str] | None = None,
    ) -> tuple[str, str]:
        """Return the text of an item that is searched by words, and its labels."""
        if flags & RecordFlags.LISTED:
            labels = _strings(value.get("topics"))
            if self.ranking.name != "reference":
                labels = (*labels, *_strings(value.get("participants")))
                labels = (*labels, *_strings(value.get("location")))
            return value["memory"][:INDEXED_CHARACTERS], " ".join(labels)
        if fields is None and (self.embedder is None or self.embedder.whole_value):
            texts: Sequence[str] = tuple(_leaves(value))
        else:
            texts = self._texts_at(value, fields)
        return "\n".join(texts)[:INDEXED_CHARACTERS], ""

    def words_of(self, record: Record) -> tuple[str, str]:
        """Return the searched text and labels of a stored record."""
        if record.flags & RecordFlags.UNINDEXED:
            return "", ""
        fields = decode_meta(record.meta).fields if record.meta else None
        return self.words(decode(record.value), record.flags, fields)

    def _texts_at(
        self, value: Mapping[str, Any], fields: Sequence[str] | None
    ) -> tuple[str, ...]:
        from langchain_agentmemory.service.field_paths import (  # noqa: PLC0415 - rare
            field_path,
            texts_at,
        )

        paths = None if fields is None else [field_path(name) for name in fields]
        if self.embedder is None:
            return texts_at(value, paths or ())
        return self.embedder.texts(value, paths)

    def _embedded_texts(self, subject: Subject) -> tuple[str, ...]:
        if self.embedder is None or subject.flags & RecordFlags.UNINDEXED:
            return ()
        if subject.fields is None and self.embedder.whole_value:
            if subject.flags & RecordFlags.LISTED:
                text = subject.value["memory"]
                who = _strings(subject.value.get("participants"))
                if who and text:
                    # "I moved to Rome" says little to a model that is asked about Ann:
                    # on LoCoMo recall@10 of MiniLM alone is 57 with, 49 without.
                    text = f"{', '.join(who)}: {text}"
                return (text,) if text else ()
            return self.embedder.texts(subject.value)
        return self._texts_at(subject.value, subject.fields)

    def _reusable(
        self, subject: Subject, texts: tuple[str, ...]
    ) -> "NDArray[np.float32] | None":
        old = subject.old
        if old is None or old.vectors is None or not texts or self.embedder is None:
            return None
        if old.embedder != self.embedder.fingerprint:
            return None
        before = Subject(decode(old.value), old.flags, decode_meta(old.meta).fields)
        return old.vectors if self._embedded_texts(before) == texts else None

    def owed(self, record: Record) -> bool:
        """Tell whether a record still lacks the vectors it should have."""
        if self.embedder is None or record.flags & RecordFlags.UNINDEXED:
            return False
        if record.vectors is not None and record.embedder == self.embedder.fingerprint:
            return False
        return bool(self._embedded_texts(self.subject_of(record)))

    @staticmethod
    def subject_of(record: Record) -> Subject:
        """Return a stored record as something to be indexed."""
        meta: Meta = decode_meta(record.meta)
        return Subject(decode(record.value), record.flags, meta.fields)


def _rows(vectors: "NDArray[np.float32]", wanted: list[int]) -> "NDArray[np.float32]":
    """Return rows; a view where they are neighbours, so that nothing is copied."""
    first = wanted[0]
    if wanted == list(range(first, first + len(wanted))):
        return vectors[first : first + len(wanted)]
    return vectors[wanted]


def _usable(vectors: "NDArray[np.float32]") -> "NDArray[np.float32] | None":
    """Return an item's vectors, `None` if the embedder failed on one of its texts."""
    import numpy as np  # noqa: PLC0415 - loaded already: these are its arrays

    return None if np.isnan(vectors).any() else vectors


def _strings(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list | tuple):
        return ()
    return tuple(item for item in given if isinstance(item, str))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield str(value)
