"""The stories of docs/concepts/policies.md, told to every policy and written down.

The table of that page is the data: what is expected stands there for people to read.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from langchain_agentmemory import (
    AppendOnly,
    MemoryStore,
    MergeSimilar,
    Operation,
    PreserveHistory,
)
from langchain_agentmemory.policies import Policy
from tests.unit_tests.policies.examples import carry_out

PAGE = Path(__file__).parents[3] / "docs" / "concepts" / "policies.md"
HEAD = "| story | stored |"
POLICIES = (MergeSimilar(), PreserveHistory(), AppendOnly())
RESULTS = {"both", "newer", "second"}


def stories():
    """Read the rows of the table: story, stored, said later, how, three results."""
    _, _, table = PAGE.read_text("utf-8").partition(HEAD)
    rows, name = [], ""
    for line in table.splitlines()[2:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = cells[0] or name
        rows.append((name, *cells[1:]))
    return rows


class Story(NamedTuple):
    """One row of the table under one policy."""

    first: str
    later: str
    how: str
    policy: Policy
    result: str


def told():
    return [
        pytest.param(
            Story(first, later, how, policy, result),
            id=f"{policy.name}-{name}-{first}-{how}",
        )
        for name, first, later, how, *results in stories()
        for policy, result in zip(POLICIES, results, strict=True)
    ]


def test_every_story_is_told_in_english_and_chinese():
    rows = stories()
    assert len(rows) == 18
    assert all(set(row[4:]) <= RESULTS for row in rows)
    languages = [row[1].isascii() for row in rows]
    assert languages == [True, False] * (len(rows) // 2)


def search_in(store):
    def search(query):
        return store.search_memories("ann", query, limit=3, similarity_threshold=0.3)

    return search


@pytest.mark.parametrize("soft_delete", [False, True])
@pytest.mark.parametrize("searching", [False, True])
@pytest.mark.parametrize("story", told())
def test_a_story_ends_as_the_docs_say(story, searching, soft_delete):
    first, later, how, policy, result = story
    store = MemoryStore(soft_delete=soft_delete, ranking="reference")
    stored = store.add_memory("ann", first)
    target = stored.id if how == "update" else None
    existing = store.read_memories("ann")
    decisions = policy.decide(
        [Operation(how, later, target)],
        existing,
        search=search_in(store) if searching else None,
    )

    carry_out(store, "ann", decisions.operations)

    found = {entry.memory: entry for entry in store.read_memories("ann")}
    [decision] = decisions
    assert decision.reason
    assert later in found
    newer = found[later]
    if result == "second":
        assert set(found) == {later}
        assert newer.supersedes == ()
        if soft_delete:
            history = store.memory_history("ann", newer.id)
            assert [entry.memory for entry in history] == [first, later]
    else:
        assert set(found) == {first, later}
        linked = newer.supersedes == (stored.id,)
        assert linked == (found[first].superseded_by == newer.id) == (result == "newer")
    store.close()


@pytest.mark.parametrize("story", told())
def test_a_story_told_twice_changes_nothing_more(story):
    """What a crashed job writes, or the user says, again makes no third memory."""
    first, later, how, policy, result = story
    store = MemoryStore()
    stored = store.add_memory("ann", first)
    target = stored.id if how == "update" else None
    for _ in range(2):
        existing = store.read_memories("ann")
        known = {entry.id for entry in existing}
        if target not in known:
            target = None
        wanted = Operation("update" if target else "add", later, target)
        carry_out(store, "ann", policy.reconcile([wanted], existing))

    assert store.count_memories("ann") == (1 if result == "second" else 2)
    store.close()
