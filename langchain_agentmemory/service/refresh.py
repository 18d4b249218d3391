"""Renewing the time to live of items that are read.

Writing a new time for every read would cost more than the read. So a renewal is only
written when it gains enough: with `refresh_on_read=True`, or a time to live given for
the item alone, 1/100 of it; where a store's `TTLConfig` says nothing, half of it. What
is read regularly stays either way.
"""

import logging
from typing import Final

from langchain_agentmemory.backends.base import Backend, Namespace, Record
from langchain_agentmemory.errors import BackendUnavailable

logger = logging.getLogger(__name__)

EAGER: Final = 100
"""Renew when it gains 1/100 of the time to live."""
LAZY: Final = 2
"""Renew when it gains half of the time to live."""


class Refresh:
    """Collect items that were read, and renew them together.

    Args:
        backend: Where they live.
        parts: A renewal that gains less than this part of the time to live (1/2,
            1/100) is not written.
    """

    def __init__(self, backend: Backend, parts: int) -> None:
        """Start with nothing to renew."""
        self._backend = backend
        self._parts = parts
        self._due: dict[Namespace, dict[str, int]] = {}

    def note(self, record: Record) -> None:
        """Note that an item was read."""
        if record.ttl is None or record.expires_at is None:
            return
        renewed = self._backend.now() + record.ttl
        if renewed - record.expires_at >= record.ttl // self._parts:
            self._due.setdefault(record.namespace, {})[record.key] = renewed

    def write(self) -> None:
        """Renew what was noted, if the engine can do it at once.

        What was read has been read: that its life could not be prolonged is no reason
        to fail, or to wait for another writer. The next read tries again.
        """
        due, self._due = self._due, {}
        for namespace, expiries in due.items():
            try:
                self._backend.touch(namespace, expiries)
            except BackendUnavailable as error:
                logger.info("Reading could not renew a time to live: %s", error)
