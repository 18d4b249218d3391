"""With rjieba installed the words are jieba's, to the last one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.dictionary import Word
from langchain_agentmemory.search.reference import ReferenceTokenizer
from langchain_agentmemory.search.segment import (
    Segmenter,
    load_dictionary,
    load_jieba,
    segmenter_with,
)
from langchain_agentmemory.search.simplified import simplified
from langchain_agentmemory.search.standard import DefaultTokenizer

rjieba = pytest.importorskip(
    "rjieba", reason="install the extra 'chinese' to compare its words"
)

_OURS = Path(__file__).parents[3] / "benchmarks" / "retrieval" / "ours"
_TEXTS = [
    "我喜欢在杭州喝龙井茶，周末经常打羽毛球",
    "她對花生過敏，買了一台筆記型電腦",
    "小李每周五练习书法，用C++写go1.23服务",
    "去s<常在开哦s乐很哪做心\n他A始吗a快很解？始t和t去",
    "龘靐 〇一二 鿖鿖 𠋟𠓣 卡拉OK和T恤，3.5折",
]


def _corpus() -> list[str]:
    paths = [_OURS / "memories.jsonl", _OURS / "questions.jsonl"]
    rows = [
        json.loads(line)
        for path in paths
        if path.exists()
        for line in path.read_text("utf-8").splitlines()
    ]
    return _TEXTS + [row.get("text") or row["question"] for row in rows]


@pytest.fixture(scope="module")
def cuts() -> tuple[Callable[[str], list[str]], Callable[[str], list[str]]]:
    jieba, ours = load_jieba(), load_dictionary()
    assert type(ours).__name__ == "RjiebaCut"
    return lambda text: list(jieba(text)), lambda text: list(ours(text))


@pytest.mark.parametrize("tokenizer", [DefaultTokenizer, ReferenceTokenizer])
def test_a_corpus_is_cut_alike_in_either_script(cuts, tokenizer) -> None:
    one, other = (tokenizer(Segmenter(lambda cut=cut: cut)) for cut in cuts)
    texts = [form for text in _corpus() for form in (text, simplified(text))]
    assert [text for text in texts if one.field(text) != other.field(text)] == []


@settings(deadline=None, max_examples=300)
@given(
    text=st.text(
        st.sampled_from("常在开哦快很始吗做心乐去他的和小李王张家里天中国大人")
    )
    | st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FD5))
    | st.text(st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF))
)
def test_what_is_in_no_dictionary_is_guessed_alike(cuts, text: str) -> None:
    jieba, ours = cuts
    assert ours(text) == jieba(text)


def test_a_guess_of_rjiebas_own_would_differ(cuts) -> None:
    jieba, ours = cuts
    text = "常在开哦"
    assert rjieba.Jieba().cut_for_search(text, hmm=True) != jieba(text)
    assert ours(text) == jieba(text)


def test_added_words_are_cut_by_jieba() -> None:
    segmenter = segmenter_with((Word("云栖小镇"),))
    assert "云栖小镇" in segmenter.words("住在云栖小镇")
    assert type(segmenter._cut).__name__ == "method"
