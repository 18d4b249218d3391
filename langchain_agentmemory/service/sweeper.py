"""The background thread that deletes what has expired."""

import logging
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import weakref

logger = logging.getLogger(__name__)


class _Sweepable(Protocol):
    def sweep_ttl(self) -> int: ...


class Sweeper:
    """Sweep a store regularly, as long as somebody else keeps it alive.

    Args:
        store: The store.
        interval: Seconds between sweeps.
    """

    def __init__(self, store: "weakref.ref[_Sweepable]", interval: float) -> None:
        """Start the thread."""
        self.finished: Future[None] = Future()
        self._store = store
        self._interval = interval
        self._stop = threading.Event()
        self.finished.add_done_callback(lambda _: self._stop.set())
        self._thread = threading.Thread(
            target=self._work, name="agentmemory-sweeper", daemon=True
        )
        self._thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """Ask the thread to stop; tell whether it did within the timeout."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self._stop.wait(self._interval):
            store = self._store()
            if store is None:
                break
            try:
                store.sweep_ttl()
            except Exception:  # tried again next time, and said aloud
                logger.exception("Sweeping expired items failed; it is tried again.")
            del store
        if not self.finished.done():
            self.finished.set_result(None)
