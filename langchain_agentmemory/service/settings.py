"""How a store behaves, checked once when it is made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from langgraph.store.base import TTLConfig

from langchain_agentmemory.backends.base import MICROSECONDS
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

OnLimit = Literal["reject", "evict"]
OnDuplicate = Literal["refresh", "keep", "error"]

_LARGEST: Final = (1 << 63) - 1  # `sys.maxsize` on most machines
_AS_GOOD_AS_ALL: Final = 1 << 60  # so that sums of limits fit everywhere, too
_LONGEST_WAIT: Final = 1_000_000  # seconds: less than threads can wait for
_ALIKE: Final = 0.75  # of difflib: `filter` and `after` are as alike as 0.73
_LONGEST_TTL: Final = 1_000 * 366 * 24 * 60  # minutes: a thousand years


@dataclass(frozen=True, slots=True)
class Settings:
    """How a store behaves.

    Attributes:
        app_name: The application of users given as a plain id.
        memory_limit: Memories a user may own, `None` = any number.
        on_limit: What happens at the limit.
        on_duplicate: What adding an existing memory does.
        soft_delete: Keep deleted memories as restorable tombstones.
        timezone: Where naive datetimes are taken.
        default_ttl: Time to live of new items in microseconds, `None` = for ever.
        refresh_on_read: Whether reading renews the time to live; `None` = when half
            of it has passed (see `service.refresh`).
    """

    app_name: str
    memory_limit: int | None
    on_limit: OnLimit
    on_duplicate: OnDuplicate
    soft_delete: bool
    timezone: tzinfo
    default_ttl: int | None
    refresh_on_read: bool | None

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_limit("memory_limit", self.memory_limit)
        check_choice("on_limit", self.on_limit, get_args(OnLimit))
        check_choice("on_duplicate", self.on_duplicate, get_args(OnDuplicate))
        check_switch("soft_delete", self.soft_delete)


def check_limit(name: str, given: object) -> int | None:
    """Return a limit: `None` = all, 0 = none.

    Raises:
        InvalidInput: If it is negative or no integer, or has more than 63 bits.
    """
    if given is None:
        return None
    return _whole(name, given, "None (no limit), 0 or a positive integer")


def check_count(name: str, given: object) -> int:
    """Return a number of items, which is 0 or more.

    Raises:
        InvalidInput: If it is negative or no integer, or has more than 63 bits.
    """
    return _whole(name, given, "0 or a positive integer")


def check_positive(name: str, given: object) -> int:
    """Return a number of items, which is at least 1.

    Raises:
        InvalidInput: If it is less or no integer, or has more than 63 bits.
    """
    return _whole(name, given, "a positive integer", least=1)


def check_seconds(name: str, given: object) -> float | None:
    """Return a number of seconds, or `None` for no limit.

    Raises:
        InvalidInput: If it is no positive number that threads can wait for.
    """
    if given is None:
        return None
    if (
        isinstance(given, bool)
        or not isinstance(given, int | float)
        or not 0 < given <= _LONGEST_WAIT
    ):
        msg = (
            f"{name} must be None (no limit) or a positive number of seconds, at most "
            f"{_LONGEST_WAIT:,}, not {quoted(given)}."
        )
        raise InvalidInput(msg)
    return float(given)


def _whole(name: str, given: object, meant: str, least: int = 0) -> int:
    if (
        isinstance(given, bool)
        or not isinstance(given, int)
        or not least <= given <= _LARGEST
    ):
        msg = f"{name} must be {meant} of at most 63 bits, not {quoted(given)}."
        raise InvalidInput(msg)
    return min(given, _AS_GOOD_AS_ALL)


def check_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices.

    Raises:
        InvalidInput: With the choices.
    """
    if not isinstance(given, str) or given not in choices:
        msg = f"{name}={quoted(given)} is not known: use one of {', '.join(choices)}."
        raise InvalidInput(msg)


def check_switch(name: str, given: object) -> bool:
    """Return what is True or False.

    Raises:
        InvalidInput: If it is neither: "no" would count as yes.
    """
    if not isinstance(given, bool):
        msg = f"{name} must be True or False, not {quoted(given)}."
        raise InvalidInput(msg)
    return given


def check_names(
    what: str,
    given: Mapping[Any, Any],
    known: Iterable[str],
    others: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Refuse names that mean nothing: they are typing errors.

    Args:
        what: What has the names.
        given: Values by name.
        known: The names that there are.
        others: What other libraries call them: ours by theirs.

    Raises:
        InvalidInput: With the likely name, and all names there are.
    """
    names = tuple(known)
    for name in given:
        if name not in names:
            likely = _likely(str(name), names, others)
            hint = "" if likely is None else f" Did you mean {likely}?"
            msg = f"{what} has no {quoted(name)}: use {', '.join(names)}.{hint}"
            raise InvalidInput(msg)


def _likely(
    given: str, names: tuple[str, ...], others: Mapping[str, str]
) -> str | None:
    """Return the name that was probably meant, `None` if nothing is like it."""
    from difflib import get_close_matches  # noqa: PLC0415 - on the way to an error

    parts = {part: name for name in reversed(names) for part in name.split("_")}
    meant = {**parts, **others, **dict(zip(names, names, strict=True))}
    found = get_close_matches(given.lower(), meant, 1, _ALIKE)
    return meant[found[0]] if found else None


def ttl_config(given: object) -> dict[str, Any] | None:
    """Return a TTL configuration as LangGraph's `TTLConfig`, in minutes.

    Args:
        given: `None`, a `TTLConfig`, or the default time to live as `timedelta`.

    Raises:
        InvalidInput: If it is none of these.
    """
    if given is None:
        return None
    if isinstance(given, timedelta):
        return {"default_ttl": minutes_of(given)}
    if not isinstance(given, Mapping):
        msg = "ttl must be a timedelta or a TTLConfig dict such as {'default_ttl': 60}."
        raise InvalidInput(msg)
    config = dict(given)
    check_names("ttl", config, TTLConfig.__annotations__)
    refresh = config.get("refresh_on_read")
    if refresh is not None:
        check_switch("ttl['refresh_on_read']", refresh)
    for name in ("default_ttl", "sweep_interval_minutes"):
        if config.get(name) is not None:
            config[name] = minutes_of(config[name])
    return config


def minutes_of(ttl: object) -> float:
    """Return a time to live in minutes.

    Raises:
        InvalidInput: If it is not a `timedelta` or a number of minutes above 0.
    """
    minutes = ttl.total_seconds() / 60 if isinstance(ttl, timedelta) else ttl
    if isinstance(minutes, bool) or not isinstance(minutes, int | float):
        msg = (
            f"A time to live is a timedelta or a number of minutes, not {quoted(ttl)}."
        )
        raise InvalidInput(msg)
    if not 0 < minutes <= _LONGEST_TTL:
        msg = (
            f"A time to live must be more than 0 and at most a thousand years, not "
            f"{quoted(ttl)}: use None for no end."
        )
        raise InvalidInput(msg)
    return float(minutes)


def microseconds_of(ttl: object) -> int | None:
    """Return a time to live in microseconds, `None` for no end."""
    return None if ttl is None else max(1, round(minutes_of(ttl) * 60 * MICROSECONDS))
