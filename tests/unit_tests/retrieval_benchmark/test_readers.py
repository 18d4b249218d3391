"""Readers of the retrieval benchmark: what counts as evidence, and what is stored."""

import json
from datetime import datetime

import pytest

pytest.importorskip("benchmarks.retrieval")

from benchmarks.retrieval.locomo import read_locomo, turn_ids
from benchmarks.retrieval.longmemeval import USER, read_longmemeval, rewritten
from benchmarks.retrieval.madial import read_dialogues, read_madial, utterances
from benchmarks.retrieval.own_set import read_ours, read_pairs, read_rewrites
from langchain_agentmemory.types import Source

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a grey cat"},
                {
                    "speaker": "Bob",
                    "dia_id": "D1:2",
                    "text": "Look!",
                    "blip_caption": "a photo of a car",
                },
            ],
        },
        "observation": {
            "session_1_observation": {
                "Ann": [["Ann has a cat.", "D1:1"], ["Ann is kind.", "D9:9"]],
                "Bob": [["Bob showed his car after the cat.", ["D1:02", "D1:1"]]],
            }
        },
        "qa": [
            {"question": "Who?", "category": 4, "evidence": ["D1:01; D1:2"]},
            {"question": "When?", "category": 5, "evidence": ["D:1:2"]},
            {"question": "Unknown?", "category": 1, "evidence": []},
        ],
    }
]


def evidence(question, kind, answer, *sessions):
    return {
        "question_id": question,
        "question_type": kind,
        "question": f"{question}?",
        "answer": [answer],
        "question_date": "2023/10/08 (Sun) 21:51",
        "gold_session_ids": [],
        "evidence_sessions": [
            {"date": date, "turns": [{"role": "user", "content": text}]}
            for date, text in sessions
        ],
    }


LATE = ("2023/09/30 (Sat) 18:01", "I have tried four of them")
EARLY = ("2023/08/11 (Fri) 09:00", "I have tried three of them")


at = datetime.fromisoformat


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_lines(path, values):
    lines = (json.dumps(value, ensure_ascii=False) for value in values)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_every_turn_is_a_memory_with_its_place_and_speaker(tmp_path):
    found = read_locomo(write(tmp_path / "locomo.json", LOCOMO))

    first, second = found.memories["conv-1"]
    assert first.participants == ("Ann",)
    assert first.event_time is None
    assert first.source == Source(
        "session_1", ("D1:1",), 0, "user", at("2023-05-08T13:56")
    )
    assert second.text == "Look!\na photo of a car"
    assert second.source.position == 1
    assert second.ids == {"D1:2"}


def test_questions_keep_normalised_evidence_and_those_without_are_left_out(tmp_path):
    found = read_locomo(write(tmp_path / "locomo.json", LOCOMO))

    assert [q.evidence for q in found.questions] == [{"D1:1", "D1:2"}, {"D1:2"}]
    assert [q.kind for q in found.questions] == ["single-hop", "adversarial"]
    assert found.uncounted == {"adversarial"}


def test_a_fact_stands_for_its_turns_in_the_place_of_the_first(tmp_path):
    found = read_locomo(write(tmp_path / "locomo.json", LOCOMO), facts=True)

    cat, car = found.memories["conv-1"][2:]  # the one of an unknown turn is left out
    assert (cat.text, cat.ids) == ("Ann has a cat.", {"D1:1"})
    assert cat.source == found.memories["conv-1"][0].source
    assert car.ids == {"D1:1", "D1:2"}
    assert car.source.message_ids == ("D1:2", "D1:1")
    assert car.source.position == 1
    assert car.participants == ("Bob",)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("D8:6; D9:17", ["D8:6", "D9:17"]),
        ("D:11:26", ["D11:26"]),
        ("D30:05", ["D30:5"]),
        ("D9:1 D4:4 D4:6", ["D9:1", "D4:4", "D4:6"]),
        ("D", []),
    ],
)
def test_malformed_ids_of_turns_are_normalised(text, ids):
    assert list(turn_ids(text)) == ids


def test_evidence_turns_of_all_questions_are_one_pool(tmp_path):
    given = [
        evidence("q1", "multi-session", "4", LATE, EARLY),
        evidence("q2", "single-session-user", "x", ("2023/01/02 (Mon) 03:04", "Hi")),
        evidence("q3_abs", "multi-session", "nothing"),
    ]
    found = read_longmemeval(write(tmp_path / "evidence.json", given))

    assert [len(memories) for memories in found.memories.values()] == [3]
    assert [q.id for q in found.questions] == ["q1", "q2"]
    assert found.questions[1].evidence == {"q2/0/0"}
    assert found.questions[0].update is None
    memory = found.memories[USER][0]
    assert memory.source == Source(
        "q1/0", ("q1/0/0",), None, "user", at("2023-09-30T18:01")
    )
    assert found.questions[0].asked_at == at("2023-10-08T21:51")


