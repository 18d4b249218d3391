"""The first searches of a small store, without numpy.

Loading numpy takes longer than everything else that a short program does with a few
memories. As long as nobody loaded it, the first searches over few memories go from
document to document, by the same formula and to the same result.
"""

import sys
from array import array
from typing import Final

from langchain_agentmemory.backends.base import Backend, Namespace, Page, Record
from langchain_agentmemory.backends.base import RecordFlags as Flags
from langchain_agentmemory.search.earlier import VersionView
from langchain_agentmemory.search.lexical import plain_scores
from langchain_agentmemory.search.pipeline import Candidate, find_page
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.criteria import (
    criteria_of,
    folds_versions,
    query_text,
)
from langchain_agentmemory.service.hits import Marks, candidate_of, explanation
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.records import entry_of
from langchain_agentmemory.service.settings import Settings
from langchain_agentmemory.types import MemoryEntry, SearchOptions

MOST_SEARCHES: Final = 8
"""Searches of a store that may go without an index; an index serves the later ones."""
MOST_ITEMS: Final = 64
MOST_BYTES: Final = 32 * 1024
"""What a namespace may hold at most: reading more takes as long as loading numpy."""

_Hit = tuple[Record, MemoryEntry]


class SmallSearch:
    """Rank the memories of a small namespace by their words.

    Args:
        backend: Where records live.
        indexer: Whose tokenizer reads texts and queries.
        settings: How the store behaves.
    """

    def __init__(self, backend: Backend, indexer: Indexer, settings: Settings) -> None:
        """Remember the parts."""
        self._backend = backend
        self._indexer = indexer
        self._settings = settings
        self._searches = 0

    def is_due(self) -> bool:
        """Tell whether a search should be tried here first."""
        return (
            self._indexer.embedder is None
            and self._searches < MOST_SEARCHES
            and "numpy" not in sys.modules
        )

    def memories(
        self, namespace: Namespace, query: str, options: SearchOptions
    ) -> list[_Hit] | None:
        """Return one user's memories that fit, best first; `None` if not small.

        Raises:
            InvalidInput: If the query or an option makes no sense.
        """
        self._searches += 1
        now = self._backend.now()
        criteria = criteria_of(options, self._indexer, self._settings, now)
        text = query_text(query)
        if not text or options.limit == 0:
            return []
        records = self._backend.page(Page(namespace, MOST_ITEMS + 1))
        size = sum(len(record.value) for record in records)
        if len(records) > MOST_ITEMS or size > MOST_BYTES:
            return None
        zone = self._settings.timezone
        words = self._indexer.ranking.tokenizer.query(text)
        candidates = self._candidates(words, records)
        kept = {record.key: record for record in records}

        def find(key: str) -> _Hit | None:
            record = kept.get(key)
            if record is None or not record.flags & Flags.LISTED:
                return None
            return record, entry_of(record, zone)

        versions = VersionView(find, lambda hit: hit[1])
        fold = folds_versions(options, text, now, zone)
        found = find_page(
            lambda _: (versions.current(candidates) if fold else candidates, True),
            criteria,
            self._indexer.ranking.tokenizer.token_set,
        )
        lexical = {candidate.id: candidate.score for candidate in candidates}
        result = []
        for candidate in found:
            record, entry = candidate.item
            explained = None
            if options.explain:
                words_score = lexical.get(candidate.id, 0.0)  # it stands for another
                marks = Marks("lexical", candidate.score, words_score, None)
                explained = explanation(self._indexer, words, record, marks)
            score = min(candidate.score, 1.0)
            shown = versions.with_earlier(entry).with_score(score, explained)
            result.append((record, shown))
        return result

    def _candidates(self, query: Query, records: list[Record]) -> list[Candidate[_Hit]]:
        """Score memories by all that is indexed in their namespace."""
        corpus = [record for record in records if not record.flags & Flags.UNINDEXED]
        documents = [self._indexer.words_of(record) for record in corpus]
        tokenizer = self._indexer.ranking.tokenizer
        # A shelf keeps float32: the same precision gives the same ties.
        scores = array("f", plain_scores(query, documents, tokenizer))
        candidates = []
        for record, score in zip(corpus, scores, strict=True):
            if score > 0 and record.flags & Flags.LISTED:
                entry = entry_of(record, self._settings.timezone)
                candidates.append(candidate_of((record, entry), entry, score))
        return candidates
