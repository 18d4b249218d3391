"""How a model is asked: with tool calls, else structured output, else JSON.

Any LangChain runnable can be asked. Tools are bound to the chat model inside it, so
that steps before and after the model, retries and fallbacks keep working.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from langchain_core.callbacks import BaseCallbackManager, Callbacks
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable, RunnableBranch, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase, RunnableSequence
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

from langchain_agentmemory.errors import ExtractionFailed, InvalidInput
from langchain_agentmemory.extraction.answers import (
    Call,
    answer_format,
    calls_in_json,
    calls_of_message,
    operations_schema,
)

Style = Literal["tools", "structured", "json"]
AnyRunnable = Runnable[Any, Any]

_SHOWN_ERROR: Final = 500  # providers like to repeat the request in their errors


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        calls: Names and arguments, as the model gave them.
        usage: Tokens, if the model says.
    """

    calls: list[Call]
    usage: UsageMetadata | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a model: what it is sent, and how its answer is read."""

    runnable: AnyRunnable
    style: Style
    messages: list[BaseMessage]
    config: RunnableConfig

    def ask(self) -> Reply:
        """Ask the model.

        Raises:
            ExtractionFailed: If it does not answer, or not with a message.
        """
        try:
            answer = self.runnable.invoke(self.messages, self.config)
        except Exception as error:
            raise _failed(error) from error
        return _reply(self.style, answer)

    async def aask(self) -> Reply:
        """Async twin of `ask`."""
        try:
            answer = await self.runnable.ainvoke(self.messages, self.config)
        except Exception as error:
            raise _failed(error) from error
        return _reply(self.style, answer)


def question(
    model: AnyRunnable,
    messages: list[BaseMessage],
    tools: Sequence[dict[str, Any]],
    config: RunnableConfig,
) -> Question:
    """Prepare a request in the best way that the model knows.

    Args:
        model: A chat model, or a runnable around one.
        messages: What is sent. The first is a system message.
        tools: What the model may call, in OpenAI's format.
        config: For the run of the model.

    Raises:
        ExtractionFailed: If the tools cannot be bound.
    """
    try:
        if bound := _with_tools(model, tools):
            return Question(bound, "tools", messages, config)
        if structured := _with_schema(model, tools):
            return Question(structured, "structured", messages, config)
    except Exception as error:
        raise _failed(error) from error
    first, *others = messages
    instructed = SystemMessage(f"{first.text}\n\n{answer_format(tools)}")
    return Question(model, "json", [instructed, *others], config)


def as_model(model: Any) -> AnyRunnable | None:
    """Return the model, made by LangChain's `init_chat_model` if it is a name.

    Raises:
        InvalidInput: If it is no model, or `langchain` is missing.
    """
    if model is None or isinstance(model, Runnable):
        return model
    if not isinstance(model, str):
        msg = (
            f"model must be a LangChain chat model, a runnable around one, or a name "
            f"such as 'openai:gpt-5-mini', not {type(model).__name__}."
        )
        raise InvalidInput(msg)
    try:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - optional
    except ImportError as error:
        msg = (
            f"A model by its name ({model!r}) needs the package langchain: pip install "
            f"'langchain-agentmemory[agents]', or pass the chat model itself."
        )
        raise InvalidInput(msg) from error
    made: AnyRunnable = init_chat_model(model)
    return made


def model_name(model: AnyRunnable | None) -> str:
    """Return the name of the model as far as it tells, else `""`."""
    for attribute in ("model_name", "model", "model_id"):
        name = getattr(model, attribute, None)
        if isinstance(name, str):
            return name
    return ""


def run_config(
    config: RunnableConfig | None, callbacks: Callbacks, run_name: str
) -> RunnableConfig:
    """Return the config of a model's run, which no stream of the user shows."""
    merged: RunnableConfig = {**(config or {}), "run_name": run_name}
    merged["tags"] = [*(merged.get("tags") or ()), "nostream"]
    given = merged.get("callbacks")
    if callbacks and given:
        merged["callbacks"] = _joined(callbacks, given)
    elif callbacks:
        merged["callbacks"] = callbacks
    return merged


