"""Questions that ask for what holds now, or for what held before."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.past import asks_about

PAST = """
Where did I live before I moved to Berlin?
What was my old address?
What did I use to eat for breakfast?
Which phone did I have before this one?
What was my job before I switched to design?
What was my original budget for the kitchen?
Where did I work previously?
How much did I weigh at the start?
What time did I used to go to the gym?
How many restaurants had I tried when I first told you about it?
What was my personal best before the latest one?
What car did I drive before the Tesla?
What was my favourite tea back then?
Which editor did I use before switching to Neovim?
What was my phone number before?
Which company was I formerly employed by?
In the past, where did I go swimming?
What did I think was wrong at first?
Which plan was I on before the upgrade?
What was the rent before it was raised?
How much was my salary until recently?
What do I no longer eat?
What was the deadline before it was postponed?
What was my earlier estimate for the sculpture?
What did I do for a living before becoming a teacher?
Which city did I move from?
What was my previous status before I got the current one?
Which status did I hold before I reached Gold?
What exercise did I do before my knee acted up?
How many times had I worn them the first time I counted?
How many issues had I read back in April?
What was our record earlier in the season?
Who was my dentist until last year?
When I still worked at Acme, who was my boss?
Before I finished the book, how many pages had I read?
我以前住在哪里？
我手术之前周末做什么运动？
我还住在北京的时候开什么车？
我第一次提到的时候读了几本？
我之前的手机号是多少？
我原来在哪家公司上班？
我搬家之前住在哪儿？
换工作前我的薪水是多少？
我最初的目标是什么？
一开始我打算去哪里？
我曾经养过什么宠物？
过去我常去哪家健身房？
当初我选的是哪个专业？
我的旧地址是什么？
我上一份工作是什么？
从前我喜欢喝什么茶？
我早先的计划是什么？
我原先的预算是多少？
我起初以为是什么病？
小王之前在哪个部门？
还没搬到上海的时候我住哪里？
我以前住在哪裡？
我原來的手機號碼是多少？
換工作之前我在哪裡上班？
""".strip().splitlines()

NEITHER = """
Earlier this week I bought a lamp, which one?
What do I read before bed?
How do I get past the station?
Do I live on First Street?
How old is my daughter?
What did a former colleague tell me?
What is the first thing I do in the morning?
Which knife is used to cut bread?
Am I used to the cold?
How do I get used to the new job?
What did you tell me in our previous chat?
How many hours have I spent in the past two weeks?
What happened at the beginning of March?
How many days before the trip did I book the hotel?
Is Anna my old friend?
How much earlier do I wake up on Fridays?
What medicine must I take before meals?
When did I start learning Spanish?
How do I get back in shape?
What did I cook for the first time in May?
How long ago was my birthday?
我睡觉之前喜欢做什么？
merge 之前要几个 LGTM？
他走过去说了什么？
三天之前我买了什么？
我在旧金山住了多久？
五月八日之前要交什么？
过去三个月我跑了多少公里？
饭前要吃什么药？
我上个月去了哪里？
我一开始下雨就头疼吗？
提前几天订票？
我在京都旅行之前订了哪家酒店？
这本书的作者是谁？
怎么去离我最近的医院？
""".strip().splitlines()

PRESENT = """
Where do I live now?
What is my current job?
Am I still vegetarian?
Which phone do I use these days?
Where do I currently keep my old sneakers?
我现在住在哪里？
我目前的工作是什么？
如今我用什么手机？
我最近在看什么书？
我現在的地址是什麼？
""".strip().splitlines()

BOTH = """
Do I run more than I used to?
How has my diet changed?
Is my rent higher than before?
我的作息和以前相比有什么变化？
我现在比以前瘦了吗？
我的手机从什么换成了什么？
""".strip().splitlines()


@pytest.mark.parametrize("question", PAST)
def test_a_question_for_what_held_before_is_recognised(question):
    assert asks_about(question) == "past"


@pytest.mark.parametrize("question", NEITHER)
def test_the_same_words_in_other_uses_say_nothing_about_versions(question):
    assert asks_about(question) == "any"


@pytest.mark.parametrize("question", PRESENT)
def test_a_question_for_what_holds_now_is_recognised(question):
    assert asks_about(question) == "present"


@pytest.mark.parametrize("question", BOTH)
def test_a_question_for_the_change_wants_both_versions(question):
    assert asks_about(question) == "both"


def test_neither_case_nor_space_nor_curly_quotes_matter():
    assert asks_about("  WHERE did I   USED\tTO live ") == "past"
    assert asks_about("What don’t I eat anymore?") == "past"


@given(
    st.text(max_size=600)
    | st.text(alphabet="之以前过去换搬从到 usedtobefor?'", max_size=600)
)
def test_no_text_is_refused(text):
    assert asks_about(text) in {"present", "past", "both", "any"}


@pytest.mark.parametrize(
    "piece",
    ["what did live ", "was earlier ", "before i ", "used ", "之前", "从换", "搬"],
)
def test_a_text_that_is_made_to_be_slow_is_not(piece):
    started = perf_counter()
    asks_about(piece * 10_000)
    assert perf_counter() - started < 0.1
