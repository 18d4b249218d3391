"""A chat model that works without a network: simple rules, real tool calls."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import (
    BaseChatModel,
    LangSmithParams,
    LanguageModelInput,
)
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from langchain_agentmemory.offline.planning import Reply, next_reply
from langchain_agentmemory.offline.turn import Parameters

MODEL_NAME = "offline-rules"
"""How the model names itself in response metadata."""

# One Chinese character or one word with the blanks behind it.
_TOKEN = re.compile(
    r"[\u3400-\u9fff\uff00-\uffef\u3000-\u303f]|[^\s\u3400-\u9fff]+\s*|\s+"
)


class OfflineChatModel(BaseChatModel):
    """A rule-based chat model that remembers by calling the memory tools.

    It exists so that the package can be tried, shown and tested without a key, a
    network or a download. It is no language model and says so when asked. It reads
    English and Chinese and answers in the language it was addressed in:

    * statements about oneself ("I live in Rome", "我叫小明", "remember that …") are
      stored with `memory_add`; one that contradicts a preloaded memory of which there
      can be one only (a name, a home) becomes `memory_update`;
    * corrections ("I moved to …", "actually, …", "not Rome but Paris", "我不再…") are
      searched for, then updated, or added when there is nothing to correct;
    * "forget …" / 忘记… searches and calls `memory_delete` if it is bound, and says how
      to do it otherwise;
    * questions are answered by quoting memories from the prompt, else from
      `memory_search`; "what do you know about me?" uses `memory_load`. When nothing is
      found it says so.

    Only tools that are bound are called, at most three model calls per user message.
    The same messages give the same answer; only relative dates depend on `today`.
    It chooses tools by rules and therefore cannot be forced to call one, nor produce
    structured output.

    Example:
        ```python
        from langchain_agentmemory.offline import OfflineChatModel

        model = OfflineChatModel()
        print(model.invoke("Who are you?").text)
        ```
    """

    today: date | None = Field(default=None)
    """The day that "yesterday" is counted from. `None` is the day of the call."""

    kept: Callable[[str], bool] | None = Field(default=None, exclude=True)
    """Tells whether an extractor beside the agent keeps a sentence that no rule
    understands, so that the model can say so. `None`: nothing does."""

    @property
    def _llm_type(self) -> str:
        return "agentmemory-offline"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": MODEL_NAME}

    def _get_ls_params(
        self, stop: list[str] | None = None, **kwargs: Any
    ) -> LangSmithParams:
        params = super()._get_ls_params(stop=stop, **kwargs)
        given: LangSmithParams = {"ls_model_name": MODEL_NAME, **params}
        given["ls_provider"] = "agentmemory"
        return given

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools. The memory tools among them are used, others never called.

        Args:
            tools: In any form that LangChain accepts.
            tool_choice: `None`, `"auto"`, or `"none"`.
            kwargs: Passed on to the bound model.

        Raises:
            ValueError: If a tool shall be forced, which rules cannot do.
        """
        if tool_choice not in {None, "auto", "none", "", False}:
            msg = (
                f"OfflineChatModel cannot be forced to call a tool (tool_choice="
                f"{tool_choice!r}): leave tool_choice out, or use a real chat model."
            )
            raise ValueError(msg)
        offered = [] if tool_choice == "none" else tools
        formatted = [convert_to_openai_tool(tool) for tool in offered]
        return self.bind(tools=formatted, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._reply(messages, kwargs.get("tools"), stop)
        message = AIMessage(
            content=reply.text,
            tool_calls=list(reply.calls),
            response_metadata=_metadata(reply),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        # Microseconds of pure computation: no executor needed.
        return self._generate(messages, stop, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._reply(messages, kwargs.get("tools"), stop)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self._reply(messages, kwargs.get("tools"), stop)):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _reply(
        self,
        messages: Sequence[BaseMessage],
        tools: Sequence[Mapping[str, Any]] | None,
        stop: Sequence[str] | None,
    ) -> Reply:
        # The day where the user is: that is what "yesterday" means to them.
        today = self.today or date.today()  # noqa: DTZ011
        kept = self.kept or _never
        reply = next_reply(messages, _parameters(tools or ()), today, kept)
        ends = [reply.text.index(word) for word in stop or () if word in reply.text]
        return Reply(reply.text[: min(ends)], reply.calls) if ends else reply


def _never(_: str) -> bool:
    return False


def _parameters(tools: Sequence[Mapping[str, Any]]) -> Parameters:
    functions = [tool["function"] for tool in tools if "function" in tool]
    return {
        function["name"]: frozenset(
            function.get("parameters", {}).get("properties", {})
        )
        for function in functions
    }


def _metadata(reply: Reply) -> dict[str, Any]:
    reason = "tool_calls" if reply.calls else "stop"
    return {"model_name": MODEL_NAME, "finish_reason": reason}


def _chunks(reply: Reply) -> Iterator[ChatGenerationChunk]:

    for token in _TOKEN.findall(reply.text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=token))
    calls = [
        tool_call_chunk(
            name=call["name"],
            args=json.dumps(call["args"], ensure_ascii=False),
            id=call["id"],
            index=index,
        )
        for index, call in enumerate(reply.calls)
    ]
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            content="",
            tool_call_chunks=calls,
            response_metadata=_metadata(reply),
            chunk_position="last",
        )
    )
