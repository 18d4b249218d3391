"""Traditional Chinese folded to simplified, so that either finds the other.

In this direction nearly every character has one form (後 and 后 both become 后, 發 and
髮 both 发). For the few that depend on their word (乾淨, but 乾隆), the table has those
words. It is made by `scripts/make_simplified_table.py`, and read with the first Han
text.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

_TABLE: Final = Path(__file__).with_name("data") / "simplified.txt"
_COMMENT: Final = "#"


class _Table:
    """The parsed table."""

    def __init__(self, text: str) -> None:
        lines = [line for line in text.splitlines() if not line.startswith(_COMMENT)]
        always, replaced, alone, becomes, words, forms = lines
        self._always = str.maketrans(always, replaced)
        # Most text is simplified: the look takes a quarter of what `translate` does.
        self._replaced = frozenset(always + alone)
        self._forms = dict(zip(words.split(), forms.split(), strict=True))
        self._forms.update(zip(alone, becomes, strict=True))
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._uncertain = re.compile("|".join(longest_first))

    def fold(self, text: str) -> str:
        if self._replaced.isdisjoint(text):
            return text
        folded, before = text.translate(self._always), ""
        while folded != before:  # A word that was replaced may have made another.
            before = folded
            folded = self._uncertain.sub(self._form, folded)
        return folded

    def _form(self, found: re.Match[str]) -> str:
        return self._forms[found.group()]


@cache
def _table() -> _Table:
    return _Table(_TABLE.read_text("utf-8"))


def simplified(text: str) -> str:
    """Return a text in simplified characters; folding twice changes nothing more."""
    return text if text.isascii() else _table().fold(text)
