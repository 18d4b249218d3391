"""Automatic memory and processes: exit, fork, several stores on one file."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from langchain_agentmemory import MemoryStore
from tests.unit_tests.extraction.learning import Echo, texts, turn, until

SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from langchain_agentmemory import MemoryStore
from tests.unit_tests.extraction.learning import Echo, turn

store = MemoryStore.from_url({url!r}, extractor=Echo(policy=None))
"""


def run_script(tmp_path, body, url=None, timeout=60):
    root = str(Path.cwd())
    url = url or f"sqlite:///{tmp_path / 'm.db'}"
    code = SCRIPT.format(root=root, url=url) + textwrap.dedent(body)
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_a_script_that_just_ends_has_learnt(tmp_path):
    done = run_script(
        tmp_path, 'store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")'
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    with MemoryStore.from_url(f"sqlite:///{tmp_path / 'm.db'}") as store:
        assert texts(store) == ["A"]
        assert store.extraction_jobs() == []


def test_a_script_that_ends_uses_graphs_and_threads_till_the_end(tmp_path):
    body = """
    import time
    class Slow(Echo):
        def extract(self, messages, existing=(), **circumstances):
            time.sleep(0.5)
            return super().extract(messages, existing, **circumstances)
    store.close()
    store = MemoryStore(extractor=Slow())
    for number in range(3):
        said = turn(number, f"fact {number}")
        store.enqueue_extraction("ann", said, thread_id=f"t{number}")
    import atexit
    class Late:
        def __del__(self):
            pass
    def last():
        print([e.memory for e in store.read_memories("ann")])
    atexit.register(last)
    """
    done = run_script(tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert "fact 0" in done.stdout
    assert "fact 2" in done.stdout


def test_a_script_ends_in_time_when_the_model_never_answers(tmp_path):
    body = """
    import langchain_agentmemory.extraction.worker as worker
    worker.EXIT_SECONDS = 1
    extractor = Echo()
    extractor.gate.clear()
    store.close()
    store = MemoryStore.from_url(store.describe_url, extractor=extractor)
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    """.replace("store.describe_url", repr(f"sqlite:///{tmp_path / 'm.db'}"))
    done = run_script(tmp_path, body, timeout=30)
    assert done.returncode == 0, done.stderr
    with MemoryStore.from_url(
        f"sqlite:///{tmp_path / 'm.db'}", extractor=Echo()
    ) as store:
        until(lambda: texts(store) == ["A"], 30)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_learns_too(tmp_path):
    body = """
    import os
    store.enqueue_extraction("ann", turn(1, "A"), thread_id="t")
    assert store.flush(10)
    child = os.fork()
    if not child:
        store.enqueue_extraction("ann", turn(2, "B"), thread_id="t")
        ok = store.flush(10)
        os._exit(0 if ok else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    store.enqueue_extraction("ann", turn(3, "C"), thread_id="t")
    assert store.flush(10)
    """
    done = run_script(tmp_path, body)
    assert done.returncode == 0, done.stderr
    with MemoryStore.from_url(f"sqlite:///{tmp_path / 'm.db'}") as store:
        assert texts(store) == ["A", "B", "C"]


def test_two_stores_work_off_one_outbox_and_nothing_twice(tmp_path):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    extractors = [Echo(), Echo()]
    stores = [
        MemoryStore.from_url(url, extractor=extractor, extraction_concurrency=2)
        for extractor in extractors
    ]
    queue = MemoryStore.from_url(url, max_pending=None, extraction_mode="queue")
    for number in range(100):
        user, said = f"u{number % 5}", turn(number, f"fact {number}")
        queue.enqueue_extraction(user, said, thread_id=f"t{number}")
    flushed = []
    threads = [
        threading.Thread(target=lambda s=store: flushed.append(s.flush(60)))
        for store in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flushed == [True, True]
    for user in range(5):
        said = [f"fact {number}" for number in range(100) if number % 5 == user]
        assert texts(queue, f"u{user}") == said
    asked = [text for e in extractors for seen in e.seen for text in seen]
    asked = [text for text in asked if text != "fine"]
    assert sorted(asked) == sorted(f"fact {number}" for number in range(100))
    for store in (*stores, queue):
        store.close()
