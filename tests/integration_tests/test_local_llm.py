"""The whole path of automatic memory with a real model, if one is at hand.

Any OpenAI-compatible server with a model that can call tools will do:

    AGENTMEMORY_LLM_BASE_URL=http://localhost:11434/v1 AGENTMEMORY_LLM_MODEL=qwen3:4b \
        pytest -m local_llm tests/integration_tests/test_local_llm.py

`AGENTMEMORY_LLM_API_KEY` is for servers that want one. What a small model writes is its
own affair; asserted is what the path owes, and the gist of what was said.
"""

import os

import pytest

from langchain_agentmemory import MemoryExtractor, MemoryStore, PreserveHistory
from tests.unit_tests.extraction.conversing import conversation

BASE_URL = os.environ.get("AGENTMEMORY_LLM_BASE_URL")
MODEL = os.environ.get("AGENTMEMORY_LLM_MODEL")
PATIENCE = 600
"""Seconds for one extraction: a small model on a CPU takes its time."""

pytestmark = [
    pytest.mark.local_llm,
    pytest.mark.timeout(4 * PATIENCE),
    pytest.mark.skipif(
        not (BASE_URL and MODEL),
        reason="set AGENTMEMORY_LLM_BASE_URL and AGENTMEMORY_LLM_MODEL",
    ),
]


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - only where it is run

    model = ChatOpenAI(
        model=MODEL,
        base_url=BASE_URL,
        api_key=os.environ.get("AGENTMEMORY_LLM_API_KEY", "none"),
        temperature=0,
        timeout=PATIENCE,
        use_responses_api=False,
    )
    extractor = MemoryExtractor(model, policy=PreserveHistory())
    url = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/local.db"}
    with MemoryStore.from_url(
        url[request.param], extractor=extractor, job_timeout=PATIENCE
    ) as opened:
        yield opened


def current(store):
    """Return what holds of the user, as one text."""
    entries = store.read_memories("ann")
    return "\n".join(one.memory for one in entries if one.superseded_by is None)


def learnt(store):
    assert store.flush(PATIENCE), store.status()
    assert list(store.extraction_jobs()) == []


@pytest.mark.parametrize(
    ("words", "gist"),
    [
        (
            (
                "My name is Ines, I live in Porto and I have a cat called Momo.",
                "News: I have moved from Porto to Lisbon.",
                "Please forget everything that you know about my cat Momo.",
            ),
            ("Porto", "Momo", "Lisbon"),
        ),
        (
            (
                "我叫林静，住在杭州，养了一只叫豆豆的猫。",
                "告诉你一件事：我从杭州搬到上海了。",
                "请忘掉关于我的猫豆豆的所有信息。",
            ),
            ("杭州", "豆豆", "上海"),
        ),
    ],
    ids=["en", "zh"],
)
def test_learnt_changed_and_forgotten(store, words, gist):
    home, pet, new_home = gist
    talk = conversation(store)
    streamed = talk.say(words[0])
    learnt(store)
    assert home in current(store)
    assert pet in current(store)
    assert "memory_add" not in repr(streamed)
    sources = {entry.source.thread_id for entry in store.read_memories("ann")}
    assert sources == {"t1"}

    talk.say(words[1], thread="t2")
    learnt(store)
    assert new_home in current(store)

    talk.say(words[2], thread="t3")
    learnt(store)
    assert pet not in current(store)
    assert new_home in current(store)
    assert store.extraction_usage("ann").model_calls == 3
