"""The first searches of a small store, without numpy.

Loading numpy takes longer than everything else that a short program does with a few
memories. As long as nobody loaded it, the first searches over few memories go from
document to document, by the same formula and to the same result. What takes more than
words (a place in a conversation, a replaced memory, a query that names a time) is left
to an index.
"""

import sys
from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from langchain_agentmemory.backends.base import Backend, Namespace, Page, Record
from langchain_agentmemory.backends.base import RecordFlags as Flags
from langchain_agentmemory.search.cues import time_named, version_asked
from langchain_agentmemory.search.earlier import VersionView
from langchain_agentmemory.search.formula import SCORE_ROOT, score_of
from langchain_agentmemory.search.lexical import PlainMatches, plain_matches
from langchain_agentmemory.search.pipeline import (
    Candidate,
    Criteria,
    age_factor,
    find_page,
)
from langchain_agentmemory.search.settling import Settled, Wanted, settled, wanted
from langchain_agentmemory.search.standing import COMPARED
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.criteria import criteria_of, query_text
from langchain_agentmemory.service.hits import candidate_of
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.records import Standing, entry_of, standing_of
from langchain_agentmemory.service.settings import Settings
from langchain_agentmemory.times import from_us
from langchain_agentmemory.types import MemoryEntry, SearchOptions

if TYPE_CHECKING:
    from langchain_agentmemory.explanation import Explanation

MOST_SEARCHES: Final = 8
"""Searches of a store that may go without an index; an index serves the later ones."""
MOST_ITEMS: Final = 64
MOST_BYTES: Final = 32 * 1024
"""What a namespace may hold at most: reading more takes as long as loading numpy."""

_Hit = tuple[Record, MemoryEntry]
_NOWHERE: Final = Standing(None, None)


class _Found(NamedTuple):
    """A memory and how it fares: its lexical score, labels, what it is ranked by."""

    hit: _Hit
    lexical: float
    labelled: bool
    evidence: float


