"""Scores of memories that are linked as versions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.search.links import JUST_BELOW, _levels, linked

SLOTS = 12
# What links leave of a score is a millionth at least: less than that has no order.
_scores = st.just(0.0) | st.floats(2**-16, 1, width=32)
scores_of_slots = st.lists(_scores, min_size=SLOTS, max_size=SLOTS)
links_of_slots = st.dictionaries(
    st.integers(0, SLOTS - 1), st.integers(0, SLOTS - 1), max_size=SLOTS
)


def by_dict(scores: list[float], links: dict[int, int], *, past: bool) -> list[float]:
    """Return the scores that the dictionary gets."""
    found = dict(enumerate(scores))
    linked(found, links, past=past)
    return list(found.values())


@settings(deadline=None)
@given(scores_of_slots, links_of_slots, st.booleans())
def test_the_wanted_version_is_first_and_nothing_else_moves(
    scores: list[float],
    links: dict[int, int],
    past: bool,  # noqa: FBT001 - hypothesis passes it by place
) -> None:
    found = by_dict(scores, links, past=past)
    assert max(found) == max(scores)
    linked_slots = set(links) | set(links.values())
    for slot in range(SLOTS):
        if slot not in linked_slots:
            assert found[slot] == scores[slot]
    for old, new in links.items():
        if _ends(old, links):
            better, worse = (old, new) if past else (new, old)
            assert found[worse] <= JUST_BELOW * found[better]
        else:
            assert found[old] == scores[old]


def _ends(slot: int, links: dict[int, int]) -> bool:
    seen = set()
    while slot in links and slot not in seen:
        seen.add(slot)
        slot = links[slot]
    return slot not in links


def test_what_holds_takes_over_from_what_it_replaced() -> None:
    assert by_dict([0.8, 0.0], {0: 1}, past=False) == pytest.approx([0.784, 0.8])
    assert by_dict([0.8, 0.9], {0: 1}, past=False) == pytest.approx([0.8, 0.9])
    assert by_dict([0.1, 0.9], {0: 1}, past=False) == pytest.approx([0.1, 0.9])


def test_a_question_about_the_past_puts_the_replaced_first() -> None:
    assert by_dict([0.0, 0.8], {0: 1}, past=True) == pytest.approx([0.8, 0.784])


def test_a_chain_is_in_order() -> None:
    chain = {0: 1, 1: 2}
    found = by_dict([0.5, 0.9, 0.7], chain, past=False)
    assert found == pytest.approx([0.5, 0.882, 0.9])
    found = by_dict([0.5, 0.9, 0.7], chain, past=True)
    assert found == pytest.approx([0.9, 0.882, 0.7])


def test_one_memory_may_replace_several() -> None:
    assert by_dict([0.6, 0.8, 0.1], {0: 2, 1: 2}, past=False) == pytest.approx(
        [0.6, 0.784, 0.8]
    )


def test_links_to_what_was_not_found_are_left_out() -> None:
    found = {"a": 0.5, "b": 0.4}
    linked(found, {"a": "x", "y": "b"})
    assert found == {"a": 0.5, "b": 0.4}


def test_long_chains_take_one_pass_per_step() -> None:
    count = 2000
    links = {slot: slot + 1 for slot in range(count)}
    found = by_dict([1.0] + [0.0] * count, links, past=False)
    assert found[-1] == 1.0
    assert found[-2] == pytest.approx(JUST_BELOW)


def test_the_time_for_a_chain_is_in_proportion_to_its_length() -> None:
    class Counted(dict[int, int]):
        looked_up = 0

        def __contains__(self, key: object) -> bool:
            Counted.looked_up += 1
            return super().__contains__(key)

        def items(self):  # type: ignore[no-untyped-def]
            for pair in super().items():
                Counted.looked_up += 1
                yield pair

    count = 500
    _levels(Counted({slot: slot + 1 for slot in range(count)}))
    assert Counted.looked_up <= 4 * count
