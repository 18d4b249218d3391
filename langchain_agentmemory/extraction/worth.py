"""Which sentences are worth keeping, told by rules alone: English and Chinese.

Small talk, questions and commands say nothing about the person who writes them. In
doubt a sentence is kept: what is too much can be found and deleted, what is lost
cannot.
"""

from typing import Final

from langchain_agentmemory.extraction.messages import Role
from langchain_agentmemory.extraction.small_talk import (
    alternatives,
    is_small_talk,
)
from langchain_agentmemory.search.scripts import HAN, LazyPattern, has_han

_FEWEST_WORDS: Final = 2
_FEWEST_HAN: Final = 3
_LONGEST_REACTION: Final = 60

_CURLY: Final = str.maketrans({"\u2019": "'", "\u2018": "'"})
_WORD: Final = LazyPattern(r"[^\W\d_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff][\w'-]*")

_ENGLISH_LEAD: Final = (
    r"(?:(?:"
    + alternatives(
        r"""
        please|kindly|just|now|also|and|so|then|but|well|oh|hey|hi|hello|ok|okay|great
        thanks|thank you|sure|alright|yes|no|actually|anyway|again|maybe|perhaps
        by the way|btw|let's|let us|you (?:can|may|should)
        (?:can|could|will|would) you(?: please)?
        i(?:'d like| would like|'d love| want| need) you to
        """
    )
    + r")[,:!.]?\s+)*+"
)
_CHINESE_LEAD: Final = (
    r"(?:请(?!问)|麻烦|劳驾|能不能|可不可以|可以|能|那么?|好的?|嗯|对了|另外|还有|谢谢|然后|现在|再|也"
    r"|就|先|都|[你您，,！!。\s])*+"
)

_ASKING_MARK: Final = LazyPattern(r"[?？][\"'”’」』）)\]!！~\s]*\Z")
_LONGEST_ENDING: Final = 20
_ENGLISH_QUESTION: Final = LazyPattern(
    r"(?i)"
    r"(?:(?:and|so|but|ok|okay|well|oh|then|also|hey|by the way|btw),?\s+)*+(?:"
    + alternatives(
        r"""
        (?:what|who|whom|whose|where|why|how|which)(?:'s|'re|'d)\b
        (?:what|who|whom|where|why|how|which) (?:is|are|was|were|do|does|did|can)\b
        (?:what|who|whom|where|why|how|which) (?:could|should|would|will|to|about)\b
        (?:what|who|whom|where|why|how|which|when) (?:am|has|have|had)\b
        when (?:is|are|was|were|do|does|did|can|could|should|will|would)\b
        what (?:colou?r|kind|type|sort|time|day|date|year|month|number|size|brand)s?\b
        what (?:model|name|language|city|country|book|movie|film)s?\b
        what (?:song|food|dish|team)s?\b
        (?:what|who) (?:happened|happens|went|came|changed|else)\b
        how (?:much|many|long|often|far|old)\b
        (?:do|does|did|can|could|would|will|should)(?:n't)? (?:you|i|we|they|he|she)\b
        (?:is|are|was|were|have|has|had)(?:n't)? (?:you|i|we|they|he|she)\b
        (?:is|are|was|were|does|did|can|will|has) (?:it|there|this|that|these|the|my)\b
        any (?:ideas?|tips?|suggestions?|recommendations?|advice)\b
        """
    )
    + ")"
)
_CHINESE_QUESTION: Final = LazyPattern(
    r"(?:吗|呢|(?<!什)么)[~～。.\s]*\Z|\A(?:什么|怎么|怎样|如何|为什么|为何|哪|谁|多少|几)"
    r"|\A那?[你您].{0,4}(?:什么|谁|哪|多少|几|怎么|如何|为什么)"
    r"|(?:有没有|是不是|能不能|可不可以|要不要|会不会|好不好|行不行|是什么|怎么办|怎么样)[。.\s]*\Z"
)

_CHINESE_TIME: Final = (
    r"(?:(?:昨|今|明|前|后)[天日晚早年]|去年|[上下这本](?:一|个|两个)?(?:周|月|星期|礼拜)末?"
    r"[一二三四五六日天]?|[上下本]周末|周末|最近|近来|那天|当时|早上|晚上"
    r"|[0-9零〇一二三四五六七八九十两]{1,4}(?:年|月|[日号]|天前|周前|个月前|年前)份?)"
)
# "我住在哪里" asks; "我不知道住在哪里", "我没什么胃口" and "我什么都吃" do not.
_CHINESE_SELF_QUESTION: Final = LazyPattern(
    rf"\A(?:我(?:们|的)?|{_CHINESE_TIME}+的?[，,\s]*)"
    r"[^，,。；;！!]{0,18}?(?:什么|啥|哪[里儿个天年位]|谁|几[点号岁个]|多少|怎么|为什么)"
    r"[^，,。；;！!]{0,8}[。.]?\Z"
)
_CHINESE_INDEFINITE: Final = LazyPattern(
    "[没不].{0,4}(?:什么|谁|哪|怎么)|(?:什么|谁|哪[里儿个]?|怎么|多少)(?:都|也)|什么的|多少有|无论|不管|随便"
    "|(?:知道|忘了|忘记|记得|明白|理解|懂|发现|决定|告诉|学会|教)(?:了)?.{0,8}(?:什么|谁|哪|怎么|多少)"
)
_ENGLISH_ASK_ME: Final = LazyPattern(
    r"(?i)"
    r"(?:please |can you |could you )?(?:tell|show|give|send|read|remind) (?:me|us) "
    r"(?!(?:to|that|when|if)\b)"
)

