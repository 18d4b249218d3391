"""A shelf: the warm, in-memory search index of one namespace.

Documents are appended to blocks and never changed: an update kills the old slot and
appends a new one. A block that is half dead is emptied into the open one. Slots are
valid until the next write; keys always are. The caller holds a lock.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.index import LexicalIndex, Near, WordScores
from langchain_agentmemory.search.lexical import fallback_score, text_probe
from langchain_agentmemory.search.place import Place
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.postings import BLOCK_SIZE, parse_whole_blobs
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.search.tokenize import (
    UNINDEXED,
    Query,
    Tokenizer,
    is_blob_of,
)
from langchain_agentmemory.search.vectors import (
    Estimates,
    VectorColumn,
    Vectors,
    joined,
)

T = TypeVar("T")
P = ParamSpec("P")

Texts = tuple[str, str]
"""The content of a document and its topics, joined with one blank."""
Row = tuple[str, Any, bytes | None, Vectors | None, Place | None]
"""Key, item or what it is made of, token blob, vectors, place in a conversation."""


_KEPT_CONTENTS: Final = 256  # Sets of tokens that are kept as they are.
_CONTENT: Final = 2_048  # bytes of such a set, about
_OBJECT: Final = 33  # bytes that Python takes for a `bytes` object beside its content


class _Waiting(NamedTuple):
    """What was loaded by columns and no search has asked for yet.

    Attributes:
        tokens: Token blobs of all slots.
        owners: Slots that have a vector.
        vectors: These, shape (owners, dims).
        nbytes: What tokens or vectors take.
    """

    tokens: Sequence[bytes | None] = ()
    owners: Sequence[int] = ()
    vectors: Vectors | None = None
    nbytes: int = 0


_NOTHING: Final = _Waiting()


class Shelf(Generic[T]):
    """The search index of one namespace.

    Args:
        tokenizer: Makes queries, and the tokens of rows that come with none, or with
            another tokenizer's.
        dims: Length of the vectors, `None` without vectors.
        text: Returns the texts of an item, for re-tokenising and for the search for
            whole phrases where no token matched. Without it, such rows cannot be
            loaded and such searches find nothing.
        relocated: Called with an item and a view of its vectors when they had to be
            moved in memory. Whoever keeps views replaces them then, or the old rows
            stay in memory.
        make: Makes an item of what is put on the shelf, when it is asked for; without
            it, items are put.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        dims: int | None,
        *,
        text: Callable[[T], Texts] | None = None,
        relocated: Callable[[T, Vectors], None] | None = None,
        make: Callable[[Any], T] | None = None,
    ) -> None:
        """Start empty."""
        self.tokenizer = tokenizer
        self.dims = dims
        self._text = text
        self._relocated = relocated
        self._make = make
        self._slots: dict[str, int] = {}
        self._contents: dict[str, frozenset[int]] = {}
        self._keys: list[str] = []
        self._items: list[Any] = []
        self._made = bytearray()  # which items were made already
        self.places = Places()
        self._han = bytearray()
        self._han_marks: NDArray[np.bool_] | bool | None = False
        self._lexical = self._empty_index()
        self._column = None if dims is None else self._empty_column(dims)
        self._tokens_wait = self._vectors_wait = _NOTHING

    def __len__(self) -> int:
        """Return how many items are alive."""
        return len(self._slots)

    def __contains__(self, key: object) -> bool:
        """Tell whether an item of this key is alive."""
        return key in self._slots

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which slots hold a living item, bool, shape (slots,)."""
        if self._tokens_wait is not _NOTHING:
            return np.ones(len(self._items), np.bool_)
        return self._index.alive[: self._index.size]

    @property
    def nbytes(self) -> int:
        """Estimate of the bytes held, the items themselves not counted."""
        vectors = self._column.nbytes if self._column is not None else 0
        waiting = self._tokens_wait.nbytes + self._vectors_wait.nbytes
        own = 180 * len(self._slots) + self.places.nbytes
        own += _CONTENT * len(self._contents)
        return self._lexical.nbytes + vectors + waiting + own

    @property
    def _index(self) -> LexicalIndex:
        """The words, those that waited included."""
        if self._tokens_wait is not _NOTHING:
            # Into an empty one, and it waits until that is done: an interrupted search
            # leaves nothing behind.
            index = self._empty_index()
            self._append_tokens(index, self._tokens_wait.tokens)
            self._lexical, self._tokens_wait = index, _NOTHING
        return self._lexical

    @property
    def _vectors(self) -> VectorColumn | None:
        """The vectors, those that waited included."""
        waiting = self._vectors_wait
        if waiting is not _NOTHING:
            if self.dims is not None and waiting.vectors is not None:
                column = self._empty_column(self.dims)
                column.add_one_each(waiting.owners, waiting.vectors)
                self._column = column
            self._vectors_wait = _NOTHING
        return self._column

    # Not the methods themselves: a shelf in a circle with its parts would outlive its
    # last user until Python looks for circles.

    def _empty_index(self) -> LexicalIndex:
        return LexicalIndex(_weakly(self._documents_moved))

    def _empty_column(self, dims: int) -> VectorColumn:
        return VectorColumn(dims, _weakly(self._rows_moved))

    def get(self, key: str) -> T | None:
        """Return the item of a key, `None` if there is none."""
        slot = self._slots.get(key)
        return None if slot is None else self.item(slot)

    def slot(self, key: str) -> int | None:
        """Return the slot of a key until the next write, `None` if there is none."""
        return self._slots.get(key)

    def key(self, slot: int) -> str:
        """Return the key of a living slot."""
        return self._keys[slot]

    def item(self, slot: int) -> T:
        """Return the item of a living slot.

        Raises:
            KeyError: If the slot is dead or was never used.
        """
        item: T | None = self._items[slot]
        if item is None:
            raise KeyError(slot)
        if self._make is not None and not self._made[slot]:
            item = self._items[slot] = self._make(item)
            self._made[slot] = True
        return item

    def items_at(self, slots: Sequence[int]) -> list[T]:
        """Return the items of living slots.

        Raises:
            KeyError: If a slot is dead or was never used.
        """
        if self._make is None or all(map(self._made.__getitem__, slots)):
            found = list(map(self._items.__getitem__, slots))
            if None not in found:
                return found
        return [self.item(slot) for slot in slots]

    def items(self) -> Iterator[tuple[str, T]]:
        """Yield the keys and items alive, in the order of their last write."""
        for key, slot in self._slots.items():
            yield key, self.item(slot)

    def vectors(self, key: str) -> Vectors | None:
        """Return a view of the vectors of a key, `None` without any."""
        slot = self._slots.get(key)
        if slot is None or self._vectors is None:
            return None
        return self._vectors.view(slot)

    def load(self, rows: Iterable[Row]) -> None:
        """Put many rows, faster than one by one. The last of equal keys wins."""
        source = iter(rows)
        while batch := list(islice(source, BLOCK_SIZE)):
            self._load_batch(list({row[0]: row for row in batch}.values()))

    def load_columns(
        self,
        keys: Sequence[str],
        items: Sequence[Any],
        tokens: Sequence[bytes | None],
        owners: Sequence[int],
        vectors: Vectors | None,
    ) -> None:
        """Put many new items, much faster than `load`.

        Tokens and vectors of the first ones wait, as they are, for a search that needs
        them, or for more.

        Args:
            keys: Their keys, all different and none of them on the shelf.
            items: The items.
            tokens: Their token blobs, as in `upsert`.
            owners: Positions of the items that have a vector, ascending.
            vectors: One vector for each of these, shape (owners, dims), of any length;
                nobody may change them any more.

        Raises:
            ValueError: If something was removed from the shelf before.
        """
        first = len(self._items)
        if len(self._slots) != first or (first and self._index.size != first):
            msg = "Only a shelf from which nothing was removed is loaded by columns."
            raise ValueError(msg)
        self._items.extend(items)
        self._made.extend(bytes(len(items)))
        self._keys.extend(keys)
        self._slots.update(zip(keys, range(first, first + len(keys)), strict=True))
        if vectors is not None and len(owners):
            self._add_vectors(first, owners, vectors)
        if first:
            self._append_tokens(self._index, tokens)
        else:
            nbytes = sum(map(len, filter(None, tokens))) + _OBJECT * len(tokens)
            self._tokens_wait = _Waiting(tokens, nbytes=nbytes)

    def _add_vectors(self, first: int, owners: Sequence[int], vectors: Vectors) -> None:
        """Take the vectors of the last items, which begin with a slot."""
        if self.dims is None:
            return
        if not first:
            self._vectors_wait = _Waiting((), owners, vectors, vectors.nbytes)
        elif (column := self._vectors) is not None:
            column.add_one_each([first + owner for owner in owners], vectors)

    def _append_tokens(
        self, index: LexicalIndex, tokens: Sequence[bytes | None]
    ) -> None:
        """Index the words of the last items."""
        parsed = None
        if None not in tokens:
            blobs = cast("Sequence[bytes]", tokens)
            parsed = parse_whole_blobs(blobs, self.tokenizer.fingerprint)
        if parsed is not None:
            index.append_tokens(parsed)
        else:
            first = len(self._items) - len(tokens)
            _load_blobs(
                index,
                [
                    self._own_blob(partial(self.item, slot), blob)
                    for slot, blob in enumerate(tokens, first)
                ],
            )

    def token_blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield the keys of what is searched by words, and tokens as in `upsert`."""
        for slot, blob in self._index.blobs(self.tokenizer.fingerprint):
            yield self._keys[slot], blob

    def content_tokens(
        self, slot: int, make: Callable[[], frozenset[int]]
    ) -> frozenset[int]:
        """Return the hashes of the content of a living slot.

        Args:
            slot: Which one.
            make: Makes them of the text, where the index cannot tell them. They are
                kept for the next time, as long as there are few.
        """
        key = self._keys[slot]
        tokens = self._contents.get(key)
        if tokens is None:
            tokens = self._index.content_tokens(slot)
            if tokens is None:
                tokens = make()
            if len(self._contents) >= _KEPT_CONTENTS:
                self._contents.clear()
            self._contents[key] = tokens
        return tokens

    def mark_han(self, key: str) -> None:
        """Say that the text of an item holds Han characters; others do not."""
        slot = self._slots[key]
        self._han.extend(bytes(max(slot + 1 - len(self._han), 0)))
        self._han[slot] = True
        self._han_marks = None

    def han(self) -> NDArray[np.bool_] | bool:
        """Tell which slots were marked so, `True` or `False` if all or none were.

        The array is kept until the next write; nobody may change it.
        """
        if self._han_marks is None:
            marks = np.zeros(len(self._items), np.bool_)
            marks[: len(self._han)] = np.frombuffer(bytes(self._han), np.bool_)
            alike = bool(marks.all()) or not marks.any()
            self._han_marks = bool(marks.any()) if alike else marks
        return self._han_marks

    def place(self, key: str, place: Place) -> None:
        """Say where an item stands in a conversation; it had no place before.

        What is kept out of lexical search stays out: it lends and borrows nothing.
        """
        self._stand(self._slots[key], place)

    def _stand(self, slot: int, place: Place | None) -> None:
        if place is not None and self._index.indexed[slot]:
            self.places.put(slot, place)

    def upsert(
        self,
        key: str,
        item: Any,
        tokens: bytes | None,
        vectors: Vectors | None = None,
        place: Place | None = None,
    ) -> Vectors | None:
        """Put one item, in place of an older one of this key.

        Args:
            key: The key.
            item: What `item` and `get` give back, or what they make it of; never
                `None`.
            tokens: Its token blob; `None` makes one of its text, `UNINDEXED` keeps it
                out of lexical search.
            vectors: Its vectors, shape (dims,) or (count, dims), of any length.
            place: Where it stands in a conversation.

        Returns:
            A view of the normalised vectors as they are kept here: keep this and drop
            your own copy. `None` without vectors.

        Raises:
            InvalidInput: If the vectors have other dimensions; nothing has changed.
        """
        blob = self._own_blob(partial(self._make_item, item), tokens)
        if vectors is not None and self._vectors is not None and len(vectors):
            self._vectors.require_fit(vectors)
        self.remove(key)
        self._index.room()
        slot = self._index.append((blob,))
        self._settle(slot, key, item)
        self._stand(slot, place)
        return self._put_vectors(slot, vectors)

    def remove(self, key: str) -> bool:
        """Forget a key. Returns whether there was one."""
        slot = self._slots.get(key)
        if slot is None:
            return False
        index = self._index  # first: tokens that wait may be made of this item's text
        del self._slots[key]
        self._contents.pop(key, None)
        self._items[slot] = None
        if self._vectors is not None:
            self._vectors.remove(slot)
        self.places.remove(slot)
        index.kill(slot)
        return True

    def statistics(self, query: Query) -> Statistics:
        """Return what a score needs to know of this corpus."""
        return self._index.statistics(query, self._index.matches(query))

    def lexical(
        self, query: Query, statistics: Statistics | None = None
    ) -> NDArray[np.float32]:
        """Return the lexical score of every slot: in [0, 1], 0 where nothing matched.

        Args:
            query: From this shelf's tokenizer.
            statistics: Of a larger corpus, so that scores of several shelves compare;
                this shelf alone if not given.
        """
        return self._words(query, statistics, None).scores

    def words(self, query: Query) -> WordScores:
        """Return lexical scores to which neighbours in a conversation add, and why.

        Args:
            query: From this shelf's tokenizer.
        """
        return self._words(query, None, self.places)

    def neighbourhood(self, query: Query, words: WordScores) -> Near | None:
        """Return what neighbours added to lexical scores, `None` if nothing.

        Args:
            query: The query.
            words: What `words` returned for it, since the last write.
        """
        if words.statistics is None:
            return None
        near = self._index.own_and_near(
            query, words.statistics, words.matches, self.places
        )
        return near[1]

    def beside(self, slot: int) -> list[str]:
        """Return the keys of what stands next to a slot in its conversation.

        Those at its own place and at the four places around it, in the order in which
        they were said.
        """
        of_slot = self.places.of_slots(self._index.size)
        number = of_slot[slot]
        if number == self.places.count:
            return []
        before, after, far_before, far_after = self.places.neighbours()[:, number]
        found = []
        for place in (far_before, before, number, after, far_after):
            if place < self.places.count:
                slots = np.flatnonzero(of_slot == place)
                found += [self._keys[other] for other in slots if other != slot]
        return found

    def _words(
        self, query: Query, statistics: Statistics | None, places: Places | None
    ) -> WordScores:
        found = self._index.scores(query, statistics, places)
        if query.fallback is not None and self._text is not None and query.text:
            self._fall_back(query, found.scores, self._text)
        return found

    def vector(self, query: Vectors) -> Vectors:
        """Return the cosine of every slot's best vector, `-inf` where it has none.

        Args:
            query: One unit vector, float32, shape (dims,).
        """
        size = len(self._items)
        column = self._vectors
        if column is None:
            return np.full(size, -np.inf, np.float32)
        return column.similarities(np.asarray(query, np.float32), size)

    def estimated_cosines(self, query: Vectors) -> Estimates:
        """Return about what `vector` does, faster where there are very many.

        Args:
            query: One unit vector, float32, shape (dims,).
        """
        column = self._vectors
        if column is None:
            return Estimates(self.vector(query), 0.0)
        return column.estimates(np.asarray(query, np.float32), len(self._items))

    def nearest(self, query: Vectors, count: int) -> Vectors:
        """Return what `vector` does, exact for so many of the best only.

        Args:
            query: One unit vector, float32, shape (dims,).
            count: How many of the best have to be exact, and above all others.
        """
        column = self._vectors
        if column is None:
            return self.vector(query)
        return column.nearest(np.asarray(query, np.float32), len(self._items), count)

    def cosines_of(self, slots: NDArray[np.int64], query: Vectors) -> Vectors:
        """Return the cosines of some slots' best vectors, as `vector` has them.

        Args:
            slots: Some slots, shape (some,).
            query: One unit vector, float32, shape (dims,).
        """
        column = self._vectors
        if column is None:
            return np.full(len(slots), -np.inf, np.float32)
        return column.cosines_of(slots, np.asarray(query, np.float32))

    def _fall_back(
        self,
        query: Query,
        scores: NDArray[np.float32],
        text: Callable[[T], Texts],
    ) -> None:
        """Score by the whole text those documents that no token matched."""
        index = self._index
        unmatched = index.alive[: index.size] & index.indexed[: index.size]
        unmatched &= scores == 0
        may_hold = text_probe(query)
        for slot in np.flatnonzero(unmatched).tolist():
            texts = text(self.item(slot))
            if may_hold(texts) and (score := fallback_score(query, *texts)):
                scores[slot] = score

    def _make_item(self, given: Any) -> T:
        return cast("T", given) if self._make is None else self._make(given)

    def _own_blob(self, item: Callable[[], T], tokens: bytes | None) -> bytes:
        if tokens == UNINDEXED:
            return UNINDEXED
        if tokens is not None and is_blob_of(tokens, self.tokenizer.fingerprint):
            return tokens
        if self._text is None:
            msg = "No tokens of this shelf's tokenizer: give the shelf `text=`."
            raise ValueError(msg)
        return self.tokenizer.document(*self._text(item()))

    def _load_batch(self, batch: Sequence[Row]) -> None:
        blobs = [
            self._own_blob(partial(self._make_item, item), tokens)
            for _, item, tokens, _, _ in batch
        ]
        if self._vectors is not None:
            for _, _, _, vectors, _ in batch:
                if vectors is not None and len(vectors):
                    self._vectors.require_fit(vectors)
        for row in batch:
            self.remove(row[0])
        done = 0
        while done < len(batch):
            part = batch[done : done + self._index.room()]
            first = self._index.append(blobs[done : done + len(part)])
            for slot, (key, item, _, _, place) in enumerate(part, first):
                self._settle(slot, key, item)
                self._stand(slot, place)
            self._put_many_vectors(first, [row[3] for row in part])
            done += len(part)

    def _settle(self, slot: int, key: str, item: Any, *, made: bool = False) -> None:
        """Write down who lives in a slot, new or used before."""
        if slot == len(self._items):
            self._items.append(item)
            self._keys.append(key)
            self._made.append(made)
        else:
            self._items[slot] = item
            self._keys[slot] = key
            self._made[slot] = made
        self._slots[key] = slot
        if slot < len(self._han):
            self._han[slot] = False
        if self._han:  # no mark at all stays no mark
            self._han_marks = None

    def _put_vectors(self, slot: int, vectors: Vectors | None) -> Vectors | None:
        if vectors is None or not len(vectors) or self._vectors is None:
            return None
        return self._vectors.add(slot, vectors)

    def _put_many_vectors(self, first: int, vectors: Sequence[Vectors | None]) -> None:
        if self._vectors is None:
            return
        single: list[Vectors] = []
        slots: list[int] = []
        for slot, given in enumerate(vectors, first):
            if given is None or not len(given):
                continue
            rows = given if given.ndim > 1 else given[None]
            if len(rows) == 1:
                single.append(rows)
                slots.append(slot)
            else:
                self._vectors.add(slot, rows)
        if single:
            self._vectors.add_one_each(slots, joined(single))

    def _documents_moved(self, old: list[int], first: int) -> None:
        for new, before in enumerate(old, first):
            item, made = self._items[before], bool(self._made[before])
            self._items[before] = None
            self._settle(new, self._keys[before], item, made=made)
            self.places.move(before, new)
            if before < len(self._han) and self._han[before]:
                self.mark_han(self._keys[before])
            if self._vectors is not None:
                self._vectors.move(before, new)

    def _rows_moved(self, slot: int, view: Vectors) -> None:
        if self._relocated is not None:
            self._relocated(self.item(slot), view)


