"""LangGraph's operations, checked before anything is read or written."""

from collections.abc import Iterable
from typing import Final

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
    validate_op_namespace,  # raises InvalidNamespaceError
)

from langchain_agentmemory.backends.base import Namespace
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.service.settings import check_count
from langchain_agentmemory.service.values import check_key, check_labels

_MATCH_TYPES: Final = ("prefix", "suffix")


def checked_all(ops: Iterable[Op]) -> list[Op]:
    """Return operations that can be carried out.

    Raises:
        InvalidInput: If one of them cannot, or they are no operations at all.
        InvalidNamespaceError: LangGraph's own, for labels that it forbids.
    """
    given: object = ops
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"batch takes a list of operations, not {quoted(given)}."
        raise InvalidInput(msg)
    return [checked(op) for op in ops]


def checked(op: Op) -> Op:
    """Return an operation whose labels, keys and bounds can be used.

    Raises:
        InvalidInput: If they cannot.
        InvalidNamespaceError: LangGraph's own, for labels that it forbids.
    """
    if isinstance(op, SearchOp):
        return _checked_search(op)
    if isinstance(op, ListNamespacesOp):
        return _checked_listing(op)
    if isinstance(op, PutOp):
        return _checked_put(op)
    given: object = op
    if not isinstance(given, GetOp):
        msg = (
            f"Unknown operation type: {type(given)}. Use GetOp, PutOp, SearchOp or "
            f"ListNamespacesOp."
        )
        raise InvalidInput(msg)
    op = given._replace(namespace=labels("namespace", given.namespace))
    validate_op_namespace(op)
    check_labels(op.namespace)
    check_key(op.key)
    return op


def _checked_search(op: SearchOp) -> SearchOp:
    op = op._replace(
        namespace_prefix=labels("namespace_prefix", op.namespace_prefix),
        limit=check_count("limit", op.limit),
        offset=check_count("offset", op.offset),
    )
    validate_op_namespace(op)
    check_labels(op.namespace_prefix)
    query: object = op.query
    if query is not None and not isinstance(query, str):
        msg = f"query must be text, not {type(query).__name__}."
        raise InvalidInput(msg)
    return op


def _checked_listing(op: ListNamespacesOp) -> ListNamespacesOp:
    conditions = checked_conditions(op.match_conditions)
    op = op._replace(
        match_conditions=conditions,
        limit=check_count("limit", op.limit),
        offset=check_count("offset", op.offset),
    )
    validate_op_namespace(op)
    depth: object = op.max_depth
    if depth is not None and (
        isinstance(depth, bool) or not isinstance(depth, int) or depth < 1
    ):
        msg = f"max_depth must be None or a positive integer, not {quoted(depth)}."
        raise InvalidInput(msg)
    return op


def _checked_put(op: PutOp) -> PutOp:
    op = op._replace(namespace=labels("namespace", op.namespace))
    if not op.namespace:
        msg = "Namespace cannot be empty."
        raise InvalidNamespaceError(msg)
    validate_op_namespace(op)
    check_labels(op.namespace)
    check_key(op.key)
    fields: object = op.index
    if fields is not None and fields is not False and not isinstance(fields, list):
        if isinstance(fields, tuple):
            return op._replace(index=list(fields))
        msg = (
            f"index must be None, False (not searched) or a list of field paths, not "
            f"{quoted(fields)}."
        )
        raise InvalidInput(msg)
    return op


def labels(name: str, given: object) -> Namespace:
    """Return a namespace as a tuple.

    Raises:
        InvalidInput: If it is neither a tuple nor a list.
    """
    if not isinstance(given, tuple | list):
        msg = f"{name} must be a tuple of labels such as ('notes',), not "
        raise InvalidInput(msg + f"{quoted(given)}.")
    return tuple(given)


def checked_conditions(given: object) -> tuple[MatchCondition, ...]:
    """Return the conditions that namespaces have to meet.

    A path that is a text alone, which LangGraph's own stores take, is one label.

    Raises:
        InvalidInput: If they are none, or of an unknown type.
    """
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f"match_conditions must be MatchConditions, not {quoted(given)}."
        raise InvalidInput(msg)
    conditions = []
    for condition in given:
        if not isinstance(condition, MatchCondition):
            msg = f"{quoted(condition)} is not a MatchCondition."
            raise InvalidInput(msg)
        if condition.match_type not in _MATCH_TYPES:
            msg = (
                f"Unknown match type {quoted(condition.match_type)}: use 'prefix' or "
                f"'suffix'."
            )
            raise InvalidInput(msg)
        path: object = condition.path
        alone = (path,) if isinstance(path, str) else path
        place = labels(f"the path of a {condition.match_type}", alone)
        if all(isinstance(label, str) for label in place):  # else LangGraph objects
            check_labels(place)
        conditions.append(condition._replace(path=place))
    return tuple(conditions)
