"""The mirrors of all namespaces of a LangGraph store, within a budget."""

import threading
from collections import OrderedDict

from langchain_agentmemory.backends.base import Namespace
from langchain_agentmemory.backends.base_store_mirror import Mirror


class Mirrors:
    """The mirrors of a store's namespaces, the least recently used first.

    Args:
        most: Records, and namespaces, that may be held before there is a surplus.
    """

    def __init__(self, most: int) -> None:
        """Start with none."""
        self._most = most
        self._lock = threading.Lock()
        self._mirrors: OrderedDict[Namespace, Mirror] = OrderedDict()
        self._sizes: dict[Namespace, int] = {}
        self._held = 0
        self._epoch = 0
        self._floor = 0  # no revision is given twice, whatever is let go of

    def find(self, namespace: Namespace) -> Mirror:
        """Return the mirror of a namespace, a new one if there is none."""
        with self._lock:
            mirror = self._mirrors.get(namespace)
            if mirror is None:
                self._epoch += 1
                return Mirror(namespace, self._epoch, self._floor)
            self._mirrors.move_to_end(namespace)
            return mirror

    def keep(self, mirror: Mirror) -> None:
        """Keep a mirror that was compared or written, unless it shows nothing."""
        with self._lock:
            if mirror.void:
                return
            self._mirrors[mirror.namespace] = mirror
            size = 1 + len(mirror.active) + len(mirror.dead)
            self._held += size - self._sizes.get(mirror.namespace, 0)
            self._sizes[mirror.namespace] = size

    def forget(self, mirror: Mirror, *, dropped: bool = False) -> None:
        """Let go of a mirror; a namespace that was dropped counts from the start."""
        with self._lock:
            self._mirrors.pop(mirror.namespace, None)
            self._held -= self._sizes.pop(mirror.namespace, 0)
            if not dropped:
                self._floor = max(self._floor, mirror.revision)

    def surplus(self) -> list[Mirror]:
        """Return what should be let go of, never the one that was used last."""
        with self._lock:
            surplus: list[Mirror] = []
            held = self._held
            for namespace, mirror in self._mirrors.items():
                if held <= self._most or len(surplus) == len(self._mirrors) - 1:
                    break
                surplus.append(mirror)
                held -= self._sizes[namespace]
            return surplus

    def clear(self) -> None:
        """Let go of all."""
        with self._lock:
            self._mirrors.clear()
            self._sizes.clear()
            self._held = 0
