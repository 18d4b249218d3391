"""A query is kept from the readers of time words only if they would find nothing."""

import ast
import re._constants as codes
import re._parser as parser
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.search import (
    chinese_dates,
    cues,
    english_dates,
    moments,
    past,
    past_chinese,
)

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
HERE = Path(__file__).parent
TABLES = (
    "test_moments",
    "test_past",
    "test_timeliness",
    "test_settling",
    "test_events",
)


def phrases():
    """Return all texts in the tests of what reads time and versions, line by line."""
    found = {}
    for name in TABLES:
        tree = ast.parse((HERE / f"{name}.py").read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(dict.fromkeys(node.value.strip().splitlines()))
    return list(filter(None, found))


def is_missed(query):
    """Tell whether something that the tables read is kept from them."""
    named = moments.time_preference(query, NOW, UTC) is not None
    asked = past.asks_about(query) != "any"
    return (named and not cues.may_name_time(query)) or (
        asked and not cues.may_name_version(query)
    )


@pytest.mark.parametrize("query", phrases())
def test_no_phrase_that_the_readers_know_is_missed(query):
    assert not is_missed(query)
    assert not is_missed(query.upper())


def test_the_tests_of_the_readers_are_rich_in_phrases():
    read = [q for q in phrases() if cues.may_name_time(q) or cues.may_name_version(q)]

    assert sum(q.isascii() for q in read) > 80
    assert sum(not q.isascii() for q in read) > 80


@given(
    st.lists(
        st.sampled_from(sorted(cues.TIME_WORDS | cues.VERSION_WORDS))
        | st.sampled_from("İ K ſ ß last in on the two 10 2021 个 以 天 三 ago".split())
        | st.sampled_from(sorted(cues.TIME_CHARACTERS | cues.VERSION_CHARACTERS))
        | st.text(max_size=3),
        max_size=8,
    ),
    st.sampled_from(("", " ", "İ")),
)
def test_no_mixture_of_phrases_is_missed(parts, between):
    assert not is_missed(between.join(parts))


def test_every_word_that_english_readers_look_for_is_a_cue():
    looked_for = english_dates._CUES | moments._SIDES
    words = {word for word in looked_for if word.isalpha()}

    assert words == cues.TIME_WORDS
    assert all(set("0123456789").intersection(word) for word in looked_for - words)
    assert past._CUES == cues.VERSION_WORDS


def test_every_character_that_chinese_readers_look_for_is_a_cue():
    folded = frozenset(chinese_dates.simplified("".join(cues.TIME_CHARACTERS)))

    assert always_has(chinese_dates._GATE.pattern, folded)
    assert always_has(moments._ZH_SIDE.pattern, folded)
    for source, target in chinese_dates._SIMPLIFIED.items():
        if chr(target) in cues.TIME_CHARACTERS:
            assert chr(source) in cues.TIME_CHARACTERS
    for pattern in (
        past_chinese._BOTH,
        past_chinese._PAST,
        past_chinese._BEFORE,
        past_chinese._PRESENT,
    ):
        assert always_has(pattern.pattern, cues.VERSION_CHARACTERS)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ab|cb", True),
        ("ab|cd", False),
        ("(?:ab)?c", False),
        ("(?:ab)+c", True),
        ("[bB]", False),
        ("c(?=[bb])", True),
        ("c(?!b)", False),
        ("[^a]", False),
    ],
)
def test_whether_a_pattern_always_has_one_of_some_characters(pattern, expected):
    assert always_has(pattern, frozenset("b")) is expected


def always_has(pattern, characters):
    """Tell whether texts that a pattern matches have one of the characters."""
    return _has(parser.parse(pattern), {ord(character) for character in characters})


def _has(tree, characters):
    return any(_element_has(code, given, characters) for code, given in tree)


def _element_has(code, given, characters):
    if code is codes.LITERAL:
        return given in characters
    if code is codes.IN:
        return all(c is codes.LITERAL and g in characters for c, g in given)
    if code is codes.BRANCH:
        return all(_has(branch, characters) for branch in given[1])
    if code is codes.SUBPATTERN:
        return _has(given[3], characters)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        return given[0] > 0 and _has(given[2], characters)
    return code is codes.ASSERT and _has(given[1], characters)


@pytest.mark.parametrize(
    "query",
    ["green tea", "Where does Ann live?", "what do they really like about it", "绿茶",
     "他们喜欢什么地方", "安喜欢喝绿茶"],
)  # fmt: skip
def test_a_plain_query_is_not_read(query):
    assert not cues.may_name_time(query)
    assert not cues.may_name_version(query)


def test_what_lies_beyond_what_is_looked_at_is_not_read():
    assert not cues.may_name_time("x" * 400 + " yesterday")


def test_a_search_without_a_time_loads_no_tables():
    code = (
        "import sys\n"
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', 'Likes green tea')\n"
        "for _ in range(10):\n"  # the later ones use an index
        "    assert store.search_memories('ann', 'green tea')\n"
        "prefix = 'langchain_agentmemory.'\n"
        "slow = 'moments english_dates chinese_dates time_relations past timeliness'\n"
        "names = {prefix + 'search.' + name for name in slow.split()}\n"
        "names |= {prefix + 'explanation', prefix + 'service.explaining'}\n"
        "assert 'numpy' in sys.modules\n"
        "assert not names & set(sys.modules), names & set(sys.modules)\n"
        "assert store.search_memories('ann', 'green tea yesterday')\n"
        "assert prefix + 'search.moments' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
