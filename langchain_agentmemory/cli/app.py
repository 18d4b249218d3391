"""The commands and what they have in common. Nothing heavy is imported for `--help`."""

from typing import Annotated

import typer

from langchain_agentmemory.cli import memories
from langchain_agentmemory.cli.options import (
    App,
    Debug,
    Lang,
    Language,
    Model,
    Url,
    User,
    reported,
)

app = typer.Typer(
    name="langchain-agentmemory",
    help="Long-term memory for LangGraph and LangChain agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(memories.app, name="memories")


def _show_version(value: bool) -> None:  # noqa: FBT001 - how typer calls it
    if value:
        from importlib.metadata import version

        typer.echo(f"langchain-agentmemory {version('langchain-agentmemory')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show it and exit."
        ),
    ] = False,
) -> None:
    """Long-term memory for LangGraph and LangChain agents."""


@app.command()
@reported
def chat(  # noqa: PLR0913 - one parameter per option
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
    model: Model = None,
    soft_delete: Annotated[
        bool,
        typer.Option(help="Keep what is deleted, so that it can be restored."),
    ] = True,
    stream: Annotated[
        bool, typer.Option(help="Show answers while they are being written.")
    ] = True,
    debug: Debug = False,
) -> None:
    """Talk to an agent that remembers you, in this thread and in the next.

    Without OPENAI_API_KEY (or OPENAI_BASE_URL) an offline, rule-based model answers.
    Lines can also be piped in. Type /help for what else there is.
    """
    from langchain_agentmemory.cli.chat import Chat
    from langchain_agentmemory.cli.opening import choose_model, open_store

    with open_store(url, app_name, soft_delete=soft_delete) as store:
        talk = Chat(store, choose_model(model), user, stream=stream, debug=debug)
        complete = talk.run()
    if not complete:
        raise typer.Exit(1)


@app.command()
@reported
def demo(
    *,
    lang: Language = Lang.EN,
    url: Annotated[
        str | None,
        typer.Option(help="Where to store it. Default: a temporary SQLite file."),
    ] = None,
    model: Model = None,
) -> None:
    """Hold a scripted conversation over two threads, and show what was remembered.

    Prints what was stored and why it was found; exits with 1 if something was not.
    """
    from langchain_agentmemory.cli.demo import run_demo
    from langchain_agentmemory.cli.opening import choose_model

    if not run_demo(lang.value, choose_model(model), url):
        raise typer.Exit(1)
