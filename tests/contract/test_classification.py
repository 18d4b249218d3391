"""The table of upstream tests is complete, and adds up to what we claim."""

from collections import Counter

import pytest

from tests.contract.classification import CONTRACT_ITEMS, TABLE, WAIVED, Suite
from tests.contract.upstream import functions_of, items_of, load


@pytest.mark.parametrize("suite", TABLE, ids="/".join)
def test_every_upstream_test_is_classified_with_its_number_of_items(suite):
    found = {name: items_of(fn) for name, fn in functions_of(load(suite)).items()}

    assert found == {row.name: row.items for row in TABLE[suite]}


def test_the_kinds_add_up():
    items = Counter()
    for row in (row for rows in TABLE.values() for row in rows):
        items[row.kind] += row.items

    assert items == {"CONTRACT": CONTRACT_ITEMS, "IMPL": 20, "BASE": 33}


@pytest.mark.parametrize(
    ("suite", "items"),
    [
        (Suite("langgraph-checkpoint", "test_store.py"), 84),
        (Suite("langgraph-checkpoint-postgres", "test_store.py"), 67),
        (Suite("langgraph-checkpoint-postgres", "test_async_store.py"), 32),
        (Suite("langgraph-checkpoint-sqlite", "test_store.py"), 62),
        (Suite("langgraph-checkpoint-sqlite", "test_async_store.py"), 22),
        (Suite("langgraph-checkpoint-sqlite", "test_ttl.py"), 11),
    ],
)
def test_each_suite_contributes_its_share_of_the_contract(suite, items):
    assert sum(row.items for row in TABLE[suite] if row.kind == "CONTRACT") == items


def test_only_two_items_are_waived():
    waived = [row for rows in TABLE.values() for row in rows if row.name in WAIVED]

    assert sum(row.items for row in waived) == 2
