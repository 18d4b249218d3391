"""What the offline model answers once its tools have done what they can."""

from collections.abc import Callable, Sequence
from typing import Final

from langchain_core.messages.tool import ToolCall

from langchain_agentmemory.offline.language import Language
from langchain_agentmemory.offline.reading import Act, ActType
from langchain_agentmemory.offline.recall import to_forget
from langchain_agentmemory.offline.turn import Turn
from langchain_agentmemory.offline.wording import answer, quote, quotes, say

_SIMILAR = 0.5  # the score from which a memory is taken to have to do with a question
_CLOSEST = 3  # memories quoted when none is an exact answer


def introduction(language: Language) -> str:
    """Return who the model is and what to try."""
    return f"{say('intro', language)}\n{say('try', language)}"


def answer_turn(turn: Turn, acts: Sequence[Act]) -> str:
    """Return the answer to everything that the user did with one message.

    A greeting beside something else needs no answer of its own.
    """
    pairs = list(enumerate(acts))
    told = [(i, act) for i, act in pairs if act.type != "greet"] or pairs
    spoken = [_spoken(turn, index, act) for index, act in told]
    return "\n".join(dict.fromkeys(spoken)) or _unable(turn)


def replaced_text(turn: Turn, calls: Sequence[ToolCall]) -> str:
    """Return what is said along with calls: the memories that they replace.

    It is said before, because the prompt shows the new text once it is written.
    """
    changed = [
        call["args"]["memory_id"] for call in calls if call["name"] == "memory_update"
    ]
    if not changed:
        return ""
    acts = {step[0] for step in turn.results} | {0}
    known = {k.id: k for act in acts for k in turn.candidates(act)}
    old = [known[memory_id] for memory_id in changed if memory_id in known]
    return say("before", turn.language, quotes=quotes(old, turn.language))


def _spoken(turn: Turn, index: int, act: Act) -> str:
    if (failure := turn.failure(index)) is not None:
        return say("failed", turn.language, text=act.text, error=failure)
    return _ANSWERS[act.type](turn, index, act)


def _written(turn: Turn, index: int, act: Act) -> str:
    step = 0 if act.type == "remember" else 1
    call = turn.calls.get((index, step))
    if call is None or (index, step) not in turn.results:
        return _not_written(turn, index, act)
    text = call["args"].get("memory", act.text)
    if call["name"] == "memory_update":
        return say("updated", turn.language, text=text)
    # Only who names what is wrong expects that something is corrected.
    added = "added_new" if act.type == "replace" else "added"
    return say(added, turn.language, text=text)


def _not_written(turn: Turn, index: int, act: Act) -> str:
    old = turn.target(index, act) if act.type != "remember" else None
    if old is not None:
        return say("no_update", turn.language, old=old.text)
    if act.type == "replace":
        return say("nothing_to_replace", turn.language, old=act.old)
    return say("no_add", turn.language, text=act.text)


def _forgotten(turn: Turn, index: int, act: Act) -> str:
    candidates = turn.candidates(index)
    old, others = to_forget(act.text, act.subject, candidates)
    call = turn.calls.get((index, 1))
    if call is None or (index, 1) not in turn.results:
        if old is None:
            return say("nothing_to_forget", turn.language)
        return say(
            "no_delete", turn.language, old=old.text, id=old.id, short=old.id[:8]
        )
    gone = call["args"]["memory_id"]
    texts = (known.text for known in candidates if known.id == gone)
    done = say("forgot", turn.language, old=next(texts, act.text))
    left = [known for known in others if known.id != gone]
    if not left:
        return done
    kept = say("left", turn.language, others=quotes(left, turn.language))
    return f"{done}\n{kept}"


def _told(turn: Turn, index: int, act: Act) -> str:
    found = turn.recalled(index, act)
    if found.answers:
        return answer(found.answers, turn.language)
    if found.mentions:
        close = quotes(found.mentions[:_CLOSEST], turn.language)
        return say("close", turn.language, quotes=close)
    similar = [
        known
        for known in turn.candidates(index)
        if known.score is not None and known.score >= _SIMILAR and not known.outdated
    ]
    if similar:
        close = quotes(similar[:_CLOSEST], turn.language)
        return say("close", turn.language, quotes=close)
    return say("nothing", turn.language)


def _overview(turn: Turn, index: int, _: Act) -> str:
    known = [known for known in turn.candidates(index) if not known.outdated]
    if not known:
        return f"{say('nothing_yet', turn.language)} {say('try', turn.language)}"
    return answer(known, turn.language)


def _cleared(turn: Turn, index: int, _: Act) -> str:
    done = (index, 0) in turn.results
    return say("cleared" if done else "no_clear", turn.language)


def _greeting(turn: Turn, _: int, __: Act) -> str:
    named = (k for k in turn.known if k.subject and k.subject.name == "name")
    hello = say("hello", turn.language)
    if (name := next(named, None)) is not None:
        told = quote(name, turn.language)
        hello = f"{hello}\n{say('told', turn.language, quotes=told)}"
    return f"{hello}\n{introduction(turn.language)}" if turn.first else hello


def _polite(turn: Turn, _: int, act: Act) -> str:
    return say(act.type, turn.language)  # "thanks", "bye", "ok"


def _unable(turn: Turn, _: int = 0, act: Act | None = None) -> str:
    if act is not None and turn.kept(act.text):
        return say("kept", turn.language, text=act.text)
    return f"{say('other', turn.language)}\n{say('try', turn.language)}"


def _introduced(turn: Turn, _: int, __: Act) -> str:
    return introduction(turn.language)


_ANSWERS: Final[dict[ActType, Callable[[Turn, int, Act], str]]] = {
    "remember": _written,
    "correct": _written,
    "replace": _written,
    "forget": _forgotten,
    "forget_all": _cleared,
    "ask": _told,
    "ask_all": _overview,
    "who": _introduced,
    "greet": _greeting,
    "thanks": _polite,
    "bye": _polite,
    "ok": _polite,
    "other": _unable,
}
