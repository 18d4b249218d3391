"""What a person wants from the memory: pure reading of one message, by rules.

A message is cut into sentences, and each sentence becomes at most one `Act`: remember,
correct, replace, forget, ask, or small talk. The rules look at first-person English
and Chinese only; what no rule knows is `"other"` and is never stored.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

from langchain_agentmemory.offline import patterns
from langchain_agentmemory.offline.dates import find_date
from langchain_agentmemory.offline.language import keywords, sentences
from langchain_agentmemory.offline.subjects import (
    Subject,
    is_introduction,
    subject_asked,
    subject_stated,
)
from langchain_agentmemory.search.past_statements import told_as_past
from langchain_agentmemory.search.scripts import has_han

ActType = Literal[
    "remember",
    "correct",
    "replace",
    "forget",
    "forget_all",
    "ask",
    "ask_all",
    "who",
    "greet",
    "thanks",
    "bye",
    "ok",
    "other",
]


_STATING: Final = frozenset(("remember", "correct"))


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a person does with one sentence.

    Attributes:
        type: What they do.
        text: What to store, for statements; the sentence itself otherwise.
        subject: What it is about, if a rule knows it.
        query: What to search for, where something has to be found first.
        kind: `"fact"`, or `"episode"` for what happened or will happen once.
        event_time: When, as the tools accept it.
        old: For `"replace"`: the words that are no longer true.
        new: For `"replace"`: the words that take their place.
    """

    type: ActType
    text: str
    subject: Subject | None = None
    query: str = ""
    kind: Literal["fact", "episode"] = "fact"
    event_time: str | None = None
    old: str = ""
    new: str = ""


def read_message(text: str, today: date) -> list[Act]:
    """Read a message as a list of acts, in the order of its sentences.

    Args:
        text: What the person wrote.
        today: The day that "yesterday" is counted from.
    """
    acts: list[Act] = []
    spoken = text.strip()
    greeting = patterns.GREETING.match(spoken)
    if greeting and not patterns.SMALL_TALK.match(spoken):
        acts.append(Act("greet", greeting.group().strip()))
        spoken = spoken[greeting.end() :]
    return _joined(acts, (_read(part, today) for part in sentences(spoken)))


def _joined(acts: list[Act], more: Iterable[Act]) -> list[Act]:
    """Append acts; what is said twice of one thing becomes one act, in all its words.

    "I moved to Rome. I live near the river.": the second one shall not replace the
    first.
    """
    places: dict[tuple[str, bool], int] = {}
    for act in more:
        about = act.subject
        if act.type not in _STATING or about is None or not about.single:
            acts.append(act)
            continue
        said = about.name, told_as_past(act.text)
        if (place := places.setdefault(said, len(acts))) == len(acts):
            acts.append(act)
        else:
            acts[place] = _both(acts[place], act)
    return acts


def _both(one: Act, other: Act) -> Act:
    end, begin = ("，", "") if has_han(one.text + other.text) else (".", " ")
    words = dict.fromkeys(f"{one.query} {other.query}".split())
    return replace(
        other,
        type="correct" if "correct" in {one.type, other.type} else "remember",
        text=f"{one.text.rstrip('。.!！ ')}{end}{begin}{other.text}",
        query=" ".join(words),
        kind="fact",
        event_time=one.event_time or other.event_time,
    )


def speaks_of_self(text: str) -> bool:
    """Tell whether a sentence begins with the person who says it."""
    return re.match(r"(?:i|my|we|our)\b|我", text, re.IGNORECASE) is not None


def _read(given: str, today: date) -> Act:
    sentence = (
        patterns.POLITE.sub("", given.replace("\u2019", "'"), count=1).strip() or given
    )
    asked = patterns.QUESTION.search(sentence) or patterns.ASK_ALL.search(sentence)
    return (
        _small_talk(sentence)
        or _commanded(sentence, given, today)
        or (_question(sentence, today) if asked else _stated(sentence, today))
        or Act("other", sentence, query=keywords(sentence))
    )


def _commanded(sentence: str, given: str, today: date) -> Act | None:
    """Read "remember that …", "change my … to …", "forget …"."""
    remember = patterns.REMEMBER.match(sentence)
    if remember and (patterns.REQUEST.match(given) or not _asks(sentence)):
        return _remembered(_group(remember), today)
    if (set_to := patterns.SET_TO.match(sentence)) is not None:
        return _set_to(set_to)
    forget = patterns.FORGET.match(sentence)
    if forget and not patterns.QUESTION.search(sentence):
        return _forget(_group(forget).rstrip("。.!！ "))
    return None


def _stated(sentence: str, today: date) -> Act | None:
    return _correction(sentence, today) or _statement(sentence, today)


