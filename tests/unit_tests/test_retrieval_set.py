"""Our own retrieval set is what its README says: whole, unambiguous, large enough."""

import json
import unicodedata
from collections import Counter, defaultdict
from datetime import date, datetime
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "retrieval" / "ours"

if not FOLDER.exists():  # the source distribution has the tests, not the benchmarks
    pytest.skip("benchmarks/ is not here", allow_module_level=True)


def rows(name):
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


MEMORIES = rows("memories")
QUESTIONS = rows("questions")
PAST_TENSE = rows("past_tense")
PAIRS = rows("pairs")
BY_ID = {memory["id"]: memory for memory in MEMORIES}

NEEDED = {"id", "user", "text", "lang", "said_at"}
OPTIONAL = {"topics", "kind", "event_time", "participants", "location"}
OPTIONAL |= {"thread", "position", "role", "supersedes"}

FLOORS = {
    "paraphrase": 60,
    "identifier": 40,
    "update": 80,
    "temporal": 20,
    "width": 35,
    "traditional_simplified": 20,
    "mixed_script": 15,
    "neighbour": 15,
    "name": 15,
    "number": 15,
    "multi": 15,
    "keyword": 15,
}


def folded(text):
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def said(memory):
    return datetime.fromisoformat(memory["said_at"])


def of_type(*types):
    return [question for question in QUESTIONS if question["type"] in types]


def is_chinese(text):
    return any("\u4e00" <= sign <= "\u9fff" for sign in text)


def has_full_width(text):
    letters = [sign for sign in text if unicodedata.normalize("NFKC", sign).isalnum()]
    return any(unicodedata.east_asian_width(sign) == "F" for sign in letters)


@pytest.mark.parametrize("name", ["memories", "questions"])
def test_ids_are_unique_and_begin_with_the_user(name):
    found = rows(name)

    assert len({row["id"] for row in found}) == len(found)
    for row in found:
        start = row["user"] if name == "memories" else f"q-{row['user']}"
        assert row["id"].startswith(f"{start}-")


def test_memories_have_the_fields_of_the_readme_and_no_others():
    for memory in MEMORIES:
        assert memory.keys() >= NEEDED, memory
        assert memory.keys() <= NEEDED | OPTIONAL, memory
        assert memory["text"] == memory["text"].strip() != ""
        assert said(memory).tzinfo is not None
        assert memory.get("kind", "fact") in {"fact", "episode"}
        if "event_time" in memory:
            happened = date.fromisoformat(memory["event_time"])
            assert happened <= said(memory).date(), memory["id"]


def test_there_are_enough_memories_in_each_language_and_for_each_user():
    languages = Counter(memory["lang"] for memory in MEMORIES)
    users = Counter(memory["user"] for memory in MEMORIES)

    assert len(MEMORIES) >= 320
    assert languages.keys() == {"zh", "en", "mixed"}
    assert languages["zh"] >= 0.4 * len(MEMORIES)
    assert languages["en"] >= 0.4 * len(MEMORIES)
    assert languages["mixed"] >= 0.08 * len(MEMORIES)
    assert len(users) == 6
    assert all(40 <= count <= 80 for count in users.values())


def test_no_memory_is_told_twice_in_the_same_words():
    told = Counter((memory["user"], folded(memory["text"])) for memory in MEMORIES)

    assert [text for text, count in told.items() if count > 1] == []


def test_the_lines_of_a_thread_are_consecutive_and_in_order():
    threads = defaultdict(list)
    for memory in MEMORIES:
        assert ("thread" in memory) == ("position" in memory) == ("role" in memory)
        if "thread" in memory:
            threads[memory["user"], memory["thread"]].append(memory)

    assert len(threads) >= 12
    for lines in threads.values():
        lines.sort(key=lambda memory: memory["position"])
        assert [memory["position"] for memory in lines] == list(range(len(lines)))
        times = [said(memory) for memory in lines]
        assert times == sorted(set(times))


def test_what_a_memory_supersedes_is_older_and_of_the_same_user():
    newer = [memory for memory in MEMORIES if "supersedes" in memory]

    assert newer
    for memory in newer:
        for old in memory["supersedes"]:
            assert BY_ID[old]["user"] == memory["user"]
            assert said(BY_ID[old]) < said(memory)


def test_questions_point_only_at_memories_of_their_user():
    for question in QUESTIONS:
        named = question["relevant"] + question.get("context", [])
        assert question["relevant"], question["id"]
        assert len(set(named)) == len(named), question["id"]
        for reference in named:
            assert BY_ID[reference]["user"] == question["user"], question["id"]


