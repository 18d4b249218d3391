"""What a value may be, found out when it is put: what was stored can be read."""

import json
import math
import sys
import threading

import pytest
from langgraph.store.memory import InMemoryStore

from langchain_agentmemory import Source
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.values import MAX_DEPTH, MAX_INTEGER_BITS
from langchain_agentmemory.store import as_memory_store

NS = ("notes",)
LARGEST = 2**MAX_INTEGER_BITS - 1


def nested(levels, kind=dict):
    """A value of so many levels, itself included."""
    found = {} if kind is dict else []
    for _ in range(levels - 2):
        found = {"a": found} if kind is dict else [found]
    return {"a": found}


def cyclic():
    found = {"a": []}
    found["a"].append(found)
    return found


@pytest.fixture(params=["own", "wrapped"])
def any_store(request, make_store):
    if request.param == "own":
        return make_store()
    return as_memory_store(InMemoryStore())


@pytest.mark.parametrize("kind", [dict, list])
def test_the_deepest_value_is_read_from_anywhere_in_a_program(any_store, kind):
    deepest = nested(MAX_DEPTH, kind)
    any_store.put(NS, "k", deepest)
    assert any_store.get(NS, "k").value == deepest

    def far_down(frames):
        if frames:
            return far_down(frames - 1)
        assert any_store.search(NS, query="a") is not None
        return any_store.get(NS, "k").value

    assert far_down(sys.getrecursionlimit() // 3) == deepest


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 900, 5_000, 100_000])
@pytest.mark.parametrize("kind", [dict, list])
def test_what_is_nested_deeper_is_refused_when_it_is_put(any_store, levels, kind):
    with pytest.raises(InvalidInput, match=f"more than {MAX_DEPTH} levels"):
        any_store.put(NS, "k", nested(levels, kind))
    assert any_store.get(NS, "k") is None


def test_what_contains_itself_is_refused(any_store):
    with pytest.raises(InvalidInput, match="contains itself"):
        any_store.put(NS, "k", cyclic())


def test_a_value_is_refused_in_a_thread_with_little_stack_too(make_store):
    store, refused = make_store(), []

    def work():
        try:
            store.put(NS, "k", nested(50_000))
        except InvalidInput as error:
            refused.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert refused


@pytest.mark.parametrize("number", [2**63, -(2**64), LARGEST, -LARGEST])
def test_large_integers_are_kept_exactly(any_store, number):
    any_store.put(NS, "k", {"n": number})
    assert any_store.get(NS, "k").value == {"n": number}
    assert any_store.search(NS, filter={"n": {"$gte": number}})


def test_the_largest_integer_can_be_read_whatever_python_is_set_to():
    least = sys.int_info.str_digits_check_threshold
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(least)
    try:
        assert json.loads(json.dumps(LARGEST)) == LARGEST
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    "number", [LARGEST + 1, 10**5_000, -(10**5_000)], ids=["next", "huge", "low"]
)
def test_larger_ones_are_refused(any_store, number):
    with pytest.raises(InvalidInput, match="an integer of"):
        any_store.put(NS, "k", {"deep": [{"n": number}]})
    assert any_store.get(NS, "k") is None


@pytest.mark.parametrize("wanted", [
    nested(MAX_DEPTH + 1), nested(5_000), cyclic(),
    {"$not": nested(5_000)}, {"a": {"$eq": nested(5_000)}},
    {"a": {"$in": [nested(200)]}}, {"$and": [nested(200)]},
], ids=lambda wanted: next(iter(wanted)))  # fmt: skip
def test_filters_have_the_same_bounds(any_store, wanted):
    any_store.put(NS, "k", {"a": {"a": 1}})
    with pytest.raises(InvalidInput, match="The filter is nested"):
        any_store.search(NS, filter=wanted)


def test_the_deepest_filter_finds_the_deepest_value(any_store):
    any_store.put(NS, "k", nested(MAX_DEPTH))
    assert any_store.search(NS, filter=nested(MAX_DEPTH))
    any_store.put(NS, "k", nested(MAX_DEPTH - 1))
    assert any_store.search(NS, filter={"a": {"$eq": nested(MAX_DEPTH - 1)["a"]}})


def test_a_huge_number_in_a_filter_is_compared_or_refused(any_store):
    any_store.put(NS, "k", {"n": 1, "x": 1.5})
    assert any_store.search(NS, filter={"n": {"$lt": 10**5_000}})
    assert any_store.search(NS, filter={"x": {"$lt": 10**5_000}})
    with pytest.raises(InvalidInput):
        any_store.search(NS, filter={"n": {"$near": 10**5_000, "m": 10**5_000}})


@pytest.mark.parametrize("source", [
    {"position": 10**5_000}, {"position": 2**63}, {"position": -(2**63) - 1},
    {"position": True}, {"position": 1.0}, {"message_ids": "abc"},
    {"message_ids": [1.5]}, {"message_ids": [None]}, {"message_ids": 5},
    {"message_ids": [10**5_000]}, {"thread_id": 5}, {"role": b"user"},
    {"said_at": "soon"}, {"said_at": 5},
], ids=lambda source: next(iter(source)))  # fmt: skip
def test_a_source_that_cannot_be_kept_is_refused(make_store, source):
    store = make_store()
    with pytest.raises(InvalidInput, match=next(iter(source))):
        store.add_memory("ann", "tea", source=Source(**source))
    assert store.count_memories("ann") == 0


def test_what_a_message_quotes_is_short_on_one_line_and_can_be_encoded():
    class Rude:
        def __repr__(self):
            raise RuntimeError

    class Ugly:
        def __repr__(self):
            return "a\nb\ud800\x1b[31m" * 1_000_000

    for given in (
        "x" * 5_000_000, "a\nb\r\u2028c", "\ud800", "\x1b[31m", "\u202e", 10**5_000,
        list(range(100_000)), Rude(), Ugly(), math.nan, None, b"\n" * 1_000_000,
    ):  # fmt: skip
        shown = quoted(given)
        assert len(shown) < 700
        assert shown.isprintable()
        assert shown.encode()
    assert quoted("tea") == "'tea'"
    assert quoted(5) == "5"


def test_a_message_about_a_place_in_a_value_can_be_shown(make_store):
    for place in ("\ud800", "a\nb", "x" * 100_000):
        for wrong in (math.nan, {1}, 10**5_000, {5: 1}):
            with pytest.raises(InvalidInput) as raised:
                make_store().put(NS, "k", {place: wrong})
            assert str(raised.value).isprintable()
            assert len(str(raised.value)) < 1_000
