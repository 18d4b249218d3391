"""What is tried again, when, and what is not."""

import random
from typing import Final

from langchain_agentmemory.backends.base import MICROSECONDS
from langchain_agentmemory.errors import (
    BackendUnavailable,
    ExtractionFailed,
    InvalidInput,
)

ATTEMPTS: Final = 5
"""How often a job is tried before it is parked."""

FIRST_DELAY: Final = 1.0
"""Seconds before the second attempt; doubled each time, half of it at random."""

LONGEST_DELAY: Final = 300.0


class ExtractionTimeout(ExtractionFailed):
    """An extraction took longer than `job_timeout`."""


class ExtractionStopped(ExtractionFailed):
    """An extraction graph waits for an answer that nobody gives in the background."""


def delay(attempts: int) -> int:
    """Return how long to wait before the next attempt, microseconds."""
    longest = min(FIRST_DELAY * 2.0 ** (attempts - 1), LONGEST_DELAY)
    seconds = longest / 2 + random.uniform(0, longest / 2)  # noqa: S311 - no secret
    return round(seconds * MICROSECONDS)


def may_pass(error: BaseException) -> bool:
    """Tell whether an error can go away by itself.

    Rate limits, timeouts and lost connections do; a request that the provider refuses
    as such, or a programming error, does not.
    """
    chain: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or found.__context__
    for link in chain:
        status = _status_of(link)
        if status is not None and status >= _REFUSED:
            return status in _PASSING_STATUS or status >= _SERVER_ERROR
    if any(isinstance(link, ExtractionStopped) for link in chain):
        return False
    root = chain[-1]
    kinds: tuple[type[BaseException], ...] = (
        OSError,
        TimeoutError,
        BackendUnavailable,
        ExtractionTimeout,
    )
    if any(isinstance(link, kinds) for link in chain):
        return True
    return not isinstance(
        root,
        InvalidInput | TypeError | AttributeError | NameError | NotImplementedError,
    )


_PASSING_STATUS: Final = frozenset({408, 409, 425, 429})
_REFUSED: Final = 400
"""Below it, the answer came and could not be read: cut off, or a page of a proxy."""
_SERVER_ERROR: Final = 500


def _status_of(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool):
                return status
    return None
