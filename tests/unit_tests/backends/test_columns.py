"""Columns: numbers that stand for records, and vectors in one piece of memory."""

import numpy as np
import pytest

from langchain_agentmemory import MemoryStore, Source
from langchain_agentmemory.backends.columns import (
    Numbered,
    pack_vectors,
    single_vectors,
)

NAMESPACE = ("memories", "default", "ann")


@pytest.fixture
def backend(tmp_path):
    with MemoryStore.from_url(f"sqlite:///{tmp_path / 'store.db'}") as store:
        for number in range(10):
            source = Source("chat", position=number)
            store.add_memory("ann", f"tea {number}", source=source)
        yield store.backend


def test_a_number_stands_for_the_record_that_reading_gives(backend):
    numbered = Numbered()
    numbers, keys = [], []
    for columns in backend.columns(NAMESPACE, 4):
        numbers += numbered.add(columns)
        keys += columns.keys
    assert numbers == list(range(10))
    read = backend.read(NAMESPACE, keys)
    for number in (9, 0, 3, 4, 7, 8, 1, 2, 6, 5):
        made, whole = numbered.record(number), read[number]
        assert whole is not None
        assert whole.meta is not None
        for name in type(made).__slots__:
            if name not in {"tokens", "vectors"}:
                assert getattr(made, name) == getattr(whole, name)


def test_a_record_that_was_made_is_the_only_one_to_keep_its_value(backend):
    (columns,) = backend.columns(NAMESPACE, 10)
    first, again = columns.record(3), columns.record(3)
    assert first.value == columns.values[3]
    assert again.value is None
    assert again.meta is None
    assert columns.record(4).value == columns.values[4]


def test_single_vectors_are_put_together_without_their_heads():
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    packed = [pack_vectors(vectors[:1]), pack_vectors(vectors[1:])]
    found = single_vectors(packed, 3)
    assert found is not None
    assert found.tolist() == vectors.tolist()
    empty = single_vectors([], 3)
    assert empty is not None
    assert empty.shape == (0, 3)


@pytest.mark.parametrize(
    "others",
    [
        [np.ones((2, 3), np.float32)],
        [np.ones((1, 2), np.float32)],
        [np.ones((2, 3), np.float32), np.ones((0, 3), np.float32)],  # sizes add up
        [np.ones((2, 1), np.float32)],
    ],
)
def test_what_has_several_vectors_or_others_is_not_put_together(others):
    one = pack_vectors(np.ones((1, 3), np.float32))
    assert single_vectors([one, *map(pack_vectors, others)], 3) is None


def test_a_blob_of_the_right_size_with_another_dimension_is_not_put_together():
    dims = (2).to_bytes(4, "little")
    assert single_vectors([dims + bytes(12)], 3) is None
