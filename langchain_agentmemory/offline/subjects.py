"""What a statement or a question is about: a name, a home, a taste, "my dog".

A subject ties a question to the statements that answer it, however they are worded:
"Where do I live?" is answered by "I moved to Rome", 我叫什么 by 我的名字是小红. It
also tells whether a new statement takes the place of an older one (one has one home)
or stands beside it (one likes many things).
"""

import re
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that people say about themselves.

    Attributes:
        name: What it is called here, `"my:dog"` for what is named in the sentence.
        single: A newer statement replaces an older one.
        topics: Labels that are stored with a memory, in the language of the statement.
        search: Words under which statements about it are found.
    """

    name: str
    single: bool
    topics: tuple[str, ...]
    search: str


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    values: Literal["one", "many"]
    en_topics: tuple[str, ...]
    zh_topics: tuple[str, ...]
    en_states: str
    zh_states: str
    en_asks: str
    zh_asks: str


# "I'm X" is a name only for one or two capitalised words that are no nationality.
_INTRODUCTION: Final = re.compile(
    r"^(?:I'm|I am|This is)\s+(?P<name>[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)[.!]?$"
)
_NATIONALITY: Final = re.compile(
    r"(?:[a-z](?:ish|ese)|(?:erman|mexican|ussian|talian|merican|ndian|orean|ustralian"
    r"|anadian|frican|uropean|razilian|elgian|ustrian|wegian|krainian|rench|reek|utch"
    r"|hai|wiss|raqi|raeli|uslim|ewish|hristian|uddhist))$"
)
_WORK_NOUN: Final = (
    r"(?:engineer|teacher|doctor|nurse|student|designer|developer|programmer|manager"
    r"|lawyer|writer|chef|cook|artist|musician|scientist|researcher|accountant|driver"
    r"|architect|professor|journalist|pilot|photographer|translator|consultant|farmer"
    r"|freelancer|librarian|electrician|physicist|mathematician|analyst|barista)"
)
_ZH_WORK_NOUN: Final = (
    r"(?:工程师|老师|教师|医生|护士|学生|设计师|程序员|经理|律师|作家|厨师|艺术家"
    r"|科学家|研究员|会计|司机|建筑师|教授|记者|摄影师|翻译|顾问|农民|公务员|警察)"
)
# The hundred or so most common surnames: 我是李雷 is a name, 我是素食者 is none.
_SURNAME: Final = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖董袁潘蒋蔡余杜叶程苏魏"
    "吕丁任沈姚卢姜崔钟谭陆汪范廖贾韦付邹孟熊秦邱尹薛闫段侯史陶黎贺顾郝龚邵钱严覃戴莫孔汤]"
)

_RULES: Final = (
    _Rule(
        "name", "one", ("name",), ("名字",),
        r"^(?:my (?:full |first |last )?name(?:'s| is)|i(?:'m| am) called|i go by"
        r"|(?:please )?call me)\b",
        r"^我(?:的名字)?(?:现在)?(?:叫|名叫|姓|的名字是|改名叫?)|^(?:请)?叫我"
        rf"|^我是(?:小[\u4e00-\u9fff]"
        rf"|(?![^，,]+[人师生员家客迷]$){_SURNAME}[\u4e00-\u9fff]{{1,2}})$",
        r"what(?:'s| is| was) my (?:full |first |last )?name|who am i\b"
        r"|\bmy name\b|what am i called",
        r"我(?:是)?叫(?:什么|啥)|我的?名字|我是谁|我姓(?:什么|啥)",
    ),
    _Rule(
        "home", "one", ("home", "city"), ("住址", "城市"),
        r"^(?:(?:i|we) (?:now |currently |still |have |used to )*"
        r"(?:live|reside|moved|relocated)"
        r"|i(?:'m| am) (?:now |currently )?(?:living|based|moving)|my home is"
        r"|(?:i|we)(?:'ve| have) (?:just )?moved)\b(?! on\b)",
        r"^我们?(?:家)?(?:现在|目前|已经|刚|还|一直)*(?:住|搬)"
        r"|^我们?(?![^，,]*(?:喜欢|想|讨厌|希望))[^，,]{1,8}(?:住在|搬[到去回])"
        r"|^我的?家(?:现在)?(?:在"
        r"|是)",
        r"where (?:do|did|am) i (?:\w+ ){0,2}(?:live|living|based|reside|move)"
        r"|\bmy home\b(?! ?town)"
        r"|(?:which|what) (?:city|town|country) (?:do|am) i (?:live|living)|my address"
        r"|\bwhere i live\b",
        r"我们?(?:现在|目前|家|以前|之前|原来|从前|曾经|过去)?(?:是)?(?:住|搬)(?:在|到|去)?(?:哪|什么|何)|我的?家在哪"
        r"|我(?:现在)?在哪(?:个|座)?(?:城市|里住)|我的?住址",
    ),
    _Rule(
        "origin", "one", ("origin", "home town"), ("家乡", "来自"),
        r"^i(?:'m| am| was| come) (?:originally )?(?:born in(?! \d)|from)\b"
        r"|^i grew up in\b"
        r"|^my home ?town is\b",
        r"^我(?:是)?(?:来自|在.{1,10}长大)|^我的?(?:家乡|老家)|^我是[^，,]{1,8}人$",
        r"where (?:am|do|did) i (?:come )?(?:from|grow up)|\bmy home ?town\b",
        r"我(?:是)?(?:来自|从)(?:哪|什么)|我是(?:哪里|哪儿|什么地方)的?人"
        r"|我的?(?:家乡|老家)",
    ),
    _Rule(
        "work", "one", ("work", "job"), ("工作", "职业"),
        r"^i (?:now |currently )?work\b|^i(?:'m| am) (?:now "
        r"|currently )?working (?:as|at"
        rf"|for|in)\b|^my (?:job|profession|work) is|^i(?:'m| am) an? (?:\w+ ){{0,3}}"
        rf"{_WORK_NOUN}\b",
        rf"^我(?:现在|目前)?在.{{1,20}}(?:工作|上班)|^我的?(?:工作|职业)是|"
        rf"^我是(?:一?[名个位])?.{{0,8}}{_ZH_WORK_NOUN}$",
        r"what do i do(?: for| as|\?|$)|where do i work|\bmy (?:job|profession|work)\b"
        r"|who do i work for|what(?:'s| is) my occupation",
        r"我(?:是)?做什么(?:工作|的)|我在哪(?:里|儿|家)?.{0,4}(?:工作|上班)"
        r"|我的?(?:工作|职业)",
    ),
    _Rule(
        "age", "one", ("age",), ("年龄",),
        r"^i(?:'m| am) (?:now )?\d{1,3}(?: years? old)?[.!]?$|^my age is",
        r"^我(?:今年|现在|已经)*\d{1,3}岁",
        r"how old am i|\bmy age\b",
        r"我(?:今年)?(?:多大|几岁|多少岁)|我的?年龄",
    ),
    _Rule(
        "birthday", "many", ("birthday",), ("生日",),
        r"^my birthday\b|^i was born (?:on|in (?:\d{4}|[a-z]+ \d{4}))",
        r"^我的?生日|^我.{0,8}(?:出生|生于)",
        r"\bmy birthday\b|when was i born",
        r"我的?生日|我.{0,4}(?:出生|生)的",
    ),
    _Rule(
        "diet", "many", ("allergy", "food"), ("过敏", "饮食"),
        r"^i(?:'m| am) (?:\w+ )?(?:allergic|vegetarian|vegan|lactose|a vegetarian"
        r"|a vegan)|^i (?:can't|cannot|don't|do not) (?:eat|drink)\b",
        r"^我对.{1,12}过敏|^我(?:不能|不)(?:吃|喝)|^我(?:是)?(?:吃素|素食)",
        r"\ballerg|what (?:can't|cannot|don't) i (?:eat|drink)|am i (?:a )?veg",
        r"过敏|我不能(?:吃|喝)什么|我吃素",
    ),
    _Rule(
        "dislikes", "many", ("dislikes",), ("讨厌",),
        r"^i (?:really |absolutely )?(?:hate|dislike|detest|can't stand|cannot stand"
        r"|don't (?:really )?(?:like|enjoy|love)|do not (?:like|enjoy)"
        r"|no longer like)\b",
        r"^我(?:很|最|也|特别|真的)*(?:讨厌|恨|受不了|不(?:再|太|怎么)?(?:喜欢|爱))",
        r"what (?:do|don't) i (?:hate|dislike|not like|like least)"
        r"|what don't i (?:like|enjoy)|do i (?:hate|dislike)",
        r"我(?:最)?(?:讨厌|不喜欢|不爱)(?:吃|喝|做|看)?(?:什么|谁|哪)",
    ),
    _Rule(
        "likes", "many", ("likes",), ("喜欢",),
        r"^i (?:really |absolutely |also |just |now )?(?:like|love|enjoy|prefer"
        r"|adore)\b"
        r"|^i(?:'m| am) (?:a (?:big )?fan of|fond of|into)\b",
        r"^我(?:们)?(?:很|最|也|还|都|特别|非常|更|现在|一直|从小|真的)*"
        r"(?:喜欢|热爱|偏爱|爱(?:吃|喝|看|玩|听|做)?)(?!.{0,4}的.{1,8}是)",
        r"what (?:\w+ ){0,2}do i (?:\w+ )?(?:like|love|enjoy|prefer)|do i (?:like|love"
        r"|enjoy|prefer)|my (?:hobbies|hobby|preferences|tastes)\b|what am i into",
        r"我(?:最|平时|比较)?(?:喜欢|爱|偏爱)(?:吃|喝|做|看|听|玩|去|用)?(?:什么|哪"
        r"|谁|啥)"
        r"|我的?(?:爱好|兴趣|喜好)",
    ),
)  # fmt: skip

_COMPILED: Final = tuple(
    (
        rule,
        re.compile(rule.en_states, re.IGNORECASE),
        re.compile(rule.zh_states),
        re.compile(rule.en_asks, re.IGNORECASE),
        re.compile(rule.zh_asks),
    )
    for rule in _RULES
)

_EN_MY: Final = re.compile(
    r"^my (?P<noun>[\w' -]{2,40}?)(?:'s name)? (?:is|are|was|will be)(?: called"
    r"| named)?"
    r"\b",
    re.IGNORECASE,
)
_EN_IS_MY: Final = re.compile(
    r"^[\w' -]{1,40} (?:is|are) my (?P<noun>favou?rite [\w -]{1,30})", re.IGNORECASE
)
_EN_ASKS_MY: Final = re.compile(
    r"\bmy (?P<noun>[\w -]{2,40}?)(?:'s| s)?(?: name)?(?: (?:is|are|was|called|named)"
    r"\b.*)?\s*\??$",
    re.IGNORECASE,
)
_FAMILY: Final = "女儿|儿子|孩子|老公|老婆|妻子|丈夫|妈妈|爸爸|姐姐|妹妹|哥哥|弟弟"
_ZH_NOUN: Final = r"(?P<noun>[\u4e00-\u9fff]{1,8}?)(?:的名字)?"
_ZH_IS: Final = r"(?:现在)?(?<!不)(?:是|叫做?|为)"
_ZH_WHAT: Final = r"(?:是|叫|在|为)?(?:什么|谁|哪|几|多)"
_ZH_WHOSE: Final = (
    rf"我(?:的|家的?|(?=最(?:喜欢|爱)的|{_FAMILY})|现在(?=最(?:喜欢|爱)的))"
)
_ZH_MY: Final = re.compile(rf"^{_ZH_WHOSE}{_ZH_NOUN}{_ZH_IS}")
_ZH_ASKS_MY: Final = re.compile(rf"{_ZH_WHOSE}{_ZH_NOUN}{_ZH_WHAT}")

_ONE_VALUE: Final = re.compile(
    r"\b(?:called|named|name|favou?rite|phone|number|e-?mail|address)\b|叫|名字|最"
    r"|电话|号码|邮箱|地址",
    re.IGNORECASE,
)


def is_introduction(statement: str) -> bool:
    """Tell whether "I'm Anna" names a person, as opposed to "I'm German"."""
    match = _INTRODUCTION.match(statement)
    return bool(match) and not _NATIONALITY.search(match["name"])  # type: ignore[index]


def subject_stated(statement: str) -> Subject | None:
    """Return what a first-person statement is about, `None` if no rule knows it."""
    text = statement.replace("\u2019", "'").strip().rstrip("。.!！~～ ")
    if is_introduction(text):
        return _subject(_RULES[0], chinese=False)
    for rule, en_states, zh_states, _, _ in _COMPILED:
        if en_states.search(text):
            return _subject(rule, chinese=False)
        if zh_states.search(text):
            return _subject(rule, chinese=True)
    return _named(_EN_MY.search(text) or _EN_IS_MY.search(text) or _ZH_MY.search(text))


def subject_asked(question: str) -> Subject | None:
    """Return what a question about the person is about, `None` if no rule knows it."""
    text = question.replace("\u2019", "'").strip().rstrip("?？。.! ")
    for rule, _, _, en_asks, zh_asks in _COMPILED:
        if en_asks.search(text):
            return _subject(rule, chinese=False)
        if zh_asks.search(text):
            return _subject(rule, chinese=True)
    return _named(_EN_ASKS_MY.search(text) or _ZH_ASKS_MY.search(text))


def _subject(rule: _Rule, *, chinese: bool) -> Subject:
    topics = rule.zh_topics if chinese else rule.en_topics
    other = rule.en_topics if chinese else rule.zh_topics
    # Both languages, so that a question finds what was said in the other one.
    return Subject(rule.name, rule.values == "one", topics, " ".join(topics + other))


def _named(match: re.Match[str] | None) -> Subject | None:
    if match is None:
        return None
    noun = match["noun"].strip().lower()
    common = noun.replace("favourite", "favorite").replace("colour", "color")
    common = re.sub(r"^最(?:爱|喜欢)的?", "最喜欢的", common)
    # "My dog is called Rex" has one answer; "my sister is a doctor" may have many.
    single = bool(_ONE_VALUE.search(match.group()))
    return Subject(f"my:{common}", single=single, topics=(noun,), search=noun)
