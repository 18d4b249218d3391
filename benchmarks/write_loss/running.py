"""Tell the stories to a store, through everything that a conversation goes through."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.write_loss.story import Call, Extractor, Story
from langchain_agentmemory import MemoryEntry, MemoryExtractor, MemoryStore
from langchain_agentmemory.policies import Policy
from langchain_agentmemory.testing import ScriptedChatModel

_SHOWN = re.compile(r"^- \[([^\]]+)\] (.*)$", re.MULTILINE)
"""A line of the request that shows an existing memory: its id, its text."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is stored after both visits of a story.

    Attributes:
        story: The story.
        active: What is read: current memories, and older versions that are marked.
        kept: What is only in the history.
    """

    story: Story
    active: tuple[MemoryEntry, ...]
    kept: tuple[MemoryEntry, ...]

    @property
    def current(self) -> tuple[MemoryEntry, ...]:
        """The memories that no newer version replaces."""
        return tuple(entry for entry in self.active if entry.superseded_by is None)


def tell(
    stories: Iterable[Story], policy: Policy, extractor: Extractor, url: str
) -> list[Told]:
    """Tell stories, each by a user of its own, in two threads with a flush in between.

    Args:
        stories: The stories.
        policy: The policy of the extractor.
        extractor: Which of the two makes the calls of the second visit.
        url: Where to store; a store that is empty.

    Raises:
        RuntimeError: If a turn was not extracted.
    """
    model = ScriptedChatModel()
    with MemoryStore.from_url(
        url, extractor=MemoryExtractor(model, policy=policy), soft_delete=True
    ) as store:
        return [
            _tell(store, model, story, _Extraction(extractor, policy))
            for story in stories
        ]


class _Extraction(NamedTuple):
    extractor: Extractor
    policy: Policy


def _tell(
    store: MemoryStore, model: ScriptedChatModel, story: Story, by: _Extraction
) -> Told:
    can_update = "update" in by.policy.operations
    for visit, calls in enumerate((story.first, story.calls(by.extractor))):
        model.responses.append(_Answer(calls, can_update=can_update))
        said = [HumanMessage(story.said[visit]), AIMessage("OK")]
        thread = f"{story.name}, visit {visit + 1}"
        accepted = store.enqueue_extraction(story.name, said, thread_id=thread)
        if not (accepted and store.flush(60)) or len(store.extraction_jobs()):
            msg = f"{thread} was not extracted: {store.status()}"
            raise RuntimeError(msg)
    active = store.read_memories(story.name)
    ids = {entry.id for entry in active}
    history = {
        earlier.id: earlier
        for entry in active
        for earlier in store.memory_history(story.name, entry.id)
        if earlier.id not in ids
    }
    return Told(story, tuple(active), tuple(history.values()))


class _Answer:
    """The answer of the scripted model: calls that name memories by the ids it sees.

    A model that is not offered updates, because the policy only adds, adds instead.
    """

    def __init__(self, calls: Sequence[Call], *, can_update: bool) -> None:
        self._calls = calls
        if not can_update:
            self._calls = [replace(call, changes=None) for call in calls]

    def __call__(self, request: Sequence[BaseMessage]) -> list[dict[str, Any]]:
        shown = _SHOWN.findall(request[0].text)
        return [_tool_call(call, shown) for call in self._calls]


def _tool_call(call: Call, shown: Sequence[tuple[str, str]]) -> dict[str, Any]:
    arguments: dict[str, Any] = {"memory": call.memory, "memory_kind": call.kind}
    if call.when is not None:
        arguments["event_time"] = call.when
    if call.who:
        arguments["participants"] = list(call.who)
    if call.where is not None:
        arguments["location"] = call.where
    if call.changes is None:
        return {"name": "memory_add", "args": arguments}
    arguments["memory_id"] = _meant(call.changes, shown)
    return {"name": "memory_update", "args": arguments}


def _meant(text: str, shown: Sequence[tuple[str, str]]) -> str:
    """Return the id under which a memory is shown; that of the most alike if none is.

    A policy may have changed the memory since: then a model names what it sees.
    """
    likeness = [SequenceMatcher(None, text, line).ratio() for _, line in shown]
    return shown[likeness.index(max(likeness))][0]
