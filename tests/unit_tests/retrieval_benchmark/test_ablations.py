"""Ablations: one ingredient is replaced, measured, and put back."""

from dataclasses import replace

import pytest

pytest.importorskip("benchmarks.retrieval")

from benchmarks.retrieval.ablating import VERSION, ablations
from benchmarks.retrieval.ablation_tables import (
    changes_table,
    kinds_changes_table,
    verdicts,
    verdicts_table,
)
from benchmarks.retrieval.ablations import ABLATIONS, Ablation
from benchmarks.retrieval.changing import Change, applied
from benchmarks.retrieval.engines import Ours
from benchmarks.retrieval.merging import merged
from benchmarks.retrieval.sets import EvaluationSet, Memory, Question, Update
from langchain_agentmemory.search import chunks, standard
from langchain_agentmemory.search.standard import DefaultTokenizer

TEXTS = ("The cats sleep", "I live in Oslo", "I live in Rome", "Rain again")
UPDATE = Update(frozenset({"2"}), frozenset({"1"}), "current")
OURS = EvaluationSet(
    "ours",
    "A tiny set",
    {"u": [Memory(text, frozenset({str(n)})) for n, text in enumerate(TEXTS)]},
    [
        Question("q1", "u", "Does a cat sleep?", "keyword", frozenset({"0"})),
        Question("q2", "u", "sleeping", "keyword", frozenset({"0"})),
        Question(
            "q3", "u", "Where do I live?", "update", frozenset({"2"}), update=UPDATE
        ),
        Question("q4", "u", "nothing of it", "apart", frozenset({"0"})),
    ],
    frozenset({"apart"}),
)
STEMS = next(ablation for ablation in ABLATIONS if ablation.name == "stems")


def measured(*chosen, given=OURS):
    return list(ablations([given], {}, lambda _: None, chosen=chosen))


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda ablation: ablation.name)
def test_what_an_ablation_replaces_is_there_and_is_put_back(ablation):
    before = [getattr(change.owner, change.name) for change in ablation.changes]
    with applied(ablation.changes):
        for change in ablation.changes:
            assert getattr(change.owner, change.name) is change.value
        engine = (ablation.open or Ours)(None)
        engine.add("u", OURS.memories["u"])
        engine.search(OURS.questions[0], 5, {"mode": "lexical"})
        engine.close()
    after = [getattr(change.owner, change.name) for change in ablation.changes]

    assert after == before
    assert ablation.changes or ablation.open


def test_names_of_ablations_are_unique():
    assert len({ablation.name for ablation in ABLATIONS}) == len(ABLATIONS)


def test_a_name_that_is_gone_is_an_error_not_a_change_without_effect():
    with (
        pytest.raises(AttributeError),
        applied([Change(standard, "_NO_SUCH_NAME", 1)]),
    ):
        pass


def test_words_met_before_are_made_anew_under_a_change_and_after_it():
    tokenizer = DefaultTokenizer()
    stemmed = tokenizer.field("cats")
    with applied([Change(chunks, "stem", lambda word: word)]):
        assert tokenizer.field("cats").primary == ["cats"]
    assert tokenizer.field("cats") == stemmed != (["cats"], [])


def test_what_is_lost_without_an_ingredient_is_negative():
    (row, kind) = measured(replace(STEMS, modes=("lexical",), kinds=("keyword",)))

    assert (row["kind"], row["questions"]) == ("all", 3)  # "apart" is not counted
    assert row["recall@10"]["full"] == 100
    assert row["recall@10"]["change"][0] == pytest.approx(-100 / 3, abs=0.01)
    assert row[VERSION]["full"] == 100
    assert (kind["kind"], kind["recall@10"]["change"][0]) == ("keyword", -50)
    assert VERSION not in kind


def test_versions_are_told_apart_no_more_without_their_ingredient():
    (ablation,) = [a for a in ABLATIONS if a.name == "versions recognised"]
    backwards = replace(OURS, memories={"u": OURS.memories["u"][::-1]})
    kinds = measured(ablation, given=backwards)

    assert {row["kind"] for row in kinds} == {"all", "update"}
    assert all(row["recall@10"]["change"] == [0, 0, 0] for row in kinds)


def test_an_ablation_is_measured_only_on_its_sets_and_in_its_modes():
    idle = Ablation("g", "n", (), modes=("hybrid",))
    elsewhere = Ablation("g", "m", (), sets=("locomo",))

    assert measured(idle, elsewhere) == []


def row(change, **given):
    effect = {"full": 50.0, "change": change}
    usual = {"group": "words", "ablation": "stems", "set": "locomo", "embedder": None}
    usual |= {"kind": "all", "questions": 9}
    return usual | {"recall@10": effect, "hit@1": effect, "mrr": effect} | given


def test_a_verdict_goes_by_what_is_sure():
    lost, won, unsure = [-3.0, -4.0, -2.0], [2.0, 1.0, 3.0], [-1.0, -2.0, 1.0]
    found = {
        "ablations": [
            row(won, ablation="rarity"),
            row(lost, ablation="stems"),
            row(unsure, ablation="coverage"),
            row(lost, ablation="phrase"),
            row(won, ablation="phrase", embedder="use"),
            row(lost, ablation="taken out of the package long ago"),
        ]
    }

    assert [(verdict.name, verdict.text) for verdict in verdicts(found)] == [
        ("stems", "earns its place"),
        ("coverage", "no effect that is sure"),
        ("rarity", "costs"),
        ("phrase", "mixed"),
    ]
    assert "| -3.0 locomo, words, recall@10 |" in verdicts_table(found)
    assert "| phrase | **-3.0 (-4.0…-2.0)** |" in changes_table(found, None)
    assert "| coverage | -1.0 (-2.0…+1.0) |" in changes_table(found, None)
    assert changes_table({"ablations": []}, None) == ""


def test_types_of_questions_are_shown_with_what_is_for_them():
    found = {"ablations": [row([-9.0, -12.0, -6.0], set="ours", kind="width")]}

    assert (
        "| stems | width (9) | words | 50.0 | **-9.0 (-12.0…-6.0)** |"
        in kinds_changes_table(found)
    )


def test_what_is_measured_anew_replaces_what_it_was_and_nothing_else():
    old = {"set": "locomo", "contestant": "a", "kind": "all", "recall@10": 1}
    other = {**old, "contestant": "b"}
    new = {**old, "recall@10": 2}
    earlier = {"embedders": {"use": "USE"}, "rows": [old, other], "seconds": 5}
    found = merged(earlier, {"embedders": {"e5": "E5"}, "rows": [new]})

    assert found == {
        "embedders": {"use": "USE", "e5": "E5"},
        "rows": [new, other],
        "seconds": 5,
    }
