"""What a person wants from the memory: pure reading of one message, by rules.

A message is cut into sentences, and each sentence becomes at most one `Act`: remember,
correct, replace, forget, ask, or small talk. The rules look at first-person English
and Chinese only; what no rule knows is `"other"` and is never stored.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

from langchain_agentmemory.offline.dates import find_date
from langchain_agentmemory.offline.language import keywords, sentences
from langchain_agentmemory.offline.subjects import (
    Subject,
    is_introduction,
    subject_asked,
    subject_stated,
)

ActType = Literal[
    "remember",
    "correct",
    "replace",
    "forget",
    "forget_all",
    "ask",
    "ask_all",
    "who",
    "greet",
    "thanks",
    "bye",
    "other",
]


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a person does with one sentence.

    Attributes:
        type: What they do.
        text: What to store, for statements; the sentence itself otherwise.
        subject: What it is about, if a rule knows it.
        query: What to search for, where something has to be found first.
        kind: `"fact"`, or `"episode"` for what happened or will happen once.
        event_time: When, as the tools accept it.
        old: For `"replace"`: the words that are no longer true.
        new: For `"replace"`: the words that take their place.
    """

    type: ActType
    text: str
    subject: Subject | None = None
    query: str = ""
    kind: Literal["fact", "episode"] = "fact"
    event_time: str | None = None
    old: str = ""
    new: str = ""


def _pattern(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"{english}|{chinese}", re.IGNORECASE)


