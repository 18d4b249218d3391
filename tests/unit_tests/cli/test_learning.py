"""`chat` and `demo` learn by themselves, beside the offline model and a real one."""

import json

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.cli import background
from langchain_agentmemory.cli.opening import ChosenModel
from langchain_agentmemory.testing import ScriptedChatModel


@pytest.fixture
def chat(run, url):
    def talk(*lines, options=()):
        return run("chat", "--url", url, *options, input="\n".join(lines) + "\n")

    return talk


@pytest.fixture
def remembered(run, url):
    def read(user="me"):
        lines = run("memories", "list", "--json", "-u", user, "--url", url).stdout
        return sorted(json.loads(line)["memory"] for line in lines.splitlines())

    return read


def after(output, line):
    """What is printed after a line was typed and before the next one."""
    return output.split(f"you> {line}\n", 1)[1].split("you> ")[0]


# -- beside the offline model ----------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("Rex hates cats.", "What does Rex hate?", 'In memory: "Rex hates cats."'),
        ("小李在上海开了一家书店。", "小李的书店在哪里？", "小李在上海开了一家书店"),
    ],
)
def test_what_no_rule_understands_is_learnt_too(chat, told, asked, answer):
    output = chat(told, "/new", asked).stdout
    assert f"+ learnt: “{told}" in after(output, told)
    assert told in after(output, told).split("agent> ")[1].splitlines()[0]  # it says so
    assert answer in after(output, asked)
    assert "memory_add(" not in after(output, told)


@pytest.mark.parametrize(
    "told",
    [
        ["My name is Anna and I live in Rome.", "I like tea."],
        ["我叫小明，住在北京。", "我喜欢喝茶。"],
        ["I like tea. Rex hates cats.", "I like tea.", "Rex hates cats."],
        ["Hello!", "I met Bo yesterday.", "Thanks, bye!"],
    ],
)
def test_nothing_is_stored_twice(chat, remembered, told):
    chat(*told)
    once = remembered()
    assert len(set(once)) == len(once)
    chat(*told, options=["--no-learn"])
    assert remembered() == once  # nothing that the tools write was there as well


@pytest.mark.parametrize(
    ("told", "corrected", "now"),
    [
        ("I live in Rome.", "I moved to Paris.", ["I moved to Paris."]),
        ("我住在北京。", "我搬到上海了。", ["我搬到上海了。"]),
        ("My car is red.", "My car is blue, not red.", ["My car is blue."]),
    ],
)
def test_a_correction_leaves_one_memory(chat, remembered, told, corrected, now):
    chat(told, corrected)
    assert remembered() == now


@pytest.mark.parametrize(
    ("told", "forgotten"),
    [
        ("My name is Anna.", "Forget my name."),
        ("我叫小明。", "忘记我的名字。"),
        ("Rex hates cats.", "Forget that Rex hates cats."),
    ],
)
def test_what_is_forgotten_is_gone_and_the_wish_is_not_stored(
    chat, remembered, told, forgotten
):
    chat(told, forgotten, "Hello!")
    assert remembered() == []


@pytest.mark.parametrize(
    "line", ["Tell me a joke.", "Where do I live?", "Hi there!", "讲个笑话", "谢谢你！"]
)
def test_what_tells_nothing_is_not_learnt(chat, remembered, line):
    assert "learnt" not in after(chat(line).stdout, line)
    assert remembered() == []


def test_answers_of_the_offline_model_are_never_learnt(chat, remembered):
    chat("I like tea.", "What do I like?", options=["--assistant-episodes"])
    assert remembered() == ["I like tea."]


def test_no_learn_leaves_it_to_the_tools(chat, remembered):
    output = chat("Rex hates cats.", "I like tea.", options=["--no-learn"]).stdout
    assert "learns only by its tools" in output
    assert remembered() == ["I like tea."]


def test_learning_can_be_switched_off_and_on(chat, remembered):
    output = chat("/learn off", "I like tea.", "Rex hates cats.", "/status").stdout
    assert "memory_add(" not in output
    assert "it is kept" not in output
    assert "learns  nothing" in after(output, "/status")
    assert remembered() == []
    # It is a setting of the user, not of the process.
    output = chat("I like tea.", "/learn on", "Rex hates cats.", "I like jazz.").stdout
    assert "learns nothing: you switched it off" in output
    assert remembered() == ["I like jazz.", "Rex hates cats."]


