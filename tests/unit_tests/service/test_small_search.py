"""The first searches of a small store: without numpy, with the same result."""

import random
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from langchain_agentmemory import MemoryStore, SearchOptions, Source, UserKey
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.service.plans import run
from langchain_agentmemory.service.small_search import (
    MOST_BYTES,
    MOST_ITEMS,
    MOST_SEARCHES,
    SmallSearch,
)

ANN = UserKey("default", "ann")
WORDS = (
    "tea green likes red boat boats C++ go1.23 foo_bar the in window seat "
    "绿茶 喜欢 喝 对花生过敏 周末 打羽毛球 北京 天气 é ー "
).split()
QUERIES = ("green tea", "red boats?", "喜欢喝绿茶吗", "花生", "C++", "the", "！", "茶")
KINDS = ("fact", "preference", "event")


def small(store):
    service = store._service
    return SmallSearch(service.backend, service.indexer, service.settings)


def by_shelf(store, query, options):
    search = store._service._ranker.memories(ANN.namespace, query, options)
    return run(search, store._service.embed)


def random_store(chance, ranking):
    store = MemoryStore(ranking=ranking)
    for number in range(chance.randint(0, 30)):
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 7)))
        if number % 7 == 5:  # counts in the corpus, and is no memory
            store.put(ANN.namespace, f"item{number}", {"note": text})
        elif number % 7 == 6:  # does not count
            store.put(ANN.namespace, f"hidden{number}", {"note": text}, index=False)
        else:
            store.add_memory(
                ANN,
                text,
                topics=chance.sample(WORDS, chance.randint(0, 2)),
                participants=chance.sample(WORDS, chance.randint(0, 1)),
                location=chance.choice((None, *WORDS)),
                source=chance.choice((None, Source("t"), Source(None, position=3))),
                kind=chance.choice(KINDS),
                event_time=chance.choice((None, "2024-05-01", "2023-01-01")),
            )
    return store


def random_options(chance):
    return SearchOptions(
        limit=chance.choice((None, 0, 1, 3, 10)),
        similarity_threshold=chance.choice((None, 0.0, 0.2)),
        kind=chance.choice((None, *KINDS)),
        kind_fallback=chance.random() < 0.5,
        time_after=chance.choice((None, datetime(2024, 1, 1, tzinfo=UTC))),
        time_before=chance.choice((None, datetime(2024, 1, 1, tzinfo=UTC))),
        order_by_event_time=chance.random() < 0.3,
        deduplicate=chance.random() < 0.5,
        versions=chance.choice(("all", "current")),
        explain=True,
    )


def flat(values, name=""):
    """Return the leaves of nested dictionaries and lists, but no shares: none is 0."""
    if isinstance(values, (list, tuple)):
        values = dict(enumerate(values))
    if not isinstance(values, Mapping):
        return {name: values}
    return {
        path: leaf
        for key, value in values.items()
        if key != "shares"
        for path, leaf in flat(value, f"{name}.{key}").items()
    }


def assert_same(found, expected):
    assert [entry.id for _, entry in found] == [entry.id for _, entry in expected]
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=1e-6)
        mine, other = flat(ours.explanation), flat(theirs.explanation)
        assert mine.keys() == other.keys()
        for name, value in mine.items():
            is_number = isinstance(value, float) and other[name] is not None
            expected = pytest.approx(value, abs=2e-6) if is_number else value
            assert other[name] == expected, name
        assert ours.earlier == theirs.earlier


@pytest.mark.parametrize("ranking", ["default", "reference"])
@pytest.mark.parametrize("seed", range(25))
def test_a_small_search_finds_what_a_shelf_finds(ranking, seed):
    chance = random.Random(seed)
    with random_store(chance, ranking) as store:
        for query in QUERIES:
            options = random_options(chance)
            found = small(store).memories(ANN.namespace, query, options)
            assert_same(found, by_shelf(store, query, options))


def test_decay_lowers_the_score_of_both_alike():
    with MemoryStore() as store:
        store.add_memory(ANN, "green tea")
        options = SearchOptions(decay=timedelta(days=1), explain=True)
        found = small(store).memories(ANN.namespace, "green tea", options)
        assert_same(found, by_shelf(store, "green tea", options))


