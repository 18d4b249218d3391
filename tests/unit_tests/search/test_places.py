"""Places of conversations: what searches are given follows every change."""

from random import Random

import numpy as np

from langchain_agentmemory.search.index import LexicalIndex
from langchain_agentmemory.search.matches import score_neighbourhoods
from langchain_agentmemory.search.place import NEIGHBOUR_SHARES, Place
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.ranking import get_ranking


def test_kept_arrays_are_those_of_places_made_anew():
    random, places, where = Random(1), Places(), {}
    for _ in range(300):
        slot = random.randrange(40)
        if slot in where:
            places.remove(slot)
            del where[slot]
        else:
            where[slot] = Place(random.choice("ab"), random.randrange(30))
            places.put(slot, where[slot])
        numbers, links = places.of_slots(40), places.neighbours()
        assert numbers is places.of_slots(40)
        for one, place in where.items():
            near = {
                other
                for other, its in where.items()
                if its != place and numbers[other] in links[:2, numbers[one]]
            }
            same = [p for p in where.values() if p.thread == place.thread]
            before = max((p for p in same if p < place), default=None)
            after = min((p for p in same if p > place), default=None)
            beside = {
                p for p in (before, after) if p and abs(p[1] - place.position) <= 4
            }
            assert {where[other] for other in near} == beside


def test_neighbourhoods_are_what_one_look_at_each_place_gives(monkeypatch):
    random = Random(2)
    tokenizer = get_ranking("default").tokenizer
    words = "red boat tea coffee trip dog".split()
    places, lexical = Places(), LexicalIndex(lambda _, __: None)
    texts = [" ".join(random.choices(words, k=3)) for _ in range(200)]
    lexical.room()
    lexical.append([tokenizer.document(text, "boat") for text in texts])
    for slot in range(0, 200, 2):
        places.put(slot, Place("t", slot // 2))
    query = tokenizer.query("red boat trip zebra")
    matches = lexical.matches(query)
    statistics = lexical.statistics(query, matches)
    of_slots = places.of_slots(200)
    found = []
    for sparse in (1_000_000, 0):  # all by counting, then all by sorting
        monkeypatch.setattr("langchain_agentmemory.search.matches._SPARSE", sparse)
        found.append(score_neighbourhoods(query, statistics, matches, places, of_slots))
    assert np.array_equal(*found)
    rare = np.array(statistics.rarities()) * query.weights
    formula, k = query.formula, query.formula.saturation
    for slot in range(0, 200, 2):
        expected = 0.0
        for term, word in enumerate(query.words):
            amount = sum(
                share * texts[near].split().count(word)
                for near, share in (
                    (slot, 1.0),
                    (slot - 2, NEIGHBOUR_SHARES[0]),
                    (slot + 2, NEIGHBOUR_SHARES[0]),
                    (slot - 4, NEIGHBOUR_SHARES[1]),
                    (slot + 4, NEIGHBOUR_SHARES[1]),
                )
                if 0 <= near < 200
            )
            share = formula.coverage * query.weights[term] / sum(query.weights)
            share += formula.rarity * rare[term] / rare.sum()
            expected += share * min(amount, 1)
            strength = amount * (k + 1) / ((amount + k) * rare.sum() * (k + 1))
            expected += formula.strength * rare[term] * strength
        assert abs(found[0][of_slots[slot]] - expected) < 1e-6
