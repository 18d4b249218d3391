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

PATIENT_ATTEMPTS: Final = 12
"""How often, while the provider or the network is down: for about 20 minutes."""

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


def attempts_for(error: BaseException) -> int:
    """Return how often a job that fails like this is tried in all."""
    if not may_pass(error):
        return 1
    outage = any(
        isinstance(link, ConnectionError | BackendUnavailable)
        or (_status_of(link) or 0) in _PASSING_STATUS
        or (_status_of(link) or 0) >= _SERVER_ERROR
        or type(link).__name__ in _LOST_CONNECTIONS
        for link in _chain(error)
    )
    return PATIENT_ATTEMPTS if outage else ATTEMPTS


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and what caused it."""
    chain: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or found.__context__
    return chain


def may_pass(error: BaseException) -> bool:
    """Tell whether an error can go away by itself.

    Rate limits, timeouts and lost connections do; a request that the provider refuses
    as such, or a programming error, does not.
    """
    chain = _chain(error)
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


_LOST_CONNECTIONS: Final = frozenset(
    {"APIConnectionError", "ConnectError", "ReadError", "RemoteProtocolError"}
)
"""What providers' libraries call a lost connection; it is no OSError with all of them.
"""
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
