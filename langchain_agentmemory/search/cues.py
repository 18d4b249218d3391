"""What a query says about time and versions, read only if a word may give it away.

The tables that read it take longer to load than a first search takes, and most queries
name no time. So a word or a character of each of their phrases stands here. A query
without any of them says nothing; one with them is read by the tables, which often find
nothing either: `may` and 上 have other uses.
"""

import re
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_agentmemory.search.moments import TimePreference
    from langchain_agentmemory.search.past import Standing

MOST_CHARACTERS: Final = 400
"""Only so much of a query is looked at; messages that are no questions are longer."""

TIME_WORDS: Final = frozenset(
    (
        "after afternoon ago apr april aug august autumn before christmas days dec "
        "decade decades december evening fall feb february following friday half "
        "halloween jan january jul july jun june lately mar march may monday month "
        "months morning new night nov november oct october other prior quarter "
        "recently saturday sep sept september since spring summer sunday thanksgiving "
        "thursday till today tomorrow tonight tuesday until valentine wednesday week "
        "weekend weeks winter year years yesterday"
    ).split()
)
"""One of the words of whatever English names a time without a digit."""
TIME_CHARACTERS: Final = frozenset(
    "0123456789０１２３４５６７８９"
    "年月天周週期拜节節季春夏秋冬国國圣聖五端中清元过過昨今明近久阵陣段前后後"
)
"""One of the characters of whatever else names a time."""

VERSION_WORDS: Final = frozenset(
    (
        "after ago anymore back before began begin beginner beginning boy change "
        "changed changes changing child compare compared current currently date days "
        "earlier erstwhile evolve evolved far first former formerly from girl initial "
        "initially joined just kid lately latest little long longer moment more newest "
        "newly now nowadays obsolete off old older original originally out outdated "
        "outset past point pre present presently previous previously prior recent "
        "recently start started starting still student superseded teenager than then "
        "till time today until use used while younger"
    ).split()
)
"""One of the words of whatever English says about versions."""
VERSION_CHARACTERS: Final = frozenset(
    "原曾初早始头頭前昔往时時次当當本儿兒阵陣再已旧舊老上直过過现現今眼近仍新还還变變改从從"
)
"""One of the characters of whatever Chinese says about versions."""

PAST_WORDS: Final = frozenset(
    (
        "baby beginner boy child first former formerly girl initial initially kid "
        "little old once original originally past previous previously prior small "
        "student teenager then use used younger"
    ).split()
)
"""One of the words of whatever English statement says itself that it is past."""
PAST_CHARACTERS: Final = frozenset("前曾初早先原旧舊老轻輕候始过過当當上")
"""One of the characters of whatever Chinese statement says so."""

_WORD: Final = re.compile("[a-z]+")
_LONGER_IN_LOWER_CASE: Final = "\u0130"
"""The one character of which the readers make different words."""


def may_name_time(query: str) -> bool:
    """Tell whether a query may name a time: it does not if this is false."""
    return _may_have(query, TIME_WORDS, TIME_CHARACTERS)


def may_name_version(query: str) -> bool:
    """Tell whether a query may ask for a version: it does not if this is false."""
    return _may_have(query, VERSION_WORDS, VERSION_CHARACTERS)


def may_be_told_as_past(text: str) -> bool:
    """Tell whether a statement may say itself that it is past: not if this is false."""
    return _may_have(text, PAST_WORDS, PAST_CHARACTERS)


def time_named(query: str, now: datetime, timezone: tzinfo) -> "TimePreference | None":
    """Return `moments.time_preference` of a query."""
    if not may_name_time(query):
        return None
    from langchain_agentmemory.search.moments import (  # noqa: PLC0415 - slow to load
        time_preference,
    )

    return time_preference(query, now, timezone)


def version_asked(query: str) -> "Standing":
    """Return `past.asks_about` of a query."""
    if not may_name_version(query):
        return "any"
    from langchain_agentmemory.search.past import (  # noqa: PLC0415 - slow to load
        asks_about,
    )

    return asks_about(query)


def _may_have(query: str, words: frozenset[str], characters: frozenset[str]) -> bool:
    text = query[:MOST_CHARACTERS]
    return (
        not characters.isdisjoint(text)
        or not words.isdisjoint(_WORD.findall(text.lower()))
        or _LONGER_IN_LOWER_CASE in text
    )