_ENGLISH_COMMAND: Final = LazyPattern(
    r"(?i)"
    rf"{_ENGLISH_LEAD}(?:"
    + alternatives(
        r"""
        tell|show|give|send|write|rewrite|explain|translate|summari[sz]e|list|find
        search|look up|make|create|generate|describe|compare|calculate|compute|convert
        fix|check|open|play|repeat|suggest|recommend|draft|define|help|continue|answer
        read|improve|shorten|expand|format|sort|count|solve|name|provide|discuss
        analy[sz]e|teach|sing|imagine|pretend
        """
    )
    + r")\b"
)
_ENGLISH_INQUIRY: Final = LazyPattern(
    r"(?i)"
    rf"{_ENGLISH_LEAD}i(?:'m| am|'d| would|'ve| have| was)?\s+"
    r"(?:just |also |really )*(?:"
    + alternatives(
        r"""
        wondering|curious|asking|interested in (?:hearing|knowing)
        like to (?:know|ask|hear|see)|love to (?:know|hear|see)
        want to (?:know|ask|hear)|wanted to ask|was wondering|hoping you c(?:an|ould)
        have (?:a|another|one more) (?:quick )?question
        """
    )
    + r")\b"
)
_CHINESE_COMMAND: Final = LazyPattern(
    rf"{_CHINESE_LEAD}(?:[帮给替为教]我|帮忙|[告诉跟]+我|推荐|介绍|翻译|总结|概括|解释|改?写|润色|继续|列出"
    r"|列举|生成|讲|说说|聊聊|举|查|搜|找|计算|比较|分析|描述|回答|重复|播放|打开|唱|画|做[个一])"
)
_CHINESE_INQUIRY: Final = LazyPattern(
    rf"{_CHINESE_LEAD}(?:我(?:很|还|也|就|只是|一直)*(?:想|要|需要)[^，,。]{{0,4}}?"
    r"(?:问|知道|请教|了解|听听|咨询)|请问|求推荐|求助|我有(?:一?[个些])?(?:问题|疑问))"
)
_CHINESE_SERVED: Final = LazyPattern("[帮给替为教跟和对让]我|告诉我")
_ENGLISH_SELF: Final = LazyPattern(
    r"(?i)"
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our|ours)\b"
)
_ENGLISH_REACTION: Final = LazyPattern(
    r"(?is)"
    r"(?:wow|oh|ah|haha|yeah|yes)?[,! ]*(?:that's|that is|that sounds|those are"
    r"|it sounds|this is|these are|it was|that was|that must be)\b(?P<rest>.*)"
)
_PARTICULAR: Final = LazyPattern(r"[A-Z0-9]|\b(?:he|she|they|his|her|their)\b")

# What may hold a statement of its own within a question or a command.
_ENGLISH_CLAUSE: Final = LazyPattern(
    r"(?i)"
    r"[,;:—–]\s*|\s-\s|\b(?:since|because|given that|considering|and|but|so|as|that"
    r"|by the way|btw|which)\b,?\s*"
)
_ENGLISH_STATEMENT: Final = LazyPattern(
    r"(?i)"
    r"(?:(?:oh|well|hi|hey|hello|also|actually|recently|yesterday|today|last \w+)"
    r"[,\s]+)*+"
    r"(?:(?:i|we)(?:'m|'ve|'re)?\s+"
    r"(?!(?:should|could|can|may|might|would|will|do|did)\b)\w"
    r"|(?:my|our)\s+[\w' -]{1,40}?\s(?:is|are|was|were|has|had|have|just|likes?|loves?"
    r"|wants?|lives?|works?|got|needs?|started|turns|turned|said|told|can't|doesn't)\b)"
)
_CHINESE_CLAUSE: Final = LazyPattern(r"[，,；;。！!：:]")
_CHINESE_STATEMENT: Final = LazyPattern(
    r"(?:其实|你知道|因为|由于|虽然|不过|但是?|而且|比如|对了|你好|朋友|嗨)*(?:"
    r"(?:我们?|咱们|自己)(?!(?:应该|该|可以|能|要怎|怎|如何))"
    r"|今[天早晚年]|昨[天晚]|前天|明天|[早晚]上|最近|近来|刚刚|刚才|上个?[周月]|上个?星期"
    r"|这(?:个?[周月]|几天)|周末|去年)"
)
_CHINESE_ASKING: Final = LazyPattern(
    "什么|怎么|怎样|如何|为什么|为何|哪|谁|多少|几[个种点次年岁]|吗|是否|有没有|能不能|可不可以"
    "|是不是"
)

