"""Searching: memories of one user, and LangGraph items below a namespace prefix."""

import heapq
import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.backends.base import Namespace, Record
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.identity import trim
from langchain_agentmemory.search.fusion import hybrid_scores, vector_scores
from langchain_agentmemory.search.lexical import Statistics
from langchain_agentmemory.search.pipeline import Candidate, Criteria, find_page
from langchain_agentmemory.search.shelf import Shelf, top
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.filters import Predicate
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.plans import Embed, Plan
from langchain_agentmemory.service.records import text_field
from langchain_agentmemory.service.settings import Settings, check_choice, check_limit
from langchain_agentmemory.service.shelves import Held, Shelves
from langchain_agentmemory.service.values import decode
from langchain_agentmemory.times import end_of_period, parse_event_time
from langchain_agentmemory.types import (
    MemoryEntry,
    SearchMode,
    SearchOptions,
)

Scores = NDArray[np.float32]
Mode = Literal["lexical", "vector", "hybrid"]

QUERY_CHARACTERS: Final = 10_000
"""Characters of a query that are looked at."""


class _Request(NamedTuple):
    """A search, resolved: what to score by."""

    mode: Mode
    words: Query
    vector: Scores | None


class _Halves(NamedTuple):
    """Scores per slot: of words, of meaning, and of both together."""

    lexical: Scores | None
    similarity: Scores | None
    total: Scores


