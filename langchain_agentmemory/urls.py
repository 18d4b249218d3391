"""Which backend a URL names."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from langchain_agentmemory.backends.base import Backend
from langchain_agentmemory.errors import InvalidInput

_FORMS = "memory://, sqlite:///relative/file.db or sqlite:////absolute/file.db"


def backend_from_url(url: str) -> Backend:
    """Return the backend that a URL names. Nothing is opened yet.

    Args:
        url: `memory://`, or `sqlite:///path`; SQLite's options may follow as a query:
            `?table=…&synchronous=FULL&timeout=10&skip_init=true`.

    Raises:
        InvalidInput: If it cannot be read, or names an unknown engine or option.
    """
    if not isinstance(url, str) or "://" not in url:
        msg = f"{url!r} is not a URL: use {_FORMS}."
        raise InvalidInput(msg)
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme == "memory":
        _refuse(url, options, bool(parts.netloc or parts.path.strip("/")))
        from langchain_agentmemory.backends.memory import (  # noqa: PLC0415
            InMemoryBackend,
        )

        return InMemoryBackend()
    if parts.scheme == "sqlite":
        return _sqlite(url, parts.netloc, parts.path, options)
    msg = f"{url!r} names the engine {parts.scheme!r}: this version knows {_FORMS}."
    raise InvalidInput(msg)


def _sqlite(url: str, host: str, path: str, options: dict[str, str]) -> Backend:
    from langchain_agentmemory.backends.sqlite import SQLiteBackend  # noqa: PLC0415

    if host:
        msg = (
            f"{url!r} names a host, which SQLite does not have: a relative file takes "
            f"three slashes (sqlite:///{host}{path}), an absolute one four."
        )
        raise InvalidInput(msg)
    file = unquote(path.removeprefix("/")) or ":memory:"
    known = {"table", "synchronous", "timeout", "skip_init"}
    _refuse(url, {k: v for k, v in options.items() if k not in known}, wrong=False)
    arguments: dict[str, Any] = dict(options)
    if "timeout" in arguments:
        arguments["timeout"] = _number(url, arguments["timeout"])
    if "skip_init" in arguments:
        arguments["skip_init"] = _truth(url, arguments["skip_init"])
    if arguments.get("synchronous", "FULL") not in {"NORMAL", "FULL"}:
        msg = f"{url!r}: synchronous is NORMAL or FULL."
        raise InvalidInput(msg)
    if file != ":memory:":
        file = str(Path(file).expanduser())
    return SQLiteBackend(file, **arguments)


def _refuse(url: str, options: dict[str, str], wrong: bool) -> None:  # noqa: FBT001
    if wrong or options:
        what = f"options {', '.join(options)}" if options else "a path"
        msg = f"{url!r} has {what} that this engine does not know: use {_FORMS}."
        raise InvalidInput(msg)


def _number(url: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        msg = f"{url!r}: timeout is a number of seconds, not {given!r}."
        raise InvalidInput(msg) from None


def _truth(url: str, given: str) -> bool:
    if given.lower() in {"1", "true", "yes", "on"}:
        return True
    if given.lower() in {"0", "false", "no", "off"}:
        return False
    msg = f"{url!r}: skip_init is true or false, not {given!r}."
    raise InvalidInput(msg)
