"""What holds for every batch, whatever an extractor asks for."""

import copy
from collections import Counter
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory import AppendOnly, MergeSimilar, Operation, PreserveHistory
from langchain_agentmemory.policies.critical import negations, numbers
from langchain_agentmemory.policies.text import Text
from tests.unit_tests.policies.examples import entry

WORDS = (
    "Alice Bob manages the a to with from not never can't 3 4 1,000 -18 $50 €50 C C# "
    "now no longer red dog house ，小王 管理 小李 不 没 去 从 北京 到 上海 3只猫 五 的 "
    "未来 无锡 在 , ; . ' 🙂"
).split()
IDS = st.sampled_from(["m0", "m1", "m2", "zzz", ""])
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=8).map("".join),
    st.text(max_size=12),
)
TIMES = st.sampled_from(
    [
        None,
        datetime(2025, 12, 1, tzinfo=UTC),
        datetime(2025, 12, 1, 16, tzinfo=UTC),
        "2025-12",
        "soon",
    ]
)
KINDS = st.sampled_from([None, "fact", "episode"])
PEOPLE = st.sampled_from([None, (), ("Ana",), ("Ana", "Bo")])
OPERATIONS = st.one_of(
    st.none(),
    st.builds(
        Operation,
        st.sampled_from(["add", "update", "delete", "clear", "odd"]),
        st.one_of(st.none(), TEXTS),
        IDS,
        kind=KINDS,
        event_time=TIMES,
        participants=PEOPLE,
        location=st.sampled_from([None, "", "Oslo"]),
    ),
)
ENTRIES = st.lists(
    st.builds(
        entry,
        TEXTS,
        IDS,
        kind=st.sampled_from(["fact", "episode"]),
        event_time=st.sampled_from([None, datetime(2025, 12, 1, tzinfo=UTC)]),
        participants=st.sampled_from([(), ("Ana",)]),
        score=st.one_of(st.none(), st.floats(0, 1)),
        superseded_by=st.sampled_from([None, None, "m2"]),
    ),
    max_size=3,
)
ENABLED = st.one_of(
    st.none(), st.frozensets(st.sampled_from(["memory_add", "memory_update"]))
)
POLICIES = st.sampled_from([MergeSimilar(), PreserveHistory(), AppendOnly()])
BATCHES = st.lists(OPERATIONS, max_size=5)

generously = settings(max_examples=150, deadline=None)


@generously
@given(POLICIES, BATCHES, ENTRIES, ENABLED, st.booleans())
def test_a_policy_is_a_function(policy, batch, existing, enabled, searching):
    before = copy.deepcopy((batch, existing))
    search = (lambda _: existing) if searching else None
    decided = [
        policy.decide(batch, existing, search=search, enabled=enabled) for _ in range(2)
    ]
    assert (batch, existing) == before
    assert decided[0] == decided[1]
    kept = policy.reconcile(batch, existing, search=search, enabled=enabled)
    assert kept == decided[0].operations


@generously
@given(POLICIES, BATCHES, ENTRIES, ENABLED)
def test_every_operation_is_decided_once_and_in_order(policy, batch, existing, enabled):
    decisions = policy.decide(batch, existing, enabled=enabled)
    assert [d.given for d in decisions] == [one for one in batch if one is not None]
    for decision in decisions:
        assert decision.reason
        assert (decision.operation is None) == (decision.action == "drop")
        assert all(isinstance(value, float) for value in decision.measures.values())


@generously
@given(BATCHES, ENTRIES, ENABLED)
def test_append_only_adds(batch, existing, enabled):
    for operation in AppendOnly().reconcile(batch, existing, enabled=enabled):
        assert operation.type == "add"
        assert operation.memory_id is None or operation in batch


@generously
@given(BATCHES, ENTRIES, ENABLED)
def test_preserve_history_takes_nothing_away(batch, existing, enabled):
    decisions = PreserveHistory().decide(batch, existing, enabled=enabled)
    for decision in decisions:
        operation = decision.operation
        if operation is None:
            continue
        if operation.type in {"delete", "clear"}:
            assert decision.given.type == operation.type
        if operation.type == "update" and decision.action == "update":
            old, new = Text(decision.candidate.memory), Text(operation.memory)
            lost = Counter(w.text for w in old.words) - Counter(
                w.text for w in new.words
            )
            assert not lost
            assert not numbers(old) - numbers(new)
            assert negations(old) == negations(new)
            assert operation.participants != ()
            assert operation.location != ""


@generously
@given(BATCHES, ENTRIES, ENABLED)
def test_preserve_history_updates_only_what_is_there(batch, existing, enabled):
    """Stored memories, or the ids to which the batch itself has moved them."""
    known = {one.id for one in existing}
    for decision in PreserveHistory().decide(batch, existing, enabled=enabled):
        operation = decision.operation
        if operation is None or operation.type != "update":
            continue
        assert decision.candidate is not None
        assert operation.memory_id == decision.candidate.id
        assert operation.memory_id in known or len(operation.memory_id) == 64


@generously
@given(BATCHES, ENTRIES)
def test_without_additions_nothing_is_lost_by_a_drop(batch, existing):
    """What is dropped by the two careful policies is there, word for word."""
    for policy in (PreserveHistory(), AppendOnly()):
        said = {Text(e.memory).same for e in existing}
        for decision in policy.decide(batch, existing):
            given_text = decision.given.memory
            if decision.given.type == "add" and decision.action == "drop":
                assert Text(given_text or "").same in said
            if decision.given.type in {"add", "update"}:
                said.add(Text(given_text or "").same)
