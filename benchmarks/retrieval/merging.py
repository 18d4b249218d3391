"""Results of several runs as one: what was measured anew replaces what was before."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, get_args

from benchmarks.retrieval.contestants import Family

_IDENTITY: Final[Mapping[str, tuple[str, ...]]] = {
    "contestants": ("name",),
    "sets": ("name",),
    "rows": ("set", "contestant", "kind"),
    "updates": ("set", "contestant", "asks"),
    "differences": ("set", "contestant", "other"),
    "calibration": ("set", "contestant"),
    "thresholds": ("contestant", "place", "language"),
    "ablations": ("ablation", "set", "embedder", "kind"),
    "ablation_pairs": ("ablation", "embedder", "place"),
}
"""What a row of each list is about."""


def merged(earlier: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of an earlier run with those of a new one.

    A run of some contestants, embedders, sets or parts leaves all others as they were.
    Only results of one state of the package belong together.

    Args:
        earlier: What an earlier run gave.
        new: What the new one gave.
    """
    found = {**earlier, **new}
    if "embedders" in earlier and "embedders" in new:
        found["embedders"] = {**earlier["embedders"], **new["embedders"]}
    for name, identity in _IDENTITY.items():
        if name in earlier and name in new:
            found[name] = _rows(earlier[name], new[name], identity)
    _put_in_order(found)
    return found


def _put_in_order(found: dict[str, Any]) -> None:
    """Sort contestants by what they are to us, and all rows by them."""
    families = list(get_args(Family))
    contestants = found.get("contestants", [])
    contestants.sort(key=lambda contestant: families.index(contestant["family"]))
    places = {contestant["name"]: n for n, contestant in enumerate(contestants)}
    sets = {given["name"]: n for n, given in enumerate(found.get("sets", ()))}
    for rows in (found[name] for name in _IDENTITY if name in found):
        if rows and "contestant" in rows[0]:
            rows.sort(
                key=lambda row: (
                    sets.get(row.get("set"), 0),
                    places.get(row["contestant"], len(places)),
                )
            )


def _rows(
    earlier: Sequence[Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
    identity: Sequence[str],
) -> list[Mapping[str, Any]]:
    """Return all rows, those measured anew in the place of the old ones."""
    rows: dict[Hashable, Mapping[str, Any]] = {}
    for row in (*earlier, *new):
        rows[tuple(row[name] for name in identity)] = row
    return list(rows.values())
