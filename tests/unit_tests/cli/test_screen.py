"""What a person sees is what was stored, never markup and never a control code."""

from datetime import UTC, datetime

import pytest

from langchain_agentmemory.cli import screen
from langchain_agentmemory.types import MemoryEntry

MOMENT = datetime(2026, 1, 2, 3, tzinfo=UTC)
MARKUP = "[red]x[/red] [link=http://evil]y[/link] [/nothing] [bold"


def entry(text):
    return MemoryEntry(
        text, "app", "ann", text, (text,), text, None, None, (), None, MOMENT, MOMENT
    )


def everything(text):
    """Show a text in every place where one can stand."""
    screen.say(text)
    screen.show_error(text)
    screen.show_error(ValueError(text))
    screen.show_warning(text)
    screen.show_call(text, {text: text})
    screen.show_result(text, failed=True)
    screen.show_entries([entry(text)], title=text)
    with screen.progress(1, text) as step:
        step()


def test_square_brackets_are_text(capsys):
    everything(MARKUP)
    shown = capsys.readouterr()
    assert shown.out.count("[red]x[/red]") >= 6
    assert shown.err.count("[red]x[/red]") == 3


@pytest.mark.parametrize("name", ["[red]ann[/red]", "[/]", "[bold", "\\[x]"])
def test_a_user_may_be_called_like_markup(run, url, name):
    assert run("memories", "add", "tea", "-u", name, "--url", url).exit_code == 0
    shown = run("memories", "list", "-u", name, "--url", url)
    assert shown.exit_code == 0, shown.output
    assert f"1 of 1 memory of {name}" in shown.stdout
    talk = run("chat", "-u", name, "--url", url, input="/memory\n/user [/x]\n/exit\n")
    assert talk.exit_code == 0, talk.output
    assert name in talk.stdout
    assert "you are [/x] now" in talk.stdout


@pytest.mark.parametrize(
    "code", ["\x1b[31m", "\x1b]8;;http://evil\x07", "\x9b2J", "\r"]
)
def test_no_control_code_reaches_the_terminal(capsys, code):
    everything(f"a{code}b")
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert "\x9b" not in shown.out + shown.err
    assert "\r" not in shown.out + shown.err


def test_errors_show_no_secrets(run):
    url = "postgresql://ann:hunter2@db.example/x?password=hunter2"
    shown = run("memories", "list", "--url", url)
    assert shown.exit_code == 2
    assert "db.example" in shown.stderr
    assert "hunter2" not in shown.output


def test_a_title_is_one_line(capsys):
    screen.show_entries([entry("tea")], title="a\nb")
    assert "a b" in capsys.readouterr().out.splitlines()[0]
