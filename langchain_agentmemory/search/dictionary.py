"""Words that a user adds to the Chinese dictionary: names, products, terms.

They come as a list, or as a file in the format of jieba's user dictionaries: a line
`word [frequency] [tag]` for each.
"""

import os
import re
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

UserWord = (
    str | tuple[str] | tuple[str, int | None] | tuple[str, int | None, str | None]
)
"""A word, alone or with its frequency and part of speech."""
UserWords = Iterable[UserWord] | str | os.PathLike[str]
"""Words, or the path of a file of them."""

_LINE: Final = re.compile(r"(.+?)(?: +([0-9]+))?(?: +([a-z]+))?")
_EXAMPLE: Final = "'云栖小镇', or with a frequency and a tag, ('云栖小镇', 100, 'ns')"
_MOST_FIELDS: Final = 3


class Word(NamedTuple):
    """A word of a user dictionary.

    Attributes:
        text: The word.
        frequency: How often it occurs, out of some 60 million words. `None`: often
            enough to stay whole.
        tag: Its part of speech, which search does not use.
    """

    text: str
    frequency: int | None = None
    tag: str | None = None


class UserDictionary(NamedTuple):
    """The words that a user added.

    Attributes:
        words: In their order; of equal ones the last.
    """

    words: tuple[Word, ...] = ()

    @property
    def digest(self) -> str:
        """What names these words; blank for none."""
        if not self.words:
            return ""
        lines = "\n".join(f"{w.text}\t{w.frequency}" for w in self.words)
        encoded = lines.encode("utf-8", "surrogatepass")
        return blake2b(encoded, digest_size=16).hexdigest()

    def folded(self, fold: Callable[[str], str]) -> "UserDictionary":
        """Return the words as texts have them when they are cut."""
        folded = (word._replace(text=fold(word.text)) for word in self.words)
        return UserDictionary(tuple({word.text: word for word in folded}.values()))


def user_dictionary(given: UserWords | None) -> UserDictionary:
    """Return the words that a caller gave.

    Raises:
        InvalidInput: If a word or the file cannot be used.
    """
    anything: object = given
    if anything is None:
        return UserDictionary()
    if isinstance(anything, str | os.PathLike):
        words = _read(Path(anything))
    elif isinstance(anything, Iterable) and not isinstance(anything, bytes):
        words = [_word(one) for one in anything]
    else:
        msg = (
            f"user_dictionary must be a list of words or the path of a file, not "
            f"{quoted(given)}."
        )
        raise InvalidInput(msg)
    return UserDictionary(tuple({word.text: word for word in words}.values()))


def _read(path: Path) -> list[Word]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        msg = (
            f"The user dictionary {quoted(str(path))} cannot be read "
            f"({error.strerror or error}). Give words as a list, not as one text."
        )
        raise InvalidInput(msg) from None
    except ValueError:
        msg = f"The user dictionary {quoted(str(path))} is not UTF-8: convert it."
        raise InvalidInput(msg) from None
    words = []
    for line in filter(None, map(str.strip, lines)):
        found = _LINE.fullmatch(line)
        if found is not None:
            frequency = None if found[2] is None else int(found[2])
            words.append(_word((found[1], frequency, found[3])))
    return words


def _word(given: object) -> Word:
    fields = (given,) if isinstance(given, str) else given
    if not isinstance(fields, tuple | list) or not 1 <= len(fields) <= _MOST_FIELDS:
        msg = f"user_dictionary has {quoted(given)}: give a word as {_EXAMPLE}."
        raise InvalidInput(msg)
    text, frequency, tag = (*fields, None, None)[:_MOST_FIELDS]
    if not isinstance(text, str) or not text.strip():
        msg = f"user_dictionary has {quoted(given)}, which has no word: use {_EXAMPLE}."
        raise InvalidInput(msg)
    if frequency is not None and (
        isinstance(frequency, bool) or not isinstance(frequency, int) or frequency < 1
    ):
        msg = (
            f"The frequency of {quoted(text)} in user_dictionary must be a whole "
            f"number above 0, not {quoted(frequency)}. Leave it out to keep the word "
            f"whole."
        )
        raise InvalidInput(msg)
    if tag is not None and not isinstance(tag, str):
        msg = f"The tag of {quoted(text)} in user_dictionary must be text, such as 'n'."
        raise InvalidInput(msg)
    return Word(text.strip(), frequency, tag)
