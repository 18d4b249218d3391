"""The reference's own cases for tokens, scores, ranking and result lists.

The folder of cases is `$AGENTMEMORY_CASES`, by default `../shared/cases` beside the
repository. Without it these tests are skipped.
"""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from langchain_agentmemory.search.fusion import reciprocal_rank_fusion
from langchain_agentmemory.search.lexical import reference_scores
from langchain_agentmemory.search.pipeline import (
    Candidate,
    Criteria,
    kind_first,
    merge_fallback,
    ordered,
    select,
    without_near_duplicates,
)
from langchain_agentmemory.search.reference import ReferenceTokenizer, trigrams
from langchain_agentmemory.search.segment import Segmenter
from langchain_agentmemory.search.shelf import Shelf

Case = dict[str, Any]

_REPOSITORY = Path(__file__).parents[3]
_FOLDER = Path(
    os.environ.get("AGENTMEMORY_CASES", _REPOSITORY.parent / "shared" / "cases")
)
_AREAS = (
    "tokenise",
    "score",
    "ranking",
    "filter",
    "kind_fallback",
    "dedup",
    "rrf",
    "sort",
)

_DECIDED_OTHERWISE = {
    ("kind_fallback", "truncation precedes dedup"): (
        {"ids": ["e", "other"]},
        "De-duplication happens before the cut, so the page is not left short.",
    ),
}
"""Cases that the design decides differently: (what we return, why)."""

_ONE_BACKEND_ONLY = "remove near duplicates (pgvector helper)"
"""That backend's private rule: here every backend shares one rule (see below)."""

_PGVECTOR = {
    "pgvector punctuation sticks to words": ["a"],
    "pgvector has no chain rule": ["A"],
    "pgvector empty texts are identical": ["a", "b"],
}
"""What the one shared rule returns for them."""


def _cases() -> list[Any]:
    path = _FOLDER / "memory-core.jsonl"
    if not path.is_file():
        reason = f"No cases in {_FOLDER}: set AGENTMEMORY_CASES to their folder."
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason))]
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        pytest.param(case, id=f"{case['area']}: {case['name']}")
        for case in cases
        if case["area"] in _AREAS
    ]


def _no_dictionary() -> Any:
    msg = "The dictionary is not available."
    raise OSError(msg)


def _tokenizers(given: Case) -> list[ReferenceTokenizer]:
    """Return the tokenizers under which a case has to hold."""
    raw = ReferenceTokenizer(Segmenter(_no_dictionary))
    if given.get("segmenter") == "unavailable":
        return [raw]
    return [raw, ReferenceTokenizer()]


@pytest.mark.parametrize("case", _cases())
def test_the_reference_is_reproduced(case: Case) -> None:
    expected = case["then"]
    if inverted := _DECIDED_OTHERWISE.get((case["area"], case["name"])):
        expected = inverted[0]
    if case["when"] == _ONE_BACKEND_ONLY:
        expected = {"ids": _PGVECTOR[case["name"]]}
    for tokenizer in _tokenizers(case["given"]):
        assert case["when"] in _ADAPTERS, "no adapter for this kind of case"
        _ADAPTERS[case["when"]](case["given"], expected, tokenizer)


def test_every_inverted_case_exists() -> None:
    known = {(p.values[0].get("area"), p.values[0].get("name")) for p in _cases()}
    if known == {(None, None)}:
        pytest.skip("No cases: set AGENTMEMORY_CASES to their folder.")
    assert set(_DECIDED_OTHERWISE) <= known
    assert {("dedup", name) for name in _PGVECTOR} <= known


# --- tokens ----------------------------------------------------------------


def _query_tokens(given: Case, then: Case, tokenizer: ReferenceTokenizer) -> None:
    query = tokenizer.query(given["query"])
    assert [query.words[index] for index in query.phrase] == then["tokens"]


def _weighted_tokens(given: Case, then: Case, tokenizer: ReferenceTokenizer) -> None:
    query = tokenizer.query(given["query"])
    weighted = [[w, x] for w, x in zip(query.words, query.weights, strict=True)]
    assert weighted == then["weighted"]


def _trigrams(given: Case, then: Case, _: ReferenceTokenizer) -> None:
    assert trigrams(given["text"]) == then["trigrams"]


def _field_statistics(given: Case, then: Case, tokenizer: ReferenceTokenizer) -> None:
    primary, extra = tokenizer.field(given["text"])
    both = [*primary, *extra]
    assert list(primary) == then["tokens"]
    assert {word: both.count(word) for word in both} == then["tf"]
    assert len(both) == then["length"]


# --- scores and ranking ----------------------------------------------------


def _texts(entry: Case) -> tuple[str, str]:
    return entry["memory"], " ".join(entry.get("topics") or ())


def _scores(
    query: str, entries: Sequence[Case], tokenizer: ReferenceTokenizer
) -> list[float]:
    """Return the scores of a shelf, after comparing them with the plain ones."""
    shelf: Shelf[Case] = Shelf(tokenizer, None, text=_texts)
    shelf.load((entry["id"], entry, None, None, None) for entry in entries)
    scores = shelf.lexical(tokenizer.query(query)).tolist()
    texts = [_texts(entry) for entry in entries]
    plain = reference_scores(query, texts, tokenizer=tokenizer)
    assert scores == pytest.approx(plain, abs=1e-6)
    return plain


