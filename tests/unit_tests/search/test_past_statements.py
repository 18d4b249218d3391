"""Statements that say themselves that they are past, and what only looks so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search.cues import (
    PAST_CHARACTERS,
    PAST_WORDS,
    may_be_told_as_past,
)
from langchain_agentmemory.search.past_statements import say_the_same, told_as_past

PAST = """
I used to live in Boston
I used to live in Boston.
Ann used to work at Google before the baby
I never used to like olives
I didn't use to like olives
Ann formerly worked at Google
Ann previously lived in Lisbon
I originally studied physics
As a child I lived in Riga
When I was a kid I had a parrot
My previous address was 5 Elm Street
My old phone number was 555 0199
Ann once owned a bakery
In the past I drank coffee
我以前住在上海静安区
我以前住在上海静安区。那里很热闹。
我之前在华为工作
她曾经在华为工作
用戶以前對花生過敏
我從前喜歡喝咖啡
我小时候住在北京
我原来在腾讯上班
我原来的手机号是13800138000
小红曾住在苏州
我上一份工作是会计
搬到杭州以前我住在上海
当初我们住在郊区
我过去常常熬夜
旧地址是静安区
毕业之前我住在宿舍
我前任老板是王总
我上家公司在浦东
Ann formerly worked at Intel
We previously lived in Rome
My old phone number was 555
My wife and I used to live in Riga
My dad's sister used to smoke
I was previously a nurse
My flight was originally on May 5
I drank coffee in the past
I lived in Rome previously
When I was younger, I smoked
My first car was a Fiat
I used to live and work in Boston
There used to be a bakery here
用户以前住在上海
我妈以前是老师
王明以前在华为工作
我的狗以前很胖
Ann以前住在上海
我原来用安卓手机
小时候我养过狗
我以前是老师
以前我住在上海
我以前的老板是王总
User: I used to live in Boston
In the past I didn't eat meat
My password used to be hunter2
My favourite food was previously sushi
Years ago I used to smoke
我最喜欢的颜色以前是蓝色
我以前的公司在浦东
张三以前住在上海
我以前不吃辣
"""
NOT_PAST = """
I live in Denver
I moved to Denver
I am used to the noise
I got used to living in Boston
I'm used to getting up early
She's used to it
I will get used to Denver
I am not used to spicy food
The knife is used to cut bread
I run once a week
At once she knew
I no longer live in Boston
I don't smoke any more
I used to live in Boston but now I live in Denver
I used to live in Boston, and moved to Denver
Did you use to live in Boston?
Where did I use to live?
In the past few weeks I ran a lot
I have a dog. I used to have a cat.
我搬到杭州了，住在滨江区
我现在住在杭州
我以前住在上海，现在住在杭州
我以前住在上海，后来搬到杭州
我不再抽烟了
我睡觉以前喝牛奶
我三天以前到的
我以前住在哪里？
原来如此
她走过去了
我上个月去了北京
我过去三年在学法语
我喜欢早起
我在前台工作
我买菜之前列清单
我吃饭以前洗手
他上任三年了
我出门之前要锁门
我有以上个人爱好
I am originally from Porto
I work as a student assistant
我的老师住在旧金山
My manager is Tom, who previously worked at Intel
My manager is Tom who formerly worked at Intel
My car is the Audi that my dad used to own
I live where my uncle used to live
Ann previously lived in Boston and lives in Berlin
I previously lived in Boston and work in Berlin
I used to live in Boston. I live in Berlin.
I work at Meta, formerly Facebook
The password used to log in to the server is hunter2
Password used to log in: hunter2
My car used to get to work is an Audi
My mum's used to spicy food
It's often used to cut bread
I drink tea at first light
At first light we drank tea
Unlike in the past I drink tea
I take ibuprofen, as I did in the past
I used to live in Boston again
I once again lived in Boston
I live in Boston again, as previously
My first name was always Bob
My first language was Latvian
My old friend was at the party
Ann originally comes from Rome
My house was originally built in 1920
I previously said that I live in Rome
I moved back to my old flat, which was cheap
My doctor is the one I had as a child
The desk I bought was previously Ann's
我的经理是曾在华为工作的王先生
我住回从前的老房子
我又住在以前的房子
我的票从前天改到五月九日
从前门进来
用户从前门进来
从前台拿
钥匙从前台拿
我上最初级的课程
最初级的课程
我们以前端开发为主
明天我过去做饭
我过去帮忙
我过去有事
曾经理负责
由曾经理负责
我以前住的房子是红色的
我以前在华为工作的同事是王明
我睡觉之前喝牛奶
上班之前喝咖啡
我和以前一样住在上海
我像以前一样喝咖啡
我以前住上海，又住上海了
她原来是老师
老房子在乡下
我像小时候一样爱吃糖
他是我以前的老板
I was born in the house that my dad owned when he was a boy
My new boss previously worked at Intel
My current car was previously Ann's
As a child psychologist I work with kids
Formerly Facebook, Meta is my employer
I used to drink coffee, I drink tea
我的新老板以前在华为工作
王总以前在华为工作，是我老板
我从前任手里买了房
我从前年开始住在上海
我以前任的名义签字
我老公司机是小王
我过去总部开会
我过去常州出差
我曾用名叫张伟
我小时候开始就怕狗
我以前也喜欢喝茶
我以前有的时候喝茶
我搬家之前有很多事要做
任务之前用一下
周五之前住酒店
高三以前住宿舍
"""


@pytest.mark.parametrize("text", PAST.strip().splitlines())
def test_what_says_that_it_is_past(text):
    assert told_as_past(text)
    assert may_be_told_as_past(text)


@given(
    st.lists(
        st.sampled_from(sorted(PAST_WORDS | PAST_CHARACTERS))
        | st.sampled_from(
            "my I was at in to as a when the back had 我 住 去 时 以 之 一".split()
        )
        | st.text(max_size=2),
        max_size=8,
    ),
    st.sampled_from(("", " ")),
)
def test_nothing_that_says_so_is_missed(parts, between):
    text = between.join(parts)
    assert may_be_told_as_past(text) or not told_as_past(text)


@pytest.mark.parametrize("text", NOT_PAST.strip().splitlines())
def test_what_does_not_say_so(text):
    assert not told_as_past(text)


def test_long_texts_say_more_than_one_thing():
    assert not told_as_past("I used to live in Boston " + "and I like tea " * 20)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I used to smoke", "I smoke five a day", True),
        ("我以前抽烟", "我抽烟", True),
        ("I used to live in Boston", "I live in Denver", False),
        ("我以前住在上海静安区", "我搬到杭州了，住在滨江区", False),
    ],
)
def test_what_says_the_same_but_for_the_time(one, other, same):
    assert say_the_same(one, other) is same
    assert say_the_same(other, one) is same
