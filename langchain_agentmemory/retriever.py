"""The memories of one user as a LangChain retriever."""

from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, ensure_config
from pydantic import Field, ValidationError

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.criteria import with_overrides
from langchain_agentmemory.service.documents import document_of
from langchain_agentmemory.types import MemoryReader, SearchOptions, UserKey
from langchain_agentmemory.users import UserResolver, current_runtime, runtime_in


class MemoryRetriever(BaseRetriever):
    """Finds memories of one user, as documents.

    Whose memories they are is said in code, or found for each call by
    `langchain_agentmemory.users.UserResolver`; nothing in a query can name another
    user, and nobody named is an error. `MemoryStore.as_retriever` makes one.

    A document has the text of the memory as `page_content`, its id as `id`, and the
    rest as JSON values in `metadata` (see
    `langchain_agentmemory.service.documents.document_of`).

    Args:
        store: A `MemoryStore`, or any `MemoryReader`.
        user: A user, a function of the runtime, a `UserResolver`, or `None` = the user
            of the run. Plain ids are users of the store's application.
        options: How to search.
        **overrides: Fields of `SearchOptions` on top of `options`, such as `limit`,
            which may also be called `k`; and what every `BaseRetriever` takes (`name`,
            `tags`, `metadata`). `invoke` takes such fields for one call.

    Raises:
        InvalidInput: If an argument cannot be used.

    Example:
        ```python
        from langchain_agentmemory import MemoryStore

        store = MemoryStore()
        store.add_memory("ann", "Ann prefers window seats", topics=["travel"])
        retriever = store.as_retriever("ann", limit=3)
        print(retriever.invoke("where does she like to sit?")[0].page_content)
        ```
    """

    store: Any = Field(exclude=True, repr=False)
    user: Any = Field(default=None, exclude=True, repr=False)
    options: SearchOptions = SearchOptions()

    def __init__(
        self,
        store: MemoryReader,
        user: Any = None,
        *,
        options: SearchOptions | None = None,
        **overrides: Any,
    ) -> None:
        """Check the arguments; nothing is read yet."""
        reader: object = store
        if not isinstance(reader, MemoryReader):
            msg = (
                f"store must be a MemoryStore, or another MemoryReader, not "
                f"{quoted(reader)}."
            )
            raise InvalidInput(msg)
        inherited = {
            name: overrides.pop(name)
            for name in BaseRetriever.model_fields
            if name in overrides
        }
        resolver, chosen = _resolver(user, store), _chosen(options, overrides)
        try:
            super().__init__(store=store, user=resolver, options=chosen, **inherited)
        except ValidationError as error:
            wrong = ", ".join(str(part["loc"][0]) for part in error.errors())
            msg = (
                f"A retriever cannot have this {wrong}: see LangChain's BaseRetriever."
            )
            raise InvalidInput(msg) from error

    def invoke(
        self,
        input: str,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the memories that fit a query, best first.

        Args:
            input: What to look for. Blank text finds nothing.
            config: May name the user, like the config of any run.
            **kwargs: Fields of `SearchOptions` for this call; `k` is the `limit`.

        Raises:
            UserNotResolved: If nobody is named, or somebody other than the
                authenticated user.
            InvalidInput: If an option cannot be used.
        """
        return super().invoke(input, config, run_config=ensure_config(config), **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async twin of `invoke`."""
        run_config = ensure_config(config)
        return await super().ainvoke(input, config, run_config=run_config, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's
        run_config: RunnableConfig | None = None,
        **overrides: Any,
    ) -> list[Document]:
        user, options = self._target(run_config, overrides)
        found = self.store.search_memories(user, query, options)
        return [document_of(entry) for entry in found]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's
        run_config: RunnableConfig | None = None,
        **overrides: Any,
    ) -> list[Document]:
        user, options = self._target(run_config, overrides)
        found = await self.store.asearch_memories(user, query, options)
        return [document_of(entry) for entry in found]

    def _target(
        self, config: RunnableConfig | None, overrides: dict[str, Any]
    ) -> tuple[UserKey, SearchOptions]:
        overrides.pop("verbose", None)  # LangChain's own, meant for its callbacks
        options = _chosen(self.options, overrides)
        # Of two graphs around this call, the one that is running is trusted.
        runtime = current_runtime() or runtime_in(config)
        user: UserKey = self.user.resolve(runtime, config)
        return user, options


def _resolver(user: Any, store: MemoryReader) -> UserResolver:
    resolver = user if isinstance(user, UserResolver) else UserResolver(user)
    return resolver.beside(store)


def _chosen(
    options: SearchOptions | None, overrides: Mapping[str, Any]
) -> SearchOptions:
    """Return search options, where `k` is another name of `limit`."""
    named = dict(overrides)
    if "k" in named:
        if "limit" in named:
            msg = "k is another name of limit: give one of them."
            raise InvalidInput(msg)
        named["limit"] = named.pop("k")
    return with_overrides(options, named)