_OFFER: Final = LazyPattern(
    r"(?i)"
    "(?:"
    + alternatives(
        r"""
        (?:please )?(?:let me know|feel free|don't hesitate)
        (?:i )?hope (?:this|that|it)
        (?:i'm|i am) (?:happy|glad|here|sorry|afraid)|happy to|glad|as an ai|i can help
        i'd be happy|enjoy your|best of luck|good luck|certainly[!,]|of course[!,]
        if you (?:have|need|want|would|'d)\b|sure, (?:here|i)
        希望(?:这|能|对|以上|你|您)|如果[你您](?:有|需要|还|想)|随时|欢迎|很高兴|很?抱歉|不好意思
        作为一?[个名]?(?:AI|人工智能)|祝[你您]|当然[，！可]
        """
    )
    + ")"
)


def worth_keeping(sentence: str, role: Role = "user") -> bool:
    """Tell whether a sentence says something that may matter later.

    Not worth keeping are greetings, thanks, acknowledgements and reactions, fragments
    of a word or two, questions, and what only asks the assistant to do something. A
    question or command that also tells something ("I just moved to Porto, any tips?")
    is kept. Of what the assistant says, questions, offers and apologies are left out.

    Args:
        sentence: One sentence.
        role: Who said it.
    """
    spoken = sentence.translate(_CURLY).strip()
    if not _has_content(spoken) or is_small_talk(spoken):
        return False
    if role == "assistant":
        return not (is_question(spoken) or _OFFER.match(spoken))
    if is_question(spoken):
        return _states_something(spoken)
    asks = (_ENGLISH_INQUIRY, _CHINESE_INQUIRY, _ENGLISH_ASK_ME)
    if any(pattern.match(spoken) for pattern in asks):
        return _states_something(_without_first_clause(spoken))
    return not (_is_bare_command(spoken) or _is_reaction(spoken))


def is_question(sentence: str) -> bool:
    """Tell whether a sentence asks something, with or without a question mark."""
    if _ASKING_MARK.search(sentence[-_LONGEST_ENDING:]):
        return True
    if has_han(sentence):
        if _CHINESE_QUESTION.search(sentence) is not None:
            return True
        about_me = _CHINESE_SELF_QUESTION.search(sentence) is not None
        return about_me and _CHINESE_INDEFINITE.search(sentence) is None
    return _ENGLISH_QUESTION.match(sentence) is not None


def _has_content(sentence: str) -> bool:
    han = len(HAN.findall(sentence))
    words = len(_WORD.findall(sentence.replace("[redacted]", " ")))
    return han >= _FEWEST_HAN or words + (han > 0) >= _FEWEST_WORDS


def _is_bare_command(sentence: str) -> bool:
    """Tell whether a sentence wants something done and speaks of nobody."""
    if _ENGLISH_COMMAND.match(sentence):
        return not _ENGLISH_SELF.search(sentence)
    if _CHINESE_COMMAND.match(sentence):
        return "我" not in _CHINESE_SERVED.sub("", sentence)
    return False


def _is_reaction(sentence: str) -> bool:
    """Tell whether a sentence only judges what was said: "That's a lot!"."""
    if len(sentence) > _LONGEST_REACTION or _ENGLISH_SELF.search(sentence):
        return False
    found = _ENGLISH_REACTION.match(sentence)
    return found is not None and not _PARTICULAR.search(found["rest"])


def _states_something(sentence: str) -> bool:
    """Tell whether a clause of a question states something about who asks."""
    if has_han(sentence):
        return any(
            _CHINESE_STATEMENT.match(clause.strip())
            and not _CHINESE_ASKING.search(clause)
            and not _CHINESE_INQUIRY.match(clause.strip())
            for clause in _CHINESE_CLAUSE.compiled.split(sentence)
        )
    return any(
        _ENGLISH_STATEMENT.match(clause.strip())
        and not _ENGLISH_INQUIRY.match(clause.strip())
        for clause in _ENGLISH_CLAUSE.compiled.split(sentence)
    )


def _without_first_clause(sentence: str) -> str:
    clause = _CHINESE_CLAUSE if has_han(sentence) else _ENGLISH_CLAUSE
    _, *rest = clause.compiled.split(sentence, maxsplit=1)
    return "".join(rest)
