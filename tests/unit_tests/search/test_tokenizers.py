"""What the tokenizers make of texts, in English and Chinese."""

import os
import struct
import subprocess
import sys
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search import english
from langchain_agentmemory.search.postings import parse_blobs
from langchain_agentmemory.search.reference import ReferenceTokenizer
from langchain_agentmemory.search.segment import Segmenter
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.standard import DefaultTokenizer
from langchain_agentmemory.search.tokenize import (
    HEADER,
    Tokenizer,
    hash_word,
    is_blob_of,
)

TOKENIZERS = [ReferenceTokenizer(), DefaultTokenizer()]
DEFAULT = DefaultTokenizer()


def score(document: str, query: str, topics: str = "") -> float:
    shelf: Shelf[tuple[str, str]] = Shelf(DEFAULT, None, text=lambda texts: texts)
    shelf.upsert("a", (document, topics), None)
    shelf.upsert("b", ("something else altogether", ""), None)
    return float(shelf.lexical(DEFAULT.query(query))[0])


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda t: t.name)
@settings(deadline=None)  # The first Chinese text loads the dictionary.
@given(content=st.text(), topics=st.text())
def test_a_blob_holds_the_hashes_of_the_fields_tokens(
    tokenizer: Tokenizer, content: str, topics: str
) -> None:
    blob = tokenizer.document(content, topics)
    assert is_blob_of(blob, tokenizer.fingerprint)
    fields = [tokenizer.field(content), tokenizer.field(topics)]
    groups = [group for field in fields for group in field]
    assert HEADER.unpack_from(blob) == (tokenizer.fingerprint, *map(len, groups))
    words = [
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for group in groups
        for word in group
    ]
    assert blob[HEADER.size :] == b"".join(words)


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda t: t.name)
@settings(deadline=None)  # The first Chinese text loads the dictionary.
@given(texts=st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5))
def test_many_blobs_are_parsed_at_once(
    tokenizer: Tokenizer, texts: list[tuple[str, str]]
) -> None:
    blobs = [tokenizer.document(*pair) for pair in texts]
    tokens = parse_blobs(blobs)
    bodies = b"".join(blob[HEADER.size :] for blob in blobs)
    assert tokens.hashes.astype("<u8").tobytes() == bodies
    assert tokens.counts.tolist() == [list(HEADER.unpack_from(b)[1:]) for b in blobs]


def test_tokenizers_have_different_fingerprints_of_64_bits() -> None:
    prints = {tokenizer.fingerprint for tokenizer in TOKENIZERS}
    assert len(prints) == len(TOKENIZERS)
    assert all(0 < value < 1 << 64 for value in prints)


def test_tokens_are_the_same_in_every_process() -> None:
    script = (
        "from langchain_agentmemory.search.standard import DefaultTokenizer as T;"
        "print(T().document('Running in Zürich, C++ 1,000', 'go1.23').hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    expected = DEFAULT.document("Running in Zürich, C++ 1,000", "go1.23").hex()
    assert outputs == {expected + "\n"}


def test_a_truncated_or_foreign_blob_is_recognised() -> None:
    blob = DEFAULT.document("red boat", "")
    assert not is_blob_of(blob[:-1], DEFAULT.fingerprint)
    assert not is_blob_of(blob[:10], DEFAULT.fingerprint)
    assert not is_blob_of(b"", DEFAULT.fingerprint)
    assert not is_blob_of(None, DEFAULT.fingerprint)
    foreign = struct.pack("<Q", 1) + blob[8:]
    assert not is_blob_of(foreign, DEFAULT.fingerprint)


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("She was painting houses", "painted house"),
        ("He bought a car and drove away", "buy, drive"),
        ("Has a peanut allergy", "Is she allergic to peanuts?"),
        ("They married in 2019", "When was the marriage?"),
        ("Knows C++ well", "C++"),
        ("Knows C# well", "c#"),
        ("Works with .NET daily", ".net"),
        ("Runs go1.23 in production", "go1.23"),
        ("Runs go1.23 in production", "1.23"),
        ("Column user_id is unique", "user_id"),
        ("Column user_id is unique", "user id"),
        ("Column user id is unique", "user_id"),
        ("Write to ann.lee@example.org", "ann.lee@example.org"),
        ("Write to ann.lee@example.org", "example"),
        ("The wi-fi is slow", "wifi"),
        ("Got an email", "e-mail"),
        ("Paid 1,000 euros", "1000"),
        ("Lives in Zürich", "zurich"),
        ("Crème brûlée", "creme brulee"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ ２０２４", "full 2024"),
        ("Caroline’s dog", "caroline's"),
        ("Caroline's dog", "Caroline"),
        ("Celebrated 🎉 today", "🎉"),
        ("Straße", "strasse"),
        ("हिन्दी सीखता है", "हिन्दी"),
        ("喜欢喝龙井茶", "龙井"),
        ("养了一只猫", "我的猫叫什么名字"),
        ("在杭州开茶馆", "茶"),
        ("周末打羽毛球", "羽毛"),
        ("コーヒーが好き", "コーヒー"),
        ("ｺｰﾋｰが好き", "コーヒー"),
        ("한국어 공부", "한국어"),
        ("買了 MacBook 電腦", "macbook"),
        ("龘靐", "龘靐"),
    ],
)
def test_the_default_ranking_finds(document: str, query: str) -> None:
    assert score(document, query) > 0


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("Vitamins are good", "C++"),
        ("She is vegan", "vegetarian"),
        ("the and of", "boat"),
        ("喜欢喝龙井茶", "游泳"),
        ("What did you do?", "What did Caroline research?"),
        ("我的是什么", "你最喜欢什么颜色"),
    ],
)
def test_the_default_ranking_does_not_find(document: str, query: str) -> None:
    assert score(document, query) == 0


