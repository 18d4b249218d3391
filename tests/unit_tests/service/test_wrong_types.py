"""Every public call, driven with values of every wrong type.

Each must be taken, or refused with an error of ours (or LangGraph's own, for labels)
whose message can be shown; and the store must work afterwards.
"""

import inspect
import math
from datetime import date, datetime, timedelta

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from langchain_agentmemory import MemoryStore, SearchOptions, Source, UserKey
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.errors import InvalidInput, MemoryStoreError
from langchain_agentmemory.identity import memory_id
from langchain_agentmemory.store import as_memory_store
from tests.contract.embedders import Letters

NS = ("notes",)
ID = "0" * 64


class Odd:
    """Something that is nothing that anyone expects."""


WRONG = (
    None, True, False, 5, 0, -1, 2**63 - 1, 2**63, 10**20, 10**5_000, 1.5, math.nan,
    math.inf, 1j, "", " ", "\0", "\ud800", "a\nb", "x" * 100_000, b"x", [1], [None],
    [[]], [{}], (1,), (), {}, {"a": 1}, {1}, Odd(), int, len, timedelta(1),
    timedelta(-1), timedelta.max, datetime(2024, 1, 1), date(1, 1, 1), date.max,  # noqa: DTZ001
)  # fmt: skip


def verb(name, **usual):
    """Yield a call for each argument of a verb, with the others as usual."""
    for argument in usual:
        yield (
            f"{name}({argument})",
            lambda wrong, a=argument: (name, (), {**usual, a: wrong}),
        )


def operation(kind, **usual):
    for field in kind._fields:
        yield (
            f"{kind.__name__}({field})",
            lambda wrong, f=field: ("batch", ([kind(**{**usual, f: wrong})],), {}),
        )


def placed(name, *usual):
    """Yield a call for each positional argument."""
    for position in range(len(usual)):
        yield (
            f"{name}[{position}]",
            lambda wrong, p=position: (
                name,
                (*usual[:p], wrong, *usual[p + 1 :]),
                {},
            ),
        )


def searched(**options):
    return ("search", (NS,), options)


FIELDS = {
    "topics": (), "kind": None, "event_time": None, "participants": (), "location": None
}  # fmt: skip
OPERATORS = ("$eq", "$ne", "$gt", "$in", "$nin", "$exists", "$not", "$and", "$or")
CALLS = dict(
    [
        *verb(
            "add_memory", user="ann", memory="x", **FIELDS, source=None, supersedes=()
        ),
        *verb("update_memory", user="ann", memory_id=ID, memory="x", **FIELDS),
        *placed("delete_memory", "ann", ID),
        *placed("restore_memory", "ann", ID),
        *placed("memory_history", "ann", ID),
        *placed("clear_memories", "zoe"),
        *placed("count_memories", "ann"),
        *placed("revision", "ann"),
        *placed("erase_user", "zoe"),
        *verb("purge_deleted", older_than=None, user=None),
        *placed("read_memories", "ann", None),
        *placed("search_memories", "ann", "tea", None),
        *verb("reindex", user=None, progress=None),
        *placed("put", NS, "k", {"a": 1}),
        *verb("put", namespace=NS, key="k", value={"a": 1}, index=None, ttl=None),
        *verb("get", namespace=NS, key="k", refresh_ttl=None),
        *verb("delete", namespace=NS, key="k"),
        *placed("search", NS),
        *verb("list_namespaces", prefix=None, suffix=None, max_depth=None),
        *verb("list_namespaces", limit=1, offset=0),
        *placed("batch", []),
        ("batch([…])", lambda wrong: ("batch", ([wrong],), {})),
        *operation(GetOp, namespace=NS, key="k"),
        *operation(PutOp, namespace=NS, key="k", value={"a": 1}),
        *operation(SearchOp, namespace_prefix=NS),
        *operation(ListNamespacesOp),
        *verb("start_ttl_sweeper", sweep_interval_minutes=None),
        *verb("enqueue_extraction", user="ann", messages=[("user", "x")]),
        *verb("enqueue_extraction", user="a", messages=[("user", "x")], thread_id="t"),
        ("enqueue_extraction([…])", lambda w: ("enqueue_extraction", ("ann", [w]), {})),
        *placed("extraction_jobs", "ann"),
        *verb("retry_jobs", user=None, ids=None),
        *verb("discard_jobs", user="ann", ids=None),
        *placed("pause_learning", "zoe", "t"),
        *placed("resume_learning", "zoe", "t"),
        *placed("extraction_usage", "ann"),
        *placed("flush", 0),
        *verb("as_retriever", user=None, options=None, limit=1),
        *verb("as_retriever", k=1, tags=None, metadata=None),
        *verb("tools", user=None, enable=(), disable=(), expose=()),
    ]
)
for option in SearchOptions.__dataclass_fields__:
    CALLS[f"search_memories({option})"] = lambda wrong, o=option: (
        "search_memories",
        ("ann", "tea"),
        {o: wrong},
    )