_GREETING: Final = _pattern(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)(?: there)?\b[\s,!.]*",
    r"^(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安|晚安)[啊呀，,！!。.\s]*",
)
_THANKS: Final = _pattern(
    r"^(?:many )?(?:thanks|thank you|thx)\b", r"^(?:谢谢|多谢|感谢)"
)
_BYE: Final = _pattern(
    r"^(?:bye|goodbye|good night|see you|cu)\b", r"^(?:再见|拜拜|回头见|下次见)"
)
_WHO: Final = _pattern(
    r"\bwho are you\b|\bwhat are you\b|what can you do|^help\b|how do you work"
    r"|what(?:'s| is) your name|are you (?:an? )?(?:ai|llm|bot|human|real|gpt|chatgpt)",
    r"你是谁|你是什么|你叫什么|你会什么|你会做什么|你能做什么|你能干什么|^帮助|怎么用你"
    r"|你是(?:不是)?(?:人|机器人|AI|人工智能)",
)
_SMALL_TALK: Final = _pattern(
    r"^how are you\b|^how(?:'s| is) it going|^what's up\b",
    r"^你?(?:最近)?(?:好吗|怎么样|还好吗)",
)
_POLITE: Final = _pattern(
    r"^(?:(?:please|well|so|oh|also|and|but|okay|ok|btw|by the way|fyi|note that|"
    r"just so you know|you should know(?: that)?|(?:can|could|will|would) you(?: please)?"
    r"(?= remember (?:that|my|i)| forget| note| delete))[,:]?\s+)+",
    r"^(?:(?:请你?|麻烦你?|你能|能不能|可以|对了|另外|还有|顺便说一下|帮我|嗯|哦|那)"
    r"[，,\s]*)+(?=.)",
)
_REMEMBER: Final = _pattern(
    r"^(?:please )?(?:remember|note|keep in mind|don't forget|do not forget|never forget|"
    r"memori[sz]e|save|write down)(?: down)?(?: that| this)?[:,]?\s+(?P<en>.+)",
    r"^(?:请)?(?:你)?(?:要|帮我)?(?:记住|记下来?|记一下|记得|别忘了|不要忘记?|别忘记|牢记)"
    r"[：:，,\s]*(?P<zh>.+)",
)
_REQUEST: Final = _pattern(
    r"^(?:can|could|will|would) you (?:please )?(?:remember|note) (?:that|my|i)\b",
    r"^(?:你能|能不能|可以)(?:帮我)?(?:记住|记一下|记下)",
)
_FORGET: Final = _pattern(
    r"^(?:please )?(?:forget|delete|remove|erase)\b(?: (?:the|my) memor(?:y|ies))?"
    r"(?: about| that| of)?[:,]?\s+(?P<en>.+)",
    r"^(?:请)?(?:你)?(?:把|将)?(?:忘记|忘掉|忘了|忘|删除|删掉|删了|清除|抹掉)"
    r"(?:关于)?[：:，,\s]*(?P<zh>.+?)(?:吧|的?记忆)?$|^(?:请)?(?:把|将)(?P<ba>.+?)(?:的记忆)?"
    r"(?:忘记|忘掉|忘了|删除|删掉|删了|清除)(?:吧|掉)?$",
)
_EVERYTHING: Final = _pattern(
    r"^(?:everything|all(?: (?:of )?(?:my|the) (?:memories|data))?|about me|me)\b[\s\w]*$",
    r"^(?:一切|所有|全部|我的?一切|我的?所有|关于我的一切|我$)",
)
_QUESTION: Final = _pattern(
    r"[?？]\s*$|^(?:what|where|who|whom|whose|when|which|why|how|do|does|did|am|is|are|"
    r"was|were|can|could|have|has|had|will|would|should)(?:'s|n't)?\s|^(?:tell me|remind me|"
    r"show me|list)\b|^do you (?:know|remember)",
    r"(?:吗|呢|么)[？?。]?$|什么|谁|哪[里儿个些天年家座]?|多少|几岁|多大|怎么|为什么|是不是"
    r"|^(?:告诉我|说说)|(?:还)?记得我|是否",
)
_ASK_ALL: Final = _pattern(
    r"what (?:do|did|else do) you (?:know|remember|have)(?: stored| saved)?"
    r"(?: about| of| on)? me\b|what (?:have|did) i (?:told|tell|said|say)(?: to)?(?: you)?"
    r"(?: so far| before)?\s*\??$|what do you (?:remember|know)\s*\??$"
    r"|(?:list|show|tell) (?:me )?(?:all )?(?:my|your|the) memor|everything you know",
    r"你(?:都|还)?(?:知道|记得|记住|了解)(?:了)?(?:关于)?我?(?:的)?(?:哪些|什么|多少)"
    r"|我(?:都)?(?:跟|对|和|告诉)?过?你?(?:都)?(?:说|讲)?过?(?:你)?(?:些|哪些)?什么[？?]?$"
    r"|(?:列出|显示)(?:所有|全部|我的)|关于我你",
)
_MARKER: Final = _pattern(
    r"^(?:actually|no|sorry|correction|i was wrong|that's wrong|not quite|wait|in fact|"
    r"i made a mistake|update)\b[,:;.!—-]*\s*(?:actually[, ]+)?(?P<en>.+)",
    r"^(?:其实|不对|更正(?:一下)?|纠正(?:一下)?|说错了|我说错了|错了|不是的|实际上|事实上)"
    r"[，,：:。\s]*(?P<zh>.+)",
)
_CHANGE: Final = _pattern(
    r"\bi(?:'ve| have)? (?:just |recently )?(?:moved|relocated) (?:to|back)\b"
    r"|\bno longer\b|\banymore\b|\bany more\b|\bnot any longer\b|\binstead\b"
    r"|\b(?:i|my .{1,30}) (?:now |recently )?(?:changed|switched)\b"
    r"|^(?:i|my .{1,30}) now\b|^i(?:'m| am) now\b|\bnow[.!]?$|\bi stopped\b|\bi quit\b",
    r"不再|再也不|改(?:成|为|到|叫|名|吃|喝)|搬(?:到|去|家|回|来)|换(?:成|了|到)|^我现在"
    r"|已经不|戒了",
)
_NOT_BUT: Final = _pattern(
    r"\bnot (?P<old1>[\w' -]{1,40}?),? but (?P<new1>[\w' -]{1,40}?)[.!]?$"
    r"|\b(?:it's|it is|i meant|i mean) (?P<new2>[\w' -]{1,40}?),? not (?P<old2>[\w' -]{1,40}?)"
    r"[.!]?$",
    r"不是(?P<old3>[^，,。]{1,20})[，,]?\s*(?:而)?是(?P<new3>[^，,。！!]{1,20})[。！!]?$",
)
_SET_TO: Final = _pattern(
    r"^(?:please )?(?:change|update|set) my (?P<en_what>[\w' -]{1,40}?) to (?P<en_new>.+?)[.!]?$",
    r"^(?:请)?(?:把|将)?我的(?P<zh_what>.{1,10}?)(?:改|换|更新)(?:成|为|到)(?P<zh_new>.+?)[。！!]?$",
)