def test_no_user_asks_the_same_question_twice():
    asked = Counter((row["user"], folded(row["question"])) for row in QUESTIONS)

    assert [question for question, count in asked.items() if count > 1] == []


def test_no_question_is_the_memory_itself():
    for question in QUESTIONS:
        for reference in question["relevant"]:
            assert folded(BY_ID[reference]["text"]) != folded(question["question"])


def test_there_are_enough_questions_of_each_type_and_language():
    types = Counter(question["type"] for question in QUESTIONS)

    assert len(QUESTIONS) >= 230
    assert types.keys() == FLOORS.keys()
    assert {kind: n for kind, n in types.items() if n < FLOORS[kind]} == {}
    assert {question["lang"] for question in QUESTIONS} == {"zh", "en", "mixed"}
    scripts = Counter(
        is_chinese(question["question"] + BY_ID[question["relevant"][0]]["text"])
        for question in of_type("width", "traditional_simplified")
    )
    assert scripts[True] >= 25
    assert scripts[False] >= 25
    paraphrases = Counter(is_chinese(row["question"]) for row in of_type("paraphrase"))
    assert min(paraphrases[True], paraphrases[False]) >= 25


def test_both_versions_of_a_fact_are_asked_for_in_both_languages():
    updates = of_type("update")
    pairs = {(question["newer"], question["older"]) for question in updates}
    asked = Counter((row["asks"], is_chinese(row["question"])) for row in updates)

    assert asked.keys() == {(asks, zh) for asks in ("current", "past") for zh in (0, 1)}
    assert min(asked.values()) >= 20
    for newer, older in pairs:
        assert said(BY_ID[newer]) > said(BY_ID[older])
    unmarked = [pair for pair in pairs if "supersedes" not in BY_ID[pair[0]]]
    assert len(unmarked) >= 40
    for question in updates:
        right = question["newer" if question["asks"] == "current" else "older"]
        assert question["relevant"] == [right], question["id"]


def test_the_context_of_a_neighbour_question_is_the_memory_before_the_answer():
    for question in QUESTIONS:
        assert ("context" in question) == (question["type"] == "neighbour")
    for question in of_type("neighbour"):
        [answer], [context] = question["relevant"], question["context"]
        answer, context = BY_ID[answer], BY_ID[context]
        assert answer["thread"] == context["thread"]
        assert answer["position"] == context["position"] + 1


def test_temporal_questions_are_asked_after_everything_was_said():
    for question in QUESTIONS:
        assert ("now" in question) == (question["type"] == "temporal")
    for question in of_type("temporal"):
        now = datetime.fromisoformat(question["now"])
        mine = [memory for memory in MEMORIES if memory["user"] == question["user"]]
        assert all(said(memory) <= now for memory in mine), question["id"]
        for reference in question["relevant"]:
            assert "event_time" in BY_ID[reference], question["id"]


def test_width_questions_have_full_width_on_one_side_only():
    for question in of_type("width"):
        text = BY_ID[question["relevant"][0]]["text"]
        sides = has_full_width(question["question"]), has_full_width(text)
        assert sum(sides) == 1, question["id"]


def test_rewrites_in_the_past_tense_differ_from_one_another():
    assert len(PAST_TENSE) >= 30
    assert all(row.keys() == {"question_id", "question"} for row in PAST_TENSE)
    assert len({folded(row["question"]) for row in PAST_TENSE}) == len(PAST_TENSE)
    asked = Counter(row["question_id"] for row in PAST_TENSE)
    assert max(asked.values()) <= 2
    assert len(asked) >= 30


def test_pairs_are_enough_in_both_languages_and_named_once():
    assert all(row.keys() == {"a", "b", "lang", "related"} for row in PAIRS)
    assert len({(row["a"], row["b"]) for row in PAIRS}) == len(PAIRS)
    counts = Counter((row["lang"], row["related"]) for row in PAIRS)
    assert counts.keys() == {(lang, kind) for lang in ("zh", "en") for kind in (0, 1)}
    assert min(counts["en", True], counts["zh", True]) >= 30
    assert counts["en", False] + counts["zh", False] >= 120
    for row in PAIRS:
        assert is_chinese(row["a"]) == is_chinese(row["b"]) == (row["lang"] == "zh")


def test_the_readme_states_the_counts_of_the_files():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    sizes = {
        "memories": len(MEMORIES),
        "questions": len(QUESTIONS),
        "past_tense": len(PAST_TENSE),
        "pairs": len(PAIRS),
    }

    for name, count in sizes.items():
        assert f"| `{name}.jsonl` | {count} |" in readme
    for kind, count in Counter(row["type"] for row in QUESTIONS).items():
        assert f"| `{kind}` | {count} |" in readme
