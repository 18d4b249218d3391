"""The reference's own cases of the three update policies.

The folder of cases is `$AGENTMEMORY_CASES`, by default `../shared/cases` beside the
repository. Without it these tests are skipped. What we decide differently on purpose
stands in `DECIDED_OTHERWISE`, with the reason.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langchain_agentmemory.policies import AppendOnly, MergeSimilar, PreserveHistory
from langchain_agentmemory.types import MemoryEntry, Operation

FOLDER = Path(
    os.environ.get("AGENTMEMORY_CASES", Path(__file__).parents[3] / "shared" / "cases")
)
FILE = FOLDER / "auto-memory.jsonl"
AREAS = ("preserve_history", "preserve_history_ops", "merge_similar", "append_only")

POLICIES = {
    "preserve_history": PreserveHistory(),
    "merge_similar": MergeSimilar(),
    "append_only": AppendOnly(),
}

ADDED = {"result": "add"}
DECIDED_OTHERWISE = {
    # case name: (what we return instead of `then`, why)
    "hole_curly_apostrophe_not_seen": (ADDED, "a curly apostrophe is one, too"),
    "hole_cannot_not_seen": (ADDED, "cannot is a negation"),
    "nodup_C_vs_Csharp_but_enriched": (ADDED, "what is attached to a word counts"),
    "update_unknown_id_becomes_add": (
        {
            "operations": [
                {
                    "type": "update",
                    "memory_id": "n1",
                    "text": "Nadia mentors Felix and Omar weekly on Zoom.",
                }
            ]
        },
        "an update that names an unknown id is checked like any add",
    ),
}
INVERTED_KINDS = ("hole_", "_but_enriched")
"""Names of cases that record a weakness which we do not share."""

ELSEWHERE = {
    "no_search_per_operation": "counts the searches of a whole job",
}


def rows():
    if not FILE.is_file():
        reason = f"no case file in {FOLDER}: set AGENTMEMORY_CASES"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason))]
    cases = map(json.loads, FILE.read_text("utf-8").splitlines())
    return [
        pytest.param(case, id=f"{case['area']}: {case['name']}")
        for case in cases
        if case["area"] in AREAS and case["name"] not in ELSEWHERE
    ]


def entry(given):
    moment = given.get("event_time")
    when = datetime(2026, 1, 1, tzinfo=UTC)
    return MemoryEntry(
        id=given["id"],
        app_name="app",
        user_id="u",
        memory=given["text"],
        topics=tuple(given.get("topics", ())),
        kind=given.get("kind") or "fact",
        event_time=datetime.fromisoformat(moment) if moment else None,
        event_precision="instant" if moment else None,
        participants=tuple(given.get("participants", ())),
        location=given.get("location"),
        created_at=when,
        updated_at=when,
        score=given.get("score"),
    )


def operation(given):
    if given is None:
        return None
    return Operation(
        given["type"],
        given.get("text"),
        given.get("memory_id"),
        topics=tuple(given["topics"]) if "topics" in given else None,
        kind=given.get("kind"),
        event_time=given.get("event_time"),
        participants=tuple(given["participants"]) if "participants" in given else None,
        location=given.get("location"),
    )


class Finder:
    """A search that gives the case's hits and remembers what it was asked."""

    def __init__(self, hits):
        self.hits = hits
        self.queries = []

    def __call__(self, query):
        self.queries.append(query)
        if isinstance(self.hits, dict):
            raise ValueError(self.hits["error"])  # noqa: TRY004 - as a backend may
        return [hit and entry(hit) for hit in self.hits]


def check_operation(found, expected):
    assert found.type == expected["type"]
    if "memory_id" in expected:
        assert (found.memory_id or "") == expected["memory_id"]
    if "text" in expected:
        assert found.memory == expected["text"]
    if "topics" in expected:
        assert list(found.topics or ()) == expected["topics"]
    if "kind" in expected:
        assert (found.kind or "fact") == expected["kind"]


def check_result(decision, then):
    expected = then["result"]
    if expected == "dropped":
        assert (decision.operation, decision.action) == (None, "drop")
        return
    assert decision.operation is not None
    check_operation(decision.operation, {"type": expected, **then})
    for measure in ("old_coverage", "new_coverage", "jaccard"):
        if measure in then:
            assert decision.measures[measure] == pytest.approx(then[measure])
    if "event_time" in then:
        assert decision.operation.event_time == then["event_time"]


@pytest.mark.parametrize("case", rows())
def test_the_policy_decides_as_described(case):
    given, then = case["given"], case["then"]
    if case["name"] in DECIDED_OTHERWISE:
        then = DECIDED_OTHERWISE[case["name"]][0]
    elif any(mark in case["name"] for mark in INVERTED_KINDS):
        then = ADDED
    policy = POLICIES[given.get("policy", case["area"])]
    enabled = given.get("enabled_tools")
    finder = Finder(given.get("search_hits", []))
    wanted = given.get("operations", [given.get("operation")])
    decisions = policy.decide(
        [operation(one) for one in wanted],
        [entry(one) for one in given.get("existing", ())],
        search=finder if case["area"] == "merge_similar" else None,
        enabled=None if enabled is None else frozenset(enabled),
    )
    if "query" in then:
        assert finder.queries == [then["query"]]
        assert policy.candidates == then["max_results"]
        assert policy.least_score == then["similarity_threshold"]
        return
    if "search_calls" in then:
        assert len(finder.queries) == then["search_calls"]
    if "operations" in then:
        found = decisions.operations
        assert len(found) == len(then["operations"])
        for one, expected in zip(found, then["operations"], strict=True):
            check_operation(one, expected)
        return
    [decision] = decisions
    check_result(decision, then)


def test_every_deviation_names_a_case():
    names = {row.values[0].get("name") for row in rows()}
    if names == {None}:
        pytest.skip("no cases: set AGENTMEMORY_CASES")
    assert set(DECIDED_OTHERWISE) <= names
