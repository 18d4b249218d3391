"""The commands and what they have in common. Nothing heavy is imported for `--help`."""

from contextlib import nullcontext
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from langchain_agentmemory.cli import jobs, memories
from langchain_agentmemory.cli.options import (
    App,
    AssistantEpisodes,
    Debug,
    Embeddings,
    Lang,
    Language,
    Model,
    Policy,
    Url,
    User,
    reported,
)

_PYDANTICS: Final = "Value error, "


class _Group(TyperGroup):
    """Says what is wrong with an option without the words that pydantic puts first."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(_PYDANTICS)
            raise


app = typer.Typer(
    name="langchain-agentmemory",
    cls=_Group,
    help="Long-term memory for LangGraph and LangChain agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(memories.app, name="memories")
app.add_typer(jobs.app, name="jobs")


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
    learn: Annotated[
        bool,
        typer.Option(help="Learn from what is said, beside what the agent's tools do."),
    ] = True,
    policy: Policy = None,
    assistant_episodes: AssistantEpisodes = False,
    embeddings: Embeddings = None,
    stream: Annotated[
        bool, typer.Option(help="Show answers while they are being written.")
    ] = True,
    debug: Debug = False,
) -> None:
    """Talk to an agent that remembers you, in this thread and in the next.

    It learns in the background from what you say. Without OPENAI_API_KEY (or
    OPENAI_BASE_URL) an offline, rule-based model answers. Lines can also be piped in.
    Type /help for what else there is.
    """
    from langchain_agentmemory.cli.chat import Chat
    from langchain_agentmemory.cli.embedding import choose_embedder
    from langchain_agentmemory.cli.learning import chat_learning
    from langchain_agentmemory.cli.opening import choose_model, open_store
    from langchain_agentmemory.cli.screen import warnings_as_lines

    chosen = choose_model(model)
    learning = (
        chat_learning(chosen, policy, assistant_episodes=assistant_episodes)
        if learn
        else None
    )
    options = learning.options() if learning else {}
    embedder = choose_embedder(embeddings, url)
    options |= embedder.options
    with (
        nullcontext() if debug else warnings_as_lines(),
        open_store(url, app_name, soft_delete=soft_delete, **options) as store,
    ):
        talk = Chat(
            store,
            chosen,
            user,
            learning,
            searches=embedder.label,
            stream=stream,
            debug=debug,
        )
        complete = talk.run()
    if not complete:
        raise typer.Exit(1)


@app.command()
@reported
def worker(  # noqa: PLR0913 - one parameter per option
    *,
    url: Url = None,
    model: Model = None,
    verbatim: Annotated[
        bool,
        typer.Option("--verbatim", help="Ask no model: keep what was said as it is."),
    ] = False,
    policy: Policy = None,
    assistant_episodes: AssistantEpisodes = False,
    concurrency: Annotated[
        int, typer.Option(min=1, help="How many users at a time.")
    ] = 1,
    once: Annotated[
        bool,
        typer.Option(
            "--once", help="Work off what waits and end; with 1 if a turn failed."
        ),
    ] = False,
    job_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that one extraction may take.")
    ] = 30.0,
    memory_limit: Annotated[
        int, typer.Option(min=0, help="Memories that a user may own; 0 = any number.")
    ] = 0,
    soft_delete: Annotated[
        bool, typer.Option(help="Keep what is deleted, so that it can be restored.")
    ] = True,
    timezone: Annotated[
        str, typer.Option(help="Where users are: what “yesterday” means to them.")
    ] = "UTC",
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Show what is learnt: words of users get printed."
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Learn from the turns that other processes have queued, until Ctrl-C or SIGTERM.

    Turns of all users and applications of the store are worked off. Limit, timezone and
    soft deletion should be those of the application that queues them.
    """
    from langchain_agentmemory.cli.opening import missing_file
    from langchain_agentmemory.cli.screen import say, warnings_as_lines
    from langchain_agentmemory.cli.worker import (
        Foreground,
        Stop,
        open_worker_store,
        worker_extractor,
    )

    extractor, label = worker_extractor(
        model, policy, verbatim=verbatim, assistant_episodes=assistant_episodes
    )
    created = " (created: there was no such file)" if missing_file(url) else ""
    with (
        Stop() as stop,
        nullcontext() if debug else warnings_as_lines(),
        open_worker_store(
            url,
            extractor,
            verbose=verbose,
            extraction_concurrency=concurrency,
            job_timeout=job_timeout,
            memory_limit=memory_limit or None,
            soft_delete=soft_delete,
            timezone=timezone,
        ) as store,
    ):
        say("langchain-agentmemory worker", "bold")
        say(f"  model  {label}", "yellow")
        file = store.describe().get("file", store.backend.name)
        say(f"  store  {file}{created}", "yellow" if created else "dim")
        complete = Foreground(store, stop).run(once=once)
    if once and not complete:
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
