"""The extractor: a language model that says what to remember of a conversation."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

from langchain_core.callbacks import Callbacks
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from langchain_agentmemory.errors import ExtractionFailed, InvalidInput
from langchain_agentmemory.extraction.calls import CALLS, tool_schemas
from langchain_agentmemory.extraction.checkers import checked
from langchain_agentmemory.extraction.context import Checker, ExtractionContext
from langchain_agentmemory.extraction.messages import with_texts
from langchain_agentmemory.extraction.models import (
    AnyRunnable,
    Question,
    Reply,
    as_model,
    model_name,
    question,
    run_config,
)
from langchain_agentmemory.extraction.operations import Operations, Reading
from langchain_agentmemory.extraction.prompts import (
    DEFAULT_PROMPT,
    Prompt,
    PromptContext,
    conversation,
    local_time,
    render_prompt,
    short_ids,
    system_prompt,
)
from langchain_agentmemory.extraction.redaction import (
    Redact,
    guarded,
    redacted_entries,
    redacted_operations,
)
from langchain_agentmemory.policies.base import Policy
from langchain_agentmemory.types import MemoryEntry

RUN_NAME: Final = "memory_extraction"
"""Name of the model's run in traces."""

_log = logging.getLogger(__name__)


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

    def __init__(
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
        self.model: AnyRunnable | None = as_model(model)
        self._policy = _as_policy(policy)
        self.checkers = checked(
            (checkers,) if callable(checkers) else tuple(checkers or ())
        )
        self.assistant_episodes = assistant_episodes
        self.prompt = _as_prompt(prompt)
        self.redact = None if redact is None else guarded(redact)
        self.callbacks = callbacks

    @property
    def policy(self) -> Policy:
        """What may be written."""
        return self._policy

    @property
    def metadata(self) -> dict[str, Any]:
        """Name of the model, `""` if it does not tell, and whether there is one."""
        return {
            "model_name": model_name(self.model),
            "model_available": self.model is not None,
        }

    def should_extract(self, context: ExtractionContext) -> bool:
        """Say whether it is time: all checkers must say yes, in order."""
        return all(checker(context) for checker in self.checkers)

    def allowed_tools(self, enabled: frozenset[str] | None = None) -> tuple[str, ...]:
        """Return what the model may call: enabled and let through by the policy."""
        return tuple(
            name
            for name in CALLS
            if (enabled is None or name in enabled)
            and name.removeprefix("memory_") in self.policy.operations
        )

    def extract(
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
        first = self.first_stage(
            messages,
            existing,
            enabled=enabled,
            said_at=said_at,
            timezone=timezone,
            config=config,
        )
        return first

    async def aextract(
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
        first = await self.afirst_stage(
            messages,
            existing,
            enabled=enabled,
            said_at=said_at,
            timezone=timezone,
            config=config,
        )
        return first

    def first_stage(
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Return what the user's words lead to: `extract` without assistant episodes.

        Its `scope` is what the second stage needs to know.

        Raises:
            ExtractionFailed: As `extract` does.
        """
        when = local_time(said_at, timezone)
        stage = self._first(messages, existing, enabled, when, config)
        return self._read(stage, stage.question.ask()) if stage else Operations()

    async def afirst_stage(
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry] = (),
        *,
        enabled: frozenset[str] | None = None,
        said_at: datetime | None = None,
        timezone: str | tzinfo = "UTC",
        config: RunnableConfig | None = None,
    ) -> Operations:
        """Async twin of `first_stage`."""
        when = local_time(said_at, timezone)
        stage = self._first(messages, existing, enabled, when, config)
        return self._read(stage, await stage.question.aask()) if stage else Operations()

    def _first(
        self,
        messages: Sequence[BaseMessage],
        existing: Sequence[MemoryEntry],
        enabled: frozenset[str] | None,
        said_at: datetime,
        config: RunnableConfig | None,
    ) -> "_Stage | None":
        """Prepare the first request, `None` if there is nothing to ask."""
        model = self._required_model()
        tools = self.allowed_tools(enabled)
        shown, users = conversation(self._seen(messages))
        if not tools or not users:
            return None
        known = [entry for entry in existing if entry is not None]
        if self.redact:
            known = redacted_entries(known, self.redact)
        context = PromptContext(shown, known, said_at, tools)
        shown_ids = short_ids(entry.id for entry in known)
        system = system_prompt(
            self._base_prompt(context),
            context,
            instructions=self.policy.instructions,
            shown_ids=shown_ids,
            episodes=self.assistant_episodes,
        )
        reading = Reading(
            tools=tools,
            users=tuple(users),
            ids={short: real for real, short in shown_ids.items()},
            affected=self.assistant_episodes,
        )
        schemas = tool_schemas(
            tools, user_messages=len(users), affected=self.assistant_episodes
        )
        request = [SystemMessage(system), *shown]
        asked = question(
            model, request, schemas, run_config(config, self.callbacks, RUN_NAME)
        )
        return _Stage(asked, reading)

    def _read(self, stage: "_Stage", reply: Reply) -> Operations:
        operations = stage.reading.read(reply.calls)
        operations.model_calls = 1
        operations.usage = reply.usage
        for skipped in operations.skipped:
            _log.warning("Skipped a call of %r: %s", skipped.tool, skipped.reason)
        if self.redact:
            operations = redacted_operations(operations, self.redact)
        return operations

    def _seen(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        return with_texts(messages, self.redact) if self.redact else messages

    def _base_prompt(self, context: PromptContext) -> str:
        try:
            text: object = render_prompt(self.prompt, context)
        except Exception as error:
            msg = f"The prompt function failed ({type(error).__name__}: {error})."
            raise ExtractionFailed(msg) from error
        if not isinstance(text, str):
            msg = f"The prompt function must return text, not {type(text).__name__}."
            raise ExtractionFailed(msg)
        return text if text.strip() else DEFAULT_PROMPT

    def _required_model(self) -> AnyRunnable:
        if self.model is None:
            msg = (
                "This extractor has no model: pass a LangChain chat model or a name "
                "such as 'openai:gpt-5-mini' to MemoryExtractor."
            )
            raise ExtractionFailed(msg)
        return self.model

    def __repr__(self) -> str:
        """Name the model, the policy and the checkers."""
        name = model_name(self.model) or type(self.model).__name__
        return (
            f"MemoryExtractor({name!r}, policy={self.policy.name!r}, "
            f"checkers={list(self.checkers)!r})"
        )


@dataclass(frozen=True, slots=True)
class _Stage:
    """A request, and how to understand the answer."""

    question: Question
    reading: Reading


def _as_policy(policy: object) -> Policy:
    if policy is None:
        from langchain_agentmemory.policies.merge_similar import (  # noqa: PLC0415
            MergeSimilar,
        )

        return MergeSimilar()
    if not isinstance(policy, Policy):
        msg = (
            f"policy must be MergeSimilar(), PreserveHistory(), AppendOnly() or an "
            f"object with the same attributes, not {policy!r}."
        )
        raise InvalidInput(msg)
    return policy


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
