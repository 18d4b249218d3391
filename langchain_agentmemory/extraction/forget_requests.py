"""Requests to forget: what a person asks a memory not to keep, told by rules alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from langchain_agentmemory.extraction.messages import Role
from langchain_agentmemory.extraction.small_talk import alternatives
from langchain_agentmemory.search.english import stem
from langchain_agentmemory.search.scripts import HAN_RUN, LazyPattern, has_han
from langchain_agentmemory.search.stopwords import ENGLISH

_ENGLISH_LEAD: Final = (
    r"(?:(?:"
    + alternatives(
        r"""
        please|kindly|just|now|also|and|so|then|but|oh|hey|hi|hello|ok|okay|actually
        wait|no|sorry|well|never ?mind|by the way|btw|let's
        (?:can|could|will|would) you(?: please)?
        you (?:can|may|should|must|need to|have to)
        i(?:'d like| would like| want| need|'d prefer) you to
        """
    )
    + r")[,:!.]?\s+)*+"
)
_ENGLISH_SAYS: Final = alternatives(
    r"""
    my|memor\w+|remember\w*|about me|everything
    (?:i|i've) (?:just )?(?:told|said|mentioned|shared|gave)
    you (?:know|have|stored|saved|noted)
    """
)
_ENGLISH: Final = LazyPattern(
    r"(?is)"
    rf"{_ENGLISH_LEAD}(?:"
    r"forget\b(?!-)(?! to\b)(?! (?:about )?your\b)"
    # With these, only what is said about oneself or the memory: not "the first line".
    r"|(?:delete|remove|erase|wipe|clear|discard)\b"
    rf"(?=.{{0,200}}\b(?:{_ENGLISH_SAYS})\b)"
    r"|(?:do not|don't|never|stop|no need to)\s+"
    r"(?:remember|memori[sz]|stor|sav|record|not|keep|track)(?:e|ing)?\b"
    r")(?P<named>.*)"
)
_CHINESE_LEAD: Final = (
    r"(?:请|麻烦|劳驾|希望|算了|我(?:想|要|希望|需要)让?(?=[你您请把])|[你您]|能不能|能|可不可以|可以"
    r"|帮我|现在|那|就|都|也|好的?|嗯|对了|另外|[，,。！!\s])*+"
)
_CHINESE_FORGET: Final = "忘记|忘掉|忘了|忘却|删除|删掉|删了|清除|清空|抹掉|抹除"
_CHINESE_OURS: Final = (
    r"(?=[吧它]|.{0,80}?(?:我|关于|这|那|刚才|之前|以上|一切|所有|全部|记忆|记录))"
)
_CHINESE: Final = LazyPattern(
    r"(?s)"
    rf"{_CHINESE_LEAD}(?:"
    rf"[把将](?P<taken>[^，,。]{{1,80}}?)(?:都|全部?|给我)?(?:{_CHINESE_FORGET})"
    rf"|(?:{_CHINESE_FORGET}){_CHINESE_OURS}"
    r"|(?:别|不要|不用|不必|无需)再?(?:记住?|记录|保存|存|记下)(?!得)"
    r")(?P<named>.*)"
)
_EVERYTHING: Final = LazyPattern(
    r"(?i)"
    r"\b(?:everything|anything|all|about me|me|(?:my|the|your) (?:memor\w+|data))\b"
    r"|一切|所有|全部|记忆"
)
_ENGLISH_SAYING: Final = ENGLISH | frozenset(
    "anything conversation delete ever everything fact forget i'm i've information "
    "just keep know later list memories memory mentioned message messages note "
    "remember remove said saved say shared something stored tell thing things "
    "told".split()
)
_CHINESE_SAYING: Final = LazyPattern(
    "刚才|刚刚|之前|以前|以上|这件事|那件事|事情|信息|内容|关于|说过|提到|的话|告诉|名下|记忆|记录|记住"
    "|忘记|忘掉|忘了|我们|你们|所有|一切|全部|什么|[我你您他她它的了吧吗呢是在有和过说这那个些都把将被给请从里中]"
)
_WORD: Final = LazyPattern(r"[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:'\w+)?")
_MOST_REQUESTS: Final = 50  # of one batch, the last ones; nobody means more
_ENOUGH: Final = 0.5  # of the named words: rather too much is left out than too little


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a sentence asks to forget.

    Attributes:
        words: Words that name it: stems of English ones, pairs of Chinese characters.
        everything: Whether all there is is meant.
    """

    words: frozenset[str]
    everything: bool

    def means(self, sentence: str) -> bool:
        """Tell whether a sentence speaks of what is named, if anything is."""
        if not self.words:
            return True
        said = _english_words(sentence)
        held = sum(
            word in said or (has_han(word) and word in sentence) for word in self.words
        )
        return held >= _ENOUGH * len(self.words)


def forget_request(sentence: str) -> ForgetRequest | None:
    """Return what a sentence asks to forget; `None` if it is no such request.

    "I forgot my keys", "don't forget that …" and 我忘了带钥匙 are none. A request that
    names nothing ("forget it", 忘了它吧) means what was said right before.
    """
    spoken = sentence.replace("\u2019", "'").strip()
    found = _ENGLISH.match(spoken) or _CHINESE.match(spoken)
    if found is None:
        return None
    named = " ".join(filter(None, (found.groupdict().get("taken"), found["named"])))
    words = _english_words(named) | _chinese_words(named)
    return ForgetRequest(words, bool(not words and _EVERYTHING.search(spoken)))


class Utterance(NamedTuple):
    """What one side said in one message.

    Attributes:
        role: Who said it.
        sentences: What was said, in order.
    """

    role: Role
    sentences: Sequence[str]


def taken_back(said: Sequence[Utterance]) -> list[frozenset[str]]:
    """Return for each utterance the sentences that must not be kept.

    Those are requests of the user to forget, and what such a request names, or means,
    among everything that was said before it. What is said after it counts again.
    """
    asked: dict[tuple[object, object], tuple[int, int, ForgetRequest]] = {}
    dropped: list[set[str]] = [set() for _ in said]
    for at, utterance in enumerate(said):
        if utterance.role != "user":
            continue
        for place, sentence in enumerate(utterance.sentences):
            if request := forget_request(sentence):
                dropped[at].add(sentence)
                # Of two that ask for the same, the later one reaches further.
                named = (request.words, request.everything)
                scope = named if any(named) else (at, place > 0)
                asked[scope] = (at, place, request)
    for at, place, request in list(asked.values())[-_MOST_REQUESTS:]:
        for number in _reach(said, at, place, request):
            earlier = said[number].sentences[: place if number == at else None]
            dropped[number].update(filter(request.means, earlier))
    return [frozenset(sentences) for sentences in dropped]


def _reach(
    said: Sequence[Utterance], at: int, place: int, request: ForgetRequest
) -> range:
    """Return the utterances that a request is about."""
    if request.words or request.everything:
        return range(at + 1)
    if place:
        return range(at, at + 1)
    before = at - 1
    while before > 0 and said[before].role != "user":
        before -= 1
    return range(max(before, 0), at)


def _english_words(text: str) -> frozenset[str]:
    words = {word.lower() for word in _WORD.findall(text.replace("\u2019", "'"))}
    return frozenset(stem(word.removesuffix("'s")) for word in words - _ENGLISH_SAYING)


def _chinese_words(text: str) -> frozenset[str]:
    runs = HAN_RUN.findall(_CHINESE_SAYING.sub(" ", text))
    return frozenset(
        run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))
    )
