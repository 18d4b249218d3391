"""Statements that say themselves that they are past: "I used to live in Boston".

Such a statement and "I live in Denver" answer the same question, and which of them
holds stands in their words, whatever their dates. The words of the past count only
where they govern the main verb: right after the subject that begins the statement
("Ann formerly worked …", 我以前住…), or right before it ("As a child I …", 小时候我…).
They say nothing about the statement in a clause that describes something in it ("Tom,
who previously worked …", 曾在华为工作的王先生), and nothing next to what still holds
("and lives", "again", 又). In doubt a statement is not past.
"""

import re
from typing import Final

from langchain_agentmemory.search.scripts import LazyPattern
from langchain_agentmemory.search.simplified import simplified
from langchain_agentmemory.search.stopwords import CHINESE, ENGLISH

_MOST_CHARACTERS: Final = 200
"""Longer texts say more than one thing."""


def _any_of(words: str) -> str:
    return "(?:" + "|".join(words.split()) + ")"


_NO_SUBJECT: Final = _any_of(
    """
    am is are was were be been being get gets got getting gotten grow grew grown become
    became has have had do does did will would can could shall should may might must
    not quite more never always often also sometimes really mostly usually then still
    who whom whose which that where when while what why how if because since as than
    though although unlike like in on at to from of for with by about into near after
    before until the a an this these those some any no every each most many i me we us
    he him she it they them you formerly previously originally initially once used use
    current present new past first light sight glance
    (?:it|he|she|that|there|here|what|who|where|how|this|let)'s \\w+'(?:m|re|ve|ll|d)
    """
)
_SUBJECT: Final = (
    r"(?:(?:i|we|he|she|they|you|it|there|the\ user"
    r"|(?:(?:my|our|his|her|their|your|the\ user's)\ )?"
    rf"(?:(?!{_NO_SUBJECT}\b)[\w'-]+\ ){{0,2}}(?!{_NO_SUBJECT}\b)[\w-]+)"
    r"(?:\ and\ (?:(?:my|our|his|her|their)\ )?[\w-]+)?)"
)
_LEAD: Final = (
    r"^(?:(?:well|yes|so|actually|honestly|fyi|btw|also|oh|and|user)[,:]?\ )?"
    r"(?:(?:in|until|before|during|from)\ [^,]{1,30},\ |(?:\w+\ )?years\ ago,?\ )?"
)
_DESCRIBING: Final = r"\b(?:who|whom|whose|which|that|where|as\ (?!a\b)|if|because)"
_TOOLS: Final = _any_of(
    """
    passwords? emails? accounts? keys? cards? codes? pins? apps? tools? phones? numbers?
    addresses money things? names? words?
    """
)
"""What is "used to" do something: nothing that used to."""
_WAS: Final = r"(?:was|were|wasn't|weren't)"
_STATE: Final = (
    r"(?:(?:(?:never|rarely|often|also|only|mostly|usually|mainly|both|all)\ )?"
    + _any_of(
        """
        was were wasn't weren't had lived worked studied owned used
        drove smoked drank ate liked loved hated disliked preferred enjoyed played
        taught ran kept wanted planned believed belonged went wore took rented stayed
        served attended dated slept spoke weighed knew cooked commuted cycled rode swam
        trained practi[cs]ed managed led needed feared lacked suffered paid earned
        volunteered resided held
        """
    )
    + r"\b|did(?:n't|\ not)\b)"
)
"""What lasts, and so may be over; what happened once does not end."""
_BEFORE: Final = r"(?:formerly|originally|initially|previously)"
_CHILD: Final = r"(?:child|kid|boy|girl|baby|teenager|student|beginner)"
_AS_CHILD: Final = (
    r"as\ a\ (?:little\ |young\ |small\ )?(?:child|kid|boy|girl|teenager)"
)
_WHEN_CHILD: Final = (
    r"when\ [\w'-]+(?:\ \w+)?\ (?:was|were)\ (?:younger|little|small"
    rf"|an?\ (?:\w+\ )?{_CHILD})"
)
_ENGLISH: Final = LazyPattern(
    rf"""(?x) {_LEAD}(?:
      {_SUBJECT}\ (?:
        (?:(?:\w+ly|never|always|often|also|both|all)\ )?used\ to\ (?!(?:it|this|that
          |the|these|those|him|them|you|my|his|our|their|its|an?|\w+ing)\b)
      | did(?:n't|\ not)\ (?:\w+\ )?use\ to\b
      | {_WAS}\ (?:{_BEFORE}|once)\ (?!(?:from|built|made|founded|designed|written
          |created|published|bought|planted|born|printed)\b)
      | (?:{_BEFORE}|once)\ {_STATE}
      | {_STATE}\ (?:(?!{_DESCRIBING}\b)[^,;:])*\b(?:{_BEFORE}|in\ the\ past|back\ then
          |at\ first|{_AS_CHILD}|{_WHEN_CHILD})[.!]?$
      )
    | (?:{_BEFORE}|in\ the\ past|back\ then|{_AS_CHILD}|{_WHEN_CHILD}|at\ first),?
        \ {_SUBJECT}\ (?:(?:could|would)\b|{_STATE})
    | (?:my|his|her|our|their|\w+'s)\ (?:(?:former|previous|prior|original|initial)\b
        |old\ (?!(?:man|lady|m[uo]m|mother|dad|father|friends?|dog|cat|horse)\b)
        |first\ (?=(?:job|boss|employer|address|apartment|flat|house|car|phone|laptop
          |computer|password|email)\b))\ ?
        (?:(?!{_NO_SUBJECT}\b)[\w-]+\ ){{1,3}}(?:was|were|had\ been)\ (?!always\b)
    )
    """
)
_TOOL_USED: Final = LazyPattern(
    rf"^(?:\S+ ){{0,3}}{_TOOLS} used to (?!(?:be|have|belong)\b)"
)
_VERB: Final = _any_of(
    """
    live work own drive like love use prefer eat drink run stay play speak smoke want
    take need wear keep rent reside know hate enjoy cook commute manage lead train
    belong study teach go do have
    """
)
_VERB_OF_ONE: Final = _any_of(
    """
    lives works owns drives likes loves uses prefers eats drinks runs stays plays speaks
    smokes wants takes needs wears keeps rents resides knows hates enjoys cooks commutes
    manages leads trains belongs studies teaches goes does has
    """
)
_ENGLISH_SINCE: Final = LazyPattern(
    r"\b(?:now|nowadays|currently|today|these days|any ?more|still|but|however|instead"
    r"|since|then (?:i|we|he|she|they|moved|switched|changed)|later|until|eventually"
    r"|(?:and|,) (?:\w+ )?(?:moved|switched|changed|became)"
    r"|again|once more|as (?:i|we|he|she|they) (?:did|used)"
    rf"|(?:i|we|he|she|they) (?:\w+ly |also )?(?:am|are|is|{_VERB}|{_VERB_OF_ONE})"
    rf"|(?:i|we|he|she|they)'(?:m|re|ve|s))\b"
)
_ENGLISH_PRESENT: Final = LazyPattern(
    rf"\b(?:am|is|are|isn't|aren't|has)\b|'re\b|\b(?:it|that|here|there)'s\b|(?<!^user):\s"
    rf"|(?:\b(?:and|while|whereas)|[,;–—-]) (?:\w+ly |also )?{_VERB_OF_ONE}\b"
)
_ENGLISH_BOTH: Final = LazyPattern(rf"\band (?:\w+ly |also )?{_VERB}\b")
"""A second verb in the present; after "used to" it is another one that did."""

