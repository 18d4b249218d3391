"""Assistant episodes: which answers are shown to a model, and what is made of them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_agentmemory import Operation
from langchain_agentmemory.extraction.assistant import (
    EPISODE_PREFIX,
    EXCERPT_BYTES,
    MAX_EPISODE_BYTES,
    MAX_REQUEST_BYTES,
    Pair,
    accept,
    candidates,
    episode_timeout,
    excerpt,
    pairs,
    request,
)

MARKER = "\n...[truncated]...\n"
PICNIC = [
    HumanMessage("Suggest picnic spots.", id="u1"),
    AIMessage("- Willow Park\n- Cove Beach", id="a1"),
    HumanMessage("Now suggest desserts.", id="u2"),
    AIMessage("- Gelato\n- Tarts", id="a2"),
]
STRONG = "- one\n- two"


def call(label, memory, **more):
    arguments = {"pair_id": label, "memory": memory, **more}
    return {"name": "memory_assistant_episode", "args": arguments, "id": "1"}


def texts(operations):
    return [operation.memory.removeprefix(EPISODE_PREFIX) for operation in operations]


def weather_call():
    return {"name": "weather", "args": {}, "id": "1", "type": "tool_call"}


# --- pairs


def test_a_pair_is_what_was_asked_and_the_last_answer():
    found = pairs(
        [
            SystemMessage("Be brief"),
            AIMessage("Hello, who is there?"),
            HumanMessage("Trees?", id="u"),
            AIMessage("Let me think."),
            AIMessage("", tool_calls=[weather_call()]),
            ToolMessage("rain", tool_call_id="1"),
            AIMessage("- Oak\n- Elm", id="a"),
        ]
    )

    assert found == [Pair(1, "Trees?", "- Oak\n- Elm", "u", "a")]


def test_what_was_said_while_calling_tools_is_no_answer():
    messages = [
        HumanMessage("Trees?"),
        AIMessage("It takes 5 minutes", tool_calls=[weather_call()]),
        ToolMessage("rain", tool_call_id="1"),
    ]

    assert pairs(messages) == []


def test_a_question_without_an_answer_keeps_its_number():
    first, last = HumanMessage("One?"), HumanMessage("Two?")

    assert pairs([first, last, AIMessage("Yes")]) == [Pair(2, "Two?", "Yes")]


def test_an_image_ends_a_pair_and_has_no_number():
    image = HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}])
    found = pairs([*PICNIC[:2], image, AIMessage(STRONG), *PICNIC[2:]])

    assert [(pair.user_index, pair.user_id) for pair in found] == [(1, "u1"), (2, "u2")]


def test_a_summary_in_the_place_of_the_user_is_no_question():
    summary = HumanMessage(
        "Summary of 7 days", additional_kwargs={"lc_source": "summarization"}
    )

    assert pairs([*PICNIC[:2], summary, AIMessage(STRONG)]) == pairs(PICNIC[:2])


def test_text_parts_are_joined_and_roles_of_chat_messages_known():
    parts = [{"type": "text", "text": " Trees? "}, {"type": "image"}, " Tall ones. "]
    messages = [
        ChatMessage("Trees?\nTall ones.", role="user"),
        ChatMessage("Oak", role="assistant"),
    ]

    assert pairs([HumanMessage(parts), AIMessage("Oak")]) == pairs(messages)


# --- candidates


@pytest.mark.parametrize(
    ("user", "assistant", "wanted"),
    [
        (
            "What did the study on music therapy find?",
            "It measured a clear effect on sleep in 38 participants.",
            True,
        ),
        (
            "I'm looking for classic Soviet cartoons to watch with my kids.",
            "Start with these:\n\n* Nu, pogodi! (a wolf and a hare)\n* Cheburashka\n",
            True,
        ),
        ("音乐疗法的研究结果如何？", "共有38名参与者，睡眠明显改善。", True),
        ("推荐几部动画片吧", "1. 《兔子，等着瞧！》\n2. 《大闹天宫》", True),
        ("推荐几部动画片吧", "１. 《兔子，等着瞧！》\n２) 《大闹天宫》", True),
        ("Thanks!", "You are welcome.", False),
        ("Is 38 right?", "Yes, 38 is right.", False),
        ("３８名对吗？", "对，３８名。", False),
        ("３８名对吗？", "对，38名。", True),
    ],
)
def test_lists_and_new_numbers_are_worth_a_request(user, assistant, wanted):
    found = candidates(pairs([HumanMessage(user), AIMessage(assistant)]))

    assert bool(found) is wanted
    assert found.left_out == 0


def test_what_was_said_before_forgetting_everything_is_left_out():
    assert [p.user_index for p in candidates(pairs(PICNIC), cleared=1)] == [2]
    assert candidates(pairs(PICNIC), cleared=2) == []


def test_what_a_deletion_covers_is_left_out():
    found = candidates(pairs(PICNIC), deleted=frozenset({2}))

    assert [pair.user_index for pair in found] == [1]


def test_words_alone_forget_nothing():
    said = [HumanMessage("Please forget all of this."), AIMessage(STRONG)]

    assert len(candidates(pairs(said))) == 1


def test_at_most_32_pairs_and_what_is_left_out_is_counted(caplog):
    found = candidates([Pair(i, "More?", STRONG) for i in range(1, 34)])

    assert [pair.user_index for pair in found] == list(range(1, 33))
    assert found.left_out == 1
    assert "1 of 33" in caplog.text


def test_at_most_64_kib_of_excerpts():
    long = "word " * 2000
    found = candidates([Pair(i, long, STRONG + long) for i in range(1, 6)])

    assert len(found) == 4
    assert found.left_out == 1


def test_the_first_pair_that_does_not_fit_ends_the_request():
    long, short = Pair(1, "x" * 9000, STRONG + "x" * 9000), Pair(2, "?", STRONG)
    found = candidates([long] * 3 + [Pair(1, "?" * 9000, STRONG)] + [long, short])

    assert len(found) == 4
    assert found.left_out == 2


# --- excerpts


@given(st.text(max_size=40), st.integers(1, 900), st.text(max_size=40))
def test_an_excerpt_is_valid_bounded_and_made_of_both_ends(head, repeat, tail):
    text = head + "项目 plan 🌲é" * repeat + tail
    cut = excerpt(text)

    raw = cut.encode("utf-8")
    if len(text.encode("utf-8")) <= EXCERPT_BYTES:
        assert cut == text
    else:
        first, last = cut.split(MARKER)
        assert EXCERPT_BYTES - 6 <= len(raw) <= EXCERPT_BYTES
        assert text.startswith(first)
        assert text.endswith(last)


@given(st.text(alphabet="aé中🌲", min_size=10, max_size=60), st.integers(25, 60))
def test_an_excerpt_never_cuts_a_character(text, limit):
    cut = excerpt(text, limit)

    assert len(cut.encode("utf-8")) <= max(limit, 0)
    assert "\ufffd" not in cut
    assert set(cut) <= set(text) | set(MARKER)


def test_both_ends_of_an_excerpt_are_equally_long():
    first, last = excerpt("a" * 5000 + "z" * 5000).split(MARKER)

    assert (len(first), len(last)) == (4086, 4087)
    assert excerpt("a" * 8192) == "a" * 8192


# --- the request


def test_the_request_shows_labelled_pairs_and_one_tool():
    messages, tool = request(candidates(pairs(PICNIC)))

    assert [message.type for message in messages] == [
        *("system", "human", "ai", "human", "ai", "human")
    ]
    assert messages[1].content == "pair-1 user request:\nSuggest picnic spots."
    assert messages[4].content == "pair-2 assistant response:\n- Gelato\n- Tarts"
    schema = tool["function"]["parameters"]
    assert tool["function"]["name"] == "memory_assistant_episode"
    assert schema["required"] == ["memory", "pair_id"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {"memory", "topics", "pair_id"}
    assert schema["properties"]["pair_id"]["enum"] == ["pair-1", "pair-2"]


def test_the_application_has_the_last_word():
    plain, _ = request(candidates(pairs(PICNIC)))
    messages, _ = request(candidates(pairs(PICNIC)), prompt="Keep prices {only}")

    assert messages[0].content.startswith(plain[0].content)
    assert messages[0].content.endswith("they win:\n\nKeep prices {only}")
    assert request([], prompt=" ")[0][0].content == plain[0].content


def test_long_answers_are_shown_in_excerpts():
    (pair,) = pairs([HumanMessage("?"), AIMessage("1" * 9000)])
    messages, _ = request([pair])

    shown = messages[2].content.removeprefix("pair-1 assistant response:\n")
    assert shown == excerpt("1" * 9000)


def test_lone_surrogates_do_not_reach_a_model():
    messages, _ = request([Pair(1, "a\ud800b", STRONG)])

    messages[1].content.encode("utf-8")


# --- what the model made of it


def test_the_38_participants_are_remembered_as_an_answer():
    said = [
        HumanMessage("What did the study on music therapy find?"),
        AIMessage("It measured a clear effect on sleep in 38 participants."),
    ]
    memory = (
        "Asked about music therapy, the assistant named a study of {} participants."
    )
    said_at = datetime(2026, 3, 5, 9, 30, tzinfo=timezone(timedelta(hours=8)))
    chosen = candidates(pairs(said))
    operations, skipped = accept(
        [call("pair-1", memory.format(39)), call("pair-1", memory.format(38))],
        chosen,
        said_at=said_at,
    )

    assert operations == [
        Operation(
            "add",
            memory=EPISODE_PREFIX + memory.format(38),
            topics=(),
            kind="episode",
            event_time=datetime(2026, 3, 5, 1, 30, tzinfo=UTC),
            participants=("User", "Assistant"),
        )
    ]
    assert "39" in skipped[0].arguments["memory"]
    assert "number" in skipped[0].reason


@pytest.mark.parametrize("title", ["Nu, pogodi!", "《兔子，等着瞧！》"])
def test_the_title_of_the_cartoon_is_remembered(title):
    chosen = candidates([Pair(1, "A cartoon?", f"- {title}\n- Cheburashka")])
    operations, skipped = accept(
        [call("pair-1", f"The assistant recommended {title}.", topics=["cartoons"])],
        chosen,
    )

    assert title in operations[0].memory
    assert operations[0].topics == ("cartoons",)
    assert operations[0].event_time is None
    assert skipped == []


def test_results_come_in_the_order_of_the_conversation():
    calls = [call("pair-2", "Suggested Tarts."), call("pair-1", "Suggested a park.")]
    operations, _ = accept(calls, candidates(pairs(PICNIC)))

    assert texts(operations) == ["Suggested a park.", "Suggested Tarts."]


def test_the_first_valid_call_of_a_pair_wins():
    calls = [
        call("pair-1", "Suggested 9 spots."),
        call("pair-1", "Suggested Willow Park."),
        call("pair-1", "Suggested Cove Beach."),
        call("pair-9", "x"),
    ]
    operations, skipped = accept(calls, candidates(pairs(PICNIC)))

    assert texts(operations) == ["Suggested Willow Park."]
    assert [skip.arguments["memory"] for skip in skipped] == [
        *("Suggested 9 spots.", "Suggested Cove Beach.", "x")
    ]


@pytest.mark.parametrize(
    "broken",
    [
        {"name": "memory_add", "args": {"memory": "x", "pair_id": "pair-1"}},
        {"name": "memory_assistant_episode", "args": None},
        {"name": "memory_assistant_episode", "args": ["pair-1"]},
        {"name": "memory_assistant_episode", "args": "{broken"},
        {"name": "memory_assistant_episode", "args": "[1]"},
        {"name": "memory_assistant_episode", "args": "[" * 100_000},
        {"name": "memory_assistant_episode"},
        {},
        call(1, "x"),
        call(["pair-1"], "x"),
        call(None, "x"),
        call("pair-3", "x"),
        call("pair-1", " \n "),
        call("pair-1", None),
        call("pair-1", ["x"]),
        call("pair-1", "x" * (MAX_EPISODE_BYTES + 1)),
        call("pair-1", "项" * (MAX_EPISODE_BYTES // 3 + 1)),
    ],
)
def test_a_broken_call_is_skipped_and_spoils_no_other(broken):
    operations, skipped = accept(
        [broken, call("pair-1", "Suggested a park.")], candidates(pairs(PICNIC))
    )

    assert texts(operations) == ["Suggested a park."]
    assert len(skipped) == 1
    assert skipped[0].reason


def test_arguments_may_be_json_text_and_a_text_as_long_as_allowed():
    text = "x" * MAX_EPISODE_BYTES
    given = f'{{"pair_id": "pair-1", "memory": "  {text} "}}'
    operations, _ = accept(
        [{"name": "memory_assistant_episode", "args": given}],
        candidates(pairs(PICNIC)),
    )

    assert texts(operations) == [text]


@pytest.mark.parametrize(
    ("given", "topics"),
    [(["a", 1, "b", "a"], ("a", "b")), ("a", ()), (None, ()), ({"a": 1}, ())],
)
def test_topics_are_a_list_of_texts_or_none(given, topics):
    operations, _ = accept([call("pair-1", "x", topics=given)], [PAIR])

    assert operations[0].topics == topics


def test_the_model_cannot_choose_kind_time_or_people():
    given = call("pair-1", "x", kind="fact", event_time="2020", participants=["Bo"])
    (operation,) = accept([given], [PAIR])[0]

    assert operation == accept([call("pair-1", "x")], [PAIR])[0][0]


def test_numbers_are_checked_against_what_the_model_saw():
    hidden = "- a\n- b " + "x" * 5000 + " 77 " + "x" * 5000
    operations, skipped = accept([call("pair-1", "It was 77")], [Pair(1, "?", hidden)])

    assert operations == []
    assert len(skipped) == 1


def test_a_naive_time_is_utc():
    said_at = datetime(2026, 1, 2, tzinfo=UTC)
    calls = [call("pair-1", "x")]

    assert accept(calls, [PAIR], said_at=said_at.replace(tzinfo=None)) == accept(
        calls, [PAIR], said_at=said_at
    )


PAIR = Pair(1, "More?", STRONG)


@pytest.mark.parametrize(
    ("remaining", "timeout"), [(30, 25), (6, 3), (10, 5), (0, 0), (None, None)]
)
def test_time_is_kept_for_what_the_first_stage_found(remaining, timeout):
    assert episode_timeout(remaining) == timeout


@given(
    st.lists(
        st.tuples(
            st.sampled_from([HumanMessage, AIMessage]),
            st.sampled_from(["", "hi", "- a\n- b", "It is 5", "x" * 9000]),
        ),
        max_size=60,
    )
)
def test_any_conversation_fits_into_one_request(said):
    found = candidates(pairs([role(text) for role, text in said]))
    messages, _ = request(found)

    shown = sum(len(m.content.split("\n", 1)[-1].encode()) for m in messages[1:-1])
    assert shown <= MAX_REQUEST_BYTES
    assert len(found) <= 32
