"""From a file to statements: which format it has, and what could not be read in it."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.transfer.chatgpt import is_chatgpt, read_chatgpt
from langchain_agentmemory.transfer.json_lines import record_to_statement
from langchain_agentmemory.transfer.locomo import is_locomo, read_locomo
from langchain_agentmemory.transfer.messages import is_message, read_messages
from langchain_agentmemory.transfer.statements import USER_ROLE, Problem, Statement

Format = Literal["jsonl", "messages", "chatgpt", "locomo"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)
"""What can be read: our JSON Lines, chat messages, a ChatGPT export, LoCoMo."""

_Located = list[tuple[str, Any]]  # where it stands, and what it is

_Reader = Callable[
    [_Located, str, Collection[str]], tuple[list[Statement], list[Problem]]
]

_WHAT_CAN_BE_READ: Final = (
    "Files that can be read: JSON Lines as `memories export` writes them, a JSON list "
    "of {role, content} messages, the conversations.json of a ChatGPT export, and "
    "LoCoMo."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a file.

    Attributes:
        format: How the file was read.
        statements: What it says, in order.
        problems: What could not be read.
    """

    format: Format
    statements: list[Statement]
    problems: list[Problem]


def read_file(
    path: str | Path,
    *,
    format: Format | None = None,  # noqa: A002 - the word for it
    roles: Collection[str] = (USER_ROLE,),
) -> Reading:
    """Read a file as dated statements.

    Args:
        path: The file.
        format: Its format, `None` = recognise it.
        roles: Whose statements of a chat to keep: `"user"`, `"assistant"`. Our own
            JSON Lines and LoCoMo, where both speakers are people, are read whole.

    Raises:
        InvalidInput: If the file is not there, or in no format that can be read.
    """
    file = Path(path)
    try:
        raw = file.read_bytes()
    except OSError as error:
        msg = f"Cannot read {file}: {error.strerror}."
        raise InvalidInput(msg) from error
    return read_text(raw, name=file.stem, format=format, roles=roles)


def read_text(
    raw: bytes,
    *,
    name: str,
    format: Format | None = None,  # noqa: A002 - the word for it
    roles: Collection[str] = (USER_ROLE,),
) -> Reading:
    """Read the content of a file. Arguments and errors as in `read_file`.

    Args:
        raw: The content, in UTF-8.
        name: What to call a thread that has no name of its own.
        format: Its format, `None` = recognise it.
        roles: Whose statements of a chat to keep.
    """
    # Bytes that are not UTF-8 become lone surrogates, so that only their line fails.
    text = raw.decode("utf-8-sig", "surrogateescape")
    located, problems = _values(text)
    chosen = format or _recognised([value for _, value in located])
    if chosen is None:
        first = f" First problem: {problems[0]}." if problems else ""
        msg = f"{name}: this is none of the formats.{first} {_WHAT_CAN_BE_READ}"
        raise InvalidInput(msg)
    statements, broken = _READERS[chosen](located, name, roles)
    return Reading(chosen, statements, problems + broken)


def _values(text: str) -> tuple[_Located, list[Problem]]:
    """Return the JSON values of a file: of its list, or of its lines."""
    try:
        whole = json.loads(_utf8(text))
    except (ValueError, RecursionError):
        return _lines(text)
    if isinstance(whole, list):
        return [(f"item {i}", item) for i, item in enumerate(whole, start=1)], []
    return [("line 1", whole)], []


def _lines(text: str) -> tuple[_Located, list[Problem]]:
    values: _Located = []
    problems: list[Problem] = []
    # Only "\n" ends a line: texts may contain U+2028 and the like.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            values.append((where, json.loads(_utf8(line))))
        except RecursionError:
            problems.append(Problem(where, "it is nested too deeply"))
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            problems.append(Problem(where, f"it is not JSON ({reason})"))
    return values, problems


def _utf8(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        msg = "it is not UTF-8"
        raise ValueError(msg) from None
    return text


def _recognised(values: list[Any]) -> Format | None:
    for value in values:
        if is_chatgpt(value):
            return "chatgpt"
        if is_locomo(value):
            return "locomo"
        if is_message(value) or _is_thread(value):
            return "messages"
        if isinstance(value, dict) and "memory" in value:
            return "jsonl"
    return None


def _is_thread(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _read_records(
    located: _Located, _: str, __: Collection[str]
) -> tuple[list[Statement], list[Problem]]:
    statements: list[Statement] = []
    problems: list[Problem] = []
    for where, value in located:
        try:
            if not isinstance(value, dict):
                msg = f"a memory must be an object, not {type(value).__name__}"
                raise InvalidInput(msg)  # noqa: TRY301 - one place reports both
            statements.append(record_to_statement(value))
        except InvalidInput as error:
            problems.append(Problem(where, str(error)))
    return statements, problems


def _read_chat(
    located: _Located, name: str, roles: Collection[str]
) -> tuple[list[Statement], list[Problem]]:
    """Read one thread of messages, or objects that hold a thread each."""
    threads = [(where, value) for where, value in located if _is_thread(value)]
    single = [(where, value) for where, value in located if not _is_thread(value)]
    statements, problems = read_messages(single, thread_id=name, roles=roles)
    for number, (where, thread) in enumerate(threads, start=1):
        named = thread.get("thread_id") or thread.get("id")
        thread_id = (
            named if isinstance(named, str) else _numbered(name, number, threads)
        )
        messages = enumerate(thread["messages"], start=1)
        found, broken = read_messages(
            ((f"{where}, message {i}", message) for i, message in messages),
            thread_id=thread_id,
            roles=roles,
        )
        statements += found
        problems += broken
    return statements, problems


def _numbered(name: str, number: int, threads: _Located) -> str:
    return name if len(threads) == 1 else f"{name}/{number}"


def _read_export(
    located: _Located, _: str, roles: Collection[str]
) -> tuple[list[Statement], list[Problem]]:
    return read_chatgpt([value for _, value in located], roles=roles)


def _read_samples(
    located: _Located, _: str, __: Collection[str]
) -> tuple[list[Statement], list[Problem]]:
    return read_locomo([value for _, value in located])


_READERS: Final[dict[Format, _Reader]] = {
    "jsonl": _read_records,
    "messages": _read_chat,
    "chatgpt": _read_export,
    "locomo": _read_samples,
}
