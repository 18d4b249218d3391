"""Which tools there are: enabled for the store, exposed to the agent.

A tool that is not enabled does nothing for anybody, the extractor included. An enabled
tool is shown to the agent, or, beside an extractor, only if it is also exposed. This
module decides and builds nothing, so that it can be asked without loading LangChain's
tools.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

TOOL_NAMES: Final = (
    "memory_add",
    "memory_clear",
    "memory_delete",
    "memory_load",
    "memory_search",
    "memory_update",
)
"""All there are, sorted."""

Switches = Mapping[str, bool] | Iterable[str] | None
"""Names to switch on, or names mapped to on and off; others stay as they are."""

_ALONE: Final = frozenset(
    {"memory_add", "memory_update", "memory_search", "memory_load"}
)
_BESIDE_EXTRACTOR: Final = frozenset(
    {"memory_add", "memory_update", "memory_delete", "memory_search"}
)
_READ_TOOLS: Final = frozenset({"memory_search", "memory_load"})


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """Which tools are enabled and which of them an agent gets.

    Attributes:
        enabled: Tools that work at all; also what the extractor may do.
        shown: Tools that would be exposed if they were enabled.
    """

    enabled: frozenset[str]
    shown: frozenset[str]

    @property
    def exposed(self) -> tuple[str, ...]:
        """The tools that an agent gets, sorted by name."""
        return tuple(sorted(self.enabled & self.shown))

    def adjusted(
        self, *, enable: Switches = (), disable: Switches = (), expose: Switches = ()
    ) -> "ToolSelection":
        """Return the selection with the switches of one call on top.

        Exposing a tool that is not enabled has no effect, and `disable` wins.

        Raises:
            InvalidInput: If a name is not one of the six.
        """
        off = {name for name, on in switches(disable, "disable").items() if on}
        return replace(
            self,
            enabled=_switched(self.enabled, switches(enable, "enable")) - off,
            shown=_switched(self.shown, switches(expose, "expose")),
        )


def select_tools(
    *,
    has_extractor: bool,
    enabled: Switches = None,
    exposed: Switches = None,
    custom: Iterable[str] = (),
) -> ToolSelection:
    """Decide which tools are enabled and exposed.

    | | alone | beside an extractor |
    |---|---|---|
    | enabled | add, update, search, load | add, update, delete, search |
    | exposed | all enabled | search and load, if enabled |

    Args:
        has_extractor: Whether memories are also extracted automatically.
        enabled: Switches on top of the first row.
        exposed: Switches on top of the second row. Off hides an enabled tool.
        custom: Names of tools that are replaced by custom ones; this enables them,
            unless `enabled` switches them off.

    Raises:
        InvalidInput: If a name is not one of the six.
    """
    defaults = _BESIDE_EXTRACTOR if has_extractor else _ALONE
    shown = _READ_TOOLS if has_extractor else frozenset(TOOL_NAMES)
    replaced = switches(tuple(custom), "custom_tools")
    return ToolSelection(
        enabled=_switched(defaults, {**replaced, **switches(enabled, "enabled_tools")}),
        shown=_switched(shown, switches(exposed, "exposed_tools")),
    )


def switches(given: Switches, argument: str) -> dict[str, bool]:
    """Return the switches as a mapping, after checking the names.

    Raises:
        InvalidInput: If a name is not one of the six, or a switch is no truth value.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        given = (given,)
    names: object = given
    if not isinstance(names, Iterable):
        msg = (
            f"{argument} takes names of tools, such as ['memory_delete'], or a dict of "
            f"names and True or False, not {quoted(given)}."
        )
        raise InvalidInput(msg)
    try:
        pairs: dict[Any, Any] = (
            dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, True)
        )
    except TypeError as error:  # a list of lists, say
        msg = f"{argument} takes names of tools, not {quoted(given)}."
        raise InvalidInput(msg) from error
    for name, on in pairs.items():
        if name not in TOOL_NAMES:
            msg = (
                f"{argument}: there is no tool {quoted(name)}. The tools are "
                f"{', '.join(TOOL_NAMES)}."
            )
            raise InvalidInput(msg)
        if not isinstance(on, bool):
            msg = f"{argument}: {name} must be True or False, not {quoted(on)}."
            raise InvalidInput(msg)
    return pairs


def _switched(names: frozenset[str], by_name: Mapping[str, bool]) -> frozenset[str]:
    on = {name for name, switch in by_name.items() if switch}
    return frozenset((names | on) - (by_name.keys() - on))
