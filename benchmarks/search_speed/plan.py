"""How much is measured, and what each process is asked to do."""

from dataclasses import asdict, dataclass
from typing import Any, Final, Self

DIMENSIONS: Final = 384
"""Length of a vector: that of the small sentence embedders in common use."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes and repetitions of a run.

    Attributes:
        sizes: Memories of the one user.
        preloaded: Memories of the user for whom ten are preloaded.
        many_users: Users of the comparison over many users.
        crowd: Users that are visited in turn and by Zipf's law.
        per_user: Memories of each of the many users.
        budget: Bytes of `search_memory` while the crowd is visited.
        visits: Visits of the crowd in each order.
        added_to: Memories of the two users to whom memories are added.
        rounds: Rounds in which ours and its peer take turns.
        large_rounds: The same above 10,000 memories.
        processes: Fresh processes per start.
        files: A folder in which the crowd's files are kept for another run, if given.
    """

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    preloaded: int = 1_000
    many_users: int = 1_000
    crowd: int = 10_000
    per_user: int = 100
    budget: int = 256 * 1024 * 1024
    visits: int = 20_000
    added_to: tuple[int, int] = (100, 100_000)
    rounds: int = 9
    large_rounds: int = 5
    processes: int = 5
    files: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return its fields."""
        fields = asdict(self)
        del fields["files"]  # where something lies on some machine
        return fields

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Undo `to_json`."""
        lists = {k: tuple(v) for k, v in fields.items() if isinstance(v, list)}
        return cls(**{**fields, **lists})


FULL: Final = Plan()
QUICK: Final = Plan(
    sizes=(200, 1_000),
    preloaded=100,
    many_users=20,
    crowd=60,
    per_user=20,
    budget=1024 * 1024,
    visits=120,
    added_to=(20, 500),
    rounds=2,
    large_rounds=2,
    processes=1,
)
