"""Secrets that are known by their form, and how they are taken out of a text.

Every pattern reads a text in linear time, whatever it holds: repetitions are
possessive, and begin only where a word begins.
"""

import re
from typing import Final

from langchain_agentmemory.extraction.assigned_secrets import without_assigned
from langchain_agentmemory.extraction.payment_cards import without_cards

REDACTED: Final = "[redacted]"
"""Stands where something was taken out."""

_MAX_ROUNDS: Final = 4  # one secret, taken out, may uncover another that touched it

_KEYS: Final = (
    # OpenAI, Anthropic and those that follow them: a digit tells a key from sk-learn-….
    r"sk-(?=[A-Za-z_\-]*+[0-9])[A-Za-z0-9_\-]{20,}+",
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"gh[opsur]_[A-Za-z0-9]{36,}+",  # GitHub, GitLab
    r"github_pat_[A-Za-z0-9_]{22,}+",
    r"glpat-[A-Za-z0-9_\-]{20,}+",
    r"AIza[A-Za-z0-9_\-]{35,}+",  # Google
    r"ya29\.[A-Za-z0-9_\-]{20,}+",
    r"GOCSPX-[A-Za-z0-9_\-]{20,}+",
    r"xox[abeoprs]-[A-Za-z0-9\-]{10,}+",  # Slack
    r"xapp-[0-9]-[A-Za-z0-9\-]{10,}+",
    r"(?<=hooks\.slack\.com/services/)T[A-Za-z0-9/]{20,}+",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}+",  # Stripe
    r"(?:hf|gsk|npm|r8)_[A-Za-z0-9]{30,}+",  # Hugging Face, Groq, npm, Replicate
    r"(?:pplx|xai|pypi)-[A-Za-z0-9_\-]{32,}+",  # Perplexity, xAI, PyPI
    r"SG\.[A-Za-z0-9_\-]{16,}+\.[A-Za-z0-9_\-]{16,}+",  # SendGrid
    r"LTAI[A-Za-z0-9]{12,}+",  # Alibaba Cloud
    r"AKID(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{28,}+",  # Tencent Cloud
    r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{33}(?![A-Za-z0-9])",  # Telegram
    # JSON Web Tokens, signed or not: header and payload begin with {" in base64.
    r"(?<!\.)eyJ[A-Za-z0-9_\-]{10,}+\.eyJ[A-Za-z0-9_\-]*+(?:\.[A-Za-z0-9_\-]*+)*+",
)
_KEY: Final = re.compile(
    rf"(?<![A-Za-z0-9_\-])(?=[AGLSTeghnprsxy0-9])(?:{'|'.join(_KEYS)})"
)

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
    # To its end, or the lines that follow if the end was cut off.
    r"[^\-]*+(?:-(?!----)[^\-]*+)*+-----END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----"
    r"|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)*+)"
)

_URL_CHARACTER: Final = r"!$-.0-9;=A-Z\[-~"  # ASCII without / ? # @ : and quotes
_URL_PASSWORD: Final = re.compile(
    r"(?P<kept>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.\-]{0,30}://"
    rf"[{_URL_CHARACTER}]*+:)(?:[:{_URL_CHARACTER}]++@)++"
)

_BEARER: Final = r"A-Za-z0-9._~+/\-"
_AUTHORIZATION: Final = re.compile(
    r"(?P<kept>(?<![A-Za-z0-9])(?:"
    r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
    r"(?:(?:basic|bearer|digest|token)\s{1,3}|(?=[A-Za-z]*+[^A-Za-z\s]))"
    # On its own, only a word that is long or has a digit can be a token.
    rf"|bearer\s{{1,3}}(?=[A-Za-z._~+/\-]*+[0-9]|[{_BEARER}]{{20}})))"
    rf"(?:\[redacted\]|[{_BEARER}]{{8,}}+=*+)",
    re.IGNORECASE,
)


def redact_secrets(text: str) -> str:
    """Replace the secrets in a text by `[redacted]`; all else stays as it is.

    Secrets are the keys and tokens of well-known services, JSON Web Tokens, private
    keys, authorization headers, passwords in URLs, what is assigned to a name such as
    `password`, `api_key` or `密码`, and the numbers of payment cards.

    It goes by form: a password in the middle of a sentence, a name or an address is not
    recognised. Dates, telephone numbers, versions and the hashes of commits are left
    alone. Redacting twice changes nothing more. The time it takes is in proportion to
    the length of the text.

    Args:
        text: Any text, for example one message.
    """
    for _ in range(_MAX_ROUNDS):
        before, text = text, _redacted(text)
        if text == before:
            break
    return text


def _redacted(text: str) -> str:
    text = without_cards(_PRIVATE_KEY.sub(REDACTED, text), REDACTED)
    text = _URL_PASSWORD.sub(rf"\g<kept>{REDACTED}@", text)
    text = _AUTHORIZATION.sub(rf"\g<kept>{REDACTED}", text)
    text = _KEY.sub(REDACTED, text)
    return without_assigned(text, REDACTED)
