"""Places in conversations: what a naive model of positions gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search import index, postings
from langchain_agentmemory.search.lexical import explain_score
from langchain_agentmemory.search.matches import score_neighbourhoods
from langchain_agentmemory.search.place import MOST_APART, NEIGHBOUR_SHARES, Place
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.ranking import get_ranking
from langchain_agentmemory.search.shelf import UNINDEXED, Shelf

SLOTS = 12

_places = st.builds(Place, st.sampled_from("ab"), st.integers(-3, 14))
_steps = st.lists(
    st.tuples(
        st.sampled_from(("put", "remove", "move")),
        st.integers(0, SLOTS - 1),
        st.integers(0, SLOTS - 1),
        _places,
    ),
    max_size=40,
)
_words = st.sampled_from(["tea", "milk", "boat", "river", "lake", "the"])
_texts = st.lists(_words, max_size=5).map(" ".join)


def build(steps: list) -> tuple[Places, dict[int, Place]]:
    """Return places after some steps, and what they should hold."""
    places, model = Places(), {}
    for step, slot, other, place in steps:
        if step == "put" and slot not in model:
            places.put(slot, place)
            model[slot] = place
        elif step == "remove":
            places.remove(slot)
            model.pop(slot, None)
        elif step == "move" and other not in model:
            places.move(slot, other)
            if slot in model:
                model[other] = model.pop(slot)
    return places, model


def beside(known: set[Place], place: Place, way: int) -> Place | None:
    """Return the next place of a conversation, before (-1) or after (1) another."""
    there = [
        other.position
        for other in known
        if other.thread == place.thread and (other.position - place.position) * way > 0
    ]
    if not there:
        return None
    nearest = min(there, key=lambda position: abs(position - place.position))
    if abs(nearest - place.position) > MOST_APART:
        return None
    return Place(place.thread, nearest)


def around(known: set[Place], place: Place) -> list[Place | None]:
    """Return one before, one after, two before, two after."""
    before, after = beside(known, place, -1), beside(known, place, 1)
    return [
        before,
        after,
        before and beside(known, before, -1),
        after and beside(known, after, 1),
    ]


@settings(max_examples=200, deadline=None)
@given(_steps)
def test_places_and_neighbours_equal_those_of_a_plain_model(steps: list) -> None:
    places, model = build(steps)
    numbers = places.of_slots(SLOTS).tolist()
    links = places.neighbours().tolist()
    known = set(model.values())
    number_of = {place: numbers[slot] for slot, place in model.items()}
    assert len(places) == len(model)
    assert len(set(number_of.values())) == len(known)
    for slot in range(SLOTS):
        place = model.get(slot)
        if place is None:
            assert numbers[slot] == places.count
            continue
        assert numbers[slot] == number_of[place] < places.count
        expected = [
            places.count if near is None else number_of[near]
            for near in around(known, place)
        ]
        assert [row[numbers[slot]] for row in links] == expected
    assert [row[-1] for row in links] == [places.count] * 4


@settings(max_examples=200, deadline=None)
@given(_steps, st.lists(st.floats(0, 1, width=32), min_size=SLOTS, max_size=SLOTS))
def test_neighbours_lend_what_a_plain_model_lends(steps: list, given: list) -> None:
    places, model = build(steps)
    known = set(model.values())
    best = {
        place: max(given[slot] for slot, other in model.items() if other == place)
        for place in known
    }
    expected = [0.0] * SLOTS
    for slot, place in model.items():
        values = [0 if near is None else best[near] for near in around(known, place)]
        lent = 0.5 * (values[0] + values[1]) + 0.2 * (values[2] + values[3])
        expected[slot] = lent + 0.5 * (best[place] - given[slot])
    found = places.lent(np.array(given, np.float32), (0.5, 0.2))
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx(expected, abs=1e-5)


def test_a_place_is_free_again_when_its_last_item_has_gone() -> None:
    places = Places()
    places.put(0, Place("t", 1))
    places.put(1, Place("t", 1))
    places.put(2, Place("t", 3))
    places.remove(0)
    assert places.neighbours()[1, places.of_slots(3)[1]] == places.of_slots(3)[2]
    places.remove(1)
    places.put(5, Place("other", 0))
    assert places.count == 2
    assert places.neighbours().tolist() == [[2, 2, 2]] * 4
    places.remove(40)
    places.remove(0)
    assert len(places) == 2


def plain_neighbourhood(
    shelf: Shelf, query_text: str, texts: list[str], standing: list[Place | None]
) -> list[float]:
    """Return the score of the neighbourhood of each document, word by word."""
    query = shelf.tokenizer.query(query_text)
    rarities = shelf.statistics(query).rarities()
    formula = query.formula
    known = {place for place in standing if place is not None}
    counts: dict[Place, dict[str, float]] = {place: {} for place in known}
    for text, place in zip(texts, standing, strict=True):
        if place is not None:
            field = shelf.tokenizer.field(text)
            for word in [*field.primary, *field.extra]:
                counts[place][word] = counts[place].get(word, 0) + 1
    near, far = NEIGHBOUR_SHARES
    rare = [w * r for w, r in zip(query.weights, rarities, strict=True)]
    scores = []
    for place in standing:
        if place is None:
            scores.append(0.0)
            continue
        score = 0.0
        shares = (near, near, far, far)
        for number, word in enumerate(query.words):
            amount = counts[place].get(word, 0) + sum(
                share * counts[other].get(word, 0)
                for other, share in zip(around(known, place), shares, strict=True)
                if other is not None
            )
            covered = min(amount, 1)
            score += formula.coverage * query.weights[number] * covered / sum(
                query.weights
            ) + formula.rarity * rare[number] * covered / sum(rare)
            gain = amount / (amount + formula.saturation)
            score += formula.strength * rare[number] * gain / sum(rare)
        scores.append(score)
    return scores


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (index, postings):
        monkeypatch.setattr(module, "BLOCK_SIZE", 4)
    monkeypatch.setattr(index, "_BITS", 2)


def make_shelf(**options: int) -> Shelf[str]:
    tokenizer = get_ranking("default").tokenizer
    return Shelf(tokenizer, options.get("dims"), text=lambda text: (text, ""))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(_texts, st.one_of(st.none(), _places)), max_size=14),
    st.lists(_words, min_size=1, max_size=3).map(" ".join),
    st.sets(st.integers(0, 13), max_size=6),
)
def test_words_of_neighbours_count_as_a_plain_computation_says(
    documents: list, query_text: str, removed: set[int]
) -> None:
    shelf = make_shelf()
    for number, (text, place) in enumerate(documents):
        shelf.upsert(str(number), text, None, None, place)
    for number in removed:
        shelf.remove(str(number))
    living = [n for n in range(len(documents)) if n not in removed]
    texts = [documents[n][0] for n in living]
    standing = [documents[n][1] for n in living]
    query = shelf.tokenizer.query(query_text)
    statistics = shelf.statistics(query)
    together = plain_neighbourhood(shelf, query_text, texts, standing)
    found = shelf.words(query)
    if found.statistics is not None and any(standing):
        number = shelf.places.of_slots(len(found.scores))
        by_place = score_neighbourhoods(
            query, statistics, found.matches, shelf.places, number
        )
        mine = [float(by_place[number[shelf.slot(str(n))]]) for n in living]
        assert mine == pytest.approx(together, abs=1e-5)
    own_scores = {}
    for n, text in zip(living, texts, strict=True):
        parts = explain_score(query, statistics, (text, ""), shelf.tokenizer)
        own_scores[n] = parts["lexical"] - parts.get("phrase", 0.0)
    for n, text, place, joint in zip(living, texts, standing, together, strict=True):
        same = [
            own_scores[m] for m, p in zip(living, standing, strict=True) if p == place
        ]
        shared = joint
        if place is not None and len(same) > 1:  # the best stands for all
            best = max(same)
            shared *= own_scores[n] / best if best > 0 else 1 / len(same)
        parts = explain_score(query, statistics, (text, ""), shelf.tokenizer)
        phrase = parts.get("phrase", 0.0)
        own = parts["lexical"] - phrase
        weight = query.formula.neighbourhood
        mixed = own if place is None else (own + weight * shared) / (1 + weight)
        slot = shelf.slot(str(n))
        assert slot is not None
        assert found.scores[slot] == pytest.approx(min(mixed + phrase, 1), abs=1e-5)


def test_what_is_not_searched_by_words_borrows_none() -> None:
    shelf = make_shelf()
    shelf.upsert("a", "green tea", None, None, Place("t", 0))
    shelf.upsert("b", "secret", UNINDEXED, None, Place("t", 1))
    scores = shelf.words(shelf.tokenizer.query("green tea")).scores
    assert scores[shelf.slot("a")] > 0
    assert scores[shelf.slot("b")] == 0


def test_the_reference_ranking_looks_at_no_neighbours() -> None:
    tokenizer = get_ranking("reference").tokenizer
    shelf: Shelf[str] = Shelf(tokenizer, None, text=lambda text: (text, ""))
    for number, text in enumerate(("green tea", "with milk", "boats")):
        shelf.upsert(str(number), text, None, None, Place("t", number))
    query = tokenizer.query("green tea")
    assert shelf.words(query).scores.tolist() == shelf.lexical(query).tolist()


def test_places_and_scripts_follow_their_items_when_blocks_are_emptied() -> None:
    shelf = make_shelf(dims=2)
    for number in range(12):
        shelf.upsert(str(number), "tea", None, None, Place("t", number))
        if number % 3 == 0:
            shelf.mark_han(str(number))
    for number in (0, 1, 2, 4, 5, 8, 10):
        shelf.remove(str(number))
    for number in (20, 21, 22, 23, 24):  # in slots that were used before
        shelf.upsert(str(number), "tea", None)
    for key, slot in ((key, shelf.slot(key)) for key, _ in shelf.items()):
        marks = shelf.han()
        assert slot is not None
        assert not isinstance(marks, bool)
        assert bool(marks[slot]) == (key in {"3", "6", "9"})
    known = {Place("t", n) for n in (3, 6, 7, 9, 11)}
    number_of = {
        n: int(shelf.places.of_slots(len(shelf.alive))[shelf.slot(str(n))])
        for n in (3, 6, 7, 9, 11)
    }
    links = shelf.places.neighbours()
    for n, number in number_of.items():
        expected = [
            shelf.places.count if near is None else number_of[near.position]
            for near in around(known, Place("t", n))
        ]
        assert links[:, number].tolist() == expected
    assert len(shelf.places) == 5


def test_no_script_is_known_until_one_is_marked() -> None:
    shelf = make_shelf(dims=2)
    assert shelf.han() is False
    shelf.upsert("a", "tea", None)
    shelf.mark_han("a")
    assert shelf.han() is True
    shelf.upsert("b", "tea", None)
    marks = shelf.han()
    assert not isinstance(marks, bool)
    assert marks.tolist() == [True, False]
    shelf.upsert("a", "tea", None)
    assert not np.any(shelf.han() & shelf.alive)