for field in Source.__dataclass_fields__:
    CALLS[f"add_memory(Source({field}))"] = lambda wrong, f=field: (
        "add_memory",
        ("ann", "x"),
        {"source": Source(**{f: wrong})},
    )
for name in ("query", "filter", "limit", "offset", "refresh_ttl"):
    CALLS[f"search({name})"] = lambda wrong, n=name: searched(**{n: wrong})
    CALLS[f"search(query, {name})"] = lambda wrong, n=name: searched(
        **{"query": "a", n: wrong}
    )
for sign in OPERATORS:
    CALLS[f"filter a {sign}"] = lambda w, s=sign: searched(filter={"a": {s: w}})
    CALLS[f"filter {sign}"] = lambda w, s=sign: searched(filter={s: w})
    CALLS[f"filter {sign} list"] = lambda w, s=sign: searched(filter={s: [w]})
CALLS["filter value"] = lambda wrong: searched(filter={"a": wrong})
CALLS["MatchCondition(path)"] = lambda wrong: (
    "batch",
    ([ListNamespacesOp((MatchCondition("prefix", wrong),))],),
    {},
)
CALLS["MatchCondition(type)"] = lambda wrong: (
    "batch",
    ([ListNamespacesOp((MatchCondition(wrong, ("a",)),))],),
    {},
)


def check(error):
    """What is refused is refused in words that can be shown."""
    assert isinstance(error, MemoryStoreError | InvalidNamespaceError), repr(error)
    if isinstance(error, MemoryStoreError):
        assert len(str(error)) < 1_500
        assert str(error).isprintable()


@pytest.fixture
def filled(make_store):
    store = make_store(soft_delete=True)
    store.add_memory("ann", "tea")
    store.put(NS, "a", {"a": 1})
    yield store
    store.stop_ttl_sweeper()
    # Whatever was taken can be read again, by all the ways that read everything.
    store.search((), limit=1_000)
    store.search((), query="a", limit=1_000)
    for namespace in store.list_namespaces(limit=1_000):
        store.search(namespace, filter={"a": 1})
    store.read_memories("ann")
    store.search_memories("ann", "tea x", explain=True)
    assert store.get(NS, "a").value == {"a": 1}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_argument_is_taken_or_refused_in_words(filled, call):
    for wrong in WRONG:
        name, arguments, options = CALLS[call](wrong)
        try:
            getattr(filled, name)(*arguments, **options)
        except Exception as error:  # noqa: BLE001
            check(error)


@pytest.mark.parametrize("call", CALLS)
async def test_a_wrong_argument_of_an_async_twin_is_too(filled, call):
    for wrong in WRONG:
        name, arguments, options = CALLS[call](wrong)
        twin = getattr(filled, f"a{name}", None)
        if twin is None:
            return
        try:
            await twin(*arguments, **options)
        except Exception as error:  # noqa: BLE001
            check(error)


CONSTRUCTOR = [
    name for name in inspect.signature(MemoryStore).parameters if name != "extractor"
]


@pytest.mark.parametrize("name", CONSTRUCTOR)
def test_a_store_is_made_of_what_fits_or_refused_in_words(name):
    for wrong in WRONG:
        try:
            MemoryStore(**{name: wrong}).add_memory("ann", "tea")
        except Exception as error:  # noqa: BLE001
            check(error)


def test_a_reranker_that_answers_with_anything_fails_no_search():
    for wrong in WRONG:
        store = MemoryStore(reranker=lambda *_, answer=wrong: answer)
        store.add_memory("ann", "tea")
        (found,) = store.search_memories("ann", "tea")
        assert 0 <= found.score <= 1


@pytest.mark.parametrize("option", SearchOptions.__dataclass_fields__)
def test_a_retriever_takes_a_wrong_option_or_refuses_it_in_words(option):
    store = MemoryStore()
    store.add_memory("ann", "tea")
    retriever = store.as_retriever("ann")
    for wrong in WRONG:
        try:
            retriever.invoke("tea", **{option: wrong})
        except Exception as error:  # noqa: BLE001
            check(error)


@pytest.mark.parametrize("name", [
    "embed", "dims", "fields", "distance_type", "name", "query_prefix",
    "document_prefix", "batch_size", "cache_bytes",
])  # fmt: skip
def test_so_is_an_index(name):
    for wrong in WRONG:
        try:
            store = MemoryStore(index={"embed": Letters(), "dims": 26, name: wrong})
            store.add_memory("ann", "tea")
            store.put(NS, "k", {"a": "tea"})
            store.search_memories("ann", "tea")
        except Exception as error:  # noqa: BLE001
            check(error)


