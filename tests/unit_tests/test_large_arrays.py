"""Large arrays: memory of their own."""

import os
import weakref

import numpy as np
import pytest

from langchain_agentmemory.large_arrays import (
    LARGE,
    large_array,
    own_memory,
)


@pytest.mark.parametrize("rows", [3, LARGE])
def test_an_array_has_the_shape_and_kind_that_were_asked_for(rows):
    array = large_array((rows, 2), "float32")
    array[...] = 5
    assert (array.shape, array.dtype) == ((rows, 2), np.float32)
    assert array.flags.c_contiguous
    assert (array == 5).all()


@pytest.mark.parametrize("size", [0, 3, LARGE])
def test_a_copy_in_memory_of_its_own_is_equal(size):
    array = np.arange(size)
    copy = own_memory(array)
    assert copy.dtype == array.dtype
    assert copy.tolist() == array.tolist()
    assert np.shares_memory(copy, array) == (0 < array.nbytes < LARGE)


def test_the_memory_goes_with_the_last_array_on_it():
    array = large_array((LARGE,), np.uint8)
    memory = weakref.ref(array.base)
    part = array[3:5]
    del array
    assert memory() is not None
    del part
    assert memory() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_has_a_copy_of_its_own():
    array = large_array((LARGE,), np.uint8)
    array[0] = 1
    child = os.fork()
    if not child:
        array[0] = 2
        os._exit(0)
    os.waitpid(child, 0)
    assert array[0] == 1
