"""`chat`: piped conversations, commands, errors."""

import pytest


@pytest.fixture
def chat(run, url):
    def talk(*lines, options=()):
        return run("chat", "--url", url, *options, input="\n".join(lines) + "\n")

    return talk


def after(output, line):
    """What is printed after a line was typed and before the next one."""
    return output.split(f"you> {line}\n", 1)[1].split("you> ")[0]


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("My name is Anna and I live in Rome.", "Where do I live?", "I live in Rome"),
        ("我叫小明，住在北京。", "我住在哪里？", "你说过：「我住在北京」"),
    ],
)
def test_a_new_thread_still_knows_what_was_said(process, url, told, asked, answer):
    done = process("chat", "--url", url, input=f"{told}\n/new\n{asked}\n")
    output = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    assert "new thread" in output
    assert answer in after(output, asked)
    # And so does another process.
    later = process("chat", "--url", url, input=asked)
    assert answer in after(later.stdout.decode(), asked)


def test_the_banner_names_model_store_user_and_tools(chat, tmp_path):
    output = chat().stdout
    assert "offline" in output
    assert str(tmp_path / "memories.db") in output
    assert "me (app default)" in output
    assert "memory_add, memory_delete" in output


def test_tool_calls_and_preloaded_memories_are_shown(chat):
    output = chat("I like tea", "Hello").stdout
    assert "→ memory_add(memory='I like tea'" in after(output, "I like tea")
    assert "← Saved" in after(output, "I like tea")
    assert "preloaded 1: “I like tea”" in after(output, "Hello")


def test_a_thread_remembers_nothing_of_another_but_by_memory(chat):
    lines = ("The sky is green", "/new", "What colour is the sky?")
    output = chat(*lines, options=["--no-learn"]).stdout
    assert "found nothing" in after(output, "What colour is the sky?")


def test_memories_can_be_listed_found_forgotten_and_restored(chat, run, url):
    chat("I like tea")
    listed = run("memories", "list", "--json", "--url", url).stdout
    memory_id = listed.split('"id": "')[1][:12]
    output = chat(
        "/memory",
        "/search tea",
        f"/forget {memory_id}",
        "/memory",
        "/search tea",
        f"/restore {memory_id}",
        "/MEMORY",
    ).stdout
    assert "I like tea" in after(output, "/memory")
    assert "I like tea" in after(output, "/search tea")
    assert "Nothing is remembered about me" in output
    assert "Nothing found" in output
    assert "Restored: I like tea" in output
    assert "1 of 1 memory of me" in after(output, "/MEMORY")


def test_what_the_agent_forgot_can_be_restored_by_a_prefix(chat):
    output = chat("My name is Anna", "Forget my name", "/memory").stdout
    memory_id = output.split("memory_delete(memory_id='")[1][:10]
    assert "Nothing is remembered" in after(output, "/memory")
    assert "My name is Anna" in chat(f"/restore {memory_id}").stdout


def test_without_soft_delete_the_agent_gets_no_tool_to_delete(chat):
    output = chat(
        "My name is Anna", "Forget my name", options=["--no-soft-delete"]
    ).stdout
    assert "memory_delete(" not in output
    assert "/forget" in after(output, "Forget my name")


def test_another_user_is_a_stranger_in_a_new_thread(chat):
    output = chat("My name is Anna", "/user bob", "What is my name?").stdout
    assert "found nothing" in after(output, "What is my name?")


def test_whole_answers_can_be_shown_at_once(chat):
    output = chat("Who are you?", options=["--no-stream"]).stdout
    assert "agent> I'm the offline model" in output


def test_exit_leaves_what_follows_unread(chat):
    output = chat("/exit", "I like tea").stdout
    assert output.endswith("Bye.\n")
    assert "I like tea" not in output


def test_help_lists_the_commands(chat):
    output = chat("/help").stdout
    for name in "/memory /search /forget /restore /new /user /help /exit".split():
        assert name in output


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/nonsense", "no command /nonsense"),
        ("/forget", "first letters"),
        ("/forget zzz", "begins with 'zzz'"),
        ("/restore zzz", "begins with 'zzz'"),
        ("/search", "/search WORDS"),
        ("/user", "/user NAME"),
    ],
)
def test_a_mistake_is_one_line_and_the_talk_goes_on(chat, line, message):
    result = chat(line, "I like tea")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Noted" in result.stdout
    assert result.exit_code == 1


def test_a_model_that_fails_costs_the_turn_and_not_the_chat(chat, monkeypatch):
    from langchain_agentmemory.offline import OfflineChatModel  # noqa: PLC0415

    reply = OfflineChatModel._reply

    def failing(self, messages, tools, stop):
        if "fail" in messages[-1].text:
            msg = "no connection to the model"
            raise ConnectionError(msg)
        return reply(self, messages, tools, stop)

    monkeypatch.setattr(OfflineChatModel, "_reply", failing)
    result = chat("please fail", "Who are you?")
    assert "no connection to the model" in result.stderr
    assert "offline model" in result.stdout
    assert result.exit_code == 1


def test_bytes_that_are_not_text_do_not_end_the_chat(process, url):
    done = process("chat", "--url", url, input=b"I like \xff tea\n/memory\n")
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert "�" in done.stdout.decode()


def test_a_user_that_cannot_be_is_refused_before_anything_is_read(chat):
    result = chat("I like tea", options=["--user", ""])
    assert result.exit_code == 2
    assert "user_id is required" in result.stderr
