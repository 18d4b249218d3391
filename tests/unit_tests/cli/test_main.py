"""The entry point: missing extras, models, help."""

import importlib.util
import json
import subprocess
import sys

import pytest

from langchain_agentmemory import cli


def test_missing_packages_are_one_line_with_the_way_to_get_them(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        cli, "find_spec", lambda name: None if name == "rich" else found(name)
    )
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == (
        "The command line needs rich: pip install 'langchain-agentmemory[cli]'\n"
    )


def test_help_and_version_load_nothing_heavy():
    code = (
        "import sys, json\n"
        "sys.argv = ['x', '--version']\n"
        "from langchain_agentmemory.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(json.dumps([m for m in ('langchain', 'langgraph', 'numpy', 'jieba')"
        " if m in sys.modules]))"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    version, loaded = output.splitlines()
    assert version.startswith("langchain-agentmemory ")
    assert json.loads(loaded) == []


def test_an_unknown_option_is_wrong_usage(run):
    assert run("chat", "--colour").exit_code == 2


def test_without_a_key_the_offline_model_is_chosen_and_named():
    from langchain_agentmemory.cli.opening import choose_model  # noqa: PLC0415

    assert choose_model(None).offline
    asked = choose_model("gpt-x")
    assert asked.offline
    assert "for gpt-x set OPENAI_API_KEY" in asked.label


def test_with_a_key_a_real_model_is_chosen(monkeypatch):
    from langchain_agentmemory.cli.opening import choose_model  # noqa: PLC0415

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose_model("gpt-x").model.model_name == "gpt-x"
    assert choose_model("offline").offline


def test_a_server_that_takes_no_key_is_enough(monkeypatch):
    from langchain_agentmemory.cli.opening import choose_model  # noqa: PLC0415

    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    chosen = choose_model("local")
    assert not chosen.offline
    assert chosen.label == "local at http://localhost:1/v1"


@pytest.mark.parametrize("command", [["chat"], ["demo"], ["memories", "import"]])
def test_every_command_explains_itself(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "--debug" in result.stdout
