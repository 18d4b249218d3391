"""How people say things to a memory, in English and Chinese: the patterns of `reading`.

Each pattern has an English and a Chinese half. Named groups hold what is left of a
sentence once the words that only command ("remember that", 请记住) are taken off.
"""

import re
from typing import Final


def _pattern(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"{english}|{chinese}", re.IGNORECASE)


GREETING: Final = _pattern(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)"
    r"|greetings)(?: there)?\b[\s,!.]*",
    r"^(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安)[啊呀，,！!。.\s]*",
)
THANKS: Final = _pattern(
    r"^(?:many )?(?:thanks|thank you|thx)\b|\b(?:thanks|thank you|thx)[.! ]*$",
    r"^(?:谢谢|多谢|感谢)",
)
BYE: Final = _pattern(
    r"^(?:bye|goodbye|good night|see you|cu)\b", r"^(?:再见|拜拜|回头见|下次见|晚安)"
)
OK: Final = _pattern(
    r"^(?:ok(?:ay)?|cool|great|nice|got it|sure|fine|yes|yeah|no"
    r"|wow)(?: then)?[.!, ]*$",
    r"^(?:好的?|好吧|嗯+|行|可以|知道了|明白了?|不是|是的?|对"
    r"|不用了?)[了啊呀吧。！!，, ]*$",
)
WHO: Final = _pattern(
    r"\bwho are you\b|\bwhat are you\b|what can you do|^help\b|how do you work"
    r"|what(?:'s| is) your name|are you (?:an? )?(?:ai|llm|bot|human|real|gpt|chatgpt)",
    r"你是谁|你是什么|你叫什么|你会什么|你会做什么|你能做什么|你能干什么|^帮助|怎么用你"
    r"|你是(?:不是)?(?:人|机器人|AI|人工智能)",
)
SMALL_TALK: Final = _pattern(
    r"^how are you\b|^how(?:'s| is) it going|^what's up\b",
    r"^你?(?:最近)?(?:好吗|怎么样|还好吗)",
)
POLITE: Final = _pattern(
    r"^(?:(?:please|well|so|oh|also|and|but|okay|ok|btw|by the way|fyi|note that|"
    r"just so you know|you should know(?: that)?|(?:can|could|will"
    r"|would) you(?: please)?"
    r"(?= remember (?:that|my|i)| forget| note| delete))[,:]?\s+)+",
    r"^(?:(?:请你?|麻烦你?|你能|能不能|可以|对了|另外|还有|顺便说一下|帮我|嗯|哦|那)"
    r"[，,\s]*)+(?=.)",
)
REMEMBER: Final = _pattern(
    r"^(?:please )?(?:remember|note|keep in mind|don't forget|do not forget"
    r"|never forget|"
    r"memori[sz]e|save|write down)(?: down)?(?: that| this)?[:,]?\s+(?P<en>.+)",
    r"^(?:请)?(?:你)?(?:要|帮我)?(?:记住|记下来?|记一下|记得|别忘了|不要忘记?|别忘记"
    r"|牢记)"
    r"[：:，,\s]*(?P<zh>.+)",
)
REQUEST: Final = _pattern(
    r"^(?:can|could|will|would) you (?:please )?(?:remember|note) (?:that|my|i)\b",
    r"^(?:你能|能不能|可以)(?:帮我)?(?:记住|记一下|记下)",
)
FORGET: Final = _pattern(
    r"^(?:please )?(?:forget|delete|remove|erase)\b(?: (?:the|my) memor(?:y|ies))?"
    r"(?: about| that| of)?[:,]?\s+(?P<en>.+)",
    r"^(?:请)?(?:你)?(?:把|将)?(?:忘记|忘掉|忘了|忘|删除|删掉|删了|清除|抹掉)"
    r"(?:关于)?[：:，,\s]*(?P<zh>.+?)(?:吧|的?记忆)?$|^(?:请)?(?:把"
    r"|将)(?P<ba>.+?)(?:的记忆)?"
    r"(?:忘记|忘掉|忘了|删除|删掉|删了|清除)(?:吧|掉)?$",
)
EVERYTHING: Final = _pattern(
    r"^(?:everything|all(?: (?:of )?(?:my|the) (?:memories|data))?|about me"
    r"|me)\b[\s\w]*$",
    r"^(?:一切|所有|全部|我的?一切|我的?所有|关于我的一切|我$)",
)
QUESTION: Final = _pattern(
    r"[?？]\s*$|^(?:what|where|who|whom|whose|when|which|why|how|do|does|did|am|is|are|"
    r"was|were|can|could|have|has|had|will|would|should)(?:'s|n't)?\s"
    r"|^(?:tell|remind|show) me (?:about|what|where|who|when|which|how|my|if|whether)\b"
    r"|^list\b|^do you (?:know|remember)",
    r"(?:吗|呢|么)[？?。]?$|什么|谁|哪[里儿个些天年家座]?|多少|几岁|多大|怎么|为什么"
    r"|是不是"
    r"|^(?:告诉我|说说)|(?:还)?记得我|是否",
)
ASK_ALL: Final = _pattern(
    r"what (?:do|did|else do) you (?:know|remember|have)(?: stored| saved)?"
    r"(?: about| of| on)? me\b|what (?:have|did) i (?:told|tell|said"
    r"|say)(?: to)?(?: you)?"
    r"(?: so far| before)?\s*\??$|what do you (?:remember|know)\s*\??$"
    r"|(?:list|show|tell) (?:me )?(?:all )?(?:my|your|the) memor|everything you know",
    r"你(?:都|还)?(?:知道|记得|记住|了解)(?:了)?(?:关于)?我?(?:的)?(?:哪些|什么|多少)"
    r"|我(?:都)?(?:跟|对|和|告诉)?过?你?(?:都)?(?:说|讲)?过?(?:你)?(?:些"
    r"|哪些)?什么[？?]?$"
    r"|(?:列出|显示)(?:所有|全部|我的)|关于我你",
)
MARKER: Final = _pattern(
    r"^(?:actually|no|sorry|correction|i was wrong|that's wrong|not quite|wait|in fact|"
    r"i made a mistake|update)\b[,:;.!—-]*\s*(?:actually[, ]+)?(?P<en>.+)",
    r"^(?:其实|不对|更正(?:一下)?|纠正(?:一下)?|说错了|我说错了|错了|不是的|实际上"
    r"|事实上)"
    r"[，,：:。\s]*(?P<zh>.+)",
)
CHANGE: Final = _pattern(
    r"\b(?:i|we)(?:'ve| have)? (?:just |recently )?(?:moved|relocated) (?:to|back)\b"
    r"|\bno longer\b|\banymore\b|\bany more\b|\bnot any longer\b|\binstead\b"
    r"|\b(?:i|my .{1,30}) (?:now |recently )?(?:changed|switched)\b"
    r"|^(?:i|my .{1,30}) now\b|^i(?:'m| am) now\b|\bnow[.!]?$|\bi stopped\b|\bi quit\b",
    r"不再|再也不|改(?:成|为|到|叫|名|吃|喝)|搬(?:到|去|家|回|来)|换(?:成|了|到)"
    r"|^我现在"
    r"|已经不|戒了",
)
NOT_BUT: Final = _pattern(
    r"\bnot (?P<old1>[\w' -]{1,40}?),? but (?P<new1>[\w' -]{1,40}?)[.!]?$"
    r"|\b(?:it's|is|are|i meant|i mean|in"
    r"|called) (?P<new2>[\w' -]{1,40}?),? not (?P<old2>[\w' -]{1,40}?)"
    r"[.!]?$",
    r"不是(?P<old3>[^，,。]{1,20})[，,]?\s*(?:而)?是(?P<new3>[^，,。！!]{1,20})[。！!]?$",
)
SET_TO: Final = _pattern(
    r"^(?:please )?(?:change|update"
    r"|set) my (?P<en_what>[\w' -]{1,40}?) to (?P<en_new>.+?)[.!]?$",
    r"^(?:请)?(?:把|将)?我的(?P<zh_what>.{1,10}?)(?:改|换|更新)(?:成|为"
    r"|到)(?P<zh_new>.+?)[。！!]?$",
)

