"""Which language a person writes in, where sentences end, which words carry content.

Everything here is small on purpose: enough for the offline model to cut a message into
statements and to tell whether a memory answers a question, in English and Chinese.
"""

import re
from functools import cache
from typing import Any, Final, Literal

Language = Literal["en", "zh"]

_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HAN_RUN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_WORD: Final = re.compile(
    r"[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:'[^\W_]+)?"
)

# A full stop ends a sentence unless it belongs to one of these or to a number.
_ABBREVIATIONS: Final = (
    "mr",
    "mrs",
    "ms",
    "dr",
    "st",
    "prof",
    "e.g",
    "i.e",
    "vs",
    "no",
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？!?；;])|\n+")

_EN_CLAUSE: Final = re.compile(
    r"(?:,\s*|\s+)(?:and|but|so)\s+(?=(?:i|we|my|our|i'm|i've|please)\b"
    r"|[\w-]+ (?:is|are) my\b)|"
    r",\s+(?=(?:i|my|i'm|i've)\b)",
    re.IGNORECASE,
)
# A clause that is no sentence of its own, or whose reading needs what follows it.
_EN_WHOLE: Final = re.compile(
    r"^\W*(?:if|when|while|because|since|although|before|after|until|whenever|"
    r"on|in|at|last|yesterday|today|tomorrow|actually|no|sorry|well|hi|hello|hey|"
    r"by the way|correction|that's wrong|not quite|wait|in fact|i was wrong|"
    r"i made a mistake)\b[^,]*$",
    re.IGNORECASE,
)
_EN_SELF: Final = re.compile(r"\b(?:i|my|we|our)\b", re.IGNORECASE)
# "I'm Sarah, a nurse from Boston": a name, and what she is.
_EN_NAME_AND_MORE: Final = re.compile(r"^(I'm|I am) ([A-Z][\w'-]+), (an? .+)$")
_ZH_CLAUSE: Final = re.compile(
    r"[，,、]\s*(?:而且|并且|还|也|然后)?(?="
    r"我|现在我|住在|最?(?:喜欢|爱)|讨厌|不喜欢|来自|今年\d|在[^，,]{1,12}(?:工作|上班)"
    r"|是一?[名个位]|有[一两二三四五六七八九十\d]+[个只条辆台间]"
    r"|(?:女儿|儿子|孩子|老公|老婆|妻子|丈夫|妈妈|爸爸|姐姐|妹妹|哥哥|弟弟)(?:叫|是|在))"
)
_ZH_WHOLE: Final = re.compile(
    r"^(?:如果|因为|虽然|当|要是|假如|只要|除非|每当)|不是[^，,]*$"
)
_ZH_SUBJECT: Final = re.compile(r"^(?:我|现在我)")

_EN_EMPTY: Final = frozenset(
    "a an the and or but of in on at to for with from by about as is are am be been "
    "was were do does did doing done have has had i me my mine myself you your yours "
    "we us our it its this that these those he she they them his her their what which "
    "who whom whose when where why how can could will would shall should may might "
    "must please tell know remember recall remind said say told tell there here any "
    "some so than then too very just also again ever not no dont don't didn't isn't "
    "can't cannot won't i'm i've what's where's who's when's really actually now "
    "currently anymore more longer "
    "name named called thing things something anything everything if get got give "
    "let's lets user".split()
)
_ZH_EMPTY: Final = re.compile(
    "什么时候|为什么|怎么样|哪一个|是不是|有没有|能不能|可不可以|知不知道|记不记得|"
    "告诉|知道|记得|还记|请问|之前|以前|说过|提过|提到|什么|哪里|哪儿|哪个|哪些|哪天|"
    "多少|怎么|如何|谁|哪|几|吗|呢|吧|啊|呀|嘛|么|了|的|得|地(?![铁址方点图])|我们|我"
    "|你们|你|您|"
    "他|她|它|是|在|有|和|跟|与|(?<![首成])都|也|就|还|很|最|请|把|被|关于|这|那|个"
    "|曾经|曾|"
    "现在|名字|过(?!敏)|对(?!方|象)|不再|要|想|不能|能"
)


def language_of(text: str, default: Language = "en") -> Language:
    """Return `"zh"` for text with Chinese characters, `"en"` for other letters.

    Args:
        text: What was written.
        default: The answer for text without any letter, such as `"?"` or `"42"`.
    """
    if _HAN.search(text):
        return "zh"
    return "en" if re.search(r"[^\W\d_]", text) else default


