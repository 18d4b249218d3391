"""What is worth keeping: statements; not small talk, questions and commands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.extraction.small_talk import is_small_talk
from langchain_agentmemory.extraction.worth import is_question, worth_keeping

SMALL_TALK = """
hi
Hi there!
Hello again, my friend
Thanks a lot!
Thank you so much for your advice.
OK
Okay, got it.
Sounds good!
That's great to hear!
You're right.
I see.
Makes sense
bye, see you later
Have a nice day!
No, thanks.
👍 !!
42
好的
好的，谢谢你的建议
好的，我明白了。
嗯嗯
你好，朋友
非常感谢你的建议，朋友！
没问题
太好了！
真的很有帮助
哈哈哈
再见
好的，我会注意的
继续
听起来很不错
早上好
""".strip().split("\n")

QUESTIONS = """
What's the weather?
what is the capital of France
Do you know any good books?
How many people live in Porto?
Any tips?
Should I take an umbrella?
Okay, what should we talk about?
Is there a train to Rome?
今天天气怎么样？
你叫什么名字
你有什么推荐的吗
最近有什么好玩的游戏吗？
我该怎么办
我想多了解一下你，你能告诉我你的名字吗？
那我们聊些什么呢
""".strip().split("\n")

COMMANDS = """
Tell me a joke.
Please translate this into French.
Can you write a poem about spring
Show me the list again
continue
I was wondering if you could recommend a book.
I'd like to know more about Rome.
I have a question.
帮我写一首诗
请翻译这段话
给我讲个笑话
推荐几本书吧
我想问一下怎么去机场
请问附近有银行
""".strip().split("\n")

REACTIONS = """
That's a lot!
Wow, that sounds delicious.
That's a fascinating concept.
Porto.
[redacted]
素食
""".strip().split("\n")

STATEMENTS = """
I like tea
Hi, I'm Susan
Hello, my name is Jason.
When I was young I lived in Rome.
Thanks to Anna I found a job.
That's my sister on the photo.
That was in 2019.
This is Anna.
Call me Bo
I don't eat meat.
Remember that I'm allergic to nuts.
Please add Elena Petrova to the attendees list.
Write a cover letter for my application at the bakery.
Have been to Lisbon twice.
你好，我叫张曼婷，很高兴认识你。
我喜欢绿茶
对花生过敏
早上我跑步
我会弹钢琴
女儿今年三岁
帮我写一封信，我要辞职
其实我最近也在练习弹吉他，但不知道怎么提高。
不过我总觉得缺点什么。
请记住我住在北京
""".strip().split("\n")

TELLING_QUESTIONS = """
I just moved to Porto, any tips?
By the way, I have two cats, do you like cats?
Since I'm vegetarian, what should I eat?
My sister is getting married in May, what could I give her?
我很喜欢旅游和看电影，你呢？
我叫小明，你叫什么？
最近感觉自己压力有点大，有没有什么好的方式能够缓解压力？
晚上打算和朋友一起去看电影，你有推荐的吗？
""".strip().split("\n")


@pytest.mark.parametrize("sentence", SMALL_TALK)
def test_small_talk_is_recognised_and_left_out(sentence):
    assert is_small_talk(sentence) or sentence == "42"
    assert not worth_keeping(sentence)
    assert not worth_keeping(sentence, "assistant")


@pytest.mark.parametrize("sentence", QUESTIONS)
def test_questions_are_recognised_and_left_out(sentence):
    assert is_question(sentence)
    assert not worth_keeping(sentence)


@pytest.mark.parametrize("sentence", COMMANDS + REACTIONS)
def test_commands_and_reactions_are_left_out(sentence):
    assert not worth_keeping(sentence)


@pytest.mark.parametrize("sentence", STATEMENTS)
def test_statements_are_kept(sentence):
    assert worth_keeping(sentence)
    assert not is_small_talk(sentence)
    assert worth_keeping(sentence.replace("'", "\u2019"))


@pytest.mark.parametrize("sentence", TELLING_QUESTIONS)
def test_questions_that_tell_something_are_kept(sentence):
    assert is_question(sentence)
    assert worth_keeping(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "There were 38 participants.",
        "Try adding salt.",
        "Write the date first.",
        "The cartoon is Nu, pogodi!",
        "该研究共有38名参与者。",
    ],
)
def test_what_the_assistant_answers_is_kept(sentence):
    assert worth_keeping(sentence, "assistant")


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me know if you need more!",
        "I hope this helps.",
        "Is there anything else?",
        "I'm sorry to hear that.",
        "希望对你有帮助！",
        "如果你还有问题，随时告诉我。",
        "你想去哪里？",
    ],
)
def test_offers_and_questions_of_the_assistant_are_not(sentence):
    assert not worth_keeping(sentence, "assistant")


@given(st.text(alphabet="哈好的再见我吗?什么你 ,.so ok hi thanks that", max_size=100))
def test_any_text_is_answered_at_once(text):
    assert worth_keeping(text) in {True, False}


@pytest.mark.parametrize(
    "question",
    [
        "what am I allergic to",
        "What colour is our car",
        "when is my flight",
        "tell me what my name is",
        "show me my notes",
        "how have I been sleeping",
        "我对什么过敏",
        "我昨天做了什么",
        "我住在哪里",
        "我叫什么名字",
        "我的猫几岁了",
        "我几点开会",
    ],
)
def test_questions_about_oneself_need_no_mark(question):
    assert not worth_keeping(question)


@pytest.mark.parametrize(
    "statement",
    [
        "What matters most to me is my family",
        "When I was young we lived in Rome",
        "What I like is jazz",
        "Remind me that I am allergic to nuts",
        "Tell me about Rome, I went there last year",
        "我不知道该住在哪里",
        "我没什么胃口",
        "我什么都吃",
        "我终于明白了妈妈为什么生气",
        "我忘了把钥匙放在哪里",
        "我喜欢爬山、游泳什么的",
    ],
)
def test_statements_with_question_words_are_kept(statement):
    assert worth_keeping(statement)


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("上周做了什么", False),
        ("昨天我干了什么", False),
        ("下周有什么安排", False),
        ("2025年5月发生了什么事", False),
        ("三年前我住哪里", False),
        ("What happened last month", False),
        ("who else came", False),
        ("上周没什么胃口", True),
        ("昨天什么都没吃", True),
        ("去年我搬到了上海", True),
        ("今天做了很多事，什么都想试试", True),
        ("What a day! I ran 10 km", True),
    ],
)
def test_a_question_for_a_time_needs_no_mark(sentence, kept):
    assert worth_keeping(sentence) is kept
