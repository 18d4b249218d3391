"""Statements that say themselves that they are past: "I used to live in Boston".

Such a statement and "I live in Denver" answer the same question, and which of them
holds stands in their words, whatever their dates. The words are told apart from their
other uses: *used to the noise*, *once a week*, 原来如此, 走过去, 睡觉以前.
"""

import re
from typing import Final

from langchain_agentmemory.search.scripts import LazyPattern
from langchain_agentmemory.search.simplified import simplified
from langchain_agentmemory.search.stopwords import CHINESE, ENGLISH

_MOST_CHARACTERS: Final = 200
"""Longer texts say more than one thing."""

_CHILD: Final = r"(?:child|kid|boy|girl|baby|teenager|student|beginner)"
_ENGLISH: Final = LazyPattern(
    r"""(?x)
      (?<!\bam\ )(?<!\bis\ )(?<!\bare\ )(?<!\bwas\ )(?<!\bwere\ )(?<!\bbe\ )
      (?<!\bbeen\ )(?<!\bbeing\ )(?<!\bget\ )(?<!\bgets\ )(?<!\bgot\ )(?<!\bgetting\ )
      (?<!\bgotten\ )(?<!\bgrow\ )(?<!\bgrew\ )(?<!\bgrown\ )(?<!\bbecome\ )
      (?<!\bbecame\ )(?<!\bnot\ )(?<!\bquite\ )(?<!\bmore\ )(?<!'m\ )(?<!'re\ )(?<!'s\ )
      \bused\ to\ (?!(?:it|this|that|the|these|those|him|them|you|my|his|our|their|its
      |an?|\w+ing)\b)
    | \bdid(?:n't|\ not)\ (?:\w+\ )?use\ to\b
    | \b(?:formerly|originally(?!\ from\b)|initially|previously)\b
    | \bin\ the\ past\b(?!\ (?:\w+\ )?(?:few|couple|days?|weeks?|months?|years?)\b)
    | \bback\ then\b | \bat\ first\b(?!\ (?:glance|sight))
    | (?<!\bat\ )\bonce\ (?:was|were|had|owned|\w+ed)\b
    | \bas\ a\ (?:little\ |young\ |small\ )?(?:child|kid|boy|girl|teenager)
      (?=,|\ (?:i|we|he|she|they)\b|[.!]?$)
    | \bwhen\ \w+\ (?:was|were)\ (?:younger|little|small|an?\ (?:\w+\ )?"""
    + _CHILD
    + r""")\b
    | \b(?:my|his|her|our|their|\w+'s)\ (?:old|former|previous|prior|original|initial
      |first)\ (?:\w+\ ){1,3}(?:was|were|had\ been)\b
    """
)
_ENGLISH_SINCE: Final = LazyPattern(
    r"\b(?:now|nowadays|currently|today|these days|any ?more|still|but|however|instead"
    r"|since|then (?:i|we|he|she|they|moved|switched|changed)|later|until|eventually"
    r"|(?:and|,) (?:\w+ )?(?:moved|switched|changed|became))\b"
)
_CHINESE: Final = LazyPattern(
    r"""(?x)
      曾经(?!说) | 曾(?=[在任是用住有做去养当]) | 从前 | 原先 | 早先 | 早年 | 当初
    | 最初 | 起初 | 小时候 | 年轻时 | 一开始(?![^，。]{0,8}就)
    | 原来(?=[住在用做养叫]|的) | (?<=[我他她们户])原来(?!如此) | 原本(?=[住在用做养叫])
    | (?<=[我他她们户])过去(?!了|吧|[ 近这]?[0-9一二两三四五六七八九十几半])
    | ^过去(?=[我他她住在常])
    | (?:^|[，；、,;\s我你您他她它们户家])[之以]前(?![天年面后台往一要需得该先别])
    | (?:^|[，；、,;\s])[^，。；、,;\s]{1,3}(?<![饭餐吃喝睡觉班床门课学会考步年月日天])
      以前(?![天年面后台往一要需得该先别])
    | (?:搬|跳槽|离[职婚]|辞职|毕业|结婚|退休|入职|移民|升职|换(?:工作|公司|手机|车|房))
      [^，。]{0,10}[之以]前
    | (?:上一|前一)[个份任家台部辆款间所位条套届](?![月周星礼世季学小钟天晚夜年])
    | (?<!以)[上前][个份家](?![月周星礼世季学小钟天晚夜年]) | 前任
    | [旧老](?:地址|号码|手机|公司|单位|东家|住处|房子|电脑|邮箱|密码)
      [^，。]{0,6}[是在叫]
    """
)
_CHINESE_SINCE: Final = LazyPattern(
    r"现在|目前|如今|现今|眼下|当前|最近|近来|后来|但|不过|可是|却|然后|才(?!能)|至今|仍"
    r"|依旧|一直|还是|改成|改为|改[用住在]|换成|换到|换了|搬[到去来]|转到|已经|不再|直到"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_BEFORE: Final = re.compile("[之以]前")
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
    …", 后来). Questions say nothing, and "no longer" (不再) says what holds now.

    Args:
        text: A memory in English or Chinese, simplified or traditional.
    """
    if len(text) > _MOST_CHARACTERS:
        return False
    text = text.lower().replace("’", "'").strip()
    first = _SENTENCE.split(text, maxsplit=1)[0].rstrip()
    if first.endswith(("?", "？")):
        return False
    if _ENGLISH.search(first) is not None:
        return _ENGLISH_SINCE.search(text) is None
    if text.isascii():
        return False
    text, first = simplified(text), simplified(first)
    past = _CHINESE.search(first) is not None
    return past and _CHINESE_SINCE.search(_without_change(text)) is None


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


def _without_change(text: str) -> str:
    """Return a text without a change that "before" follows: 搬到杭州以前."""
    before = _BEFORE.search(text)
    return text if before is None else text[before.end() :]