def sentences(text: str) -> list[str]:
    """Cut text into sentences and independent first-person clauses.

    "I'm Anna, and I live in Rome." gives two; Chinese clauses that lean on the subject
    of the first one get it back: 我叫小明，住在北京 gives 我叫小明 and 我住在北京.
    """
    found: list[str] = []
    for piece in _joined_abbreviations(_SENTENCE_END.split(_plain_quotes(text))):
        found += _zh_clauses(piece) if _HAN.search(piece) else _en_clauses(piece)
    return [clause for clause in (part.strip() for part in found) if clause]


def content_terms(text: str) -> frozenset[str]:
    """Return what a text is about: stems of English words, pairs of Chinese characters.

    Words that ask or point ("where", "my", 什么, 我) are left out; so are forms of "be"
    and "have" that every sentence has.
    """
    lowered = _plain_quotes(text).lower()
    words = (match.group() for match in _WORD.finditer(lowered))
    terms = {
        _stem(word.removesuffix("'s"))
        for word in words
        if word not in _EN_EMPTY and word.removesuffix("'s") not in _EN_EMPTY
    }
    for run in _HAN_RUN.findall(_ZH_EMPTY.sub(" ", lowered)):
        terms |= _pairs(run)
    return frozenset(terms)


def coverage(wanted: frozenset[str], text: str) -> float:
    """Return which part of the wanted terms a text contains, from 0 to 1.

    Nothing wanted is never covered.
    """
    if not wanted:
        return 0.0
    raw = _plain_quotes(text).lower()
    terms = content_terms(text)
    # Chinese pairs are looked up in the raw text: cutting out function characters
    # there may have separated what stands together in the question.
    held = sum(
        term in terms or (_HAN.match(term) and term in raw) or 0 for term in wanted
    )
    return held / len(wanted)


def keywords(text: str) -> str:
    """Return the words of a text that are worth searching for, in their order."""
    lowered = _plain_quotes(text)
    if _HAN.search(lowered):
        return " ".join(_ZH_EMPTY.sub(" ", re.sub(r"[^\w\s]", " ", lowered)).split())
    return " ".join(
        match.group().removesuffix("'s")
        for match in _WORD.finditer(lowered)
        if match.group().lower() not in _EN_EMPTY
    )


def _plain_quotes(text: str) -> str:
    return text.replace("\u2019", "'").replace("\u2018", "'")


def _joined_abbreviations(pieces: list[str]) -> list[str]:
    joined: list[str] = []
    for piece in filter(None, pieces):
        last = joined[-1].rsplit(" ", 1)[-1] if joined else ""
        if last.endswith(".") and last[:-1].lower() in _ABBREVIATIONS:
            joined[-1] += f" {piece}"
        else:
            joined.append(piece)
    return joined


def _en_clauses(sentence: str) -> list[str]:
    clauses: list[str] = []
    start = 0
    if named := _EN_NAME_AND_MORE.match(sentence):
        verb, name, more = named.groups()
        return [f"{verb} {name}", f"{verb} {more}"]
    for match in _EN_CLAUSE.finditer(sentence):
        before = sentence[start : match.start()]
        if _EN_WHOLE.match(before) or not _EN_SELF.search(before):
            continue  # "Tom and I went home" is one clause
        clauses.append(before)
        start = match.end()
    return [*clauses, sentence[start:]]


def _zh_clauses(sentence: str) -> list[str]:
    if not _ZH_SUBJECT.match(sentence) or _ZH_WHOLE.search(sentence):
        return [sentence]
    first, *rest = _ZH_CLAUSE.split(sentence)
    return [first, *(part if "我" in part[:3] else f"我{part}" for part in rest)]


def _pairs(run: str) -> set[str]:
    if len(run) == 1:
        return {run}
    return {run[i : i + 2] for i in range(len(run) - 1)}


@cache
def _stemmer() -> Any:
    from Stemmer import Stemmer  # noqa: PLC0415 - only needed once a question is read

    return Stemmer("english")


@cache
def _stem(word: str) -> str:
    # British spellings of the words people describe their tastes with.
    spelled = word.replace("favourite", "favorite").replace("colour", "color")
    return str(_stemmer().stemWord(spelled))