EN_LEAD: Final = (
    r"^(?:(?:yesterday|today|tomorrow|tonight|last [\w]+|this [\w]+|on [^,]{1,20}|"
    r"in [\w ]{1,20}|now|currently|these days|usually|often|sometimes|recently|two|"
    r"\w+ (?:days?|weeks?|months?|years?) ago)\b,?\s+)?"
)
EN_EVENT: Final = re.compile(
    EN_LEAD + r"(?:i|we|my [\w' -]{1,30})(?:'ve| have)?\s+"
    r"(?:(?:just|also|finally|recently|both|all)\s+)*"
    r"(?:went|visited|met|saw|started|began|finished|bought|got|made|ate|tried|"
    r"learned|learnt|adopted|ran|won|lost|joined|left|quit|married|graduated|watched|"
    r"read|attended|passed|signed|booked|moved|relocated|took|gave|broke|came|drove|"
    r"flew|hiked|celebrated|turned|became|had|sold|planted|cooked|played|painted|"
    r"changed|switched|stopped|applied|found|retired|was|were)\b",
    re.IGNORECASE,
)
EN_STATE: Final = re.compile(r"^(?:i|we|my [\w' -]+) (?:was|were|had)\b", re.IGNORECASE)
EN_PLAN: Final = re.compile(
    EN_LEAD + r"(?:i|we)(?:'m|'re| am| are)?\s+(?:going to|will|planning|plan|flying|"
    r"travelling|traveling|meeting|visiting|moving|leaving|have an? (?:appointment|"
    r"meeting|exam|interview|flight))\b",
    re.IGNORECASE,
)
EN_FACT: Final = re.compile(
    EN_LEAD + r"(?:i|we)\s+(?:(?:always|often|usually|never|really|also|only|"
    r"currently|mostly|still|now|don't|do not|no longer|can|can't|cannot|used to|just|"
    r"want to|would like to|'d like to)\s+)*"
    r"(?:live|like|love|enjoy|prefer|hate|dislike|adore|have|own|speak|study|learn"
    r"|play|"
    r"drive|ride|use|run|wear|drink|eat|collect|teach|work|cook|smoke|swim|sing|"
    r"stand|dance|paint|write|read|go|wake|sleep|grew|come|was|were|keep|need glasses|"
    r"believe in|go by|stopped|quit|visit|travel|become)\b"
    r"|" + EN_LEAD + r"(?:i'm|i am|we're|we are)\s+(?:(?:now|currently|also|really|"
    r"no longer|not|still|very|originally)\s+)*"
    r"(?:an?|the|allergic|married|single|engaged|divorced|vegetarian|vegan|pregnant|"
    r"retired|left-handed|right-handed|from|based|into|afraid|interested|learning|"
    r"studying|training|working|living|lactose|fond|called|\d+|moving|good|bad|"
    r"[A-Z][a-z]+(?:ish|ese|an|ch)\b)"
    r"|^my\s+\S+.*\b(?:is|are|was|were|has|have|lives?|works?|likes?|loves?|hates?|"
    r"prefers?|called|named|speaks?|plays?|studies|moved|turns?|starts?|got|just|"
    r"sells?|teaches|teach|drives?|owns?|makes?|runs?|goes|go|wants?|needs?|eats?"
    r"|drinks?|"
    r"comes?|cooks?|died|married|can)\b"
    r"|^(?:please )?call me\s|^[\w' -]{1,40} (?:is|are) my favou?rite\b"
    r"|^[A-Z][\w.' -]{0,30} (?:is|are) my\b",
    re.IGNORECASE,
)
EN_NO_FACT: Final = re.compile(
    r"^i (?:have|had) (?:a |an |another |one )?(?:\w+ )?(?:question|problem|idea"
    r"|doubt|request)s?\b"
    r"|^i(?:'m| am) (?:a bit |so |very |just )?(?:sorry|sure|not sure|a (?:little"
    r"|bit))\b"
    r"|^if\b|^i (?:was|am) (?:just )?(?:wondering|asking|thinking|joking)|^my (?:god"
    r"|bad)\b"
    r"|^i(?:'d| would) like to (?:know|ask|see|hear)|^i want to (?:know|ask|see|hear)",
    re.IGNORECASE,
)
ZH_LEAD: Final = (
    r"^(?:(?:昨[天晚日]|今[天晚早年]|前天|明[天早晚年]|后天|上个?(?:周|月"
    r"|星期)[一二三四五六日天]?|"
    r"去年|前年|下(?:个)?(?:周|月|星期|年)|刚才|最近|周末"
    r"|\d{4}年(?:\d+月)?(?:\d+[日号])?|"
    r"\d+月\d+[日号]|.{1,3}(?:天|个?月|年|周)前)[，,\s]*)?"
)
ZH_FACT: Final = re.compile(
    ZH_LEAD
    + r"我们?(?:家)?(?:现在|目前|以前|也|还|都|很|非常|特别|最|一直|平时|经常|常|从小|"
    r"真的|一般|通常|每天|每周|每年|周末|只|不再|再也不|已经|不|没|正在|在|对|今年"
    r"|从来)*"
    r"(?:叫|姓|住|来自|在|喜欢|爱|热爱|偏爱|讨厌|恨|受不了|害怕|怕|有|养|是|会|能|吃"
    r"|喝|用|学|"
    r"教|做|玩|打|踢|弹|骑|开|想要|打算|计划|准备|希望|.{1,12}过敏|\d+岁|出生|毕业"
    r"|结婚|"
    r"已婚|单身|怀孕|退休|改|换|搬|戒)"
    r"|^我(?:的|妈|爸|妻子|老婆|老公|丈夫|儿子|女儿|姐|妹|哥|弟|爷爷|奶奶|家的?|朋友"
    r"|同事).+"
    r"|^(?:请)?叫我.|^(?![他她它这那谁])[^，,]{1,10}是我的?[^，,]+"
)
ZH_EVENT: Final = re.compile(
    ZH_LEAD + r"我们?.{0,8}(?:去|买|见|看|参加|开会|面试|出差|旅游|上课|开始|"
    r"完成|辞|入职|搬|换|吃|做|学|认识|遇|收|拿|"
    r"跑|爬|赢|输|结婚|毕业|出发|回|到|拜访|领养|通过|考|生|预约|飞|约).*"
)
ZH_NO_FACT: Final = re.compile(
    r"^我(?:觉得|认为|想问|想知道|想请|不知道|知道了|明白|懂了?|问你|的意思|是说|在想|"
    r"有(?:个|一个)?(?:问题|疑问)|要你)|^(?:如果|假如|要是)|我的(?:天|妈呀)"
)
PAST_OR_DATED: Final = re.compile(
    r"了|过(?!敏)|昨[天晚日]|前天|上个?(?:周|月|星期)|去年|前年|今[天晚早]"
    r"|明[天年晚早]|后天"
    r"|下个?(?:周|月|星期|年)|\d+月\d+|\d年"
)
