"""The extractor: a language model that says what to remember of a conversation."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, Unpack

from langchain_core.callbacks import Callbacks
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from langchain_agentmemory.errors import ExtractionFailed, InvalidInput
from langchain_agentmemory.extraction.assistant import episode_timeout
from langchain_agentmemory.extraction.checkers import checked
from langchain_agentmemory.extraction.context import Checker, ExtractionContext
from langchain_agentmemory.extraction.models import as_model, model_name
from langchain_agentmemory.extraction.operations import Operations
from langchain_agentmemory.extraction.prompts import DEFAULT_PROMPT, Prompt
from langchain_agentmemory.extraction.redaction import Redact, guarded
from langchain_agentmemory.extraction.stages import (
    Circumstances,
    Settings,
    Turn,
    first_stage,
    no_episodes,
    second_stage,
)
from langchain_agentmemory.policies.base import Policy, as_policy
from langchain_agentmemory.policies.merge_similar import MergeSimilar
from langchain_agentmemory.types import MemoryEntry


class MemoryExtractor:
    """Finds out what to remember of a conversation, by asking a language model.

    The model answers with tool calls (add, update, delete, clear), which become
    operations. Nothing is written: what a policy lets through, a store does.

    Only user and assistant messages are read, and only what the user said can lead to
    a memory, a change or a deletion. A call that cannot be used is skipped and
    reported; it never spoils the others. An extractor keeps no state between calls and
    can be used from any thread or event loop.

    Example:
        ```python
        extractor = MemoryExtractor("openai:gpt-5-mini")
        extractor.extract([HumanMessage("I moved to Porto last week")])
        ```
    """

    def __init__(  # noqa: PLR0913 - each of them is optional
        self,
        model: Any,
        *,
        policy: Policy | None = None,
        checkers: Sequence[Checker] | Checker = (),
        assistant_episodes: bool = False,
        prompt: Prompt | None = None,
        redact: Redact | None = None,
        callbacks: Callbacks = None,
    ) -> None:
        """Initialise the extractor.

        Args:
            model: A LangChain chat model, any runnable around one, or a name for
                `init_chat_model` (needs `langchain`). Without tool calling, structured
                output or JSON is used. With `None`, extraction fails.
            policy: What may be written. `None` is `MergeSimilar()`.
            checkers: When to extract: all of them must say yes. None: always.
            assistant_episodes: Also remember useful answers of the assistant, which
                takes a second call of the model.
            prompt: Replaces `DEFAULT_PROMPT`; the blocks about policy, actions, the
                conversation and existing memories still follow. A template or a
                function of a `PromptContext`; blank is ignored.
            redact: Sees every text of messages and memories before the model does, and
                every text of the operations.
            callbacks: LangChain callbacks for the runs of the model.

        Raises:
            InvalidInput: If an argument cannot be used.
        """
        self._settings = Settings(
            model=as_model(model),
            policy=as_policy(policy, MergeSimilar),
            prompt=_as_prompt(prompt),
            redact=None if redact is None else guarded(redact),
            callbacks=callbacks,
            assistant_episodes=assistant_episodes,
        )
        self.checkers = checked(
            (checkers,) if callable(checkers) else tuple(checkers or ())
        )

    @property
    def policy(self) -> Policy:
        """What may be written."""
        return self._settings.policy

    @property
    def redact(self) -> Redact | None:
        """What every text goes through before it is written down or shown."""
        return self._settings.redact

    @property
    def assistant_episodes(self) -> bool:
        """Whether useful answers of the assistant are remembered, too."""
        return self._settings.assistant_episodes

    @property
    def prompt(self) -> Prompt:
        """The prompt, before it is rendered."""
        return self._settings.prompt

    @property
    def metadata(self) -> dict[str, Any]:
        """Name of the model, `""` if it does not tell, and whether there is one."""
        model = self._settings.model
        return {
            "model_name": model_name(model),
            "model_available": model is not None,
        }

    def should_extract(self, context: ExtractionContext) -> bool:
        """Say whether it is time: all checkers must say yes, in order."""
        return all(checker(context) for checker in self.checkers)

    def allowed_tools(self, enabled: frozenset[str] | None = None) -> tuple[str, ...]:
        """Return what the model may call: enabled and let through by the policy."""
        return self._settings.allowed_tools(enabled)

    def extract(  # noqa: PLR0913 - see Extractor
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Return what to do, in order.

        Args:
            messages: What was said since the last extraction. Without words of the
                user among them, no model is asked.
            existing: Memories of this user that may matter.
            enabled: Names of the memory tools that may be used (`"memory_add"`, …).
                `None` = all, an empty set = none.
            said_at: When the turn was said; relative times in it refer to this. Naive
                values are taken in the timezone. `None` = now.
            timezone: Where the user is.
            config: For the runs of the model.

        Raises:
            ExtractionFailed: If there is no model or it fails. The error of the model
                is its cause.
            InvalidInput: If there is no such timezone.
        """
        circumstances = Circumstances(
            enabled=enabled, said_at=said_at, timezone=timezone, config=config
        )
        first = self.first_stage(messages, existing, **circumstances)
        return first.followed_by(self.second_stage(messages, first, **circumstances))

    async def aextract(  # noqa: PLR0913 - see Extractor
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Async twin of `extract`."""
        circumstances = Circumstances(
            enabled=enabled, said_at=said_at, timezone=timezone, config=config
        )
        first = await self.afirst_stage(messages, existing, **circumstances)
        second = await self.asecond_stage(messages, first, **circumstances)
        return first.followed_by(second)

    def first_stage(
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        **circumstances: Unpack[Circumstances],
    ) -> Operations:
        """Return what the user's words lead to: `extract` without assistant episodes.

        Its `scope` is what the second stage needs to know.

        Raises:
            ExtractionFailed: As `extract` does.
        """
        stage = first_stage(self._settings, messages, existing, Turn(**circumstances))
        return stage.run() if stage else Operations()

    async def afirst_stage(
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        **circumstances: Unpack[Circumstances],
    ) -> Operations:
        """Async twin of `first_stage`."""
        stage = first_stage(self._settings, messages, existing, Turn(**circumstances))
        return await stage.arun() if stage else Operations()

    def second_stage(
        self,
        messages: Sequence[BaseMessage],
        first: Operations,
        **circumstances: Unpack[Circumstances],
    ) -> Operations:
        """Return the assistant episodes alone: additions to what came first.

        There are none if they are switched off, nothing may be added, no answer is
        worth it, or a deletion did not say which answers it covers. Then no model is
        asked. A model that fails is reported in `skipped`, never raised: what came
        first must not be lost for this.

        Args:
            messages: The same as in the first stage.
            first: What the first stage returned.
            circumstances: The same as in the first stage.
        """
        try:
            stage = second_stage(self._settings, messages, first, Turn(**circumstances))
            return stage.run() if stage else Operations()
        except ExtractionFailed as error:
            return no_episodes(error)

    async def asecond_stage(
        self,
        messages: Sequence[BaseMessage],
        first: Operations,
        *,
        time_left: float | None = None,
        **circumstances: Unpack[Circumstances],
    ) -> Operations:
        """Async twin of `second_stage`, which can also be limited in time.

        Args:
            messages: The same as in the first stage.
            first: What the first stage returned.
            time_left: Seconds until the whole job ends. The model is given up early
                enough to keep what came first.
            circumstances: The same as in the first stage.
        """
        try:
            stage = second_stage(self._settings, messages, first, Turn(**circumstances))
            async with asyncio.timeout(episode_timeout(time_left)):
                return await stage.arun() if stage else Operations()
        except (ExtractionFailed, TimeoutError) as error:
            return no_episodes(error)

    def __repr__(self) -> str:
        """Name the model, the policy and the checkers."""
        model = self._settings.model
        name = model_name(model) or type(model).__name__
        return (
            f"MemoryExtractor({name!r}, policy={self.policy.name!r}, "
            f"checkers={list(self.checkers)!r})"
        )


def _as_prompt(prompt: object) -> Prompt:
    if prompt is None or (isinstance(prompt, str) and not prompt.strip()):
        return DEFAULT_PROMPT
    if isinstance(prompt, str) or callable(prompt):
        return prompt
    msg = (
        f"prompt must be a template or a function of a PromptContext, not "
        f"{type(prompt).__name__}."
    )
    raise InvalidInput(msg)
