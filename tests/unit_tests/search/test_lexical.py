"""The lexical score over plain texts, and its explanation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.lexical import (
    explain_score,
    fallback_score,
    plain_scores,
    reference_scores,
    text_probe,
)
from langchain_agentmemory.search.ranking import get_ranking
from langchain_agentmemory.search.shelf import Shelf

DOCUMENTS = [
    ("red painted boat", "sea"),
    ("boat red", "harbour"),
    ("喜欢喝龙井茶", "爱好"),
    ("extra bold", ""),
]


@pytest.mark.parametrize("name", ["default", "reference"])
@pytest.mark.parametrize("query", ["red boat", "sea boat", "龙井茶", "green", "a b"])
def test_an_explanation_adds_up_to_the_score(name: str, query: str) -> None:
    tokenizer = get_ranking(name).tokenizer
    shelf: Shelf[tuple[str, str]] = Shelf(tokenizer, None, text=lambda texts: texts)
    shelf.load((str(n), texts, None, None, None) for n, texts in enumerate(DOCUMENTS))
    asked = tokenizer.query(query)
    statistics = shelf.statistics(asked)
    for document, score in zip(DOCUMENTS, shelf.lexical(asked).tolist(), strict=True):
        parts = explain_score(asked, statistics, document, tokenizer)
        assert parts["lexical"] == pytest.approx(score, abs=1e-6)
        assert sorted(parts["matched"] + parts["missing"]) == sorted(asked.words)


def test_an_explanation_names_the_words() -> None:
    tokenizer = get_ranking("default").tokenizer
    shelf: Shelf[tuple[str, str]] = Shelf(tokenizer, None, text=lambda texts: texts)
    shelf.upsert("a", DOCUMENTS[0], None)
    asked = tokenizer.query("Which boats are painted green?")
    parts = explain_score(asked, shelf.statistics(asked), DOCUMENTS[0], tokenizer)
    assert parts["matched"] == ["boat", "paint"]
    assert parts["missing"] == ["green"]


def test_a_blank_query_scores_nothing() -> None:
    assert reference_scores(" \t", DOCUMENTS) == [0.0] * 4
    tokenizer = get_ranking("default").tokenizer
    assert plain_scores(tokenizer.query(""), DOCUMENTS, tokenizer) == [0.0] * 4


def test_no_documents_have_no_scores() -> None:
    assert reference_scores("red", []) == []


def test_plain_substrings_are_found_where_no_word_matches() -> None:
    assert reference_scores("a b", DOCUMENTS)[3] == 0.35
    assert reference_scores("C++", [("Ported", "C++ dev"), ("c++ too", "")]) == [
        0.2275,
        0.35,
    ]


_pieces = st.lists(
    st.sampled_from(
        ["ab", "a", "b", "cd", "茶", "天气", "İ", "Σ", "!", " ", "+", "ー"]
    ),
    max_size=6,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(query=_pieces, content=_pieces, topics=_pieces)
def test_the_cheap_test_never_hides_a_substring(
    query: str, content: str, topics: str
) -> None:
    for name in ("default", "reference"):
        asked = get_ranking(name).tokenizer.query(query)
        if fallback_score(asked, content, topics):
            assert text_probe(asked)((content, topics))
