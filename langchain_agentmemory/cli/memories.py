"""`memories …`: list, search, add, delete, restore, export, import, reindex."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_agentmemory.cli.options import (
    App,
    AsJson,
    Embeddings,
    Mode,
    Url,
    User,
    reported,
)
from langchain_agentmemory.cli.wording import memories, numbered

if TYPE_CHECKING:
    from langchain_agentmemory.store import MemoryStore
    from langchain_agentmemory.transfer import Imported, Statement
    from langchain_agentmemory.types import MemoryEntry

app = typer.Typer(
    help="List, find, add, delete, restore, export and import memories.",
    no_args_is_help=True,
)

Limit = Annotated[
    int, typer.Option("--limit", "-n", min=0, help="How many at most; 0 = all.")
]


@app.command("list")
@reported
def list_memories(  # noqa: PLR0913 - one parameter per option
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
    limit: Limit = 20,
    deleted: Annotated[
        bool,
        typer.Option("--deleted", help="List what was deleted and can be restored."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List memories, the newest first."""
    from langchain_agentmemory.cli.finding import deleted_memories

    with _store(url, app_name, create=False) as store:
        if deleted:
            gone = deleted_memories(store, user, limit or None)
            _print(gone, f"Deleted or replaced memories of {user}", as_json=as_json)
            return
        entries = store.read_memories(user, limit or None)
        title = f"{len(entries)} of {memories(store.count_memories(user))} of {user}"
        _print(entries, title, as_json=as_json)


@app.command()
@reported
def search(  # noqa: PLR0913 - one parameter per option
    query: Annotated[list[str], typer.Argument(help="What to look for.")],
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
    limit: Limit = 10,
    kind: Annotated[str | None, typer.Option(help="fact or episode.")] = None,
    after: Annotated[
        str | None, typer.Option(help="Not earlier than, e.g. 2024-05.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(help="Not later than, e.g. 2024-05-07.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Only scores from here on; 0.5 parts answers from noise."
        ),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Search by words (lexical), by meaning (vector) or by both (hybrid); "
            "auto = by both, if there is an embedder."
        ),
    ] = Mode.AUTO,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each score came about.")
    ] = False,
    embeddings: Embeddings = None,
    as_json: AsJson = False,
) -> None:
    """Find memories, the best match first."""
    from langchain_agentmemory.cli.embedding import choose_embedder, needs_embedder
    from langchain_agentmemory.cli.screen import note

    chosen = choose_embedder(embeddings, url)
    if mode in {Mode.VECTOR, Mode.HYBRID} and not chosen.options:
        raise needs_embedder(mode)
    with _store(url, app_name, create=False, **chosen.options) as store:
        vectors = store.owed_vectors(user) if chosen.options else None
        label = chosen.label if mode is Mode.AUTO else f"--mode {mode}"
        if mode is Mode.AUTO and vectors is not None and not vectors.made:
            # Without a vector to compare it with, the question needs none.
            mode = Mode.LEXICAL
        found = store.search_memories(
            user,
            " ".join(query),
            mode=mode.value,
            similarity_threshold=threshold,
            limit=limit or None,
            kind=kind,
            time_after=after,
            time_before=before,
            explain=explain,
        )
        if explain:
            _explain(found, as_json=as_json)
        else:
            _print(found, None, as_json=as_json)
        if not as_json:
            note(f"Searched by {label}.")
            if vectors is not None and vectors.owed:
                note(
                    f"Found by their words only: {memories(vectors.owed)} of {user} "
                    f"without vectors, which `memories reindex` makes."
                )


