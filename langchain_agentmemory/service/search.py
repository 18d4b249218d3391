"""Searching: memories of one user, and LangGraph items below a namespace prefix."""

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import partial
from operator import neg

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.backends.base import Namespace, Record, RecordFlags
from langchain_agentmemory.search.earlier import VersionView
from langchain_agentmemory.search.formula import scores_of
from langchain_agentmemory.search.pipeline import Candidate, TokenSet, find_page
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import word_hash
from langchain_agentmemory.service.calibrating import calibrated
from langchain_agentmemory.service.criteria import (
    criteria_of,
    folds_versions,
    query_text,
)
from langchain_agentmemory.service.filters import Predicate
from langchain_agentmemory.service.halves import Mode, Request
from langchain_agentmemory.service.hits import candidate_of
from langchain_agentmemory.service.indexing import INDEXED_CHARACTERS, Indexer
from langchain_agentmemory.service.plans import Embed, Plan
from langchain_agentmemory.service.scoring import Best, Scoring
from langchain_agentmemory.service.settings import Settings
from langchain_agentmemory.service.settled_scores import Settler
from langchain_agentmemory.service.shelves import Held, Shelves
from langchain_agentmemory.service.values import decode
from langchain_agentmemory.types import (
    MemoryEntry,
    SearchMode,
    SearchOptions,
)

