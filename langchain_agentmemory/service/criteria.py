"""Search options and queries, checked: what a search is to do."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta, tzinfo
from typing import Any, Final, get_args

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.identity import trim
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.search.earlier import wants_earlier
from langchain_agentmemory.search.pipeline import Criteria
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.records import text_field
from langchain_agentmemory.service.settings import (
    Settings,
    check_choice,
    check_limit,
    check_names,
    check_switch,
)
from langchain_agentmemory.times import end_of_period, from_us, parse_event_time
from langchain_agentmemory.types import SearchMode, SearchOptions, ShownVersions

_OTHER_NAMES: Final = {
    **dict.fromkeys(
        ("k", "n", "top_k", "topk", "top_n", "max_results", "size"), "limit"
    ),
    **dict.fromkeys(("min_score", "score", "cutoff"), "similarity_threshold"),
    **dict.fromkeys(
        ("since", "after", "start", "start_time", "after_date"), "time_after"
    ),
    **dict.fromkeys(
        ("until", "before", "end", "end_time", "before_date"), "time_before"
    ),
    **dict.fromkeys(("dedupe", "dedup", "unique"), "deduplicate"),
    **dict.fromkeys(("half_life", "recency"), "decay"),
    **dict.fromkeys(("mmr", "lambda_mult"), "diversity"),
    **dict.fromkeys(("search_type", "search_mode"), "mode"),
}
_MODES: Final = get_args(SearchMode)
_SHOWN: Final = get_args(ShownVersions)
QUERY_CHARACTERS: Final = 10_000
"""Characters of a query that are looked at."""


def criteria_of(
    options: SearchOptions, indexer: Indexer, settings: Settings, now: int
) -> Criteria:
    """Return what the options ask for.

    Args:
        options: As the caller gave them.
        indexer: Whose ranking has the default threshold, and whose embedder, if any,
            decides which modes there are.
        settings: Whose timezone naive times are in.
        now: The engine's clock in microseconds, from which `decay` counts.

    Raises:
        InvalidInput: If an option makes no sense, or needs an index that is missing.
    """
    zone = settings.timezone
    after, before = options.time_after, options.time_before
    kind = None if options.kind is None else text_field("kind", options.kind)
    check_choice("mode", options.mode, _MODES)
    check_choice("versions", options.versions, _SHOWN)
    if options.mode in {"vector", "hybrid"} and indexer.embedder is None:
        msg = (
            f"mode={quoted(options.mode)} needs an index: open the store with "
            f"embeddings='local' (the extra `local`), with another embedder, or with "
            f"index={{'embed': …, 'dims': …}}; or search with mode='lexical'."
        )
        raise InvalidInput(msg)
    for switch in ("order_by_event_time", "kind_fallback", "deduplicate", "explain"):
        check_switch(switch, getattr(options, switch))
    return Criteria(
        limit=check_limit("limit", options.limit),
        threshold=_threshold(options.similarity_threshold, indexer),
        kind=kind,
        kind_fallback=options.kind_fallback,
        time_after=None if after is None else parse_event_time(after, zone)[0],
        time_before=None if before is None else end_of_period(before, zone),
        order_by_event_time=options.order_by_event_time,
        deduplicate=options.deduplicate,
        decay=_half_life(options.decay),
        now=from_us(now),
    )


def with_overrides(options: object, overrides: Mapping[str, Any]) -> SearchOptions:
    """Return search options with some fields replaced.

    Args:
        options: `SearchOptions`, or `None` for the default.
        overrides: Fields by name.

    Raises:
        InvalidInput: If it is neither, or there is no such field.
    """
    if options is not None and not isinstance(options, SearchOptions):
        msg = f"options must be SearchOptions, not {quoted(options)}."
        raise InvalidInput(msg)
    if not overrides:
        return SearchOptions() if options is None else options
    known = SearchOptions.__dataclass_fields__
    check_names("A search", overrides, known, _OTHER_NAMES)
    return (
        SearchOptions(**overrides) if options is None else replace(options, **overrides)
    )


def query_text(query: object) -> str:
    """Return the part of a query that is looked at, trimmed.

    Raises:
        InvalidInput: If it is no text.
    """
    if not isinstance(query, str):
        msg = f"query must be text, not {type(query).__name__}."
        raise InvalidInput(msg)
    return trim(query[:QUERY_CHARACTERS])


def folds_versions(options: SearchOptions, query: str, now: int, zone: tzinfo) -> bool:
    """Tell whether memories that hold now stand for what they replaced.

    Args:
        options: What the caller asked for.
        query: What is searched for: a question about the past gets every version.
        now: The engine's clock in microseconds.
        zone: Whose days the query speaks of.
    """
    return options.versions == "current" and not wants_earlier(
        query, from_us(now), zone
    )


def _threshold(given: object, indexer: Indexer) -> float:
    if given is None:
        return indexer.ranking.threshold
    if (
        isinstance(given, bool)
        or not isinstance(given, int | float)
        or not 0 <= given <= 1
    ):
        msg = f"similarity_threshold must be a number from 0 to 1, not {quoted(given)}."
        raise InvalidInput(msg)
    return float(given)


def _half_life(given: object) -> timedelta | None:
    if given is None:
        return None
    if not isinstance(given, timedelta) or given <= timedelta(0):
        msg = f"decay must be a positive timedelta (a half-life), not {quoted(given)}."
        raise InvalidInput(msg)
    return given
