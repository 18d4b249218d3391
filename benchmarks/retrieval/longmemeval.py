"""Reading the evidence of LongMemEval: one pool of turns, and updates of facts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.retrieval.sets import (
    Asks,
    EvaluationSet,
    Memory,
    Question,
    Update,
)
from langchain_agentmemory.types import Source

USER: Final = "everyone"
"""The owner of the pool."""

_UPDATES = "knowledge-update"
_WORD = re.compile(r"[a-z0-9]+")
_NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_EMPTY: Final = frozenset("a about an at i in is my of on the to was were you".split())


def read_longmemeval(path: Path) -> EvaluationSet:
    """Read the evidence turns of all questions as the memories of one user.

    A question's evidence are its own turns. Questions without evidence are left out.
    A question of type knowledge-update with evidence in two sessions also has an
    `Update`: its earliest and its latest session.

    Args:
        path: A JSON list of questions with their `evidence_sessions`.
    """
    memories: list[Memory] = []
    questions: list[Question] = []
    for given in json.loads(path.read_text(encoding="utf-8")):
        sessions = [
            list(_turns(given["question_id"], number, session))
            for number, session in enumerate(given["evidence_sessions"])
        ]
        turns = [turn for session in sessions for turn in session]
        memories += turns
        if turns:
            questions.append(_question(given, sessions))
    return EvaluationSet(
        "longmemeval",
        f"LongMemEval, one pool of the evidence turns of {len(questions)} questions",
        {USER: memories},
        questions,
    )


def rewritten(
    given: EvaluationSet, rewrites: Iterable[Mapping[str, str]]
) -> EvaluationSet:
    """Return the same pool with update questions that ask for the past.

    Args:
        given: What `read_longmemeval` returned.
        rewrites: `question_id` and `question`, the new wording. Those of questions
            that are not in the set, or have no two versions, are left out.
    """
    known = {question.id: question for question in given.questions if question.update}
    questions = []
    for number, rewrite in enumerate(rewrites):
        question = known.get(rewrite["question_id"])
        if question is not None and question.update is not None:
            update = replace(question.update, asks="past")
            questions.append(
                replace(
                    question,
                    id=f"{question.id}/{number}",
                    text=rewrite["question"],
                    evidence=update.older,
                    update=update,
                )
            )
    return replace(
        given,
        name="longmemeval-past",
        title="LongMemEval, update questions rewritten to ask for the older value",
        questions=questions,
    )


def _turns(question: str, number: int, session: Mapping[str, Any]) -> Iterator[Memory]:
    said_at = _time(session["date"])
    thread = f"{question}/{number}"
    for place, turn in enumerate(session["turns"]):
        name = f"{thread}/{place}"
        source = Source(thread, (name,), None, turn["role"], said_at)
        yield Memory(turn["content"], frozenset({name}), source)


def _question(
    given: Mapping[str, Any], sessions: Sequence[Sequence[Memory]]
) -> Question:
    update = None
    if given["question_type"] == _UPDATES and not given["question_id"].endswith("_abs"):
        update = _update(given["answer"], [turns for turns in sessions if turns])
    return Question(
        given["question_id"],
        USER,
        given["question"],
        given["question_type"],
        frozenset(name for turns in sessions for turn in turns for name in turn.ids),
        asked_at=_time(given["question_date"]),
        update=update,
    )


def _update(
    answers: Sequence[object], sessions: Sequence[Sequence[Memory]]
) -> Update | None:
    """Return the two versions, `None` if there are no two.

    The set has a few questions whose answer is the older value ("Where did I
    *initially* keep my sneakers?"). Those are told by the words of the answer: more of
    them are in the older version than in the newer one.
    """
    ordered = sorted(sessions, key=_said_at)
    if len(ordered) < 2:  # noqa: PLR2004 - a version needs another
        return None
    older, newer = ordered[0], ordered[-1]
    wanted = _words(" ".join(map(str, answers)))
    past = len(wanted & _words_of(older)) > len(wanted & _words_of(newer))
    asks: Asks = "past" if past else "current"
    return Update(_ids(newer), _ids(older), asks)


def _said_at(turns: Sequence[Memory]) -> datetime:
    source = turns[0].source
    assert source is not None
    assert source.said_at is not None
    return source.said_at


def _ids(turns: Sequence[Memory]) -> frozenset[str]:
    return frozenset(name for turn in turns for name in turn.ids)


def _words_of(turns: Sequence[Memory]) -> set[str]:
    return _words(" ".join(turn.text for turn in turns))


def _words(text: str) -> set[str]:
    found = (_NUMBERS.get(word, word) for word in _WORD.findall(text.lower()))
    return {word for word in found if word not in _EMPTY}


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M")  # noqa: DTZ007
