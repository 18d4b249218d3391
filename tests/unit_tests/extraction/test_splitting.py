"""Messages are cut where they can stand on their own; nothing is reworded or lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.extraction.splitting import (
    WHOLE_CHARACTERS,
    Block,
    blocks,
    pieces,
    sentences,
)


def split(text, max_characters=300, keep=lambda _: True):
    return list(pieces(text, max_characters, keep))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved. It was hard!", ["I moved.", "It was hard!"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Dr. J. K. Miller paid $3.50, e.g. for tea.", None),
        ("It was 5 p.m. when we left", None),
        ("See http://a.com/?q=1&r=2 for v1.2.3.", None),
        ("Well... I think so", ["Well...", "I think so"]),
        ("one\ntwo", ["one", "two"]),
        (
            "我叫小明。住在北京！真的吗？对",
            ["我叫小明。", "住在北京！", "真的吗？", "对"],
        ),
        ("他说“好。”然后走了。", ["他说“好。”", "然后走了。"]),
        ("太好了!我喜欢", ["太好了!", "我喜欢"]),
        ("我……不知道", None),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == ([text] if expected is None else expected)


def test_a_list_is_kept_whole_with_the_sentence_that_leads_to_it():
    text = "I'm off! My list:\n\n- tent\n  (two persons)\n- stove\n\nBye now."

    assert blocks(text) == [
        Block("I'm off!"),
        Block(
            "My list:\n- tent\n  (two persons)\n- stove",
            whole=True,
            introduction="My list:",
        ),
        Block("Bye now."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. oak\n2. elm",
        "1) oak\n\n2) elm",
        "* oak\n* elm",
        "• 橡树\n• 榆树",
        "1、橡树\n2、榆树",
        "一、橡树\n二、榆树",
        "（1）橡树\n（2）榆树",
        "我的清单：\n1、橡树",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```python\nx = 1\n\n\ny = 2\n```",
        "~~~\nx. Y. Z\n~~~",
        "```\nnever closed.\n\nreally",
        "Config:\n```\nx\n```",
    ],
)
def test_lists_tables_and_code_are_one_block(text):
    (block,) = blocks(text)

    assert (block.text, block.whole) == (text, True)


@pytest.mark.parametrize(
    "text", ["- one item only", "3. May was fine", "a | b", "5 - 3 is 2\n4 - 3 is 1"]
)
def test_what_only_looks_like_a_list_is_text(text):
    assert not any(block.whole for block in blocks(text))


def test_paragraphs_end_at_blank_lines():
    assert [b.text for b in blocks("a\nb\r\n\r\nc\n \n\nd")] == ["a\nb", "c", "d"]


def test_sentences_share_a_piece_while_there_is_room():
    text = "I moved to Porto. It is great. " + "I like it a lot here. " * 3

    assert split(text, 50) == [
        "I moved to Porto. It is great.",
        "I like it a lot here. I like it a lot here.",
        "I like it a lot here.",
    ]
    assert split("我叫小明。我住在北京。", 20) == ["我叫小明。我住在北京。"]
    assert split("One.\n\nTwo.") == ["One.", "Two."]


def test_a_long_sentence_is_cut_at_blanks_or_commas():
    assert split("aaa bbb ccc ddd", 8) == ["aaa bbb", "ccc ddd"]
    assert split("我喜欢绿茶，也喜欢红茶", 8) == ["我喜欢绿茶，", "也喜欢红茶"]
    assert split("x" * 20, 8) == ["x" * 8, "x" * 8, "x" * 4]


def test_what_is_not_kept_goes_and_the_rest_stays_in_order():
    text = "Hi. I like tea. Bye. I have a cat."

    assert split(text, keep=lambda s: s.startswith("I ")) == [
        "I like tea. I have a cat."
    ]


def test_what_follows_a_line_that_is_not_kept_is_material_for_it():
    def keep(sentence):
        return not sentence.startswith("Fix")

    assert split("Fix this:\n```\nx = 1\n```", keep=keep) == []
    assert split("My setup:\n```\nx = 1\n```", keep=keep) != []


def test_a_very_long_list_is_cut_between_lines():
    lines = [f"- item {number} of many" for number in range(300)]
    found = split("\n".join(lines))

    assert len(found) > 1
    assert all(len(piece) <= WHOLE_CHARACTERS for piece in found)
    assert "\n".join(found).split("\n") == lines


TEXTS = st.text(
    alphabet=st.sampled_from('ab我好 .。!？?,，:：\n-*1)、|`"”…'), max_size=120
)


@given(TEXTS, st.integers(20, 60))
def test_nothing_is_lost_or_made_up(text, max_characters):
    found = split(text, max_characters)

    kept = "".join("".join(found).split())
    assert kept == "".join(text.split())
    assert all(piece == piece.strip() and piece for piece in found)


@given(TEXTS.filter(lambda text: not set("-*)、|`") & set(text)), st.integers(20, 60))
def test_pieces_of_sentences_are_not_too_long(text, max_characters):
    assert all(len(p) <= max_characters for p in split(text, max_characters))
