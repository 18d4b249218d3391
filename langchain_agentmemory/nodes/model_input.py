"""Messages that a model sees and a checkpointer does not keep.

`create_react_agent` writes what its `pre_model_hook` returns into the graph's state,
from where every checkpoint would keep a copy of the user's memories; deleting a memory
would not delete those. The messages made here carry the memories while the run lasts
and are saved without them.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from pydantic import PrivateAttr

from langchain_agentmemory.nodes.injection import InjectionMode, inject

NOT_SAVED = "(The memories that stood here are not kept in checkpoints.)"
"""What a checkpoint has in place of a message that held nothing but memories."""


class _UnsavedSystemMessage(SystemMessage):
    _saved: str | list[str | dict[str, Any]] = PrivateAttr(default="")

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Dump what may be saved. Checkpoint serializers call this."""
        return {**super().model_dump(**options), "content": self._saved}


class _UnsavedHumanMessage(HumanMessage):
    _saved: str | list[str | dict[str, Any]] = PrivateAttr(default="")

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Dump what may be saved. Checkpoint serializers call this."""
        return {**super().model_dump(**options), "content": self._saved}


# A saved message is read back by the name of its class: as what it is without memories.
for _special, _plain in (
    (_UnsavedSystemMessage, SystemMessage),
    (_UnsavedHumanMessage, HumanMessage),
):
    _special.__name__ = _plain.__name__
    _special.__qualname__ = _plain.__qualname__
    _special.__module__ = _plain.__module__


class ModelInput(list[AnyMessage]):
    """Messages for one model call, which take a prompt put before them into one.

    `create_react_agent(prompt=…)` computes `[prompt] + messages`. With the memories in
    a system message of their own the model would get two, which some providers refuse.
    """

    def __radd__(self, before: list[Any]) -> list[Any]:
        """Merge the system message that is put in front into the one that is here."""
        match before, self:
            case [*first, SystemMessage() as prompt], [SystemMessage() as own, *rest]:
                return [*first, _merged(prompt, own), *rest]
        return [*before, *self]


def model_input(
    messages: Sequence[AnyMessage], block: str, mode: InjectionMode
) -> ModelInput:
    """Return the messages with the block in them, to be saved without it."""
    known = {id(message): message for message in messages}
    originals = [m for m in messages if isinstance(m, SystemMessage | HumanMessage)]
    injected = inject(messages, block, mode)
    kept = {id(message) for message in injected}
    replaced = next((m for m in originals if id(m) not in kept), None)
    return ModelInput(
        message if id(message) in known else _unsaved_form(message, replaced)
        for message in injected
    )


def _unsaved_form(message: AnyMessage, original: BaseMessage | None) -> AnyMessage:
    kind = (
        _UnsavedSystemMessage
        if isinstance(message, SystemMessage)
        else _UnsavedHumanMessage
    )
    unsaved = kind(**message.model_dump())
    unsaved._saved = NOT_SAVED if original is None else original.content  # noqa: SLF001
    return unsaved


def _merged(prompt: SystemMessage, own: SystemMessage) -> SystemMessage:
    if isinstance(prompt.content, str) and isinstance(own.content, str):
        content: str | list[Any] = f"{prompt.content}\n\n{own.content}".strip()
    else:
        content = [*_blocks(prompt), *_blocks(own, before="\n\n")]
    return prompt.model_copy(update={"content": content})


def _blocks(message: SystemMessage, before: str = "") -> list[Any]:
    if isinstance(message.content, str):
        return [{"type": "text", "text": before + message.content}]
    return list(message.content)