@app.command()
@reported
def add(  # noqa: PLR0913 - one parameter per option
    text: Annotated[list[str], typer.Argument(help="The memory.")],
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
    topic: Annotated[
        list[str] | None, typer.Option("--topic", "-t", help="A label; repeatable.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="fact or episode.")] = None,
    when: Annotated[
        str | None, typer.Option(help="When it happened, e.g. 2024-05-07.")
    ] = None,
    participant: Annotated[
        list[str] | None, typer.Option("--with", help="Who took part; repeatable.")
    ] = None,
    location: Annotated[str | None, typer.Option("--at", help="Where.")] = None,
    embeddings: Embeddings = None,
) -> None:
    """Add a memory."""
    from langchain_agentmemory.cli.embedding import choose_embedder
    from langchain_agentmemory.cli.screen import say
    from langchain_agentmemory.errors import InvalidInput

    memory = " ".join(text).strip()
    if not memory:
        msg = "Say what to remember: the text is blank."
        raise InvalidInput(msg)
    chosen = choose_embedder(embeddings, url)
    with _store(url, app_name, **chosen.options) as store:
        entry = store.add_memory(
            user,
            memory,
            topics=topic or (),
            kind=kind,
            event_time=when,
            participants=participant or (),
            location=location,
        )
        say(f"Added {entry.id}")


@app.command()
@reported
def delete(
    ids: Annotated[
        list[str], typer.Argument(help="Ids of memories, or their first letters.")
    ],
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
) -> None:
    """Delete memories. They can be restored."""
    from langchain_agentmemory.cli.finding import active_id
    from langchain_agentmemory.cli.screen import say

    with _store(url, app_name, create=False) as store:
        # All are looked up first, so that a typing error deletes nothing.
        for memory_id in [active_id(store, user, given) for given in ids]:
            store.delete_memory(user, memory_id)
            say(f"Deleted {memory_id}")


@app.command()
@reported
def restore(
    ids: Annotated[
        list[str], typer.Argument(help="Ids of deleted memories, or first letters.")
    ],
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
) -> None:
    """Bring deleted memories back."""
    from langchain_agentmemory.cli.finding import deleted_id
    from langchain_agentmemory.cli.screen import say

    with _store(url, app_name, create=False) as store:
        for memory_id in [deleted_id(store, user, given) for given in ids]:
            entry = store.restore_memory(user, memory_id)
            say(f"Restored {entry.id}: {entry.memory}")


@app.command("export")
@reported
def export_memories(
    file: Annotated[Path, typer.Argument(help="The file to write, or - for output.")],
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
) -> None:
    """Write all memories of a user to a file, as JSON Lines."""
    from langchain_agentmemory.cli.screen import progress, say
    from langchain_agentmemory.transfer import export_entries

    with _store(url, app_name, create=False) as store:
        entries = store.read_memories(user)
        if str(file) == "-":
            _print(entries[::-1], None, as_json=True)
            return
        with progress(len(entries), "Exporting") as step:
            export_entries(entries, file, on_progress=step)
        say(f"Exported {memories(len(entries))} of {user} to {file}")


@app.command("import")
@reported
def import_memories(  # noqa: PLR0913 - one parameter per option
    file: Annotated[Path, typer.Argument(help="The file to read.")],
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl, messages, chatgpt or locomo. Default: recognised.",
        ),
    ] = None,
    assistant: Annotated[
        bool, typer.Option(help="Also import what the assistant said in chats.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(help="Import nothing if a part of the file cannot be read."),
    ] = False,
    user_per_conversation: Annotated[
        bool,
        typer.Option(
            help="Every conversation belongs to a user of its own, USER/CONVERSATION."
        ),
    ] = False,
    embeddings: Embeddings = None,
) -> None:
    """Import our JSON Lines, chat messages, a ChatGPT export, or LoCoMo.

    Every statement becomes one dated memory. What is known already is left alone, so
    an import that was interrupted can be run again.
    """
    from langchain_agentmemory.cli.embedding import choose_embedder
    from langchain_agentmemory.cli.screen import say, show_warning
    from langchain_agentmemory.errors import InvalidInput
    from langchain_agentmemory.quoting import quoted
    from langchain_agentmemory.transfer import FORMATS, read_file

    chosen = next((known for known in FORMATS if known == format_), None)
    if format_ is not None and chosen is None:
        msg = f"There is no format {quoted(format_)}: use one of {', '.join(FORMATS)}."
        raise InvalidInput(msg)
    roles = ("user", "assistant") if assistant else ("user",)
    reading = read_file(file, format=chosen, roles=roles)
    for problem in reading.problems:
        show_warning(f"{file.name}, {problem}" + ("" if strict else " (skipped)"))
    if strict and reading.problems:
        parts = numbered(len(reading.problems), "part")
        msg = f"{parts} of {file} cannot be read; nothing was imported."
        raise InvalidInput(msg)
    embedder = choose_embedder(embeddings, url)
    with _store(url, app_name, **embedder.options) as store:
        groups = _by_user(reading.statements, user, split=user_per_conversation)
        done = _import(store, groups, total=len(reading.statements))
    for reason in done.refused:
        show_warning(f"{file.name}: {reason} (skipped)")
    say(
        f"Imported {memories(done.added)} from {file} ({reading.format}); "
        f"{done.known} known already, "
        f"{len(done.refused) + len(reading.problems)} skipped"
    )
    if user_per_conversation:
        say(f"Users: {', '.join(groups)}")


@app.command()
@reported
def reindex(
    *,
    user: User = "me",
    app_name: App = "default",
    url: Url = None,
    everyone: Annotated[
        bool, typer.Option("--everyone", help="All users and all other items, too.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Also what has vectors of another embedder already."
        ),
    ] = False,
) -> None:
    """Make the vectors that are missing, with the local embedder.

    Memories that were written without an embedder have none, and are found by their
    words only.
    """
    from langchain_agentmemory.cli.embedding import choose_embedder
    from langchain_agentmemory.cli.screen import progress, say
    from langchain_agentmemory.errors import InvalidInput

    chosen = choose_embedder(wanted=True, url=url)
    with _store(url, app_name, create=False, **chosen.options) as store:
        whose = None if everyone else user
        counts = store.owed_vectors(whose)
        if counts.others and not replace:
            msg = (
                f"Another embedder, perhaps an application's, made the vectors of "
                f"{numbered(counts.others, 'item')}: --replace embeds anew."
            )
            raise InvalidInput(msg)
        with progress(counts.made + counts.owed, "Embedding") as step:
            seen = 0

            def show(done: int, _: int) -> None:
                nonlocal seen
                for _ in range(done - seen):
                    step()
                seen = done

            done = store.reindex(whose, progress=show)
        say(f"Embedded {done} of {counts.made + counts.owed}: all have vectors now")


def _by_user(
    statements: "list[Statement]", user: str, *, split: bool
) -> "dict[str, list[Statement]]":
    groups: dict[str, list[Statement]] = {}
    for statement in statements:
        own = f"{user}/{statement.conversation}" if split else user
        groups.setdefault(own, []).append(statement)
    return groups


def _import(
    store: "MemoryStore", groups: "dict[str, list[Statement]]", *, total: int
) -> "Imported":
    from langchain_agentmemory.cli.screen import progress
    from langchain_agentmemory.transfer import Imported, import_statements

    done = Imported()
    with progress(total, "Importing") as step:
        for user, statements in groups.items():
            part = import_statements(
                store,
                store.user(user),
                statements,
                on_progress=step,
            )
            done = Imported(
                done.added + part.added,
                done.known + part.known,
                done.refused + part.refused,
            )
    return done


def _store(url: str | None, app_name: str, **options: Any) -> "MemoryStore":
    from langchain_agentmemory.cli.opening import open_store

    return open_store(url, app_name, **options)


def _print(entries: "list[MemoryEntry]", title: str | None, *, as_json: bool) -> None:
    from langchain_agentmemory.cli.screen import say, show_entries
    from langchain_agentmemory.transfer import to_line

    if as_json:
        for entry in entries:
            sys.stdout.write(to_line(entry, scores=True))
    elif entries:
        show_entries(entries, title=title)
    else:
        say("No memories found.")


def _explain(entries: "list[MemoryEntry]", *, as_json: bool) -> None:
    """Print memories with their explanations: text, or a JSON object per line."""
    from langchain_agentmemory.cli.screen import say, show_explained

    if as_json:
        _print(entries, None, as_json=True)
        return
    for entry in entries:
        show_explained(entry)
    if not entries:
        say("No memories found.")
