"""The chat in a terminal, or over a pipe."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from langchain_agentmemory.cli.agent import Conversation
from langchain_agentmemory.cli.background import Background
from langchain_agentmemory.cli.finding import active_id, deleted_id
from langchain_agentmemory.cli.jobs import counted, matching
from langchain_agentmemory.cli.learning import Learning
from langchain_agentmemory.cli.opening import ChosenModel
from langchain_agentmemory.cli.screen import say, show_entries, show_error, show_jobs
from langchain_agentmemory.cli.showing import show_turn
from langchain_agentmemory.cli.wording import memories
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.store import MemoryStore

_LISTED: Final = 20  # memories that /memory shows

_HELP: Final = """\
/memory            what is remembered about you (the newest 20)
/search WORDS      find memories
/forget ID         delete a memory (the first letters of its id are enough)
/restore ID        bring a deleted memory back
/new               begin a new thread; memories stay
/user NAME         become another user, in a new thread
/learn on|off      learn from what you say, or keep nothing more of it
/status            how learning is going: turns that wait, run, failed
/jobs              turns that wait to be learnt from, or failed for good
/replay [ID]       try again what failed (the first letters of its id are enough)
/help              this list
/exit              leave (also Ctrl-D)"""


class Chat:
    """Reads lines, answers them, obeys commands that begin with a slash.

    Args:
        store: The memory.
        chosen: The model.
        user: Whose memory it is.
        learning: How it learns by itself, `None` if it does not.
        searches: How memories are searched, for the banner.
        stream: Show answers while they are being written.
        debug: Let errors through as they are.
    """

    def __init__(  # noqa: PLR0913 - each is an option of the command
        self,
        store: MemoryStore,
        chosen: ChosenModel,
        user: str,
        learning: Learning | None = None,
        *,
        searches: str = "words",
        stream: bool = True,
        debug: bool = False,
    ) -> None:
        """Begin the first thread."""
        self._store = store
        self._chosen = chosen
        self._searches = searches
        self._stream = stream
        self._debug = debug
        store.user(user)  # say at once if it cannot be a user
        self._conversation = Conversation(store, chosen.model, user)
        self._learning = learning
        self._background = Background(store, learning)
        self._commands: dict[str, Callable[[str], None]] = {
            "/memory": self._memory,
            "/search": self._search,
            "/forget": self._forget,
            "/restore": self._restore,
            "/new": self._new,
            "/user": self._user,
            "/learn": self._learn,
            "/status": self._status,
            "/jobs": self._jobs,
            "/replay": self._replay,
            "/help": lambda _: say(_HELP),
        }

    def run(self) -> bool:
        """Talk until the input ends. Return False if a piped line could not be done."""
        self._banner()
        done = True
        for line in _lines():
            text = line.strip()
            if text in {"/exit", "/quit"}:
                break
            if text:
                done = self._handle(text) and done
        self._background.leave(self._conversation.user)
        say("Bye.", "dim")
        return done or sys.stdin.isatty()

    def _handle(self, text: str) -> bool:
        try:
            if text.startswith("/"):
                name, _, rest = text.partition(" ")
                self._command(name.lower())(rest.strip())
            else:
                show_turn(self._conversation.say(text), stream=self._stream)
        except KeyboardInterrupt:
            say("\n(stopped)", "dim")
        except Exception as error:
            if self._debug:
                raise
            show_error(error)
            return False
        finally:
            self._background.show_news(self._conversation.user)
        return True

    def _command(self, name: str) -> Callable[[str], None]:
        if name not in self._commands:
            msg = f"There is no command {name}: /help lists them."
            raise InvalidInput(msg)
        return self._commands[name]

    def _banner(self) -> None:
        about = self._store.describe()
        where = " ".join(
            str(about[name]) for name in ("engine", "file") if name in about
        )
        facts = {
            "model": self._chosen.label,
            "store": where,
            "user": f"{self._conversation.user} (app {self._store.app_name})",
            "tools": ", ".join(self._conversation.tools) or "none",
            "learns": self._how_it_learns(),
            "search": self._searches,
        }
        say("langchain-agentmemory chat", "bold")
        for name, value in facts.items():
            say(f"  {name:<6} {value}", "yellow" if name == "model" else "dim")
        say("  Type /help for commands, /exit to leave.", "dim")

    def _how_it_learns(self) -> str:
        if self._store.learning_paused(self._conversation.user):
            return "nothing: you switched it off (/learn on)"
        return self._learning.label if self._learning else "only by its tools"

    def _memory(self, _: str) -> None:
        user = self._conversation.user
        self._background.settle(user)
        entries = self._store.read_memories(user, _LISTED)
        if not entries:
            say(f"Nothing is remembered about {user} yet.")
            return
        total = self._store.count_memories(user)
        show_entries(entries, title=f"{len(entries)} of {memories(total)} of {user}")

    def _search(self, words: str) -> None:
        if not words:
            msg = "Say what to look for: /search WORDS."
            raise InvalidInput(msg)
        self._background.settle(self._conversation.user)
        found = self._store.search_memories(self._conversation.user, words)
        if found:
            show_entries(found)
        else:
            say("Nothing found.")

    def _forget(self, beginning: str) -> None:
        user = self._conversation.user
        memory_id = active_id(self._store, user, beginning)
        self._store.delete_memory(user, memory_id)
        undo = f" /restore {memory_id[:10]} brings it back."
        say(f"Forgotten.{undo if self._store.settings.soft_delete else ''}")

    def _restore(self, beginning: str) -> None:
        user = self._conversation.user
        memory_id = deleted_id(self._store, user, beginning)
        entry = self._store.restore_memory(user, memory_id)
        say(f"Restored: {entry.memory}")

    def _new(self, _: str) -> None:
        self._background.settle(self._conversation.user)
        self._conversation.begin_thread()
        say("— new thread: only memory remains —", "bold")

    def _user(self, name: str) -> None:
        if not name:
            msg = "Say who you are: /user NAME."
            raise InvalidInput(msg)
        self._store.user(name)
        self._background.show_news(self._conversation.user)
        self._conversation.user = name
        self._conversation.begin_thread()
        say(f"— you are {name} now, in a new thread —", "bold")

    def _learn(self, switch: str) -> None:
        user = self._conversation.user
        if switch.lower() == "off":
            self._store.pause_learning(user)
            say(
                "Off: nothing more of what you say is kept. What waited to be learnt "
                "from is dropped; memories stay. /learn on switches it on again."
            )
        elif switch.lower() == "on":
            self._store.resume_learning(user)
            say(f"On. Learns {self._how_it_learns()}.")
        else:
            msg = "Say on or off: /learn off keeps nothing more of what you say."
            raise InvalidInput(msg)

    def _status(self, _: str) -> None:
        say(str(self._store.status()))
        say(f"  learns  {self._how_it_learns()}")

    def _jobs(self, _: str) -> None:
        jobs = self._store.extraction_jobs(self._conversation.user)
        if jobs:
            show_jobs(jobs, title=counted(len(jobs)))
        else:
            say("No turn waits, and none failed.")

    def _replay(self, beginning: str) -> None:
        user = self._conversation.user
        jobs = self._store.extraction_jobs(user)
        parked = [job for job in jobs if job.state == "parked"]
        if beginning:
            parked = [matching(parked, beginning)]
        if not parked:
            say("No turn failed.")
            return
        if self._learning is None:
            msg = "Start the chat without --no-learn to learn from turns that failed."
            raise InvalidInput(msg)
        ids = [job.id for job in parked]
        self._background.replay(user, ids)


def _lines() -> Iterator[str]:
    """Yield what is typed or piped in, until its end."""
    if isinstance(sys.stdin, io.TextIOWrapper):  # one odd byte shall not end the talk
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        yield from _typed()
        return
    for line in sys.stdin:
        say("you> ", "bold blue", end="")
        say(line.rstrip("\r\n"))
        yield line


def _typed() -> Iterator[str]:
    with suppress(ImportError):  # not on Windows, where the terminal does it
        import readline  # noqa: F401 - arrow keys and history at the prompt
    while True:
        try:
            yield input("you> ")  # readline has to know what stands in the line
        except (EOFError, KeyboardInterrupt):
            say()
            return
