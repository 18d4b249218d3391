"""`jobs …`: what waits, what failed, and what to do about it."""

import json

import pytest

from langchain_agentmemory import MemoryStore
from tests.unit_tests.extraction.learning import Echo, turn, until


@pytest.fixture
def jobs(run, url):
    def command(*arguments):
        return run("jobs", *arguments, "--url", url)

    return command


@pytest.fixture
def queued(url):
    """Two turns of Ann, one of Bob, of whom the first of Ann failed for good."""
    extractor = Echo(fails=[TypeError("[red]broken[/red]")])
    with MemoryStore.from_url(url, extractor=extractor) as store:
        store.enqueue_extraction("ann", turn(1, "I like tea"), thread_id="one")
        until(lambda: store.status()["failed"] == 1)
    with MemoryStore.from_url(url, extraction_mode="queue") as store:
        store.enqueue_extraction("ann", turn(1, "I like jazz"), thread_id="two")
        store.enqueue_extraction("bob", turn(1, "我喜欢喝茶"), thread_id="three")


def listed(jobs, *arguments):
    lines = jobs("list", "--json", *arguments).stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.usefixtures("queued")
def test_turns_are_listed_with_what_became_of_them(jobs):
    shown = jobs("list").stdout
    assert "3 turns" in shown
    for text in ("parked", "waiting", "I like tea", "我喜欢喝茶", "[red]broken[/red]"):
        assert text in shown
    assert [job["user"] for job in listed(jobs)] == ["ann", "ann", "bob"]
    (job,) = listed(jobs, "--user", "bob")
    assert job["state"] == "waiting"
    assert job["said"] == ["user: 我喜欢喝茶", "assistant: fine"]
    assert job["app"] == "default"


def test_an_empty_outbox_is_said_to_be_empty(jobs, url):
    with MemoryStore.from_url(url) as store:
        store.describe()
    assert "No turns wait" in jobs("list").stdout
    assert listed(jobs) == []


@pytest.mark.parametrize("arguments", [["list"], ["retry"], ["discard", "-u", "ann"]])
def test_a_misspelt_file_is_an_error_and_not_created(jobs, tmp_path, arguments):
    result = jobs(*arguments)
    assert result.exit_code == 1
    assert f"There is no file {tmp_path / 'memories.db'}" in result.stderr
    assert list(tmp_path.glob("*.db")) == []


@pytest.mark.usefixtures("queued")
def test_what_failed_can_be_retried(jobs):
    assert "0 turns" in jobs("retry", "--user", "bob").stdout
    assert "1 turn waits again" in jobs("retry").stdout
    assert {job["state"] for job in listed(jobs)} == {"waiting"}


@pytest.mark.usefixtures("queued")
def test_turns_can_be_chosen_by_the_letters_that_are_shown(jobs):
    chosen = next(job for job in listed(jobs) if job["user"] == "bob")
    letters = chosen["id"].removeprefix("job:")[:10]
    assert letters in jobs("list").stdout
    assert [job["id"] for job in listed(jobs, "--id", letters)] == [chosen["id"]]
    assert [job["id"] for job in listed(jobs, "--id", chosen["id"])] == [chosen["id"]]
    assert "1 turn discarded" in jobs("discard", "--id", letters).stdout
    assert [job["user"] for job in listed(jobs)] == ["ann", "ann"]


@pytest.mark.usefixtures("queued")
def test_turns_of_one_user_can_be_discarded(jobs, run, url):
    assert "2 turns discarded" in jobs("discard", "--user", "ann").stdout
    assert [job["user"] for job in listed(jobs)] == ["bob"]
    done = run("worker", "--verbatim", "--once", "--url", url)
    assert done.exit_code == 0
    assert "No memories" in run("memories", "list", "-u", "ann", "--url", url).stdout


@pytest.mark.usefixtures("queued")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discard"], "Say whose turns to drop"),
        (["retry", "--id", "zzz"], "begins with 'zzz'"),
        (["list", "--id", ""], "begins with ''"),
    ],
)
def test_wrong_input_is_one_clear_line(jobs, arguments, message):
    result = jobs(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(listed(jobs)) == 3