_EN_LEAD: Final = (
    r"^(?:(?:yesterday|today|tomorrow|tonight|last [\w]+|this [\w]+|on [^,]{1,20}|"
    r"in [\w ]{1,20}|now|currently|these days|usually|often|sometimes|recently|two|"
    r"\w+ (?:days?|weeks?|months?|years?) ago)\b,?\s+)?"
)
_EN_EVENT: Final = re.compile(
    _EN_LEAD + r"(?:i|we|my [\w' -]{1,30})(?:'ve| have)?\s+"
    r"(?:(?:just|also|finally|recently|both|all)\s+)*"
    r"(?:went|visited|met|saw|started|began|finished|bought|got|made|ate|tried|"
    r"learned|learnt|adopted|ran|won|lost|joined|left|quit|married|graduated|watched|"
    r"read|attended|passed|signed|booked|moved|relocated|took|gave|broke|came|drove|"
    r"flew|hiked|celebrated|turned|became|had|sold|planted|cooked|played|painted|"
    r"changed|switched|stopped|applied|found|retired|was|were)\b",
    re.IGNORECASE,
)
_EN_STATE: Final = re.compile(
    r"^(?:i|we|my [\w' -]+) (?:was|were|had)\b", re.IGNORECASE
)
_EN_PLAN: Final = re.compile(
    _EN_LEAD + r"(?:i|we)(?:'m|'re| am| are)?\s+(?:going to|will|planning|plan|flying|"
    r"travelling|traveling|meeting|visiting|moving|leaving|have an? (?:appointment|"
    r"meeting|exam|interview|flight))\b",
    re.IGNORECASE,
)
_EN_FACT: Final = re.compile(
    _EN_LEAD + r"(?:i|we)\s+(?:(?:always|often|usually|never|really|also|only|"
    r"currently|mostly|still|now|don't|do not|no longer|can|can't|cannot|used to|just|"
    r"want to|would like to|'d like to)\s+)*"
    r"(?:live|like|love|enjoy|prefer|hate|dislike|adore|have|own|speak|study|learn|play|"
    r"drive|ride|use|run|wear|drink|eat|collect|teach|work|cook|smoke|swim|sing|"
    r"stand|dance|paint|write|read|go|wake|sleep|grew|come|was|were|keep|need glasses|"
    r"believe in|go by|stopped|quit|visit|travel|become)\b"
    r"|" + _EN_LEAD + r"(?:i'm|i am|we're|we are)\s+(?:(?:now|currently|also|really|"
    r"no longer|not|still|very|originally)\s+)*"
    r"(?:an?|the|allergic|married|single|engaged|divorced|vegetarian|vegan|pregnant|"
    r"retired|left-handed|right-handed|from|based|into|afraid|interested|learning|"
    r"studying|training|working|living|lactose|fond|called|\d+|moving|good|bad|"
    r"[A-Z][a-z]+(?:ish|ese|an|ch)\b)"
    r"|^my\s+\S+.*\b(?:is|are|was|were|has|have|lives?|works?|likes?|loves?|hates?|"
    r"prefers?|called|named|speaks?|plays?|studies|moved|turns?|starts?|got|just)\b"
    r"|^(?:please )?call me\s|^[A-Z][\w.' -]{0,30} (?:is|are) my\b",
    re.IGNORECASE,
)
_EN_NO_FACT: Final = re.compile(
    r"^i (?:have|had) (?:a |an |another |one )?(?:\w+ )?(?:question|problem|idea|doubt|request)s?\b"
    r"|^i(?:'m| am) (?:a bit |so |very |just )?(?:sorry|sure|not sure|a (?:little|bit))\b"
    r"|^if\b|^i (?:was|am) (?:just )?(?:wondering|asking|thinking|joking)|^my (?:god|bad)\b"
    r"|^i(?:'d| would) like to (?:know|ask|see|hear)|^i want to (?:know|ask|see|hear)",
    re.IGNORECASE,
)
_ZH_LEAD: Final = (
    r"^(?:(?:昨[天晚日]|今[天晚早年]|前天|明[天早晚年]|后天|上个?(?:周|月|星期)[一二三四五六日天]?|"
    r"去年|前年|下(?:个)?(?:周|月|星期|年)|刚才|最近|周末|\d{4}年(?:\d+月)?(?:\d+[日号])?|"
    r"\d+月\d+[日号]|.{1,3}(?:天|个?月|年|周)前)[，,\s]*)?"
)
_ZH_FACT: Final = re.compile(
    _ZH_LEAD
    + r"我们?(?:家)?(?:现在|目前|以前|也|还|都|很|非常|特别|最|一直|平时|经常|常|从小|"
    r"真的|一般|通常|每天|每周|每年|周末|只|不再|再也不|已经|不|没|正在|在|对|今年|从来)*"
    r"(?:叫|姓|住|来自|在|喜欢|爱|热爱|偏爱|讨厌|恨|受不了|害怕|怕|有|养|是|会|能|吃|喝|用|学|"
    r"教|做|玩|打|踢|弹|骑|开|想要|打算|计划|准备|希望|.{1,12}过敏|\d+岁|出生|毕业|结婚|"
    r"已婚|单身|怀孕|退休|改|换|搬|戒)"
    r"|^我(?:的|妈|爸|妻子|老婆|老公|丈夫|儿子|女儿|姐|妹|哥|弟|爷爷|奶奶|家的?|朋友|同事).+"
    r"|^(?:请)?叫我.|^(?![他她它这那谁])[^，,]{1,10}是我的?[^，,]+"
)
_ZH_EVENT: Final = re.compile(
    _ZH_LEAD
    + r"我们?.{0,8}(?:去|买|见|看|参加|开始|完成|辞|入职|搬|换|吃|做|学|认识|遇|收|拿|"
    r"跑|爬|赢|输|结婚|毕业|出发|回|到|拜访|领养|通过|考|生|预约|飞|约).*"
)
_ZH_NO_FACT: Final = re.compile(
    r"^我(?:觉得|认为|想问|想知道|想请|不知道|知道了|明白|懂了?|问你|的意思|是说|在想|"
    r"有(?:个|一个)?(?:问题|疑问)|要你)|^(?:如果|假如|要是)|我的(?:天|妈呀)"
)
_PAST_OR_DATED: Final = re.compile(
    r"了|过(?!敏)|昨[天晚日]|前天|上个?(?:周|月|星期)|去年|前年|今[天晚早]|明[天年晚早]|后天"
    r"|下个?(?:周|月|星期|年)|\d+月\d+|\d年"
)


