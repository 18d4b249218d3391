"""The benchmarks run: on tiny sizes, without looking at how long anything takes."""

import importlib
import json
from dataclasses import replace

import pytest

pytest.importorskip("psutil")
pytest.importorskip("matplotlib")
pytest.importorskip("langgraph.store.sqlite")

from benchmarks.retrieval_import.__main__ import main as retrieval
from benchmarks.retrieval_import.evidence import recall, turn_ids
from benchmarks.search_speed import running as searching
from benchmarks.search_speed.__main__ import main as search_speed
from benchmarks.storage import running, startup
from benchmarks.storage.__main__ import main as storage
from benchmarks.storage.corpus import HashEmbedder, Texts
from benchmarks.storage.engines import NO_EXTENSIONS
from benchmarks.storage.goals import Goal, goals
from benchmarks.storage.matrix import MAIN, QUICK, Row, rows
from benchmarks.storage.results import Results
from benchmarks.storage.row import measure

CONVERSATION = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a grey cat"},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "My car is being repaired"},
        ],
        "session_2_date_time": "9:10 am on 1 June, 2023",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "The bakery was closed"},
        ],
    },
    "qa": [
        {"question": "Who adopted a cat?", "category": 4, "evidence": ["D1:01"]},
        {"question": "Is anything unknown?", "category": 5, "evidence": []},
    ],
}


def test_quick_mode_measures_every_row_and_writes_a_report(tmp_path, monkeypatch):
    def in_this_process(module, argument):
        if module.endswith("waiting"):
            wait = {"calls": 1, "p50_ms": 0.1, "p99_ms": 0.1, "longest_ms": 0.1}
            return {"contestant": argument, "put": wait, "query": wait}
        return json.loads(json.dumps(measure(Row.from_json(json.loads(argument)))))

    monkeypatch.setattr(running, "_run_module", in_this_process)
    monkeypatch.setattr(startup, "_cpu_ms", lambda _: 1.0)
    results_file, report_file = tmp_path / "results.json", tmp_path / "report.md"
    arguments = ["--quick", "--sizes", "60", "--users", "1", "3"]
    arguments += ["--results", str(results_file), "--report", str(report_file)]

    assert storage([*arguments, "--budget", "0.005"]) == 0

    found = json.loads(results_file.read_text())
    plan = replace(QUICK, sizes=(60,), users=(1, 3))
    measured = {row["row"]["contestant"] for row in found["rows"]}
    skipped = [skip["reason"] for skip in found["not_runnable"]]
    report = report_file.read_text()
    assert measured >= set(MAIN)
    assert len(found["rows"]) + len(skipped) == len(list(rows(plan)))
    assert set(skipped) <= {NO_EXTENSIONS}
    assert Results(found).disagreements() == []
    assert "All stores gave the same answers" in report
    assert (
        "| get during an embedding call, longest, sqlite | ≤ 5 ms | 0.10 | met |"
        in (report)
    )
    for name in ("performance-operations", "performance-memory-and-writes"):
        assert f"assets/{name}.svg" in report
        assert (tmp_path / "assets" / f"{name}.svg").stat().st_size > 1000


def test_the_search_benchmark_measures_everything_and_writes_a_report(
    tmp_path, monkeypatch
):
    def in_this_process(name, **given):
        module = importlib.import_module(f"benchmarks.search_speed.{name}")
        if name == "crowd":
            task = {"fill": module.fill_file, "visit": module.visit}
            return task[given.pop("task")](**given)
        return module.measure(**given)

    monkeypatch.setattr(searching, "run_module", in_this_process)
    results_file, report_file = tmp_path / "results.json", tmp_path / "report.md"
    arguments = ["--quick", "--sizes", "40", "--crowd", "6", "--visits", "12"]
    arguments += ["--rounds", "1", "--results", str(results_file)]

    assert search_speed([*arguments, "--report", str(report_file)]) == 0

    found, report = json.loads(results_file.read_text()), report_file.read_text()
    assert set(found["one_user"]) == {"ours-memory, 40", "ours-sqlite, 40"}
    assert len(found["crowd"]) == 6
    assert found["crowd"]["cycle, hybrid"]["users"] == 6
    assert "| vector query of 10,000, memory, against" in report
    assert "not measured" in report
    for name in ("performance-search-one-user", "performance-search-crowd"):
        assert (tmp_path / "assets" / f"{name}.svg").stat().st_size > 1000


