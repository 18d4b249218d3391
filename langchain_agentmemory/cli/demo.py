"""A scripted conversation over two threads that proves what is remembered."""

import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from langchain_agentmemory.cli.agent import Conversation
from langchain_agentmemory.cli.background import LEAVE_SECONDS, Background
from langchain_agentmemory.cli.learning import Learning, chat_learning
from langchain_agentmemory.cli.opening import ChosenModel, open_store
from langchain_agentmemory.cli.screen import say, show_entries
from langchain_agentmemory.cli.showing import Shown, show_turn
from langchain_agentmemory.offline.recall import Known
from langchain_agentmemory.quoting import masked
from langchain_agentmemory.store import MemoryStore


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked in the second thread, and a word that a right answer contains."""

    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class _Script:
    told: tuple[str, ...]
    questions: tuple[_Question, ...]
    first: str
    second: str
    learns: str
    stored: str
    why: str
    preloaded: str
    found: str
    score: str
    absent: str
    recalled: str
    missed: str
    proven: str
    unproven: str


_SCRIPTS: Final = {
    "en": _Script(
        told=(
            "Hi, my name is Anna and I live in Lisbon.",
            "I'm allergic to peanuts. My dog is called Rex.",
            "I moved to Porto.",
            "Rex loves cheese but is afraid of thunder.",
        ),
        questions=(
            _Question("Where do I live?", "Porto"),
            _Question("What am I allergic to?", "peanuts"),
            _Question("What is my dog called?", "Rex"),
            _Question("What is Rex afraid of?", "thunder"),
        ),
        first="Thread 1: the user tells something about herself",
        second="Thread 2: a new conversation, the store opened anew",
        learns="The agent's tools write what it understands at once; beside them it "
        "learns by itself, after the answer",
        stored="What was stored",
        why="Why it was found",
        preloaded="put before the model",
        found="found by a search for “{query}”",
        score="score {score:.2f}, words in common: {words}",
        absent="a search for the words of the question alone would not have found it",
        recalled="✓ recalled: {expected}",
        missed="✗ not recalled: {expected}",
        proven="Everything told in thread 1 was known in thread 2.",
        unproven="Something told in thread 1 was not known in thread 2.",
    ),
    "zh": _Script(
        told=(
            "你好，我叫小红，住在杭州。",
            "我对花生过敏。我的狗叫旺财。",
            "我搬到上海了。",
            "旺财爱吃奶酪，很怕打雷。",
        ),
        questions=(
            _Question("我住在哪里？", "上海"),
            _Question("我对什么过敏？", "花生"),
            _Question("我的狗叫什么？", "旺财"),
            _Question("旺财最怕什么？", "打雷"),
        ),
        first="会话 1：用户说了一些自己的事",
        second="会话 2：全新的对话，存储重新打开",
        learns="能看懂的内容由智能体用工具当场写下；此外，每次回答之后还会自动学习",
        stored="存下了什么",
        why="为什么能找到",
        preloaded="已预先放到模型面前",
        found="搜索「{query}」找到",
        score="得分 {score:.2f}，共同的词：{words}",
        absent="仅按问题里的词搜索是找不到它的",
        recalled="✓ 想起来了：{expected}",
        missed="✗ 没有想起来：{expected}",
        proven="会话 1 里说的，会话 2 里全都知道。",
        unproven="会话 1 里说的，会话 2 里有不知道的。",
    ),
}


def run_demo(language: str, chosen: ChosenModel, url: str | None) -> bool:
    """Hold the conversation; return whether everything was recalled.

    Args:
        language: `"en"` or `"zh"`.
        chosen: The model that answers.
        url: Where to store it, `None` = a temporary SQLite file.
    """
    script = _SCRIPTS[language]
    user = f"demo-{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory(prefix="agentmemory-demo-") as folder:
        where = url or f"sqlite:///{Path(folder) / 'demo.db'}"
        say(f"model: {chosen.label}", "yellow")
        say(f"store: {masked(where)}, user: {user}", "dim")
        learning = chat_learning(chosen, None, assistant_episodes=False)
        options = learning.options()
        if where.startswith("memory:"):  # nothing to open anew
            with open_store(where, "demo", **options) as store:
                _tell(store, chosen, user, script, learning)
                return _ask(store, chosen, user, script)
        with open_store(where, "demo", **options) as store:
            _tell(store, chosen, user, script, learning)
        with open_store(where, "demo", **options) as store:
            return _ask(store, chosen, user, script)


def _tell(
    store: MemoryStore,
    chosen: ChosenModel,
    user: str,
    script: _Script,
    learning: Learning,
) -> None:
    say(f"\n{script.first}", "bold")
    if learning.by_rules:
        say(script.learns, "dim")
    conversation = Conversation(store, chosen.model, user)
    background = Background(store, learning)
    for line in script.told:
        _turn(conversation, line)
        background.show_news(user)
    background.settle(user, LEAVE_SECONDS)
    say()
    show_entries(store.read_memories(user), title=script.stored)


def _ask(store: MemoryStore, chosen: ChosenModel, user: str, script: _Script) -> bool:
    say(f"\n{script.second}", "bold")
    conversation = Conversation(store, chosen.model, user)
    complete = True
    for question in script.questions:
        turn = _turn(conversation, question.text)
        recalled = question.expected in turn.answer
        complete = complete and recalled
        verdict = script.recalled if recalled else script.missed
        style = "bold green" if recalled else "bold red"
        say(f"  {verdict.format(expected=question.expected)}", style)
        _explain(store, user, question, turn.preloaded, script)
    verdict = script.proven if complete else script.unproven
    say(f"\n{verdict}", "bold green" if complete else "bold red")
    return complete


def _explain(
    store: MemoryStore,
    user: str,
    question: _Question,
    known: list[Known],
    script: _Script,
) -> None:
    """Print how the memory that answers reached the model, and how search rates it."""
    say(f"  {script.why}:", "dim")
    for memory in known:
        if question.expected in memory.text:
            say(f"    {script.preloaded}: {memory.text}", "dim")
    found = store.search_memories(user, question.text, limit=3, explain=True)
    hits = [entry for entry in found if question.expected in entry.memory]
    for entry in hits:
        words = entry.explanation.matched_words if entry.explanation else ()
        label = script.found.format(query=question.text)
        say(f"    {label}: {entry.memory}", "dim")
        score = script.score.format(score=entry.score or 0, words=", ".join(words))
        say(f"      {score}", "dim")
    if not hits:
        say(f"    {script.absent}", "dim")


def _turn(conversation: Conversation, line: str) -> Shown:
    """Say a line and print what happens."""
    say(f"you> {line}", "bold blue")
    return show_turn(conversation.say(line), stream=True)
