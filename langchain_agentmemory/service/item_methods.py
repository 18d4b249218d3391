"""LangGraph's store methods, which check what LangGraph itself would stumble over.

`BaseStore` turns `get`, `put`, … into operations for `batch`. On the way it walks over
namespaces and writes out keys: of the wrong type, they are answered here in our words.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    Item,
    NamespacePath,
    NotProvided,
    SearchItem,
)

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.service.operations import labels
from langchain_agentmemory.service.settings import minutes_of
from langchain_agentmemory.service.values import check_key

Index = Literal[False] | list[str] | None
TimeToLive = float | timedelta | NotProvided | None


class ItemMethods(BaseStore):
    """`BaseStore` with checked arguments. `batch` and `abatch` are left to do."""

    def get(
        self,
        namespace: tuple[str, ...],
        key: str,
        *,
        refresh_ttl: bool | None = None,
    ) -> Item | None:
        """Return an item, `None` if there is none.

        Args:
            namespace: Where it lives.
            key: Its key.
            refresh_ttl: Whether reading renews its time to live; as configured if not
                given.

        Raises:
            InvalidInput: If an argument cannot be used.
        """
        place, name = labels("namespace", namespace), _key(key)
        return super().get(place, name, refresh_ttl=refresh_ttl)

    async def aget(
        self,
        namespace: tuple[str, ...],
        key: str,
        *,
        refresh_ttl: bool | None = None,
    ) -> Item | None:
        """Async twin of `get`."""
        place, name = labels("namespace", namespace), _key(key)
        return await super().aget(place, name, refresh_ttl=refresh_ttl)

    def put(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Index = None,
        *,
        ttl: TimeToLive = NOT_PROVIDED,
    ) -> None:
        """Store an item. `ttl` is a `timedelta` or a number of minutes.

        A value is a dict of JSON values, with at most 100 levels of dicts and lists and
        integers of at most 2,048 bits.

        Raises:
            InvalidInput: If the value is not JSON; the message names the place.
        """
        place, name = labels("namespace", namespace), _key(key)
        super().put(place, name, value, index, ttl=_minutes(ttl))

    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Index = None,
        *,
        ttl: TimeToLive = NOT_PROVIDED,
    ) -> None:
        """Async twin of `put`."""
        place, name = labels("namespace", namespace), _key(key)
        await super().aput(place, name, value, index, ttl=_minutes(ttl))

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        """Delete an item, if it exists."""
        super().delete(labels("namespace", namespace), _key(key))

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """Async twin of `delete`."""
        await super().adelete(labels("namespace", namespace), _key(key))

    def search(  # noqa: PLR0913 - LangGraph's signature
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Return items below a prefix: the best for a query, else the newest first.

        Args:
            namespace_prefix: How their namespaces begin; `()` = all.
            query: What to look for.
            filter: What their values have to be, see `service.filters`.
            limit: How many at most.
            offset: How many to leave out at the beginning.
            refresh_ttl: Whether reading renews their time to live; as configured if
                not given.

        Raises:
            InvalidInput: If an argument cannot be used.
        """
        return super().search(
            labels("namespace_prefix", namespace_prefix),
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    async def asearch(  # noqa: PLR0913 - LangGraph's signature
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Async twin of `search`."""
        return await super().asearch(
            labels("namespace_prefix", namespace_prefix),
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    def list_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """List namespaces, sorted. `"*"` in a prefix or suffix stands for any label.

        Args:
            prefix: How they begin.
            suffix: How they end.
            max_depth: Show so many labels at most; what lies below counts as one.
            limit: How many at most.
            offset: How many to leave out at the beginning.

        Raises:
            InvalidInput: If an argument cannot be used.
        """
        return super().list_namespaces(
            prefix=None if prefix is None else labels("prefix", prefix),
            suffix=None if suffix is None else labels("suffix", suffix),
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )

    async def alist_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Async twin of `list_namespaces`."""
        return await super().alist_namespaces(
            prefix=None if prefix is None else labels("prefix", prefix),
            suffix=None if suffix is None else labels("suffix", suffix),
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )


def _key(given: object) -> str:
    """Return a key as text: like LangGraph's stores, these take other types too."""
    try:
        return check_key(str(given))
    except ValueError as error:  # an integer of thousands of digits
        if isinstance(error, InvalidInput):
            raise
        msg = "The key is a number too long to be written out: use text."
        raise InvalidInput(msg) from error


def _minutes(ttl: TimeToLive) -> float | NotProvided | None:
    if ttl is None or isinstance(ttl, NotProvided):
        return ttl
    return minutes_of(ttl)
