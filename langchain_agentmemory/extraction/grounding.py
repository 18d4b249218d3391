"""Numbers in text: which are there, and whether one text made them up.

Two readings, for two questions. `numeric_tokens` compares numbers as they are written,
to notice that an answer brings a figure of its own. `grounded` compares what numbers
mean, so that a model may write $1250 for $1,250.00 and may not write €1250.
"""

import re
from typing import Final, NamedTuple

# `\d` takes the decimal digits of every script, as is wanted here.
_TOKEN: Final = re.compile(r"\d+(?:[.,．，٫٬]\d+)*[%％]?")
_TOKEN_MARKER: Final = re.compile(r"^[^\S\n]*\d+[.)](?=\s)", re.MULTILINE)

_NUMBER: Final = re.compile(
    r"(?P<sign>[+\-−]?)"
    r"(?:(?P<before>[$€£¥])[ \t]*)?"
    r"(?P<inner_sign>[+\-−]?)"
    r"(?P<value>[0-9]+(?:[.,][0-9]+)*)"
    r"(?:[ \t]*(?P<after>[$€£¥]))?"
    r"[ \t]*(?P<percent>[%％]?)"
)
_NUMBER_MARKER: Final = re.compile(r"^[ \t]*[0-9]+[.)](?=[ \t])", re.MULTILINE)
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_DIGITS: Final = frozenset("0123456789")


class Number(NamedTuple):
    """A number as it is compared.

    Attributes:
        sign: `""`, `"+"` or `"-"` (both, if two are written).
        value: The digits, without thousands commas and trailing fractional zeros.
        currency: The currency symbols, `""` for none.
        percent: Whether a percent sign follows.
    """

    sign: str
    value: str
    currency: str
    percent: bool


def numeric_tokens(text: str) -> set[str]:
    """Return the numbers of a text exactly as they are written.

    A token is a run of decimal digits of any script, with single separators between
    digits, and a percent sign that follows. Numbers that only count the items of a
    list, at the start of a line, are none. 6.4 and 6.40 are two tokens.
    """
    return set(_TOKEN.findall(_TOKEN_MARKER.sub("", text)))


def numbers(text: str) -> set[Number]:
    """Return the numbers that a text states, in the form in which they compare.

    ASCII digits only: numbers in words, in Chinese characters and in full-width digits
    are not looked at, nor are units. List markers at the start of a line are no
    numbers. Hyphens between digits (dates, ranges) are no signs.
    """
    spoken = _NUMBER_MARKER.sub("", text)
    return {_number(match) for match in _NUMBER.finditer(spoken)}


def grounded(memory: str, source: str) -> bool:
    """Tell whether every number of a memory stands in its source.

    Sign, currency symbol and percent sign belong to a number: $5, €5, 5, -5 and 5% are
    five different ones. $1,250.00 and $1250 are the same, as are 20 € and €20.
    """
    return numbers(memory) <= numbers(source)


def _number(match: re.Match[str]) -> Number:
    before, after = match["before"] or "", match["after"] or ""
    currency = before + (after if after != before else "")
    sign = match["sign"]
    start = match.start()
    if sign and not currency and start and match.string[start - 1] in _DIGITS:
        sign = ""
    return Number(
        (sign + match["inner_sign"]).replace("−", "-"),
        _normalised(match["value"]),
        currency,
        bool(match["percent"]),
    )


def _normalised(value: str) -> str:
    whole, point, fraction = value.partition(".")
    if _THOUSANDS.fullmatch(whole):
        whole = whole.replace(",", "")
    if fraction.isdecimal():  # 1.2.0 is a version, not a fraction with zeros to drop
        fraction = fraction.rstrip("0")
        point = "." if fraction else ""
    return f"{whole}{point}{fraction}"
