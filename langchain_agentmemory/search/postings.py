"""Blocks of postings: at most 16,384 documents each, appended to, then sealed.

An open block is a flat array of word hashes that is scanned; appending to it is cheap.
A sealed block is sorted by word: pointers into postings (document, field, how often)
and into positions, which answer whether words stand in order.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.large_arrays import large_array, own_memory
from langchain_agentmemory.search.tokenize import HEADER, HEADER_WORDS, WORD_BYTES

BLOCK_SIZE: Final = 16384
"""Documents in a full block: as many as 14 bits of a code can number. Fewer and larger
blocks make a search faster (of 60,000 memories by a fifth, against blocks of 4,096);
sealing one takes some 30 ms."""

_A = TypeVar("_A", bound=np.generic)

_SCANNED_FOR: Final = 8
"""Documents that came since a block was sorted are scanned for so many terms at least
before it is sorted anew: an index is often searched once or twice."""
_SCANNED_LONGER: Final = 32
"""One term more for so many documents: to sort 100, 1,000 or 10,000 takes as long as
scanning them for 12, 54 and 136 terms (measured)."""
_COMPARED: Final = 1 << 16
"""So many words and terms are compared at once: what comes out stays in the cache."""
_CODE_BITS: Final = 16
_MOST_COUNTED: Final = 0xFFFF
_UNSIGNED: Final = (np.uint8, np.uint16, np.uint32)
_GROUPS: Final = 4  # content primary, content extra, topics primary, topics extra
_HEADER: Final = np.arange(HEADER_WORDS)
_FIRST_WORDS: Final = 64
_FIRST_DOCUMENTS: Final = 8
_NO_HASHES: Final = np.empty(0, np.uint64)
_NO_CODES: Final = np.empty(0, np.uint16)
_NO_EDGES: Final = np.empty((0, _GROUPS + 1), np.uint32)


class Postings(NamedTuple):
    """Where one term occurs in one block.

    Attributes:
        codes: uint16; `document << 2 | in_topics << 1 | later`, where `later` marks
            the second posting of the term in the same document.
        counts: How often, uint16 or less; more than 65,535 times count as that many.
    """

    codes: NDArray[np.uint16]
    counts: NDArray[np.unsignedinteger]


class Tokens:
    """The tokens of several documents, as arrays.

    Attributes:
        hashes: uint64, document after document, in the order of the blob.
        counts: int64, shape (documents, 4): how many of each group.
        lengths: int64, shape (documents, 2): of contents and topics.
    """

    __slots__ = ("counts", "hashes", "lengths")

    def __init__(self, hashes: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
        """Keep both, and add up the lengths."""
        self.hashes = hashes
        self.counts = counts
        self.lengths: NDArray[np.int64] = counts[:, ::2] + counts[:, 1::2]

    def part(self, first: int, last: int) -> "Tokens":
        """Return those of some documents that follow each other."""
        if first == 0 and last >= len(self.counts):
            return self
        begin = int(self.counts[:first].sum())
        end = begin + int(self.counts[first:last].sum())
        return Tokens(self.hashes[begin:end], self.counts[first:last])


def parse_blobs(blobs: Sequence[bytes]) -> Tokens:
    """Return the tokens of many blobs at once. Their fingerprints are not looked at."""
    return _parsed(b"".join(blobs), _sizes(blobs))[0]


def blobs_of(tokens: Tokens, fingerprint: int) -> list[bytes]:
    """Undo `parse_blobs`: return the blobs of a tokenizer with this fingerprint."""
    packed = tokens.hashes.astype("<u8", copy=False).tobytes()
    ends = (tokens.counts.sum(axis=1).cumsum() * WORD_BYTES).tolist()
    return [
        HEADER.pack(fingerprint, *counts) + packed[begin:end]
        for counts, (begin, end) in zip(
            tokens.counts.tolist(), pairwise((0, *ends)), strict=True
        )
    ]


def parse_whole_blobs(blobs: Sequence[bytes], fingerprint: int) -> Tokens | None:
    """Return the tokens of complete blobs of the tokenizer with this fingerprint.

    Returns:
        `None` if any of them is something else.
    """
    sizes = _sizes(blobs)
    if not len(sizes) or sizes.min() < HEADER.size:
        return None
    joined = b"".join(blobs)
    if len(joined) % WORD_BYTES:
        return None
    tokens, marks = _parsed(joined, sizes)
    lengths = tokens.lengths
    as_said = (lengths[:, 0] + lengths[:, 1]) * WORD_BYTES + HEADER.size == sizes
    as_said &= marks == np.uint64(fingerprint)
    return tokens if as_said.all() else None


def _sizes(blobs: Sequence[bytes]) -> NDArray[np.int64]:
    return np.fromiter(map(len, blobs), np.int64, len(blobs))


def _parsed(
    joined: bytes, sizes: NDArray[np.int64]
) -> tuple[Tokens, NDArray[np.uint64]]:
    """Return the tokens in blobs of these sizes, and the fingerprint of each blob."""
    words, counted = np.frombuffer(joined, "<u8"), sizes // WORD_BYTES
    places = (counted.cumsum() - counted)[:, None] + _HEADER
    headers = words[places]
    counts = headers[:, 1:].view("<u4").astype(np.int64)
    keep = np.ones(len(words), np.bool_)
    keep[places] = False
    return Tokens(words[keep], counts), headers[:, 0]


class OpenBlock:
    """The block that documents are appended to.

    What was appended since it was sorted is scanned; when that is much, and was scanned
    for a while, the block is sorted as a sealed block is.
    """

    def __init__(self) -> None:
        """Start empty and small."""
        self.documents = 0
        self._words = 0
        self._hashes, self._codes, self._edges = _NO_HASHES, _NO_CODES, _NO_EDGES
        self._sorted: SealedBlock | None = None
        self._scanned_for = 0

    @property
    def edges(self) -> NDArray[np.uint32]:
        """Positions where the groups of each document begin, and where it ends."""
        return self._edges[: self.documents]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        own = self._hashes.nbytes + self._codes.nbytes + self._edges.nbytes
        return own + (self._sorted.nbytes if self._sorted is not None else 0)

    def append_blob(self, blob: bytes) -> tuple[int, int]:
        """Append one document and return the lengths of its content and topics."""
        _, primary, extra, topics, topics_extra = HEADER.unpack_from(blob)
        document, begin = self.documents, self._words
        middle = begin + primary + extra
        end = middle + topics + topics_extra
        self._reserve(document + 1, end)
        self._hashes[begin:end] = np.frombuffer(blob, "<u8", offset=HEADER.size)
        self._codes[begin:middle] = document << 2
        if end > middle:
            self._codes[middle:end] = document << 2 | 2
        self._edges[document] = (begin, begin + primary, middle, middle + topics, end)
        self.documents, self._words = document + 1, end
        return primary + extra, topics + topics_extra

    def append(self, tokens: Tokens) -> None:
        """Append documents; the caller sees to it that they fit."""
        counts = tokens.counts
        first, last = self.documents, self.documents + len(counts)
        begin, end = self._words, self._words + len(tokens.hashes)
        fields = np.arange(first * 2, last * 2, dtype=np.uint16) << np.uint16(1)
        codes: NDArray[np.uint16] = fields.repeat(tokens.lengths.reshape(-1))
        if not begin and tokens.hashes.base is None:
            # Not copied: they are nobody else's, and this block grows into others.
            self._hashes, self._codes = tokens.hashes, codes
            self._reserve(last, end)
        else:
            self._reserve(last, end)
            self._hashes[begin:end] = tokens.hashes
            self._codes[begin:end] = codes
        ends = counts.cumsum().reshape(-1, _GROUPS)
        ends += begin
        edges = self._edges[first:last]
        edges[:, 1:] = ends
        edges[:1, 0] = begin
        edges[1:, 0] = ends[:-1, -1]
        self.documents, self._words = last, end

    def _reserve(self, documents: int, words: int) -> None:
        if words > len(self._hashes):
            size = max(words, 2 * len(self._hashes), _FIRST_WORDS)
            self._hashes = _grown(self._hashes, size, self._words)
            self._codes = _grown(self._codes, size, self._words)
        if documents > len(self._edges):
            size = max(
                documents, min(2 * len(self._edges), BLOCK_SIZE), _FIRST_DOCUMENTS
            )
            self._edges = _grown(self._edges, size, self.documents)

    def holding(self, terms: Sequence[np.uint64]) -> NDArray[np.bool_]:
        """Tell which documents may hold all of some terms; not looked at: any."""
        holding = np.ones(self.documents, np.bool_)
        if self._sorted is not None:
            holding[: self._sorted.documents] = self._sorted.holding(terms)
        return holding

    def positions(
        self, term: np.uint64, among: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Return all positions of a term, ascending.

        Args:
            term: The term.
            among: In which documents positions are wanted, `None` for all; others may
                be there.
        """
        known = self._sorted
        if known is None:
            return self._scan(term, 0)
        if among is not None:
            among = among[: known.documents]
        sorted_ones = known.positions(term, among)
        return np.concatenate((sorted_ones, self._scan(term, known.words)))

    def postings(self, terms: NDArray[np.uint64]) -> Iterator[tuple[int, Postings]]:
        """Yield (index in `terms`, some postings of it) for terms that occur."""
        done = self._sorted.documents if self._sorted is not None else 0
        waiting = self.documents - done
        if waiting > done // 4:
            self._scanned_for += len(terms)
            if self._scanned_for > _SCANNED_FOR + waiting // _SCANNED_LONGER:
                self._sorted, self._scanned_for = self.seal(), 0
        scanned = 0
        if self._sorted is not None:
            yield from self._sorted.postings(terms)
            scanned = self._sorted.words
        if scanned < self._words:
            hashes = self._hashes[scanned : self._words]
            yield from _grouped(terms, hashes, self._codes[scanned : self._words])

    def content_tokens(self, document: int) -> frozenset[int]:
        """Return the distinct hashes of the content of one document."""
        begin, _, end, *_ = self._edges[document].tolist()
        return frozenset(self._hashes[begin:end].tolist())

    def _scan(self, term: np.uint64, start: int) -> NDArray[np.int64]:
        return np.flatnonzero(self._hashes[start : self._words] == term) + start

    def tokens(self, documents: NDArray[np.int64]) -> Tokens:
        """Return the tokens of some documents."""
        return _select(self._hashes[: self._words], self.edges, documents)

    def seal(self) -> "SealedBlock":
        """Return the same documents sorted by word."""
        if self._sorted is not None and self._sorted.documents == self.documents:
            return self._sorted
        return SealedBlock(
            self._hashes[: self._words], self._codes[: self._words], self.edges.copy()
        )


