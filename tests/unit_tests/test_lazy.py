"""Attributes that are made when they are asked for."""

import os
import signal
import sys
import threading
import time

import pytest

from langchain_agentmemory import lazy
from langchain_agentmemory.lazy import lazy_property

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork.")


class Shop:
    def __init__(self, wait=None):
        self.made = 0
        self.wait = wait

    @lazy_property
    def tea(self):
        """Green."""
        self.made += 1
        if self.wait is not None:
            self.wait()
        return ["tea", self.made]


def test_a_value_is_made_once():
    shop = Shop()
    assert "tea" not in vars(shop)
    assert shop.tea is shop.tea
    assert shop.tea == ["tea", 1]
    assert Shop().tea is not shop.tea
    assert Shop.tea.__doc__ == "Green."


def test_what_was_not_made_is_made_the_next_time():
    shop = Shop(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        _ = shop.tea
    shop.wait = None
    assert shop.tea == ["tea", 2]


def test_of_two_threads_both_get_the_value_of_the_first():
    both = threading.Barrier(2)
    shop = Shop(both.wait)
    found = []
    threads = [threading.Thread(target=lambda: found.append(shop.tea)) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shop.made == 2
    assert found[0] is found[1] is shop.tea


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_waits_until_a_value_is_made():
    begun, done = threading.Event(), []

    def wait():
        begun.set()
        time.sleep(0.3)
        done.append(True)

    shop = Shop(wait)
    thread = threading.Thread(target=lambda: shop.tea)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if done and Shop().tea and "tea" in vars(shop) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
    assert Shop().tea == ["tea", 1]  # and afterwards others are made as before


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_who_forks_while_making_a_value_does_not_wait_for_itself(monkeypatch):
    monkeypatch.setattr(lazy, "FORK_PATIENCE", 600.0)
    children = []

    def fork():
        children.append(os.fork())

    made = Shop(fork).tea == ["tea", 1] and Shop().tea == ["tea", 1]
    if not children[0]:
        signal.alarm(20)
        fork()  # the count of what is being made is right in the child, too
        os._exit(0 if made and lazy._gate._making == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert made
    assert lazy._gate._making == 0
