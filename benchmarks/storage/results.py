"""Looking things up in the results of a run."""

from typing import Any

from benchmarks.storage.matrix import DIMENSIONS, Contestant, Language


class Results:
    """The results of a run.

    Args:
        found: What `run_all` returned.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        """Sort the rows."""
        self.found = found
        self._rows = {_place(row["row"]): row for row in found["rows"]}

    @property
    def sizes(self) -> list[int]:
        """The numbers of items of the main rows."""
        return sorted({p[1] for p in self._rows if not p[5]})

    @property
    def users(self) -> list[int]:
        """The numbers of users of the main rows."""
        return sorted({p[2] for p in self._rows if not p[5]})

    @property
    def written_items(self) -> int:
        """How many items stand in the rows that only write."""
        return int(self.found["plan"]["language_items"])

    def row(
        self, contestant: Contestant, items: int, *, users: int = 1, dims: int = 0
    ) -> dict[str, Any] | None:
        """Return a row of the main matrix, `None` if it was not measured."""
        return self._rows.get((contestant, items, users, dims, "en", False))

    def operation(
        self,
        contestant: Contestant,
        items: int,
        name: str,
        *,
        users: int = 1,
        dims: int = 0,
    ) -> dict[str, Any] | None:
        """Return an operation of a row of the main matrix."""
        row = self.row(contestant, items, users=users, dims=dims)
        return None if row is None else row["operations"].get(name)

    def cpu(
        self,
        contestant: Contestant,
        items: int,
        name: str,
        *,
        users: int = 1,
        dims: int = 0,
    ) -> float | None:
        """Return CPU microseconds per call."""
        found = self.operation(contestant, items, name, users=users, dims=dims)
        return None if found is None else float(found["cpu_us"])

    def writing(
        self, contestant: Contestant, language: Language
    ) -> dict[str, Any] | None:
        """Return the operations of a row that only writes."""
        place = (contestant, self.written_items, 1, 0, language, True)
        row = self._rows.get(place)
        return None if row is None else row["operations"]

    def writing_cpu(
        self, contestant: Contestant, language: Language, name: str = "put"
    ) -> float | None:
        """Return CPU microseconds of an operation of a row that only writes."""
        found = self.writing(contestant, language)
        return None if found is None else float(found[name]["cpu_us"])

    def resident(
        self, contestant: Contestant, items: int, *, dims: int, users: int = 1
    ) -> float | None:
        """Return resident megabytes after filling and all reads."""
        row = self.row(contestant, items, users=users, dims=dims)
        return None if row is None else float(row["megabytes"]["warm"])

    def copies(self, contestant: Contestant, items: int) -> float | None:
        """Return how often the vectors are in memory, as float32.

        That is what a store with vectors takes more than one without, by what the bare
        vectors take.
        """
        with_vectors = self.resident(contestant, items, dims=DIMENSIONS)
        without = self.resident(contestant, items, dims=0)
        if with_vectors is None or without is None:
            return None
        return (with_vectors - without) * 1e6 / (items * DIMENSIONS * 4)

    def disagreements(self) -> list[str]:
        """Return where contestants gave different answers to the same question."""
        answers: dict[tuple[Any, ...], dict[str, Any]] = {}
        for (contestant, *place), row in sorted(
            self._rows.items(), key=lambda entry: entry[0]
        ):
            for question, answer in row["answers"].items():
                if question != "namespaces":  # InMemoryStore lists emptied ones
                    given = answers.setdefault((*place, question), {})
                    given[contestant] = answer
        return [
            f"{question} at {items} items, {users} users, {dims} dims"
            for (items, users, dims, *_, question), given in answers.items()
            if len({str(answer) for answer in given.values()}) > 1
        ]


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["contestant"],
        row["items"],
        row["users"],
        row["dims"],
        row["language"],
        row["writes_only"],
    )


def ratio(peer: float | None, ours: float | None) -> float | None:
    """Return how many times less ours is, `None` if one is missing."""
    if peer is None or ours is None or ours <= 0:
        return None
    return peer / ours
