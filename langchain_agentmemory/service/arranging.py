"""What happens to the results of a search between the ranking and the caller.

The ranking has filtered, ordered and de-duplicated. If a search is to be reranked or
diverse, more results than its limit are fetched; then come, in this order: the
reranker, maximal marginal relevance, the cut to the limit, and runs of neighbours.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from langchain_agentmemory.backends.base import Record
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.search.diversity import diverse_order, similarity_of
from langchain_agentmemory.service.criteria import query_text
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.plans import Placed, Plan, Rerank
from langchain_agentmemory.service.settings import check_limit, check_switch
from langchain_agentmemory.types import MemoryEntry, MemoryKind, SearchOptions

Hit = tuple[Record, MemoryEntry]

MOST_COMPARED: Final = 200
"""Results that MMR compares with each other at most, unless `rerank_top` is larger:
beyond, the order is that of relevance."""
NEIGHBOURS_WITHIN: Final = 2
"""Positions of one conversation that are this close belong to one run."""


class Arrangement(NamedTuple):
    """What is to happen to the results of a search.

    Attributes:
        limit: How many the caller wants at most, `None` = all.
        top: How many of the best are looked at again.
        rerank: Whether a reranker orders them.
        diversity: How much they should differ from each other, in [0, 1].
        together: Whether neighbours in one conversation come as one run.
        kind: The kind whose entries stay in front of those that fill up.
    """

    limit: int | None
    top: int
    rerank: bool
    diversity: float
    together: bool
    kind: str | None

    @property
    def fetched(self) -> int | None:
        """How many results of the ranking it takes, `None` = all."""
        if not self.limit or not (self.rerank or self.diversity):
            return self.limit
        return max(self.limit, self.top)


def arrangement_of(
    options: SearchOptions, top: int, *, has_reranker: bool
) -> Arrangement:
    """Return what the options ask for.

    Args:
        options: As the caller gave them.
        top: How many of the best are reranked or compared with each other.
        has_reranker: Whether the store has one.

    Raises:
        InvalidInput: If an option makes no sense.
    """
    for switch in ("rerank", "together"):
        check_switch(switch, getattr(options, switch))
    return Arrangement(
        limit=check_limit("limit", options.limit),
        top=top,
        rerank=options.rerank and has_reranker,
        diversity=_share("diversity", options.diversity),
        together=options.together,
        kind=options.kind,
    )


def arranged(
    hits: list[Hit], query: str, how: Arrangement, indexer: Indexer
) -> Plan[list[Hit]]:
    """Return the page of a search.

    Args:
        hits: What the ranking found, best first.
        query: What was looked for.
        how: What is to happen to them.
        indexer: Whose tokenizer and embedder tell how alike two memories are.
    """
    if how.rerank and hits:
        top, rest = hits[: how.top], hits[how.top :]
        placed = yield Rerank(query_text(query), tuple(entry for _, entry in top))
        if placed is not None:
            hits = _reranked(top, rest, placed, how)
    if how.diversity:
        hits = _diverse(hits, how, indexer)
    page = hits[: how.limit]
    return _in_runs(page) if how.together else page


def _share(name: str, given: object) -> float:
    if (
        isinstance(given, bool)
        or not isinstance(given, int | float)
        or not 0 <= given <= 1
    ):
        msg = f"{name} must be a number from 0 to 1, not {quoted(given)}."
        raise InvalidInput(msg)
    return float(given)


def _fills_up(hit: Hit, kind: str | None) -> bool:
    """Tell whether an entry only fills up a search for another kind."""
    return bool(kind) and (hit[1].kind or MemoryKind.FACT) != kind


def _reranked(
    top: Sequence[Hit], rest: Sequence[Hit], placed: Sequence[Placed], how: Arrangement
) -> list[Hit]:
    own = {one.place: one.score for one in placed}
    order = _versions_in_order(list(own), [entry for _, entry in top])
    # Scores belong to places in the order: two versions that changed places get them.
    scores = dict(zip(order, own.values(), strict=True))
    result: list[Hit] = []
    for filling in (False, True):
        mine = [one for one in order if _fills_up(top[one], how.kind) is filling]
        others = [hit for hit in rest if _fills_up(hit, how.kind) is filling]
        marked = [_marked(top[one], own[one]) for one in mine]
        result += _rescored(marked, [scores[one] for one in mine], others)
    return result


def _versions_in_order(
    order: Sequence[int], entries: Sequence[MemoryEntry]
) -> list[int]:
    """Let versions of one memory keep the order that the ranking gave them.

    Which of them holds is known to the ranking, not to who compares texts.

    Args:
        order: Places of entries in the ranking, in their new order.
        entries: The entries, as they were ranked.
    """
    heirs = {entry.id: entry.superseded_by for entry in entries}
    slots: dict[str, list[int]] = defaultdict(list)
    for slot, place in enumerate(order):
        slots[_newest(entries[place].id, heirs)].append(slot)
    result = list(order)
    for mine in slots.values():
        for slot, place in zip(mine, sorted(order[s] for s in mine), strict=True):
            result[slot] = place
    return result


def _newest(version: str, heirs: Mapping[str, str | None]) -> str:
    """Return the last version that a chain of versions leads to."""
    seen = {version}
    while (heir := heirs.get(version)) is not None and heir not in seen:
        seen.add(heir)
        version = heir
    return version


def _rescored(
    ordered: Sequence[Hit], given: Sequence[float | None], rest: Sequence[Hit]
) -> list[Hit]:
    """Give scores to a new order: in [0, 1], and falling from the first to the last.

    Scores of a reranker that all are in [0, 1] are taken as they are. Else the scores
    that there were are handed out anew, the largest first. What the reranker did not
    see stays behind, and its scores are cut to the last of those.
    """
    scores = [score for score in given if score is not None and 0 <= score <= 1]
    if len(scores) < len(given):
        scores = sorted((entry.score or 0.0 for _, entry in ordered), reverse=True)
    least = scores[-1] if scores else 1.0
    scores += [min(entry.score or 0.0, least) for _, entry in rest]
    return [
        (record, entry.with_score(score, entry.explanation))
        for (record, entry), score in zip([*ordered, *rest], scores, strict=True)
    ]


def _marked(hit: Hit, own: float | None) -> Hit:
    """Say in an explanation what the reranker gave."""
    record, entry = hit
    if entry.explanation is None:
        return hit
    explanation = replace(entry.explanation, reranker=own)
    return record, entry.with_score(entry.score, explanation)


def _diverse(hits: list[Hit], how: Arrangement, indexer: Indexer) -> list[Hit]:
    compared = max(how.top, MOST_COMPARED)
    top, rest = hits[:compared], hits[compared:]
    mark = indexer.embedder.fingerprint if indexer.embedder else 0
    token_set = indexer.ranking.tokenizer.token_set
    order = diverse_order(
        [entry.score or 0.0 for _, entry in top],
        similarity_of(
            # Vectors of another model cannot be compared.
            [r.vectors if mark and r.embedder == mark else None for r, _ in top],
            cache(lambda place: token_set(top[place][1].memory)),
        ),
        how.diversity,
        groups=[int(_fills_up(hit, how.kind)) for hit in top],
        count=how.limit,
    )
    order = _versions_in_order(order, [entry for _, entry in top])
    return [top[place] for place in order] + rest


def _in_runs(page: Sequence[Hit]) -> list[Hit]:
    """Bring neighbours in one conversation together, where the best of them was."""
    runs: dict[int, list[int]] = {}  # by the best place of each
    for run in _runs(entry for _, entry in page):
        runs[min(run)] = run
    grouped = {place for run in runs.values() for place in run}
    result: list[Hit] = []
    for place, hit in enumerate(page):
        if place in runs:
            result += [page[member] for member in runs[place]]
        elif place not in grouped:
            result.append(hit)
    return result


def _runs(entries: Iterable[MemoryEntry]) -> list[list[int]]:
    """Return the places of neighbours, in the order in which they were said."""
    threads: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, entry in enumerate(entries):
        source = entry.source
        if source and source.thread_id is not None and source.position is not None:
            threads[source.thread_id].append((source.position, place))
    runs: list[list[int]] = []
    for said in threads.values():
        said.sort()
        runs.append([said[0][1]])
        for (before, _), (position, place) in pairwise(said):
            if position - before > NEIGHBOURS_WITHIN:
                runs.append([])
            runs[-1].append(place)
    return runs
