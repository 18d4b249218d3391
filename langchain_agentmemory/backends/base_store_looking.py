"""Looking at a LangGraph store: bring mirrors up to date with as few calls as possible.

Callers hold the locks of the namespaces that they look at.
"""

from collections.abc import Mapping, Sequence

from langgraph.store.base import GetOp, Item

from langchain_agentmemory.backends.base import Namespace
from langchain_agentmemory.backends.base_store_access import PAGE, StoreBelow
from langchain_agentmemory.backends.base_store_mirror import Mirror
from langchain_agentmemory.backends.base_store_mirrors import Mirrors
from langchain_agentmemory.backends.base_store_writing import (
    COMPANIONS,
    HEADS,
    INTERNAL_ROOT,
    head_key,
)


class Lookout:
    """Compare mirrors with the store below.

    Companions are read only when the head says that one changed, and always before the
    items: what is missing then is gone, and not merely new.

    Args:
        below: The store.
        mirrors: What is known of it.
    """

    def __init__(self, below: StoreBelow, mirrors: Mirrors) -> None:
        """Remember both."""
        self._below = below
        self._mirrors = mirrors

    def see(self, namespace: Namespace) -> Mirror:
        """Bring a namespace up to date."""
        mirror = self._mirrors.find(namespace)
        if namespace[:1] == (INTERNAL_ROOT,):
            return mirror
        head = self._below.get(HEADS, [head_key(namespace)])
        beside = None
        if _token(head, namespace) != mirror.token:
            place = (*COMPANIONS, *namespace)
            beside = self._below.items(place).get(place, {})
        items = self._below.items(namespace).get(namespace, {})
        self._compare(mirror, head, beside, items)
        return mirror

    def glance(self, namespace: Namespace, keys: Sequence[str]) -> Mirror | None:
        """Bring some keys up to date, `None` where everything must be read."""
        mirror = self._mirrors.find(namespace)
        if mirror.void or len(keys) > PAGE:
            return None
        head, *found = self._below.call(
            [
                GetOp(HEADS, head_key(namespace), refresh_ttl=False),
                *(GetOp(namespace, key, refresh_ttl=False) for key in keys),
            ]
        )
        heads = {head.key: head} if isinstance(head, Item) else {}
        if _token(heads, namespace) != mirror.token:
            return None
        items = {item.key: item for item in found if isinstance(item, Item)}
        mirror.see(items, among=keys)
        return mirror

    def see_below(self, prefix: Namespace) -> list[Mirror]:
        """Bring the namespaces at and below a prefix up to date."""
        if prefix[:1] == (INTERNAL_ROOT,):
            return []
        found = self._below.items(prefix)
        namespaces = [space for space in found if space[:1] != (INTERNAL_ROOT,)]
        mirrors = [self._mirrors.find(namespace) for namespace in namespaces]
        heads = self._below.get(HEADS, [head_key(space) for space in namespaces])
        stale = {m.namespace for m in mirrors if _token(heads, m.namespace) != m.token}
        beside: dict[Namespace, dict[str, Item]] = {}
        if stale:
            beside = self._below.items((*COMPANIONS, *prefix))
            found = self._below.items(prefix)
        for mirror in mirrors:
            space = mirror.namespace
            own = beside.get((*COMPANIONS, *space), {}) if space in stale else None
            self._compare(mirror, heads, own, found.get(space, {}))
        return mirrors

    def _compare(
        self,
        mirror: Mirror,
        heads: Mapping[str, Item],
        beside: Mapping[str, Item] | None,
        items: Mapping[str, Item],
    ) -> None:
        """Bring a mirror up to date. Items must have been read after companions."""
        if beside is None:
            mirror.see(items)
        else:
            mirror.see_anew(items, {key: item.value for key, item in beside.items()})
            head = heads.get(head_key(mirror.namespace))
            mirror.token = _token(heads, mirror.namespace)
            mirror.last = max(mirror.last, head.value["last"] if head else 0)
        self._mirrors.keep(mirror)


def _token(heads: Mapping[str, Item], namespace: Namespace) -> str | None:
    head = heads.get(head_key(namespace))
    return None if head is None else str(head.value["token"])
