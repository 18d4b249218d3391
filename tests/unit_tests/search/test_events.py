"""Questions about what happened."""

import pytest

from langchain_agentmemory.search.events import asks_for_event


@pytest.mark.parametrize(
    "query",
    [
        "When did I run my first marathon?",
        "Where was the party?",
        "Who gave me the clock?",
        "What inspired her to paint?",
        "Where has Ann been on holiday?",
        "Which films have we seen together?",
        "我什么时候搬的家？",
        "我們哪天見面？",
        "那次旅行住的哪家酒店",
    ],
)
def test_events(query: str) -> None:
    assert asks_for_event(query)


@pytest.mark.parametrize(
    "query",
    [
        "Where do I live?",
        "How far do I run?",
        "How many restaurants have I tried?",
        "What is my current weight?",
        "What was my latest score?",
        "How much did I lift so far?",
        "What do I need to buy?",
        "我住在哪里？",
        "",
        "x" * 5000 + " did",
    ],
)
def test_states(query: str) -> None:
    assert not asks_for_event(query)