_PERSON: Final = "(?:[我你您他她它咱]们?)"
_KIN: Final = (
    "(?:爸爸?|妈妈?|父亲|母亲|父母|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥?|姐姐?|弟弟?|妹妹?"
    "|老公|老婆|丈夫|妻子|先生|太太|女儿|儿子|孩子|男友|女友|男朋友|女朋友|朋友|室友|同事"
    "|老板|家人?|老家|公司)"
)
_NO_NOUN: Final = "是在有去用叫到住回做从了把给和跟要想说会能不没很都就的过来那以之前曾"
_NOUN: Final = f"[^\\W{_NO_NOUN}原最当上下新现]{{1,6}}"
_SURNAME: Final = (
    "(?!马[上路拉]|黄[昏金]|许[多愿]|高[中铁考峰一二三]|周[一二三四五六日末年]|石油|夏季)"
    "[王李张刘陈杨黄赵吴徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏"
    "魏吕丁沈姚卢姜崔钟谭陆汪范石廖贾韦付邹孟熊秦邱江尹薛闫段雷侯史陶黎贺顾毛郝龚邵钱"
    "武戴莫孔汤康施洪周高夏]"
)
_NAME_CHARACTER: Final = f"[^\\W{_NO_NOUN}天日末月年时考课班学饭床门觉职校早晚先里上]"
_SOMEBODY: Final = (
    f"(?:用户|{_PERSON}{_KIN}?|{_PERSON}(?:家|最喜欢|最爱)?的{_NOUN}|{_KIN}"
    "|[a-z][a-z'-]*(?: [a-z-]+)?"
    f"|[小老阿]{_NAME_CHARACTER}{{1,2}}|{_SURNAME}{_NAME_CHARACTER}{{1,2}})"
)
_LASTING: Final = (
    "(?:(?:都|很|最|只|总|总是|常|常常|经常|一般|通常|每[天周年月]|不|没|从不|从没|一个人)?"
    "(?:住(?!院)|在(?!前台)|用(?!名)|做(?!完)|养|叫(?!错|人)|是|有(?![的时点事些])|当(?!时|初|天)|任(?![何性手的])|担任|就职|就读"
    "|上班|工作|打工|喜欢|爱|讨厌|怕|恨|对(?!账)|吃|喝|抽|玩|学|读|念|教|开(?![会门始])|骑|穿"
    "|戴|打|踢|弹|跑|练|负责|属于|租|信|跟|和|从事|习惯|拥有|姓|睡|熬夜|失眠|订阅|种|值|留"
    "|居住|生活|上[早晚中夜]?班|坐(?!下)|单身|交往|结|过敏|胖|瘦|每)|(?:总|常|经常|总是|常常|很|不|没|都)(?!过|要|去|来))"
)
"""What lasts, and so may be over, at the beginning of the rest of a statement."""
_ADVERB: Final = (
    "(?:曾经(?!说)|从前|原先|早先|早年|当初|最初|起初|小时候|年轻时候?|以前|之前"
    "|一开始(?![^，。]{0,8}就))"
)
_AFTER_SUBJECT: Final = (
    f"(?:{_ADVERB}[，,]?(?={_LASTING})|曾(?=[在任是住有做养当]|用(?!名))"
    "|(?:原来|原本)(?=[住用做养开吃喝抽]|叫(?!错)"
    "|在[^，。]{1,10}(?:工作|上班|任职|读书|上学|学习|住|做|当|教))"
    "|过去(?=常常|总[是爱]|经常|喜欢|怕|讨厌|习惯|以为|是(?![为因想要])))"
)
_KNOWN: Final = (
    f"(?:{_PERSON}(?:{_KIN}|的[^，。的是在有用]{{1,6}})?|用户|{_KIN}"
    r"|[a-z'-]+|[小老阿]\w)"
)
"""Subjects that are sure to be some, whatever stands before them."""
_HELD: Final = "(?:[住在用是养叫当开抽]|喜欢)"
_CHANGE: Final = (
    "(?:搬|跳槽|离[职婚]|辞职|毕业|结婚|退休|入职|移民|升职|换(?:工作|公司|手机|车|房))"
    "[^，。]{0,10}[之以]前[，,]?"
)
_THING: Final = (
    "(?:地址|号码|手机|公司|单位|东家|住处|房子|电脑|邮箱|密码|老板|工作|男友|女友|男朋友"
    "|女朋友|房东|室友|老师|学校|车|医生|教练|经理)"
)
_EARLIER: Final = (
    f"(?:(?:原来|以前|之前|从前|曾经|原先|早先|当初|最初)的(?:{_NOUN}[是叫为]"
    "|(?:公司|单位|家|住处)在)"
    "|(?:上一|前一)[个份任家台部辆款间所位条套届](?![月周星礼世季学小钟天晚夜年次])"
    f"{_NOUN}[是叫为在]"
    f"|[上前][份家个]{_THING}[^，。]{{0,3}}[是叫为在]"
    f"|前任{_NOUN}?[是叫]|旧{_THING}[^，。]{{0,6}}[是叫在]"
    "|老(?:地址|号码|公司(?!机)|单位|东家|住处|邮箱|密码)[^，。]{0,6}[是叫在]"
    "|老(?:手机|房子|电脑)[^，。]{0,6}[是叫])"
)
_CHINESE: Final = LazyPattern(
    rf"^(?:{_SOMEBODY}\s*(?:{_AFTER_SUBJECT}|{_CHANGE}{_HELD})"
    rf"|(?:{_ADVERB}|过去(?=[，,]?\s*{_PERSON}))[，,]?\s*(?:{_KNOWN}\s*)?(?={_LASTING})"
    r"|过去(?:常常|总是)"
    rf"|{_CHANGE}(?:{_PERSON}{_KIN}?|用户|[a-z]+ ?){_HELD}"
    rf"|(?:{_PERSON}家?的?|用户的?|{_KIN}的?|[a-z][a-z' -]{{1,20}}的)?{_EARLIER})"
)
_CHINESE_DESCRIBING: Final = LazyPattern(
    rf"^[^，。]{{0,12}}?(?:{_ADVERB}|原来|原本|曾|过去)[^，。]*?[^是我你他她它们]的(?!是)"
    "[^，。是叫]{1,8}(?:[是叫为很]|在(?!家))"
)
"""What is told of is what the words of the past describe: 我以前住的房子是…"""
_CHINESE_SINCE: Final = LazyPattern(
    r"现在|目前|如今|现今|眼下|当前|最近|近来|后来|但|不过|可是|却|然后|才(?!能)|至今|仍"
    r"|依旧|一直|还是|改成|改为|改[用住在]|换成|换到|换了|搬[到去来回]|转到|已经|不再|直到"
    r"|又|[住回]回|回到|重新|再次|再度|照旧|照样|还[在住用有养]|今年|今天|这个月"
    rf"|[，,；;。]\s*{_PERSON}?[住用是叫养有在]|现(?=[任在住用居])"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_CHINESE_BEFORE: Final = re.compile("[之以]前")
_USED_TO: Final = re.compile(r"\bused? to\b")
_WORD: Final = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]")
_TELLING: Final = (
    ENGLISH
    | CHINESE
    | frozenset(
        "used use formerly previously originally initially past once child kid".split()
    )
    | frozenset("以前之曾经从原先早当初最小时候过去旧老来本")
)


