"""The offline model in an agent loop, with the real tools and the real middleware."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_agentmemory import MemoryMiddleware


class Talk:
    """A conversation; `new_thread` keeps nothing but the memory."""

    def __init__(self, model, tools=(), middleware=()):
        self._agent = create_agent(
            model,
            tools=list(tools),
            middleware=list(middleware),
            checkpointer=InMemorySaver(),
        )
        self._thread = 0
        self.calls = []

    def new_thread(self):
        self._thread += 1

    def say(self, text):
        config = {"configurable": {"thread_id": self._thread, "user_id": "anna"}}
        state = self._agent.invoke(
            {"messages": [HumanMessage(text)]}, config | {"recursion_limit": 12}
        )
        messages = state["messages"]
        turn = messages[max(i for i, m in enumerate(messages) if m.type == "human") :]
        said = [message for message in turn if isinstance(message, AIMessage)]
        self.calls = [call["name"] for message in said for call in message.tool_calls]
        return said[-1].text


@pytest.fixture(params=["tools", "middleware"])
def talk(request, model, store, tools):
    """The same conversation with search only, and with preloading."""
    if request.param == "tools":
        return Talk(model, tools)
    store = type(store)(
        store.backend, soft_delete=True, enabled_tools=["memory_delete"]
    )
    return Talk(model, middleware=[MemoryMiddleware(store)])


def texts(store):
    return sorted(entry.memory for entry in store.read_memories("anna"))


def test_a_life_in_english(talk, store):
    talk.say("Hi, my name is Anna and I live in Paris.")
    talk.say("I like green tea. Yesterday I visited the Louvre with Tom.")
    assert len(texts(store)) == 4
    talk.new_thread()
    assert "I live in Paris" in talk.say("Where do I live?")
    assert "My name is Anna" in talk.say("Who am I?")
    assert "green tea" in talk.say("What do I like?")
    assert "Louvre" in talk.say("What did I do yesterday?")
    assert "2024-05-09" in talk.say("When did I visit the Louvre?")
    talk.say("I moved to Berlin")
    assert talk.calls[-1] == "memory_update"
    talk.new_thread()
    assert "Berlin" in talk.say("Where do I live?")
    assert "Paris" not in talk.say("Where do I live?")
    talk.say("It's Munich, not Berlin.")
    assert "Munich" in talk.say("Where do I live?")
    talk.say("I no longer like green tea")
    assert "no longer" in talk.say("Do I like tea?")
    assert "Forgotten" in talk.say("Forget my name")
    assert talk.calls == ["memory_search", "memory_delete"]
    assert "My name is Anna" not in texts(store)
    assert "found nothing" in talk.say("What is my name?")


def test_a_life_in_chinese(talk, store):
    talk.say("你好，我叫小明，住在北京，喜欢喝茶。")
    talk.say("我昨天去了故宫。")
    assert len(texts(store)) == 4
    talk.new_thread()
    assert "我住在北京" in talk.say("我住在哪里？")
    assert "我叫小明" in talk.say("我是谁？")
    assert "喝茶" in talk.say("我喜欢喝什么？")
    assert "故宫" in talk.say("我昨天做了什么？")
    assert "2024-05-09" in talk.say("我什么时候去的故宫？")
    talk.say("我搬到上海了")
    assert talk.calls[-1] == "memory_update"
    talk.new_thread()
    assert "上海" in talk.say("我住在哪里？")
    talk.say("不是上海，是杭州")
    assert "杭州" in talk.say("我现在住在哪？")
    assert "已忘记" in talk.say("忘记我的名字")
    assert "我叫小明" not in texts(store)
    assert "没有找到" in talk.say("我叫什么名字？")


@pytest.mark.parametrize(
    ("said", "asked", "told"),
    [
        (
            ["I live in Shanghai", "I moved to Hangzhou. I live in Binjiang."],
            "Where do I live?",
            ["Hangzhou", "Binjiang"],
        ),
        (
            ["我住在北京。我搬到上海了，住在静安区。"],
            "我住在哪里？",
            ["北京", "上海", "静安区"],
        ),
        (
            ["我以前住在上海静安区", "我搬到杭州了，住在滨江区"],
            "我现在住在哪里？",
            ["杭州", "滨江区"],
        ),
        (
            ["我以前住在上海静安区", "我搬到杭州了，住在滨江区"],
            "我以前住在哪里？",
            ["静安区"],
        ),
        (
            ["I used to live in Boston", "I moved to Chicago"],
            "Where did I live before?",
            ["Boston"],
        ),
        (
            ["I moved to Chicago", "I used to live in Boston"],
            "Where do I live now?",
            ["Chicago"],
        ),
        (
            ["I used to live in Boston", "I used to live in Rome"],
            "Where did I live before?",
            ["Boston", "Rome"],
        ),
        (
            ["我以前住在上海", "I used to live in Boston"],
            "我以前住在哪里？",
            ["上海"],
        ),
    ],
)
def test_nothing_that_is_said_of_one_thing_is_lost(talk, said, asked, told):
    for text in said:
        talk.say(text)
    talk.new_thread()
    answer = talk.say(asked)
    assert all(word in answer for word in told)


def test_a_correction_without_anything_to_correct_is_kept(talk, store):
    assert talk.say("I moved to Rome") == 'Noted: "I moved to Rome"'
    assert texts(store) == ["I moved to Rome"]


@pytest.mark.parametrize(
    ("past", "present", "answer"),
    [
        (
            "I used to live in Boston",
            "I moved to Denver",
            'Noted: "I moved to Denver"',
        ),
        ("我以前住在北京", "我搬到上海了", "记住了：「我搬到上海了」"),
    ],
)
def test_news_beside_what_is_past_are_noted_and_nothing_is_missed(
    talk, past, present, answer
):
    talk.say(past)
    assert talk.say(present) == answer


def test_who_names_what_is_wrong_is_told_that_it_is_not_known(talk):
    told = talk.say("My car is red, not blue")
    assert told.endswith("(there was nothing earlier to correct)")


def test_forgetting_what_is_not_known_deletes_nothing(talk, store):
    talk.say("I like tea")
    assert "nothing to forget" in talk.say("Forget my birthday")
    assert texts(store) == ["I like tea"]


def test_what_else_mentions_the_forgotten_is_kept_and_named(talk, store):
    talk.say("I like green tea. My sister sells tea.")
    answer = talk.say("Forget that I like green tea")
    assert texts(store) == ["My sister sells tea."]
    assert "Forgotten" in answer


async def test_the_agent_answers_asynchronously(model, store, tools):
    agent = create_agent(model, tools=tools)
    state = await agent.ainvoke({"messages": [HumanMessage("我叫小明")]})
    assert state["messages"][-1].text == "记住了：「我叫小明」"
    assert texts(store) == ["我叫小明"]
