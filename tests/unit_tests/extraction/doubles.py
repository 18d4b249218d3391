"""Stand-ins for what the extractor works with."""

from dataclasses import dataclass
from datetime import UTC, datetime

from langchain_agentmemory.extraction.extractor import MemoryExtractor
from langchain_agentmemory.testing import ScriptedChatModel
from langchain_agentmemory.types import MemoryEntry

WRITES = frozenset({"add", "update", "delete", "clear"})


@dataclass(frozen=True)
class Allowing:
    """A policy that lets some types of operation through, and judges nothing."""

    name: str = "allowing"
    instructions: str = ""
    operations: frozenset[str] = WRITES

    def decide(self, operations, existing, *, search=None, enabled=None):
        raise NotImplementedError

    def reconcile(self, operations, existing, *, search=None, enabled=None):
        return list(operations)


def call(tool, **args):
    """Return a tool call as a script holds it."""
    return {"name": tool, "args": args}


def scripted(*responses, policy=None, model=None, **options):
    """Return an extractor over a scripted model, and the model."""
    model = model or ScriptedChatModel(responses)
    return MemoryExtractor(model, policy=policy or Allowing(), **options), model


def memory(text, identifier="m1", **details):
    """Return a memory; what is not given is empty."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    given = {
        "topics": (),
        "kind": "",
        "event_time": None,
        "event_precision": "instant" if details.get("event_time") else None,
        "participants": (),
        "location": None,
        "created_at": now,
        "updated_at": now,
    }
    return MemoryEntry(identifier, "default", "ann", text, **{**given, **details})
