"""One turn of the conversation, as far as the offline model's decisions depend on it.

Which act a tool call belongs to is part of the call's id, so nothing has to be
remembered between the model calls of a turn: the messages say it all.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call

from langchain_agentmemory.offline.language import Language, language_of
from langchain_agentmemory.offline.reading import Act
from langchain_agentmemory.offline.recall import (
    Known,
    Recall,
    message_text,
    preloaded,
    recall,
    spoken_text,
    to_replace,
    tool_memories,
)

_PREFIX: Final = "offline"

Parameters = Mapping[str, frozenset[str]]
"""The bound tools: names of their parameters by name of the tool."""

Kept = Callable[[str], bool]
"""Tells whether something beside the model keeps a sentence."""

Step = tuple[int, int]
"""The number of an act in the message, and 0 for its first call or 1 for its second."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, what is known, what was done about it so far.

    Attributes:
        spoken: What the user wrote.
        language: The language to answer in.
        tools: The tools that may be called.
        known: The preloaded memories.
        calls: The calls made in this turn.
        results: The results that came back.
        replies: How often the model has answered in this turn already.
        first: It is the first turn of the thread.
        digest: Sets the ids of this turn's calls apart from those of others.
        kept: Tells whether something beside the model keeps a sentence.
    """

    spoken: str
    language: Language
    tools: Parameters
    known: tuple[Known, ...]
    calls: Mapping[Step, ToolCall]
    results: Mapping[Step, ToolMessage]
    replies: int
    first: bool
    digest: str
    kept: Kept

    def call(self, act: int, step: int, name: str, **args: Any) -> ToolCall:
        """Return a call with those arguments that are set and that the tool knows."""
        given = {k: v for k, v in args.items() if v and k in self.tools[name]}
        return tool_call(
            name=name, args=given, id=f"{_PREFIX}_{self.digest}_{act}_{step}"
        )

    def candidates(self, act: int) -> list[Known]:
        """Return what a search found, then what was preloaded, each memory once."""
        result = self.results.get((act, 0))
        found = tool_memories(result) if result is not None else []
        seen = {known.id for known in found}
        return [*found, *(known for known in self.known if known.id not in seen)]

    def recalled(self, index: int, act: Act) -> Recall:
        """Return what is known about a question."""
        found = self.candidates(index)
        return recall(act.text, act.subject, found, when=act.event_time)

    def contradicted(self, act: Act) -> Known | None:
        """Return the preloaded memory that says something else about the same thing."""
        if act.subject is None or not act.subject.single:
            return None
        old = to_replace(act.text, act.subject, self.known)
        return old if old is not None and old.text != act.text else None

    def target(self, index: int, act: Act) -> Known | None:
        """Return the memory that a correction is meant for."""
        found = self.candidates(index)
        if act.type == "replace":
            fits = (k for k in found if act.old in k.text and not k.outdated)
            # A text that was cut for the prompt would be stored without its end.
            return next((k for k in fits if not k.text.endswith("…")), None)
        return to_replace(act.text, act.subject, found)

    def failure(self, act: int) -> str | None:
        """Return what went wrong with an act, `None` if nothing did."""
        for step in (1, 0):
            result = self.results.get((act, step))
            if result is not None and result.status == "error":
                return message_text(result)
        return None


def current_turn(
    messages: Sequence[BaseMessage], tools: Parameters, kept: Kept
) -> Turn | None:
    """Read the turn that a conversation is in, `None` if no user has spoken."""
    humans = [i for i, m in enumerate(messages) if isinstance(m, HumanMessage)]
    if not humans:
        return None
    *earlier, position = humans
    spoken = spoken_text(messages[position])
    before: Language = "en"
    for index in earlier:
        before = language_of(spoken_text(messages[index]), before)
    seed = f"{messages[position].id or len(humans)}|{spoken}"
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    since = messages[position + 1 :]
    said = [message for message in since if isinstance(message, AIMessage)]
    calls = {
        step: call
        for message in said
        for call in message.tool_calls
        if (step := _step(call["id"], digest)) is not None
    }
    results = {
        step: message
        for message in since
        if isinstance(message, ToolMessage)
        and (step := _step(message.tool_call_id, digest)) is not None
    }
    return Turn(
        spoken=spoken,
        language=language_of(spoken, before),
        tools=tools,
        known=tuple(preloaded(messages)),
        calls=calls,
        results=results,
        replies=len(said),
        first=not earlier,
        digest=digest,
        kept=kept,
    )


def _step(call_id: str | None, digest: str) -> Step | None:
    match (call_id or "").split("_"):
        case [prefix, marked, act, step] if (prefix, marked) == (_PREFIX, digest):
            return int(act), int(step)
    return None
