"""Secrets that are assigned to a name: `password=…`, `"api_key": "…"`, 密码：….

What follows the name must look like a secret, so that "the key: be patient" stays.
"""

import re
from dataclasses import dataclass
from typing import Final

_LOGINS: Final = "pass(?:word|wd|phrase|code)|pwd|密码|密碼|口令"
_CREDENTIALS: Final = (
    r"secret[ _\-]?access[ _\-]?key"
    r"|(?:access|api|auth|account|encryption|license|master|private|secret|signing)"
    r"[ _\-]?key(?:[ _\-]?id)?"
    r"|(?:access|api|auth|bot|client|id|refresh|session)[ _\-]?(?:secret|token)"
    r"|credentials?|secret|token|密钥|密鑰|秘钥|令牌"
)
_NAME: Final = re.compile(
    # At the start of a word, also within camelCase, and anywhere before Chinese.
    r"(?:(?<![A-Za-z0-9])|(?<=(?-i:[a-z]))(?=(?-i:[A-Z]))|(?=[口密秘令]))"
    rf"(?:(?P<password>{_LOGINS})|(?P<secret>{_CREDENTIALS})|key)"
    r"\\{0,2}[\"'`]?"
    r"(?:(?P<assigns>[ \t]{0,3}(?:=>|:=|[:=：＝])[ \t]{0,3})"
    r"|[ \t]{1,3}is[ \t]{1,3}|[ \t]{0,3}[是为][ \t]{0,3})",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"\\{0,2}[\"'`“‘「](?P<value>(?:[^\"'`“”‘’「」\n\\]|\\(?![\"']))++)\\{0,2}[\"'`”’」]"
)
# ASCII without blanks and quotes, up to the next `&name=` or `,name:`.
_CHARACTER: Final = r"(?:(?![&,;][\w\-]{1,40}[=:])[!#-&(-;=?-_a-~])"
_BARE: Final = re.compile(rf"\[redacted\]|{_CHARACTER}++", re.ASCII)
_MORE: Final = re.compile(rf"{_CHARACTER}*+", re.ASCII)
_DECIDING: Final = 64  # characters of a value without quotes that are looked at

_AFTER_VALUE: Final = ".,;:!?)]}"
_CODE: Final = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]+)+|[A-Za-z_.]+[(\[].*|\$[A-Z_]+|(?:\$\{|\{\{|<).*"
)
_WORDS: Final = frozenset(
    "changed empty expired false forgotten here hidden incorrect invalid missing none "
    "null optional password placeholder redacted required reset secret str string text "
    "true unknown value wrong".split()
)
_SYMBOLS: Final = frozenset("!#$%&*+=?@\\^|~")
_NO_CREDENTIAL: Final = re.compile(
    r"https?:.*|.*[@:].*|v?\d+(?:\.\d+)+.*|.*\.[a-z]{2,4}", re.DOTALL
)

_SHORTEST_LOGIN: Final = 4
_SHORTEST_CREDENTIAL: Final = 8
_SHORTEST_BEHIND_KEY: Final = 16  # "key: …" says little: primary keys, music, maps


@dataclass(frozen=True, slots=True)
class _Value:
    """What is assigned to a name.

    Attributes:
        text: The value, of a long one without quotes the beginning: it decides.
        start: Where it begins.
        end: Where that text ends.
        quoted: Whether it stands in quotes.
        ends_line: Whether nothing follows in its line, without quotes.
    """

    text: str
    start: int
    end: int
    quoted: bool
    ends_line: bool = False


def without_assigned(text: str, replacement: str) -> str:
    """Replace the secrets that are assigned to a name in the text."""
    kept: list[str] = []
    done = at = 0
    while name := _NAME.search(text, at):
        at = name.end()
        value = _value(text, at)
        if value is None or not _is_secret(name, value):
            continue
        kept += (text[done : value.start], replacement)
        done = at = _end(text, value)
    return "".join([*kept, text[done:]]) if kept else text


def _value(text: str, at: int) -> _Value | None:
    if quoted := _QUOTED.match(text, at):
        return _Value(quoted["value"], *quoted.span("value"), quoted=True)
    if not (bare := _BARE.match(text, at, at + _DECIDING)):
        return None
    value = _trimmed(bare.group())
    following = text[bare.end() : bare.end() + 4].lstrip(" \t\r。，；")
    ends_line = following[:1] in {"", "\n"}
    return _Value(value, at, at + len(value), quoted=False, ends_line=ends_line)


def _end(text: str, value: _Value) -> int:
    """Return where a value ends, however long it is."""
    if value.quoted or not (more := _MORE.match(text, value.end)):
        return value.end
    return value.end + len(_trimmed(more.group()))


def _trimmed(value: str) -> str:
    return value if value == "[redacted]" else value.rstrip(_AFTER_VALUE)


def _is_secret(name: re.Match[str], value: _Value) -> bool:
    text = value.text
    if text.lower() in _WORDS or (not value.quoted and _CODE.fullmatch(text)):
        return False
    assigns = name["assigns"]
    if name["password"]:
        return _is_password(value, assigns)
    wanted = _SHORTEST_CREDENTIAL
    if not name["secret"] and (assigns is None or "=" not in assigns):
        wanted = _SHORTEST_BEHIND_KEY
    if len(text) < wanted or " " in text or _NO_CREDENTIAL.fullmatch(text):
        return False
    return _has_digit(text) and _has_letter(text)


def _is_password(value: _Value, assigns: str | None) -> bool:
    text = value.text
    if value.quoted and assigns:
        return True
    if len(text) < _SHORTEST_LOGIN:
        return False
    mixed = _has_letter(text) and (_has_digit(text) or not _SYMBOLS.isdisjoint(text))
    if mixed or text.isdecimal():
        return True
    if assigns is None:
        return False
    return value.ends_line or assigns == "="


def _has_digit(text: str) -> bool:
    return any(character in "0123456789" for character in text)


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)
