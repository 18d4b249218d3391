"""Filters on values: one evaluator for every engine.

A filter maps fields to conditions, all of which must hold:

* `{"kind": "fact"}`: the field equals the value. A dict without operators matches a
  dict that has at least these fields: `{"owner": {"name": "Ann"}}`.
* `{"n": {"$gt": 5, "$lte": 9}}`: operators `$eq $ne $gt $gte $lt $lte $in $nin $exists
  $not`.
* `{"$or": [{...}, {...}]}`, `$and`, and `{"$not": {...}}` combine whole filters.

A field is a key or a dotted path, `owner.name` or `tags.0`. A key that itself contains
a dot is found first.

Values are compared by type: `True` is not 1, 1 equals 1.0, numbers are ordered as
numbers, dates (ISO 8601, or `datetime` in the filter) as points in time, other text
alphabetically. Values of different types are unequal and unordered.

A missing field equals nothing, not even `None`, and is ordered with nothing: only
`$ne`, `$nin`, `$not` and `{"$exists": False}` hold for it.
"""

import operator
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.values import check_nesting

Predicate = Callable[[Any], bool]

_MISSING: Final = object()
_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
# Filters never become part of a statement here. Such keys are refused all the same:
# they are attempts at injection, or mistakes, and LangGraph's own stores refuse them.
_SUSPICIOUS: Final = re.compile(r"['\"\\`;\x00-\x1f]")

OPERATORS: Final = ("$eq", "$ne", *_ORDER, "$in", "$nin", "$exists", "$not")


def compile_filter(given: Mapping[str, Any] | None) -> Predicate | None:
    """Return the test that a filter stands for, `None` for an empty filter.

    Raises:
        InvalidInput: If the filter is not a dict, names an unknown operator, or gives
            an operator something that it cannot use.
    """
    if not given:
        return None
    check_nesting("The filter", given)
    return _all_of(_conditions(given))


def _conditions(given: object) -> list[Predicate]:
    if not isinstance(given, Mapping):
        msg = f"A filter must be a dict, not {type(given).__name__}."
        raise InvalidInput(msg)
    return [_condition(name, wanted) for name, wanted in given.items()]


def _condition(name: str, wanted: Any) -> Predicate:
    if name in {"$and", "$or"}:
        if not isinstance(wanted, list | tuple) or not wanted:
            msg = f"{name} takes a non-empty list of filters."
            raise InvalidInput(msg)
        parts = [_all_of(_conditions(part)) for part in wanted]
        return _all_of(parts) if name == "$and" else _any_of(parts)
    if name == "$not":
        inner = _all_of(_conditions(wanted))
        return lambda value: not inner(value)
    if not isinstance(name, str) or name.startswith("$"):
        msg = (
            f"{quoted(name)} is not an operator that combines filters: use $and, $or "
            f"or "
            f"$not here; {', '.join(OPERATORS)} go below a field."
        )
        raise InvalidInput(msg)
    if _SUSPICIOUS.search(name):
        msg = (
            f"Invalid filter key {quoted(name)}: a field name has no quotes, "
            f"backslashes or "
            f"control characters."
        )
        raise InvalidInput(msg)
    test = _test(wanted)
    path = tuple(name.split("."))
    if len(path) == 1:
        return lambda value: test(value.get(name, _MISSING))
    return lambda value: test(_find(value, name, path))


def _find(value: dict[str, Any], name: str, path: tuple[str, ...]) -> Any:
    if name in value:
        return value[name]
    found: Any = value
    for step in path:
        if isinstance(found, dict):
            found = found.get(step, _MISSING)
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return _MISSING
    return found


def _test(wanted: Any) -> Predicate:
    if not isinstance(wanted, Mapping):
        return _equals(wanted)
    operators = [name for name in wanted if isinstance(name, str) and name[:1] == "$"]
    if not operators:
        if not wanted:
            return _equals(wanted)
        inner = _all_of(_conditions(wanted))
        return lambda found: isinstance(found, dict) and inner(found)
    if len(operators) != len(wanted):
        msg = (
            f"Operators and fields cannot be mixed in one condition: {quoted(wanted)}."
        )
        raise InvalidInput(msg)
    return _all_of([_operator(name, operand) for name, operand in wanted.items()])


def _operator(name: str, operand: Any) -> Predicate:
    if name == "$eq":
        return _equals(operand)
    if name == "$ne":
        return _negated(_equals(operand))
    if name in _ORDER:
        return _ordered(_ORDER[name], operand)
    if name in {"$in", "$nin"}:
        if not isinstance(operand, list | tuple | set | frozenset):
            msg = f"{name} takes a list of values, not {type(operand).__name__}."
            raise InvalidInput(msg)
        inside = _any_of([_equals(choice) for choice in operand])
        return inside if name == "$in" else _negated(inside)
    if name == "$exists":
        if not isinstance(operand, bool):
            msg = "$exists takes True or False."
            raise InvalidInput(msg)
        return lambda found: (found is not _MISSING) is operand
    if name == "$not":
        return _negated(_test(operand))
    msg = f"Unknown filter operator {quoted(name)}: use one of {', '.join(OPERATORS)}."
    raise InvalidInput(msg)


def _negated(test: Predicate) -> Predicate:
    return lambda found: not test(found)


def _all_of(parts: list[Predicate]) -> Predicate:
    if len(parts) == 1:
        return parts[0]
    return lambda value: all(part(value) for part in parts)


def _any_of(parts: list[Predicate]) -> Predicate:
    return lambda value: any(part(value) for part in parts)


def _equals(wanted: Any) -> Predicate:
    if isinstance(wanted, str):
        plain = str(wanted)
        return lambda found: found == plain
    if isinstance(wanted, date):
        moment = _moment(wanted)
        return lambda found: moment is not None and _moment(found) == moment
    return lambda found: found is not _MISSING and _same(found, wanted)


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, list) and isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(
            _same(item, wanted[key]) for key, item in found.items()
        )
    return bool(found == wanted)


def _ordered(compare: Callable[[Any, Any], bool], operand: Any) -> Predicate:
    moment = _moment(operand)

    def test(found: Any) -> bool:
        if isinstance(found, bool) or isinstance(operand, bool):
            return False
        if isinstance(found, int | float) and isinstance(operand, int | float):
            return compare(found, operand)
        if not isinstance(found, str) or not isinstance(operand, str | date):
            return False
        other = _moment(found) if moment is not None else None
        if moment is not None and other is not None:
            return compare(other, moment)
        return isinstance(operand, str) and compare(found, operand)

    return test


def _moment(value: Any) -> datetime | None:
    """Read a date or a point in time; what has no zone is taken as UTC."""
    if isinstance(value, str):
        # Cheap refusal of ordinary text before the parser is asked.
        if len(value) < 8 or not value[:4].isdecimal():  # noqa: PLR2004 - YYYYMMDD
            return None
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None
