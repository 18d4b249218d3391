"""Who a memory is: its canonical id, and the namespace of its owner.

The id of a memory is the SHA-256 of a canonical string of its content, so that adding
the same content twice is recognised as the same memory on every engine.
"""

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.times import parse_event_time
from langchain_agentmemory.types import TimeInput, check_id

MEMORY_ROOT = "memories"
"""First label of every user's memory namespace."""

_WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space. `str.strip()` would also remove U+001C to U+001F."""

# A label must not contain "." or NUL (LangGraph), must survive every engine's text
# column (controls, lone surrogates, trailing blanks) and must not read as a wildcard.
_UNSAFE = re.compile(r"[%.*\x00-\x1f\x7f\ud800-\udfff]|^\s|\s$")


def trim(text: str) -> str:
    """Remove leading and trailing Unicode white space."""
    return text.strip(_WHITE_SPACE)


def normalize_participants(participants: Iterable[str]) -> tuple[str, ...]:
    """Trim, drop blanks, sort, and keep one spelling of names that differ in case."""
    names = sorted(
        {name for given in participants if (name := trim(given))},
        key=lambda name: (
            name.lower().encode("utf-8", "surrogatepass"),
            name.encode("utf-8", "surrogatepass"),
        ),
    )
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.lower(), name)
    return tuple(kept.values())


def canonical_text(  # noqa: PLR0913 - these are the fields that make up identity
    memory: str,
    app_name: str,
    user_id: str,
    *,
    kind: str | None = None,
    event_time: TimeInput | None = None,
    participants: Iterable[str] = (),
    location: str | None = None,
) -> str:
    """Return the string that is hashed into a memory's id.

    Text, application and user are taken verbatim. A fact without event metadata has
    no kind segment; event times count in whole UTC seconds, fractions cut off.

    Args:
        memory: The text.
        app_name: The application.
        user_id: The user.
        kind: The kind; `None` and `""` mean fact.
        event_time: When it happened, as `parse_event_time` reads it; what has no zone
            is taken as UTC.
        participants: Who took part, in any order and spelling of case.
        location: Where it happened.

    Raises:
        InvalidInput: If an argument cannot be used.
    """
    _check_texts(memory=memory, kind=kind or "", location=location or "")
    given = _listed(participants)
    for label, owner in (("app_name", app_name), ("user_id", user_id)):
        check_id(label, owner)
    names = normalize_participants(given)
    place = trim(location or "")
    parts = [f"memory:{memory}|app:{app_name}|user:{user_id}"]
    # str() of a StrEnum member is its value, which an f-string guarantees too.
    if kind and str(kind) != "fact":
        parts.append(f"kind:{kind}")
    elif event_time is not None or given or place:
        parts.append("kind:fact")
    if event_time is not None:
        aware, _ = parse_event_time(event_time, UTC)
        moment = aware.astimezone(UTC).replace(microsecond=0, tzinfo=None)
        parts.append(f"event_time:{moment.isoformat()}Z")
    if names:
        parts.append("participants:" + ",".join(names))
    if place:
        parts.append(f"location:{place}")
    return "|".join(parts)


def _check_texts(**texts: object) -> None:
    for name, text in texts.items():
        if not isinstance(text, str):
            msg = f"{name} must be text, not {type(text).__name__}."
            raise InvalidInput(msg)


def _listed(participants: object) -> list[str]:
    if isinstance(participants, str):
        return [participants]
    if not isinstance(participants, Iterable):
        msg = f"participants must be a list of names, not {quoted(participants)}."
        raise InvalidInput(msg)
    names = list(participants)
    for position, name in enumerate(names):
        _check_texts(**{f"participants[{position}]": name})
    return names


def memory_id(  # noqa: PLR0913 - these are the fields that make up identity
    memory: str,
    app_name: str,
    user_id: str,
    *,
    kind: str | None = None,
    event_time: TimeInput | None = None,
    participants: Iterable[str] = (),
    location: str | None = None,
) -> str:
    """Return the canonical id of a memory: 64 hex digits.

    Topics and times of writing do not take part. See `canonical_text` for what does.

    Example:
        ```python
        from langchain_agentmemory.identity import memory_id

        assert memory_id("Likes tea", "app", "u1") == memory_id(
            "Likes tea", "app", "u1", kind="fact"
        )
        ```
    """
    text = canonical_text(
        memory,
        app_name,
        user_id,
        kind=kind,
        event_time=event_time,
        participants=participants,
        location=location,
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def encode_label(text: str) -> str:
    """Encode any non-empty text reversibly into a namespace label.

    What LangGraph forbids in labels, and what engines mistreat, is percent-encoded;
    ordinary names, Chinese included, stay readable: `a@b.org` becomes `a@b%2Eorg`.
    """

    def escape(match: re.Match[str]) -> str:
        raw = match.group().encode("utf-8", "surrogatepass")
        return "".join(f"%{byte:02X}" for byte in raw)

    return _UNSAFE.sub(escape, text)


def decode_label(label: str) -> str:
    """Undo `encode_label`."""
    if "%" not in label:
        return label
    raw = bytearray()
    position = 0
    encoded = label.encode("utf-8", "surrogatepass")
    while position < len(encoded):
        byte = encoded[position]
        code = encoded[position + 1 : position + 3]
        if byte == ord("%") and re.fullmatch(rb"[0-9A-Fa-f]{2}", code):
            raw.append(int(code, 16))
            position += 3
        else:
            raw.append(byte)
            position += 1
    return raw.decode("utf-8", "surrogatepass")


def user_namespace(app_name: str, user_id: str) -> tuple[str, str, str]:
    """Return the namespace that holds one user's memories."""
    return (MEMORY_ROOT, encode_label(app_name), encode_label(user_id))


def owner_of(namespace: tuple[str, ...]) -> tuple[str, str] | None:
    """Return application and user of a memory namespace, `None` for any other."""
    match namespace:
        case (root, app_label, user_label) if root == MEMORY_ROOT:
            return decode_label(app_label), decode_label(user_label)
    return None


def require_id(memory_id: str) -> str:
    """Return the id, or say that it is missing.

    Raises:
        InvalidInput: If it is not text, or empty.
    """
    given: object = memory_id
    if given is not None and not isinstance(given, str):
        msg = (
            f"memory_id must be text, not {type(given).__name__}: pass the id of a "
            f"memory as read_memories or search_memories returned it."
        )
        raise InvalidInput(msg)
    if not memory_id:
        msg = (
            "memory_id is required: pass the id of a memory as read_memories or "
            "search_memories returned it."
        )
        raise InvalidInput(msg)
    return memory_id
