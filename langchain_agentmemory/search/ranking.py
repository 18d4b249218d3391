"""The rankings that a store can be given by name."""

from functools import lru_cache
from typing import Final, NamedTuple

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.search.dictionary import UserDictionary
from langchain_agentmemory.search.standard import DefaultTokenizer
from langchain_agentmemory.search.tokenize import Tokenizer


class Ranking(NamedTuple):
    """How documents are tokenised and scored.

    Attributes:
        name: `"default"` or `"reference"`.
        tokenizer: Makes documents' token blobs and queries; a query carries the
            formula by which documents are scored.
        threshold: Scores below it are dropped unless a search says otherwise. 0 keeps
            every positive score.
        by_evidence: Whether scores are roots of evidence (`search.fusion`), and
            neighbours, labels, versions and time count. Else they are the formula's.
    """

    name: str
    tokenizer: Tokenizer
    threshold: float
    by_evidence: bool


NAMES: Final = ("default", "reference")
_CACHED_RANKINGS: Final = 16
_NO_WORDS: Final = UserDictionary()


def get_ranking(name: str, dictionary: UserDictionary = _NO_WORDS) -> Ranking:
    """Return the ranking of this name.

    Args:
        name: One of `NAMES`.
        dictionary: Words to be added to the Chinese dictionary.

    Raises:
        InvalidInput: If there is none.
    """
    given: object = name
    if not isinstance(given, str) or given not in NAMES:
        msg = f"Unknown ranking {quoted(given)}: use one of {', '.join(NAMES)}."
        raise InvalidInput(msg)
    return _ranking(name, dictionary)


@lru_cache(maxsize=_CACHED_RANKINGS)
def _ranking(name: str, dictionary: UserDictionary) -> Ranking:
    if name == "default":
        return Ranking(
            name, DefaultTokenizer(dictionary=dictionary), 0.0, by_evidence=True
        )
    from langchain_agentmemory.search.reference import (  # noqa: PLC0415 - rare
        ReferenceTokenizer,
    )

    return Ranking(
        name, ReferenceTokenizer(dictionary=dictionary), 0.3, by_evidence=False
    )
