"""Cutting messages into statements, and reading when something was said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.transfer.statements import read_timestamp, split_statements


def test_sentences_of_a_short_paragraph_stay_together():
    assert split_statements("I went to Rome. It was great.") == [
        "I went to Rome. It was great."
    ]


def test_every_paragraph_is_a_statement():
    assert split_statements("I like tea.\n\n\nI hate coffee.\r\n\r\nBye") == [
        "I like tea.",
        "I hate coffee.",
        "Bye",
    ]


def test_a_long_paragraph_is_cut_at_the_ends_of_sentences():
    text = "This is a sentence of some length. " * 20
    statements = split_statements(text, max_length=100)
    assert all(s.endswith("length.") and len(s) <= 100 for s in statements)
    assert " ".join(statements) == text.strip()


def test_chinese_sentences_are_joined_without_blanks():
    text = "我今天去了博物馆。" * 20
    statements = split_statements(text, max_length=50)
    assert "".join(statements) == text
    assert all(s.endswith("。") and len(s) <= 50 for s in statements)


def test_code_is_no_statement():
    text = "Please fix this:\n```python\nx = 1\n\ny = 2\n```\nI use Python 3.12."
    assert split_statements(text) == ["Please fix this:", "I use Python 3.12."]


@given(st.text(max_size=400), st.integers(5, 50))
def test_no_statement_is_blank_or_too_long(text, max_length):
    for statement in split_statements(text, max_length):
        assert statement.strip()
        assert len(statement) <= max_length


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (1715328000, datetime(2024, 5, 10, 8, tzinfo=UTC)),
        (1715328000.5, datetime(2024, 5, 10, 8, 0, 0, 500_000, tzinfo=UTC)),
        (1715328000000, datetime(2024, 5, 10, 8, tzinfo=UTC)),
        ("1715328000", datetime(2024, 5, 10, 8, tzinfo=UTC)),
        ("2024-05-10T08:00:00Z", datetime(2024, 5, 10, 8, tzinfo=UTC)),
        ("2024-05-10", datetime(2024, 5, 10)),  # noqa: DTZ001 - naive on purpose
        (None, None),
        ("", None),
    ],
)
def test_times_are_read_in_the_usual_forms(given_, expected):
    assert read_timestamp(given_) == expected


@pytest.mark.parametrize(
    "given_", ["yesterday", [], {}, float("nan"), 1e300, "2024-13-01"]
)
def test_other_times_are_refused(given_):
    with pytest.raises(InvalidInput, match="ISO 8601"):
        read_timestamp(given_)
