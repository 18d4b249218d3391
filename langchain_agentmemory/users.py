"""Who is the user of this run.

Tools, nodes and middleware all ask one `UserResolver`, so that a run can never read
one user's memories and write another's. There is no default user: when nobody is
named, that is an error.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from langchain_core.runnables.config import (
    RunnableConfig,
    set_config_context,
    var_child_runnable_config,
)

from langchain_agentmemory.errors import InvalidInput, UserNotResolved
from langchain_agentmemory.quoting import quoted
from langchain_agentmemory.types import User, UserKey

DEFAULT_APP_NAME = "default"

PLACES = (
    "the user given in code, the authenticated user (runtime.server_info.user, "
    'configurable["langgraph_auth_user"]), runtime.context.user_id, '
    'configurable["user_id"], configurable["langgraph_user_id"]'
)
"""Where a user is looked for, in this order."""

UserSource = User | Callable[[Any], User] | None
"""A user, or a function that gets the run's runtime (or `None`) and names the user."""


@dataclass(frozen=True, slots=True)
class UserResolver:
    """Finds the user of a run.

    The first of these that names somebody is the user:

    1. `user`, given in code: a user, or a function of the runtime;
    2. the user that the server authenticated: `runtime.server_info.user`, or
       `langgraph_auth_user` / `langgraph_auth_user_id` among the configurable values;
    3. `runtime.context`: `user_id` and optionally `app_name`, attributes or keys;
    4. `config["configurable"]`: `user_id` and optionally `app_name`;
    5. `config["configurable"]["langgraph_user_id"]`.

    Places 3 to 5 are filled in by the caller of the run. If the server authenticated
    somebody and one of them names anybody else (another id, or the same id in another
    application), the run is refused.

    Args:
        user: A user, or a function that is called with the runtime, or with `None`
            outside of a graph, and returns the user.
        app_name: The application of users that are named by a plain id: the store's
            where a store is at hand, else `"default"`, if not given.
        trust_client_user: Let the caller of an authenticated run name the user, for
            callers that are services acting for their own users.

    Raises:
        InvalidInput: If `user` or `app_name` cannot be used.

    Example:
        ```python
        from langchain_agentmemory import UserKey
        from langchain_agentmemory.users import UserResolver

        assert UserResolver("alice").resolve() == UserKey("default", "alice")

        config = {"configurable": {"user_id": 7}}
        assert UserResolver().resolve(config=config) == UserKey("default", "7")
        ```
    """

    user: UserSource = None
    app_name: str | None = field(default=None, kw_only=True)
    trust_client_user: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse unusable arguments now, not in the middle of a run."""
        given = self.user
        probe: User = "anybody" if given is None or callable(given) else given
        as_user_key(probe, self._app)

    @property
    def _app(self) -> str:
        return DEFAULT_APP_NAME if self.app_name is None else self.app_name

    def beside(self, store: object) -> "UserResolver":
        """Return this resolver with the application of a store, unless it has its own.

        Tools, nodes and middleware all ask here, so that they mean the same user.
        """
        app_name = getattr(store, "app_name", None)
        if self.app_name is not None or app_name is None:
            return self
        return replace(self, app_name=app_name)

    def resolve(
        self, runtime: Any = None, config: Mapping[str, Any] | None = None
    ) -> UserKey:
        """Return the user of this run.

        Args:
            runtime: A LangGraph `Runtime` or `ToolRuntime`. Without it, that of the
                node or tool that is running now, if any.
            config: A `RunnableConfig`. Without it, the runtime's own, else that of the
                node or tool that is running now, if any.

        Raises:
            UserNotResolved: If nobody is named, or the caller of an authenticated run
                names somebody else.
            InvalidInput: If somebody is named by something that is no id.
        """
        if self.user is not None and not callable(self.user):
            return as_user_key(self.user, self._app)
        runtime = current_runtime() if runtime is None else runtime
        if self.user is not None:
            return self._from_function(self.user, runtime)
        configurable = _configurable(runtime, config)
        claims = _claims(runtime, configurable)
        authenticated = _authenticated_id(runtime, configurable)
        if authenticated is not None:
            known = as_user_key(authenticated, self._app)
            return self._checked(known, claims)
        for claim in claims:
            if claim.user_id is not None:
                return self._claimed(claim.user_id, claim, claims)
        msg = (
            f"No user is named for this run. Looked at, in this order: {PLACES}. Pass "
            f"context=Context(user_id=...) or "
            f'config={{"configurable": {{"user_id": ...}}}} when invoking, or '
            f"user=... where the memory is set up."
        )
        raise UserNotResolved(msg)

    def _from_function(self, function: Callable[[Any], User], runtime: Any) -> UserKey:
        found: Any = function(runtime)
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            msg = "The user function must be an ordinary function, not a coroutine."
            raise InvalidInput(msg)
        if found is None:
            msg = (
                "The user function returned None: return a user id or a UserKey. "
                "There is no default user."
            )
            raise UserNotResolved(msg)
        return as_user_key(found, self._app)

    def _checked(self, known: UserKey, claims: list["_Claim"]) -> UserKey:
        """Compare the authenticated user with what the caller of the run claims."""
        for claim in claims:
            named = known.user_id if claim.user_id is None else claim.user_id
            claimed = self._claimed(named, claim, claims)
            if self.trust_client_user and claim.user_id is not None:
                return claimed
            if claimed != known and not self.trust_client_user:
                msg = (
                    f"The authenticated user is {quoted(known, 200)}, but "
                    f"{claim.place} "
                    f"names {quoted(claimed, 200)}. Leave it out, or set "
                    f"trust_client_user=True if "
                    f"callers of this graph may act for other users."
                )
                raise UserNotResolved(msg)
        return known

    def _claimed(
        self, user_id: Any, claim: "_Claim", claims: list["_Claim"]
    ) -> UserKey:
        apps = (claim.app_name, *(other.app_name for other in claims), self._app)
        return as_user_key(user_id, next(app for app in apps if app is not None))


def as_user_key(user: User, app_name: str = DEFAULT_APP_NAME) -> UserKey:
    """Return the `UserKey` that a user argument means.

    Args:
        user: A `UserKey`, or the plain id of a user of `app_name`.
        app_name: The application of plain ids.

    Raises:
        InvalidInput: If it is neither a `UserKey` nor a non-empty text nor an integer.
    """
    return user if isinstance(user, UserKey) else UserKey(app_name, user)


def current_runtime() -> Any:
    """Return the LangGraph runtime of what is running now, `None` outside of a graph.

    Context does not follow into threads that user code starts itself, unless it is
    copied there with `contextvars.copy_context().run`.
    """
    if not var_child_runnable_config.get():
        return None
    # Inside a graph it is loaded already; elsewhere it would cost 0.35 s of CPU.
    from langgraph.runtime import Runtime, get_runtime  # noqa: PLC0415

    try:
        found: object = get_runtime()
    except (RuntimeError, KeyError):  # a bare Runnable, without a graph around it
        return None
    # Outside of a graph whoever sends the config could have written it.
    return found if isinstance(found, Runtime) else None


def runtime_in(config: Mapping[str, Any] | None) -> Any:
    """Return the LangGraph runtime of a config that was carried out of its context.

    LangGraph calls the later steps of a sequence like that. `None` if the config is
    not of a graph.
    """
    configurable = (config or {}).get("configurable") or {}
    if not any(str(key).startswith("__pregel_") for key in configurable):
        return None
    with set_config_context(cast("RunnableConfig", config)) as context:
        return context.run(current_runtime)


class _Claim(NamedTuple):
    """Whom the caller of a run names, and where; `None` = not named."""

    place: str
    user_id: Any
    app_name: Any


def _configurable(runtime: Any, config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if config is None:
        config = _read(runtime, "config") or var_child_runnable_config.get() or {}
    return config.get("configurable") or {}


def _authenticated_id(runtime: Any, configurable: Mapping[str, Any]) -> Any:
    users = (
        _read(_read(runtime, "server_info"), "user"),
        configurable.get("langgraph_auth_user"),
    )
    for user in users:
        if _read(user, "is_authenticated") is not False:
            identity = _read(user, "identity")
            if identity is not None:
                return identity
    return _given(configurable.get("langgraph_auth_user_id"))


def _claims(runtime: Any, configurable: Mapping[str, Any]) -> list[_Claim]:
    context = _read(runtime, "context")
    claims = [
        _Claim("runtime.context", *_user_and_app(context)),
        _Claim('configurable["user_id"]', *_user_and_app(configurable)),
        _Claim(
            'configurable["langgraph_user_id"]',
            _read(configurable, "langgraph_user_id"),
            None,
        ),
    ]
    return [claim for claim in claims if claim[1:] != (None, None)]


def _user_and_app(holder: Any) -> tuple[Any, Any]:
    return _read(holder, "user_id"), _read(holder, "app_name")


def _read(holder: Any, name: str) -> Any:
    """Return an attribute or key, `None` when it is missing or empty."""
    if holder is None:
        return None
    if holder.__class__ is dict:
        return _given(holder.get(name))
    try:
        value = getattr(holder, name, None)
    except (NotImplementedError, KeyError):  # how some servers model "nobody"
        value = None
    if value is None and isinstance(holder, Mapping):
        value = holder.get(name)
    return _given(value)


def _given(value: Any) -> Any:
    return None if isinstance(value, str) and not value else value
