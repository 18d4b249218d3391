"""Requests to forget are recognised, and what they mean is not kept."""

import pytest

from langchain_agentmemory.extraction.forget_requests import (
    Utterance,
    forget_request,
    taken_back,
)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("forget my address", {"address"}),
        ("Please forget what I said about my address.", {"address"}),
        ("Can you forget that I live in Porto?", {"live", "porto"}),
        ("I want you to forget about Bob", {"bob"}),
        ("Delete my phone number from your memory", {"number", "phone"}),
        ("do not store my salary", {"salari"}),
        ("Don\u2019t remember my weight", {"weigh"}),
        ("忘掉我的地址", {"地址"}),
        ("请把我的地址删掉。", {"地址"}),
        ("把我的生日忘掉吧", {"生日"}),
        ("不要记住我的工资", {"工资"}),
        ("你能忘记我的电话号码吗？", {"电话", "话号", "号码"}),
        ("我想让你忘记我的地址", {"地址"}),
    ],
)
def test_what_is_named_is_found(sentence, words):
    request = forget_request(sentence)

    assert request.words == words
    assert not request.everything


@pytest.mark.parametrize(
    "sentence",
    [
        "Forget everything.",
        "please delete everything you know about me",
        "Could you please erase all my memories",
        "忘掉一切",
        "删除关于我的所有记忆",
        "请清空记忆",
    ],
)
def test_everything_can_be_meant(sentence):
    request = forget_request(sentence)

    assert (request.words, request.everything) == (frozenset(), True)


@pytest.mark.parametrize(
    "sentence", ["Forget it.", "Never mind, forget that.", "算了，忘了它吧", "别记了"]
)
def test_what_was_said_right_before_can_be_meant(sentence):
    request = forget_request(sentence)

    assert (request.words, request.everything) == (frozenset(), False)


@pytest.mark.parametrize(
    "sentence",
    [
        "I forgot my keys",
        "Don't forget my birthday",
        "Never forget that I love you",
        "I don't remember",
        "I often forget to call my mother",
        "Delete the second paragraph",
        "Clear the table",
        "我忘了带钥匙",
        "我把钥匙忘了",
        "忘了带伞",
        "别忘了我的生日",
        "不要忘记带伞",
        "删除第二段",
        "我记得你",
    ],
)
def test_other_sentences_are_no_requests(sentence):
    assert forget_request(sentence) is None


def dropped(*said):
    sides = ("user", "assistant")
    utterances = [Utterance(sides[i % 2], s) for i, s in enumerate(said)]
    return [sorted(sentences) for sentences in taken_back(utterances)]


def test_what_was_named_goes_from_everything_before():
    assert dropped(
        ["My address is 5 Elm Street.", "I like tea."],
        ["5 Elm Street is a nice address."],
        ["My new addresses are secret.", "Forget my address.", "My address is 7."],
    ) == [
        ["My address is 5 Elm Street."],
        ["5 Elm Street is a nice address."],
        ["Forget my address.", "My new addresses are secret."],
    ]
    assert dropped(["我的地址是榆树街5号。", "我喜欢茶。"], [], ["忘掉我的地址"]) == [
        ["我的地址是榆树街5号。"],
        [],
        ["忘掉我的地址"],
    ]


def test_everything_before_goes_and_what_follows_stays():
    assert dropped(["a b", "c"], ["d"], ["e", "Forget everything.", "f"], ["g"]) == [
        ["a b", "c"],
        ["d"],
        ["Forget everything.", "e"],
        [],
    ]


def test_forget_it_means_the_message_or_else_the_one_before():
    assert dropped(["a"], ["b"], ["c", "Forget it.", "d"]) == [
        [],
        [],
        ["Forget it.", "c"],
    ]
    assert dropped(["x"], ["y"], ["a"], ["b"], ["Forget it."]) == [
        [],
        [],
        ["a"],
        ["b"],
        ["Forget it."],
    ]
    assert dropped(["Forget it."]) == [["Forget it."]]


def test_the_assistant_can_make_nothing_forgotten():
    assert dropped(["My address is 5."], ["Forget everything."], ["I like tea"]) == [
        *([], [], [])
    ]


def test_words_are_compared_as_words():
    assert dropped(["We had a party."], [], ["Forget my art."])[0] == []