@pytest.mark.parametrize(
    ("line", "message"),
    [("/learn", "on or off"), ("/replay zzz", "begins with 'zzz'")],
)
def test_a_mistake_is_one_line(chat, line, message):
    result = chat(line)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_anything_to_show_it_is_said(chat):
    output = chat("/jobs", "/replay", "/status").stdout
    assert "No turn waits" in after(output, "/jobs")
    assert "No turn failed" in after(output, "/replay")
    for fact in ("pending", "running", "failed", "lag"):
        assert fact in after(output, "/status")


def test_a_policy_can_be_named(chat, run):
    assert "append-only" in chat(options=["--policy", "append-only"]).stdout
    assert run("chat", "--policy", "newest").exit_code == 2


def test_the_offline_chat_leaves_turns_of_other_users_alone(chat, url, remembered):
    with MemoryStore.from_url(url, extraction_mode="queue") as store:
        store.enqueue_extraction("ann", [("user", "Bo plays chess.")], thread_id="t")
    chat("Rex hates cats.")
    assert remembered("ann") == []
    with MemoryStore.from_url(url) as store:
        assert [job.state for job in store.extraction_jobs()] == ["waiting"]


# -- beside a language model -----------------------------------------------------------


class Model:
    """Acknowledges as an agent; as an extractor it keeps what is said, or fails."""

    def __init__(self):
        self.error = None
        self.offered = []
        self.model = ScriptedChatModel([self.answer] * 100)

    def answer(self, messages):
        request = self.model.requests[-1]
        if "memory_add" not in request.tool_names:
            self.offered.append(request.tool_names)
            return "I see."
        if self.error is not None:
            return self.error
        said = " ".join(message.text for message in messages)
        kept = [w for w in ("I like tea", "我喜欢喝茶") if w in said]
        return [
            {"name": "memory_add", "args": {"memory": word, "source_user_index": 1}}
            for word in kept
        ]


@pytest.fixture
def model(monkeypatch):
    made = Model()
    monkeypatch.setattr(
        "langchain_agentmemory.cli.opening.choose_model",
        lambda _: ChosenModel(made.model, "scripted", offline=False),
    )
    return made


@pytest.mark.parametrize("line", ["I like tea", "我喜欢喝茶"])
def test_a_language_model_learns_after_the_answer(chat, model, remembered, line):
    output = chat(line, "/new", "Hello").stdout
    assert remembered() == [line]
    assert f"+ learnt: “{line}”" in output
    assert "preloaded 1" in after(output, "Hello")
    assert all("memory_add" not in offered for offered in model.offered)
    assert "memory_search" in model.offered[0]


def test_what_failed_for_good_is_shown_and_can_be_replayed(chat, model, remembered):
    model.error = TypeError("broken")
    result = chat("I like tea", "/new", "/status", "/jobs")
    assert remembered() == []
    assert "broken" in after(result.stdout, "/jobs")
    assert "1 turn could not be learnt from" in result.stderr
    assert "Traceback" not in result.stderr
    again = chat("/replay")
    assert "Still not learnt from: " in again.stderr
    model.error = None
    assert "Learnt from 1 turn that had failed" in chat("/replay").stdout
    assert remembered() == ["I like tea"]
    assert "No turn failed" in chat("/replay").stdout


def test_leaving_does_not_wait_for_ever_and_loses_nothing(
    chat, model, remembered, monkeypatch
):
    monkeypatch.setattr(background, "LEAVE_SECONDS", 0.3)
    model.error = ConnectionError("the model is away")
    output = chat("I like tea").stdout
    assert "kept for next time: 1 turn" in output
    assert output.endswith("Bye.\n")
    model.error = None
    monkeypatch.setattr(background, "LEAVE_SECONDS", 10)
    chat("Hello")
    assert remembered() == ["I like tea"]


def test_a_store_in_memory_says_what_is_lost(run, model, monkeypatch):
    monkeypatch.setattr(background, "LEAVE_SECONDS", 0.3)
    model.error = ConnectionError("the model is away")
    result = run("chat", "--url", "memory://", input="I like tea\n")
    assert "lost with this store: 1 turn" in result.stderr


# -- demo ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "learnt", "recalled"),
    [
        ("en", "+ learnt: “Rex loves", "✓ recalled: thunder"),
        ("zh", "+ learnt: “旺财爱吃", "✓ 想起来了：打雷"),
    ],
)
def test_the_demo_shows_automatic_memory(run, language, learnt, recalled):
    output = run("demo", "--lang", language).stdout
    assert learnt in output
    assert recalled in output
