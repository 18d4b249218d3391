"""Which backend a URL names."""

import math
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from langchain_agentmemory.backends.base import Backend
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted, quoted_url

_FORMS = "memory://, sqlite:///relative/file.db or sqlite:////absolute/file.db"


def backend_from_url(url: str) -> Backend:
    """Return the backend that a URL names. Nothing is opened yet.

    Args:
        url: `memory://`, or `sqlite:///path`; SQLite's options may follow as a query:
            `?table=…&synchronous=FULL&timeout=10&skip_init=true`.

    Raises:
        InvalidInput: If it cannot be read, or names an unknown engine or option. The
            message shows the URL without what could be a secret.
    """
    if not isinstance(url, str) or "://" not in url:
        msg = f"{quoted_url(url)} is not a URL: use {_FORMS}."
        raise InvalidInput(msg)
    parts = _split(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme == "memory":
        _refuse(url, options, bool(parts.netloc or parts.path.strip("/")))
        from langchain_agentmemory.backends.memory import (  # noqa: PLC0415
            InMemoryBackend,
        )

        return InMemoryBackend()
    if parts.scheme == "sqlite":
        return _sqlite(url, parts, options)
    msg = (
        f"{quoted_url(url)} names the engine {quoted(parts.scheme)}: this version "
        f"knows {_FORMS}."
    )
    raise InvalidInput(msg)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        msg = f"{quoted_url(url)} is not a URL ({error}): use {_FORMS}."
        raise InvalidInput(msg) from None  # its own text shows the whole URL


def _sqlite(url: str, parts: SplitResult, options: dict[str, str]) -> Backend:
    from langchain_agentmemory.backends.sqlite import SQLiteBackend  # noqa: PLC0415

    if parts.netloc:
        meant = f"sqlite:///{parts.netloc.rpartition('@')[2]}{parts.path}"
        msg = (
            f"{quoted_url(url)} names a host, which SQLite does not have: a relative "
            f"file takes three slashes ({quoted_url(meant)}), an absolute one four."
        )
        raise InvalidInput(msg)
    file = unquote(parts.path.removeprefix("/")) or ":memory:"
    known = {"table", "synchronous", "timeout", "skip_init"}
    _refuse(url, {k: v for k, v in options.items() if k not in known}, wrong=False)
    arguments: dict[str, Any] = dict(options)
    if "timeout" in arguments:
        arguments["timeout"] = _seconds(url, arguments["timeout"])
    if "skip_init" in arguments:
        arguments["skip_init"] = _truth(url, arguments["skip_init"])
    if file != ":memory:":
        file = str(Path(file).expanduser())
    return SQLiteBackend(file, **arguments)


def _refuse(url: str, options: dict[str, str], wrong: bool) -> None:  # noqa: FBT001
    if wrong or options:
        names = ", ".join(quoted(name) for name in options)
        what = f"options {names}" if options else "a path"
        msg = (
            f"{quoted_url(url)} has {what} that this engine does not know: use "
            f"{_FORMS}."
        )
        raise InvalidInput(msg)


def _seconds(url: str, given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        msg = f"{quoted_url(url)}: timeout is a number of seconds, not {quoted(given)}."
        raise InvalidInput(msg)
    return seconds


def _truth(url: str, given: str) -> bool:
    if given.lower() in {"1", "true", "yes", "on"}:
        return True
    if given.lower() in {"0", "false", "no", "off"}:
        return False
    msg = f"{quoted_url(url)}: skip_init is true or false, not {quoted(given)}."
    raise InvalidInput(msg)
