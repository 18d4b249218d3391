"""What a person sees: lines, tables, progress. Texts are never read as markup."""

import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from langchain_agentmemory.errors import MemoryStoreError
from langchain_agentmemory.extraction.jobs import ExtractionJob
from langchain_agentmemory.extraction.mailbox import JOB
from langchain_agentmemory.offline.recall import Known
from langchain_agentmemory.quoting import masked
from langchain_agentmemory.tools.plain_text import one_line
from langchain_agentmemory.types import MemoryEntry

SHORT_ID = 10
"""Letters of an id that are shown; any unique beginning is accepted."""

console = Console(highlight=False, soft_wrap=True)
"""The output. Like `errors` it follows whatever `sys.stdout` is at the moment."""

errors = Console(highlight=False, soft_wrap=True, stderr=True)
"""The error output."""

_MAX_LINE = 160
_MAX_TURN = 60
_WIDE = 160
_LONG_ID = re.compile(rf"\b([0-9a-f]{{{SHORT_ID}}})[0-9a-f]{{{64 - SHORT_ID}}}\b")
_NAMED = 3  # preloaded memories that are named, of those that are counted


def say(text: str = "", style: str = "", *, end: str = "\n") -> None:
    """Print a text as it is."""
    console.print(Text(printable(text), style=style), end=end)


def show_error(error: BaseException | str) -> None:
    """Print one red line on the error output."""
    text = masked(one_line(str(error)).strip())
    if not isinstance(error, str | MemoryStoreError):  # of a model, a disk, a network
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    errors.print(Text(f"Error: {printable(text)}", style="bold red"))


def show_warning(text: str) -> None:
    """Print one yellow line on the error output."""
    errors.print(Text(printable(one_line(text)), style="yellow"))


def note(text: str) -> None:
    """Print a line about how something was done, on the error output."""
    errors.print(Text(printable(text), style="dim"))


def printable(text: str) -> str:
    """Return a text that any terminal takes: no control codes, no lone surrogates."""
    encodable = text.encode("utf-8", "replace").decode()
    return "".join(c for c in encodable if c in "\n\t" or c.isprintable())


def shortened(text: str, length: int = _MAX_LINE) -> str:
    """Return a text on one line, cut to a length, with long ids shortened."""
    line = _LONG_ID.sub(r"\1…", one_line(text))
    return line if len(line) <= length else f"{line[: length - 1]}…"


def show_call(name: str, arguments: dict[str, Any]) -> None:
    """Print a tool call of the agent."""
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    say(f"  → {shortened(f'{name}({given})')}", "cyan")


def show_result(text: str, *, failed: bool) -> None:
    """Print what a tool answered."""
    say(f"  ← {shortened(text)}", "red" if failed else "dim")


def show_preloaded(memories: Sequence[Known]) -> None:
    """Print which memories were put before the model."""
    if not memories:
        say("  · no memories preloaded", "dim")
        return
    texts = "; ".join(f"“{shortened(known.text, 40)}”" for known in memories[:_NAMED])
    more = f"; +{hidden}" if (hidden := len(memories) - _NAMED) > 0 else ""
    say(f"  · preloaded {len(memories)}: {texts}{more}", "dim")


def show_entries(entries: Sequence[MemoryEntry], *, title: str | None = None) -> None:
    """Print memories as a table; columns in which nothing stands are left out."""
    columns: dict[str, list[str]] = {
        "id": [entry.id[:SHORT_ID] for entry in entries],
        "score": [
            "" if entry.score is None else f"{entry.score:.3f}" for entry in entries
        ],
        "memory": [shortened(entry.memory) for entry in entries],
        "kind": [str(entry.kind) for entry in entries],
        "when": [entry.event_label() or "" for entry in entries],
        "topics": [", ".join(entry.topics) for entry in entries],
        "updated": [
            f"{entry.updated_at.astimezone():%Y-%m-%d %H:%M}" for entry in entries
        ],
    }
    _show_table(columns, title, whole={"id", "score", "when", "updated"})


def show_explained(entry: MemoryEntry) -> None:
    """Print a memory, and below it how its score came about."""
    say(f"{entry.id[:SHORT_ID]}  {shortened(entry.memory)}", "bold")
    for line in repr(entry.explanation).splitlines():
        say(f"  {line}", "dim")


def show_jobs(jobs: Sequence[ExtractionJob], *, title: str | None = None) -> None:
    """Print turns that wait, are held back or failed; empty columns are left out."""
    columns: dict[str, list[str]] = {
        "id": [short_job_id(job.id) for job in jobs],
        "state": [job.state for job in jobs],
        "user": [job.user.user_id for job in jobs],
        "thread": [shortened(job.thread_id or "", SHORT_ID + 1) for job in jobs],
        "said": [f"{job.said_at.astimezone():%Y-%m-%d %H:%M:%S}" for job in jobs],
        "tried": [str(job.attempts or "") for job in jobs],
        "next try": [
            f"{job.due_at.astimezone():%H:%M:%S}" if job.due_at else "" for job in jobs
        ],
        "what": [shortened(" / ".join(job.said), _MAX_TURN) for job in jobs],
        "error": [shortened(job.error or "") for job in jobs],
    }
    _show_table(columns, title, whole={"id", "state", "said", "next try"})


def short_job_id(job_id: str) -> str:
    """Return the letters of a job's id that are shown."""
    return job_id.removeprefix(JOB)[:SHORT_ID]


def _show_table(
    columns: dict[str, list[str]], title: str | None, *, whole: set[str]
) -> None:
    """Print columns as a table, without empty ones; some are not folded."""
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    heading = None if title is None else _plain(shortened(title))
    table = Table(title=heading, title_justify="left", header_style="bold")
    for name in shown:
        table.add_column(_plain(name), overflow="fold", no_wrap=name in whole)
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(_plain, row))
    # Piped output has no width of its own: 80 columns would break every memory.
    width = None if console.is_terminal else int(os.environ.get("COLUMNS") or _WIDE)
    Console(highlight=False, width=width).print(table)


def _plain(text: str) -> Text:
    """Return a text as rich shows it: a plain string would be read as markup."""
    return Text(printable(text))


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal that something is waited for."""
    if not sys.stderr.isatty():
        yield
        return
    with errors.status(_plain(what)):
        yield


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show what is logged in the background as one line each, without tracebacks."""
    logger = logging.getLogger("langchain_agentmemory")
    handler = _Lines(logging.WARNING)
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        told = f"{record.getMessage()} {error}" if error else record.getMessage()
        show_warning(masked(told))


@contextmanager
def progress(total: int, what: str) -> Iterator[Any]:
    """Show a progress bar while a function that advances it by one is called.

    It is drawn on the error output, only if that is a terminal.
    """
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=errors,
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