def _joined(ours: Callbacks, given: Callbacks) -> Callbacks:
    if isinstance(given, BaseCallbackManager):
        joined = given.copy()
        for handler in _handlers(ours):
            joined.add_handler(handler, inherit=True)
        return joined
    return [*_handlers(ours), *_handlers(given)]


def _handlers(callbacks: Callbacks) -> list[Any]:
    if isinstance(callbacks, BaseCallbackManager):
        return list(callbacks.handlers)
    return list(callbacks or ())


def _with_tools(
    model: AnyRunnable, tools: Sequence[dict[str, Any]]
) -> AnyRunnable | None:
    """Return the runnable with tools bound to the models in it, `None` if none can."""
    found = False

    def bind(runnable: AnyRunnable) -> AnyRunnable | None:
        if not _calls_tools(runnable):
            return None
        try:
            bound: AnyRunnable = runnable.bind_tools(tools)  # type: ignore[attr-defined]
        except NotImplementedError:
            return None
        nonlocal found
        found = True
        return bound

    changed = _within(model, bind)
    return changed if found else None


def _within(
    runnable: AnyRunnable, bind: Callable[[AnyRunnable], AnyRunnable | None]
) -> AnyRunnable:
    """Return the runnable with every model in it replaced by what `bind` makes of it.

    The wrappers come first: a binding would pass `bind_tools` on to its model and lose
    what it binds itself.
    """
    if isinstance(runnable, RunnableBindingBase):
        return runnable.model_copy(update={"bound": _within(runnable.bound, bind)})
    if isinstance(runnable, RunnableSequence):
        return RunnableSequence(
            *(_within(step, bind) for step in runnable.steps), name=runnable.name
        )
    if isinstance(runnable, RunnableWithFallbacks):
        fallbacks = [_within(other, bind) for other in runnable.fallbacks]
        first = _within(runnable.runnable, bind)
        return runnable.model_copy(update={"runnable": first, "fallbacks": fallbacks})
    if isinstance(runnable, RunnableBranch):
        branches = [(when, _within(then, bind)) for when, then in runnable.branches]
        return RunnableBranch(*branches, _within(runnable.default, bind))
    return bind(runnable) or runnable


def _calls_tools(model: AnyRunnable) -> bool:
    profile = getattr(model, "profile", None)
    if isinstance(profile, dict) and profile.get("tool_calling") is False:
        return False
    return callable(getattr(model, "bind_tools", None))


def _with_schema(
    model: AnyRunnable, tools: Sequence[dict[str, Any]]
) -> AnyRunnable | None:
    structured = getattr(model, "with_structured_output", None)
    # LangChain's default is made of tool calls, which this model does not know.
    inherited = getattr(type(model), "with_structured_output", None)
    if not callable(structured) or inherited is BaseChatModel.with_structured_output:
        return None
    try:
        made: AnyRunnable = structured(operations_schema(tools), include_raw=True)
    except NotImplementedError:
        return None
    return made


def _reply(style: Style, answer: Any) -> Reply:
    raw, parsed = answer, None
    if style == "structured" and isinstance(answer, dict) and "raw" in answer:
        raw, parsed = answer["raw"], answer.get("parsed")
    elif style == "structured":
        raw, parsed = None, answer
    usage = raw.usage_metadata if isinstance(raw, AIMessage) else None
    if parsed is not None:
        return Reply(calls_in_json(parsed), usage)
    if isinstance(raw, AIMessage) and (calls := calls_of_message(raw)):
        # Also without tools: a step of the runnable may have answered for the model.
        return Reply(calls, usage)
    if isinstance(raw, BaseMessage):
        return Reply([] if style == "tools" else calls_in_json(raw.text), usage)
    if isinstance(raw, str) and style != "tools":
        return Reply(calls_in_json(raw), usage)
    msg = (
        f"The model answered with {type(raw).__name__} instead of a message. A "
        f"runnable that is used as a model must return an AIMessage."
    )
    raise ExtractionFailed(msg)


def _failed(error: Exception) -> ExtractionFailed:
    return ExtractionFailed(
        f"The model could not be asked ({type(error).__name__}: "
        f"{str(error)[:_SHOWN_ERROR]}). Nothing was extracted; the messages can be "
        f"extracted again."
    )
