"""The two requests of an extraction: how each is made and its answer understood.

The first turns what the user said into operations. The second, if assistant episodes
are on, looks for answers of the assistant that are worth remembering.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final, TypedDict

from langchain_core.callbacks import Callbacks
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from langchain_agentmemory.errors import ExtractionFailed
from langchain_agentmemory.extraction import assistant
from langchain_agentmemory.extraction.answers import Call
from langchain_agentmemory.extraction.assistant_prompt import EPISODE_TOOL
from langchain_agentmemory.extraction.calls import CALLS, tool_schemas
from langchain_agentmemory.extraction.messages import with_texts
from langchain_agentmemory.extraction.models import (
    AnyRunnable,
    Question,
    Reply,
    question,
    run_config,
)
from langchain_agentmemory.extraction.operations import Operations, Reading, Skipped
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
    redacted_entries,
    redacted_operations,
)
from langchain_agentmemory.policies.base import Policy
from langchain_agentmemory.types import MemoryEntry

RUN_NAME: Final = "memory_extraction"
"""Name of the model's run in traces."""

EPISODES_RUN_NAME: Final = "memory_assistant_episodes"
"""Name of the second run, if there is one."""

_log = logging.getLogger(__name__)


class Circumstances(TypedDict, total=False):
    """The keyword arguments of both stages; see `Turn`."""

    enabled: frozenset[str] | None
    said_at: datetime | None
    timezone: str | tzinfo
    config: RunnableConfig | None