def _load_blobs(index: LexicalIndex, blobs: Sequence[bytes]) -> None:
    done = 0
    while done < len(blobs):
        part = blobs[done : done + index.room()]
        index.append(part)
        done += len(part)


def _weakly(method: Callable[P, None]) -> Callable[P, None]:
    """Return a function that calls a method as long as its object is there.

    A `WeakMethod` has callbacks of its own, which may run when the interpreter ends and
    what they look at is gone.
    """
    function, reference = _parts_of(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        alive = reference()
        if alive is not None:
            function(alive, *args, **kwargs)

    return call


def _parts_of(
    method: Any,
) -> tuple[Callable[..., None], "weakref.ref[Any]"]:
    return method.__func__, weakref.ref(method.__self__)


_GROUPED: Final = 64  # scores of a group, of which only the best is looked at first


def _candidates(scores: NDArray[np.float32], k: int | None) -> NDArray[np.int64]:
    """Return slots among which the `k` best positive scores and their equals are.

    In each of many groups the best is found, which is fast, and then the `k`-th of
    these: at least `k` scores reach it, and few do.
    """
    groups = len(scores) // _GROUPED
    if k is None or not 0 < k < groups:
        return (scores > 0).nonzero()[0]
    whole = scores[: groups * _GROUPED].reshape(_GROUPED, groups)
    best = np.maximum.reduce(whole, axis=0)
    best.partition(groups - k)
    least = best[groups - k]
    mask = scores >= least if least > 0 else scores > 0
    return mask.nonzero()[0]


def top(scores: NDArray[np.float32], k: int | None) -> NDArray[np.int64]:
    """Return the slots of the `k` best positive scores and of all that tie with them.

    Best first, later slots first among equals. `None` returns all positive scores.
    """
    slots = _candidates(scores, k)
    values = scores[slots]
    if k is not None and k < len(slots):
        least = np.inf
        if k > 0:
            ordered = values.copy()
            ordered.partition(len(values) - k)
            least = ordered[len(values) - k]
        best = values >= least
        slots, values = slots[best], values[best]
    return slots[np.lexsort((-slots, -values))]
