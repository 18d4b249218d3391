"""The lexical side of a shelf: slots in blocks, and the score of every slot."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.matches import (
    Matches,
    score_matches,
    score_neighbourhoods,
)
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.postings import (
    BLOCK_SIZE,
    Block,
    OpenBlock,
    Tokens,
    blobs_of,
    documents_in_order,
    parse_blobs,
)
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import UNINDEXED, Query

_A = TypeVar("_A", bound=np.generic)

_BITS: Final = BLOCK_SIZE.bit_length() - 1
_NO_TOKENS: Final = b"\0" * 24


class LexicalIndex:
    """Append-only blocks of documents, numbered by slot.

    Args:
        moved: Called with (old slots, first new slot) when living documents of a block
            that is half dead were appended to the open block, in this order.
    """

    def __init__(self, moved: Callable[[list[int], int], None]) -> None:
        """Start empty."""
        self.size = 0
        self.documents = 0
        self.alive = np.zeros(0, np.bool_)
        self.indexed = np.zeros(0, np.bool_)
        self._lengths = np.zeros((2, 0), np.float32)
        self._length_sums = [0, 0]
        self._blocks: list[Block | None] = []
        self._living: list[int] = []
        self._open = OpenBlock()
        self._open_number = -1
        self._dead = 0
        self._moved = moved

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        blocks = sum(block.nbytes for block in self._blocks if block is not None)
        return blocks + self.alive.nbytes + self.indexed.nbytes + self._lengths.nbytes

    def room(self) -> int:
        """Return how many documents can be appended at once, making room if need be."""
        if self._open_number < 0 or self._open.documents == BLOCK_SIZE:
            self._open_next()
        return BLOCK_SIZE - self._open.documents

    def append(self, blobs: Sequence[bytes]) -> int:
        """Append at most `room()` documents and return the first one's slot."""
        if len(blobs) == 1:
            return self._append_one(blobs[0])
        tokens = parse_blobs([blob or _NO_TOKENS for blob in blobs])
        return self._append(tokens, indexed=[bool(blob) for blob in blobs])

    def append_tokens(self, tokens: Tokens) -> None:
        """Append any number of documents, all of them searched by words."""
        done = 0
        while done < len(tokens.counts):
            part = tokens.part(done, done + self.room())
            self._append(part, indexed=True)
            done += len(part.counts)

    def kill(self, slot: int) -> None:
        """Mark a living slot dead; the documents of half dead blocks may move."""
        self.alive[slot] = False
        self._dead += 1
        if self.indexed[slot]:
            self.documents -= 1
            content, topics = self._lengths[:, slot].tolist()
            self._length_sums[0] -= int(content)
            self._length_sums[1] -= int(topics)
        number = slot >> _BITS
        self._living[number] -= 1
        if number != self._open_number and self._living[number] * 2 < BLOCK_SIZE:
            self._empty_out(number)

    def content_tokens(self, slot: int) -> frozenset[int] | None:
        """Return the hashes of the content of a slot.

        `None` where looking them up takes longer than making them anew.
        """
        number = slot >> _BITS
        if number != self._open_number:
            return None
        return self._open.content_tokens(slot - (number << _BITS))

    def blobs(self, fingerprint: int) -> Iterator[tuple[int, bytes]]:
        """Yield the slots of all documents searched by words, and their token blobs.

        Args:
            fingerprint: Of the tokenizer that made the tokens.
        """
        searched = self.alive & self.indexed
        for number, block in enumerate(self._blocks):
            if block is not None:
                base = number << _BITS
                chosen = searched[base : base + block.documents].nonzero()[0]
                blobs = blobs_of(block.tokens(chosen), fingerprint)
                yield from zip((base + chosen).tolist(), blobs, strict=True)

    def matches(self, query: Query) -> Matches:
        """Return the postings of the query's terms in living documents."""
        wanted = np.array(query.terms, np.uint64)
        terms, codes, counts, sizes, bases = [], [], [], [], []
        for number, block in enumerate(self._blocks):
            if block is None:
                continue
            for index, postings in block.postings(wanted):
                terms.append(index)
                codes.append(postings.codes)
                counts.append(postings.counts)
                sizes.append(len(postings.codes))
                bases.append(number << _BITS)
        if not terms:
            return _NO_MATCHES
        code = np.concatenate(codes)
        slots = (code >> 2).astype(np.int64)
        if bases[-1]:  # not all in the first block
            slots += np.array(bases).repeat(sizes)
        if self._length_sums[1]:
            in_topics, first = (code & 2) != 0, (code & 1) == 0
            has_topics = bool(in_topics.any())
        else:  # then a term has one posting in each document
            in_topics = np.zeros(len(code), np.bool_)
            first, has_topics = ~in_topics, False
        found = Matches(
            terms=np.array(terms).repeat(sizes),
            slots=slots,
            in_topics=in_topics,
            first=first,
            counts=np.concatenate(counts).astype(np.float32),
            has_topics=has_topics,
        )
        return found.keep(self.alive[found.slots]) if self._dead else found

    def statistics(self, query: Query, matches: Matches) -> Statistics:
        """Return what a score needs to know of the living documents."""
        frequencies = matches.frequencies(len(query.terms)).tolist()
        return Statistics(self.documents, tuple(frequencies), *self._length_sums)

    def scores(
        self,
        query: Query,
        statistics: Statistics | None,
        places: Places | None = None,
    ) -> "WordScores":
        """Score every slot by its matching tokens, 0 without any.

        Args:
            query: The query.
            statistics: Of a larger corpus, this one alone if not given.
            places: Where the documents stand, so that neighbours count too.
        """
        matches = self.matches(query)
        if not len(matches.terms):
            return WordScores(np.zeros(self.size, np.float32), matches, statistics)
        statistics = statistics or self.statistics(query, matches)
        scores, near = self.own_and_near(query, statistics, matches, places)
        if near is not None:
            weight = query.formula.neighbourhood
            mixed = near.scores * weight
            mixed += scores
            mixed /= 1 + weight
            scores = np.where(near.placed, mixed, scores).astype(np.float32)
        self._add_phrase_bonus(query, statistics, matches, scores)
        if query.emphasis != 1:
            scores *= np.float32(query.emphasis)
        np.minimum(scores, 1, out=scores)
        return WordScores(scores, matches, statistics)

    def own_and_near(
        self,
        query: Query,
        statistics: Statistics,
        matches: Matches,
        places: Places | None,
    ) -> "tuple[NDArray[np.float32], Near | None]":
        """Return what the own words of every slot are worth, and those around it.

        Args:
            query: The query.
            statistics: Of the whole corpus.
            matches: The postings of the query's terms.
            places: Where the documents stand; `None` looks at no neighbours.

        Returns:
            Scores without word order, shape (slots,); and what is to be mixed with
            them by the weight `Formula.neighbourhood`, `None` if nothing is.
        """
        own = np.zeros(self.size, np.float32)
        hit, values = score_matches(
            query, statistics, matches, self._lengths, self.size
        )
        own[hit] = values
        if places is None or not len(places) or not query.formula.neighbourhood:
            return own, None
        number = places.of_slots(self.size)
        together = score_neighbourhoods(query, statistics, matches, places, number)
        near = together[number]
        if places.shared:
            near *= places.standing_out(own)
        placed = (number < places.count) & self.indexed[: self.size]
        return own, Near(near, placed)

    def _add_phrase_bonus(
        self,
        query: Query,
        statistics: Statistics,
        matches: Matches,
        scores: NDArray[np.float32],
    ) -> None:
        """Raise the documents in which the query's words stand in order."""
        phrase, formula = query.phrase, query.formula
        if len(phrase) < 2 or not formula.phrase:  # noqa: PLR2004 - order needs two
            return
        if not all(statistics.frequencies[index] for index in phrase):
            return  # one of the words is nowhere
        in_phrase = np.zeros(len(query.terms), np.bool_)
        in_phrase[list(phrase)] = True
        counted = matches.slots[matches.first & in_phrase[matches.terms]]
        counted.sort()  # a document stands there once for each word that it holds
        before = len(phrase) - 1
        last = counted[before:]
        candidates = last[last == counted[: len(last)]]
        if not len(candidates):
            return
        terms = [np.uint64(query.terms[index]) for index in phrase]
        # Not np.unique, whose first call imports numpy.ma: 12 ms.
        for number in np.flatnonzero(np.bincount(candidates >> _BITS)).tolist():
            block = self._blocks[number]
            if block is None:
                continue
            base = number << _BITS
            bonus = np.zeros(block.documents)
            in_topics = documents_in_order(block, terms, in_topics=True)
            bonus[in_topics] = formula.phrase * formula.phrase_in_topics
            in_content = documents_in_order(block, terms, in_topics=False)
            bonus[in_content] = formula.phrase
            bonus[~self.alive[base : base + block.documents]] = 0
            scores[base : base + block.documents] += bonus.astype(np.float32)

    def _append_one(self, blob: bytes) -> int:
        """Do what `_append` does, without arrays on the way."""
        number = self._open_number
        slot = (number << _BITS) + self._open.documents
        content, topics = self._open.append_blob(blob or _NO_TOKENS)
        self._reserve(slot + 1)
        self.alive[slot] = True
        self._lengths[0, slot] = content
        self._lengths[1, slot] = topics
        self._length_sums[0] += content
        self._length_sums[1] += topics
        self.indexed[slot] = indexed = blob != UNINDEXED
        self.documents += indexed
        self._living[number] += 1
        self.size = max(self.size, slot + 1)
        return slot

    def _append(self, tokens: Tokens, *, indexed: list[bool] | Literal[True]) -> int:
        count = len(tokens.counts)
        first = (self._open_number << _BITS) + self._open.documents
        last = first + count
        self._open.append(tokens)
        self._reserve(last)
        lengths = tokens.lengths
        self.alive[first:last] = True
        self.indexed[first:last] = indexed
        self._lengths[:, first:last] = lengths.T
        content, topics = lengths.sum(axis=0).tolist()
        self._length_sums[0] += content
        self._length_sums[1] += topics
        self.documents += count if indexed is True else sum(indexed)
        self._living[self._open_number] += count
        self.size = max(self.size, last)
        return first

    def _reserve(self, size: int) -> None:
        if size > len(self.alive):
            larger = max(16, size, 2 * len(self.alive))
            self.alive = _extended(self.alive, larger)
            self.indexed = _extended(self.indexed, larger)
            lengths = np.zeros((2, larger), np.float32)
            lengths[:, : self._lengths.shape[1]] = self._lengths
            self._lengths = lengths

    def _open_next(self) -> None:
        """Seal the open block, or empty it if half dead, and open another."""
        full = self._open_number
        if full >= 0:
            self._blocks[full] = self._open.seal()
        self._open = OpenBlock()
        if None in self._blocks:
            self._open_number = self._blocks.index(None)
            self._blocks[self._open_number] = self._open
        else:
            self._open_number = len(self._blocks)
            self._blocks.append(self._open)
            self._living.append(0)
        if full >= 0 and self._living[full] * 2 < BLOCK_SIZE:
            self._empty_out(full)

    def _empty_out(self, number: int) -> None:
        """Append the living documents of a block to the open one; drop the block."""
        block = self._blocks[number]
        if block is None:
            return
        base = number << _BITS
        living = np.flatnonzero(self.alive[base : base + block.documents])
        self._dead -= block.documents - len(living)
        while len(living):
            part, living = living[: self.room()], living[self.room() :]
            old = base + part
            self._unaccount(old)
            first = self._append(block.tokens(part), indexed=self.indexed[old].tolist())
            self._moved(old.tolist(), first)
        self._blocks[number] = None
        self._living[number] = 0

    def _unaccount(self, slots: NDArray[np.int64]) -> None:
        """Take slots that are about to be appended again out of all counts."""
        self.alive[slots] = False
        self.documents -= int(self.indexed[slots].sum())
        content, topics = self._lengths[:, slots].sum(axis=1, dtype=np.float64)
        self._length_sums[0] -= int(content)
        self._length_sums[1] -= int(topics)


class Near(NamedTuple):
    """What the words of documents and their neighbours, as one text, are worth.

    Attributes:
        scores: By slot, in [0, 1].
        placed: Which slots stand in a conversation: only they have neighbours.
    """

    scores: NDArray[np.float64]
    placed: NDArray[np.bool_]


class WordScores(NamedTuple):
    """How a corpus fares with the words of a query.

    Attributes:
        scores: By slot, in [0, 1].
        matches: Where the words occur.
        statistics: What was known of the corpus, `None` if nothing matched.
    """

    scores: NDArray[np.float32]
    matches: Matches
    statistics: Statistics | None


_NO_MATCHES: Final = Matches(
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.bool_),
    np.zeros(0, np.bool_),
    np.zeros(0, np.float32),
    has_topics=False,
)


def _extended(array: NDArray[_A], size: int) -> NDArray[_A]:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger
