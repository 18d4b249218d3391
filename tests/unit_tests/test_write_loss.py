"""The write-loss benchmark: its goal for PreserveHistory, and that it can be missed."""

from collections import Counter

import pytest

from benchmarks.write_loss.__main__ import PAGE
from benchmarks.write_loss.counting import tally
from benchmarks.write_loss.report import BEGIN, Run, measured_part, render, rows
from benchmarks.write_loss.running import tell
from benchmarks.write_loss.stories import STORIES
from benchmarks.write_loss.story import EXTRACTORS, said_in
from langchain_agentmemory import AppendOnly, MergeSimilar, PreserveHistory
from langchain_agentmemory.policies import Decision, Decisions

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

POLICIES = {type(p).__name__: p for p in (MergeSimilar(), PreserveHistory())}
POLICIES["AppendOnly"] = AppendOnly()


class Obedient(MergeSimilar):
    """Does whatever the extractor asks for: what a policy is there to prevent."""

    def decide(self, operations, existing, *, search=None, enabled=None):
        return Decisions(Decision(one, one, "pass", "obeyed") for one in operations)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All tallies: the policies on both engines, and one that obeys."""
    folder = tmp_path_factory.mktemp("write_loss")
    found = {}
    for name, policy in POLICIES.items():
        for extractor in EXTRACTORS:
            file = f"sqlite:///{folder}/{name}-{extractor}.db"
            for engine, url in (("memory", "memory://"), ("SQLite", file)):
                told = tell(STORIES, policy, extractor, url)
                found[Run(name, extractor, engine)] = tally(told)
    return found


@pytest.mark.parametrize("engine", ["memory", "SQLite"])
@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_preserve_history_keeps_all_details_and_merges_nothing_wrongly(
    results, extractor, engine
):
    found = results[Run("PreserveHistory", extractor, engine)]

    assert found.kept.lacking == []
    assert found.apart.lacking == []
    assert (found.kept.of, found.apart.of) == (50, 20)
    assert found.holds.good / found.holds.of >= 0.95
    assert found.linked_rightly.good >= 19


@pytest.mark.parametrize("engine", ["memory", "SQLite"])
def test_with_a_careful_extractor_what_holds_is_current(results, engine):
    preserved = results[Run("PreserveHistory", "careful", engine)]
    merged = results[Run("MergeSimilar", "careful", engine)]

    assert preserved.holds.lacking == merged.holds.lacking == []
    assert preserved.linked_rightly.lacking == merged.apart.lacking == []
    assert preserved.duplicates == merged.duplicates == []
    assert preserved.outdated.good >= 13
    assert merged.outdated.lacking == []


def test_what_the_others_lose_is_in_the_history_or_was_never_touched(results):
    for run, found in results.items():
        assert found.kept_in_history.lacking == [], run
        if run.policy == "AppendOnly":
            assert found.kept.lacking == found.apart.lacking == [], run


def test_a_policy_that_only_obeys_misses_the_goal():
    """The benchmark can fail: this is what it looks like."""
    found = tally(tell(STORIES, Obedient(), "careless", "memory://"))

    assert len(found.kept.lacking) >= 10
    assert len(found.apart.lacking) >= 10
    assert "a dose is halved: 400 mg + magnesium" in found.kept.lacking


def test_the_page_shows_what_is_measured(results):
    page = PAGE.read_text("utf-8")

    assert measured_part(page) == render(results)
    assert len(rows(results)) == len(POLICIES) * len(EXTRACTORS)  # engines agree


def test_marks_are_needed_to_write_into_a_page():
    with pytest.raises(ValueError, match="not found"):
        measured_part(BEGIN)


# --- the stories themselves -----------------------------------------------------------


def test_there_are_forty_stories_half_of_them_chinese():
    assert Counter(story.language for story in STORIES) == {"en": 20, "zh": 20}
    assert len({story.name for story in STORIES}) == 40
    sorts = {story.sort for story in STORIES}
    assert sorts == {"change", "refine", "repeat", "contradict", "coexist"}


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_story_is_told_without_contradiction(story):
    """What is asked for later was said, and only what was stored first is named."""
    first = [call.memory for call in story.first]
    assert story.said[0] != story.said[1]
    for detail in story.old:
        assert any(said_in(detail, text) for text in first)
    for detail in story.over:
        assert any(said_in(detail, text) for text in first)
    for calls in (story.careful, story.careless):
        texts = [*first, *(call.memory for call in calls)]
        assert all(call.changes in (None, *first) for call in calls)
        assert not any(call.changes for call in story.first)
        for detail in (*story.now, *sum(story.apart, ())):
            assert any(said_in(detail, text) for text in texts), detail
        for detail in story.over:
            assert not any(said_in(detail, call.memory) for call in calls)
