"""Many records of one namespace in a few large pieces of memory.

An object of Python for each value, number and vector of a record takes half as much
again as what it holds, and leaves holes behind when it goes.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from langchain_agentmemory.backends.base import (
    Namespace,
    Record,
    RecordState,
)
from langchain_agentmemory.large_arrays import large_array, large_buffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

PAGE: Final = 4096
"""Records of a page: as many rows as a chunk of an index has, which takes them over."""

_FOUR_BYTES: Final = 1 << 32
_NUMBERS: Final = tuple(range(PAGE))  # one object for all that have the same number


class _Same(Generic[T]):
    """A column that says the same of all records."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __getitem__(self, _: int) -> T:
        return self._value


def _column(values: list[T]) -> "list[T] | _Same[T]":
    first = values[0]
    return _Same(first) if values.count(first) == len(values) else values


def _numbers(values: list[int]) -> Sequence[int]:
    run = range(values[0], values[0] + len(values))
    return run if values == list(run) else array("q", values)


class _Texts:
    """Many bytes, one after the other."""

    __slots__ = ("_buffer", "_ends")

    def __init__(self, parts: Sequence[bytes]) -> None:
        ends = list(accumulate(map(len, parts), initial=0))
        self._ends = array("I" if ends[-1] < _FOUR_BYTES else "Q", ends)
        self._buffer = large_buffer(max(self._ends[-1], 1))
        for part in parts:
            self._buffer.write(part)

    def __getitem__(self, number: int) -> bytes:
        return self._buffer[self._ends[number] : self._ends[number + 1]]


class _Rows:
    """One vector each of some records."""

    __slots__ = ("_numbers", "rows")

    def __init__(self, vectors: "Sequence[NDArray[np.float32] | None]") -> None:
        owners = [number for number, one in enumerate(vectors) if one is not None]
        first = vectors[owners[0]]
        dims = 0 if first is None else first.shape[1]
        self.rows: NDArray[np.float32] = large_array((len(owners), dims), "float32")
        self._numbers: array[int] | None = None
        if len(owners) < len(vectors):
            self._numbers = array("h", [-1]) * len(vectors)
        for row, owner in enumerate(owners):
            self.rows[row] = vectors[owner]
            if self._numbers is not None:
                self._numbers[owner] = row

    def number(self, record: int) -> int:
        """Return the row of a record, -1 without one."""
        return record if self._numbers is None else self._numbers[record]


class Page:
    """At most `PAGE` active records, column by column.

    Args:
        records: The records, of one namespace; `None` where there is none any more.

    Attributes:
        keys: Their keys when it was made.
        living: How many of them the backend still keeps.
    """

    __slots__ = (
        "_rows",
        "_rows_used",
        "_tokens",
        "_tokens_used",
        "created",
        "embedders",
        "flags",
        "keys",
        "living",
        "metas",
        "namespace",
        "revisions",
        "ttls",
        "updated",
        "values",
    )

    def __init__(self, namespace: Namespace, records: Sequence[Record | None]) -> None:
        """Copy what they hold."""
        self.namespace = namespace
        living = [record for record in records if record is not None]
        self.keys = [record.key for record in living]
        self.living = len(living)
        self.values = _Texts([r.value if r else b"" for r in records])
        self.metas = _column([r.meta if r else None for r in records])
        self.updated = array("q", [r.updated_at if r else 0 for r in records])
        created = array("q", [(r.created_at or 0) if r else 0 for r in records])
        self.created = self.updated if created == self.updated else created
        self.revisions = _numbers([r.revision if r else 0 for r in records])
        self.ttls = _column([r.ttl if r else None for r in records])
        self.flags = _column([r.flags if r else living[0].flags for r in records])
        self.embedders = _column(
            [r.embedder if r else living[0].embedder for r in records]
        )
        tokens = [_tokens_to_pack(record) for record in records]
        # Marks and no counts: several threads may let go of the same.
        self._tokens_used = bytearray(one is not None for one in tokens)
        self._tokens: _Texts | None = None
        if any(self._tokens_used):
            self._tokens = _Texts([blob or b"" for blob in tokens])
        vectors = _single([_vectors_to_pack(record) for record in records])
        self._rows_used = bytearray(one is not None for one in vectors)
        self._rows = _Rows(vectors) if any(self._rows_used) else None

    def tokens(self, number: int) -> bytes | None:
        """Return the tokens of a record, `None` if all have let go of theirs."""
        tokens = self._tokens  # read once: another thread may let go of the last one
        return None if tokens is None else tokens[number]

    def holds_tokens(self, number: int) -> bool:
        """Tell whether a record has its tokens here."""
        return bool(self._tokens_used[number])

    def let_go_of_tokens(self, number: int) -> None:
        """Say that a record needs its tokens no longer."""
        self._tokens_used[number] = False
        if True not in self._tokens_used:
            self._tokens = None

    def place(self, number: int) -> "tuple[NDArray[np.float32], int] | None":
        """Return the array in which a record has a row, and which row that is."""
        rows = self._rows
        row = -1 if rows is None else rows.number(number)
        return None if rows is None or row < 0 else (rows.rows, row)

    def let_go_of_row(self, number: int) -> None:
        """Say that a record has its vectors elsewhere, and refers to them."""
        self._rows_used[number] = False
        if True not in self._rows_used:
            self._rows = None


class PackedRecord:
    """A record that a page holds: like a `Record` for whoever changes none.

    Tokens and vectors can be replaced, and when it expires.

    Args:
        page: The page.
        number: Where in it.
        record: The same record, whole.
    """

    __slots__ = ("_number", "_own_tokens", "_own_vectors", "_page", "expires_at", "key")

    def __init__(self, page: Page, number: int, record: Record) -> None:
        """Remember where it is."""
        self.key = record.key
        self.expires_at = record.expires_at
        self._number = _NUMBERS[number]
        self._page = page
        self._own_tokens: bytes | _InPage | None = _IN_PAGE
        self._own_vectors: NDArray[np.float32] | _Row | _InPage | None = _IN_PAGE
        if not page.holds_tokens(number):
            self._own_tokens = None
        if page.place(number) is None:
            self._own_vectors = record.vectors

    def __repr__(self) -> str:
        """Return what identifies it, as that of a `Record`."""
        return repr(self.__copy__())

    def __copy__(self) -> Record:
        """Return a whole record, so that each attribute can be set."""
        return Record(
            self.namespace,
            self.key,
            self.value,
            self.meta,
            self.created_at,
            self.updated_at,
            expires_at=self.expires_at,
            ttl=self.ttl,
            revision=self.revision,
            flags=self.flags,
            tokens=self.tokens,
            vectors=self.vectors,
            embedder=self.embedder,
        )

    @property
    def page(self) -> Page:
        """The page that holds it; only the backend replaces it, by a smaller one."""
        return self._page

    @page.setter
    def page(self, smaller: Page) -> None:
        self._page = smaller

    @property
    def number(self) -> int:
        """Where in the page."""
        return self._number

    @property
    def has_own_tokens(self) -> bool:
        """Whether its tokens are not those in the page, or `None`."""
        return self._own_tokens is not _IN_PAGE

    @property
    def has_own_vectors(self) -> bool:
        """Whether its vectors are not those in the page."""
        return self._own_vectors is not _IN_PAGE

    @property
    def namespace(self) -> Namespace:
        """See `Record`, as for all below."""
        return self._page.namespace

    @property
    def value(self) -> bytes:  # noqa: D102
        return self._page.values[self._number]

    @property
    def meta(self) -> bytes | None:  # noqa: D102
        return self._page.metas[self._number]

    @property
    def created_at(self) -> int:  # noqa: D102
        return self._page.created[self._number]

    @property
    def updated_at(self) -> int:  # noqa: D102
        return self._page.updated[self._number]

    @property
    def deleted_at(self) -> None:  # noqa: D102
        return None

    @property
    def ttl(self) -> int | None:  # noqa: D102
        return self._page.ttls[self._number]

    @property
    def revision(self) -> int:  # noqa: D102
        return self._page.revisions[self._number]

    @property
    def state(self) -> RecordState:  # noqa: D102
        return RecordState.ACTIVE

    @property
    def flags(self) -> int:  # noqa: D102
        return self._page.flags[self._number]

    @property
    def embedder(self) -> int:  # noqa: D102
        return self._page.embedders[self._number]

    @property
    def tokens(self) -> bytes | None:  # noqa: D102
        own = self._own_tokens
        return self._page.tokens(self._number) if isinstance(own, _InPage) else own

    @tokens.setter
    def tokens(self, given: bytes | None) -> None:
        before, self._own_tokens = self._own_tokens, given
        if isinstance(before, _InPage):
            self._page.let_go_of_tokens(self._number)

    @property
    def vectors(self) -> "NDArray[np.float32] | None":  # noqa: D102
        own = self._own_vectors
        if isinstance(own, _InPage):
            place = self._page.place(self._number)
            if place is not None:
                rows, row = place
                return rows[row : row + 1]
            own = self._own_vectors  # it was set, and the page let go of its rows
        if isinstance(own, _InPage):
            return None
        return own.view() if isinstance(own, _Row) else own

    @vectors.setter
    def vectors(self, given: "NDArray[np.float32] | None") -> None:
        before = self._own_vectors
        if isinstance(before, _InPage) and given is not None:
            place = self._page.place(self._number)
            if place is not None and given.base is place[0]:
                return  # an index took the page's rows over
        row = None if given is None else _row_of(given)
        self._own_vectors = row or given
        if isinstance(before, _InPage):
            self._page.let_go_of_row(self._number)


class _InPage:
    """Marks what the page holds."""

    __slots__ = ()


_IN_PAGE: Final = _InPage()


class _Row:
    """One row of an array: a view of it takes three times the memory."""

    __slots__ = ("number", "rows")

    def __init__(self, rows: "NDArray[np.float32]", number: int) -> None:
        self.rows = rows
        self.number = _NUMBERS[number] if number < PAGE else number

    def view(self) -> "NDArray[np.float32]":
        """Return the row, shape (1, dimensions)."""
        return self.rows[self.number : self.number + 1]


def _row_of(vectors: "NDArray[np.float32]") -> _Row | None:
    """Return which row of which array this is, `None` if it is something else."""
    whole = vectors.base
    if whole is None or vectors.ndim != 2 or not len(vectors) == 1 <= vectors.size:  # noqa: PLR2004
        return None
    if type(whole) is not type(vectors) or whole.shape[1:] != vectors.shape[1:]:
        return None
    if whole.dtype != vectors.dtype or not whole.flags.c_contiguous:
        return None
    start: int = whole.__array_interface__["data"][0]
    distance = vectors.__array_interface__["data"][0] - start
    number, rest = divmod(distance, whole.strides[0])
    if rest or not vectors.flags.c_contiguous or not 0 <= number < len(whole):
        return None
    return _Row(whole, number)


def _tokens_to_pack(record: Record | None) -> bytes | None:
    known = as_packed(record)
    if record is None or (known and known.has_own_tokens):
        return None
    return record.tokens


def _vectors_to_pack(record: Record | None) -> "NDArray[np.float32] | None":
    known = as_packed(record)
    if record is None or (known and known.has_own_vectors):
        return None
    return record.vectors


def _single(
    vectors: "Sequence[NDArray[np.float32] | None]",
) -> "list[NDArray[np.float32] | None]":
    """Return the vectors that fit into one array: single ones of equal length."""
    shape = next((v.shape for v in vectors if v is not None and len(v) == 1), None)
    return [v if v is not None and v.shape == shape else None for v in vectors]


def packed(records: Sequence[Record]) -> list[Record]:
    """Return at most `PAGE` active records of one namespace, held by a page."""
    page = Page(records[0].namespace, records)
    return [
        cast("Record", PackedRecord(page, number, record))
        for number, record in enumerate(records)
    ]


def as_packed(record: object) -> PackedRecord | None:
    """Return a record if a page holds it."""
    return record if isinstance(record, PackedRecord) else None


def shrink(page: Page, living: Sequence[PackedRecord]) -> None:
    """Let records that a page still holds be held by a smaller one.

    Whoever holds another record of that page keeps the page.
    """
    records: list[Record | None] = [None] * PAGE
    for record in living:
        records[record.number] = cast("Record", record)
    smaller = Page(page.namespace, records)
    for record in living:
        record.page = smaller
