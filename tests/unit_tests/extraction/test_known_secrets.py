"""Secrets are taken out, everything else stays, and it takes linear time."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langchain_agentmemory.extraction.known_secrets import REDACTED, redact_secrets
from langchain_agentmemory.extraction.redaction import compose

# Keys are put together here, so that no scanner takes this file for a leak.
BODY = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0"
WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + ".abc-DEF_123"
KEYS = [
    "sk-" + BODY,
    "sk-proj-" + BODY + "_-" + BODY,
    "sk-ant-api03-" + BODY,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + BODY[:36],
    "github_pat_" + BODY,
    "glpat-" + BODY[:20],
    "AIza" + BODY[:35],
    "ya29." + BODY,
    "xoxb-" + "123456789012-" + BODY[:24],
    "xapp-1-" + BODY,
    "sk_live_" + BODY[:24],
    "hf_" + BODY[:34],
    "npm_" + BODY[:36],
    "LTAI" + BODY[:20],
    "AKID" + BODY[:32],
    "123456789:AA" + BODY[:33],
    JWT,
]
CARDS = [
    "4111111111111111",
    "4111 1111 1111 1111",
    "5555-5555-5555-4444",
    "378282246310005",
    "3782 822463 10005",
    "30569309025904",
    "6011111111111117",
    "3530111333300000",
    "6200000000000005",
    "620000 0000000005",
    "4222222222222",
    "6200000000000005".translate(WIDE),
    "４１１１　１１１１　１１１１　１１１１",
]
FRAMES = [
    "{}",
    "Use {} for this.",
    "({})",
    "it is:{}\nand more",
    "请用{}。",
    "密钥是{}，别告诉别人",
    '"{}"',
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("secret", KEYS + CARDS)
def test_keys_and_cards_are_taken_out(frame, secret):
    assert redact_secrets(frame.format(secret)) == frame.format(REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "token: <abc123def456>",
        "key=<9f8e7d6c5b4a>",
        "password=<hunter>",
        "password=<hunter2>, then go on",
        "Password: <letmein>",
        "Password: <hunter2>!",
        "my password is <P@ssw0rd>.",
        'password: "<correct horse battery staple>"',
        '{"password": "<hunter>", "user": "ann"}',
        '{\\"password\\": \\"<hunter>\\"}',
        "DB_PASSWORD=<a,b9]c>",
        "accessToken: '<a1b2c3d4>'",
        "apiKey=<a1b2c3d4>",
        "client-secret := <a1b2c3d4>",
        "aws_secret_access_key = <wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY>",
        "https://x.com/?token=<abc12345>&user=me",
        "postgres://user:<p@ss>@db.example.com:5432/x",
        "redis://:<secret>@localhost",
        "wifi密码：<abc12345>。",
        "密码是<abc123>，记住",
        "我的口令为 <letmein99>",
        "密码：“<随便什么>”",
        "API密钥：<a1b2c3d4e5>",
        "Authorization: Bearer <abcdefghijk>",
        "curl -H 'Authorization: Basic <dXNlcjpwYXNz>'",
        "Bearer <abc12345678>",
        "https://hooks.slack.com/services/<T00000000/B00000000/XXXXXXXXXXXXXXXX>",
        f"card <{CARDS[1]}> 12/27 123",
        f"<{CARDS[1]}> <{CARDS[2]}>",
        f"password: <{CARDS[1]}>",
    ],
)
def test_only_the_secret_of_an_assignment_is_taken_out(text):
    start, end = text.index("<"), text.rindex(">")
    if text.count("<") > 1:
        expected = " ".join([REDACTED] * 2)
    else:
        expected = text[:start] + REDACTED + text[end + 1 :]

    assert redact_secrets(text.replace("<", "").replace(">", "")) == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n"])
@pytest.mark.parametrize("kind", ["RSA ", "OPENSSH ", "", "ENCRYPTED "])
def test_private_keys_are_taken_out_whole(newline, kind):
    lines = [f"-----BEGIN {kind}PRIVATE KEY-----", BODY, BODY + "+/==", BODY[:16]]
    whole = newline.join([*lines, f"-----END {kind}PRIVATE KEY-----"])

    assert redact_secrets(f"Here: {whole} thanks") == f"Here: {REDACTED} thanks"


def test_of_a_private_key_that_was_cut_off_the_lines_go_and_the_rest_stays():
    cut = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n\nThat is all I have."

    assert redact_secrets(cut) == f"{REDACTED}\n\nThat is all I have."


@pytest.mark.parametrize(
    "text",
    [
        "The key: be patient. The key is patience.",
        "Key: C major",
        "key: order_items_v2",
        "sort(key=lambda x: x[1])",
        "password is required",
        "Password: must be 8-16 characters long",
        "password is 8-16 characters",
        "the secret: I love her",
        "The secret is 42",
        "token: 12 tokens, max_tokens: 4096",
        "password=getpass.getpass()",
        "password=settings.password",
        "password=${DB_PASSWORD}",
        "password: <your-password>",
        'api_key=os.environ["OPENAI_API_KEY"]',
        "commit 3f2a9c8e7d6b5a4f3e2d1c0b9a8f7e6d5c4b3a21",
        "550e8400-e29b-41d4-a716-446655440000",
        "On 2024-05-07 10:30:00 +0800 and 20240507T103000Z",
        "between 2024-05-07 and 2024-06-08, 09:00-17:30",
        "+86 138 0013 8000, (415) 555-2671, +4916212345678",
        "order 1700000000000, order #4111111111111111, 2024050712345678",
        "IMEI 356938035643809, ISBN 978-3-16-148410-0",
        "version 1.2.3-beta4 and v10.20.30",
        "3.4111111111111111 and 4111111111111111.5",
        "Bearer of bad news; a bearer certificate",
        "authorization: required",
        "sk-learn-contrib-categorical-encoders",
        "http://example.com:8080/me@x.org",
        "时间http://a.com:80，邮箱me@x.com",
        "git@github.com:foo/bar.git and ssh://git@github.com/foo",
        "密码忘了怎么办？密码是8位数字。",
        "密码：忘了",
        "我的手机号是13800138000，订单号202405071234567",
        "身份证110101199003078515",
        "我的幸运数字是7，生日是1990年5月7日",
    ],
)
def test_ordinary_talk_stays(text):
    assert redact_secrets(text) == text


def test_a_number_with_a_wrong_check_digit_stays():
    assert redact_secrets("4111 1111 1111 1112") == "4111 1111 1111 1112"


FRAGMENTS = st.sampled_from(
    [
        *KEYS,
        *CARDS,
        *"password= token: key= secret is 密码是 密码： Bearer apiKey".split(),
        *"a1b2c3d4e5 hunter2 [redacted] 4111 authorization: :// @ u: http".split(),
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        *" \n\"'`,.;:=&?/\\-_[]()<>。，“”",
    ]
)


@given(st.lists(FRAGMENTS, max_size=14).map("".join))
@example("password=“[redacted]")
@example("token=a1b2c3d4&key=a1b2c3d4")
def test_redacting_twice_changes_nothing_more(text):
    once = redact_secrets(text)

    assert redact_secrets(once) == once


@given(st.text(max_size=200))
def test_any_text_can_be_redacted(text):
    once = redact_secrets(text)

    assert redact_secrets(once) == once


@given(st.sampled_from(KEYS), st.text(alphabet="项目很好。，！ \n", max_size=20))
def test_chinese_around_a_key_stays(key, around):
    assert redact_secrets(around + key + around) == around + REDACTED + around


UNITS = [
    *("a", " ", "-", "[", "\n", "4", "4111 ", "1 ", "a-", "密码是"),
    *("sk-", "eyJ", "eyJaaaaaaaaaaa.", "SG.aaaaaaaaaaaaaaaaaaaa.", "AKIA"),
    *("key=", "key=“", 'key="', "key=&a", "password: ", "password is "),
    *("a://b:", "a://b:c@", "bearer ", "authorization: ", "secret access "),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----a b - "),
]


def repeated(unit, length):
    return unit * (length // len(unit))


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_whatever_is_repeated(unit):
    """A pattern that backtracks would need hours here, and run into the time limit."""
    redact_secrets(repeated(unit, 200_000))


def test_a_megabyte_of_everything_takes_seconds():
    redact_secrets("".join(repeated(unit, 1_000_000 // len(UNITS)) for unit in UNITS))


def test_a_long_secret_goes_whole():
    assert redact_secrets(f"password={BODY * 100} ok") == f"password={REDACTED} ok"
    assert redact_secrets(f"sk-{BODY * 100} ok") == f"{REDACTED} ok"


def test_redactors_are_applied_from_left_to_right():
    redact = compose(redact_secrets, lambda text: text.replace("Ann", "A."), str.upper)

    assert redact("Ann's password=hunter2") == "A.'S PASSWORD=[REDACTED]"
    assert compose()("Ann") == "Ann"
