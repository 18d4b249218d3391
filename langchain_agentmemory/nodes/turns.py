"""What a finished turn hands to extraction: found in the run, never raised into it."""

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AnyMessage

from langchain_agentmemory.nodes.injection import as_messages
from langchain_agentmemory.nodes.loading import MemoryLoader, Run
from langchain_agentmemory.types import UserKey

LEARN_KEY = "agentmemory_learn"
"""In `config["configurable"]`: `False` keeps this one turn out of extraction."""

_logger = logging.getLogger(__name__)

_NOTHING_LEARNS = (
    "The store has no extractor, so nothing is learnt from this conversation: open it "
    "with extractor=MemoryExtractor(model), or, if another process works off its "
    "outbox, with extraction_mode='queue'."
)
_NOT_QUEUED = "The turn could not be queued for extraction; nothing is learnt from it."


class Turn(NamedTuple):
    """A finished turn.

    Attributes:
        store: The store whose extractor gets it.
        user: Whose turn it is.
        messages: The conversation as it stands.
        options: What else is said of it.
    """

    store: Any
    user: UserKey
    messages: Sequence[AnyMessage]
    options: dict[str, Any]


def _messages_of(state: Any) -> Sequence[Any]:
    """Return the messages of a state as they are: the store converts and copies."""
    if isinstance(state, dict) and isinstance(state.get("messages"), list):
        messages: list[Any] = state["messages"]
        return messages
    return as_messages(state)


def _queues(store: Any) -> bool:
    """Tell whether a store takes turns: it has an extractor, or leaves it to others."""
    queues = getattr(store, "queues_turns", None)
    if queues is None:
        return getattr(store, "extractor", None) is not None
    return bool(queues)


class TurnQueue:
    """Hands turns to the extractor of a store.

    Args:
        loader: Finds store and user of a run.
        expected: A store that learns nothing is a mistake, and told once in the log.
    """

    def __init__(self, loader: MemoryLoader, *, expected: bool = False) -> None:
        """Remember both."""
        self._loader = loader
        self._expected = expected

    def put(self, state: Any, run: Run) -> bool:
        """Queue a turn; tell whether it is safe. Never raises."""
        try:
            turn = self._turn(state, run)
            return turn is not None and bool(
                turn.store.enqueue_extraction(turn.user, turn.messages, **turn.options)
            )
        except Exception:  # the answer is given: nothing may take it back
            _logger.exception(_NOT_QUEUED)
            return False

    async def aput(self, state: Any, run: Run) -> bool:
        """Async twin of `put`."""
        try:
            turn = self._turn(state, run)
            return turn is not None and bool(
                await turn.store.aenqueue_extraction(
                    turn.user, turn.messages, **turn.options
                )
            )
        except Exception:  # the answer is given: nothing may take it back
            _logger.exception(_NOT_QUEUED)
            return False

    def _turn(self, state: Any, run: Run) -> Turn | None:
        configurable = run.config.get("configurable", {})
        store = self._loader.reader(run)
        if not _queues(store):
            if self._expected:
                self._expected = False
                _logger.warning(_NOTHING_LEARNS)
            return None
        messages = _messages_of(state)
        if not messages:
            return None
        thread_id = configurable.get("thread_id")
        options: dict[str, Any] = {
            "thread_id": None if thread_id is None else str(thread_id) or None
        }
        if configurable.get(LEARN_KEY) is False:
            options["learn"] = False  # so that the next turn does not bring it along
        return Turn(store, self._loader.user(store, run), messages, options)
