"""Whether a question asks what happened, or how something is.

What happened does not stop being so when something like it happens again: "When did I
run a marathon?" wants any marathon, "How far do I run?" the latest statement.
"""

import re
from typing import Final

from langchain_agentmemory.search.cues import MOST_CHARACTERS
from langchain_agentmemory.search.scripts import LazyPattern

_PAST_TENSE: Final = frozenset("did was were had didn wasn weren hadn".split())
_WORD: Final = re.compile("[a-z]+")
_ASKED: Final = ("who", "what", "which", "where")  # as both patterns begin
_CAUSED: Final = LazyPattern(
    r"(?:who|what|which(?: \w+){1,2}) "
    r"(?:\w+(?<!ne)ed|gave|made|took|went|came|won|told|wrote|bought|got|led|said)\b"
    r"(?! to\b)"
)
_EXPERIENCE: Final = LazyPattern(
    r"(?:what|which|who|where)\b.{0,80}\b(?:has|have)\b.{0,80}"
    r"\b(?:\w+ed|been|done|made|seen|read|bought|won|gone|written|taken|given|found"
    r"|met|had|got|gotten)\b"
)
_LATEST: Final = LazyPattern(
    r"\b(?:current(?:ly)?|now|latest|last|most recent|recently|these days|so far)\b"
)
_ZH_EVENT: Final = LazyPattern(
    "什么时候|什麼時候|何时|何時|哪一?[天年月日次]|几[月号]|幾[月號]|那一?次"
)


def asks_for_event(query: str) -> bool:
    """Tell whether a question asks what happened, not how something is.

    Args:
        query: A question in English ("When did …?", "Who gave …?", "Where has … been?")
            or Chinese (什么时候, 哪天, 那次). What asks for the latest ("so far",
            "last") asks for a state.
    """
    text = query[:MOST_CHARACTERS].lower()
    if not text.isascii() and _ZH_EVENT.search(text):
        return True
    words = set(_WORD.findall(text))
    past = not words.isdisjoint(_PAST_TENSE)
    if not past and not (
        text.startswith(_ASKED) and (_EXPERIENCE.match(text) or _CAUSED.match(text))
    ):
        return False
    return not _LATEST.search(text)
