"""What was said, cut into pieces that can stand on their own.

A piece is a few sentences of one paragraph, or a list, a table or a block of code as a
whole. Rules for English and Chinese; nothing is reworded.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

WHOLE_CHARACTERS: Final = 2_000
"""Longest list, table or block of code in characters before it is cut between lines."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(
    r"\s*(?:[-*+•·‣▪][ \t]+|\(?\d{1,3}[.)][ \t]+|\d{1,3}[、．]|[（(]\d{1,3}[）)]"
    r"|[（(]?[一二三四五六七八九十]{1,3}[、）)])\s*\S"
)
_ROW: Final = re.compile(r"\s*\|.*\|\s*\Z")
_INDENTED: Final = re.compile(r"(?: {2,}|\t)\s*\S")
_INTRODUCES: Final = (":", "：")

# A mark that ends a sentence, with what closes quotes and brackets behind it.
_SENTENCE_END: Final = re.compile(
    r"(?<![.!?…])(?P<latin>[.!?…]++[\"'”’)\]]*+)(?=\s)"
    r"|(?:[。！？][。！？!?…]*+|(?<![.!?…])[!?]++(?=[^\x00-\x7f]))[\"'”’」』）)]*+"
)
# A full stop after one of these, or after one letter, ends no sentence.
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|no|vol|inc|ltd|approx|dept|fig|jan|feb"
    r"|mar|apr|jun|jul|aug|sept?|oct|nov|dec|e\.g|i\.e|a\.m|p\.m)|\b[A-Za-z])\.\Z",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION: Final = 8
_CHINESE_MARKS: Final = "。！？，；：、…）」』”"


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message.

    Attributes:
        text: What it says.
        whole: Whether it is a list, a table or code, which is kept together.
        introduction: The line before a whole block that leads to it, `""` for none;
            it is part of the text.
    """

    text: str
    whole: bool = False
    introduction: str = ""


def blocks(text: str) -> list[Block]:
    """Return the paragraphs, lists, tables and blocks of code of a message, in order.

    A line that ends with a colon belongs to the list or code that follows it.
    """
    found: list[Block] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    paragraph: list[str] = []
    at = 0
    while at < len(lines):
        introduction = _introduction(paragraph)
        end = _whole_end(lines, at, introduced=bool(introduction))
        if end > at:
            if introduction:
                last = _last_line(paragraph)
                before = paragraph[last].strip().removesuffix(introduction)
                paragraph[last:] = [before]
            found += _paragraphs(paragraph)
            whole = "\n".join(lines[at:end]).strip("\n").rstrip()
            whole = f"{introduction}\n{whole}" if introduction else whole.strip()
            found.append(Block(whole, whole=True, introduction=introduction))
            paragraph, at = [], end
        else:
            paragraph.append(lines[at])
            at += 1
    return [*found, *_paragraphs(paragraph)]


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph; a line break ends one, too."""
    found: list[str] = []
    for line in paragraph.split("\n"):
        start = 0
        for mark in _SENTENCE_END.finditer(line):
            if mark["latin"] and _is_abbreviation(line, start, mark.end()):
                continue
            found.append(line[start : mark.end()])
            start = mark.end()
        found.append(line[start:])
    return [sentence for part in found if (sentence := part.strip())]


def pieces(
    text: str, max_characters: int, keep: Callable[[str], bool]
) -> Iterator[str]:
    """Yield what is kept of a message, in pieces.

    Sentences that follow each other in one paragraph share a piece while there is room,
    because they lean on each other. A list, a table or code is kept whole, if the line
    that introduces it is kept: what follows "Translate this:" is material for a task.

    Args:
        text: What was said.
        max_characters: Longest piece of sentences. A longer sentence is cut at blanks.
        keep: Whether a sentence is worth keeping.
    """
    for block in blocks(text):
        if not block.whole:
            kept = filter(keep, sentences(block.text))
            yield from _packed(kept, max_characters)
        elif not block.introduction or keep(block.introduction):
            longest = max(WHOLE_CHARACTERS, max_characters)
            yield from _cut_between_lines(block.text, longest)


def _introduction(paragraph: list[str]) -> str:
    """Return the last sentence if it leads to what follows, else `""`."""
    last = _last_line(paragraph)
    line = paragraph[last].strip() if last >= 0 else ""
    return sentences(line)[-1] if line.endswith(_INTRODUCES) else ""


def _last_line(paragraph: list[str]) -> int:
    """Return where the last line with text is, at most one blank line up; else -1."""
    for at in range(len(paragraph) - 1, max(len(paragraph) - 3, -1), -1):
        if paragraph[at].strip():
            return at
    return -1


def _whole_end(lines: list[str], at: int, *, introduced: bool) -> int:
    """Return where the list, table or code ends that begins at a line, `at` if none."""
    if fence := _FENCE.match(lines[at]):
        return _fence_end(lines, at, fence[1])
    if _ITEM.match(lines[at]):
        return _list_end(lines, at, introduced=introduced)
    end = at
    while end < len(lines) and _ROW.match(lines[end]):
        end += 1
    return end if end - at > 1 else at


def _fence_end(lines: list[str], at: int, fence: str) -> int:
    for end in range(at + 1, len(lines)):
        if lines[end].strip().startswith(fence) and not lines[end].strip(" `~"):
            return end + 1
    return len(lines)


def _list_end(lines: list[str], at: int, *, introduced: bool) -> int:
    """Return where a list ends; one item alone is none, unless a colon leads to it."""
    items, end, next_line = 0, at, at
    while next_line < len(lines):
        line = lines[next_line]
        if _ITEM.match(line):
            items += 1
            end = next_line + 1
        elif line.strip() and (not _INDENTED.match(line) or end < next_line):
            break  # neither an item nor more of the last one
        elif line.strip():
            end = next_line + 1
        elif next_line > end:
            break  # two blank lines
        next_line += 1
    return end if items > 1 or introduced else at


def _paragraphs(lines: list[str]) -> list[Block]:
    texts = re.split(r"\n\s*\n", "\n".join(lines))
    return [Block(text) for part in texts if (text := part.strip())]


def _is_abbreviation(line: str, start: int, end: int) -> bool:
    before = line[max(start, end - _LONGEST_ABBREVIATION) : end]
    return line[end - 1] == "." and _ABBREVIATION.search(before) is not None


def _packed(sentences: Iterator[str], max_characters: int) -> Iterator[str]:
    packed = ""
    for sentence in sentences:
        for part in _wrapped(sentence, max_characters):
            gap = "" if not packed or packed[-1] in _CHINESE_MARKS else " "
            if packed and len(packed) + len(gap) + len(part) > max_characters:
                yield packed
                packed, gap = "", ""
            packed += gap + part
    if packed:
        yield packed


def _wrapped(sentence: str, max_characters: int) -> Iterator[str]:
    """Yield a sentence in parts that are not too long, cut at blanks or commas."""
    start = 0
    while len(sentence) - start > max_characters:
        end = start + max_characters
        cut = max(sentence.rfind(mark, start + 1, end) for mark in " ，、；,;")
        end = cut + 1 if cut > start else end
        yield sentence[start:end].strip()
        start = end
    if rest := sentence[start:].strip():
        yield rest


def _cut_between_lines(text: str, max_characters: int) -> Iterator[str]:
    if len(text) <= max_characters:
        yield text
        return
    part = ""
    for line in text.split("\n"):
        for piece in _wrapped(line, max_characters) if line.strip() else ("",):
            if part and len(part) + 1 + len(piece) > max_characters:
                yield part
                part = ""
            part = f"{part}\n{piece}" if part else piece
    if part.strip():
        yield part