def read_message(text: str, today: date) -> list[Act]:
    """Read a message as a list of acts, in the order of its sentences.

    Args:
        text: What the person wrote.
        today: The day that "yesterday" is counted from.
    """
    acts: list[Act] = []
    spoken = text.strip()
    greeting = _GREETING.match(spoken)
    if greeting and not _SMALL_TALK.match(spoken):
        acts.append(Act("greet", greeting.group().strip()))
        spoken = spoken[greeting.end() :]
    acts += [_read(sentence, today) for sentence in sentences(spoken)]
    return acts


def _read(given: str, today: date) -> Act:
    sentence = _POLITE.sub("", given.replace("\u2019", "'"), count=1).strip() or given
    if (act := _small_talk(sentence)) is not None:
        return act
    asking = _QUESTION.search(sentence)
    remember = _REMEMBER.match(sentence)
    if remember and (_REQUEST.match(given) or not _asks(sentence)):
        return _remembered(_group(remember), today)
    if (set_to := _SET_TO.match(sentence)) is not None:
        return _set_to(set_to)
    if not asking:
        if (forget := _FORGET.match(sentence)) is not None:
            return _forget(_group(forget).rstrip("。.!！ "))
        if (corrected := _correction(sentence, today)) is not None:
            return corrected
        if (stated := _statement(sentence, today)) is not None:
            return stated
    if asking or _ASK_ALL.search(sentence):
        return _question(sentence, today)
    return Act("other", sentence, query=keywords(sentence))


