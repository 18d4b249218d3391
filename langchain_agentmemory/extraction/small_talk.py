"""Small talk: sentences that greet, thank or acknowledge, and say nothing else."""

from typing import Final

from langchain_agentmemory.search.scripts import LazyPattern

_LONGEST: Final = 80  # characters; longer sentences say more than that
_NOT_SPOKEN: Final = LazyPattern(r"[^\w']+")
_CURLY: Final = str.maketrans({"\u2019": "'", "\u2018": "'"})


def alternatives(lines: str) -> str:
    """Return a pattern for any of the lines of a text."""
    return "|".join(line.strip() for line in lines.split("\n") if line.strip())


# Repetitions within a line are possessive where two of them could share characters.
_ENGLISH: Final = alternatives(
    r"""
    (?:hi|hello|hey|hiya|yo|greetings|welcome)(?: (?:there|everyone|all))?
    good (?:morning|afternoon|evening|night|day)
    (?:many thanks|thanks|thank you|thx|ty|cheers)(?: (?:so|very) much| a lot)?
    for (?:your|the|all|all your|all the) (?:\w+ (?:and )?)?(?:\w+ )?(?:advice|help)
    for (?:your|the|all|all your|all the) (?:\w+ )?(?:tips?|suggestions?|support|ideas?)
    for (?:your|the) (?:\w+ )?(?:encouragement|compliment|information|explanation|time)
    (?:i |we )?(?:really |greatly |truly )?appreciate (?:it|that|this|your \w+)
    that's|that is|it's|this is|that was|it was|those are|these are|you're|you are
    a|an|all|so|such|very|most|really|just|pretty|quite|really|truly
    good|great|helpful|nice|awesome|amazing|perfect|right|true|correct|cool|fine|fair
    wonderful|interesting|fantastic|excellent|useful|fun|lovely|fascinating|impressive
    advice|ideas?|points?|news|questions?|suggestions?|tips?|to (?:hear|know)
    (?:that |it |those )?(?:sounds?|looks?|seems?)(?: like a (?:good |great )?plan)?
    (?:that )?makes (?:perfect |total )?sense|i see|i understand|understood|noted
    (?:i )?got it|i got you|i know|i agree|will do|never ?mind
    i'll (?:try|do)(?: (?:it|that|them))?(?: out)?
    no (?:problem|worries|thanks|thank you|way|need)
    okay|ok|sure(?: thing)?|yes|yeah|yep|yup|no|nope|nah|all ?right|exactly
    absolutely|definitely|certainly|indeed|of course|haha|lol|wow|oh|ah|hmm+|well
    please|maybe|perhaps|not really|i (?:think|guess|hope) so|me too|same here
    my pleasure|sorry|my bad|excuse me|congratulations
    (?:good)?bye|take care|later|(?:talk|speak|see|catch) (?:to )?(?:you|ya)
    soon|tomorrow|next time|around|anyway|in advance|again|then|now|too|and|but|so
    have a (?:\w+ ){0,2}(?:day|one|evening|night|weekend|time)
    how are you(?: doing)?(?: today)?|how's it going|how do you do|what's up
    (?:nice|pleased|great|good) to (?:meet|see) you
    continue|go on|go ahead|carry on|keep going|try again|next|more|one more|stop
    start over|friend|my friend|sir|dear|buddy|assistant|ai
    """
)
_CHINESE: Final = alternatives(
    r"""
    [你您]好[啊呀]?|大家好|嗨|嘿|哈[喽啰]|早[上安]?好?|[上中下]午好|晚上好|晚安|在吗|在不在
    朋友|亲爱的|(?:AI)?(?:伴侣|助手)|你们?|您
    (?:最近|近来)?(?:过得)?(?:怎么样|还?好吗)
    (?:非常|真的|真是|十分|多)?(?:感谢|谢谢|多谢|谢)[你您了啦啊呀]*+
    的?(?:建议|推荐|帮助|帮忙|分享|回答|提醒|鼓励|支持|关心|解释|指导|耐心)[和与]?
    辛苦[你您]?了|麻烦[你您]?了|不客气|别客气|没关系|没事[儿的]?|没问题
    不好意思|对不起|抱歉
    好[的吧啊呀嘞哒滴了]*+|嗯++|哦++|噢++|啊++|哈++|行[吧啊]?|可以[的啊]?
    我?(?:知道|明白|了解|懂|收到|记住|记下)[了啦]*+|原来如此|原来是这样|这样啊
    不?是[的啊呀吧]*+|不?对[的啊呀吧]*+|不用了?|不必了?|没有|有的?|没错|同意
    当然(?:可以|了|啦)?|确实(?:是|如此)?|我也(?:是|觉得|这么[想认]为?)
    (?:真是|真的|太|真|很|挺|非常)(?=.)|(?:棒|不错|厉害|有趣|有意思|赞)[了啊呀]*+|极了
    [说讲]得|有道理|有帮助|听起来
    高兴(?:认识|见到)[你您]|祝[你您].{1,8}
    再见|拜拜|回头见|明天见|(?:我们)?下次(?:再[见聊]|见)|先这样|就这样
    请?(?:继续|接着说|说下去)|再来一个|还有吗|然后呢|还有呢|为什么呢?
    我(?:一定)?会(?:注意|考虑|努力|加油|试试看?|尝试(?:一下)?)?的?
    那么?|呵++|呃++|额++|唉++|哎呀?|哇++|天啊|[啦呀吧了]
    """
)
_SMALL_TALK: Final = LazyPattern(
    r"(?i)"
    rf"(?:(?:{_ENGLISH})(?![a-z'])\s*+|(?:{_CHINESE})\s*+)++"
)


def is_small_talk(sentence: str) -> bool:
    """Tell whether a sentence greets, thanks or acknowledges, and nothing else.

    A text without any word is small talk, too.
    """
    if len(sentence) > _LONGEST:
        return False
    words = _NOT_SPOKEN.sub(" ", sentence.translate(_CURLY)).strip()
    return not words or _SMALL_TALK.fullmatch(words) is not None
