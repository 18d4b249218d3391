"""What callers gave, as a piece of a message: short, on one line, without secrets."""

import re
from typing import Final

QUOTED_CHARACTERS: Final = 80
"""Enough to recognise what was given, an id of 64 digits as a whole."""

_MASK: Final = "***"
_SUMMARY_CHARACTERS: Final = 300
_URL_CHARACTERS: Final = 200

_PLAIN_WORD: Final = re.compile(rf"[\w.:/@+-]{{1,{QUOTED_CHARACTERS}}}")

# Up to the last "@", because passwords hold slashes and question marks too. After three
# slashes comes a path, which has no user.
_USER_INFO: Final = re.compile(r"(?<=://)[^\s'\"/][^\s'\"]*@")
_OPTION: Final = re.compile(r"(?<=[?&;])([^=&;\s#]*)=[^&;\s#'\"]*")
_HARMLESS: Final = frozenset(
    {"table", "synchronous", "timeout", "skip_init", "sslmode", "charset"}
)


def quoted(given: object, most: int = QUOTED_CHARACTERS) -> str:
    """Return what a caller gave as a piece of a message.

    It is short, on one line, and can be encoded, whatever was given: megabytes, line
    breaks, lone surrogates, an object that cannot be shown.

    Args:
        given: Text, which is put in quotes, or anything else.
        most: How many characters of it are shown at most.
    """
    if isinstance(given, str):
        text = str(given)[: most + 1]
        return repr(text if len(text) <= most else text[:most] + "…")
    try:
        shown = repr(given)
    except Exception:  # noqa: BLE001 - an integer of 5,000 digits, any object's own
        return f"a {type(given).__name__} that cannot be shown"
    cut = shown if len(shown) <= most else shown[:most] + "…"
    return "".join(c if c.isprintable() else "?" for c in cut)


def named(given: object) -> str:
    """Return an id or a name as messages say it: quoted unless it is a plain word."""
    if isinstance(given, str) and _PLAIN_WORD.fullmatch(given):
        return str(given)
    return quoted(given)


def summary(error: BaseException) -> str:
    """Return what an error of other code says: one short line without secrets."""
    text = " ".join(str(error)[: 10 * _SUMMARY_CHARACTERS].split())
    shown = quoted(masked(text), _SUMMARY_CHARACTERS)[1:-1]
    return shown or type(error).__name__


def masked(text: str) -> str:
    """Return a text with URLs in it without what could be a secret.

    User and password in front of a host, and the values of options that are not known
    to be harmless, become `***`.
    """
    return _OPTION.sub(
        lambda match: _option(match[1], match[0]), _USER_INFO.sub(f"{_MASK}@", text)
    )


def quoted_url(url: object) -> str:
    """Return a URL, or what was given as one, in quotes and without secrets."""
    if not isinstance(url, str):
        return quoted(url)
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        scheme, rest = "", url
    if not rest.startswith("/") and "@" in rest:
        rest = f"{_MASK}@{rest.rpartition('@')[2]}"
    place, mark, query = rest.partition("?")
    options = [_option(each.partition("=")[0], each) for each in query.split("&")]
    plain = f"{scheme}{slashes}{place}{mark}{'&'.join(options)}"
    return quoted(plain, _URL_CHARACTERS)


def _option(name: str, whole: str) -> str:
    """Return an option of a URL; a value that may be a secret is masked."""
    if "=" not in whole or name.lower() in _HARMLESS:
        return whole
    return f"{name}={_MASK}"
