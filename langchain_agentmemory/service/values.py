"""Values as JSON: checked on the way in, exact on the way out."""

import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

MAX_DEPTH: Final = 100
"""Levels of dicts and lists in a value, itself included: as many as MySQL's JSON has.

Far below what Python's own stack can hold, so that what was stored can be read from any
place in a program."""

MAX_INTEGER_BITS: Final = 2_048
"""Longest integer, about 616 digits: below 640, the least that Python can be set to
read back from text (`sys.int_info.str_digits_check_threshold`)."""

_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined] # typeshed lacks it


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
    value: dict[str, Any]
    # Without `loads`, whose search for white space at both ends takes a third longer.
    value, _ = _scan(packed.decode(), 0)
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
    _check(value, "", MAX_DEPTH)
    return encode(value)


def check_nesting(what: str, value: object) -> None:
    """Refuse what is nested deeper than `MAX_DEPTH`.

    Raises:
        InvalidInput: If it is, or contains itself.
    """
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for holder in level
            if isinstance(holder, list | tuple | Mapping)
            for item in (holder.values() if isinstance(holder, Mapping) else holder)
            if isinstance(item, list | tuple | Mapping)
        ]
        if not level:
            return
    raise InvalidInput(_too_deep(what))


def _too_deep(what: str) -> str:
    return (
        f"{what} is nested more than {MAX_DEPTH} levels deep, or contains itself: "
        f"flatten it."
    )


def _check(value: object, place: str, levels: int) -> None:
    if value is None or isinstance(value, str | bool):
        return
    if isinstance(value, int | float):
        _check_number(value, place)
        return
    if not isinstance(value, dict | list | tuple):
        raise InvalidInput(_no_json(value, place))
    if not levels:
        raise InvalidInput(_too_deep("The value"))
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                msg = (
                    f"The key {quoted(key)} in {_at(place)} is not text: JSON keys "
                    f"are; use str(...)."
                )
                raise InvalidInput(msg)
            _check(item, f"{place}.{key}" if place else key, levels - 1)
        return
    for index, item in enumerate(value):
        _check(item, f"{place}[{index}]", levels - 1)


def _check_number(value: float, place: str) -> None:
    if isinstance(value, int):
        if value.bit_length() <= MAX_INTEGER_BITS:
            return
        msg = (
            f"{_at(place)} is an integer of {value.bit_length():,} bits; at most "
            f"{MAX_INTEGER_BITS:,} are kept: store it as text."
        )
        raise InvalidInput(msg)
    if not math.isfinite(value):
        msg = f"{_at(place)} is {value}, which JSON cannot hold: use None."
        raise InvalidInput(msg)


def _no_json(value: object, place: str) -> str:
    advice = (
        "store .isoformat() of it"
        if isinstance(value, date | datetime)
        else "convert it to text, numbers, lists and dicts"
    )
    return f"{_at(place)} is a {type(value).__name__}, not a JSON value: {advice}."


def _at(place: str) -> str:
    return quoted(place) if place else "The value"


def check_key(key: str) -> str:
    """Return a key that every engine can hold.

    Raises:
        InvalidInput: If it is not text, or contains NUL or a lone surrogate.
    """
    if not isinstance(key, str) or not can_be_key(key):
        msg = (
            f"{quoted(key)} cannot be a key: keys are text without NUL characters and "
            f"lone "
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
            msg = f"{quoted(label)} contains a lone surrogate and cannot be a label."
            raise InvalidInput(msg)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
