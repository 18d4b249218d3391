"""What checkers and extractors are told about a turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_core.messages import BaseMessage

from langchain_agentmemory.types import UserKey


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """What is waiting to be extracted.

    Attributes:
        user: Whose conversation it is.
        messages: What was said and not extracted yet, in order.
        last_extract_at: When the last message was said that was extracted from this
            thread, UTC. `None` if none was.
        thread_id: The conversation, if it has a name.
    """

    user: UserKey
    messages: Sequence[BaseMessage]
    last_extract_at: datetime | None = None
    thread_id: str | None = None


Checker = Callable[[ExtractionContext], bool]
"""Says whether it is time to extract."""
