"""Lists of decisions as people see them."""

from langchain_agentmemory import AppendOnly, Decision, Operation, PreserveHistory
from langchain_agentmemory.policies import Decisions, MergeSimilar, Policy
from tests.unit_tests.policies.examples import entry


def test_every_policy_is_one():
    for policy in (MergeSimilar(), PreserveHistory(), AppendOnly()):
        assert isinstance(policy, Policy)


def test_policies_say_what_the_extractor_may_do():
    everything = {"add", "update", "delete", "clear"}
    assert MergeSimilar().operations == PreserveHistory().operations == everything
    assert AppendOnly().operations == {"add"}
    assert MergeSimilar().instructions == ""
    assert "asks to forget" in PreserveHistory().instructions
    assert "only ever added" in AppendOnly().instructions


def test_a_list_of_decisions_is_readable():
    stored = entry("Runs on Go 1.21", "0123456789abcdef")
    decisions = PreserveHistory().decide(
        [
            Operation("update", "Runs on Go 1.23", stored.id),
            Operation("add", "runs on go 1.21"),
            Operation("delete", memory_id=stored.id),
        ],
        [stored],
    )

    shown = repr(decisions)
    assert shown.splitlines()[0] == "Decisions(3 decisions)"
    assert "update 01234567: Runs on Go 1.23" in shown
    assert "→ add, supersedes 01234567: a newer version" in shown
    assert "old_coverage 0.67" in shown
    assert "→ as it is" in shown
    assert "<th" not in shown
    assert repr(Decisions()) == "Decisions([])"


def test_the_table_of_a_notebook_escapes_what_was_said():
    given = Operation("add", "<b>bold</b>")
    table = Decisions([Decision(None, given, "drop", "a & b")])._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in table
    assert "a &amp; b" in table
    assert "<caption>1 decision</caption>" in table
    assert ">memory<" in table.replace("compared with memory", "memory")


def test_operations_are_what_remains():
    kept, gone = Operation("add", "a"), Operation("add", "b")
    decisions = Decisions(
        [Decision(kept, kept, "add", ""), Decision(None, gone, "drop", "")]
    )
    assert decisions.operations == [kept]
