"""Tables of ablations: what is lost without each ingredient, and whether that is sure.

Changes are in points, without the ingredient minus with it: what earns its place has
negative numbers. A change is sure if its 95 % interval has not 0 in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.common.markdown import NONE, table
from benchmarks.retrieval.ablating import MAIN, VERSION
from benchmarks.retrieval.ablations import ABLATIONS
from benchmarks.retrieval.summaries import ALL
from benchmarks.retrieval.tables import number

Row = Mapping[str, Any]

_COLUMNS: Final = (
    ("locomo", "recall@10"),
    ("longmemeval", "recall@10"),
    ("madial-zh", "recall@10"),
    ("ours", "recall@10"),
    ("ours", "hit@1"),
    ("ours", VERSION),
    ("longmemeval", VERSION),
    ("longmemeval-past", VERSION),
)


class Verdict(NamedTuple):
    """What an ingredient is worth.

    Attributes:
        group: What it belongs to.
        name: The ingredient.
        earned: Where something is surely lost without it, most first, and how much.
        cost: Where something is surely won without it.
    """

    group: str
    name: str
    earned: list[tuple[float, str]]
    cost: list[tuple[float, str]]

    @property
    def text(self) -> str:
        """The verdict in a word."""
        if self.earned and self.cost:
            return "mixed"
        if self.earned:
            return "earns its place"
        return "costs" if self.cost else "no effect that is sure"


def verdicts(found: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield what each ingredient is worth, in the order of the ablations."""
    for (group, name), rows in _by_ablation(found).items():
        earned, cost = [], []
        for row in rows:
            for metric in _telling(row):
                mean, low, high = row[metric]["change"]
                place = f"{_place(row)}, {metric}"
                if high < 0:
                    earned.append((mean, place))
                elif low > 0:
                    cost.append((mean, place))
        yield Verdict(group, name, sorted(earned), sorted(cost, reverse=True))


def verdicts_table(found: Mapping[str, Any]) -> str:
    """Return what each ingredient is worth, with the clearest places."""
    lines = [
        (
            f"{verdict.group}: {verdict.name}",
            verdict.text,
            _clearest(verdict.earned),
            _clearest(verdict.cost),
        )
        for verdict in verdicts(found)
    ]
    head = ("ingredient", "", "lost most without it", "won most without it")
    return table(head, lines) if lines else ""


def changes_table(found: Mapping[str, Any], embedder: str | None) -> str:
    """Return the changes of the metrics of all ablations in one mode.

    Args:
        found: The results of a run.
        embedder: The embedder of hybrid search, `None` for words alone.
    """
    by_place: dict[tuple[str, str], dict[str, Row]] = {}
    for row in _in_order(found):
        if row["embedder"] == embedder and row["kind"] == ALL:
            places = by_place.setdefault((row["group"], row["ablation"]), {})
            places[row["set"]] = row
    if not by_place:
        return ""
    measured = [
        (given, metric)
        for given, metric in _COLUMNS
        if any(metric in rows.get(given, ()) for rows in by_place.values())
    ]
    full = [
        next(
            number(rows[given][metric]["full"])
            for rows in by_place.values()
            if given in rows
        )
        for given, metric in measured
    ]
    head = ("without", *(f"{given}, {metric}" for given, metric in measured))
    lines = [("*nothing: the ranking as it is*", *full)]
    for (_, name), rows in by_place.items():
        cells = (_cell(rows.get(given), metric) for given, metric in measured)
        lines.append((name, *cells))
    return table(head, lines)


def kinds_changes_table(found: Mapping[str, Any]) -> str:
    """Return the changes of our own questions that an ingredient is made for."""
    lines = [
        (
            row["ablation"],
            f"{row['kind']} ({row['questions']})",
            row["embedder"] or "words",
            number(row["hit@1"]["full"]),
            _cell(row, "hit@1"),
            _cell(row, "recall@10"),
        )
        for row in _in_order(found)
        if row["kind"] != ALL and row["embedder"] in {None, MAIN}
    ]
    head = ("without", "questions", "", "hit@1 with it", "hit@1", "recall@10")
    return table(head, sorted(lines, key=lambda line: line[1])) if lines else ""


def fusion_table(found: Mapping[str, Any]) -> str:
    """Return the changes of recall@10 of what fuses, under every embedder."""
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    sets: dict[str, None] = {}
    for row in _in_order(found):
        if row["group"] == "fusion" and row["kind"] == ALL:
            sets.setdefault(row["set"])
            place = cells.setdefault((row["embedder"], row["ablation"]), {})
            place[row["set"]] = row
    lines = [
        (embedder, name, *(_cell(rows.get(given), "recall@10") for given in sets))
        for (embedder, name), rows in sorted(cells.items(), key=lambda item: item[0][0])
    ]
    return table(("embedder", "without", *sets), lines) if lines else ""


def pairs_table(found: Mapping[str, Any]) -> str:
    """Return what a threshold keeps and rejects without an ingredient of the fusion."""
    lines = [
        (
            row["embedder"],
            row["ablation"],
            row["place"],
            number(row["kept"][0]),
            number(row["rejected"][0]),
        )
        for row in found.get("ablation_pairs", ())
    ]
    full = [
        (
            row["contestant"].rpartition(", ")[2],
            "*nothing*",
            row["place"],
            number(row["kept"][0]),
            number(row["rejected"][0]),
        )
        for row in found.get("thresholds", ())
        if row["language"] == ALL and ", hybrid, " in row["contestant"]
    ]
    head = ("embedder", "without", "memories", "paraphrases kept", "unrelated rejected")
    return table(head, sorted([*full, *lines], key=lambda line: line[0]))


def _in_order(found: Mapping[str, Any]) -> list[Row]:
    """Return the rows in the order in which the ablations are declared."""
    names = [ablation.name for ablation in ABLATIONS]
    return sorted(
        (row for row in found.get("ablations", ()) if row["ablation"] in names),
        key=lambda row: names.index(row["ablation"]),
    )


def _by_ablation(found: Mapping[str, Any]) -> dict[tuple[str, str], list[Row]]:
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in _in_order(found):
        grouped.setdefault((row["group"], row["ablation"]), []).append(row)
    return grouped


def _telling(row: Row) -> Iterator[str]:
    """Yield the metrics that count for a verdict: one per set, hit@1 on our own."""
    yield "recall@10"
    if row["set"] == "ours":
        yield "hit@1"
    if VERSION in row:
        yield VERSION


def _place(row: Row) -> str:
    kind = "" if row["kind"] == ALL else f" ({row['kind']})"
    return f"{row['set']}{kind}, {row['embedder'] or 'words'}"


def _clearest(places: Sequence[tuple[float, str]]) -> str:
    if not places:
        return NONE
    mean, place = places[0]
    more = f"; {len(places) - 1} more" if len(places) > 1 else ""
    return f"{mean:+.1f} {place}{more}"


def _cell(row: Row | None, metric: str) -> str:
    if row is None or metric not in row:
        return NONE
    mean, low, high = row[metric]["change"]
    if low == high == 0:
        return "0"
    text = f"{mean:+.1f} ({low:+.1f}…{high:+.1f})"
    return f"**{text}**" if low > 0 or high < 0 else text
