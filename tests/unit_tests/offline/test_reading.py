"""What a sentence is read as, on Friday, 10 May 2024."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.offline.reading import read_message
from langchain_agentmemory.offline.recall import Known, recall

TODAY = date(2024, 5, 10)

STATEMENTS = [
    ("My name is Anna.", "name", "fact", None),
    ("I'm Anna", "name", "fact", None),
    ("Please call me Annie", "name", "fact", None),
    ("I live in Paris", "home", "fact", None),
    ("I'm from Norway", "origin", "fact", None),
    ("I work at a bank", "work", "fact", None),
    ("I'm a software engineer", "work", "fact", None),
    ("I am 30 years old", "age", "fact", None),
    ("My birthday is on May 7", "birthday", "fact", None),
    ("I was born on 3 May 1990", "birthday", "fact", "1990-05-03"),
    ("I'm allergic to peanuts.", "diet", "fact", None),
    ("I don't eat meat", "diet", "fact", None),
    ("I like green tea", "likes", "fact", None),
    ("I prefer window seats", "likes", "fact", None),
    ("I hate coffee", "dislikes", "fact", None),
    ("My dog is called Rex", "my:dog", "fact", None),
    ("My favourite colour is blue", "my:favorite color", "fact", None),
    ("My sister lives in Rome", None, "fact", None),
    ("I have two cats", None, "fact", None),
    ("I speak French", None, "fact", None),
    ("I'm German", None, "fact", None),
    ("Dr. Smith is my doctor", None, "fact", None),
    ("Sushi is my favorite food", "my:favorite food", "fact", None),
    ("Remember to buy milk", None, "fact", None),
    ("I visited the museum yesterday with Tom", None, "episode", "2024-05-09"),
    ("Yesterday I went to the dentist", None, "episode", "2024-05-09"),
    ("In 2019 we bought a house", None, "episode", "2019"),
    ("I bought a bike", None, "episode", None),
    ("Tomorrow I'm flying to Rome", None, "episode", "2024-05-11"),
    ("Remember that my dog is called Rex", "my:dog", "fact", None),
    ("remember: the wifi code is 1234", None, "fact", None),
    ("Don't forget that I hate coffee", "dislikes", "fact", None),
    ("Can you remember that I like jazz?", "likes", "fact", None),
    ("我叫小明", "name", "fact", None),
    ("我的名字是小红", "name", "fact", None),
    ("我是李雷", "name", "fact", None),
    ("我住在北京", "home", "fact", None),
    ("我来自四川", "origin", "fact", None),
    ("我是广东人", "origin", "fact", None),
    ("我在腾讯工作", "work", "fact", None),
    ("我是一名老师", "work", "fact", None),
    ("我今年30岁", "age", "fact", None),
    ("我的生日是5月7日", "birthday", "fact", None),
    ("我对花生过敏", "diet", "fact", None),
    ("我喜欢喝茶", "likes", "fact", None),
    ("我讨厌咖啡", "dislikes", "fact", None),
    ("我不喜欢下雨", "dislikes", "fact", None),
    ("我的狗叫旺财", "my:狗", "fact", None),
    ("我最喜欢的颜色是蓝色", "my:最喜欢的颜色", "fact", None),
    ("我有一只猫", None, "fact", None),
    ("我妈妈是医生", "my:妈妈", "fact", None),
    ("我和老公李强住在深圳", "home", "fact", None),
    ("我1988年出生", "birthday", "fact", "1988"),
    ("我女儿叫小贝", "my:女儿", "fact", None),
    ("我昨天去了博物馆", None, "episode", "2024-05-09"),
    ("2024年5月3日我开始学钢琴", None, "episode", "2024-05-03"),
    ("我明天要去看牙医", None, "episode", "2024-05-11"),
    ("记住我对花生过敏", "diet", "fact", None),
    ("请记住：我的车牌是京A12345", "my:车牌", "fact", None),
    ("别忘了我喜欢爵士乐", "likes", "fact", None),
    ("帮我记一下我的猫叫咪咪", "my:猫", "fact", None),
]


@pytest.mark.parametrize(("sentence", "subject", "kind", "when"), STATEMENTS)
def test_statements_about_oneself_are_remembered(sentence, subject, kind, when):
    (act,) = read_message(sentence, TODAY)
    about = act.subject.name if act.subject else None
    assert (act.type, about, act.kind, act.event_time) == (
        "remember",
        subject,
        kind,
        when,
    )


OTHERS = [
    ("I moved to Berlin", "correct"),
    ("Actually, my name is Anne", "correct"),
    ("No, I live in Rome", "correct"),
    ("I no longer like tea", "correct"),
    ("I don't eat meat anymore", "correct"),
    ("I work at Google now", "correct"),
    ("Change my name to Bob", "correct"),
    ("我搬到上海了", "correct"),
    ("其实我叫小刚", "correct"),
    ("我不再喜欢咖啡", "correct"),
    ("不对，我住在天津", "correct"),
    ("把我的名字改成小王", "correct"),
    ("Not Paris but Berlin", "replace"),
    ("it's Berlin, not Paris", "replace"),
    ("不是上海，是北京", "replace"),
    ("Forget my name", "forget"),
    ("Please forget that I live in Paris", "forget"),
    ("Delete the memory about tea", "forget"),
    ("忘记我的名字", "forget"),
    ("把我住在北京忘掉吧", "forget"),
    ("删除关于咖啡的记忆", "forget"),
    ("Forget everything", "forget_all"),
    ("Forget everything you know about me", "forget_all"),
    ("忘掉一切", "forget_all"),
    ("Where do I live?", "ask"),
    ("what is my name", "ask"),
    ("Do you remember where I live?", "ask"),
    ("Tell me where I live", "ask"),
    ("我住在哪里", "ask"),
    ("你还记得我住在哪吗？", "ask"),
    ("记得我叫什么吗", "ask"),
    ("What's the capital of France?", "ask"),
    ("What do you know about me?", "ask_all"),
    ("What have I told you?", "ask_all"),
    ("你知道我的什么？", "ask_all"),
    ("你记得我什么", "ask_all"),
    ("Who are you?", "who"),
    ("help", "who"),
    ("你是谁？", "who"),
    ("你会做什么？", "who"),
    ("Hello", "greet"),
    ("How are you?", "greet"),
    ("你好", "greet"),
    ("Thanks!", "thanks"),
    ("谢谢", "thanks"),
    ("bye", "bye"),
    ("再见", "bye"),
    ("Write me a poem about cats", "other"),
    ("I have a question", "other"),
    ("I'm tired", "other"),
    ("Tell me a joke", "other"),
    ("ok", "ok"),
    ("好的", "ok"),
    ("cool, thanks", "thanks"),
    ("晚安", "bye"),
    ("We moved to Seattle last week", "correct"),
    ("My husband's name is Marcus, not Mark.", "replace"),
    ("我们上周搬到广州了", "correct"),
    ("If I live in Rome, I am happy", "other"),
    ("给我写首诗", "other"),
    ("我觉得不错", "other"),
    ("The sky is blue", "other"),
]


@pytest.mark.parametrize(("sentence", "type_"), OTHERS)
def test_other_sentences_are_told_apart(sentence, type_):
    assert [act.type for act in read_message(sentence, TODAY)] == [type_]


def test_a_greeting_does_not_hide_what_follows_it():
    acts = read_message("你好，我叫小红，住在杭州。", TODAY)
    assert [(act.type, act.text) for act in acts] == [
        ("greet", "你好，"),
        ("remember", "我叫小红"),
        ("remember", "我住在杭州。"),
    ]


def test_what_replaces_what_is_read_in_either_order():
    for sentence in ("not Paris but Berlin", "it's Berlin, not Paris"):
        (act,) = read_message(sentence, TODAY)
        assert (act.old, act.new) == ("Paris", "Berlin")


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    for act in read_message(text, TODAY):
        assert act.text.strip()


@pytest.mark.parametrize(
    ("question", "memory", "answers"),
    [
        ("我的狗叫什么", "我养了一只狗，叫旺财。", True),
        ("我的猫叫什么名字？", "我有一只猫，叫咪咪", True),
        ("我的猫叫什么", "我养了一只狗，叫旺财。", False),
    ],
)
def test_a_question_for_a_name_is_answered_by_what_has_the_name(
    question, memory, answers
):
    found = recall(question, None, [Known("a" * 10, memory)])
    assert bool(found.answers) is answers
