"""A question that is nothing but a time finds what lies in it, whatever its words."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from langchain_agentmemory import MemoryStore, Source
from langchain_agentmemory.service.shelves import Held

INSIDE = [
    "Bought a bike",
    "雨天去了博物馆",
    "Hiked in Sintra",
    "Bo was ill",
    "In May 2025 we got a cat",
    "Learnt to swim",
]
"""What lies in May 2025: fitting first, then newest first."""
QUESTIONS = ("What happened in May 2025?", "2025年5月发生了什么事", "2025年5月做了什麼")


def embed(texts):
    """Return vectors that say that every text is about the same."""
    return [[1.0, 0.1 * (len(text) % 7)] for text in texts]


def fill(store):
    add = store.add_memory
    add("ann", "Learnt to swim", event_time="2025")
    add("ann", "Hiked in Sintra", event_time="2025-05-12")
    add("ann", "雨天去了博物馆", event_time="2025-05-20")
    add("ann", "Bought a bike", event_time="2025-05-30")
    add("ann", "Bo was ill", source=Source(said_at=datetime(2025, 5, 2, tzinfo=UTC)))
    add("ann", "In May 2025 we got a cat")
    add("ann", "What happened in May is a film", event_time="2023-01-01")
    add("ann", "五月发生了什么事 is a song", event_time="2024-05-09")
    add("ann", "May is a daughter, number 2025")
    add("ann", "Flew to Rome", event_time="2025-06-01")
    return store


def texts(found):
    return [entry.memory for entry in found]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_lies_in_the_time_is_found_by_it(make_store, question):
    found = fill(make_store()).search_memories("ann", question)
    assert set(texts(found)) == set(INSIDE)
    assert texts(found)[:4] == INSIDE[:4]
    scores = [entry.score for entry in found]
    assert scores == sorted(scores, reverse=True)
    assert 0.999 < scores[3] < scores[0] <= 1
    assert 0.5 < scores[-1] < 0.6  # some day of that year


@pytest.mark.parametrize("mode", ["lexical", "hybrid", "vector"])
def test_all_modes_agree(make_store, mode):
    store = fill(make_store(index={"embed": embed, "dims": 2}))
    for question in QUESTIONS[:1]:
        found = store.search_memories("ann", question, mode=mode, limit=None)
        assert texts(found)[: len(INSIDE)] == INSIDE
        outside = [entry.score for entry in found[len(INSIDE) :]]
        assert all(score < found[len(INSIDE) - 1].score for score in outside)
        assert (mode != "lexical") == bool(outside)


def test_sync_and_async_agree(make_store):
    store = fill(make_store())
    later = asyncio.run(store.asearch_memories("ann", QUESTIONS[0]))
    assert texts(later) == texts(store.search_memories("ann", QUESTIONS[0]))


def test_relative_times_are_read_from_the_present(make_store):
    store = make_store()
    today = datetime.now(UTC)
    monday = today - timedelta(days=today.weekday() + 7)
    store.add_memory("ann", "Went sailing", event_time=monday.date().isoformat())
    store.add_memory("ann", "上周做了什么都忘了")
    store.add_memory("ann", "I work three days a week", event_time="2020-01-01")
    for question in ("what did I do last week", "上周发生了什么事"):
        assert texts(store.search_memories("ann", question))[0] == "Went sailing"
        assert "I work three days a week" not in texts(
            store.search_memories("ann", question)
        )


def test_thresholds_filters_and_orders_hold(make_store):
    store = fill(make_store())
    question = QUESTIONS[0]
    assert len(store.search_memories("ann", question, similarity_threshold=0.6)) == 5
    assert len(store.search_memories("ann", question, limit=2)) == 2
    assert store.search_memories("ann", question, kind="episode") == []
    in_order = store.search_memories("ann", question, order_by_event_time=True)
    assert texts(in_order)[:3] == ["Hiked in Sintra", "雨天去了博物馆", "Bought a bike"]


def test_nothing_is_found_where_nothing_lies(make_store):
    store = make_store()
    store.add_memory("ann", "What happened in May 2024?", event_time="2024-05-01")
    assert store.search_memories("ann", "What happened in May 2025?") == []


def test_what_asks_for_more_goes_by_words_as_well(make_store):
    store = fill(make_store())
    found = store.search_memories("ann", "Where did I hike in May 2025?")
    assert found[0].memory == "Hiked in Sintra"
    assert "Bought a bike" not in texts(found)


@pytest.mark.parametrize("mode", ["lexical", "hybrid", "vector"])
def test_an_explanation_adds_up_and_says_so(make_store, mode):
    store = fill(make_store(index={"embed": embed, "dims": 2}))
    for question in QUESTIONS[:2]:
        for versions in ("all", "current"):
            found = store.search_memories(
                "ann", question, mode=mode, explain=True, versions=versions, limit=None
            )
            for entry in found:
                why = entry.explanation
                assert sum(why.shares().values()) == pytest.approx(why.evidence)
                assert why.score == pytest.approx(why.evidence**why.exponent)
                assert entry.score == pytest.approx(why.score)
                assert (why.time is not None) == (entry.memory in INSIDE)
            why = {entry.memory: entry.explanation for entry in found}
            assert why["Bo was ill"].time.found_by == "date"
            assert why["In May 2025 we got a cat"].time.found_by == "text"
            assert "asked for nothing but 2025-05-01" in str(why["Hiked in Sintra"])


def test_the_reference_ranking_has_no_times():
    store = fill(MemoryStore(ranking="reference"))
    assert texts(store.search_memories("ann", QUESTIONS[0], limit=1)) == [
        "What happened in May is a film"
    ]


def test_first_searches_leave_such_questions_to_an_index():
    code = """
import sys
from langchain_agentmemory import MemoryStore
store = MemoryStore()
store.add_memory("ann", "Hiked in Sintra", event_time="2025-05-12")
store.search_memories("ann", "Sintra")
assert "numpy" not in sys.modules
print(store.search_memories("ann", "What happened in May 2025?")[0].memory)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "Hiked in Sintra\n"


def test_only_memories_with_a_date_of_about_that_time_are_read(make_store, monkeypatch):
    store = fill(make_store())
    read = []
    entry = Held.entry

    def counted(held, timezone):
        read.append(held.record.key)
        return entry(held, timezone)

    monkeypatch.setattr(Held, "entry", counted)
    for number in range(300):
        store.add_memory(
            "ann", f"Walk {number}", event_time=f"2019-03-0{number % 9 + 1}"
        )
        store.add_memory("ann", f"Swim {number}")
    found = store.search_memories("ann", "What happened in May 2025?")
    assert set(texts(found)) == set(INSIDE)
    assert len(set(read)) < 20


@pytest.mark.parametrize(
    "written", ["2025-05-12", "May 12, 2025", "2025", "2025/05/12"]
)
def test_dates_that_other_code_wrote_are_read(make_store, written):
    store = make_store()
    value = {"memory": "Hiked in Sintra", "event_time": written}
    store.put(("memories", "default", "ann"), "hike", value)
    found = store.search_memories("ann", "What happened in May 2025?")
    expected = store.read_memories("ann")[0].event_time is not None
    assert texts(found) == (["Hiked in Sintra"] if expected else [])


def test_the_last_day_of_a_year_elsewhere_is_the_first_of_the_next(make_store):
    store = make_store(timezone="Asia/Shanghai")
    store.add_memory("ann", "Fireworks", event_time="2024-12-31T20:00:00+00:00")
    found = store.search_memories("ann", "What happened on January 1, 2025?")
    assert texts(found) == ["Fireworks"]