def test_a_namespace_of_many_items_or_long_texts_is_not_small():
    with MemoryStore() as store:
        for number in range(MOST_ITEMS):
            store.add_memory(ANN, f"tea {number}")
        assert small(store).memories(ANN.namespace, "tea", SearchOptions())
        store.add_memory(ANN, "one more")
        assert small(store).memories(ANN.namespace, "tea", SearchOptions()) is None
    with MemoryStore() as store:
        store.add_memory(ANN, "tea " * (MOST_BYTES // 4))
        assert small(store).memories(ANN.namespace, "tea", SearchOptions()) is None


@pytest.mark.parametrize("ranking", ["default", "reference"])
def test_memories_with_a_place_or_a_successor_are_left_to_an_index(ranking):
    with MemoryStore(ranking=ranking) as store:
        store.add_memory(ANN, "old tea")
        assert small(store).memories(ANN.namespace, "tea", SearchOptions())
        store.add_memory(ANN, "tea", source=Source("t", position=0))
        assert small(store).memories(ANN.namespace, "tea", SearchOptions()) is None
    with MemoryStore(ranking=ranking) as store:
        old = store.add_memory(ANN, "old tea")
        store.add_memory(ANN, "new tea", supersedes=[old.id])
        assert small(store).memories(ANN.namespace, "tea", SearchOptions()) is None


def test_a_query_that_names_a_time_is_left_to_an_index_by_the_default_ranking():
    options = SearchOptions(similarity_threshold=0)
    for query in ("tea last May", "tea before the trip", "去年五月喝茶"):
        with MemoryStore() as store:
            store.add_memory(ANN, "tea 喝茶")
            assert small(store).memories(ANN.namespace, query, options) is None
        with MemoryStore(ranking="reference") as store:
            store.add_memory(ANN, "tea 喝茶")
            assert small(store).memories(ANN.namespace, query, options)


@pytest.mark.parametrize(
    ("query", "years"),
    [
        ("how many kilometres a day do I run?", [2024, 2023]),
        ("how many kilometres a day did I use to run?", [2023, 2024]),
    ],
)
def test_versions_are_put_in_order_as_by_an_index(query, years):
    texts = (
        "I run five kilometres a day",
        "I run eight kilometres a day around the lake with a friend",
    )
    for dates in (("2023-01-01", "2024-01-01"), ("2024-01-01", "2023-01-01")):
        with MemoryStore() as store:
            for text, date in zip(texts, dates, strict=True):
                store.add_memory(ANN, text, event_time=date)
            options = SearchOptions(explain=True)
            found = small(store).memories(ANN.namespace, query, options)
            assert_same(found, by_shelf(store, query, options))
            assert [entry.event_time.year for _, entry in found] == years


def test_options_are_checked_as_by_a_shelf():
    with MemoryStore() as store:
        for options in (
            SearchOptions(mode="vector"),
            SearchOptions(similarity_threshold=2),
            SearchOptions(decay=timedelta(0)),
        ):
            with pytest.raises(InvalidInput):
                small(store).memories(ANN.namespace, "tea", options)


def test_later_searches_and_those_of_programs_with_numpy_use_a_shelf(monkeypatch):
    with MemoryStore() as store:
        search = small(store)
        assert not search.is_due()
        monkeypatch.delitem(sys.modules, "numpy")
        for _ in range(MOST_SEARCHES):
            assert search.is_due()
            search.memories(ANN.namespace, "tea", SearchOptions())
        assert not search.is_due()


def ran(code):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_a_first_add_and_search_load_neither_numpy_nor_anything_large():
    ran(
        "import sys\n"
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', 'Likes green tea')\n"
        "(found,) = store.search_memories('ann', 'green tea')\n"
        "assert found.memory == 'Likes green tea'\n"
        "store.status(); store.erase_user('ann'); store.close()\n"
        "heavy = {'numpy', 'jieba', 'langchain', 'sqlalchemy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )


def test_scores_stay_the_same_when_an_index_takes_over():
    ran(
        "import sys\n"
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', 'Likes green tea', topics=['drinks'])\n"
        "store.add_memory('ann', 'Drinks tea', participants=['Bo'], location='Oslo')\n"
        "store.add_memory('ann', 'Drinks green tea', participants=['Cy'])\n"
        "store.add_memory('ann', '喜欢喝绿茶', topics=['饮料'])\n"
        "def pages():\n"
        "    for query in ('green tea', '绿茶', 'drinks of Bo in Oslo', '饮料'):\n"
        "        found = store.search_memories('ann', query)\n"
        "        yield [(e.memory, round(e.score, 5)) for e in found]\n"
        "first = list(pages())\n"
        "assert all(first) and 'numpy' not in sys.modules\n"
        "for _ in range(5): last = list(pages())\n"
        "assert 'numpy' in sys.modules and last == first, (first, last)\n"
    )


@pytest.mark.parametrize("how", ["source", "superseded"])
def test_scores_stay_the_same_when_memories_are_related(how):
    ran(
        "import sys\n"
        "from langchain_agentmemory import MemoryStore, Source\n"
        f"how = {how!r}\n"
        "store = MemoryStore()\n"
        "def add(text, place, **more):\n"
        "    source = Source('t', position=place) if how == 'source' else None\n"
        "    return store.add_memory('ann', text, source=source, **more)\n"
        "old = add('Likes black tea', 0, topics=['drinks'])\n"
        "replaced = [old.id] if how == 'superseded' else ()\n"
        "add('Likes green tea', 1, supersedes=replaced)\n"
        "add('Drinks it at night', 2, participants=['Bo'])\n"
        "def pages():\n"
        "    for query in ('green tea', 'black tea', 'night drinks', 'Bo'):\n"
        "        found = store.search_memories('ann', query)\n"
        "        yield [(e.memory, round(e.score, 5)) for e in found]\n"
        "first = list(pages())\n"
        "assert all(first) and 'numpy' in sys.modules\n"
        "assert first[0][0][0] == first[1][0][0] == 'Likes green tea' "
        "or how == 'source'\n"
        "for _ in range(5): assert list(pages()) == first\n"
    )


def test_an_async_first_search_loads_its_index_off_the_loop():
    ran(
        "import asyncio\n"
        "from blockbuster import BlockBuster\n"
        "from langchain_agentmemory import MemoryStore\n"
        "async def main():\n"
        "    blocking = BlockBuster(); blocking.activate()\n"
        "    for _ in range(10):\n"
        "        assert await store.asearch_memories('ann', 'tea')\n"
        "    blocking.deactivate()\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', 'Likes green tea')\n"
        "asyncio.run(main())\n"
    )
