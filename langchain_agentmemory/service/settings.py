"""How a store behaves, checked once when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from typing import Any, Final, Literal, get_args

from langchain_agentmemory.backends.base import MICROSECONDS
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

OnLimit = Literal["reject", "evict"]
OnDuplicate = Literal["refresh", "keep", "error"]

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


def check_limit(name: str, given: object) -> int | None:
    """Return a limit: `None` = all, 0 = none.

    Raises:
        InvalidInput: If it is negative or no integer.
    """
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        msg = (
            f"{name} must be None (no limit), 0 or a positive integer, not "
            f"{quoted(given)}."
        )
        raise InvalidInput(msg)
    return given


def check_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices.

    Raises:
        InvalidInput: With the choices.
    """
    if given not in choices:
        msg = f"{name}={quoted(given)} is not known: use one of {', '.join(choices)}."
        raise InvalidInput(msg)


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
