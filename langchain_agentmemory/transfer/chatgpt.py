"""The `conversations.json` of a ChatGPT data export.

Every conversation is a tree, because messages can be edited and answers regenerated.
What the user last saw is the branch that ends in `current_node`.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.transfer.messages import read_messages
from langchain_agentmemory.transfer.statements import Problem, Statement

_SPOKEN = frozenset({"text", "multimodal_text"})
"""Content types that hold what was said, as opposed to code, searches, thoughts."""


def is_chatgpt(value: object) -> bool:
    """Tell whether a JSON value is a ChatGPT conversation."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def read_chatgpt(
    conversations: Iterable[Any], *, roles: Collection[str]
) -> tuple[list[Statement], list[Problem]]:
    """Read the conversations of an export, the earliest first.

    Args:
        conversations: The parsed file.
        roles: Whose statements to keep: `"user"`, `"assistant"`.

    Returns:
        The statements, and the parts that could not be read.
    """
    statements: list[Statement] = []
    problems: list[Problem] = []
    numbered = list(enumerate(conversations, start=1))
    numbered.sort(key=lambda pair: _created(pair[1]))
    for number, conversation in numbered:
        try:
            branch = _branch(conversation)
        except InvalidInput as error:
            problems.append(Problem(f"conversation {number}", str(error)))
            continue
        thread_id = _thread_id(conversation, number)
        found, broken = read_messages(
            (
                (f"conversation {number}, message {node_id}", _message(message))
                for node_id, message in branch
            ),
            thread_id=thread_id,
            roles=roles,
        )
        statements += found
        problems += broken
    return statements, problems


def _created(conversation: Any) -> float:
    given = conversation.get("create_time") if is_chatgpt(conversation) else None
    return float(given) if isinstance(given, int | float) else 0.0


def _thread_id(conversation: Mapping[str, Any], number: int) -> str:
    for name in ("conversation_id", "id", "title"):
        given = conversation.get(name)
        if isinstance(given, str) and given:
            return given
    return f"conversation-{number}"


def _branch(conversation: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages of the current branch with the ids of their nodes."""
    if not is_chatgpt(conversation):
        msg = "a conversation needs a mapping of its messages"
        raise InvalidInput(msg)
    mapping: Mapping[str, Any] = conversation["mapping"]
    node_id = conversation.get("current_node") or _latest_leaf(mapping)
    branch: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id not in seen:
        seen.add(node_id)
        node = mapping.get(node_id)
        if not isinstance(node, Mapping):
            msg = f"the message {quoted(node_id)} is missing from the mapping"
            raise InvalidInput(msg)
        message = node.get("message")
        if isinstance(message, Mapping) and _is_spoken(message):
            branch.append((node_id, message))
        node_id = node.get("parent")
    return branch[::-1]


def _latest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the newest end of the tree, for exports that name no current node."""
    leaves = [
        (_time_of(node), node_id)
        for node_id, node in mapping.items()
        if isinstance(node, Mapping) and not node.get("children")
    ]
    return max(leaves)[1] if leaves else None


def _time_of(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    given = message.get("create_time") if isinstance(message, Mapping) else None
    return float(given) if isinstance(given, int | float) else 0.0


def _is_spoken(message: Mapping[str, Any]) -> bool:
    content, metadata = message.get("content"), message.get("metadata")
    hidden = isinstance(metadata, Mapping) and metadata.get(
        "is_visually_hidden_from_conversation"
    )
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    return kind in _SPOKEN and not hidden


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in the form `{role, content, create_time}`."""
    author = message.get("author")
    return {
        "role": author.get("role") if isinstance(author, Mapping) else None,
        "content": message["content"].get("parts") or [],
        "create_time": message.get("create_time"),
        "id": message.get("id"),
    }
