"""Identifiers are found whole and in parts; whole counts most."""

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.chunks import CHUNKS
from langchain_agentmemory.search.identifiers import (
    NO_NUMBER,
    NUMBER,
    PHONE_NUMBER,
    WHOLE_WEIGHT,
    number_kind,
)
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.standard import DefaultTokenizer

DEFAULT = DefaultTokenizer()


def scores(query: str, *documents: str) -> list[float]:
    shelf: Shelf[str] = Shelf(DEFAULT, None, text=lambda text: (text, ""))
    for number, text in enumerate((*documents, "something else", "完全不相关的事")):
        shelf.upsert(str(number), text, None)
    return shelf.lexical(DEFAULT.query(query)).tolist()[: len(documents)]


def tokens(text: str) -> frozenset[str]:
    return DEFAULT.token_set(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++", {"c++"}),
        ("C++/C#", {"c++", "c#"}),
        ("用C++、C#和F#写的", {"c++", "c#", "f#"}),
        ("C++17", {"c++17", "c++", "17"}),
        (".NET", {".net", "net"}),
        ("ASP.NET", {"asp.net", "net"}),
        ("go1.23", {"go1.23", "go", "1.23"}),
        ("用C++写的go1.23服务", {"c++", "go1.23", "1.23", "服务"}),
        ("Ｇｏ１．２３", {"go1.23", "1.23"}),
        ("user_id", {"user_id", "user", "id"}),
        ("getUserName()", {"getusernam", "get", "user", "name"}),
        ("HTTPServer", {"http", "server"}),
        ("APIs", {"api"}),
        (
            "ann.lee@example.org.",
            {"ann.lee@example.org", "ann.lee", "example.org", "ann", "exampl"},
        ),
        (
            "https://www.github.com/foo/bar-baz?tab=1",
            {"github.com/foo/bar-baz", "github.com", "bar-baz", "foo", "tab=1"},
        ),
        ("/etc/nginx/nginx.conf", {"etc/nginx/nginx.conf", "nginx.conf", "nginx"}),
        (r"C:\Users\ann\notes.txt", {r"c:\users\ann\notes.txt", "notes.txt", "ann"}),
        ("v2.14.3", {"2.14.3", "2.14"}),
        ("python3.11.4", {"python3.11.4", "python", "3.11.4", "3.11"}),
        ("10.0.0.5:8080", {"10.0.0.5:8080", "10.0.0.5", "8080"}),
        ("2024-05-12", {"2024-05-12", "2024-05", "2024", "12"}),
        ("2024/5/12", {"2024-05-12", "2024-05"}),
        ("12.5.2024", {"2024-05-12", "2024-05"}),
        ("2024年5月12日", {"2024-05-12", "2024-05", "2024年", "5月", "12日"}),
        ("2024年5月", {"2024-05"}),
        ("1,234", {"1234"}),
        ("1,234,567.50", {"1234567.50", "1234567"}),
        ("MU5137", {"mu5137", "mu", "5137"}),
        ("ERR_CONN_REFUSED", {"err_conn_refused", "conn"}),
        ("ORA-01555", {"ora-01555", "ora", "01555"}),
        ("$50", {"$50", "50"}),
        ("50%", {"50%", "50"}),
        ("五折，50元", {"50元", "50"}),
        ("1,299元", {"1299元", "1299"}),
        ("她的T恤和维生素C", {"t恤", "素c"}),
        ("wi-fi", {"wi-fi", "wifi"}),
        ("U.S.A.", {"usa"}),
        ("+49 170 1234567", {"491701234567", "1701234567", "1234567"}),
        ("0049 (0) 170 / 1234567", {"491701234567", "1701234567"}),
        ("0170 1234567", {"01701234567", "1701234567"}),
        ("电话138 0013 8000", {"13800138000"}),
        ("138-0013-8000", {"13800138000"}),
        ("Party 🎉!", {"🎉", "parti"}),
        ("great🎉", {"🎉", "great"}),
    ],
)
def test_an_identifier_has_itself_and_its_parts(text: str, expected: set[str]) -> None:
    assert expected - tokens(text) == set()


