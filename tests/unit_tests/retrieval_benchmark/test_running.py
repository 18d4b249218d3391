"""A run of the retrieval benchmark on tiny sets: contestants, reports, the gate."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

pytest.importorskip("benchmarks.retrieval")
pytest.importorskip("matplotlib")

from benchmarks.retrieval import embedders
from benchmarks.retrieval.__main__ import main
from benchmarks.retrieval.ablations import ABLATIONS
from benchmarks.retrieval.baselines import BM25S, FTS5, RankBM25, words
from benchmarks.retrieval.calibration import histograms, thresholds
from benchmarks.retrieval.comparing import compare
from benchmarks.retrieval.contestants import Contestant, contestants, ours
from benchmarks.retrieval.embedders import CachedEmbeddings, Model
from benchmarks.retrieval.engines import Hit, Ours
from benchmarks.retrieval.goals import Goal, goals
from benchmarks.retrieval.own_set import Pair
from benchmarks.retrieval.running import Answer, run_set
from benchmarks.retrieval.sets import EvaluationSet, Memory, Question, Update
from benchmarks.retrieval.summaries import rows, updates
from langchain_agentmemory import MemoryStore
from langchain_agentmemory.times import to_us


def memory(name, text, **fields):
    return Memory(text, frozenset({name}), **fields)


def question(name, text, *evidence, **fields):
    return Question(name, "u", text, "plain", frozenset(evidence), **fields)


VERSIONS = Update(frozenset({"rome"}), frozenset({"oslo"}), "current")
TINY = EvaluationSet(
    "tiny",
    "A tiny set",
    {
        "u": [
            memory("cat", "I adopted a grey cat", participants=("Ann",)),
            memory("oslo", "I live in Oslo"),
            memory("rome", "I live in Rome now", supersedes=("oslo",)),
            memory("again", "I adopted a grey cat", participants=("Ann",)),
        ],
        "v": [memory("dog", "My dog is called Rex")],
    },
    [
        question("q1", "Who adopted a grey cat?", "cat", "again"),
        question("q2", "Where do I live?", "rome", update=VERSIONS),
        replace(question("q3", "the grey cat of Ann", "dog"), kind="apart"),
    ],
    frozenset({"apart"}),
)


def letters(texts, _):
    counts = [[text.lower().count(c) + 0.01 for c in "acdegilmnorst"] for text in texts]
    return np.array(counts, np.float32)


@pytest.fixture
def embedder(tmp_path, monkeypatch):
    calls = []

    def load():
        def encode(texts, role):
            calls.append((role, texts))
            return letters(texts, role)

        return encode

    models = {"use": Model("Letters", "json", load, languages=frozenset({"en"}))}
    monkeypatch.setattr("benchmarks.retrieval.embedders.MODELS", models)
    monkeypatch.setattr("benchmarks.retrieval.calibration.MODELS", models)
    monkeypatch.setattr("benchmarks.retrieval.measuring.MODELS", models)
    monkeypatch.setattr("benchmarks.retrieval.__main__.MODELS", models)
    made = CachedEmbeddings("use", tmp_path / "cache", lambda _: None)
    made.calls = calls
    return made


def answers(given, chosen, embedder=None):
    found = {}
    embedders = {"use": embedder} if embedder else {}
    for answer in run_set(given, chosen, embedders, lambda _: None):
        found.setdefault(answer.contestant, []).append(answer)
    return found


def test_every_contestant_answers_every_question(embedder):
    chosen = list(contestants(["use"]))
    found = answers(TINY, chosen, embedder)

    assert set(found) == {contestant.name for contestant in chosen}
    assert {len(group) for group in found.values()} == {3}
    assert "InMemoryStore, use" in found
    assert found["ours, words"][0].hits[0].ids == {"cat", "again"}


def test_contestants_that_differ_in_their_search_share_a_filled_engine(embedder):
    opened = []

    def counted(given):
        opened.append(given)
        return ours(given)

    chosen = [
        Contestant(mode, "ours", counted, "use", {"mode": mode})
        for mode in ("vector", "hybrid")
    ]
    found = answers(TINY, chosen, embedder)

    assert len(opened) == 1
    assert set(found) == {"vector", "hybrid"}


def test_users_do_not_find_each_others_memories():
    found = answers(TINY, [Contestant("words", "ours", ours)])

    ids = {name for a in found["words"] for hit in a.hits for name in hit.ids}
    assert "dog" not in ids


def test_what_is_ignored_takes_up_no_place():
    asked = replace(TINY.questions[0], ignored=frozenset({"cat"}))
    given = replace(TINY, questions=[asked])
    (answer,) = answers(given, [Contestant("words", "ours", ours)])["words"]

    assert all("cat" not in hit.ids for hit in answer.hits)


def test_the_store_is_asked_at_the_time_of_the_question(monkeypatch):
    engine = Ours()
    engine.add("u", TINY.memories["u"])
    times = []
    search = MemoryStore.search_memories

    def timed(store, *args, **options):
        times.append(store.backend.now())
        return search(store, *args, **options)

    monkeypatch.setattr(MemoryStore, "search_memories", timed)
    then = datetime(2023, 10, 8, 21, 51, tzinfo=UTC)
    for asked_at in (then, then.replace(tzinfo=None), None):
        asked = replace(TINY.questions[0], asked_at=asked_at)
        assert engine.search(asked, 5, {"mode": "lexical"})

    assert times[:2] == [to_us(then)] * 2
    assert times[2] > to_us(then)
    engine.close()


@pytest.mark.parametrize("make", [FTS5, BM25S, RankBM25])
def test_baselines_find_words_and_who_took_part(make):
    pytest.importorskip(
        {"BM25S": "bm25s", "RankBM25": "rank_bm25"}.get(make.__name__, "re")
    )
    engine = make()
    filler = [memory(str(n), f"filler number {n} of many") for n in range(9)]
    engine.add("u", [*TINY.memories["u"][:2], *filler])
    engine.add("v", TINY.memories["v"])

    assert engine.search(question("q", "what did ann do", "cat"), 5, {})[0].ids == {
        "cat"
    }
    assert engine.search(question("q", "?!", "cat"), 5, {}) == []
    assert engine.search(question("q", "zebra", "cat"), 5, {}) == []
    engine.close()


def test_chinese_is_cut_into_words_for_baselines():
    assert words("I 喜欢北京 C") == ["i", "喜欢", "北京", "c"]


def answer(kind, hits, evidence, update=None):
    asked = Question("q", "u", "?", kind, frozenset(evidence), update=update)
    found = [Hit(frozenset(ids), score) for ids, score in hits]
    measures = declared_measures(found, evidence)
    return Answer("tiny", "c", asked, found, measures)


def declared_measures(hits, evidence):
    from benchmarks.retrieval.metrics import measures  # noqa: PLC0415 - next to its use

    return measures([hit.ids for hit in hits], evidence)


def test_kinds_that_do_not_count_are_reported_apart():
    good = answer("plain", [({"a"}, 0.9)], {"a"})
    bad = answer("apart", [({"x"}, 0.9)], {"a"})
    found = {row["kind"]: row for row in rows(TINY, {"c": [good, bad]})}

    assert found["all"]["recall@10"] == [100, 100, 100]
    assert found["apart"]["recall@10"] == [0, 0, 0]
    assert found["all"]["questions"] == 1


def test_versions_are_counted_by_what_the_question_asks_for():
    past = replace(VERSIONS, asks="past")
    new_first = [({"rome"}, 0.9), ({"oslo"}, 0.8)]
    group = [
        answer("plain", new_first, {"rome"}, VERSIONS),
        answer("plain", new_first, {"oslo"}, past),
    ]
    found = {row["asks"]: row for row in updates(TINY, {"c": group})}

    assert found["current"]["newer_first"][0] == 100
    assert found["past"]["older_first"][0] == 0
    assert found["all"]["newer_first"][0] == 100


def test_scores_of_right_and_wrong_results_are_counted_in_bins():
    given = [answer("plain", [({"a"}, 1.0), ({"x"}, 0.51), ({"y"}, 0.0)], {"a"})]
    (row,) = histograms("tiny", {"c": given})

    assert (row["right"][-1], sum(row["right"])) == (1, 1)
    assert (row["wrong"][10], row["wrong"][0], sum(row["wrong"])) == (1, 1, 2)


def test_a_pair_is_kept_if_the_search_returns_it_at_the_threshold(embedder):
    pairs = [
        Pair("a cat", "a cat", "en", related=True),
        Pair("ggg", "sss ttt", "en", related=False),
        Pair("猫", "狗", "zh", related=False),
    ]
    chosen = [Contestant("v", "ours", ours, "use", {"mode": "vector"})]
    found = {
        (row["place"], row["language"]): row
        for row in thresholds(pairs, chosen, {"use": embedder})
    }

    assert set(found) == {(p, k) for p in ("alone", "pool") for k in ("all", "en")}
    row = found["alone", "all"]
    assert (row["related"], row["unrelated"]) == (1, 1)  # Chinese is not asked of it
    assert row["kept"][0] == 100
    assert row["rejected"][0] == 100


def test_vectors_are_kept_on_disk_and_made_once(embedder, tmp_path):
    embedder.prepare(["one", "two", "one"], ["one"])
    assert embedder.calls == [("document", ["one", "two"])]

    again = CachedEmbeddings("use", tmp_path / "cache", lambda _: None)
    assert again.embed_documents(["two", "one"]) == embedder.embed_documents(
        ["two", "one"]
    )
    assert len(embedder.calls) == 1


def test_queries_are_kept_apart_where_the_model_prefixes_them(embedder, monkeypatch):
    model = replace(embedders.MODELS["use"], prefixed=True)
    monkeypatch.setitem(embedders.MODELS, "use", model)
    prefixed = CachedEmbeddings("use", embedder.file.parent, lambda _: None)
    prefixed.prepare(["one"], ["one"])

    assert [role for role, _ in embedder.calls] == ["document", "query"]


def test_what_two_processes_kept_is_kept_together(embedder, tmp_path):
    other = CachedEmbeddings("use", tmp_path / "cache", lambda _: None)
    other.prepare(["one"], [])
    embedder.prepare(["two"], [])
    read = CachedEmbeddings("use", tmp_path / "cache", lambda _: None)
    embedder.calls.clear()
    read.embed_documents(["one", "two"])

    assert embedder.calls == []


def test_a_goal_is_met_by_its_mean_and_a_margin_only_above_it():
    assert Goal("recall", 72, 72.0).verdict == "met"
    assert Goal("recall", 72, 71.9).verdict == "missed"
    assert Goal("recall", 72, None).verdict == "not measured"
    assert Goal("lower bound", -0.5, -0.5).verdict == "missed"
    assert Goal("lower bound", -0.5, -0.4).verdict == "met"


def test_one_command_measures_reports_and_compares(
    tmp_path, embedder, capsys, monkeypatch
):
    chosen = [a for a in ABLATIONS if a.name in {"stems", "calibration"}]
    monkeypatch.setattr("benchmarks.retrieval.ablating.ABLATIONS", chosen)
    given = tmp_path / "own"
    given.mkdir()
    said = {"user": "u", "lang": "en", "said_at": "2024-01-02T03:04:05+00:00"}
    memories = [
        {"id": "u-1", "text": "I adopted a grey cat", **said},
        {"id": "u-2", "text": "The bakery was closed", **said},
    ]
    asked = {
        "id": "q-1",
        "user": "u",
        "question": "Who adopted a cat?",
        "type": "identifier",
        "lang": "en",
        "relevant": ["u-1"],
    }
    pairs = [
        {"a": "a cat", "b": "one cat", "lang": "en", "related": True},
        {"a": "a cat", "b": "rain", "lang": "en", "related": False},
    ]
    for name, lines in (
        ("memories", memories),
        ("questions", [asked]),
        ("pairs", pairs),
    ):
        text = "\n".join(map(json.dumps, lines))
        (given / f"{name}.jsonl").write_text(text, encoding="utf-8")
    results, report = tmp_path / "results.json", tmp_path / "docs" / "retrieval.md"
    details = tmp_path / "details.jsonl"
    arguments = ["--ours", str(given), "--cache", str(tmp_path / "cache")]
    arguments += ["--embedders", "use", "--results", str(results)]
    arguments += ["--report", str(report), "--details", str(details)]

    assert main(arguments) == 0

    found = json.loads(results.read_text(encoding="utf-8"))
    text = report.read_text(encoding="utf-8")
    assert [given["name"] for given in found["sets"]] == ["ours"]
    assert (
        "| ours: ours, words, hit@1, identifier questions | ≥ 100.0 | 100.0 |" in text
    )
    assert "not measured" in text
    assert any(goal.verdict == "met" for goal in goals(found))
    assert "| words: stems | " in text
    assert "| use | calibration | alone |" in text
    for name in ("recall", "threshold", "ablations", "calibration", "scores"):
        assert f"assets/retrieval-{name}.svg" in text
        assert (report.parent / "assets" / f"retrieval-{name}.svg").exists()
    assert main([*arguments, "--parts", "ablations"]) == 0
    kept = json.loads(results.read_text(encoding="utf-8"))
    assert (kept["rows"], kept["ablations"]) == (found["rows"], found["ablations"])
    report.unlink()
    again = ["--report-only", "--results", str(results), "--report", str(report)]
    assert main(again) == 0
    assert report.read_text(encoding="utf-8") == text
    capsys.readouterr()
    assert main(["--compare", str(details), str(details)]) == 0
    line = "| ours | ours, words | 1 | 0.0 (0.0…0.0) | 0.0 (0.0…0.0) |"
    assert line in capsys.readouterr().out


def test_compared_are_only_questions_that_both_runs_have(tmp_path):
    line = {
        "set": "s",
        "contestant": "c",
        "kind": "plain",
        "newer_first": None,
        "recall@10": 0.0,
        "recall@30": 0.0,
        "ndcg@10": 0.0,
    }
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    then = [{**line, "question": q} for q in ("1", "2", "3")]
    now = [{**line, "question": q, "recall@10": 1.0} for q in ("2", "3", "4")]
    before.write_text("\n".join(map(json.dumps, then)), encoding="utf-8")
    after.write_text("\n".join(map(json.dumps, now)), encoding="utf-8")

    found = compare(before, after).splitlines()
    assert found[2].startswith("| s | c | 2 | 100.0 (100.0…100.0) | 0.0 (0.0…0.0) |")
    assert found[2].endswith("| – |")
