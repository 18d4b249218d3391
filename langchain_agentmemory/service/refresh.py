"""Renewing the time to live of items that are read."""

from typing import Final

from langchain_agentmemory.backends.base import Backend, Namespace, Record

COALESCED: Final = 100
"""A renewal that would gain less than 1/100 of the time to live is not written."""


class Refresh:
    """Collect items that were read, and renew them together."""

    def __init__(self, backend: Backend) -> None:
        """Start with nothing to renew."""
        self._backend = backend
        self._due: dict[Namespace, dict[str, int]] = {}

    def note(self, record: Record) -> None:
        """Note that an item was read."""
        if record.ttl is None or record.expires_at is None:
            return
        renewed = self._backend.now() + record.ttl
        if renewed - record.expires_at >= record.ttl // COALESCED:
            self._due.setdefault(record.namespace, {})[record.key] = renewed

    def write(self) -> None:
        """Renew what was noted."""
        due, self._due = self._due, {}
        for namespace, expiries in due.items():
            self._backend.touch(namespace, expiries)