Scores = NDArray[np.float32]


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
        self.shelves = shelves
        self._settings = settings

    def memories(
        self, namespace: Namespace, query: str, options: SearchOptions
    ) -> Plan[list[tuple[Record, MemoryEntry]]]:
        """Return one user's memories that fit, best first."""
        now = self.shelves.now()
        criteria = criteria_of(options, self._indexer, self._settings, now)
        text = query_text(query)
        if not text or options.limit == 0:
            return []
        request = yield from self._request(
            text, options.mode, calibrate=self._by_evidence
        )
        zone = self._settings.timezone
        fold = folds_versions(options, text, now, zone)
        with self.shelves.open_warm(namespace) as warm:
            shelf = warm.shelf
            if shelf is None:
                return []
            settler = None
            if self._by_evidence:
                parted = not criteria.order_by_event_time
                settler = Settler(warm, request.words, now, zone, parted=parted)
                request = request._replace(words=settler.words)
            scoring = Scoring(shelf, request, settler, exact=options.explain)
            versions = VersionView(partial(_listed, shelf), lambda h: h.entry(zone))

            listed: dict[str, str] = {}

            def fetch(k: int | None) -> tuple[list[Candidate[Held]], bool]:
                found, complete = self._fetch(shelf, scoring.best(k), k)
                if criteria.deduplicate:
                    listed.update((c.text, c.item.record.key) for c in found)
                return versions.current(found) if fold else found, complete

            page = find_page(fetch, criteria, self._token_set(shelf, listed))
            explain = None
            if options.explain:
                from langchain_agentmemory.service.explaining import (  # noqa: PLC0415
                    Explainer,
                )

                explain = Explainer(
                    self._indexer, shelf, request, scoring.halves, settler, criteria
                )
            hits = []
            for candidate in page:
                held, score = candidate.item, min(candidate.score, 1.0)
                entry = versions.with_earlier(held.entry(zone))
                why = None if explain is None else explain(candidate, entry)
                hits.append((held.record, entry.with_score(score, why)))
            return hits

    def _request(
        self, text: str, mode: SearchMode, *, calibrate: bool = False
    ) -> Plan[Request]:
        embedder = self._indexer.embedder
        wanted: Mode = mode if mode != "auto" else "hybrid"
        vector = calibration = None
        if embedder is not None and wanted != "lexical":
            vectors = yield Embed((text,), "query")
            if vectors is not None and not np.isnan(vectors).any():
                embedder.adopt(int(vectors.shape[1]))
                vector = vectors[0]
                if calibrate:
                    calibration = yield from calibrated(embedder, self.shelves.backend)
        if vector is None:
            wanted = "lexical"  # no index, or the embedder failed, which was logged
        words = self._indexer.ranking.tokenizer.query(text)
        return Request(wanted, words, vector, calibration)

    @property
    def _by_evidence(self) -> bool:
        """Whether both halves are evidence, whose root is the score."""
        return self._indexer.ranking.by_evidence

    def _fetch(
        self, shelf: Shelf[Held], best: Best, k: int | None
    ) -> tuple[list[Candidate[Held]], bool]:
        slots, scores, complete = _first(shelf, best, k)
        shown = scores_of(scores) if self._by_evidence else scores
        zone = self._settings.timezone
        candidates = [
            candidate_of(held, held.entry(zone), score)
            for held, score in zip(shelf.items_at(slots), shown, strict=True)
            if held.listed
        ]
        return candidates, complete

    def _token_set(self, shelf: Shelf[Held], keys: Mapping[str, str]) -> TokenSet:
        """Return what near-duplicates are recognised by: stored tokens, where at hand.

        Args:
            shelf: The index.
            keys: The key of a memory by its text.
        """
        tokenizer = self._indexer.ranking.tokenizer
        if not tokenizer.compares_stored:
            return tokenizer.token_set

        def token_set(text: str) -> frozenset[int]:
            def make() -> frozenset[int]:
                return frozenset(map(word_hash, tokenizer.token_set(text)))

            slot = shelf.slot(keys.get(text, ""))
            if slot is None or len(text) > INDEXED_CHARACTERS:
                return make()
            if shelf.item(slot).record.flags & RecordFlags.UNINDEXED:
                return make()
            return shelf.content_tokens(slot, make)

        return token_set

    def items(
        self, prefix: Namespace, query: str, matches: Predicate | None, wanted: int
    ) -> Plan[list[tuple[Record, float | None]]]:
        """Return items below a prefix, best first.

        With an index the ranking is that of LangGraph's stores: by meaning, then what
        has no score. Without one it goes by words, and what matches none is left out.
        """
        mode: SearchMode = "vector" if self._indexer.embedder else "lexical"
        request = yield from self._request(query_text(query), mode)
        namespaces = self.shelves.namespaces(prefix)
        statistics = self._statistics(namespaces, request)
        ranked: list[tuple[float, int, Record]] = []
        scoreless: list[tuple[int, Record]] = []
        for namespace in namespaces:
            with self.shelves.open(namespace) as shelf:
                if shelf is None:
                    continue
                sure = wanted if matches is None else None
                scores = self._item_scores(shelf, request, statistics, sure)
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
        self, namespaces: list[Namespace], request: Request
    ) -> Statistics | None:
        """Sum word counts over all namespaces, so that their scores compare."""
        if request.vector is not None or len(namespaces) < 2:  # noqa: PLR2004
            return None
        total: Statistics | None = None
        for namespace in namespaces:
            with self.shelves.open(namespace) as shelf:
                if shelf is not None:
                    own = shelf.statistics(request.words)
                    total = own if total is None else total.merged(own)
        return total

    def _item_scores(
        self,
        shelf: Shelf[Held],
        request: Request,
        statistics: Statistics | None,
        sure: int | None,
    ) -> Scores:
        """Return scores per slot; not a number where there is none.

        So many of the best as are sure have exact scores, all if that is `None`.
        """
        if request.vector is None:
            scores = shelf.lexical(request.words, statistics)
            return np.where(scores > 0, scores, np.nan)
        if sure is None:
            cosine = shelf.vector(request.vector)
        else:
            cosine = shelf.nearest(request.vector, sure)
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


def _listed(shelf: Shelf[Held], key: str) -> Held | None:
    """Return a memory of the shelf, `None` if it is not kept."""
    slot = shelf.slot(key)
    held = None if slot is None else shelf.item(slot)
    return held if held is not None and held.listed else None


def _first(shelf: Shelf[Held], best: Best, k: int | None) -> Best:
    """Return the `k` best slots, those written last first among equals."""
    slots, scores, _ = best
    if k is None or len(slots) <= k:
        return best
    if scores[k] == scores[k - 1]:  # of many equals the newest are enough
        first = scores.index(scores[k - 1])
        equal = bisect_right(scores, -scores[k], key=neg)
        tied = slots[first:equal]
        times = [held.record.updated_at for held in shelf.items_at(tied)]
        newest = sorted(zip(times, tied, strict=True), reverse=True)
        slots[first:equal] = [slot for _, slot in newest]
    return Best(slots[:k], scores[:k], complete=False)


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
