"""The extractor without a model: what is stored, how dated, and what it never does."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_agentmemory import (
    AppendOnly,
    ExtractionContext,
    MemoryStore,
    PreserveHistory,
    Source,
    UserKey,
    VerbatimExtractor,
    message_threshold,
    redact_secrets,
)
from langchain_agentmemory.errors import ExtractionFailed, InvalidInput
from langchain_agentmemory.extraction.base import Extractor

SAID_AT = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)


def conversation(*texts):
    return [
        (HumanMessage if i % 2 == 0 else AIMessage)(text, id=f"m{i}")
        for i, text in enumerate(texts)
    ]


def stored(*texts, **options):
    found = VerbatimExtractor(**options).extract(conversation(*texts), said_at=SAID_AT)
    return [operation.memory for operation in found]


def test_it_is_an_extractor():
    extractor = VerbatimExtractor()

    assert isinstance(extractor, Extractor)
    assert isinstance(extractor.policy, AppendOnly)
    assert repr(extractor) == "VerbatimExtractor(policy='append_only', checkers=[])"


def test_what_was_said_becomes_an_episode_of_that_day():
    (operation,) = VerbatimExtractor().extract(
        conversation("Hi! I moved to Porto last week. Any tips?"),
        said_at=SAID_AT,
        timezone="Asia/Shanghai",
    )

    assert operation.type == "add"
    assert operation.memory == "I moved to Porto last week."
    assert operation.kind == "episode"
    assert operation.event_time == "2026-03-05"  # past midnight there
    assert operation.participants == ()
    assert operation.source == Source(message_ids=("m0",), role="user", said_at=SAID_AT)


def test_a_naive_time_is_taken_in_the_timezone():
    (operation,) = VerbatimExtractor().extract(
        conversation("I like tea."),
        said_at=datetime(2026, 3, 4, 23, 30),  # noqa: DTZ001
        timezone="+08:00",
    )

    assert operation.event_time == "2026-03-04"
    assert operation.source.said_at.utcoffset() == timedelta(hours=8)


def test_without_a_time_it_is_today():
    (operation,) = VerbatimExtractor().extract(conversation("I like tea."))

    assert datetime.now(UTC) - operation.source.said_at < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("hi", []),
        ("thanks!", []),
        ("好的", []),
        ("what's the weather?", []),
        (
            (
                "I'm trying to plan a gift for my niece's birthday, which is coming up "
                "soon. Can you give me some ideas for a nice gift? By the way, I just "
                "got a silver necklace for my sister."
            ),
            [
                (
                    "I'm trying to plan a gift for my niece's birthday, which is "
                    "coming up soon. By the way, I just got a silver necklace for my "
                    "sister."
                )
            ],
        ),
        (
            "你好啊，朋友。今天我去了书店，买了一本心理学的书。你觉得学习心理学有用吗？",
            ["今天我去了书店，买了一本心理学的书。"],
        ),
        (
            "For the trip I take:\n- a tent\n- a stove\n\nI'll go with Bo.",
            ["For the trip I take:\n- a tent\n- a stove", "I'll go with Bo."],
        ),
        ("Fix this:\n```\nx = 1\n```\nI use Python 3.12 at work.", None),
    ],
)
def test_what_is_worth_keeping_is_stored_word_for_word(said, expected):
    if expected is None:
        expected = ["I use Python 3.12 at work."]

    assert stored(said) == expected


def test_only_the_user_is_stored_unless_asked():
    said = ("How many took part?", "There were 38 participants. Anything else?")

    assert stored(*said) == []
    assert stored(*said, assistant=True) == [
        'The assistant answered "How many took part?": There were 38 participants.'
    ]


def test_answers_say_whose_they_are():
    messages = conversation("推荐一部动画片吧", "《兔子，等着瞧！》很适合孩子。")
    (operation,) = VerbatimExtractor(assistant=True).extract(messages, said_at=SAID_AT)

    assert operation.memory == (
        "助手回答“推荐一部动画片吧”：《兔子，等着瞧！》很适合孩子。"
    )
    assert operation.participants == ("User", "Assistant")
    assert operation.source == Source(
        message_ids=("m1",), role="assistant", said_at=SAID_AT
    )


def test_a_long_question_is_shortened_in_the_answer():
    (memory,) = stored("Why? " * 40, "Because it rains a lot.", assistant=True)

    assert len(memory) < 140
    assert '…": Because it rains a lot.' in memory


def test_tools_prompts_and_summaries_are_not_stored():
    call = {"name": "weather", "args": {}, "id": "1", "type": "tool_call"}
    messages = [
        SystemMessage("You are a pirate and like rum."),
        HumanMessage("I like rum.", additional_kwargs={"lc_source": "summarization"}),
        HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}]),
        AIMessage("I look it up.", tool_calls=[call]),
        ToolMessage("It rains in Porto.", tool_call_id="1"),
    ]

    assert VerbatimExtractor(assistant=True).extract(messages) == []


def test_it_never_deletes_and_stores_no_request_to_forget():
    said = (
        "My address is 5 Elm Street. I like tea.",
        "Noted.",
        "Please forget my address. I have two cats.",
    )

    assert stored(*said) == ["I like tea.", "I have two cats."]
    assert stored("Forget everything.") == []
    assert stored("我的地址是榆树街5号。我喜欢绿茶。", "好", "忘掉我的地址") == [
        "我喜欢绿茶。"
    ]
    assert stored("My cards:\n- Visa\n- Maestro", "ok", "Forget my cards.") == []


def test_a_list_with_something_to_forget_goes_whole():
    said = ("1. my salary is low\n2. my boss is nice", "ok", "Forget my salary.")

    assert stored(*said) == []


@pytest.mark.parametrize(
    ("enabled", "count"),
    [
        (None, 1),
        ({"memory_add"}, 1),
        ({"memory_update", "memory_delete"}, 0),
        (set(), 0),
    ],
)
def test_nothing_is_stored_where_adding_is_off(enabled, count):
    found = VerbatimExtractor().extract(
        conversation("I like tea."),
        enabled=None if enabled is None else frozenset(enabled),
    )

    assert len(found) == count
    assert (found.model_calls, found.skipped) == (0, [])


def test_a_policy_without_additions_leaves_nothing_to_do():
    class Frozen(AppendOnly):
        operations = frozenset()

    extractor = VerbatimExtractor(policy=Frozen(operations=frozenset()))

    assert extractor.extract(conversation("I like tea.")) == []


def test_redaction_sees_whole_texts_before_they_are_split():
    secret = (
        "-----BEGIN PRIVATE KEY-----\n" + "A1b2" * 9 + "\n-----END PRIVATE KEY-----"
    )
    said = f"I keep it here:\n{secret}\nI like tea. My password is hunter2."

    assert stored(said, redact=redact_secrets) == [
        "I keep it here: I like tea. My password is [redacted]."
    ]


def test_if_redaction_fails_nothing_is_stored():
    def broken(text):
        raise ValueError(text)

    with pytest.raises(ExtractionFailed) as caught:
        VerbatimExtractor(redact=broken).extract(conversation("I like tea."))
    assert "tea" not in str(caught.value)


def test_the_length_of_entries_can_be_chosen():
    said = "I like tea. I like rum. I like jam."

    assert stored(said, max_characters=23) == ["I like tea. I like rum.", "I like jam."]


def test_of_what_was_pasted_only_the_beginning_is_stored(caplog):
    said = "\n\n".join(f"Paragraph {number} of my book." for number in range(30))

    with caplog.at_level(logging.WARNING):
        assert len(stored(said)) == 20
    assert "30 parts" in caplog.text
    assert len(stored(said, max_entries=None)) == 30
    assert stored(said, max_entries=1) == ["Paragraph 0 of my book."]


def test_what_is_worth_keeping_can_be_decided_by_the_application():
    def about_tea(sentence, role):
        return "tea" in sentence

    assert stored("I like tea. I like rum. tea?", keep=about_tea) == [
        "I like tea. tea?"
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"max_characters": 5},
        {"max_characters": True},
        {"max_characters": "300"},
        {"max_entries": 0},
        {"policy": "append_only"},
        {"checkers": [1]},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(InvalidInput):
        VerbatimExtractor(**options)


def test_an_unknown_timezone_is_refused():
    with pytest.raises(InvalidInput):
        VerbatimExtractor().extract(conversation("I like tea."), timezone="Mars")


def test_checkers_say_when():
    extractor = VerbatimExtractor(checkers=message_threshold(1))
    user = UserKey("app", "ann")

    assert not extractor.should_extract(ExtractionContext(user, conversation("a")))
    assert extractor.should_extract(ExtractionContext(user, conversation("a", "b")))
    assert VerbatimExtractor().should_extract(ExtractionContext(user, []))


async def test_the_async_twin_does_the_same():
    extractor = VerbatimExtractor(policy=PreserveHistory())
    messages = conversation("I like tea.")

    found = await extractor.aextract(messages, said_at=SAID_AT, timezone="+01:00")
    assert found == extractor.extract(messages, said_at=SAID_AT, timezone="+01:00")


def test_a_store_learns_with_it(make_store):
    store = make_store(extractor=VerbatimExtractor(), timezone="Asia/Shanghai")
    for _ in range(2):
        store.enqueue_extraction("ann", conversation("Hi! 我住在北京。"), thread_id="t")
        assert store.flush(10)

    (entry,) = store.read_memories("ann")
    assert (entry.memory, entry.kind, entry.event_precision) == (
        *("我住在北京。", "episode", "day"),
    )
    assert (entry.source.thread_id, entry.source.message_ids) == ("t", ("m0",))
    assert store.search_memories("ann", "北京")


def test_the_same_said_on_one_day_is_one_memory():
    store = MemoryStore(extractor=VerbatimExtractor())
    for number in range(2):
        message = HumanMessage("I like tea.", id=str(number))
        store.enqueue_extraction("ann", [message], thread_id=f"t{number}")
        assert store.flush(10)

    assert store.count_memories("ann") == 1
    store.close()


@given(
    st.lists(
        st.text(alphabet="ab我好 .。!？?,，:\n-1)`忘记forget", max_size=80), max_size=6
    )
)
def test_any_conversation_gives_entries_with_text(texts):
    found = VerbatimExtractor(assistant=True).extract(conversation(*texts))

    assert all(operation.memory.strip() for operation in found)
    assert {operation.type for operation in found} <= {"add"}


@pytest.mark.parametrize(
    "unit",
    [
        *("a ", ". ", "!", "?", "？", "。", "- a\n", "a:\n- b\n", "\n", "```\n"),
        *("1. a\n\nb\n", "Forget it. ", "forget ", "please ", "请", "把", "我想"),
        *("so. ", "that ", "hello, ", "不要记", "my a ", "thank you "),
    ],
)
def test_time_is_linear_whatever_is_repeated(unit, caplog):
    """A rule that backtracks would run into the time limit here."""
    caplog.set_level(logging.ERROR)
    stored(unit * (60_000 // len(unit)), unit * (60_000 // len(unit)), assistant=True)
