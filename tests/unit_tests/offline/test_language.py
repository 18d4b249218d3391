"""Languages, sentences and content words."""

import pytest

from langchain_agentmemory.offline.language import (
    content_terms,
    coverage,
    language_of,
    sentences,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [("Hello", "en"), ("你好", "zh"), ("我用 Python", "zh"), ("Grüße", "en")],
)
def test_one_chinese_character_makes_a_text_chinese(text, language):
    assert language_of(text) == language


def test_a_text_without_letters_is_in_the_language_before_it():
    assert language_of("42?", "zh") == "zh"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm Anna, and I live in Rome.", ["I'm Anna", "I live in Rome."]),
        ("I like tea but I hate coffee", ["I like tea", "I hate coffee"]),
        ("Dr. Smith is my doctor. He is nice.", 2),
        ("I pay 3.50 for tea.", ["I pay 3.50 for tea."]),
        ("If it rains, I stay at home.", ["If it rains, I stay at home."]),
        ("I'm Sarah, a nurse from Boston", ["I'm Sarah", "I'm a nurse from Boston"]),
        (
            "我叫王芳，是一名护士，有两个孩子",
            ["我叫王芳", "我是一名护士", "我有两个孩子"],
        ),
        ("我儿子叫小宝，女儿叫小贝", ["我儿子叫小宝", "我女儿叫小贝"]),
        ("Tom and I went home", ["Tom and I went home"]),
        ("我叫小明，住在北京，喜欢喝茶。", ["我叫小明", "我住在北京", "我喜欢喝茶。"]),
        ("昨天我去了北京，见了老朋友。", ["昨天我去了北京，见了老朋友。"]),
        ("我叫小明。我住在北京！", ["我叫小明。", "我住在北京！"]),
        ("不是上海，是北京", ["不是上海，是北京"]),
        ("  ", []),
    ],
)
def test_messages_are_cut_into_statements(text, expected):
    found = sentences(text)
    assert (len(found) if isinstance(expected, int) else found) == expected


@pytest.mark.parametrize(
    ("question", "memory", "covered"),
    [
        ("When did I visit the museums?", "I visited a museum", True),
        ("What is my favourite colour?", "My favorite color is blue", True),
        ("What is my favourite food?", "My favorite color is blue", False),
        ("法国的首都是哪里？", "我住在北京", False),
        ("我什么时候去的故宫？", "我昨天去了故宫", True),
    ],
)
def test_a_memory_covers_a_question_that_it_says_every_word_of(
    question, memory, covered
):
    assert (coverage(content_terms(question), memory) >= 0.99) is covered


def test_words_that_only_ask_are_never_covered():
    assert coverage(content_terms("What is it?"), "It is what it is") == 0
