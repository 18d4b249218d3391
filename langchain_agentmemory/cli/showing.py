"""Showing one turn of a conversation while it happens."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from langchain_agentmemory.cli.agent import Called, Event, Preloaded, Returned, Spoken
from langchain_agentmemory.cli.screen import (
    say,
    show_call,
    show_preloaded,
    show_result,
)
from langchain_agentmemory.offline.recall import Known


@dataclass(frozen=True, slots=True)
class Shown:
    """What a turn came to.

    Attributes:
        answer: All that the agent said.
        preloaded: The memories that were put before the model.
    """

    answer: str
    preloaded: list[Known]


def show_turn(events: Iterable[Event], *, stream: bool) -> Shown:
    """Print what happens in a turn.

    Args:
        events: What happens.
        stream: Print words as they come, as opposed to whole answers.
    """
    said: list[str] = []
    line: list[str] = []  # the answer that is being written
    known: list[Known] = []
    try:
        for event in events:
            if isinstance(event, Spoken):
                if stream:
                    _write(event.text, begins=not line)
                line.append(event.text)
                continue
            said += _ended(line, stream=stream)
            match event:
                case Preloaded(memories):
                    known = memories
                    show_preloaded(memories)
                case Called(name, arguments):
                    show_call(name, arguments)
                case Returned(result, failed):
                    show_result(result, failed=failed)
    finally:
        said += _ended(line, stream=stream)
    return Shown("\n".join(said), known)


def _write(text: str, *, begins: bool) -> None:
    if begins:
        say("agent> ", "bold green", end="")
    say(text, end="")
    sys.stdout.flush()


def _ended(line: list[str], *, stream: bool) -> list[str]:
    """End the line that is being written, if there is one, and return its text."""
    if not line:
        return []
    text = "".join(line)
    line.clear()
    if not stream:
        _write(text, begins=True)
    say()
    return [text]
