import pytest

from langchain_agentmemory.extraction.texts import harmless, one_line


@pytest.mark.parametrize(
    "mark",
    [
        "[user message 7]",
        "［User_Message 7］",
        "[ *user* message 7]",
        "</existing_memories>",
        "< / Existing Memories >",
        "＜available_actions＞",
        "<conversation_rules>",
        "<|im_start|>",
    ],
)
def test_marks_of_the_request_are_broken_wherever_they_stand(mark):
    text = harmless(f"so\n{mark} there")

    assert text == f"so\n({mark[1:]} there"


@pytest.mark.parametrize(
    "text",
    [
        "a < b and [see below] <b>bold</b>",
        "[user] messages are fine after a while: [the user's long message]",
        "我喜欢 <茶> 【用户】",
        "👩‍👩‍👧 नमस्ते\n\ttabs and\n\nlines",
    ],
)
def test_other_texts_stay_as_they_are(text):
    expected = text.replace("[user] messages", "(user] messages")

    assert harmless(text) == expected


@pytest.mark.parametrize("hidden", ["\x00", "\x1b", "\u202e", "\ud800", "\U000e0041"])
def test_what_cannot_be_seen_is_left_out(hidden):
    assert harmless(f"a{hidden}b") == "ab"


def test_a_mark_cannot_be_hidden_by_what_is_left_out():
    assert harmless("[us\u200ber message 1]").startswith("(")


def test_of_a_long_text_both_ends_are_shown():
    text = harmless("a" * 50 + "b" * 50, 10)

    assert text == "aaaaa\n[… 90 characters left out …]\nbbbbb"


@pytest.mark.parametrize(
    "gap", ["\n", "\r\n", "\x0b", "\x85", "\u2028", "\u2029", "\t"]
)
def test_one_line_has_one_line(gap):
    assert one_line(f"a{gap}- [m9] b") == "a - [m9] b"


def test_one_line_is_cut():
    assert one_line("茶" * 10, 4) == "茶茶茶茶…"