class _Ranked(NamedTuple):
    """What was found, and what an explanation looks up."""

    found: list[_Found]
    statistics: Statistics | None
    settled: Settled | None
    keys: list[str]


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
        if not self._is_small(records) or self._names_a_time(text, now):
            return None
        words = self._indexer.ranking.tokenizer.query(text)
        ranked = self._ranked(words, records, parted=not criteria.order_by_event_time)
        candidates = [
            candidate_of(one.hit, one.hit[1], self._shown(one.evidence))
            for one in ranked.found
        ]
        kept = {record.key: record for record in records}

        def find(key: str) -> _Hit | None:
            record = kept.get(key)
            if record is None or not record.flags & Flags.LISTED:
                return None
            return record, entry_of(record, self._settings.timezone)

        versions = VersionView(find, lambda hit: hit[1])
        page = find_page(
            lambda _: (candidates, True),
            criteria,
            self._indexer.ranking.tokenizer.token_set,
        )
        result = []
        for candidate in page:
            record, entry = candidate.item
            why = None
            if options.explain:
                why = self._explained(words, ranked, candidate, criteria)
            score = min(candidate.score, 1.0)
            result.append((record, versions.with_earlier(entry).with_score(score, why)))
        return result

    @staticmethod
    def _is_small(records: list[Record]) -> bool:
        """Tell whether records are few, short, and related to no other ones."""
        return (
            len(records) <= MOST_ITEMS
            and sum(len(record.value) for record in records) <= MOST_BYTES
            and all(standing_of(record.meta) == _NOWHERE for record in records)
        )

    def _names_a_time(self, text: str, now: int) -> bool:
        """Tell whether the query prefers a time, which the default ranking heeds."""
        if not self._indexer.ranking.by_evidence:
            return False
        zone = self._settings.timezone
        return time_named(text, from_us(now), zone) is not None

    def _ranked(self, query: Query, records: list[Record], *, parted: bool) -> _Ranked:
        """Score memories by all that is indexed in their namespace, best first."""
        # A shelf has what was written last at its end, and that first among equals.
        newest_first = sorted(records, key=lambda record: -record.revision)
        corpus = [r for r in newest_first if not r.flags & Flags.UNINDEXED]
        documents = [self._indexer.words_of(record) for record in corpus]
        matches = plain_matches(query, documents, self._indexer.ranking.tokenizer)
        # A shelf keeps float32: the same precision gives the same ties.
        scores = array("f", matches.scores)
        evidence = self._labelled(query, scores, matches)
        best = sorted(range(len(corpus)), key=lambda place: -evidence[place])
        final, keys = None, list[str]()
        if self._indexer.ranking.by_evidence:
            asked = wanted(query, _rarities(query, matches), parted=parted)
            final, keys = self._settle(asked, corpus, matches, best, evidence)
        zone = self._settings.timezone
        rows = zip(corpus, scores, matches.labelled, evidence, strict=True)
        found = [
            _Found((record, entry_of(record, zone)), lexical, labelled, total)
            for record, lexical, labelled, total in rows
            if total > 0 and record.flags & Flags.LISTED
        ]
        return _Ranked(found, matches.statistics, final, keys)

    def _labelled(
        self, query: Query, scores: "array[float]", matches: PlainMatches
    ) -> "array[float]":
        """Return scores, raised where labels match: `fusion.with_labels`."""
        (factor,) = array("f", (1 + query.formula.labelled,))
        raised = (
            min(score * factor, 1.0) if labelled else score
            for score, labelled in zip(scores, matches.labelled, strict=True)
        )
        return array("f", raised) if query.formula.labelled else array("f", scores)

    def _settle(
        self,
        asked: Wanted,
        corpus: list[Record],
        matches: PlainMatches,
        best: list[int],
        evidence: "array[float]",
    ) -> tuple[Settled, list[str]]:
        """Put versions of one statement in order: `settled_scores.Settler`."""
        places = [
            place
            for place in best[: COMPARED + 1]
            if evidence[place] > 0 and corpus[place].flags & Flags.LISTED
        ]
        found = settled(
            [entry_of(corpus[p], self._settings.timezone) for p in places],
            [evidence[place] for place in places],
            asked,
            (lambda at: matches.matched[places[at]]) if asked.terms.rarities else None,
        )
        for place, score in zip(places, found.final, strict=True):
            evidence[place] = min(score, 1.0)
        return found, [corpus[place].key for place in places]

    def _explained(
        self,
        query: Query,
        ranked: _Ranked,
        candidate: Candidate[_Hit],
        criteria: Criteria,
    ) -> "Explanation | None":
        """Say how a result got its score: `explaining.Explainer`, without an index."""
        from langchain_agentmemory.explanation import Explanation  # noqa: PLC0415
        from langchain_agentmemory.service.explained_parts import (  # noqa: PLC0415
            query_words,
            version_part,
            word_parts,
        )

        record, entry = candidate.item
        one = next(one for one in ranked.found if one.hit[0].key == record.key)
        if ranked.statistics is None:
            return None
        tokenizer, texts = (
            self._indexer.ranking.tokenizer,
            self._indexer.words_of(record),
        )
        version = None
        if ranked.settled is not None and record.key in ranked.keys:
            place, standing = ranked.keys.index(record.key), version_asked(query.text)
            version = version_part(ranked.settled, place, entry, ranked.keys, standing)
        age = 1.0
        if criteria.decay is not None and criteria.now is not None:
            age = age_factor(candidate.updated_at, criteria.decay, criteria.now)
        by_evidence = self._indexer.ranking.by_evidence
        return Explanation(
            query=query.text,
            mode="lexical",
            terms=query_words(query, ranked.statistics, texts, tokenizer),
            words=word_parts(
                query, ranked.statistics, texts, tokenizer, score=one.lexical
            ),
            meaning=None,
            from_words=one.lexical,
            from_meaning=0.0,
            labels=1 + query.formula.labelled if one.labelled else 1.0,
            time=None,
            version=version,
            neighbours=(),
            evidence=one.evidence,
            exponent=SCORE_ROOT if by_evidence else 1.0,
            age=age,
            score=candidate.score,
        )

    def _shown(self, value: float) -> float:
        return score_of(value) if self._indexer.ranking.by_evidence else value


def _rarities(query: Query, matches: PlainMatches) -> list[float]:
    """Return what each term of a query counts, nothing if none matched."""
    if not any(matches.matched) or matches.statistics is None:
        return []
    pairs = zip(query.weights, matches.statistics.rarities(), strict=True)
    return [weight * rarity for weight, rarity in pairs]
