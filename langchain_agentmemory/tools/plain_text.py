"""Untrusted text made fit for a line that a model reads.

Memories are written by users, tools and web pages, and so are the ids and names that a
model hands back. Preload, tools and messages show them through the same functions: one
line, nothing that cannot be seen, nothing that could pass for our own markers, labels
or brackets, and no more than there is room for.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

DETAIL_TOKENS: Final = 60
"""Room for an id or one detail of a memory, in approximate tokens."""

_LATIN_LETTERS_PER_TOKEN: Final = 4.0  # as in `count_tokens_approximately`

# What cannot be seen but is read by a model: controls, bidirectional marks and
# overrides, zero-width characters and fillers (not the joiners, which scripts and emoji
# need), tag characters and the selectors in which text can be smuggled; and lone
# surrogates, which no provider accepts.
_INVISIBLE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0"
    r"\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# One joiner or emoji selector at a time says something, several are a hidden text.
_REPEATED: Final = re.compile(r"([\u200c\u200d\ufe0f])[\u200c\u200d\ufe0f]+")

# An opening bracket that starts one of our markers, however it is decorated, or a
# control token of a chat template: `<|…`, `<start_of_turn>`, `</s>`, `<<SYS>>`.
_MARKER_LIKE: Final = re.compile(
    r"[<＜](?=[\W_]{0,8}user[\W_]{0,8}memor|[\u200c\u200d]*[|｜]"
    r"|/?(?:s|bos|eos|start_of_turn|end_of_turn)[>＞])"
    r"|[<＜]{2}(?=/?sys[>＞])|\[(?=/?inst\])",
    re.IGNORECASE,
)

# A bracket that would read as the beginning of the details of a memory.
_DETAILS_LIKE: Final = re.compile(
    r"[(（](?=\s*(?:(?:kind|date|with|at|topics|saved|earlier)\s*[:=：＝]"
    r"|outdated\b|replaced by\b))",
    re.IGNORECASE,
)
_WORD: Final = r"[A-Za-z0-9_.@/+,\u00c0-\u024f\u4e00-\u9fff-]+"
# Nothing to change: as most ids, names and places are.
_PLAIN: Final = re.compile(f"(?:{_WORD}(?: {_WORD})*)?").fullmatch
_LABEL_LIKE: Final = re.compile(
    r"\b(kind|date|with|at|topics|saved|earlier|outdated|replaced by)\s*[:=：＝]",
    re.IGNORECASE,
)
_STRUCTURE: Final = str.maketrans(
    {";": ",", "；": ",", "(": "‹", ")": "›", "（": "‹", "）": "›", "[": "‹", "]": "›"}
)


def one_line(text: str) -> str:
    """Return a text as one visible line, without look-alikes of markers."""
    line, printable = text, text.isprintable()
    # Of what is printable, only the space is white space.
    if not printable or "  " in text or text[:1] == " " or text[-1:] == " ":
        line = " ".join(text.split())
    if not line.isascii() or not (printable or line.isprintable()):
        line = _INVISIBLE.sub("", line).strip()
        if "\u200c" in line or "\u200d" in line or "\ufe0f" in line:
            line = _REPEATED.sub(r"\1", line)
    if "<" in line or "[" in line or "＜" in line:
        line = _MARKER_LIKE.sub("‹", line)
    return line


def statement(text: str, max_tokens: int) -> str:
    """Return the text of a memory as it may stand in a list, cut to a length.

    Nothing in it passes for the details that follow it.
    """
    line = short_line(text, max_tokens)
    return _DETAILS_LIKE.sub("‹", line) if "(" in line or "（" in line else line


def detail(text: str, max_tokens: int = DETAIL_TOKENS) -> str:
    """Return an id, a name or another detail, cut to a length.

    Nothing in it ends the brackets or the detail that it stands in, or begins another.
    """
    room = max_tokens * (_LATIN_LETTERS_PER_TOKEN if text.isascii() else 1)
    if len(text) <= room and _PLAIN(text):
        return text
    plain = short_line(text, max_tokens).translate(_STRUCTURE)
    return _LABEL_LIKE.sub(r"\1 –", plain)


def earlier_text(texts: Sequence[str]) -> str:
    """Return the texts of what a memory replaced as one detail, each of them cut."""
    return " / ".join(filter(None, map(detail, texts)))


def short_line(text: str, max_tokens: int) -> str:
    """Return a text as one line, cut to a number of approximate tokens."""
    # Megabytes need not be looked at to fill one line.
    seen = text[: 64 * max_tokens]
    line = one_line(seen)
    cut = _cut(line, max_tokens)
    return cut + "…" if len(cut) < len(line) or len(seen) < len(text) else cut


def approximate_tokens(text: str) -> int:
    """Estimate the tokens of a text: 4 ASCII characters, or 1 other, make a token.

    `count_tokens_approximately` takes 4 characters of any script for a token, which
    would let Chinese take four times the room that it was given.
    """
    if text.isascii():
        return math.ceil(len(text) / _LATIN_LETTERS_PER_TOKEN)
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / _LATIN_LETTERS_PER_TOKEN) + len(text) - ascii_count


def _cut(text: str, max_tokens: int) -> str:
    """Return the longest beginning that fits."""
    if approximate_tokens(text) <= max_tokens:
        return text
    used = 0.0
    for position, character in enumerate(text):
        used += 1 / _LATIN_LETTERS_PER_TOKEN if character.isascii() else 1
        if used > max_tokens:
            return text[:position].rstrip()
    return text
