"""The LoCoMo benchmark: long conversations of two people over many dated sessions.

Every turn is one memory, an episode at the time of its session. The text begins with
the name of the speaker, who is a participant too: questions name people, and only the
text is searched. A photo that was shared adds its caption.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.transfer.statements import Problem, Statement
from langchain_agentmemory.types import MemoryKind, Source

_SESSION = re.compile(r"session_(?P<number>\d+)")
_DATE_FORMAT = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023


def is_locomo(value: object) -> bool:
    """Tell whether a JSON value is a LoCoMo sample."""
    return isinstance(value, Mapping) and isinstance(value.get("conversation"), Mapping)


def read_locomo(samples: Iterable[Any]) -> tuple[list[Statement], list[Problem]]:
    """Read the conversations of a LoCoMo file, in the order of their sessions.

    The thread of a turn is `<sample>/<session>`, its position counts the turns of the
    session, and its message id is the `dia_id` that questions name as evidence.

    Returns:
        The statements, and the parts that could not be read.
    """
    statements: list[Statement] = []
    problems: list[Problem] = []
    for number, sample in enumerate(samples, start=1):
        if not is_locomo(sample):
            problems.append(Problem(f"sample {number}", "it has no conversation"))
            continue
        name = str(sample.get("sample_id") or f"sample-{number}")
        for session, turns, given in _sessions(sample["conversation"]):
            where = f"{name}, {session}"
            try:
                said_at = _session_time(given)
            except InvalidInput as error:
                problems.append(Problem(where, str(error)))
                continue
            for position, turn in enumerate(turns):
                try:
                    statements.append(_turn(turn, name, session, position, said_at))
                except InvalidInput as error:
                    problems.append(Problem(f"{where}, turn {position}", str(error)))
    return statements, problems


def _sessions(
    conversation: Mapping[str, Any],
) -> Iterator[tuple[str, list[Any], object]]:
    names = [name for name in conversation if _SESSION.fullmatch(name)]
    for name in sorted(names, key=lambda name: int(name.rpartition("_")[2])):
        turns = conversation[name]
        if isinstance(turns, list):
            yield name, turns, conversation.get(f"{name}_date_time")


def _session_time(given: object) -> datetime:
    """Read `1:56 pm on 8 May, 2023`; naive, because LoCoMo names no timezone."""
    try:
        # The store puts it in its own timezone.
        return datetime.strptime(str(given), _DATE_FORMAT)  # noqa: DTZ007
    except ValueError as error:
        msg = (
            f"cannot read its date {quoted(given)}: it should be like 1:56 pm on 8 "
            f"May, 2023"
        )
        raise InvalidInput(msg) from error


def _turn(
    turn: Any, sample: str, session: str, position: int, said_at: datetime
) -> Statement:
    if not isinstance(turn, Mapping) or not isinstance(turn.get("text"), str):
        msg = "a turn needs a speaker and a text"
        raise InvalidInput(msg)
    speaker = str(turn.get("speaker") or "").strip()
    caption = str(turn.get("blip_caption") or "").strip()
    text = turn["text"].strip()
    if caption:
        text = f"{text} [shared: {caption}]".strip()
    if not text or not speaker:
        msg = "a turn needs a speaker and a text"
        raise InvalidInput(msg)
    dialog_id = turn.get("dia_id")
    return Statement(
        f"{speaker}: {text}",
        kind=MemoryKind.EPISODE.value,
        event_time=said_at,
        participants=(speaker,),
        source=Source(
            thread_id=f"{sample}/{session}",
            message_ids=(dialog_id,) if isinstance(dialog_id, str) else (),
            position=position,
            role=speaker,
            said_at=said_at,
        ),
        conversation=sample,
    )
