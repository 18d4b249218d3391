"""ChatGPT exports."""

from datetime import UTC, datetime

from langchain_agentmemory.transfer import read_file


def node(parent, role=None, text="", *, children=(), time=1715328000.0, **content):
    message = None
    if role is not None:
        message = {
            "id": f"id of {text}",
            "author": {"role": role},
            "create_time": time,
            "content": {"content_type": "text", "parts": [text], **content},
            "metadata": {},
        }
    return {"message": message, "parent": parent, "children": list(children)}


def conversation(**changes):
    return {
        "title": "Tea",
        "conversation_id": "c1",
        "create_time": 1715328000.0,
        "current_node": "e",
        "mapping": {
            "root": node(None, children=["a"]),
            "a": node("root", "user", "I like tea", children=["b", "d"]),
            "b": node("a", "assistant", "A regenerated answer", children=["c"]),
            "c": node("b", "user", "On a branch that was left", time=1715329000.0),
            "d": node("a", "assistant", "Noted.", children=["e"]),
            "e": node("d", "user", "I live in Rome", time=1715328060.0),
        },
    } | changes


def test_the_branch_of_the_current_node_is_read_with_its_times(written):
    reading = read_file(written([conversation()]))
    assert (reading.format, reading.problems) == ("chatgpt", [])
    tea, home = reading.statements
    assert (tea.memory, home.memory) == ("I like tea", "I live in Rome")
    assert home.event_time == datetime(2024, 5, 10, 8, 1, tzinfo=UTC)
    assert (home.source.thread_id, home.source.position) == ("c1", 2)
    assert home.source.message_ids == ("id of I live in Rome",)


def test_answers_are_read_on_request(written):
    reading = read_file(written([conversation()]), roles=["user", "assistant"])
    assert [s.memory for s in reading.statements] == [
        "I like tea",
        "Noted.",
        "I live in Rome",
    ]


def test_without_a_current_node_the_newest_branch_is_read(written):
    reading = read_file(written([conversation(current_node=None)]))
    assert reading.statements[-1].memory == "On a branch that was left"


def test_conversations_come_in_the_order_of_their_beginning(written):
    later = conversation(conversation_id="c2", create_time=1715400000.0)
    reading = read_file(written([later, conversation()]))
    threads = dict.fromkeys(s.source.thread_id for s in reading.statements)
    assert list(threads) == ["c1", "c2"]


def test_what_is_hidden_or_was_not_said_is_left_out(written):
    mapping = {
        "a": node(None, "user", "print(1)", content_type="code"),
        "b": node("a", "user", "I like tea"),
        "c": node("b", "user", "hidden"),
        "d": node("c", "user", "", parts=[{"image": 1}, "A photo of my cat"])
        | {"children": []},
    }
    mapping["c"]["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    mapping["d"]["message"]["content"]["content_type"] = "multimodal_text"
    reading = read_file(written([conversation(mapping=mapping, current_node="d")]))
    assert [s.memory for s in reading.statements] == ["I like tea", "A photo of my cat"]


def test_a_circle_of_messages_ends(written):
    mapping = {"a": node("b", "user", "one"), "b": node("a", "user", "two")}
    reading = read_file(written([conversation(mapping=mapping, current_node="a")]))
    assert [s.memory for s in reading.statements] == ["two", "one"]


def test_a_broken_conversation_is_reported_and_the_others_are_read(written):
    broken = conversation(current_node="nowhere")
    reading = read_file(written([conversation(), {"title": "x"}, broken]))
    assert len(reading.statements) == 2
    assert [problem.where for problem in reading.problems] == [
        "conversation 2",
        "conversation 3",
    ]
