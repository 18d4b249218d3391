"""Numbers of payment cards: recognised by issuer, length, grouping and check digit."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

# Groups of digits with single separators between them, also in full width.
_GROUPED: Final = re.compile("[0-9０-９]++(?:[ \u00a0\u3000\\-‐‑–－][0-9０-９]++)*+")
_GROUP: Final = re.compile("[0-9０-９]++")
_TO_ASCII: Final = str.maketrans("０１２３４５６７８９", "0123456789")

# Then it is part of an identifier, a fraction or a telephone number.
_BEFORE: Final = re.compile(r"[A-Za-z0-9_.+#/\-]\Z")
_AFTER: Final = re.compile(r"[A-Za-z_]|\.[0-9]")

_SHORTEST: Final = 13
_QUARTER: Final = 4
_GROUPINGS: Final = (
    (4, 6, 5),  # American Express
    (4, 6, 4),  # Diners Club
    *((6, rest) for rest in range(7, 14)),  # UnionPay: the issuer, then the account
)

# First digits, as a range, and the lengths that their issuers use (ISO/IEC 7812).
_ISSUERS: Final = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("300", "305", range(14, 20)),  # Diners Club
    ("36", "36", range(14, 20)),
    ("38", "39", range(14, 20)),
    ("3528", "3589", range(16, 20)),  # JCB
    ("6011", "6011", range(16, 20)),  # Discover
    ("644", "659", range(16, 20)),
    ("62", "62", range(16, 20)),  # UnionPay
    ("81", "81", range(16, 20)),
    ("2200", "2204", range(16, 20)),  # Mir
    ("50", "50", range(13, 20)),  # Maestro, Elo, Verve
    ("56", "58", range(13, 20)),
    ("60", "61", range(16, 17)),  # RuPay, Hipercard
    ("63", "63", range(13, 20)),
    ("67", "69", range(13, 20)),
    ("82", "82", range(16, 17)),  # RuPay
    ("9792", "9792", range(16, 17)),  # Troy
)

_DOUBLED: Final = {str(digit): sum(divmod(2 * digit, 10)) for digit in range(10)}
_PREFIX: Final = 4  # digits that tell the issuer
_MOST_GROUPS: Final = 5  # 19 digits in fours


def without_cards(text: str, replacement: str) -> str:
    """Replace the numbers of payment cards in the text."""
    kept: list[str] = []
    done = 0
    for found in _GROUPED.finditer(text):
        if found.end() - found.start() < _SHORTEST:
            continue
        for start, end in _cards(text, found):
            kept += (text[done:start], replacement)
            done = end
    return "".join([*kept, text[done:]]) if kept else text


def _cards(text: str, grouped: re.Match[str]) -> list[tuple[int, int]]:
    """Return where the cards are in a row of groups, which may hold other numbers."""
    groups = list(_GROUP.finditer(text, *grouped.span()))
    found: list[tuple[int, int]] = []
    first = 0
    while first < len(groups):
        window = groups[first : first + _MOST_GROUPS]
        if card := _card_in(text, window):
            found.append(card)
            first += sum(group.start() < card[1] for group in window)
        else:
            first += 1
    return found


def _card_in(text: str, groups: Sequence[re.Match[str]]) -> tuple[int, int] | None:
    """Return where the longest card is that begins with the first group."""
    start = groups[0].start()
    number = groups[0].group().translate(_TO_ASCII)
    lengths, longest = _lengths(number[:_PREFIX]), None
    if not lengths or _BEFORE.search(text, max(start - 1, 0), start):
        return None
    sizes: list[int] = []
    number = ""
    for group in groups:
        number += group.group().translate(_TO_ASCII)
        sizes.append(len(group.group()))
        if (
            len(number) in lengths
            and _is_grouping(sizes)
            and _has_check_digit(number)
            and not _AFTER.match(text, group.end())
        ):
            longest = (start, group.end())
    return longest


@cache
def _lengths(prefix: str) -> frozenset[int]:
    """Return how long the cards are that begin with four digits, empty for none."""
    if len(prefix) < _PREFIX:
        return frozenset()
    found = (
        sizes for low, high, sizes in _ISSUERS if low <= prefix[: len(low)] <= high
    )
    return frozenset().union(*found)


def _is_grouping(sizes: Sequence[int]) -> bool:
    """Tell whether cards are written in such groups: whole, in fours, or as known."""
    if len(sizes) == 1 or tuple(sizes) in _GROUPINGS:
        return True
    *quarters, rest = sizes
    return all(n == _QUARTER for n in quarters) and rest <= _QUARTER


def _has_check_digit(number: str) -> bool:
    """Check the last digit by Luhn's formula (ISO/IEC 7812-1, annex B)."""
    doubled = (_DOUBLED[digit] for digit in number[-2::-2])
    return (sum(map(int, number[::-2])) + sum(doubled)) % 10 == 0
