"""What the six tools have in common."""

from collections.abc import Callable
from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.tools.access import Binding, StoreWrapper
from langchain_agentmemory.tools.failures import validation_text
from langchain_agentmemory.types import UserKey


class MemoryTool(BaseTool):
    """A tool for the memories of one user.

    The model never says whose memories they are: the user is given in code or found
    by `langchain_agentmemory.users.UserResolver`, and no argument can name another.
    Mistakes come back as text that the model can act on, in agents as a `ToolMessage`
    with status `"error"`. The artifact of the `ToolMessage` has the whole entries.

    Attributes:
        store: An object with the memory verbs, such as a `MemoryStore`. `None` = the
            store that the graph was compiled with.
        user: A user, a function of the runtime, a `UserResolver`, or `None` = the
            user of the run. Plain ids are users of the store's application.
        wrap: Makes a memory store of a run's store that has no memory verbs.
    """

    store: Any = Field(default=None, exclude=True, repr=False)
    user: Any = Field(default=None, exclude=True, repr=False)
    wrap: StoreWrapper | None = Field(default=None, exclude=True, repr=False)

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool | str | Callable[..., str] | None = True
    handle_validation_error: bool | str | Callable[..., str] | None = validation_text

    def target(self, runtime: Any) -> tuple[Any, UserKey]:
        """Return the store and the user of this call.

        Raises:
            InvalidInput: If there is no store with memory verbs, or the run's own
                store has this tool switched off.
            UserNotResolved: If nobody is named for this run.
        """
        binding = Binding(self.store, self.user, self.wrap)
        store = binding.find_store(runtime)
        selection = getattr(store, "tool_selection", None)
        # A store that was given has already chosen its tools; the run's own has not.
        if self.store is None and selection and self.name not in selection().enabled:
            msg = f"{self.name} is switched off in this application."
            raise InvalidInput(msg)
        return store, binding.find_user(runtime, store)
