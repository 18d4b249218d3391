"""A memory may state the numbers of its source, in other dress, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.extraction.grounding import (
    grounded,
    numbers,
    numeric_tokens,
)

CURRENCIES = st.sampled_from(["", "$", "€", "£", "¥"])
SIGNS = st.sampled_from(["", "+", "-"])
FRAMES = st.sampled_from(
    ["The study had {} participants.", "It was {} in all", "一共有{}名参与者。", "{}"]
)


@pytest.mark.parametrize(
    ("source", "memory"),
    [
        ("$1,250.00", "$1250"),
        ("20 €", "€20"),
        ("12％", "12%"),
        ("12 %", "12%"),
        ("−7 °C", "-7 °C"),
        ("1,234,567", "1234567"),
        ("3.50", "3.5"),
        ("3.0", "3"),
        ("1–2 weeks, 2026-09-14", "2026-09-14"),
        ("1. Oak\n2. Elm has 7 rings", "1. Elm has 7 rings"),
        ("研究有38名参与者。", "该研究共有 38 名参与者"),
        ("票价￥20,共3张", "3张"),
    ],
)
def test_other_dress_is_accepted(source, memory):
    assert grounded(memory, source)


@pytest.mark.parametrize(
    ("source", "memory"),
    [
        ("7", "-7"),
        ("-7", "7"),
        ("12", "12%"),
        ("$5", "5"),
        ("5", "$5"),
        ("1.2.0", "1.2"),
        ("1.2.10", "1.2.1"),
        ("5,50", "5.50"),
        ("1,25", "125"),
        ("１７ rooms", "17 rooms"),
        ("1. Oak\n2. Elm", "There are 2 trees"),
        ("007", "7"),
        ("研究有38名参与者。", "研究有39名参与者。"),
        ("十七", "17"),
    ],
)
def test_other_numbers_are_not(source, memory):
    assert not grounded(memory, source)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("6.4 and 6.40", {"6.4", "6.40"}),
        ("15 or 15%", {"15", "15%"}),
        ("大约１，２００人，百分之３％", {"１，２００", "３％"}),
        ("٣٫٥ and १२", {"٣٫٥", "१२"}),
        ("End of 7.", {"7"}),
        ("3..4", {"3", "4"}),
        ("1. Oak\n  22) Elm 5", {"5"}),
        ("1.Oak", {"1"}),
    ],
)
def test_tokens_are_compared_as_written(text, tokens):
    assert numeric_tokens(text) == tokens


@given(frame=FRAMES, value=st.integers(0, 10**9), currency=CURRENCIES, sign=SIGNS)
def test_what_was_said_is_grounded(frame, value, currency, sign):
    source = frame.format(f"{sign}{currency}{value}")

    assert grounded(source, source)


NUMBERS = st.tuples(
    SIGNS, CURRENCIES, st.integers(0, 10**9).map(str), st.sampled_from(["", "%"])
)


@given(frame=FRAMES, said=NUMBERS, written=NUMBERS)
def test_a_number_that_changed_is_never_accepted(frame, said, written):
    source, memory = frame.format("".join(said)), frame.format("".join(written))

    assert grounded(memory, source) is (said == written)


@given(
    value=st.integers(0, 10**12),
    zeros=st.integers(0, 4),
    currency=st.sampled_from("$€£¥"),
    gap=st.sampled_from(["", " ", "\t"]),
    behind=st.booleans(),
)
def test_commas_zeros_and_places_of_symbols_do_not_matter(
    value, zeros, currency, gap, behind
):
    said = f"{value:,}" + ("." + "0" * zeros if zeros else "")
    said = f"{said}{gap}{currency}" if behind else f"{currency}{gap}{said}"

    assert grounded(f"It is {currency}{value}", f"It is {said}")


@given(st.text(alphabet="0123456789.,+-−$€ \t%％\n)年x", max_size=60))
def test_any_text_is_grounded_in_itself(text):
    assert grounded(text, text)
    assert all(number.value for number in numbers(text))
