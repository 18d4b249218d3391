"""`demo` proves recall across threads."""

import pytest


@pytest.mark.parametrize(
    ("language", "verdict", "recalled"),
    [
        ("en", "was known in thread 2", ["✓ recalled: Porto", "✓ recalled: Rex"]),
        ("zh", "会话 2 里全都知道", ["✓ 想起来了：上海", "✓ 想起来了：花生"]),
    ],
)
def test_the_demo_recalls_in_both_languages(run, language, verdict, recalled):
    result = run("demo", "--lang", language)
    assert result.exit_code == 0, result.output
    assert verdict in result.stdout
    for line in recalled:
        assert line in result.stdout


def test_the_demo_shows_what_was_stored_and_why_it_was_found(run):
    output = run("demo").stdout
    assert "What was stored" in output
    assert "put before the model: My dog is called Rex." in output
    assert "words in common: dog" in output


@pytest.mark.parametrize("where", ["memory://", "file"])
def test_the_demo_runs_on_any_store(run, url, where):
    chosen = url if where == "file" else where
    result = run("demo", "--url", chosen)
    assert result.exit_code == 0, result.output
    assert chosen in result.stdout


def test_the_demo_fails_when_something_is_not_recalled(run, monkeypatch):
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415
    from langchain_agentmemory.types import Memories  # noqa: PLC0415

    def forgetful(*_, **__):
        return Memories()

    monkeypatch.setattr(MemoryStore, "read_memories", forgetful)
    monkeypatch.setattr(MemoryStore, "search_memories", forgetful)
    result = run("demo")
    assert result.exit_code == 1
    assert "✗ not recalled" in result.stdout