def _small_talk(sentence: str) -> Act | None:
    if patterns.WHO.search(sentence):
        return Act("who", sentence)
    if patterns.THANKS.search(sentence):
        return Act("thanks", sentence)
    if patterns.OK.match(sentence):
        return Act("ok", sentence)
    if patterns.BYE.match(sentence):
        return Act("bye", sentence)
    return Act("greet", sentence) if patterns.SMALL_TALK.match(sentence) else None


def _asks(sentence: str) -> bool:
    """Tell 记得我住在哪吗 (a question) from 记得我住在上海 (a request)."""
    return sentence.endswith(("?", "？")) or bool(
        re.search(r"吗|呢[。？?]?$|什么|谁|哪|多少|几岁|多大", sentence)
    )


def _remembered(given: str, today: date) -> Act:
    content = given.rstrip("?？ ")  # "can you remember that …?"
    stated = _stated(content, today)
    if stated is not None:
        return stated
    if content.lower().startswith("to "):  # "remember to buy milk"
        content = f"Remember {content}"
    return Act("remember", _clean(content), subject_stated(content))


def _set_to(match: re.Match[str]) -> Act:
    found = match.groupdict()
    if found["zh_what"]:
        text = f"我的{found['zh_what']}是{found['zh_new']}"
    else:
        text = f"My {found['en_what']} is {found['en_new']}"
    return _about("correct", text)


def _forget(content: str) -> Act:
    if patterns.EVERYTHING.match(content):
        return Act("forget_all", content)
    subject = subject_stated(content) or subject_asked(content)
    words = keywords(content)
    return Act("forget", content, subject, query=words or _search_words(subject))


def _correction(sentence: str, today: date) -> Act | None:
    not_but = patterns.NOT_BUT.search(sentence)
    if not_but is not None:
        groups = not_but.groupdict()
        old, new = (
            next((v.strip() for k, v in groups.items() if k.startswith(name) and v), "")
            for name in ("old", "new")
        )
        text = _clean(sentence)
        return Act("replace", text, subject_stated(text), query=old, old=old, new=new)
    marked = patterns.MARKER.match(sentence)
    content = _group(marked) if marked else sentence
    if not marked and not patterns.CHANGE.search(sentence):
        return None
    stated = _statement(content, today)
    if stated is None:
        return None
    return replace(
        _about("correct", stated.text), kind=stated.kind, event_time=stated.event_time
    )


def _about(type_: ActType, text: str) -> Act:
    subject = subject_stated(text)
    words = " ".join(filter(None, (_search_words(subject), keywords(text))))
    return Act(type_, _clean(text), subject, query=words)


def _statement(sentence: str, today: date) -> Act | None:
    text = _clean(sentence)
    bare = text.rstrip("。.!！~～ ")
    subject = subject_stated(text)
    if patterns.EN_NO_FACT.match(bare) or patterns.ZH_NO_FACT.match(bare):
        return None
    happened = _happened(bare, today)
    known = subject is not None or is_introduction(bare)
    if not (
        known
        or happened
        or patterns.EN_FACT.match(bare)
        or patterns.ZH_FACT.match(bare)
    ):
        return None
    when = find_date(bare, today) if happened else None
    lasting = subject is not None and (subject.single or subject.name == "birthday")
    if lasting and not re.search(r"\d{4}", bare):
        when = None  # a birthday is on 7 May of every year
    # One's home, name and so on stay facts, also when told as something that happened.
    episode = happened and not lasting
    return Act(
        "remember",
        text,
        subject,
        query=keywords(text),
        kind="episode" if episode else "fact",
        event_time=when,
    )


def _happened(bare: str, today: date) -> bool:
    if patterns.EN_EVENT.match(bare):
        # "I was a teacher" is a state; "I was in Rome yesterday" happened.
        return not patterns.EN_STATE.match(bare) or find_date(bare, today) is not None
    if patterns.EN_PLAN.match(bare):
        return True
    return bool(patterns.ZH_EVENT.match(bare) and patterns.PAST_OR_DATED.search(bare))


def _question(sentence: str, today: date) -> Act:
    if patterns.ASK_ALL.search(sentence):
        return Act("ask_all", sentence)
    subject = subject_asked(sentence)
    words = dict.fromkeys(
        word
        for part in (_search_words(subject), keywords(sentence))
        for word in part.split()
    )
    when = find_date(sentence, today)
    return Act("ask", sentence, subject, query=" ".join(words), event_time=when)


def _search_words(subject: Subject | None) -> str:
    return subject.search if subject else ""


def _group(match: re.Match[str]) -> str:
    return next((text.strip() for text in match.groupdict().values() if text), "")


def _clean(text: str) -> str:
    """Return the text as a sentence of its own: trimmed, with a capital letter."""
    trimmed = text.strip().rstrip(" ,，;；")
    return trimmed[:1].upper() + trimmed[1:]