@dataclass(frozen=True, slots=True)
class Turn:
    """What holds for one extraction.

    Attributes:
        enabled: Names of the memory tools that may be used (`"memory_add"`, …). `None`
            = all, an empty set = none.
        said_at: When the turn was said; relative times in it refer to this. Naive
            values are taken in the timezone. `None` = now.
        timezone: Where the user is.
        config: For the runs of the model.
    """

    enabled: frozenset[str] | None = None
    said_at: datetime | None = None
    timezone: str | tzinfo = "UTC"
    config: RunnableConfig | None = None

    @property
    def local_time(self) -> datetime:
        """When it was said, where the user is.

        Raises:
            InvalidInput: If there is no such timezone.
        """
        return local_time(self.said_at, self.timezone)


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for all extractions of an extractor."""

    model: AnyRunnable | None
    policy: Policy
    prompt: Prompt
    redact: Redact | None
    callbacks: Callbacks
    assistant_episodes: bool

    def allowed_tools(self, enabled: frozenset[str] | None) -> tuple[str, ...]:
        """Return what the model may call: enabled and let through by the policy."""
        return tuple(
            name
            for name in CALLS
            if (enabled is None or name in enabled)
            and name.removeprefix("memory_") in self.policy.operations
        )

    def required_model(self) -> AnyRunnable:
        """Return the model.

        Raises:
            ExtractionFailed: If there is none.
        """
        if self.model is None:
            msg = (
                "This extractor has no model: pass a LangChain chat model or a name "
                "such as 'openai:gpt-5-mini' to MemoryExtractor."
            )
            raise ExtractionFailed(msg)
        return self.model

    def seen(self, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        """Return the messages as a model may see them."""
        return with_texts(messages, self.redact) if self.redact else messages

    def base_prompt(self, context: PromptContext) -> str:
        """Return the rendered prompt.

        Raises:
            ExtractionFailed: If a prompt function fails.
        """
        try:
            text: object = render_prompt(self.prompt, context)
        except Exception as error:
            msg = f"The prompt function failed ({type(error).__name__}: {error})."
            raise ExtractionFailed(msg) from error
        if not isinstance(text, str):
            msg = f"The prompt function must return text, not {type(text).__name__}."
            raise ExtractionFailed(msg)
        return text if text.strip() else DEFAULT_PROMPT


@dataclass(frozen=True, slots=True)
class Stage:
    """A request, and how to understand the answer."""

    question: Question
    read: Callable[[list[Call]], Operations]
    redact: Redact | None

    def run(self) -> Operations:
        """Ask the model.

        Raises:
            ExtractionFailed: If it fails.
        """
        return self._answered(self.question.ask())

    async def arun(self) -> Operations:
        """Async twin of `run`."""
        return self._answered(await self.question.aask())

    def _answered(self, reply: Reply) -> Operations:
        operations = self.read(reply.calls)
        operations.model_calls = 1
        operations.usage = reply.usage
        for skipped in operations.skipped:
            _log.warning("Skipped a call of %r: %s", skipped.tool, skipped.reason)
        if self.redact:
            operations = redacted_operations(operations, self.redact)
        return operations


def first_stage(
    settings: Settings,
    messages: Sequence[BaseMessage],
    existing: Sequence[MemoryEntry],
    turn: Turn,
) -> Stage | None:
    """Prepare the request for what the user said, `None` if there is nothing to ask.

    Raises:
        ExtractionFailed: If there is no model, or a function of the application fails.
        InvalidInput: If there is no such timezone.
    """
    model = settings.required_model()
    when = turn.local_time
    tools = settings.allowed_tools(turn.enabled)
    shown, users = conversation(settings.seen(messages))
    if not tools or not users:
        return None
    known: Sequence[MemoryEntry] = [entry for entry in existing if entry is not None]
    if settings.redact:
        known = redacted_entries(known, settings.redact)
    context = PromptContext(shown, known, when, tools)
    ids = short_ids(entry.id for entry in known)
    system = system_prompt(
        settings.base_prompt(context),
        context,
        instructions=settings.policy.instructions,
        shown_ids=ids,
        episodes=settings.assistant_episodes,
    )
    reading = Reading(
        tools=tools,
        users=tuple(users),
        ids={short: real for real, short in ids.items()},
        affected=settings.assistant_episodes,
    )
    schemas = tool_schemas(
        tools, user_messages=len(users), affected=settings.assistant_episodes
    )
    request = [SystemMessage(system), *shown]
    run = run_config(turn.config, settings.callbacks, RUN_NAME)
    asked = question(model, request, schemas, run)
    return Stage(asked, reading.read, settings.redact)


def second_stage(
    settings: Settings,
    messages: Sequence[BaseMessage],
    first: Operations,
    turn: Turn,
) -> Stage | None:
    """Prepare the request for assistant episodes, `None` if there is nothing to ask.

    Raises:
        ExtractionFailed: As `first_stage` does.
        InvalidInput: If there is no such timezone.
    """
    scope = first.scope
    may_add = "memory_add" in settings.allowed_tools(turn.enabled)
    if not settings.assistant_episodes or not may_add or scope.unknown:
        return None
    seen = settings.seen(messages)
    candidates = assistant.candidates(
        assistant.pairs(seen), cleared=scope.cleared, deleted=scope.deleted
    )
    if not candidates:
        return None
    when = turn.local_time
    prompt = None
    if settings.prompt != DEFAULT_PROMPT:
        context = PromptContext(seen, (), when, ("memory_add",))
        prompt = settings.base_prompt(context)
    request, tool = assistant.request(candidates, prompt=prompt)

    def read(calls: Iterable[Call]) -> Operations:
        given: list[dict[str, Any]] = [{"name": n, "args": a} for n, a in calls]
        found, skipped = assistant.accept(given, candidates, said_at=when)
        return Operations(found, skipped=skipped)

    run = run_config(turn.config, settings.callbacks, EPISODES_RUN_NAME)
    asked = question(settings.required_model(), request, [tool], run)
    return Stage(asked, read, settings.redact)


def no_episodes(error: Exception) -> Operations:
    """Return what remains of a second stage that failed: the report of it."""
    reason = str(error) or "The model took too long."
    _log.warning("No assistant episodes: %s", reason)
    return Operations(skipped=[Skipped(EPISODE_TOOL, None, reason)], model_calls=1)
