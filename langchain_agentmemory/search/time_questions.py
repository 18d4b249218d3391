"""Questions that are nothing but a time: "What happened in May?", 上周做了什么.

What such a question asks for lies in the time that it names, whatever its words are.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Final

from langchain_agentmemory.search.moments import (
    NEUTRAL,
    TimePreference,
    closeness,
    overlaps,
    time_preference,
)
from langchain_agentmemory.search.scripts import LazyPattern
from langchain_agentmemory.search.simplified import simplified
from langchain_agentmemory.search.stopwords import CHINESE, ENGLISH
from langchain_agentmemory.types import EventPrecision

_ASKING: Final = ENGLISH | frozenset(
    """
    s t d m ll re ve happen happens happened happening occur occurs occurred occurring
    event events thing things stuff activity
    activities anything something everything nothing anywhere somewhere new news
    go goes going went gone busy spend spent day days life
    remember remind recall know talk talked discuss discussed chat chatted say said
    show list find give summarize summarise summary memory memories
    plan plans planned planning schedule scheduled calendar agenda
    appointment appointments note notes noted
    """.split()
)
_QUANTITIES: Final = frozenset("几岁 多大 多高 多重 多快 多贵 多远".split())
_ASKING_CHINESE: Final = (CHINESE - _QUANTITIES) | frozenset(
    """
    发生 发生过 事 事儿 事情 事件 大事 做 干 干过 干了 干些 忙 忙些 忙活 经历 情况 活动
    动态 新鲜 去 去过 玩 过来 安排 计划 日程 行程 打算 聊 聊过 谈 谈过 说 讨论 提 提到
    记得 回忆 想起 想想 总结 回顾 看看 一下 列出 找 所有 全部 记忆 里 里面 期间
    时候 当时 日子 些 份 啥事 啥事儿 啥子 干啥 点啥 玩儿 记 记下 记录 咱 咱们 想 呗 该
    应该 需要
    """.split()
)
_CHINESE_WORDS: Final = LazyPattern(
    "|".join(sorted(_ASKING_CHINESE, key=len, reverse=True))
)
_TAKE_PLACE: Final = re.compile(r"\bt(?:ake|akes|ook|aking|aken) place\b")
_HOW_MUCH: Final = re.compile(r"\bhow (?:much|many)\b")
_COMPARING: Final = re.compile(
    r"\bthan\b|\bthe same\b|^(?:is|was|are|were) (?:it|that|this|they|these|those)\b"
)
_NAME: Final = LazyPattern(
    r"[一二三四五六七八九十]{1,2}月|[春夏秋冬][天季]"
    r"|(?:春节|清明|五一|端午|中秋|国庆|圣诞|元旦)节?|[0-9]{4}"
)
"""Time words that may as well be the name of somebody, or of a book."""
_OF_SOMEBODY: Final = LazyPattern(
    r"""(?x)
      谁 | ^[就还也]?(?:是|叫|在(?=[哪做干忙])|(?:说|讲|聊|谈)(?![说讲聊谈])|提|想
      | 怎么了 | [和跟对给与向让](?:我|他|她|你|咱))
    | \bhappen(?:s|ed|ing)?\ to\W*$
    """
)
"""What remains of a question about whoever has that name."""
_SEASON: Final = LazyPattern(r"[春夏秋冬][天季]")
_DATED: Final = re.compile("[了过]")
_WORD: Final = re.compile(r"[^\W_]+")


def asks_only_for_time(preference: TimePreference) -> bool:
    """Tell whether a query names a time, and nothing else that could be looked for.

    Args:
        preference: What was read of its time words. What remains may ask ("what did I
            do", 发生了什么事) or speak of anything that happens or is planned. A
            time that may be a name (七月, 国庆, 1984) is one only where nothing asks
            about its bearer, and a season without a year only where what is asked for
            is over (冬天做了什么).
    """
    if preference.anchor is not None:
        return False
    if preference.start is None and preference.end is None:
        return False
    rest = preference.rest.lower()
    if not rest.isascii():
        rest = simplified(unicodedata.normalize("NFKC", rest))
    if _may_be_named(preference.words, rest.strip()):
        return False
    if not rest.isascii():
        rest = _CHINESE_WORDS.sub(" ", rest.replace("’", "'"))
    if _HOW_MUCH.search(rest) or _COMPARING.search(rest):
        return False
    return _ASKING.issuperset(_WORD.findall(_TAKE_PLACE.sub(" ", rest)))


def _may_be_named(words: tuple[str, ...], rest: str) -> bool:
    """Tell whether all that names a time may as well name no time in this question."""
    if len(words) != 1:
        return False
    word = simplified(unicodedata.normalize("NFKC", words[0]))
    if _SEASON.fullmatch(word) and not _DATED.search(rest):
        return True
    return bool(_NAME.fullmatch(word) and _OF_SOMEBODY.search(rest))


def fit(
    preference: TimePreference,
    when: datetime | None,
    precision: EventPrecision | None = "instant",
) -> float:
    """Return how well a time fits the one that is asked for.

    Args:
        preference: What the query wants.
        when: When something happened, aware. `None` if that is not known.
        precision: How exactly it is known: a year is all of its days.

    Returns:
        1 for what lies inside, from 0.5 to 1 for what may, by the share of it that
        does; 0 for what lies outside, and for the undated.
    """
    if when is None or not overlaps(preference, when, precision):
        return 0.0
    return closeness(preference, when, precision)


def named_in(
    text: str, preference: TimePreference, told: Iterable[datetime], timezone: tzinfo
) -> tuple[float, datetime] | None:
    """Return how well the time that a text names fits the one that is asked for.

    Args:
        text: A memory.
        preference: What the query wants.
        told: What the text's "last week" may be counted from, aware, at least one. It
            counts only what is named whichever of them it is.
        timezone: Whose days are meant.

    Returns:
        Its fit, as `fit` gives it, and when the time begins that both name. `None` for
        a text that names no time, or another one.
    """
    found = [_common(text, preference, now, timezone) for now in told]
    common = [one for one in found if one is not None]
    return min(common) if len(common) == len(found) else None


def _common(
    text: str, preference: TimePreference, now: datetime, timezone: tzinfo
) -> tuple[float, datetime] | None:
    named = time_preference(text, now, timezone)
    if named is None or named.start is None or named.end is None:
        return None
    first = max(filter(None, (named.start, preference.start)))
    last = min(filter(None, (named.end, preference.end)))
    if first >= last:
        return None
    share = (last - first) / (named.end - named.start)
    return NEUTRAL + (1 - NEUTRAL) * share, first