def _score_entries(given: Case, then: Case, tokenizer: ReferenceTokenizer) -> None:
    scores = _scores(given["query"], given["entries"], tokenizer)
    found = {e["id"]: s for e, s in zip(given["entries"], scores, strict=True)}
    assert found == pytest.approx(then["scores"], abs=then["tolerance"])


def _moment(number: float | None) -> datetime | None:
    if number is None:
        return None
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=number)


def _candidate(entry: Case, score: float) -> Candidate[str]:
    return Candidate(
        item=entry["id"],
        id=entry["id"],
        text=entry.get("memory", ""),
        score=score,
        kind=entry.get("kind", ""),
        event_time=_moment(entry.get("event_time")),
        created_at=_moment(entry.get("created_at", 0)) or datetime.now(UTC),
        updated_at=_moment(entry.get("updated_at", 0)) or datetime.now(UTC),
    )


def _search(given: Case, then: Case, tokenizer: ReferenceTokenizer) -> None:
    options, entries = given["options"], given["entries"]
    limit = options.get("max_results") or given["default_max_results"] or None
    criteria = Criteria(
        limit=limit,
        threshold=options.get("similarity_threshold") or given["min_score"],
        kind=options.get("kind"),
        kind_fallback=options.get("kind_fallback", False),
        time_after=_moment(options.get("time_after")),
        time_before=_moment(options.get("time_before")),
        order_by_event_time=options.get("order_by_event_time", False),
        deduplicate=options.get("deduplicate", False),
    )
    scores = _scores(options["query"], entries, tokenizer)
    candidates = [_candidate(e, s) for e, s in zip(entries, scores, strict=True)]
    page = select(candidates, criteria, tokenizer.token_set)
    assert [entry.id for entry in page] == then["ids"]
    if "scores" in then:
        found = [entry.score for entry in page]
        assert found == pytest.approx(then["scores"], abs=then["tolerance"])


# --- result lists ----------------------------------------------------------


def _results(given: Case) -> list[Candidate[str]]:
    # The reference's lists may hold null entries; ours cannot, by type.
    return [
        _candidate(entry, entry["score"])
        for entry in given["results"]
        if entry is not None
    ]


def _deduplicate(given: Case, then: Case, tokenizer: ReferenceTokenizer) -> None:
    kept = without_near_duplicates(_results(given), tokenizer.token_set)
    assert [entry.id for entry in kept] == then["ids"]


def _sort(given: Case, then: Case, _: ReferenceTokenizer) -> None:
    by_event_time = given.get("order_by_event_time", False)
    found = ordered(_results(given), by_event_time=by_event_time)
    assert [e.id for e in found] == [name for name in then["ids"] if name is not None]


def _sort_by_kind(given: Case, then: Case, _: ReferenceTokenizer) -> None:
    found = kind_first(_results(given), given["preferred"])
    assert [entry.id for entry in found] == then["ids"]


def _merge(given: Case, then: Case, _: ReferenceTokenizer) -> None:
    kind = given["preferred"]
    primary = [_candidate({"id": name, "kind": kind}, 1.0) for name in given["primary"]]
    fallback = [_candidate({"id": n, "kind": k}, 1.0) for n, k in given["fallback"]]
    merged = merge_fallback(primary, fallback, kind)[: given["max_results"] or None]
    assert [entry.id for entry in merged] == then["ids"]


def _fuse(given: Case, then: Case, _: ReferenceTokenizer) -> None:
    times = given.get("updated_at", {})
    fused = reciprocal_rank_fusion(
        given["primary"], given["secondary"], str, k=given["k"]
    )
    entries = [
        _candidate({"id": name, "updated_at": times.get(name, 0)}, score)
        for name, score in fused
    ]
    page = ordered(entries)[: given["max_results"] or None]
    assert [entry.id for entry in page] == then["ids"]
    found = [entry.score for entry in page]
    assert found == pytest.approx(then["scores"], abs=then["tolerance"])


def _best_fused_score(given: Case, then: Case, _: ReferenceTokenizer) -> None:
    [(_, score)] = reciprocal_rank_fusion(["a"], ["a"], str, k=given["k"])
    assert score == pytest.approx(then["score"], abs=then["tolerance"])


_ADAPTERS = {
    "build query tokens": _query_tokens,
    "build weighted query tokens": _weighted_tokens,
    "build trigrams": _trigrams,
    "field statistics": _field_statistics,
    "score every entry": _score_entries,
    "lexical search": _search,
    "remove near duplicates (shared helper)": _deduplicate,
    _ONE_BACKEND_ONLY: _deduplicate,
    "sort results": _sort,
    "sort with kind priority": _sort_by_kind,
    "merge with fallback": _merge,
    "reciprocal rank fusion": _fuse,
    "entry first in both lists": _best_fused_score,
}