class Search:
    """Rank records.

    Args:
        indexer: Whose tokenizer and embedder read the query.
        shelves: The indexes.
        settings: How the store behaves.
    """

    def __init__(self, indexer: Indexer, shelves: Shelves, settings: Settings) -> None:
        """Remember the parts."""
        self._indexer = indexer
        self._shelves = shelves
        self._settings = settings

    def memories(
        self, namespace: Namespace, query: str, options: SearchOptions
    ) -> Plan[list[tuple[Record, MemoryEntry]]]:
        """Return one user's memories that fit, best first."""
        criteria = self._criteria(options)
        text = _query_text(query)
        if not text or options.limit == 0:
            return []
        request = yield from self._request(text, options.mode)
        with self._shelves.open(namespace) as shelf:
            if shelf is None:
                return []
            halves = self._score(shelf, request, None)
            page = find_page(
                lambda k: self._fetch(shelf, halves.total, k),
                criteria,
                self._indexer.ranking.tokenizer.token_set,
            )
            return [
                (
                    candidate.item.record,
                    candidate.item.entry(self._settings.timezone).with_score(
                        min(candidate.score, 1.0),
                        self._explain(shelf, request, halves, candidate)
                        if options.explain
                        else None,
                    ),
                )
                for candidate in page
            ]

    def _criteria(self, options: SearchOptions) -> Criteria:
        zone = self._settings.timezone
        after, before = options.time_after, options.time_before
        kind = None if options.kind is None else text_field("kind", options.kind)
        check_choice("mode", options.mode, get_args(SearchMode))
        if options.mode in {"vector", "hybrid"} and self._indexer.embedder is None:
            msg = (
                f"mode={options.mode!r} needs an index: open the store with "
                f"index={{'embed': …, 'dims': …}}, or search with mode='lexical'."
            )
            raise InvalidInput(msg)
        return Criteria(
            limit=check_limit("limit", options.limit),
            threshold=self._threshold(options.similarity_threshold),
            kind=kind,
            kind_fallback=options.kind_fallback,
            time_after=None if after is None else parse_event_time(after, zone)[0],
            time_before=None if before is None else end_of_period(before, zone),
            order_by_event_time=options.order_by_event_time,
            deduplicate=options.deduplicate,
            decay=_half_life(options.decay),
        )

    def _threshold(self, given: object) -> float:
        if given is None:
            return self._indexer.ranking.threshold
        if (
            isinstance(given, bool)
            or not isinstance(given, int | float)
            or not math.isfinite(given)
            or not 0 <= given <= 1
        ):
            msg = f"similarity_threshold must be a number from 0 to 1, not {given!r}."
            raise InvalidInput(msg)
        return float(given)

    def _request(self, text: str, mode: SearchMode) -> Plan[_Request]:
        embedder = self._indexer.embedder
        wanted: Mode = mode if mode != "auto" else "hybrid"
        vector = None
        if embedder is not None and wanted != "lexical":
            vectors = yield Embed((text,), "query")
            if vectors is not None:
                embedder.adopt(int(vectors.shape[1]))
                vector = vectors[0]
        if vector is None:
            wanted = "lexical"  # no index, or the embedder failed, which was logged
        return _Request(wanted, self._indexer.ranking.tokenizer.query(text), vector)

    def _score(
        self, shelf: Shelf[Held], request: _Request, statistics: Statistics | None
    ) -> _Halves:
        lexical = similarity = None
        if request.vector is not None:
            similarity = shelf.vector(request.vector)
        if (
            request.mode != "vector"
            or similarity is None
            or bool(np.isneginf(similarity).any())
        ):
            lexical = shelf.lexical(request.words, statistics)
        if similarity is None:
            total = lexical
        elif request.mode == "hybrid" and lexical is not None:
            total = hybrid_scores(lexical, similarity)
        else:
            total = vector_scores(similarity)
            if lexical is not None:  # what has no vector is found by its words
                total = np.where(np.isneginf(similarity), lexical, total)
        if total is None:
            total = np.zeros(0, np.float32)
        return _Halves(lexical, similarity, total)

    def _fetch(
        self, shelf: Shelf[Held], scores: Scores, k: int | None
    ) -> tuple[list[Candidate[Held]], bool]:
        slots, complete = _first(shelf, scores, k)
        candidates = []
        for slot in slots:
            held, score = shelf.item(slot), float(scores[slot])
            entry = held.entry(self._settings.timezone)
            candidates.append(
                Candidate(
                    held,
                    entry.id,
                    entry.memory,
                    score,
                    entry.kind,
                    entry.event_time,
                    entry.created_at,
                    entry.updated_at,
                )
            )
        return candidates, complete

    def _explain(
        self,
        shelf: Shelf[Held],
        request: _Request,
        halves: _Halves,
        candidate: Candidate[Held],
    ) -> dict[str, Any]:
        slot = shelf.slot(candidate.item.record.key)
        if slot is None:
            return {}
        content, topics = self._indexer.words_of(candidate.item.record)
        fields = [self._indexer.ranking.tokenizer.field(t) for t in (content, topics)]
        words = {
            word
            for found in fields
            for group in (found.primary, found.extra)
            for word in group
        }
        similarity = halves.similarity
        cosine = None if similarity is None else float(similarity[slot])
        return {
            "mode": request.mode,
            "score": candidate.score,
            "lexical": None if halves.lexical is None else float(halves.lexical[slot]),
            "similarity": None if cosine == -math.inf else cosine,
            "query_words": list(request.words.words),
            "matched_words": [word for word in request.words.words if word in words],
        }

    def items(
        self, prefix: Namespace, query: str, matches: Predicate | None, wanted: int
    ) -> Plan[list[tuple[Record, float | None]]]:
        """Return items below a prefix, best first.

        With an index the ranking is that of LangGraph's stores: by meaning, then what
        has no score. Without one it goes by words, and what matches none is left out.
        """
        mode: SearchMode = "vector" if self._indexer.embedder else "lexical"
        request = yield from self._request(_query_text(query), mode)
        namespaces = self._shelves.namespaces(prefix)
        statistics = self._statistics(namespaces, request)
        ranked: list[tuple[float, int, Record]] = []
        scoreless: list[tuple[int, Record]] = []
        for namespace in namespaces:
            with self._shelves.open(namespace) as shelf:
                if shelf is None:
                    continue
                scores = self._item_scores(shelf, request, statistics)
                for score, record in _matching(shelf, scores, matches, wanted):
                    ranked.append((score, record.updated_at, record))
                if request.vector is not None:
                    rest = _unscored(shelf, scores, matches, wanted)
                    scoreless.extend((record.updated_at, record) for record in rest)
        best = heapq.nlargest(wanted, ranked, key=lambda entry: entry[:2])
        found: list[tuple[Record, float | None]] = [(r, s) for s, _, r in best]
        if len(found) < wanted:
            newest = heapq.nlargest(
                wanted - len(found), scoreless, key=lambda entry: entry[0]
            )
            found.extend((record, None) for _, record in newest)
        return found

    def _statistics(
        self, namespaces: list[Namespace], request: _Request
    ) -> Statistics | None:
        """Sum word counts over all namespaces, so that their scores compare."""
        if request.vector is not None or len(namespaces) < 2:  # noqa: PLR2004
            return None
        total: Statistics | None = None
        for namespace in namespaces:
            with self._shelves.open(namespace) as shelf:
                if shelf is not None:
                    own = shelf.statistics(request.words)
                    total = own if total is None else total + own
        return total

    def _item_scores(
        self, shelf: Shelf[Held], request: _Request, statistics: Statistics | None
    ) -> Scores:
        """Return scores per slot; not a number where there is none."""
        if request.vector is None:
            scores = shelf.lexical(request.words, statistics)
            return np.where(scores > 0, scores, np.nan)
        cosine = shelf.vector(request.vector)
        missing = np.isneginf(cosine)
        scores = self._as_distance(np.where(missing, np.float32(0), cosine))
        if not missing.any():
            return scores
        # What the embedder failed on is found by its words.
        lexical = shelf.lexical(request.words)
        lexical = np.where(lexical > 0, lexical, np.nan)
        return np.where(missing, lexical, scores)

    def _as_distance(self, cosine: Scores) -> Scores:
        embedder = self._indexer.embedder
        if embedder is not None and embedder.distance_type == "l2":
            distance: Scores = -np.sqrt(np.maximum(0, 2 - 2 * cosine))
            return distance
        return cosine


