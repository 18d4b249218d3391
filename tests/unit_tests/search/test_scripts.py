"""Scripts follow the Unicode property; folding is one character to one character."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.scripts import (
    CJK_RUN,
    HAN,
    cjk_grams,
    is_cjk,
    latin_words,
    lower,
    phrase_text,
    simple_lower,
)

regex = pytest.importorskip("regex")

_ASSIGNED = "".join(
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in {"Cn", "Cs", "Co"}
)


def test_han_is_the_unicode_script() -> None:
    expected = set(regex.findall(r"\p{Script=Han}", _ASSIGNED))
    assert set(HAN.findall(_ASSIGNED)) == expected


def test_cjk_is_han_hiragana_katakana_and_hangul() -> None:
    scripts = ("Han", "Hiragana", "Katakana", "Hangul")
    pattern = "[" + "".join(rf"\p{{Script={name}}}" for name in scripts) + "]"
    assert {c for run in CJK_RUN.findall(_ASSIGNED) for c in run} == set(
        regex.findall(pattern, _ASSIGNED)
    )


def test_it_is_the_property_and_not_the_block() -> None:
    assert [is_cjk(c) for c in "\u3005\u3007\u30fc\u3105"] == [True, True, False, False]


def test_simple_lower_case_never_changes_the_length() -> None:
    assert all(len(simple_lower(character)) == 1 for character in _ASSIGNED)
    assert lower("İΣ ΑΣ") == "iσ ας".replace("ς", "σ")


@given(st.text())
def test_folding_fills_its_tables_the_same_way_each_time(text: str) -> None:
    assert lower(text) == "".join(map(simple_lower, text))
    assert phrase_text(text) == phrase_text(text)
    assert latin_words(text) == [w for w in latin_words(text) if w and not is_cjk(w)]


def test_phrase_text_keeps_letters_digits_and_cjk() -> None:
    assert phrase_text("  Ab-c½_9 天气。〇x ") == "ab c 9 天气 〇x"


def test_grams_stay_within_a_run() -> None:
    assert cjk_grams("海边x小屋旁", 2) == ["海边", "小屋", "屋旁"]
