"""Values as JSON: checked on the way in, exact on the way out."""

import json
import math
from datetime import date, datetime
from typing import Any

from langchain_agentmemory.errors import InvalidInput

_loads = json.JSONDecoder().decode


def encode(value: dict[str, Any]) -> bytes:
    """Return a value as JSON text in UTF-8.

    Any text survives, NUL characters and lone surrogates included: what UTF-8 cannot
    carry is escaped.
    """
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def decode(packed: bytes) -> dict[str, Any]:
    """Undo `encode`. Every call returns a value of its own."""
    value: dict[str, Any] = _loads(packed.decode())
    return value


def encode_checked(value: object) -> bytes:
    """Return any caller's value as JSON text.

    Raises:
        InvalidInput: If it is not a dict of JSON values: the message names the place
            of what is not.
    """
    if not isinstance(value, dict):
        msg = f"A value must be a dict, not {type(value).__name__}: wrap it in one."
        raise InvalidInput(msg)
    try:
        _check(value, "")
    except RecursionError:
        msg = "The value is nested too deeply, or contains itself: flatten it."
        raise InvalidInput(msg) from None
    return encode(value)


def _check(value: object, place: str) -> None:
    if value is None or isinstance(value, str | bool | int):
        return
    if isinstance(value, float):
        if math.isfinite(value):
            return
        msg = f"{place or 'The value'} is {value}, which JSON cannot hold: use None."
        raise InvalidInput(msg)
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                msg = (
                    f"The key {key!r} in {place or 'the value'} is not text: JSON keys "
                    f"are; use str(...)."
                )
                raise InvalidInput(msg)
            _check(item, f"{place}.{key}" if place else key)
        return
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check(item, f"{place}[{index}]")
        return
    advice = (
        "store .isoformat() of it"
        if isinstance(value, date | datetime)
        else "convert it to text, numbers, lists and dicts"
    )
    msg = f"{place} is a {type(value).__name__}, which is not a JSON value: {advice}."
    raise InvalidInput(msg)


def check_key(key: str) -> str:
    """Return a key that every engine can hold.

    Raises:
        InvalidInput: If it is not text, or contains NUL or a lone surrogate.
    """
    if not isinstance(key, str) or not can_be_key(key):
        msg = (
            f"{key!r} cannot be a key: keys are text without NUL characters and lone "
            f"surrogates."
        )
        raise InvalidInput(msg)
    return key


def can_be_key(text: str) -> bool:
    """Tell whether every engine can hold a text as a key."""
    return "\x00" not in text and _is_unicode(text)


def check_labels(namespace: tuple[str, ...]) -> None:
    """Refuse labels that an engine could not hold.

    Raises:
        InvalidInput: If a label contains a lone surrogate.
    """
    for label in namespace:
        if not label.isascii() and not _is_unicode(label):
            msg = f"{label!r} contains a lone surrogate and cannot be a label."
            raise InvalidInput(msg)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
