"""Heads: counts per namespace, and which namespaces lie below a prefix."""

from langchain_agentmemory.backends.base import Batch, Namespace, RecordFlags
from langchain_agentmemory.testing.harness import Harness, Requirement
from langchain_agentmemory.testing.needs import needs
from langchain_agentmemory.testing.records import (
    ANN,
    BEN,
    MINUTE,
    put,
    record,
    stub,
    tombstone,
)


def _below(harness: Harness, *prefix: str) -> list[Namespace]:
    return [head.namespace for head in harness.backend.heads(prefix)]


def a_head_counts_items_and_memories(harness: Harness) -> None:
    """`items` counts active records, `active` those of them that are listed."""
    put(
        harness.backend,
        *(record("a"), record("b"), record("c")),
        *(record("d"), record("x", flags=RecordFlags.NONE)),
    )
    harness.backend.commit(Batch([tombstone("c", 1), stub("d")]))
    head = harness.backend.head(ANN)
    assert head is not None
    assert head.namespace == ANN
    assert (head.items, head.active, head.revision) == (3, 2, 7)


def counts_follow_flags(harness: Harness) -> None:
    """A rewrite that lists or unlists a record moves `active` and leaves `items`."""
    counts = []
    for flags in (RecordFlags.NONE, RecordFlags.LISTED, RecordFlags.UNINDEXED):
        put(harness.backend, record("a", flags=flags))
        head = harness.backend.head(ANN)
        counts.append(head and (head.items, head.active))
    assert counts == [(1, 0), (1, 1), (1, 0)]


def heads_below_a_prefix_come_sorted(harness: Harness) -> None:
    """`heads` returns the namespaces at and below a prefix, sorted by their labels."""
    for namespace in (("b",), ("a", "z"), ("a",), ("a", "b", "c"), ("c",)):
        put(harness.backend, record("k", namespace))
    assert _below(harness, "a") == [("a",), ("a", "b", "c"), ("a", "z")]
    assert _below(harness) == [("a",), ("a", "b", "c"), ("a", "z"), ("b",), ("c",)]
    assert _below(harness, "a", "b", "c", "d") == []


def a_prefix_ends_at_a_label(harness: Harness) -> None:
    """`("a", "b")` is no prefix of `("a", "bc")`, nor of any label like `"b"`."""
    inside: list[Namespace] = [("a", "b"), ("a", "b", "c")]
    outside: list[Namespace] = [
        *(("a", "bc"), ("a", "b-c"), ("a", "b c"), ("a", "b/c"), ("a", "b!")),
        *(("a", "B"), ("A", "b"), ("a", "b0"), ("a",), ("a", "b,c"), ("ab",)),
    ]
    for namespace in (*inside, *outside):
        put(harness.backend, record("k", namespace))
    assert _below(harness, "a", "b") == inside


def wildcards_in_a_prefix_are_plain_text(harness: Harness) -> None:
    """Percent, underscore, star, brackets and the like match only themselves."""
    for label in ("ab", "a%", "a_", "a*", "a?", "[ab]", "a'", 'a"', "a\\"):
        put(harness.backend, record("k", ("root", label)))
    for label in ("a%", "a_", "a*", "a?", "[ab]", "a'", 'a"', "a\\", "%", "_", "*"):
        found = _below(harness, "root", label)
        assert found == ([("root", label)] if len(label) > 1 else [])


def an_emptied_namespace_is_not_below_anything(harness: Harness) -> None:
    """A namespace without active items is not in `heads`, but keeps its head."""
    put(harness.backend, record("a"), record("b", BEN))
    harness.backend.commit(Batch([stub("a")]))
    assert _below(harness, "memories") == [BEN]
    head = harness.backend.head(ANN)
    assert head is not None
    assert (head.items, head.active, head.revision) == (0, 0, 2)


@needs(Requirement.GIVEN_CLOCK)
def expired_records_are_not_counted(harness: Harness) -> None:
    """`head` and `heads` count only what has not expired."""
    until = harness.clock() + MINUTE
    put(harness.backend, record("a"), record("b", expires_at=until))
    put(harness.backend, record("c", BEN, expires_at=until))
    assert _below(harness) == [ANN, BEN]
    harness.clock.step(MINUTE)
    assert _below(harness) == [ANN]
    for head in (harness.backend.head(ANN), *harness.backend.heads(ANN)):
        assert head is not None
        assert (head.items, head.active) == (1, 1)


def single_and_many_heads_agree(harness: Harness) -> None:
    """`head` of a namespace equals its entry in `heads`."""
    put(harness.backend, record("a"), record("x", flags=RecordFlags.NONE))
    assert harness.backend.heads(()) == [harness.backend.head(ANN)]