@pytest.mark.parametrize("make", [
    lambda wrong: UserKey(wrong, "ann"), lambda wrong: UserKey("app", wrong),
    MemoryStore.from_url, as_memory_store, SQLiteBackend,
    lambda wrong: SQLiteBackend(":memory:", table=wrong),
    lambda wrong: SQLiteBackend(":memory:", timeout=wrong),
    lambda wrong: SQLiteBackend(":memory:", synchronous=wrong),
    lambda wrong: memory_id(wrong, "app", "ann"),
    lambda wrong: memory_id("tea", "app", "ann", kind=wrong),
    lambda wrong: memory_id("tea", "app", "ann", event_time=wrong),
    lambda wrong: memory_id("tea", "app", "ann", participants=wrong),
    lambda wrong: memory_id("tea", "app", "ann", location=wrong),
    lambda wrong: memory_id("tea", wrong, "ann"),
    lambda wrong: memory_id("tea", "app", wrong),
])  # fmt: skip
def test_so_is_everything_else_that_is_made(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for wrong in WRONG:
        try:
            make(wrong)
        except Exception as error:  # noqa: BLE001
            check(error)


@pytest.mark.parametrize(("options", "named"), [
    ({"ttl": {"bogus": 1}}, "default_ttl"),
    ({"ttl": {"default_ttl": 5, "refresh_on_reed": True}}, "refresh_on_read"),
    ({"ttl": {"refresh_on_read": "no"}}, "refresh_on_read"),
    ({"index": {"embed": Letters(), "dim": 26}}, "dims"),
    ({"index": {"embed": Letters(), "dims": 26, "field": ["a"]}}, "fields"),
    ({"index": {"embed": Letters(), "fields": "text"}}, "fields"),
    ({"index": {"embed": "x"}}, "embed"),
    ({"index": {"embed": 5}}, "embed"),
    ({"soft_delete": "yes"}, "soft_delete"), ({"soft_delete": None}, "soft_delete"),
    ({"on_limit": "Evict"}, "evict"), ({"on_limit": None}, "evict"),
    ({"on_duplicate": "skip"}, "keep"), ({"ranking": "Default"}, "default"),
    ({"enabled_tools": ["memory_remove"]}, "memory_delete"),
    ({"enabled_tools": {"memory_delete": "no"}}, "True or False"),
    ({"exposed_tools": 5}, "exposed_tools"),
])  # fmt: skip
def test_misspelt_configuration_is_refused_with_what_there_is(options, named):
    with pytest.raises(InvalidInput, match=named):
        MemoryStore(**options)


@pytest.mark.parametrize("option", [
    "order_by_event_time", "kind_fallback", "deduplicate", "explain", "rerank",
    "together",
])  # fmt: skip
def test_a_switch_of_a_search_is_true_or_false(filled, option):
    with pytest.raises(InvalidInput, match=option):
        filled.search_memories("ann", "tea", **{option: "no"})


@pytest.mark.parametrize("depth", ["2", -1, 0, True, 1.5])
def test_a_depth_is_a_positive_number(filled, depth):
    with pytest.raises(InvalidInput, match="max_depth"):
        filled.list_namespaces(max_depth=depth)


def test_a_text_is_no_namespace(filled):
    for call in (
        lambda: filled.put("notes", "k", {}),
        lambda: filled.get("notes", "k"),
        lambda: filled.search("notes"),
        lambda: filled.batch([PutOp("notes", "k", {})]),
    ):
        with pytest.raises(InvalidInput, match="tuple of labels"):
            call()
    with pytest.raises(InvalidNamespaceError):
        filled.batch([PutOp((), "k", {})])


def test_a_text_alone_as_a_path_is_one_label(filled):
    (found,) = filled.batch([ListNamespacesOp((MatchCondition("suffix", "notes"),))])
    assert found == [NS]


def test_a_path_with_a_lone_surrogate_is_refused_like_any_label(filled):
    for call in (
        lambda: filled.list_namespaces(prefix=("a\ud800",)),
        lambda: filled.list_namespaces(suffix=("a\ud800",)),
        lambda: filled.search(("a\ud800",)),
    ):
        with pytest.raises(InvalidInput, match="surrogate"):
            call()


def test_the_largest_limit_means_all(filled):
    most = 2**63 - 1
    assert len(filled.read_memories("ann", most)) == 1
    assert len(filled.search_memories("ann", "tea", limit=most)) == 1
    assert len(filled.search(NS, limit=most)) == 1
    assert filled.search(NS, limit=most, offset=most) == []
    assert len(filled.search(NS, query="a", limit=most)) >= 0
    assert len(filled.list_namespaces(limit=most)) == 2


def test_an_id_can_be_computed_for_whatever_a_memory_can_be_added_with():
    day = memory_id("tea", "app", "ann", event_time=date(2024, 5, 7))
    assert day == memory_id("tea", "app", "ann", event_time="2024-05-07")
    assert day == memory_id("tea", "app", "ann", event_time=datetime(2024, 5, 7))  # noqa: DTZ001
    store = MemoryStore(app_name="app")
    for moment in ("2024", "2024-05", "7 May 2024", date(2024, 5, 7)):
        entry = store.add_memory("ann", "tea", event_time=moment, participants="Mia")
        assert entry.id == memory_id(
            "tea", "app", "ann", event_time=moment, participants="Mia"
        )


def test_an_age_is_not_negative(filled):
    with pytest.raises(InvalidInput, match="negative"):
        filled.purge_deleted(timedelta(days=-1))
    assert filled.purge_deleted(timedelta.max) == 0
    assert filled.purge_deleted(timedelta(0)) == 0
