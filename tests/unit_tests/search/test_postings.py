"""Blocks of postings: what they say of the tokens that were put into them."""

import random

import numpy as np
import pytest

from langchain_agentmemory.search import postings
from langchain_agentmemory.search.index import LexicalIndex
from langchain_agentmemory.search.postings import (
    OpenBlock,
    blobs_of,
    documents_in_order,
    parse_blobs,
)
from langchain_agentmemory.search.tokenize import UNINDEXED, pack

MARK = 99


def documents(seed, count=300, most=12):
    """Words of content and topics, some documents long, some without words."""
    chance = random.Random(seed)

    def words():
        length = chance.choice((0, 3, 9, 9, 400 if most > 12 else 12))
        return [chance.randrange(1, most) for _ in range(length)]

    return [(words(), words()[:4], words()[:3], []) for _ in range(count)]


def blob(document):
    content, extra, topics, topics_extra = document
    return pack(MARK, (content, extra), (topics, topics_extra))


def block_of(given, *, sealed):
    block = OpenBlock()
    block.append(parse_blobs([blob(one) for one in given]))
    return block.seal() if sealed else block


def stand_in_order(words, wanted):
    rest = iter(words)
    return all(word in rest for word in wanted)


@pytest.mark.parametrize("most", [12, 40])
@pytest.mark.parametrize("sealed", [True, False, None])
def test_words_in_order_are_found_in_every_block(sealed, most):
    given = documents(most, most=most)
    block = block_of(given, sealed=bool(sealed))
    if sealed is None:  # some sorted, some not
        list(block.postings(np.array([1], np.uint64)))
        more = documents(5, 40, most)
        block.append(parse_blobs([blob(one) for one in more]))
        given += more
    for wanted in ([1, 2], [2, 2], [3, 1, 2], [most + 5, 1], [1, most + 5]):
        terms = [np.uint64(word) for word in wanted]
        for group, in_topics in ((0, False), (2, True)):
            found = documents_in_order(block, terms, in_topics=in_topics)
            assert sorted(set(found.tolist())) == [
                n for n, one in enumerate(given) if stand_in_order(one[group], wanted)
            ]


@pytest.mark.parametrize("most", [12, 40])
def test_a_sealed_block_knows_all_positions(most):
    given = documents(1, most=most)
    block = block_of(given, sealed=True)
    every = [word for one in given for group in one for word in group]
    for word in range(most + 1):
        wanted = [n for n, other in enumerate(every) if other == word]
        assert block.positions(np.uint64(word)).tolist() == wanted


def test_positions_are_known_where_counts_are_cut_off(monkeypatch):
    monkeypatch.setattr(postings, "_MOST_COUNTED", 3)
    test_a_sealed_block_knows_all_positions(12)
    test_words_in_order_are_found_in_every_block(sealed=True, most=12)
    block = block_of(documents(2), sealed=True)
    assert all(part.counts.max() <= 3 for _, part in block.postings(block._terms))
    test_an_index_gives_back_the_blobs_that_it_was_given()


def test_tokens_become_the_blobs_they_came_from():
    blobs = [blob(one) for one in documents(3)]
    assert blobs_of(parse_blobs(blobs), MARK) == blobs


def test_an_index_gives_back_the_blobs_that_it_was_given():
    index = LexicalIndex(lambda old, first: None)
    blobs = [blob(one) for one in documents(4)]
    blobs[7] = UNINDEXED
    index.room()
    index.append(blobs)
    index.kill(3)
    for _ in range(2):
        found = dict(index.blobs(MARK))
        assert set(range(len(blobs))) - set(found) == {3, 7}
        assert all(found[slot] == blobs[slot] for slot in found)
        index._blocks[0] = index._open.seal()
