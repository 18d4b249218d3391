import logging

import pytest
from blockbuster import blockbuster_ctx

from langchain_agentmemory import SearchOptions
from langchain_agentmemory.nodes.selection import aselect, select
from tests.unit_tests.nodes.doubles import Broken, Reader, SyncReader, entry


@pytest.fixture(params=["sync", "async", "async on a sync reader"])
def choose(request):
    """Select in each of the three ways; the reader is made by the test."""

    async def chosen(reader, limit, query=""):
        if request.param == "sync":
            return [e.memory for e in select(reader, "alice", limit, query)]
        if request.param == "async on a sync reader":
            reader.__class__ = SyncReader
        with blockbuster_ctx():
            return [e.memory for e in await aselect(reader, "alice", limit, query)]

    return chosen


async def test_zero_reads_nothing(choose):
    reader = Reader("a")
    assert await choose(reader, 0, "tea") == []
    assert (reader.reads, reader.searches) == ([], [])


@pytest.mark.parametrize("limit", [-1, -7])
async def test_a_negative_limit_reads_all(choose, limit):
    reader = Reader("a", "b", "c")
    assert await choose(reader, limit, "tea") == ["a", "b", "c"]
    assert (reader.reads, reader.searches) == ([None], [])


async def test_up_to_n_memories_are_all_given_newest_first(choose):
    reader = Reader("a", "b", found=[entry("b")])
    assert await choose(reader, 2, "tea") == ["a", "b"]
    assert (reader.reads, reader.searches) == ([3], [])


async def test_more_are_searched_with_what_the_user_said(choose):
    reader = Reader("a", "b", "c", found=[entry("c")])
    assert await choose(reader, 2, "  tea \n") == ["c"]
    assert reader.reads == [3]
    options = SearchOptions(limit=2, deduplicate=True, versions="current")
    assert reader.searches == [("tea", options)]


PARIS = entry("lives in Paris", superseded_by="id-lives in Ber")
BERLIN = entry("lives in Berlin", supersedes=("id-lives in Par",))


@pytest.mark.parametrize("limit", [-1, 2, 3])
async def test_what_holds_now_tells_what_it_replaced(choose, limit):
    assert await choose(Reader(PARIS, BERLIN), limit, "Where do I live?") == [
        "lives in Berlin"
    ]


@pytest.mark.parametrize("query", ["Where did I live before?", "我以前住在哪里？"])
async def test_a_question_about_the_past_gets_every_version(choose, query):
    found = await choose(Reader(BERLIN, PARIS), -1, query)
    assert found == ["lives in Berlin", "lives in Paris"]


async def test_a_search_that_finds_too_many_is_cut_to_n(choose):
    reader = Reader("a", "b", "c", found=[entry("c"), entry("a"), entry("b")])
    assert await choose(reader, 2, "tea") == ["c", "a"]


@pytest.mark.parametrize("found", [[], Broken])
async def test_no_hit_and_a_failing_search_give_the_newest(choose, found):
    reader = Reader("a", "b", "c", found=found)
    assert await choose(reader, 2, "tea") == ["a", "b"]
    assert reader.reads == [3, 2]


async def test_a_blank_query_gives_the_newest_without_a_search(choose):
    reader = Reader("a", "b", "c")
    assert await choose(reader, 2, " \n ") == ["a", "b"]
    assert (reader.reads, reader.searches) == ([3, 2], [])


async def test_a_failing_read_gives_nothing_and_a_warning(choose, caplog):
    reader = Reader("a")
    reader.broken_reads = {1}
    with caplog.at_level(logging.WARNING):
        assert await choose(reader, 2, "tea") == []
    assert "could not be read" in caplog.text
    assert "Broken" in caplog.text


async def test_the_first_read_stands_in_when_the_second_fails(choose):
    reader = Reader("a", "b", "c")
    reader.broken_reads = {2}
    assert await choose(reader, 2) == ["a", "b"]


async def test_an_answer_that_is_no_list_is_a_failing_read(choose, caplog):
    reader = Reader()
    reader.memories = None
    assert await choose(reader, -1) == []
    assert "could not be read" in caplog.text


class Counting(Reader):
    """A reader that can count."""

    def count_memories(self, user):
        if self.found is Broken:
            raise Broken
        return len(self.memories)

    async def acount_memories(self, user):
        return self.count_memories(user)


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_reader_that_counts_is_not_read_to_see_whether_there_are_more(way):
    reader = Counting("a", "b", "c", found=[entry("c")])
    if way == "sync":
        found = select(reader, "alice", 2, "tea")
    else:
        found = await aselect(reader, "alice", 2, "tea")
    assert [e.memory for e in found] == ["c"]
    assert reader.reads == []


async def test_a_reader_that_cannot_count_today_is_read():
    reader = Counting("a", "b", "c", found=Broken)
    assert [e.memory for e in select(reader, "alice", 2, "tea")] == ["a", "b"]
    assert reader.reads == [3, 2]