def test_versions_go_by_time_not_by_order(tmp_path):
    given = [evidence("q1", "knowledge-update", "four", LATE, EARLY)]
    (question,) = read_longmemeval(write(tmp_path / "evidence.json", given)).questions

    assert question.update.newer == {"q1/0/0"}
    assert question.update.older == {"q1/1/0"}
    assert question.update.asks == "current"


def test_an_update_question_whose_answer_is_the_older_value_asks_for_the_past(tmp_path):
    given = [evidence("q1", "knowledge-update", "3", EARLY, LATE)]
    (question,) = read_longmemeval(write(tmp_path / "evidence.json", given)).questions

    assert question.update.asks == "past"


def test_abstentions_and_single_sessions_have_no_versions(tmp_path):
    given = [
        evidence("q1_abs", "knowledge-update", "four", EARLY, LATE),
        evidence("q2", "knowledge-update", "four", LATE),
    ]
    found = read_longmemeval(write(tmp_path / "evidence.json", given))

    assert [q.update for q in found.questions] == [None, None]


def test_rewrites_ask_the_same_pool_for_the_older_version(tmp_path):
    given = [evidence("q1", "knowledge-update", "four", EARLY, LATE)]
    pool = read_longmemeval(write(tmp_path / "evidence.json", given))
    rewrites = [
        {"question_id": "q1", "question": "Before?"},
        {"question_id": "q1", "question": "Earlier?"},
        {"question_id": "other", "question": "Left out?"},
    ]
    found = rewritten(pool, rewrites)

    assert found.memories is pool.memories
    assert [q.text for q in found.questions] == ["Before?", "Earlier?"]
    assert len({q.id for q in found.questions}) == 2
    assert found.questions[0].evidence == {"q1/0/0"}
    assert found.questions[0].update.asks == "past"


MEMORIES = [
    {"1": {"time": "2023-12-25", "event": "Bart跳舞。"}},
    {"2": {"time": "2023-12-26", "event": "Lisa画画。"}},
]
DIALOGUE = {
    "dialogue": [
        "<BOD>\n",
        '<Bart>:"你好"\n',
        ' <Assistant>: "嗨"\n',
        '<Bart>:"跳舞吗"\n',
        '<Assistant>:"你记得圣诞节吗"\n',
    ],
    "test-turn": [4, 6],
    "relevant-id": [1],
    "user-id": 1,
}


def test_a_dialogue_asks_with_what_was_said_before_the_first_test_turn(tmp_path):
    memory = write_lines(tmp_path / "memory.json", MEMORIES)
    dialogue = write_lines(tmp_path / "dialogue.jsonl", [DIALOGUE])
    history = read_dialogues(memory, dialogue, language="zh")
    last = read_dialogues(memory, dialogue, language="zh", query="last")

    assert history.questions[0].text == "你好\n嗨\n跳舞吗"
    assert last.questions[0].text == "嗨\n跳舞吗"
    assert history.questions[0].evidence == {"1"}
    assert [len(memories) for memories in history.memories.values()] == [2]
    assert history.memories["everyone"][0].event_time == "2023-12-25"


def test_in_the_way_of_the_benchmark_a_speaker_searches_its_own_memories(tmp_path):
    memory = write_lines(tmp_path / "memory.json", MEMORIES)
    dialogue = write_lines(tmp_path / "dialogue.jsonl", [DIALOGUE])
    found = read_dialogues(memory, dialogue, language="zh", own=True)

    assert {user: len(m) for user, m in found.memories.items()} == {
        "Bart": 1,
        "Lisa": 1,
    }
    assert found.questions[0].user == "Bart"


def test_a_folder_gives_three_sets_for_each_language_that_it_has(tmp_path):
    write_lines(tmp_path / "MADial-Bench-zh-memory.json", MEMORIES)
    write_lines(tmp_path / "MADial-Bench-zh-dialogue.jsonl", [DIALOGUE])

    names = [found.name for found in read_madial(tmp_path)]
    assert names == ["madial-zh", "madial-zh-last", "madial-zh-own"]


def test_speakers_quotes_and_markers_are_no_part_of_what_was_said():
    given = ["<BOD>\n", ' <Lisa>: "“Hi” there"\n', '"No name"\n', "<EOD>\n"]
    assert utterances(given) == ["Hi” there", "No name"]


def test_our_own_set_names_only_what_is_in_it():
    found = read_ours()
    known = {
        user: {name for memory in memories for name in memory.ids}
        for user, memories in found.memories.items()
    }

    assert len(found) >= 300
    assert len(found.questions) >= 200
    for question in found.questions:
        named = question.evidence | question.ignored
        if question.update is not None:
            named |= question.update.newer | question.update.older
        assert named <= known[question.user], question.id
    for user, memories in found.memories.items():
        for memory in memories:
            assert set(memory.supersedes) <= known[user]
    assert len({q.id for q in found.questions}) == len(found.questions)


def test_our_pairs_and_rewrites_are_enough_to_say_something():
    pairs = read_pairs()
    for language in ("zh", "en"):
        for related in (True, False):
            chosen = [
                p for p in pairs if (p.language, p.related) == (language, related)
            ]
            assert len(chosen) >= 20
    assert len(read_rewrites()) >= 20
