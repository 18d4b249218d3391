"""Calling a LangChain `Embeddings`, whatever it is made of, from sync and async."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base.embed import EmbeddingsLambda

from langchain_agentmemory.service.own_thread import in_own_loop, in_own_thread

Role = Literal["document", "query"]


class EmbeddingCalls:
    """One request to an embedder.

    Args:
        embeddings: The embedder; one that was made from an async function serves
            synchronous callers, too, in a loop and thread of its own.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        """Find out what it can do."""
        self._embeddings = embeddings
        self._async_only = isinstance(embeddings, EmbeddingsLambda) and not (
            hasattr(embeddings, "func")
        )

    def __call__(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Return what the embedder answers, one vector per text if all is well."""
        if self._async_only:
            return in_own_loop(partial(self.acall, texts, role))
        if role == "query":
            return [self._embeddings.embed_query(text) for text in texts]
        return self._embeddings.embed_documents(list(texts))

    async def acall(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Async twin of calling it, on the caller's loop.

        What is not async runs in a thread that no exit waits for.
        """
        sync = self._is_sync(role)
        if role == "query":
            ask = self._in_thread if sync else self._embeddings.aembed_query
            return list(await asyncio.gather(*map(ask, texts)))
        if sync:
            return await in_own_thread(partial(self, texts, role))
        return await self._embeddings.aembed_documents(list(texts))

    async def _in_thread(self, text: str) -> list[float]:
        return await in_own_thread(partial(self._embeddings.embed_query, text))

    def _is_sync(self, role: Role) -> bool:
        """Tell whether its async method does nothing but call the other one."""
        if isinstance(self._embeddings, EmbeddingsLambda):
            return not self._async_only
        name = "aembed_query" if role == "query" else "aembed_documents"
        method = getattr(self._embeddings, name)
        return getattr(method, "__func__", None) is getattr(Embeddings, name)
