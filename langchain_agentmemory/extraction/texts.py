"""Foreign text in a request: it stays text, whatever it says.

Everything that a user, an assistant or a memory says is untrusted. It must not pass for
one of the marks by which a request is laid out: the number of a user message, a tag of
the system prompt, or the control tokens of a chat template.
"""

import re
from typing import Final

MESSAGE_LIMIT: Final = 32_000
"""Characters of one message that a model gets to see: about 8,000 tokens of English."""

MEMORY_LIMIT: Final = 2_000
"""Characters of one memory that a model gets to see, as in the memory tools."""

# What cannot be seen but is read by a model: controls (not tab and line feed),
# bidirectional overrides, zero-width characters (not the joiners, which scripts and
# emoji need), tag characters and selectors in which text can be smuggled; and lone
# surrogates, which no provider accepts.
_INVISIBLE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_JOINED: Final = r"[\s\W_]{0,8}"
# An opening bracket that begins one of our marks, however it is decorated.
_NUMBER: Final = re.compile(
    rf"[\[［【〔](?={_JOINED}user{_JOINED}message)", re.IGNORECASE
)
_TAG: Final = re.compile(
    rf"[<＜〈‹](?={_JOINED}(?:existing{_JOINED}memories|available{_JOINED}actions"
    rf"|update{_JOINED}policy|conversation{_JOINED}rules|answer{_JOINED}format)"
    rf"|[\u200c\u200d]*[|｜])",
    re.IGNORECASE,
)
_LINE_BREAKS: Final = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def harmless(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return the text without what is invisible or passes for a mark of ours.

    Of a text that is longer than the limit, the beginning and the end are kept and the
    gap says how much is missing.
    """
    if len(text) > limit:
        missing = len(text) - limit
        head, tail = text[: limit // 2], text[-(limit - limit // 2) :]
        text = f"{head}\n[… {missing} characters left out …]\n{tail}"
    visible = _INVISIBLE.sub("", _LINE_BREAKS.sub("\n", text))
    return _TAG.sub("(", _NUMBER.sub("(", visible))


def one_line(text: str, limit: int = MEMORY_LIMIT) -> str:
    """Return the text on a single line, harmless and cut at its end."""
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return " ".join(harmless(cut, limit + 1).split())


def bounded(text: str, limit: int) -> str:
    """Return the text in at most so many bytes of UTF-8, its middle left out.

    What is left out is marked by a line of three dots. Never cuts within a character.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    gap = b"\n...\n"
    head = (limit - len(gap)) // 2
    tail = limit - len(gap) - head
    return "\n...\n".join(
        part.decode("utf-8", "ignore") for part in (raw[:head], raw[-tail:])
    ).strip()