def _first(shelf: Shelf[Held], scores: Scores, k: int | None) -> tuple[list[int], bool]:
    """Return the slots of the `k` best memories, newest first among equals.

    Also returns whether these are all that have a positive score.
    """
    found = top(scores, k)
    complete = k is None or len(found) == np.count_nonzero(scores > 0)
    slots = found.tolist()
    if k is not None and len(slots) > k:  # many equals: the newest of them are enough
        least = scores[slots[k - 1]]
        better = [slot for slot in slots if scores[slot] > least]
        newest = heapq.nlargest(
            k - len(better),
            slots[len(better) :],
            key=lambda slot: shelf.item(slot).record.updated_at,
        )
        slots, complete = better + newest, False
    return [slot for slot in slots if shelf.item(slot).listed], complete


def _query_text(query: object) -> str:
    if not isinstance(query, str):
        msg = f"query must be text, not {type(query).__name__}."
        raise InvalidInput(msg)
    return trim(query[:QUERY_CHARACTERS])


def _half_life(given: object) -> timedelta | None:
    if given is None:
        return None
    if not isinstance(given, timedelta) or given <= timedelta(0):
        msg = f"decay must be a positive timedelta (a half-life), not {given!r}."
        raise InvalidInput(msg)
    return given


def _matching(
    shelf: Shelf[Held], scores: Scores, matches: Predicate | None, wanted: int
) -> Iterator[tuple[float, Record]]:
    """Yield the best that match, at most as many as are wanted."""
    alive = np.flatnonzero(shelf.alive & ~np.isnan(scores))
    if matches is None and wanted < len(alive):
        values = scores[alive]
        least = -np.partition(-values, wanted - 1)[wanted - 1]
        alive = alive[values >= least]
    order = alive[np.lexsort((-alive, -scores[alive]))]
    found = 0
    for slot in order.tolist():
        record = shelf.item(slot).record
        if matches is None or matches(decode(record.value)):
            yield float(scores[slot]), record
            found += 1
            if found == wanted:
                return


def _unscored(
    shelf: Shelf[Held], scores: Scores, matches: Predicate | None, wanted: int
) -> Iterator[Record]:
    """Yield living items without a score, newest first."""
    slots = np.flatnonzero(shelf.alive & np.isnan(scores))
    records = (shelf.item(slot).record for slot in slots.tolist())
    fitting = (r for r in records if matches is None or matches(decode(r.value)))
    yield from heapq.nlargest(wanted, fitting, key=lambda record: record.updated_at)
