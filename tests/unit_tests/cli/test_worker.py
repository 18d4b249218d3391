"""`worker`: works off what other processes have queued, in the foreground."""

import os
import signal
import subprocess
import sys
import time

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.cli.opening import ChosenModel
from langchain_agentmemory.testing import ScriptedChatModel
from tests.unit_tests.extraction.learning import turn

FILL = """
import sys
from langchain_agentmemory import MemoryStore
with MemoryStore.from_url(sys.argv[1], extraction_mode="queue") as store:
    for user, text in [arg.split("=") for arg in sys.argv[2:]]:
        assert store.enqueue_extraction(user, [("user", text)], thread_id=text)
"""

SLOW = """
import time
from langchain_agentmemory.cli import main
from langchain_agentmemory.extraction.verbatim import VerbatimExtractor
extract = VerbatimExtractor.extract
def slow(self, *given, **named):
    print("extracting", flush=True)
    time.sleep(1.5)
    return extract(self, *given, **named)
VerbatimExtractor.extract = slow
main()
"""


def fill(url, *turns):
    """Queue turns from another process."""
    subprocess.run([sys.executable, "-c", FILL, url, *turns], check=True, timeout=60)


@pytest.fixture
def start(url):
    """Start a worker in a process of its own."""
    started = []

    def worker(*arguments, code=None):
        how = ["-m", "langchain_agentmemory"] if code is None else ["-c", code]
        process = subprocess.Popen(
            [sys.executable, *how, "worker", "--url", url, "--verbatim", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=dict(os.environ),
        )
        started.append(process)
        return process

    yield worker
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def read_until(process, text):
    """Return what is printed up to a line that contains a text."""
    seen = ""
    for line in process.stdout:
        seen += line
        if text in line:
            return seen
    raise AssertionError(seen + process.stderr.read())


def memories(url, user):
    with MemoryStore.from_url(url) as store:
        return [entry.memory for entry in store.read_memories(user)]


def test_a_worker_learns_what_another_process_queues_until_it_is_ended(url, start):
    fill(url, "ann=I like tea.")
    worker = start()
    seen = read_until(worker, "idle · 1 done")
    assert "1 waiting" in seen
    fill(url, "bob=我喜欢喝茶。")
    read_until(worker, "idle · 2 done")
    worker.send_signal(signal.SIGTERM)
    rest, errors = worker.communicate(timeout=30)
    assert worker.returncode == 0
    assert rest.endswith("ended\n")
    assert errors == ""
    assert memories(url, "ann") == ["I like tea."]
    assert memories(url, "bob") == ["我喜欢喝茶。"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT goes to the whole group")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_is_finished_and_the_rest_is_left(url, start, number):
    fill(url, "ann=I like tea.", "bob=I like jazz.")
    worker = start(code=SLOW)
    read_until(worker, "extracting")
    worker.send_signal(number)
    rest, errors = worker.communicate(timeout=30)
    assert worker.returncode == 0, errors
    assert "stopping after what is under way" in rest
    assert "1 turn left for the next worker" in rest
    assert sorted([*memories(url, "ann"), *memories(url, "bob")]) == ["I like tea."]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT goes to the whole group")
def test_a_second_signal_ends_it_at_once(url, start):
    fill(url, "ann=I like tea.")
    worker = start(code=SLOW.replace("1.5", "60"))
    read_until(worker, "extracting")
    worker.send_signal(signal.SIGINT)
    read_until(worker, "stopping")
    began = time.monotonic()
    worker.send_signal(signal.SIGINT)
    worker.communicate(timeout=50)
    assert worker.returncode == 130
    assert time.monotonic() - began < 30
    with MemoryStore.from_url(url) as store:
        assert [job.state for job in store.extraction_jobs()] == ["waiting"]


# -- once ------------------------------------------------------------------------------


@pytest.fixture
def once(run, url):
    def work(*arguments):
        return run("worker", "--once", "--url", url, *arguments)

    return work


@pytest.fixture
def queued(url):
    with MemoryStore.from_url(url, extraction_mode="queue") as store:
        store.enqueue_extraction("ann", turn(1, "I like tea."), thread_id="t")


@pytest.mark.usefixtures("queued")
def test_once_works_off_what_waits_and_ends(once, url):
    result = once("--verbatim")
    assert result.exit_code == 0, result.output
    assert "1 done" in result.stdout
    assert memories(url, "ann") == ["I like tea."]
    assert once("--verbatim").exit_code == 0  # nothing waits


def test_a_file_that_was_not_there_is_said_to_be_created(once, tmp_path):
    created = f"{tmp_path / 'memories.db'} (created: there was no such file)"
    assert created in once("--verbatim").stdout
    assert "created" not in once("--verbatim").stdout


@pytest.mark.usefixtures("queued")
def test_words_of_users_are_printed_on_request_only(once):
    assert "tea" not in once("--verbatim").output


@pytest.mark.usefixtures("queued")
def test_words_of_users_are_printed_with_verbose(once):
    assert "ann  + learnt: “I like tea.”" in once("--verbatim", "--verbose").stdout


@pytest.mark.usefixtures("queued")
def test_the_exit_code_says_that_a_turn_failed_for_good(once, monkeypatch):
    model = ScriptedChatModel([TypeError("no such field")])
    monkeypatch.setattr(
        "langchain_agentmemory.cli.worker.choose_model",
        lambda _: ChosenModel(model, "scripted", offline=False),
    )
    result = once()
    assert result.exit_code == 1
    assert "no such field" in result.stderr
    assert "1 turn failed for good" in result.stdout
    assert "Traceback" not in result.output
    # A turn that failed before this run is no failure of this run.
    assert once().exit_code == 0


@pytest.mark.usefixtures("queued")
def test_a_language_model_is_asked_under_a_policy(once, url, monkeypatch):
    arguments = {"memory": "Likes tea", "source_user_index": 1}
    model = ScriptedChatModel([[{"name": "memory_add", "args": arguments}]])
    monkeypatch.setattr(
        "langchain_agentmemory.cli.worker.choose_model",
        lambda _: ChosenModel(model, "scripted", offline=False),
    )
    result = once("--policy", "append-only", "--concurrency", "2")
    assert result.exit_code == 0, result.output
    assert memories(url, "ann") == ["Likes tea"]
    assert model.requests[0].tool_names == ["memory_add"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "set OPENAI_API_KEY"),
        (["--model", "offline"], "needs a language model"),
        (["--verbatim", "--model", "gpt-x"], "Choose one"),
        (["--verbatim", "--url", "memory://"], "shared"),
        (["--verbatim", "--timezone", "Mars/Base"], "Mars/Base"),
    ],
)
def test_wrong_usage_is_one_clear_line(once, arguments, message):
    result = once(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
