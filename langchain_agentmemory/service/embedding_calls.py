"""Calling a LangChain `Embeddings`, whatever it is made of, from sync and async."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base.embed import EmbeddingsLambda

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
            return self._in_own_loop(texts, role)
        if role == "query":
            return [self._embeddings.embed_query(text) for text in texts]
        return self._embeddings.embed_documents(list(texts))

    async def acall(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Async twin of calling it, on the caller's loop."""
        if role == "query":
            answers = (self._embeddings.aembed_query(text) for text in texts)
            return list(await asyncio.gather(*answers))
        return await self._embeddings.aembed_documents(list(texts))

    def _in_own_loop(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        vectors: list[list[float]] = []
        errors: list[BaseException] = []

        def work() -> None:
            try:
                vectors.extend(asyncio.run(self.acall(texts, role)))
            except BaseException as error:  # noqa: BLE001 - raised again below
                errors.append(error)

        thread = threading.Thread(target=work, name="agentmemory-embed")
        thread.start()
        thread.join()
        if errors:
            raise errors[0]
        return vectors