@pytest.mark.parametrize(
    ("text", "unexpected"),
    [
        ("C#", {"c"}),
        ("v2.14.3", {"2.1", "14.3"}),
        ("2.14", {"2.1"}),
        ("2024-13-40", {"2024-13"}),
        ("well...maybe, and/or (this)", {"well...maybe"}),
        ("in 2019 and 2020", {"20192020"}),
        ("2024-05-12 10:30", {"2024051210"}),
        ("APIs", {"ap", "ds"}),
        ("हिन्दी", {"ह"}),
    ],
)
def test_what_is_no_part_is_no_token(text: str, unexpected: set[str]) -> None:
    assert tokens(text) & unexpected == set()


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("which service runs go1.23?", "billing is on go1.23", "a service runs go1.22"),
        ("哪个服务用go1.23", "支付跑在 go1.23 上", "网关服务用go1.22"),
        (
            "what changed in 2.14.3",
            "2.14.3 is out",
            "what changed in 2.14.2 was 3 bugs",
        ),
        (
            "who is ann.lee@example.org",
            "Ann's is ann.lee@example.org",
            "Ann Lee wrote to example.org",
        ),
        ("MU5137几点起飞", "订了MU5137的票", "MU5173七点起飞"),
        ("what is user_id", "user_id is a key", "user id of the user, and what it is"),
        ("paid $50", "a fee of $50", "paid 50 visits"),
        ("Which is written in C?", "The driver is written in C", "It is written in C#"),
        ("0x80070005", "got 0x80070005", "got 0x80070006"),
    ],
)
def test_a_whole_identifier_outranks_its_parts(
    query: str, right: str, wrong: str
) -> None:
    first, second = scores(query, right, wrong)
    assert first > second


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("+49 170 1234567", "call 0170/1234567"),
        ("0170 1234567", "call +49 170 123 4567"),
        ("13800138000", "手机号138-0013-8000"),
        ("2024年5月12日", "due 2024-05-12"),
        ("2024-05", "搬家是2024年5月12日"),
        ("2.14", "upgraded to v2.14.3"),
        ("v2.14.3", "upgraded to 2.14.3"),
        ("1234", "1,234 steps"),
        ("1,234", "1234 steps"),
        ("MU 5137", "flight MU5137"),
        ("MU5137", "flight MU 5137"),
        ("user name", "call getUserName()"),
        ("example.org", "ann.lee@example.org"),
        ("nginx.conf", "/etc/nginx/nginx.conf"),
        ("C++", "compiled as C++17"),
        ("Ｃ＋＋", "knows C++"),
        ("50元", "只要５０元"),
    ],
)
def test_another_spelling_is_found(query: str, document: str) -> None:
    assert scores(query, document)[0] > 0


def test_the_whole_counts_most_in_a_query() -> None:
    query = DEFAULT.query("Is go1.23 in use?")
    weights = dict(zip(query.words, query.weights, strict=True))
    assert weights["go1.23"] == WHOLE_WEIGHT == max(weights.values())
    assert weights["go"] < weights["use"] == 1


@pytest.mark.parametrize(
    ("chunk", "kind"),
    [
        ("170", NUMBER),
        ("+49", NUMBER),
        ("(030)", NUMBER),
        ("138-0013-8000,", PHONE_NUMBER),
        ("2024-05-12", NUMBER),
        ("go1.23", NO_NUMBER),
        ("...", NO_NUMBER),
    ],
)
def test_numbers_are_told_apart(chunk: str, kind: int) -> None:
    assert number_kind(chunk) == kind


_word = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
_identifiers = st.builds(
    lambda parts, joiner: joiner.join(parts),
    st.lists(
        _word | st.from_regex(r"[1-9][0-9]{0,3}", fullmatch=True),
        min_size=2,
        max_size=4,
    ),
    st.sampled_from(["_", "-", ".", "/", "@", ":"]),
)


@settings(deadline=None)
@given(
    identifier=_identifiers,
    around=st.sampled_from(["{}", "see {}.", "({})", "用{}写的", "“{}”，"]),
)
def test_ascii_identifiers_are_found_whole_and_by_parts(
    identifier: str, around: str
) -> None:
    document = around.format(identifier)
    assert scores(identifier, document)[0] > 0
    assert tokens(identifier) & tokens(document)
    for joiner in "_-./@:":
        if joiner in identifier:
            for part in identifier.split(joiner):
                assert scores(part, document)[0] > 0
    whole = DEFAULT.query(identifier)
    assert max(whole.weights) > 0


@settings(deadline=None, max_examples=300)
@given(
    st.text(
        st.characters(codec="utf-8") | st.sampled_from("的是什么吗ab1 .+#-"),
        min_size=1,
        max_size=20,
    )
)
def test_a_text_finds_itself(text: str) -> None:
    assume(any(unicodedata.category(character)[0] in "LN" for character in text))
    assert scores(text, text)[0] > 0


def test_chunks_are_kept_within_bounds() -> None:
    CHUNKS["x" * 50]
    assert "x" * 50 not in CHUNKS
