"""Texts by which an embedder is measured: statements, and the same in other words.

Cosines of unrelated texts lie around 0.1 under one embedder and around 0.75 under
another. What a cosine means is found out by embedding these: a statement and its twin
are about the same thing with hardly a word in common, and no two statements are about
the same thing. The Chinese lines say what the English lines of the same place say, so
that a question in one language about a memory in the other can be measured, too.

A text that is changed changes what stored calibrations mean: raise `VERSION` then.
"""

from typing import Final, NamedTuple

VERSION: Final = 1
"""The edition of these texts: calibrations by another one are made anew."""


class Probe(NamedTuple):
    """One thing, said twice in each language.

    Attributes:
        english: A statement, as it is remembered.
        english_twin: The same, or a question about it, in other words.
        chinese: The statement in Chinese.
        chinese_twin: The twin in Chinese.
    """

    english: str
    english_twin: str
    chinese: str
    chinese_twin: str


PROBES: Final = (
    Probe(
        "My nephew collects stamps from Africa.",
        "What does my sister's son gather as a pastime?",
        "我外甥在收集非洲邮票。",
        "姐姐的儿子有什么收藏？",
    ),
    Probe(
        "The basement was flooded after the storm.",
        "Heavy rain left water standing in our cellar.",
        "暴雨过后地下室进水了。",
        "那场大雨把我们家地窖淹了。",
    ),
    Probe(
        "I became a vegetarian five years ago.",
        "Do I eat meat?",
        "我五年前开始吃素。",
        "我还吃肉吗？",
    ),
    Probe(
        "Our software release slipped to March.",
        "When will the new version of the program ship?",
        "软件的发布推迟到了三月。",
        "程序的新版本什么时候上线？",
    ),
    Probe(
        "She is learning to sail on the lake.",
        "She takes lessons in steering a boat.",
        "她在湖上学帆船。",
        "她报了驾船的课程。",
    ),
    Probe(
        "He lent me his drill for the bookcase.",
        "Whose tool did I borrow to put up the shelves?",
        "为了装书柜，他把电钻借给了我。",
        "我打孔钉架子用的是谁的工具？",
    ),
    Probe(
        "My hearing has got worse since the concert.",
        "My ears have been damaged by loud music.",
        "那场演唱会之后我的听力变差了。",
        "音乐太响，伤了我的耳朵。",
    ),
    Probe(
        "We named the kitten Pepper.",
        "What is our young cat called?",
        "我们给小猫取名叫胡椒。",
        "家里那只猫咪叫什么？",
    ),
    Probe(
        "The bank refused to give us a mortgage.",
        "Our application for a home loan was turned down.",
        "银行没批我们的房贷。",
        "买房申请的贷款被拒了。",
    ),
    Probe(
        "Grandfather was a coal miner all his life.",
        "What did my grandad do for a living?",
        "爷爷当了一辈子煤矿工人。",
        "我祖父以前靠什么谋生？",
    ),
    Probe(
        "I grow tomatoes on the balcony.",
        "Vegetables are planted outside my window.",
        "我在阳台上种西红柿。",
        "窗外那几盆番茄是我栽的。",
    ),
    Probe(
        "The museum is closed on Mondays.",
        "On which day can one not see the exhibition?",
        "博物馆每周一闭馆。",
        "哪天看不了展览？",
    ),
    Probe(
        "I gave up smoking when my son was born.",
        "Becoming a father made me stop using cigarettes.",
        "儿子出生的时候我戒了烟。",
        "当了爸爸以后我就不碰香烟了。",
    ),
    Probe(
        "They are getting divorced.",
        "Their marriage is over.",
        "他们正在办离婚。",
        "那对夫妻过不下去了，要分开。",
    ),
    Probe(
        "My parcel was delivered to the wrong address.",
        "The package ended up at someone else's house.",
        "我的包裹送错了地址。",
        "快递被送到别人家去了。",
    ),
    Probe(
        "I want to climb Kilimanjaro before I turn forty.",
        "Which mountain do I dream of going up?",
        "四十岁之前我想登上乞力马扎罗山。",
        "我梦想爬哪座高峰？",
    ),
)
"""Sixteen things of everyday life, none of them near another."""