def test_a_form_has_one_base() -> None:
    groups = (
        english._IRREGULAR_VERBS,
        english._IRREGULAR_NOUNS,
        english._IRREGULAR_ADJECTIVES,
        english._DERIVED,
    )
    families = [entry.split() for group in groups for entry in group.split(",")]
    bases = {family[0] for family in families}
    forms = [form for family in families for form in family[1:]]
    assert len(forms) == len(set(forms))
    assert bases.isdisjoint(forms)


def test_question_words_are_dropped_from_queries() -> None:
    assert DEFAULT.query("What did Caroline research?").words == ("carolin", "research")
    assert DEFAULT.query("你的猫叫什么名字").words[0] != "你"
    assert "什么" not in DEFAULT.query("什么天气").words


@pytest.mark.parametrize(
    "query",
    [
        *("what is it", "to be or not to be", "who", "Where?", "how many", "the"),
        *(
            "是什么",
            "的",
            "谁",
            "哪里",
            "多久",
            "什么时候",
            "几点",
            "為什麼",
            "哪裡",
            "甚麼",
        ),
    ],
)
def test_a_query_is_never_dropped_whole(query: str) -> None:
    asked = DEFAULT.query(query)
    assert len(asked.words) > 0
    assert score(query, query) > 0


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("什么时候去杭州", {"杭州"}),
        ("什麼時候去杭州", {"杭州"}),
        ("哪一年去杭州", {"杭州"}),
        ("在哪裡，杭州？", {"杭州"}),
        ("為什麼杭州", {"杭州"}),
        ("杭州多久", {"杭州"}),
        ("几点杭州", {"杭州"}),
        ("杭州有多少", {"杭州"}),
        ("谁的杭州", {"杭州"}),
        ("妳們怎麼杭州", {"杭州"}),
        ("Couldn't you tell me where Berlin is?", {"berlin"}),
        ("Whats Berlin, and mustn't it be?", {"berlin"}),
        ("I cannot: Who's been to Berlin?", {"berlin"}),
    ],
)
def test_question_words_of_both_languages_and_scripts_are_dropped(
    query: str, words: set[str]
) -> None:
    asked = DEFAULT.query(query)
    found = set(asked.words[: len(asked.phrase)])
    assert found - {"去"} == words


def test_an_identifier_found_whole_beats_its_parts() -> None:
    assert score("uses C++ daily", "C++") > score("vitamin C daily", "C++")
    assert score("uses user_id daily", "user_id") > score("user has id", "user_id")


def test_words_in_order_score_higher() -> None:
    assert score("red painted boat", "red boat") > score("boat red painted", "red boat")


def test_topics_are_searched_and_count_less_than_the_text() -> None:
    in_topics, in_text = score("x", "sailing", "sailing"), score("sailing", "sailing")
    assert 0 < in_topics < in_text <= 1


def test_megabytes_without_blanks_are_tokenised() -> None:
    hard = ("1." * 200_000, "1 " * 200_000, "1" + ")" * 500_000 + "x", "茶1" * 20_000)
    for text in ("x" * 2_000_000, "é" * 500_000, "a-" * 500_000, *hard):
        assert is_blob_of(DEFAULT.document(text, ""), DEFAULT.fingerprint)


def test_odd_characters_are_tokenised() -> None:
    for tokenizer in TOKENIZERS:
        for text in ("\x00", "\ud800 x", "a\u0301", "\U0010ffff", "İ", "'", "''s"):
            blob = tokenizer.document(text, text)
            assert is_blob_of(blob, tokenizer.fingerprint)
            query = tokenizer.query(text)
            assert query.terms == tuple(map(hash_word, query.words))


def test_without_dictionary_bigrams_still_find() -> None:
    def fail() -> list[str]:
        msg = "no dictionary"
        raise OSError(msg)

    tokenizer = DefaultTokenizer(Segmenter(fail))
    shelf: Shelf[str] = Shelf(tokenizer, None, text=lambda text: (text, ""))
    shelf.upsert("a", "周末经常打羽毛球", None)
    assert shelf.lexical(tokenizer.query("羽毛球拍"))[0] > 0
