"""Assistant episodes: what the assistant answered, kept as something that happened.

The ordinary extraction learns from the user's words only. This is the second stage,
off by default: it looks for answers that will be asked for again (a list, a figure that
the user did not give), shows them to a model together with what was asked, and keeps
what the model made of them as episodes that say where they come from. They are history,
not facts: that the assistant recommended something does not mean that it was done.

All functions are pure; the model is called in between:

```
pairs → candidates → request → (model) → accept
```
"""

import logging
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from langchain_core.messages import BaseMessage, ChatMessage, HumanMessage

from langchain_agentmemory.extraction.assistant_prompt import (
    EPISODE_TOOL,
    episode_messages,
    episode_tool,
    pair_label,
)
from langchain_agentmemory.extraction.grounding import grounded, numeric_tokens
from langchain_agentmemory.extraction.messages import role_of, text_of
from langchain_agentmemory.extraction.operations import Skipped, as_arguments
from langchain_agentmemory.types import MemoryKind, Operation, distinct

EPISODE_PREFIX: Final = "Assistant-provided conversation episode: "
"""Begins the text of every assistant episode."""

PARTICIPANTS: Final = ("User", "Assistant")

MAX_EPISODE_BYTES: Final = 4_096
"""Longest episode in UTF-8 without its prefix (the reference's limit)."""

EXCERPT_BYTES: Final = 8_192
"""What the model sees of one message at most, UTF-8 (the reference's limit)."""

MAX_PAIRS: Final = 32
MAX_REQUEST_BYTES: Final = 65_536
"""How many pairs, and bytes of excerpts, one request holds (the reference's limits)."""

_DEADLINE_RESERVE: Final = 5.0  # seconds, kept for what follows the second stage
_MARKER: Final = "\n...[truncated]...\n"
_STRONG_ITEMS: Final = 2
_ITEM: Final = re.compile(r"^[^\S\n]*(?:[-*+•]|\d{1,2}[.)])[^\S\n]+\S", re.MULTILINE)

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pair:
    """Something that the user said and the assistant's last answer to it.

    Attributes:
        user_index: The place of the user's message among the messages of the user that
            have text, counted from 1.
        user: What the user said.
        assistant: What the assistant answered.
        user_id: The id of the user's message, if it has one.
        assistant_id: The id of the assistant's message, if it has one.
    """

    user_index: int
    user: str
    assistant: str
    user_id: str | None = None
    assistant_id: str | None = None


class _Refused(Exception):
    """A call that cannot be accepted, with the reason."""


class Candidates(list[Pair]):
    """The pairs that one request holds.

    Attributes:
        left_out: How many more would have been worth it.
    """

    def __init__(self, chosen: Iterable[Pair] = (), *, left_out: int = 0) -> None:
        """Hold the chosen pairs."""
        super().__init__(chosen)
        self.left_out = left_out


def pairs(messages: Sequence[BaseMessage]) -> list[Pair]:
    """Return what the user said and how it was answered, in order.

    The answer is the last message of the assistant before the user speaks again.
    Messages that call tools, what tools returned, and prompts are no part of it. A
    message of the user without text (an image) ends the pair before it; what the
    assistant says to it belongs to no pair.
    """
    found: list[Pair] = []
    asked: BaseMessage | None = None
    answered: BaseMessage | None = None
    count = 0
    for message in messages:
        role = role_of(message) if text_of(message) else None
        if _from_user(message):
            found += _closed(count, asked, answered)
            asked, answered = (message if role == "user" else None), None
            count += role == "user"
        elif role == "assistant":
            answered = message
    return [*found, *_closed(count, asked, answered)]


def candidates(
    pairs: Iterable[Pair], *, cleared: int = 0, deleted: frozenset[int] = frozenset()
) -> Candidates:
    """Return the pairs whose answers are worth a request, in order.

    Worth it are answers with at least two list items, or with a number that the user
    did not give. Whether the user wants something forgotten is never read from words
    here: it is what the first stage found.

    Args:
        pairs: What `pairs` returned.
        cleared: The index of the last user message that asked to forget everything:
            what was said up to it is left out. 0 = none.
        deleted: Indexes of user messages whose answers a deletion covers.

    Returns:
        The first pairs that fit into one request, and how many did not. Those are
        lost: assistant episodes are a best effort.
    """
    strong = [
        pair
        for pair in pairs
        if pair.user_index > cleared
        and pair.user_index not in deleted
        and _is_strong(pair)
    ]
    chosen, room = 0, MAX_REQUEST_BYTES
    for pair in strong[:MAX_PAIRS]:
        room -= sum(map(_size, _excerpts(pair)))
        if room < 0:
            break
        chosen += 1
    left_out = len(strong) - chosen
    if left_out:
        _logger.warning(
            "%d of %d answers of the assistant do not fit into one request and are "
            "not remembered. Extract more often to keep them.",
            left_out,
            len(strong),
        )
    return Candidates(strong[:chosen], left_out=left_out)


