"""A chat model that answers from a script, for tests of what is built on a model."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

Answer = AIMessage | str | Sequence[Mapping[str, Any]] | BaseException
"""A message, its text, its tool calls (`{"name": …, "args": {…}}`), or an error."""

Response = Answer | Callable[[Sequence[BaseMessage]], Any]
"""An answer, or a function of the messages that returns one (or awaits one)."""


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What the model was asked.

    Attributes:
        messages: What it was sent.
        tools: The tools that it was offered, in OpenAI's format.
        options: Everything else that was bound or passed.
    """

    messages: list[BaseMessage]
    tools: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools, in the order in which they were offered."""
        return [tool["function"]["name"] for tool in self.tools]


class ScriptedChatModel(BaseChatModel):
    """Gives prepared answers, one per request, and records the requests.

    A real chat model to LangChain: with tool calls, callbacks, sync and async. It can
    be shared by threads; each request takes the next answer.

    Example:
        ```python
        call = {"name": "memory_add", "args": {"memory": "Likes tea"}}
        model = ScriptedChatModel([[call], "Bye", TimeoutError("slow")])
        model.invoke("Hi").tool_calls
        ```
    """

    responses: list[Any]
    tool_calling: bool = True
    requests: list[ScriptedRequest] = Field(default_factory=list)

    _lock: Lock = PrivateAttr(default_factory=Lock)
    _next: int = PrivateAttr(default=0)

    def __init__(self, responses: Iterable[Response] = (), **options: Any) -> None:
        """Initialise the model.

        Args:
            responses: The answers, in order. A request beyond the last is an error.
            options: `tool_calling=False` makes a model without `bind_tools`; the rest
                are options of every LangChain model.
        """
        super().__init__(responses=list(responses), **options)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools, in any form that LangChain accepts.

        Raises:
            NotImplementedError: If the model is one without tool calling.
        """
        if not self.tool_calling:
            msg = "This ScriptedChatModel has tool_calling=False."
            raise NotImplementedError(msg)
        return self.bind(
            tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        response = self._respond(messages, kwargs)
        if inspect.isawaitable(response):
            if inspect.iscoroutine(response):
                response.close()
            msg = "This answer must be awaited: use ainvoke, or a plain function."
            raise TypeError(msg)
        return _result(response)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        response = self._respond(messages, kwargs)
        return _result(await response if inspect.isawaitable(response) else response)

    def _respond(self, messages: list[BaseMessage], options: dict[str, Any]) -> Any:
        given = dict(options)
        request = ScriptedRequest(list(messages), given.pop("tools", []), given)
        with self._lock:
            self.requests.append(request)
            if self._next >= len(self.responses):
                msg = (
                    f"The script has {len(self.responses)} answers, and this is "
                    f"request {len(self.requests)}: add an answer to `responses`."
                )
                raise IndexError(msg)
            response = self.responses[self._next]
            self._next += 1
        return response(messages) if callable(response) else response


def _result(answer: Any) -> ChatResult:
    if isinstance(answer, BaseException):
        raise answer
    if isinstance(answer, str):
        answer = AIMessage(answer)
    if not isinstance(answer, AIMessage):
        calls = [
            {"id": f"call_{number}", "type": "tool_call", **call}
            for number, call in enumerate(answer, start=1)
        ]
        answer = AIMessage("", tool_calls=calls)
    return ChatResult(generations=[ChatGeneration(message=answer)])
