"""Traditional characters fold to simplified ones, once and for all."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.ranking import get_ranking
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.simplified import _table, simplified

_FORMS = sorted(_table()._forms)
_texts = st.lists(st.sampled_from([*_FORMS, *"電腦頭髮買a的"]) | st.text()).map("".join)


@pytest.mark.parametrize(
    ("traditional", "expected"),
    [
        ("買了電腦與頭髮產品", "买了电脑与头发产品"),
        ("後來皇后發現頭髮", "后来皇后发现头发"),
        ("臺灣台灣", "台湾台湾"),
        ("乾隆皇帝把衣服弄乾淨", "乾隆皇帝把衣服弄干净"),
        ("他看著著名的電視", "他看着著名的电视"),
        ("瞭解與瞭望", "了解与瞭望"),
        ("沈先生很沈默", "沈先生很沉默"),
        ("什麼時候在哪裡", "什么时候在哪里"),
        ("為什麼爲什麽", "为什么为什么"),
        ("我畫了一個計畫", "我画了一个计划"),
        ("plain ASCII", "plain ASCII"),
        ("コーヒー", "コーヒー"),
    ],
)
def test_traditional_becomes_simplified(traditional: str, expected: str) -> None:
    assert simplified(traditional) == expected


@given(_texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert simplified(simplified(text)) == simplified(text)


def test_what_a_replaced_word_makes_is_folded_at_once() -> None:
    texts = [first + second for first in _FORMS for second in _FORMS]
    assert [
        text for text in texts if simplified(simplified(text)) != simplified(text)
    ] == []


@given(_texts)
def test_all_but_the_words_keeps_its_length(text: str) -> None:
    assert len(simplified(text)) == len(text)


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("她對花生過敏", "她对什么过敏"),
        ("她对花生过敏", "她對甚麼過敏"),
        ("買了 MacBook 電腦", "电脑"),
        ("买了一台电脑", "電腦"),
        ("頭髮很長", "头发"),
        ("頭髮", "髮"),
        ("瞭解圖書館的規則", "了解图书馆"),
    ],
)
def test_either_script_finds_the_other(document: str, query: str) -> None:
    tokenizer = get_ranking("default").tokenizer
    shelf: Shelf[str] = Shelf(tokenizer, None, text=lambda text: (text, ""))
    shelf.upsert("a", document, None)
    shelf.upsert("b", "something else", None)
    assert shelf.lexical(tokenizer.query(query))[0] > 0


def test_near_duplicates_are_recognised_across_scripts() -> None:
    token_set = get_ranking("default").tokenizer.token_set
    assert token_set("她養了一隻貓，還買了電腦") == token_set(
        "她养了一只猫，还买了电脑"
    )


def test_the_reference_ranking_folds_nothing() -> None:
    reference = get_ranking("reference").tokenizer
    tokens = reference.token_set("買電腦")
    assert tokens
    assert tokens.isdisjoint(reference.token_set("买电脑"))


def test_the_table_is_read_with_the_first_han_text() -> None:
    script = (
        "from langchain_agentmemory.search import simplified\n"
        "from langchain_agentmemory.search.ranking import get_ranking\n"
        "tokenizer = get_ranking('default').tokenizer\n"
        "tokenizer.document('only English, кириллица and コーヒー', '')\n"
        "assert simplified._table.cache_info().currsize == 0, 'read too early'\n"
        "tokenizer.document('電腦', '')\n"
        "assert simplified._table.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
