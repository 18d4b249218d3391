"""Words that a user adds: kept whole, in this store only, on either ranking."""

from pathlib import Path

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.search.dictionary import Word, user_dictionary
from langchain_agentmemory.search.ranking import NAMES, get_ranking
from langchain_agentmemory.search.tokenize import is_blob_of

TEXT = "我在云栖小镇喝龙井问茶"


@pytest.mark.parametrize("name", NAMES)
def test_an_added_word_stays_whole(name: str) -> None:
    plain = get_ranking(name).tokenizer
    added = get_ranking(name, user_dictionary(["云栖小镇"])).tokenizer
    assert "云栖小镇" not in plain.field(TEXT).primary
    assert "云栖小镇" in added.field(TEXT).primary
    assert "云栖小镇" in added.query(TEXT).words


def test_a_word_is_found_in_the_other_script() -> None:
    added = get_ranking("default", user_dictionary(["龍井問茶"])).tokenizer
    for text in ("喝龙井问茶", "喝龍井問茶"):
        assert "龙井问茶" in added.field(text).primary


def test_a_word_with_letters_is_found_whole() -> None:
    added = get_ranking("default", user_dictionary(["小T恤衫", "T恤", "NAS"])).tokenizer
    assert "小t恤衫" in added.field("买了小Ｔ恤衫").primary
    assert "t恤" in added.field("她的T恤").primary


def test_the_fingerprint_covers_the_words() -> None:
    one, two = (
        get_ranking("default", user_dictionary([word])).tokenizer
        for word in ("云栖小镇", "龙井问茶")
    )
    plain = get_ranking("default").tokenizer
    assert len({one.fingerprint, two.fingerprint, plain.fingerprint}) == 3
    assert not is_blob_of(plain.document(TEXT, ""), one.fingerprint)
    again = get_ranking(
        "default", user_dictionary([("云栖小镇", None, "ns")])
    ).tokenizer
    assert again.fingerprint == one.fingerprint


def test_stored_tokens_of_another_dictionary_are_made_anew(tmp_path: Path) -> None:
    file = str(tmp_path / "memories.db")
    with MemoryStore(SQLiteBackend(file)) as store:
        store.add_memory("ann", TEXT)
        store.add_memory("ann", "去小镇上买了菜")
    with MemoryStore(SQLiteBackend(file), user_dictionary=["云栖小镇"]) as store:
        found = store.search_memories("ann", "云栖小镇", explain=True)
    assert "云栖小镇" in found[0].explanation["matched_words"]


def test_what_is_added_to_jieba_has_no_effect() -> None:
    tokenizer = get_ranking("default").tokenizer
    before = tokenizer.field(TEXT)
    import jieba  # noqa: PLC0415 - now it is loaded, quietly

    jieba.add_word("云栖小镇")
    try:
        assert "云栖小镇" in jieba.lcut(TEXT)
        assert tokenizer.field(TEXT) == before
    finally:
        jieba.del_word("云栖小镇")


def test_a_file_is_read_as_jieba_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\ufeff云栖小镇 5 ns\n\n龙井问茶\n王 小明 nr\n凯特琳 7\n", "utf-8")
    expected = (
        Word("云栖小镇", 5, "ns"),
        Word("龙井问茶"),
        Word("王 小明", None, "nr"),
        Word("凯特琳", 7),
    )
    assert user_dictionary(path).words == expected
    assert user_dictionary(str(path)).words == expected


def test_the_last_of_equal_words_counts() -> None:
    given = user_dictionary([("茶馆", 5), "酒馆", ("茶馆", 9, None)])
    assert given.words == (Word("茶馆", 9), Word("酒馆"))
    assert user_dictionary(None) == user_dictionary([]) == user_dictionary(iter(()))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (5, "list of words or the path"),
        (b"x", "list of words or the path"),
        ("/no/such/file", "cannot be read"),
        ([""], "has no word"),
        ([None], "give a word as"),
        ([("a", 1, "n", 2)], "give a word as"),
        ([("云栖小镇", 0)], "above 0"),
        ([("云栖小镇", True)], "above 0"),
        ([("云栖小镇", 5, 1)], "tag"),
    ],
)
def test_what_cannot_be_used_is_refused_at_once(given: object, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        MemoryStore(user_dictionary=given)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("云栖小镇".encode("gb18030"))
    with pytest.raises(InvalidInput, match="UTF-8"):
        MemoryStore(user_dictionary=path)


def test_the_store_says_how_many_words_it_was_given() -> None:
    store = MemoryStore(user_dictionary=["云栖小镇", "龙井问茶"])
    assert "2 words" in str(store.describe())
    assert "user dictionary" not in str(MemoryStore().describe())
