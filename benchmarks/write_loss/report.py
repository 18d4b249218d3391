"""The measured part of docs/write-loss.md."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.write_loss.counting import Share, Tally
from benchmarks.write_loss.stories import STORIES
from benchmarks.write_loss.story import Extractor

BEGIN = "<!-- written by `python -m benchmarks.write_loss`, up to the end mark -->"
END = "<!-- end of what is measured -->"

HEAD = (
    "policy",
    "extractor",
    "old details kept",
    "with history",
    "wrong merges",
    "wrong versions",
    "what holds now is current",
    "outdated is marked",
    "duplicates",
)


class Run(NamedTuple):
    """One policy with one extractor on one engine."""

    policy: str
    extractor: Extractor
    engine: str


Results = Mapping[Run, Tally]


def render(results: Results) -> str:
    """Return the measured part, between its marks."""
    sorts = Counter(story.sort for story in STORIES)
    languages = Counter(story.language for story in STORIES)
    told = ", ".join(f"{count} {sort}" for sort, count in sorted(sorts.items()))
    stories = (
        f"{len(STORIES)} stories: {languages['en']} in English, {languages['zh']} in "
        f"Chinese. By how the second visit relates to the first: {told}."
    )
    parts = [
        BEGIN,
        stories,
        _table(results),
        "### Where each falls short",
        *_shortcomings(results),
        END,
    ]
    return "\n\n".join(parts)


def rows(results: Results) -> list[tuple[Run, Tally]]:
    """Return the results, those of two engines as one where they agree."""
    merged: dict[tuple[str, Extractor], list[tuple[Run, Tally]]] = {}
    for run, tally in results.items():
        known = merged.setdefault((run.policy, run.extractor), [])
        twin = next((one for one in known if one[1] == tally), None)
        if twin is None:
            known.append((run, tally))
        else:
            both = f"{twin[0].engine}, {run.engine}"
            known[known.index(twin)] = (twin[0]._replace(engine=both), tally)
    return [row for found in merged.values() for row in found]


def _table(results: Results) -> str:
    found = rows(results)
    differ = len({run.engine for run, _ in found}) > 1
    lines = [HEAD, ("---", "---", *["--:"] * (len(HEAD) - 2))]
    for run, tally in found:
        name = f"{run.policy} ({run.engine})" if differ else run.policy
        lines.append(
            (
                name,
                run.extractor,
                str(tally.kept),
                str(tally.kept_in_history),
                _missing(tally.apart),
                _missing(tally.linked_rightly),
                str(tally.holds),
                str(tally.outdated),
                str(len(tally.duplicates)),
            )
        )
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    engines = "" if differ else f"\n\nThe same on both engines: {found[0][0].engine}."
    return table + engines


def _missing(share: Share) -> str:
    return f"{share.of - share.good} of {share.of}"


def _shortcomings(results: Results) -> Sequence[str]:
    named = (
        ("old details lost", "kept"),
        ("wrong merges", "apart"),
        ("wrong versions", "linked_rightly"),
        ("not current", "holds"),
        ("not marked as outdated", "outdated"),
    )
    blocks = []
    for run, tally in rows(results):
        lines = [
            f"* {label}: {'; '.join(getattr(tally, name).lacking)}"
            for label, name in named
            if getattr(tally, name).lacking
        ]
        if tally.duplicates:
            lines.append(f"* duplicates: {'; '.join(tally.duplicates)}")
        title = f"**{run.policy}, {run.extractor} extractor**"
        blocks.append("\n".join([title, "", *(lines or ["* nothing"])]))
    return [block.replace("|", "\\|") for block in blocks]


def measured_part(page: str) -> str:
    """Return what stands between the marks of a page, with them.

    Raises:
        ValueError: If a mark is missing.
    """
    return page[page.index(BEGIN) : page.index(END) + len(END)]


def write(path: Path, results: Results) -> None:
    """Replace the measured part of a page; the rest of it is written by hand."""
    page = path.read_text("utf-8")
    path.write_text(page.replace(measured_part(page), render(results)), "utf-8")