def request(
    candidates: Sequence[Pair], *, prompt: str | None = None
) -> tuple[list[BaseMessage], dict[str, Any]]:
    """Return the messages for the model, and the one tool that it may call.

    Args:
        candidates: What `candidates` returned.
        prompt: The application's own instructions. They win over ours.

    Returns:
        The messages, and the tool in OpenAI's format, as `bind_tools` takes it.
    """
    excerpts = [_excerpts(pair) for pair in candidates]
    return episode_messages(excerpts, prompt), episode_tool(len(candidates))


def accept(
    tool_calls: Iterable[Mapping[str, Any]],
    candidates: Sequence[Pair],
    *,
    said_at: datetime | None = None,
) -> tuple[list[Operation], list[Skipped]]:
    """Turn the model's tool calls into operations, as far as they hold.

    The first valid call of each pair counts. A call is valid if it names a pair, its
    text is neither empty nor longer than `MAX_EPISODE_BYTES`, and every number in it
    stands in what the model saw of that pair.

    Args:
        tool_calls: Calls with `name` and `args`, valid or not: arguments may be JSON
            text, or anything.
        candidates: What the request was made of.
        said_at: When the turn was said: the time of the episodes. A naive one is taken
            as UTC.

    Returns:
        One `add` per remembered pair, in the order of the conversation, and the calls
        that were skipped, in the order of the model.
    """
    known = {pair_label(i): pair for i, pair in enumerate(candidates, start=1)}
    found: dict[str, Operation] = {}
    skipped: list[Skipped] = []
    for call in tool_calls:
        try:
            label, arguments = _labelled(call, known, found)
            memory = _episode(arguments.get("memory"), known[label])
        except _Refused as error:
            tool = str(call.get("name") or "")
            skipped.append(Skipped(tool, call.get("args"), str(error)))
            continue
        found[label] = Operation(
            "add",
            memory=EPISODE_PREFIX + memory,
            topics=_topics(arguments.get("topics")),
            kind=MemoryKind.EPISODE,
            event_time=_in_utc(said_at),
            participants=PARTICIPANTS,
        )
    return [found[label] for label in known if label in found], skipped


def episode_timeout(remaining: float | None) -> float | None:
    """Return how long the second stage may take, in seconds.

    So much of the job's time is kept that what the first stage found can still be
    written: five seconds, or half of a shorter rest.

    Args:
        remaining: What is left of the job's time. `None` = no deadline.
    """
    if remaining is None:
        return None
    return remaining - min(_DEADLINE_RESERVE, remaining / 2)


def excerpt(text: str, limit: int = EXCERPT_BYTES) -> str:
    """Return the text in at most so many bytes of UTF-8, its middle left out.

    The beginning and the end are kept, of equal length, and never cut within a
    character.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    room = limit - len(_MARKER)
    head, tail = raw[: room // 2], raw[len(raw) - (room - room // 2) :]
    # Only a character that a cut fell into is no valid UTF-8.
    return _MARKER.join(part.decode("utf-8", "ignore") for part in (head, tail))


def _from_user(message: BaseMessage) -> bool:
    """Tell whether a message takes the user's turn, said by the user or not."""
    if isinstance(message, ChatMessage):
        return role_of(message) == "user"
    return isinstance(message, HumanMessage)


def _closed(
    index: int, asked: BaseMessage | None, answered: BaseMessage | None
) -> list[Pair]:
    if asked is None or answered is None:
        return []
    return [Pair(index, text_of(asked), text_of(answered), asked.id, answered.id)]


def _is_strong(pair: Pair) -> bool:
    if len(_ITEM.findall(pair.assistant)) >= _STRONG_ITEMS:
        return True
    return bool(numeric_tokens(pair.assistant) - numeric_tokens(pair.user))


def _excerpts(pair: Pair) -> tuple[str, str]:
    return excerpt(pair.user), excerpt(pair.assistant)


def _labelled(
    call: Mapping[str, Any], labels: Container[str], found: Container[str]
) -> tuple[str, Mapping[str, Any]]:
    """Return the pair that a call is about, and its arguments."""
    if call.get("name") != EPISODE_TOOL:
        msg = f"Only {EPISODE_TOOL} was offered."
        raise _Refused(msg)
    arguments = as_arguments(call.get("args"))
    if arguments is None:
        msg = "The arguments are not a JSON object."
        raise _Refused(msg)
    label = arguments.get("pair_id")
    if not isinstance(label, str) or label not in labels:
        msg = "pair_id names no pair of the request."
        raise _Refused(msg)
    if label in found:
        msg = "An earlier call remembers this pair."
        raise _Refused(msg)
    return label, arguments


def _episode(given: Any, pair: Pair) -> str:
    """Return the text of an episode if all of it can be kept."""
    memory = given.strip() if isinstance(given, str) else ""
    if not memory:
        msg = "memory must be given, as text."
        raise _Refused(msg)
    if _size(memory) > MAX_EPISODE_BYTES:
        msg = f"memory is longer than {MAX_EPISODE_BYTES} bytes."
        raise _Refused(msg)
    if not grounded(memory, "\n".join(_excerpts(pair))):
        msg = "memory states a number that is not in the pair as it is written."
        raise _Refused(msg)
    return memory


def _topics(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list):
        return ()
    return distinct(topic for topic in given if isinstance(topic, str))


def _in_utc(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    if moment.utcoffset() is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