def test_a_store_that_answers_differently_is_reported():
    row = {"items": 1, "users": 1, "dims": 0, "language": "en", "writes_only": False}
    found = {
        "rows": [
            {"row": {"contestant": name, **row}, "answers": {"filtered": count}}
            for name, count in (("ours-memory", 3), ("InMemoryStore", 4))
        ]
    }

    assert Results(found).disagreements() == [
        "filtered at 1 items, 1 users, 0 dims",
    ]


def test_repetitions_are_combined_to_their_median():
    def run(repetition, cpu):
        timing = {"calls": 1, "cpu_us": cpu, "wall_p50_us": 1, "wall_p95_us": 1}
        return {
            "row": {"contestant": "InMemoryStore", "repetition": repetition},
            "operations": {"get": timing},
            "megabytes": {"warm": 1},
            "answers": {},
        }

    (combined,) = running.combine([run(0, 9.0), run(1, 1.0), run(2, 2.0)])

    assert combined["repetitions"] == 3
    assert combined["operations"]["get"]["cpu_us"] == 2.0
    assert combined["operations"]["get"]["cpu_us_range"] == [1.0, 9.0]


@pytest.mark.parametrize(
    ("measured", "at_least", "verdict"),
    [
        (100.0, True, "met"),
        (99.9, True, "MISSED"),
        (99.9, False, "met"),
        (100.1, False, "MISSED"),
        (None, True, "not measured"),
    ],
)
def test_a_goal_that_is_not_reached_is_said_to_be_missed(measured, at_least, verdict):
    assert Goal("x", 100, measured, "×", at_least).verdict == verdict


def test_goals_of_sizes_that_were_not_run_are_not_claimed():
    start = {"least_ms": 1.0, "median_ms": 1.0, "processes": 1}
    found = {
        "rows": [],
        "waiting": {},
        "plan": {"language_items": 10},
        "startup": dict.fromkeys(startup.PROGRAMS, start),
    }

    verdicts = [goal.verdict for goal in goals(Results(found))]

    assert verdicts == ["not measured"] * 7 + ["met"] * 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_texts_of_one_seed_are_equal(language):
    first, second = Texts(language, seed=3), Texts(language, seed=3)

    assert [first.text() for _ in range(5)] == [second.text() for _ in range(5)]
    assert first.text() != first.text()


def test_the_cost_of_making_vectors_is_counted_apart():
    embedder = HashEmbedder(8)

    assert embedder.embed_query("a") == HashEmbedder(8).embed_documents(["a"])[0]
    assert embedder.embed_query("a") != embedder.embed_query("b")
    assert embedder.cpu_ns > 0
    assert embedder.wall_ns > 0


def test_every_question_is_asked_of_what_was_imported(tmp_path, capsys):
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([CONVERSATION]))

    assert retrieval([str(file)]) == 0

    printed = capsys.readouterr().out
    assert "conv-1: 3 added, 0 repeated, 0 refused" in printed
    for ranking in ("default", "reference"):
        assert f"{ranking} ranking: evidence recall @10, @30" in printed
    assert printed.count("answerable   100.0  100.0   (1 questions)") == 2


def test_malformed_evidence_is_read():
    assert list(turn_ids("D8:6; D9:17 D:11:26 D30:05")) == [
        "D8:6",
        "D9:17",
        "D11:26",
        "D30:5",
    ]


def test_recall_is_the_part_of_the_evidence_that_was_found():
    assert recall(frozenset({"D1:1", "D1:2"}), {"D1:2", "D4:4"}) == 0.5