def told_as_past(text: str) -> bool:
    """Tell whether a statement says itself that it no longer holds.

    Its first sentence counts, and only if nothing is told of what came after ("but now
    …", 后来) or still holds ("and lives", "again"). Questions say nothing, and "no
    longer" (不再) says what holds now.

    Args:
        text: A memory in English or Chinese, simplified or traditional.
    """
    if len(text) > _MOST_CHARACTERS:
        return False
    text = text.lower().replace("’", "'").strip()
    first = _SENTENCE.split(text, maxsplit=1)[0].rstrip()
    if first.endswith(("?", "？")):
        return False
    if _ENGLISH.match(first) is not None and _TOOL_USED.match(first) is None:
        return not _goes_on(text, first)
    if text.isascii():
        return False
    text, first = simplified(text), simplified(first)
    if _CHINESE.match(first) is None or _CHINESE_DESCRIBING.match(first) is not None:
        return False
    return _CHINESE_SINCE.search(_without_change(text)) is None


def say_the_same(one: str, other: str) -> bool:
    """Tell whether one statement has all words of the other, cues of the past aside.

    "I used to smoke" and "I smoke five a day" speak of the same thing: there the later
    one tells whether it holds.
    """
    words, others = _words(one), _words(other)
    return words <= others or others <= words


def _words(text: str) -> frozenset[str]:
    found = _WORD.findall(simplified(text.lower()))
    return frozenset(found) - _TELLING


def _goes_on(text: str, first: str) -> bool:
    """Tell whether an English text tells of the present as well."""
    if _ENGLISH_SINCE.search(text) or _ENGLISH_PRESENT.search(first):
        return True
    return not _USED_TO.search(first) and _ENGLISH_BOTH.search(first) is not None


def _without_change(text: str) -> str:
    """Return a text without a change that "before" follows: 搬到杭州以前."""
    before = _CHINESE_BEFORE.search(text)
    return text if before is None else text[before.end() :]
