"""Fidelity: labels, keys, blobs, numbers and vectors come back as they went in."""

from typing import Final

import numpy as np

from langchain_agentmemory.backends.base import Batch, Namespace, Write
from langchain_agentmemory.testing.harness import Harness
from langchain_agentmemory.testing.records import ANN, find, keys, put, record, shown

_STRANGE: Final = (
    *("张三", "日本語 テキスト", "émile", "e\u0301mile", "🙂👩‍👩‍👧", "ﬁ", "Ａ"),
    *("it's", 'say "hi"', "back\\slash", "a%b", "a_b", "%41", "*", "?", "[a-z]"),
    *("a\nb", "tab\there", "semi;colon", "-- comment", "'; DROP TABLE x; --"),
    *("A", "a", "ß", "ss", "İ", "null", "NULL", "0", "00", "{}", "$where", "a:b"),
    *("x" * 3_000, "字" * 1_000),
)


def keys_come_back_as_they_went_in(harness: Harness) -> None:
    """Any text without NUL is a key: every script, quotes, wildcards, 3,000 letters."""
    put(harness.backend, *(record(key, value=key.encode()) for key in _STRANGE))
    found = harness.backend.read(ANN, list(_STRANGE))
    assert keys(found) == list(_STRANGE)
    assert [r.value.decode() for r in found if r is not None] == list(_STRANGE)
    assert shown(harness.backend, oldest_first=True) == list(_STRANGE)


def keys_differ_when_they_are_different(harness: Harness) -> None:
    """Case, accents, width and white space around make different keys."""
    alike = ("a", "A", "á", "a\u0301", "Ａ", "a ", " a", "a\t")
    put(harness.backend, *(record(key) for key in alike))
    assert shown(harness.backend, oldest_first=True) == list(alike)


def labels_come_back_as_they_went_in(harness: Harness) -> None:
    """Any text without dots and NUL is a label, at any place of a namespace."""
    spaces: list[Namespace] = [("root", label) for label in _STRANGE]
    spaces += [(label, "leaf") for label in _STRANGE]
    for namespace in spaces:
        put(harness.backend, record("k", namespace, value=str(namespace).encode()))
    for namespace in spaces:
        assert find(harness.backend, "k", namespace).value == str(namespace).encode()
    found = [head.namespace for head in harness.backend.heads(())]
    assert found == sorted(spaces)
    below = [head.namespace for head in harness.backend.heads(("root",))]
    assert below == sorted(space for space in spaces if space[0] == "root")


def a_deep_namespace_is_a_namespace(harness: Harness) -> None:
    """A namespace may have a hundred labels."""
    deep = tuple(f"level{number}" for number in range(100))
    put(harness.backend, record("k", deep))
    assert [head.namespace for head in harness.backend.heads(deep[:50])] == [deep]


def blobs_are_bytes(harness: Harness) -> None:
    """Value, metadata and tokens are stored byte by byte, NULs and all others."""
    every = bytes(range(256)) * 3
    put(harness.backend, record("a", value=every, meta=every[::-1], tokens=b"\x00"))
    put(harness.backend, record("b", value=b"", meta=b"", tokens=b""))
    found = find(harness.backend, "a")
    assert (found.value, found.meta, found.tokens) == (every, every[::-1], b"\x00")
    empty = find(harness.backend, "b")
    assert (empty.value, empty.meta, empty.tokens) == (b"", b"", b"")


def large_values_are_values(harness: Harness) -> None:
    """A value of 5 MB is stored and listed like any other."""
    large = b"0123456789abcdef" * (5_000_000 // 16)
    put(harness.backend, record("large", value=large), record("small"))
    assert find(harness.backend, "large").value == large
    assert shown(harness.backend) == ["small", "large"]


def numbers_and_flags_are_exact(harness: Harness) -> None:
    """Times, time to live, fingerprints and every combination of flags are kept."""
    first = -62_135_596_800_000_000  # the first moment of the year 1
    last = 253_402_300_799_999_999  # the last microsecond of the year 9999
    for bits in range(4):
        given = record(
            f"k{bits}",
            flags=bits,
            created_at=first,
            updated_at=last,
            expires_at=last,
            ttl=last,
            embedder=(1 << 63) - 1,
        )
        harness.backend.commit(Batch([Write(given, stamp=False)]))
        found = find(harness.backend, f"k{bits}")
        assert found.flags == bits
        assert found.created_at == first
        assert found.updated_at == found.expires_at == found.ttl == last
        assert found.embedder == (1 << 63) - 1


def vectors_are_exact(harness: Harness) -> None:
    """float32 vectors come back bit by bit, one or several, of any dimension."""
    random = np.random.default_rng(7)
    for shape in ((1, 1), (1, 384), (3, 26), (2, 3_072)):
        given = random.standard_normal(shape).astype(np.float32)
        given[0, 0] = np.float32(1e-42)  # denormal
        put(harness.backend, record("a", vectors=given.copy(), embedder=5))
        found = find(harness.backend, "a").vectors
        assert found is not None
        assert found.dtype == np.float32
        assert found.shape == shape
        assert found.tobytes() == given.tobytes()
        delta = harness.backend.delta(ANN, -1, -1)
        assert delta is not None
        assert delta.records[0].vectors is not None
        assert delta.records[0].vectors.tobytes() == given.tobytes()


def vectors_can_be_taken_away(harness: Harness) -> None:
    """A rewrite without vectors leaves none."""
    given = np.ones((1, 4), np.float32)
    put(harness.backend, record("a", vectors=given, embedder=5))
    put(harness.backend, record("a"))
    found = find(harness.backend, "a")
    assert (found.vectors, found.embedder) == (None, 0)
