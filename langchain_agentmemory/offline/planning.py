"""What the offline model does next: call tools, or answer.

A pure function of the messages. A turn takes at most three model calls: one that looks
things up or writes what needs no looking up, one that writes what was looked up, one
that answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.messages.tool import ToolCall

from langchain_agentmemory.offline.answering import (
    answer_turn,
    introduction,
    replaced_text,
)
from langchain_agentmemory.offline.reading import (
    Act,
    ActType,
    read_message,
    speaks_of_self,
)
from langchain_agentmemory.offline.recall import Known, asks_only_when, to_forget
from langchain_agentmemory.offline.turn import Kept, Parameters, Turn, current_turn

_MAX_REPLIES: Final = 2  # with tool calls, before the one that must be an answer
_MAX_ACTS: Final = 20  # a pasted page shall not become hundreds of tool calls


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says or does.

    Attributes:
        text: Words for the user. With tool calls: what is about to be replaced.
        calls: Tool calls, empty when it answers.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


def next_reply(
    messages: Sequence[BaseMessage], tools: Parameters, today: date, kept: Kept
) -> Reply:
    """Return the next thing to say or do in a conversation.

    Args:
        messages: The conversation, system message and results of tools included.
        tools: The tools that may be called.
        today: The day that relative dates are counted from.
        kept: Tells whether something beside the model keeps a sentence.
    """
    turn = current_turn(messages, tools, kept)
    if turn is None:
        return Reply(introduction("en"))
    acts = read_message(turn.spoken, today)[:_MAX_ACTS]
    if turn.replies < _MAX_REPLIES:
        planned = (_next_call(turn, index, act) for index, act in enumerate(acts))
        if calls := tuple(call for call in planned if call is not None):
            return Reply(replaced_text(turn, calls), calls)
    return Reply(answer_turn(turn, acts))


def _next_call(turn: Turn, index: int, act: Act) -> ToolCall | None:
    """Return the next call of one act, `None` when it has done all it can."""
    plan = _PLANS.get(act.type)
    if plan is None or turn.failure(index) is not None or (index, 1) in turn.results:
        return None
    return plan(turn, index, act)


def _remember(turn: Turn, index: int, act: Act) -> ToolCall | None:
    if (index, 0) in turn.results:
        return None
    old = turn.contradicted(act)
    if old is not None and "memory_update" in turn.tools:
        return _update(turn, index, 0, act, old)
    return _add(turn, index, 0, act)


def _correct(turn: Turn, index: int, act: Act) -> ToolCall | None:
    # Replacing words in a text needs the whole text, which a prompt may have cut.
    shortcut = act.type == "correct" and turn.contradicted(act) is not None
    if (index, 0) not in turn.results and not shortcut:
        search = _search(turn, index, act)
        if search is not None:
            return search
    old = turn.target(index, act)
    if old is None:
        # "My car is red, not blue" can be kept also if no blue car is known.
        own = act.type == "correct" or speaks_of_self(act.text)
        return _add(turn, index, 1, act) if own else None
    if "memory_update" not in turn.tools:
        return None
    return _update(turn, index, 1, act, old)


def _forget(turn: Turn, index: int, act: Act) -> ToolCall | None:
    if (index, 0) not in turn.results:
        search = _search(turn, index, act)
        if search is not None:
            return search
    old, _ = to_forget(act.text, act.subject, turn.candidates(index))
    if old is None or "memory_delete" not in turn.tools:
        return None
    return turn.call(index, 1, "memory_delete", memory_id=old.id)


def _forget_all(turn: Turn, index: int, act: Act) -> ToolCall | None:
    if (index, 0) in turn.results or "memory_clear" not in turn.tools:
        return None
    return turn.call(index, 0, "memory_clear", reason=act.text)


def _ask(turn: Turn, index: int, act: Act) -> ToolCall | None:
    if (index, 0) in turn.results or turn.recalled(index, act).answers:
        return None
    return _search(turn, index, act)


def _ask_all(turn: Turn, index: int, _: Act) -> ToolCall | None:
    if (index, 0) in turn.results or "memory_load" not in turn.tools:
        return None
    return turn.call(index, 0, "memory_load", limit=10)


_PLANS: Final[dict[ActType, Callable[[Turn, int, Act], ToolCall | None]]] = {
    "remember": _remember,
    "correct": _correct,
    "replace": _correct,
    "forget": _forget,
    "forget_all": _forget_all,
    "ask": _ask,
    "ask_all": _ask_all,
}


def _search(turn: Turn, index: int, act: Act) -> ToolCall | None:
    if "memory_search" not in turn.tools or not act.query:
        return None
    day = act.event_time if act.type == "ask" else None
    query = act.query
    if act.type == "ask" and asks_only_when(act.text):
        query = day or act.text  # the store understands times, not their words
    return turn.call(
        index, 0, "memory_search", query=query, time_after=day, time_before=day
    )


def _add(turn: Turn, index: int, step: int, act: Act) -> ToolCall | None:
    if "memory_add" not in turn.tools:
        return None
    return turn.call(index, step, "memory_add", memory=act.text, **_details(act))


def _update(turn: Turn, index: int, step: int, act: Act, old: Known) -> ToolCall:
    if act.type == "replace":
        text, details = old.text.replace(act.old, act.new), {}
    else:
        text, details = act.text, _details(act)
    return turn.call(
        index, step, "memory_update", memory_id=old.id, memory=text, **details
    )


def _details(act: Act) -> dict[str, Any]:
    kind = act.kind if act.kind != "fact" else None
    return {
        "topics": list(act.subject.topics) if act.subject else [],
        "memory_kind": kind,
        "kind": kind,
        "event_time": act.event_time,
    }
