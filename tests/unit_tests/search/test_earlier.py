"""What a memory replaced is told beside it."""

from datetime import UTC, datetime

import pytest

from langchain_agentmemory import MemoryEntry
from langchain_agentmemory.search.earlier import VersionView, folded, wants_earlier
from langchain_agentmemory.search.pipeline import Candidate

NOW = datetime(2024, 5, 10, tzinfo=UTC)


def entry(name, *, supersedes=(), superseded_by=None):
    return MemoryEntry(
        name, "app", "ann", f"text {name}", (), "fact", None, None, (), None,
        NOW, NOW, supersedes=tuple(supersedes), superseded_by=superseded_by,
    )  # fmt: skip


def shown(*entries):
    return {e.id: e.earlier for e in folded(entries)}


def test_what_is_replaced_within_the_list_is_told_not_listed():
    old, new = entry("a", superseded_by="b"), entry("b", supersedes="a")
    assert shown(new, old) == {"b": ("text a",)}


def test_what_is_replaced_by_something_else_stays():
    assert shown(entry("a", superseded_by="gone")) == {"a": ()}


def test_what_is_not_in_the_list_is_not_told():
    assert shown(entry("b", supersedes="a")) == {"b": ()}


def test_links_that_lead_in_a_circle_end():
    one = entry("a", supersedes="b", superseded_by="b")
    other = entry("b", supersedes="a", superseded_by="a")
    assert shown(one, other) == {}


def test_what_holds_stands_for_all_of_a_long_chain_and_each_link_is_followed_once():
    count = 400
    chain = {
        str(n): entry(str(n), superseded_by=str(n + 1) if n + 1 < count else None)
        for n in range(count)
    }
    asked = []

    def find(key):
        asked.append(key)
        return chain[key]

    found = VersionView(find, lambda one: one).current(
        Candidate(one, one.id, one.memory, 1 - n / count, one.kind, None, NOW, NOW)
        for n, one in enumerate(chain.values())
    )
    assert [(one.id, one.score) for one in found] == [(str(count - 1), 1.0)]
    assert len(asked) < count


@pytest.mark.parametrize(
    "query",
    ["Where did I live before I moved?", "Where did I live in 2021?", "before the trip",
     "我以前住在哪里", "How has my diet changed?"],
)  # fmt: skip
def test_questions_about_the_past_want_every_version(query):
    assert wants_earlier(query, NOW, UTC)


@pytest.mark.parametrize(
    "query", ["Where do I live now?", "Where do I live?", "", "What is due on Friday?",
              "What have I read recently?", "我现在住在哪里"],
)  # fmt: skip
def test_other_questions_do_not(query):
    assert not wants_earlier(query, NOW, UTC)