def _small_talk(sentence: str) -> Act | None:
    if _WHO.search(sentence):
        return Act("who", sentence)
    if _THANKS.match(sentence):
        return Act("thanks", sentence)
    if _BYE.match(sentence):
        return Act("bye", sentence)
    return Act("greet", sentence) if _SMALL_TALK.match(sentence) else None


def _asks(sentence: str) -> bool:
    """Tell 记得我住在哪吗 (a question) from 记得我住在上海 (a request)."""
    return sentence.endswith(("?", "？")) or bool(
        re.search(r"吗|呢[。？?]?$|什么|谁|哪|多少|几岁|多大", sentence)
    )


def _remembered(given: str, today: date) -> Act:
    content = given.rstrip("?？ ")  # "can you remember that …?"
    stated = _correction(content, today) or _statement(content, today)
    if stated is not None:
        return stated
    return Act("remember", _clean(content), subject_stated(content))


def _set_to(match: re.Match[str]) -> Act:
    found = match.groupdict()
    if found["zh_what"]:
        text = f"我的{found['zh_what']}是{found['zh_new']}"
    else:
        text = f"My {found['en_what']} is {found['en_new']}"
    return _about("correct", text)


def _forget(content: str) -> Act:
    if _EVERYTHING.match(content):
        return Act("forget_all", content)
    subject = subject_stated(content) or subject_asked(content)
    words = keywords(content)
    return Act("forget", content, subject, query=words or _search_words(subject))


def _correction(sentence: str, today: date) -> Act | None:
    not_but = _NOT_BUT.search(sentence)
    if not_but is not None:
        groups = not_but.groupdict()
        old, new = (
            next((v.strip() for k, v in groups.items() if k.startswith(name) and v), "")
            for name in ("old", "new")
        )
        return Act("replace", _clean(sentence), query=old, old=old, new=new)
    marked = _MARKER.match(sentence)
    content = _group(marked) if marked else sentence
    if not marked and not _CHANGE.search(sentence):
        return None
    stated = _statement(content, today)
    if stated is None:
        return None
    return replace(
        _about("correct", stated.text), kind=stated.kind, event_time=stated.event_time
    )


def _about(type_: ActType, text: str) -> Act:
    subject = subject_stated(text)
    words = " ".join(filter(None, (_search_words(subject), keywords(text))))
    return Act(type_, _clean(text), subject, query=words)


def _statement(sentence: str, today: date) -> Act | None:
    text = _clean(sentence)
    bare = text.rstrip("。.!！~～ ")
    subject = subject_stated(text)
    if _EN_NO_FACT.match(bare) or _ZH_NO_FACT.match(bare):
        return None
    happened = _happened(bare, today)
    known = subject is not None or is_introduction(bare)
    if not (known or happened or _EN_FACT.match(bare) or _ZH_FACT.match(bare)):
        return None
    when = find_date(bare, today) if happened else None
    # One's home, name and so on stay facts, also when told as something that happened.
    episode = happened and not (subject is not None and subject.single)
    return Act(
        "remember",
        text,
        subject,
        query=keywords(text),
        kind="episode" if episode else "fact",
        event_time=when,
    )


def _happened(bare: str, today: date) -> bool:
    if _EN_EVENT.match(bare):
        # "I was a teacher" is a state; "I was in Rome yesterday" happened.
        return not _EN_STATE.match(bare) or find_date(bare, today) is not None
    if _EN_PLAN.match(bare):
        return True
    return bool(_ZH_EVENT.match(bare) and _PAST_OR_DATED.search(bare))


def _question(sentence: str, today: date) -> Act:
    if _ASK_ALL.search(sentence):
        return Act("ask_all", sentence)
    subject = subject_asked(sentence)
    words = dict.fromkeys(
        word
        for part in (_search_words(subject), keywords(sentence))
        for word in part.split()
    )
    when = find_date(sentence, today)
    return Act("ask", sentence, subject, query=" ".join(words), event_time=when)


def _search_words(subject: Subject | None) -> str:
    return subject.search if subject else ""


def _group(match: re.Match[str]) -> str:
    return next((text.strip() for text in match.groupdict().values() if text), "")


def _clean(text: str) -> str:
    """Return the text as a sentence of its own: trimmed, with a capital letter."""
    trimmed = text.strip().rstrip(" ,，;；")
    return trimmed[:1].upper() + trimmed[1:]
