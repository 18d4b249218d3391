"""Building the tools of a selection, custom ones included."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.tools import tool as as_tool

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.tools.access import Binding, StoreWrapper, bound_to
from langchain_agentmemory.tools.read import MemoryLoadTool, MemorySearchTool
from langchain_agentmemory.tools.registry import switches
from langchain_agentmemory.tools.write import (
    MemoryAddTool,
    MemoryClearTool,
    MemoryDeleteTool,
    MemoryUpdateTool,
)
from langchain_agentmemory.users import UserResolver, UserSource

CustomTools = Mapping[str, BaseTool | Callable[..., Any]] | Iterable[BaseTool] | None
"""Tools or plain functions by the name of the built-in tool that they replace."""

_BUILT_IN: dict[str, Callable[..., BaseTool]] = {
    "memory_add": MemoryAddTool,
    "memory_clear": MemoryClearTool,
    "memory_delete": MemoryDeleteTool,
    "memory_load": MemoryLoadTool,
    "memory_search": MemorySearchTool,
    "memory_update": MemoryUpdateTool,
}


def build_tools(
    names: Iterable[str],
    *,
    store: Any = None,
    user: UserSource | UserResolver = None,
    wrap: StoreWrapper | None = None,
    custom: Mapping[str, BaseTool] | None = None,
) -> list[BaseTool]:
    """Return tools in the order of their names.

    Args:
        names: Which ones, usually `ToolSelection.exposed`.
        store: An object with the memory verbs; `None` = the run's own store.
        user: Whose memories; `None` = the user of the run.
        wrap: Makes a memory store of a run's store that has no memory verbs.
        custom: What `read_custom_tools` returned. Inside of these tools, `store_of`
            and `user_of` give the store and the user named here.

    Raises:
        InvalidInput: If a name is not one of the six.
    """
    binding = Binding(store, user, wrap)
    custom = custom or {}
    return [
        _bound(custom[name], binding)
        if name in custom
        else _BUILT_IN[name](store=store, user=user, wrap=wrap)
        for name in switches(names, "tools")
    ]


def read_custom_tools(given: CustomTools) -> dict[str, BaseTool]:
    """Return custom tools by name.

    Args:
        given: Tools, or a mapping from names to tools or plain functions. A function
            becomes a tool of that name with its docstring as description.

    Raises:
        InvalidInput: If a name is not one of the six, a tool has another name than it
            is registered under, something is neither a tool nor a function, or models
            would see its `runtime` argument.
    """
    if given is None:
        return {}
    names: object = given
    if not isinstance(names, Iterable) or isinstance(names, str):
        msg = (
            f"custom_tools takes tools, or a dict of names and tools, not "
            f"{quoted(names)}."
        )
        raise InvalidInput(msg)
    pairs = (
        given.items()
        if isinstance(given, Mapping)
        else [(getattr(one, "name", one), one) for one in given]
    )
    tools = {str(name): _read_custom(str(name), one) for name, one in pairs}
    switches(list(tools), "custom_tools")
    return tools


def _read_custom(name: str, given: Any) -> BaseTool:
    if isinstance(given, BaseTool):
        if given.name != name:
            msg = (
                f"custom_tools: the tool for {name} is named {quoted(given.name)}. "
                f"Give it "
                f"the name of the tool that it replaces."
            )
            raise InvalidInput(msg)
        return _hidden_runtime(given)
    if callable(given) and not isinstance(given, type):
        return _hidden_runtime(as_tool(name)(given))
    msg = (
        f"custom_tools: {name} must be a LangChain tool or a function, not "
        f"{type(given).__name__}."
    )
    raise InvalidInput(msg)


def _hidden_runtime(tool: BaseTool) -> BaseTool:
    if "runtime" in tool.args:
        msg = (
            f"custom_tools: models would see the runtime argument of {tool.name}. "
            f"Annotate it as `runtime: Annotated[Any, InjectedToolArg] = None`, or "
            f"leave it out: store_of() and user_of() find the run by themselves."
        )
        raise InvalidInput(msg)
    return tool


def _bound(tool: BaseTool, binding: Binding) -> BaseTool:
    """Return a copy of a tool that runs inside of a binding.

    The copy is of a subclass, because every way to call a tool ends in its `run` or
    `arun`, and LangChain looks at the rest of the class to find injected arguments.
    """
    kind: Any = type(tool)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with bound_to(binding):
            return kind.run(self, *args, **kwargs)

    async def arun(self: Any, *args: Any, **kwargs: Any) -> Any:
        with bound_to(binding):
            return await kind.arun(self, *args, **kwargs)

    members = {"run": run, "arun": arun, "__module__": kind.__module__}
    copy = tool.model_copy()
    object.__setattr__(copy, "__class__", type(kind.__name__, (kind,), members))
    return copy