class SealedBlock:
    """A block sorted by word, never written to.

    Args:
        hashes: Word hashes by position.
        codes: Document and field by position, as in `Postings`.
        edges: Shape (documents, 5), see `OpenBlock.edges`.
    """

    def __init__(
        self,
        hashes: NDArray[np.uint64],
        codes: NDArray[np.uint16],
        edges: NDArray[np.uint32],
    ) -> None:
        """Sort the words; nothing of the arguments but `edges` is kept."""
        self.documents = len(edges)
        self.words = len(hashes)
        self.edges = own_memory(edges)
        order, ordered = _stable_order(hashes)
        new_term = np.ones(len(order), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=new_term[1:])
        code = codes[order]
        new_posting = new_term.copy()
        new_posting[1:] |= code[1:] != code[:-1]
        starts = np.flatnonzero(new_posting)
        term_starts = np.flatnonzero(new_term)
        posted = code[starts]
        first = new_term[starts]
        later = np.zeros(len(starts), np.bool_)
        later[1:] = (posted[1:] >> 2 == posted[:-1] >> 2) & ~first[1:]
        self._terms = own_memory(ordered[term_starts])
        self._position_ends = np.append(term_starts, len(order)).astype(np.uint32)
        self._posting_ends = np.append(np.flatnonzero(first), len(starts)).astype(
            np.uint32
        )
        self._codes = own_memory(posted | later)
        counts = _gaps(starts, len(order))
        self._counts = own_memory(_smallest(counts))
        # A place in a document takes one byte where one in the block takes four. It is
        # found by counting, which needs all counts to be true.
        self._within = bool(counts.max(initial=0) < _MOST_COUNTED)
        places = order - edges[:, 0][code >> 2] if self._within else order
        self._places = own_memory(_smallest(places))
        parts = (
            self.edges,
            self._terms,
            self._places,
            self._position_ends,
            self._posting_ends,
            self._codes,
            self._counts,
        )
        self.nbytes = sum(part.nbytes for part in parts)
        """Bytes held."""

    def holding(self, terms: Sequence[np.uint64]) -> NDArray[np.bool_]:
        """Tell which documents hold all of some terms, bool, shape (documents,)."""
        holding = np.ones(self.documents, np.bool_)
        for term in terms:
            found = np.zeros(self.documents, np.bool_)
            row = self._row(term)
            if row is not None:
                first, last = self._posting_ends[row : row + 2].tolist()
                found[self._codes[first:last] >> 2] = True
            holding &= found
        return holding

    def positions(
        self, term: np.uint64, among: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Return all positions of a term, ascending.

        Args:
            term: The term.
            among: In which documents positions are wanted, `None` for all; others may
                be there.
        """
        row = self._row(term)
        if row is None:
            return np.empty(0, np.int64)
        begin, end = self._position_ends[row : row + 2].tolist()
        places = self._places[begin:end]
        if not self._within:
            return places.astype(np.int64)
        first, last = self._posting_ends[row : row + 2].tolist()
        documents, counts = self._codes[first:last] >> 2, self._counts[first:last]
        if among is not None:
            picked = among[documents].nonzero()[0]
            starts = picked
            if end - begin > last - first:
                starts = counts.cumsum(dtype=np.int64)[picked] - counts[picked]
            documents, counts = documents[picked], counts[picked]
            places = places[_spans(starts, counts)]
        begins = self.edges[:, 0].take(documents).astype(np.int64)
        return begins.repeat(counts) + places

    def _row(self, term: np.uint64) -> int | None:
        row = int(np.searchsorted(self._terms, term))
        if row == len(self._terms) or self._terms[row] != term:
            return None
        return row

    def postings(self, terms: NDArray[np.uint64]) -> Iterator[tuple[int, Postings]]:
        """Yield (index in `terms`, postings of it) for terms that occur."""
        if not len(self._terms):
            return
        # Methods of arrays, not functions of numpy, which take as long again.
        rows = self._terms.searchsorted(terms)
        found = self._terms.take(rows, mode="clip") == terms
        indexes = found.nonzero()[0]
        rows = rows[indexes]
        begins = self._posting_ends.take(rows).tolist()
        ends = self._posting_ends.take(rows + 1).tolist()
        codes, counts = self._codes, self._counts
        for index, begin, end in zip(indexes.tolist(), begins, ends, strict=True):
            yield index, Postings(codes[begin:end], counts[begin:end])

    def tokens(self, documents: NDArray[np.int64]) -> Tokens:
        """Return the tokens of some documents."""
        positions: NDArray[np.integer] = self._places
        if self._within:
            begins = self.edges[:, 0].take(self._codes >> 2).astype(np.int64)
            positions = begins.repeat(self._counts) + positions
        hashes = np.empty(self.words, np.uint64)
        hashes[positions] = np.repeat(self._terms, np.diff(self._position_ends))
        return _select(hashes, self.edges, documents)


Block = OpenBlock | SealedBlock


def documents_in_order(
    block: Block, terms: Sequence[np.uint64], *, in_topics: bool
) -> NDArray[np.int64]:
    """Return the documents in which the terms stand in this order, gaps allowed.

    Args:
        block: Where to look.
        terms: At least one term.
        in_topics: Look among the topics' primary tokens, else the content's.
    """
    group = 2 if in_topics else 0
    begins, ends = block.edges[:, group], block.edges[:, group + 1]
    among = block.holding(terms)
    reached = block.positions(terms[0], among)
    documents = np.searchsorted(block.edges[:, 0], reached, side="right") - 1
    # Documents without tokens share their edge with the next: the last one owns it.
    inside = (reached >= begins[documents]) & (reached < ends[documents])
    reached, documents = reached[inside], documents[inside]
    if len(documents):
        earliest = np.ones(len(documents), np.bool_)
        earliest[1:] = documents[1:] != documents[:-1]
        reached, documents = reached[earliest], documents[earliest]
    for term in terms[1:]:
        if not len(documents):
            break
        positions = block.positions(term, among)
        following = np.searchsorted(positions, reached, side="right")
        exists = following < len(positions)
        reached, documents = positions[following[exists]], documents[exists]
        inside = reached < ends[documents]
        reached, documents = reached[inside], documents[inside]
    return documents


def _grouped(
    terms: NDArray[np.uint64], hashes: NDArray[np.uint64], codes: NDArray[np.uint16]
) -> Iterator[tuple[int, Postings]]:
    """Make postings of all terms by comparing them with words by position."""
    at_once = max(1, _COMPARED // len(hashes))
    for first in range(0, len(terms), at_once):
        part = terms[first : first + at_once]
        # Not the indexes of two dimensions, which numpy finds several times as slowly.
        (found,) = (hashes == part[:, None]).reshape(-1).nonzero()
        if not len(found):
            continue
        bases = np.arange(len(part) + 1) * len(hashes)
        ends = found.searchsorted(bases)
        sizes = ends[1:] - ends[:-1]
        code = codes[found - bases[:-1].repeat(sizes)]
        # A key that is different for every posting and grows: term, then code.
        key = (np.arange(len(part)) << _CODE_BITS).repeat(sizes) + code
        new = np.ones(len(key), np.bool_)
        np.not_equal(key[1:], key[:-1], out=new[1:])
        (starts,) = new.nonzero()
        counts = _gaps(starts, len(key))
        document = key[starts] >> 2
        posted = code[starts]
        posted[1:] |= document[1:] == document[:-1]
        edges = starts.searchsorted(ends).tolist()
        for index, (begin, end) in enumerate(pairwise(edges), first):
            if begin < end:
                yield index, Postings(posted[begin:end], counts[begin:end])


def _stable_order(
    hashes: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return what a stable argsort returns, several times as fast; and what is sorted.

    The low bits of hashes give way to their positions, and those are sorted: numpy
    sorts plain numbers much faster than it can say where they came from.
    """
    mask = np.uint64((1 << len(hashes).bit_length()) - 1)
    keys = hashes & ~mask
    keys |= np.arange(len(hashes), dtype=np.uint32)  # a block has fewer words
    keys.sort()
    keys &= mask
    order = keys.view(np.int64)
    ordered = hashes[order]
    if (ordered[1:] < ordered[:-1]).any():  # two that differ in their low bits only
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
    return order, ordered


def _gaps(starts: NDArray[np.int64], end: int) -> NDArray[np.uint16]:
    """Return how many elements there are from each start to the next, or the end."""
    gaps = np.empty(len(starts), np.int64)
    if len(gaps):
        np.subtract(starts[1:], starts[:-1], out=gaps[:-1])
        gaps[-1] = end - starts[-1]
    return np.minimum(gaps, _MOST_COUNTED, out=gaps).astype(np.uint16)


def _smallest(numbers: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
    """Return numbers in as few bytes each as the largest one needs."""
    most = int(numbers.max(initial=0))
    kind = next(kind for kind in _UNSIGNED if most <= np.iinfo(kind).max)
    return numbers.astype(kind)


def _spans(
    starts: NDArray[np.int64], counts: NDArray[np.unsignedinteger]
) -> NDArray[np.int64]:
    """Return the numbers from each start on, as many as its count says."""
    ends = counts.cumsum(dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    if total == len(starts):
        return starts
    shifts: NDArray[np.int64] = starts - ends + counts
    return np.arange(total) + shifts.repeat(counts)


def _select(
    hashes: NDArray[np.uint64],
    edges: NDArray[np.uint32],
    documents: NDArray[np.int64],
) -> Tokens:
    chosen = edges[documents].astype(np.int64)
    sizes = chosen[:, -1] - chosen[:, 0]
    shift = chosen[:, 0] - (np.cumsum(sizes) - sizes)
    index = np.arange(int(sizes.sum())) + np.repeat(shift, sizes)
    return Tokens(hashes[index], np.diff(chosen, axis=1))


def _grown(array: NDArray[_A], size: int, used: int) -> NDArray[_A]:
    """Return a larger array that begins with the used part of this one."""
    larger = large_array((size, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger
