"""What is measured: contestants, sizes, and the rows that combine them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self

Contestant = Literal[
    "ours-memory",
    "InMemoryStore",
    "ours-sqlite",
    "SqliteStore",
    "ours-sqlite-full",
    "SqliteStore-wal",
]
Language = Literal["en", "zh"]

LABELS: Final[dict[Contestant, str]] = {
    "ours-memory": "MemoryStore, memory",
    "InMemoryStore": "InMemoryStore",
    "ours-sqlite": "MemoryStore, SQLite",
    "SqliteStore": "SqliteStore",
    "ours-sqlite-full": "MemoryStore, SQLite, synchronous=FULL",
    "SqliteStore-wal": "SqliteStore, WAL set by hand",
}
"""How a contestant is called in reports."""

MAIN: Final[tuple[Contestant, ...]] = (
    "ours-memory",
    "InMemoryStore",
    "ours-sqlite",
    "SqliteStore",
)
PEERS: Final[dict[Contestant, Contestant]] = {
    "ours-memory": "InMemoryStore",
    "ours-sqlite": "SqliteStore",
}
"""Whom each of ours is compared with."""

DIMENSIONS: Final = 384
"""Length of a vector: that of the small sentence embedders in common use."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement in one process.

    Attributes:
        contestant: Which store.
        items: How many items it holds.
        users: Over how many users they are spread.
        dims: Length of the vectors, 0 for none.
        language: Of the texts.
        repetition: Which of the repeated measurements this is.
        writes_only: Measure only loading and `put`.
        budget: Seconds that one operation may be repeated for.
    """

    contestant: Contestant
    items: int
    users: int
    dims: int
    language: Language = "en"
    repetition: int = 0
    writes_only: bool = False
    budget: float = 2.0

    def __str__(self) -> str:
        """Return it for a progress line."""
        vectors = f"{self.dims} dims" if self.dims else "no vectors"
        users = "1 user" if self.users == 1 else f"{self.users:,} users"
        return (
            f"{LABELS[self.contestant]}: {self.items:,} items, {users}, {vectors}, "
            f"{self.language}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return its fields."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Undo `to_json`."""
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Attributes:
        sizes: Numbers of items.
        users: Numbers of users.
        language_items: Items of the rows that compare languages and durability.
        repetitions: How often each row up to 10,000 items runs.
        large_repetitions: How often larger ones do.
        budget: Seconds that one operation may be repeated for.
        processes: Fresh processes per start-up measurement.
    """

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    users: tuple[int, ...] = (1, 1_000)
    language_items: int = 10_000
    repetitions: int = 3
    large_repetitions: int = 2
    budget: float = 2.0
    processes: int = 15


FULL: Final = Plan()
QUICK: Final = Plan(
    sizes=(200, 1_000),
    users=(1, 50),
    language_items=200,
    repetitions=1,
    large_repetitions=1,
    budget=0.1,
    processes=2,
)
_LARGE: Final = 10_000


def rows(plan: Plan) -> Iterator[Row]:
    """Yield the rows of a plan in the order in which they run.

    All contestants of one size follow each other, and all of that is repeated, so
    that a machine that slows down for a minute slows all of them.
    """
    for repetition in range(max(plan.repetitions, plan.large_repetitions)):
        for contestant, language in _language_rows():
            if repetition < plan.repetitions:
                yield Row(
                    contestant,
                    plan.language_items,
                    users=1,
                    dims=0,
                    language=language,
                    repetition=repetition,
                    writes_only=True,
                    budget=plan.budget,
                )
        for items in plan.sizes:
            large = items > _LARGE
            if repetition >= (plan.large_repetitions if large else plan.repetitions):
                continue
            for users in plan.users:
                for dims in (0, DIMENSIONS):
                    for contestant in MAIN:
                        yield Row(
                            contestant,
                            items,
                            users,
                            dims,
                            repetition=repetition,
                            budget=plan.budget,
                        )


def _language_rows() -> Iterator[tuple[Contestant, Language]]:
    languages: tuple[Language, ...] = ("en", "zh")
    for language in languages:
        for contestant in LABELS:
            yield contestant, language
