"""`jobs …`: list, retry and discard turns that wait to be learnt from."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_agentmemory.cli.options import App, AsJson, Url, reported
from langchain_agentmemory.cli.wording import numbered

if TYPE_CHECKING:
    from langchain_agentmemory.extraction.jobs import ExtractionJob
    from langchain_agentmemory.store import MemoryStore

app = typer.Typer(
    help="List, retry and discard turns that wait to be learnt from, or that failed.",
    no_args_is_help=True,
)

Owner = Annotated[
    str | None, typer.Option("--user", "-u", help="Only of this user. Default: all.")
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--id", help="The first letters of a job's id; repeatable."),
]


@app.command("list")
@reported
def list_jobs(
    *,
    user: Owner = None,
    app_name: App = "default",
    url: Url = None,
    ids: Ids = None,
    as_json: AsJson = False,
) -> None:
    """List turns that wait, are held back or failed for good, oldest first.

    Without --user these are the turns of all users of all applications.
    """
    from langchain_agentmemory.cli.screen import say, show_jobs

    with _store(url, app_name) as store:
        jobs = _wanted(store, user, ids)
    if as_json:
        _print_json(jobs)
    elif jobs:
        show_jobs(jobs, title=counted(len(jobs)))
    else:
        say("No turns wait, and none failed.")


@app.command()
@reported
def retry(
    *,
    user: Owner = None,
    app_name: App = "default",
    url: Url = None,
    ids: Ids = None,
    as_json: AsJson = False,
) -> None:
    """Let turns that failed for good wait again, for a worker or the next chat."""
    from langchain_agentmemory.cli.screen import say

    with _store(url, app_name) as store:
        parked = [job for job in _wanted(store, user, ids) if job.state == "parked"]
        done = store.retry_jobs(user, [job.id for job in parked])
    if as_json:
        _print_json(parked)
    else:
        verb = "waits" if done == 1 else "wait"
        say(f"{counted(done)} {verb} again. A worker or the next chat learns from it.")


@app.command()
@reported
def discard(
    *,
    user: Owner = None,
    app_name: App = "default",
    url: Url = None,
    ids: Ids = None,
    as_json: AsJson = False,
) -> None:
    """Drop turns as if they had been learnt from, of --user or by --id."""
    from langchain_agentmemory.cli.screen import say
    from langchain_agentmemory.errors import InvalidInput

    if user is None and not ids:
        msg = "Say whose turns to drop (--user NAME), or which (--id, see `jobs list`)."
        raise InvalidInput(msg)
    with _store(url, app_name) as store:
        jobs = _wanted(store, user, ids)
        done = sum(
            store.discard_jobs(owner, [job.id for job in jobs if job.user == owner])
            for owner in {job.user: None for job in jobs}
        )
    if as_json:
        _print_json(jobs)
    else:
        say(f"{counted(done)} discarded.")


def matching(jobs: "list[ExtractionJob]", beginning: str) -> "ExtractionJob":
    """Return the one job whose id begins so, as it is shown or in full.

    Raises:
        InvalidInput: If there is none, or more than one.
    """
    from langchain_agentmemory.errors import InvalidInput
    from langchain_agentmemory.extraction.mailbox import JOB
    from langchain_agentmemory.quoting import quoted

    wanted = beginning.strip().removeprefix(JOB)
    found = [
        job for job in jobs if wanted and job.id.removeprefix(JOB).startswith(wanted)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        msg = f"{len(found)} turns begin with {quoted(wanted)}: type more letters."
    else:
        msg = f"No turn has an id that begins with {quoted(wanted)}: list them first."
    raise InvalidInput(msg)


def counted(number: int) -> str:
    """Return a number of turns in words."""
    return numbered(number, "turn")


def _store(url: str | None, app_name: str) -> "MemoryStore":
    from langchain_agentmemory.cli.opening import open_store

    return open_store(url, app_name, create=False)


def _wanted(
    store: "MemoryStore", user: str | None, ids: list[str] | None
) -> "list[ExtractionJob]":
    jobs = list(store.extraction_jobs(user))
    return jobs if not ids else [matching(jobs, beginning) for beginning in ids]


def _print_json(jobs: "list[ExtractionJob]") -> None:
    import json

    for job in jobs:
        fields: dict[str, Any] = {
            "id": job.id,
            "app": job.user.app_name,
            "user": job.user.user_id,
            "thread": job.thread_id,
            "state": job.state,
            "said": list(job.said),
            "said_at": job.said_at.isoformat(),
            "attempts": job.attempts,
            "due_at": job.due_at.isoformat() if job.due_at else None,
            "error": job.error,
        }
        typer.echo(json.dumps(fields, ensure_ascii=False))
