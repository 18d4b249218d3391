"""AppendOnly: nothing stored is touched."""

from langchain_agentmemory import AppendOnly, Operation
from tests.unit_tests.policies.examples import entry

POLICY = AppendOnly()


def test_an_update_of_a_known_memory_becomes_its_newer_version():
    batch = [
        Operation("update", "Sings tenor", "m1"),
        Operation("update", "Sings bass", "zzz"),
        Operation("update", None, "zzz"),
    ]
    tenor, bass = POLICY.reconcile(batch, [entry("Sings alto", topics=("choir",))])
    assert (tenor.type, tenor.memory_id, tenor.supersedes) == ("add", None, ("m1",))
    assert tenor.topics == ("choir",)
    assert (bass.type, bass.memory_id, bass.supersedes) == ("add", None, ())


def test_deleting_and_clearing_are_not_carried_out():
    batch = [Operation("delete", memory_id="m1"), Operation("clear")]
    decisions = POLICY.decide(batch, [entry("Sings alto")])
    assert decisions.operations == []
    assert [d.action for d in decisions] == ["drop", "drop"]
    again = [*batch, Operation("add", "sings alto!")]
    assert POLICY.reconcile(again, [entry("Sings alto")]) == []


def test_an_outdated_memory_can_be_said_again():
    paris = entry("Lives in Paris", "p", superseded_by="b")
    berlin = entry("Lives in Berlin", "b", supersedes=("p",))
    [added] = POLICY.reconcile(
        [Operation("update", "Lives in Paris", "b")], [paris, berlin]
    )
    assert added.supersedes == ("b",)


def test_updates_of_one_memory_follow_each_other():
    batch = [Operation("update", f"Runs on Go 1.2{n}", "m1") for n in (2, 3)]
    first, second = POLICY.reconcile(batch, [entry("Runs on Go 1.21")])
    assert first.supersedes == ("m1",)
    assert second.supersedes not in {(), ("m1",)}


def test_nothing_is_gated_here():
    add = [Operation("add", "Sings alto")]
    assert POLICY.reconcile(add, [], enabled=frozenset()) == add
