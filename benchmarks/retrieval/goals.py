"""What was aimed at, and whether it was reached."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from benchmarks.retrieval.contestants import WORDS, mode_name
from benchmarks.retrieval.summaries import ALL

Verdict = Literal["met", "missed", "not measured"]

MARGIN: Final = -0.5
"""How far below a half the lower bound of hybrid may be, in points of recall@10."""

KEPT: Final = 90.0
REJECTED: Final = 95.0


@dataclass(frozen=True, slots=True)
class Goal:
    """A number that was aimed at.

    Attributes:
        text: What is measured.
        bound: At least this, in percent; for `MARGIN` in points, and more than this.
        measured: The mean, `None` if it was not measured.
        low: The lower end of its 95 % interval.
    """

    text: str
    bound: float
    measured: float | None
    low: float | None = None

    @property
    def wanted(self) -> str:
        """What was aimed at, as tables show it."""
        return f"{'>' if self.bound == MARGIN else '≥'} {self.bound:.1f}"

    @property
    def verdict(self) -> Verdict:
        """Whether it was reached; means count, intervals say how sure that is."""
        if self.measured is None:
            return "not measured"
        if self.bound == MARGIN:
            return "met" if self.measured > MARGIN else "missed"
        return "met" if self.measured >= self.bound else "missed"


def goals(found: Mapping[str, Any]) -> Iterator[Goal]:
    """Yield all goals about quality, as far as a run can tell.

    Args:
        found: The results of a run.
    """
    lookup = _Lookup(found)
    embedders = list(found["embedders"])
    yield from _locomo(lookup, embedders)
    yield from _longmemeval(lookup, embedders)
    if "use" in embedders:
        yield lookup.metric("madial-zh", "hybrid", "use", "recall@10", 62)
    yield lookup.metric("madial-zh", "lexical", None, "recall@10", 54)
    yield lookup.metric("ours", "lexical", None, "hit@1", 100, kind="identifier")
    for embedder in embedders:
        yield lookup.metric("ours", "hybrid", embedder, "hit@1", 100, kind="identifier")
    yield from _halves(found)
    yield from _thresholds(found)


def _locomo(lookup: "_Lookup", embedders: list[str]) -> Iterator[Goal]:
    yield lookup.metric("locomo", "lexical", None, "recall@10", 72)
    yield lookup.metric("locomo", "lexical", None, "recall@30", 82)
    alone = {
        metric: lookup.mean("locomo", WORDS, metric)
        for metric in ("recall@10", "recall@30")
    }
    for embedder in embedders:
        for metric, bound in (("recall@10", 77.0), ("recall@30", 86.0)):
            wanted = alone[metric] if embedder == "use" else bound
            if wanted is not None:  # with USE: not below words alone
                yield lookup.metric("locomo", "hybrid", embedder, metric, wanted)
    yield lookup.metric("locomo-facts", "lexical", None, "recall@10", 79)
    for embedder in embedders:
        yield lookup.metric("locomo-facts", "hybrid", embedder, "recall@10", 79)


def _longmemeval(lookup: "_Lookup", embedders: list[str]) -> Iterator[Goal]:
    yield lookup.metric("longmemeval", "lexical", None, "recall@10", 80)
    if "use" in embedders:
        yield lookup.metric("longmemeval", "hybrid", "use", "recall@10", 87)
    for mode, embedder in _modes(embedders):
        yield lookup.version("longmemeval", mode, embedder, "newer_first", ALL)
        yield lookup.version("longmemeval", mode, embedder, "newer_first", "current")
        yield lookup.version("longmemeval-past", mode, embedder, "older_first", "past")


def _modes(embedders: list[str]) -> Iterator[tuple[str, str | None]]:
    yield "lexical", None
    for embedder in embedders:
        yield "hybrid", embedder


def _halves(found: Mapping[str, Any]) -> Iterator[Goal]:
    ours = {c["name"] for c in found["contestants"] if c["family"] == "ours"}
    for row in found["differences"]:
        if row["contestant"] in ours:
            mean, low, _ = row["recall@10"]
            text = (
                f"{row['set']}: {row['contestant']} minus {row['other']}, recall@10, "
                f"lower bound (mean {mean:+.1f})"
            )
            yield Goal(text, MARGIN, low)


def _thresholds(found: Mapping[str, Any]) -> Iterator[Goal]:
    for row in found["thresholds"]:
        if row["language"] == ALL and row["contestant"] != WORDS:
            place = "only memory" if row["place"] == "alone" else "among all others"
            text = f"threshold 0.5, {row['contestant']}, {place}"
            yield Goal(f"{text}: paraphrases kept", KEPT, *row["kept"][:2])
            yield Goal(f"{text}: unrelated rejected", REJECTED, *row["rejected"][:2])


class _Lookup:
    """Find numbers of a run."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._rows = {
            (row["set"], row["contestant"], row["kind"]): row for row in found["rows"]
        }
        self._updates = {
            (row["set"], row["contestant"], row["asks"]): row
            for row in found["updates"]
        }

    def mean(self, set_name: str, contestant: str, metric: str) -> float | None:
        row = self._rows.get((set_name, contestant, ALL))
        return None if row is None else float(row[metric][0])

    def metric(  # noqa: PLR0913 - the coordinates of a number
        self,
        set_name: str,
        mode: str,
        embedder: str | None,
        metric: str,
        bound: float,
        *,
        kind: str = ALL,
    ) -> Goal:
        name = mode_name(mode, embedder)
        row = self._rows.get((set_name, name, kind))
        questions = "" if kind == ALL else f", {kind} questions"
        text = f"{set_name}: {name}, {metric}{questions}"
        return Goal(text, bound, *_ends(row and row[metric]))

    def version(
        self, set_name: str, mode: str, embedder: str | None, which: str, asks: str
    ) -> Goal:
        name = mode_name(mode, embedder)
        row = self._updates.get((set_name, name, asks))
        asking = "all update pairs" if asks == ALL else f"asking for the {asks} value"
        text = f"{set_name}: {name}, {which.replace('_', ' ')}, {asking}"
        return Goal(text, 85, *_ends(row and row[which]))


def _ends(found: list[float] | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found[0], found[1])
