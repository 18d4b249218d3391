"""Who is the user of a run."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import Runtime, ServerInfo
from typing_extensions import TypedDict

from langchain_agentmemory.errors import InvalidInput, UserNotResolved
from langchain_agentmemory.types import UserKey
from langchain_agentmemory.users import UserResolver, as_user_key, current_runtime


@dataclass
class Context:
    user_id: Any = None
    app_name: Any = None


class State(TypedDict, total=False):
    found: UserKey


class AuthenticatedUser(dict):
    """Like the one of the LangGraph server: attributes and keys."""

    def __init__(self, identity, *, is_authenticated=True):
        super().__init__(identity=identity)
        self.identity = identity
        self.is_authenticated = is_authenticated
        self.display_name = identity
        self.permissions = []


def runtime_of(context=None, identity=None):
    user = None if identity is None else AuthenticatedUser(identity)
    return Runtime(context=context, server_info=ServerInfo("assistant", "graph", user))


def configured(**values):
    return {"configurable": values}


def graph_of(resolver, **options):
    """A graph of one node that asks the resolver without passing anything."""

    def node(_: State) -> State:
        return {"found": resolver.resolve()}

    builder = StateGraph(State, **options)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("alice", UserKey("default", "alice")),
        (7, UserKey("default", "7")),
        (UserKey("shop", "bob"), UserKey("shop", "bob")),
        (lambda _: "小明", UserKey("default", "小明")),
        (lambda _: UserKey("shop", "bob"), UserKey("shop", "bob")),
    ],
)
def test_a_user_given_in_code_needs_no_run(given, expected):
    assert UserResolver(given).resolve() == expected


def test_plain_ids_are_of_the_resolvers_application():
    assert UserResolver("alice", app_name="shop").resolve() == UserKey("shop", "alice")


def test_a_function_gets_the_runtime():
    resolver = UserResolver(lambda runtime: runtime.context["customer"])
    found = resolver.resolve(Runtime(context={"customer": "c-1"}))
    assert found == UserKey("default", "c-1")


def test_a_user_given_in_code_wins_over_everything_else():
    runtime = runtime_of(Context("client"), "authenticated")
    config = configured(user_id="configured")
    assert UserResolver("code").resolve(runtime, config).user_id == "code"


@pytest.mark.parametrize(
    ("runtime", "config", "expected"),
    [
        (runtime_of(None, "auth"), configured(), "auth"),
        (None, configured(langgraph_auth_user=AuthenticatedUser("auth")), "auth"),
        (None, configured(langgraph_auth_user={"identity": "auth"}), "auth"),
        (None, configured(langgraph_auth_user_id="auth"), "auth"),
        (runtime_of(Context("ctx")), configured(user_id="conf"), "ctx"),
        (runtime_of({"user_id": "ctx"}), configured(), "ctx"),
        (None, configured(user_id="conf", langgraph_user_id="lg"), "conf"),
        (None, configured(user_id=7), "7"),
        (None, configured(langgraph_user_id="lg"), "lg"),
        (runtime_of(Context("")), configured(user_id="conf"), "conf"),
        (
            runtime_of(Context(None)),
            configured(user_id="", langgraph_user_id="lg"),
            "lg",
        ),
    ],
)
def test_places_are_looked_at_in_order(runtime, config, expected):
    assert UserResolver().resolve(runtime, config) == UserKey("default", expected)


def test_the_caller_can_name_the_application_too():
    found = UserResolver().resolve(runtime_of(Context("alice", "shop")), configured())
    assert found == UserKey("shop", "alice")
    found = UserResolver().resolve(config=configured(user_id="alice", app_name="shop"))
    assert found == UserKey("shop", "alice")
    mixed = runtime_of(Context(app_name="shop"))
    found = UserResolver().resolve(mixed, configured(user_id="alice"))
    assert found == UserKey("shop", "alice")


@pytest.mark.parametrize(
    ("runtime", "config"),
    [
        (runtime_of(Context("victim"), "mallory"), configured()),
        (runtime_of({"user_id": "victim"}, "mallory"), configured()),
        (runtime_of(None, "mallory"), configured(user_id="victim")),
        (runtime_of(None, "mallory"), configured(langgraph_user_id="victim")),
        (runtime_of(Context("mallory"), "mallory"), configured(user_id="victim")),
        (None, configured(langgraph_auth_user_id="mallory", user_id="victim")),
        (
            None,
            configured(langgraph_auth_user={"identity": "mallory"}, user_id="victim"),
        ),
        # The same id in another application is somebody else.
        (runtime_of(Context("mallory", "bank"), "mallory"), configured()),
        (runtime_of(Context(app_name="bank"), "mallory"), configured()),
        (runtime_of(None, "mallory"), configured(app_name="bank")),
        (runtime_of(Context(UserKey("bank", "mallory")), "mallory"), configured()),
    ],
)
def test_an_authenticated_caller_cannot_name_somebody_else(runtime, config):
    with pytest.raises(UserNotResolved, match="trust_client_user"):
        UserResolver().resolve(runtime, config)


def test_an_authenticated_caller_may_name_itself():
    runtime = runtime_of(Context("alice", "shop"), "alice")
    resolver = UserResolver(app_name="shop")
    assert resolver.resolve(runtime, configured(user_id="alice")).user_id == "alice"


def test_a_trusted_service_names_its_own_users():
    resolver = UserResolver(trust_client_user=True)
    runtime = runtime_of(Context("end-user", "shop"), "service")
    assert resolver.resolve(runtime) == UserKey("shop", "end-user")
    assert resolver.resolve(runtime_of(None, "service")).user_id == "service"


def test_somebody_who_is_not_authenticated_does_not_count():
    nobody = AuthenticatedUser("guest", is_authenticated=False)
    runtime = Runtime(
        context=Context("alice"), server_info=ServerInfo("a", "g", nobody)
    )
    assert UserResolver().resolve(runtime, configured()).user_id == "alice"


def test_a_server_user_without_identity_does_not_count():
    class Unauthenticated:
        is_authenticated = False

        @property
        def identity(self):
            raise NotImplementedError

    runtime = Runtime(
        context=Context("alice"), server_info=ServerInfo("a", "g", Unauthenticated())
    )
    assert UserResolver().resolve(runtime, configured()).user_id == "alice"


def test_nobody_is_an_error_that_names_the_places():
    with pytest.raises(UserNotResolved) as caught:
        UserResolver().resolve()
    for place in ("server_info.user", "context", "user_id", "langgraph_user_id"):
        assert place in str(caught.value)


def test_a_function_that_knows_nobody_is_an_error_and_no_default():
    with pytest.raises(UserNotResolved, match="None"):
        UserResolver(lambda _: None).resolve(runtime_of(Context("alice")))


def test_a_coroutine_function_is_refused():
    async def find(_):
        return "alice"

    with pytest.raises(InvalidInput, match="ordinary function"):
        UserResolver(find).resolve()


@pytest.mark.parametrize("bad", ["", True, 1.5, ["alice"], b"alice"])
def test_what_is_no_id_is_refused_when_the_resolver_is_made(bad):
    with pytest.raises(InvalidInput):
        UserResolver(bad)
    with pytest.raises(InvalidInput):
        UserResolver(app_name=bad)


@pytest.mark.parametrize("bad", [True, 1.5, ["alice"], {"id": "alice"}])
def test_what_is_no_id_is_refused_in_a_run_and_never_skipped(bad):
    config = configured(user_id=bad, langgraph_user_id="somebody")
    with pytest.raises(InvalidInput):
        UserResolver().resolve(config=config)


def test_a_tool_runtime_brings_its_own_config():
    runtime = ToolRuntime(
        state={},
        context=None,
        config=configured(user_id="alice"),
        stream_writer=lambda _: None,
        tool_call_id="1",
        store=None,
    )
    assert UserResolver().resolve(runtime).user_id == "alice"


def test_a_node_finds_the_user_of_its_run_without_arguments():
    graph = graph_of(UserResolver())
    assert graph.invoke({}, configured(user_id="alice"))["found"].user_id == "alice"


def test_a_node_finds_the_user_in_the_context_of_its_run():
    graph = graph_of(UserResolver(), context_schema=Context)
    found = graph.invoke({}, context=Context("alice", "shop"))["found"]
    assert found == UserKey("shop", "alice")


async def test_an_async_run_finds_its_own_user():
    graph = graph_of(UserResolver(), context_schema=Context)
    found = await graph.ainvoke({}, context={"user_id": "小明"})
    assert found["found"].user_id == "小明"


def test_an_authenticated_run_refuses_another_user_in_its_context():
    graph = graph_of(UserResolver(), context_schema=Context)
    config = configured(langgraph_auth_user=AuthenticatedUser("mallory"))
    assert graph.invoke({}, config)["found"].user_id == "mallory"
    with pytest.raises(UserNotResolved):
        graph.invoke({}, config, context=Context("victim"))


def test_a_subgraph_finds_the_user_of_the_outer_run():
    inner = graph_of(UserResolver(), context_schema=Context)
    outer = StateGraph(State, context_schema=Context)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    found = outer.compile().invoke({}, context=Context("alice"))["found"]
    assert found.user_id == "alice"


def test_the_functional_api_finds_the_user_of_its_run():
    @entrypoint()
    def flow(_: int) -> UserKey:
        return UserResolver().resolve()

    assert flow.invoke(1, configured(user_id="alice")).user_id == "alice"


def test_a_bare_runnable_has_a_config_but_no_runtime():
    def ask(_):
        return current_runtime(), UserResolver().resolve()

    runtime, user = RunnableLambda(ask).invoke(1, configured(user_id="alice"))
    assert runtime is None
    assert user.user_id == "alice"


def test_outside_of_a_run_there_is_no_runtime():
    assert current_runtime() is None


def test_a_namespace_of_attributes_serves_as_a_runtime():
    runtime = SimpleNamespace(context=SimpleNamespace(user_id="alice"))
    assert UserResolver().resolve(runtime).user_id == "alice"


def test_a_plain_id_becomes_a_key_and_a_key_stays_itself():
    key = UserKey("shop", "a.b@c.org")
    assert as_user_key(key, "other") is key
    assert as_user_key(7, "shop") == UserKey("shop", "7")
