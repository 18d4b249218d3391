"""What all tests share: our engines, and who may use the network."""

from pathlib import Path

import pytest

ENGINES = {
    "memory": lambda folder, name: "memory://",
    "sqlite": lambda folder, name: f"sqlite:///{folder / name}.db",
}
"""Every engine that must show one and the same behaviour: name → URL of a store."""


@pytest.fixture(params=ENGINES)
def engine(request):
    """The name of an engine; a test that asks for it runs on each."""
    return request.param


@pytest.fixture
def make_store(engine, tmp_path):
    """Open stores on the engine under test, and close them afterwards.

    Takes the options of `MemoryStore`. A second call with the same `name` opens the
    same data again where the engine is durable.
    """
    from langchain_agentmemory import MemoryStore  # noqa: PLC0415 - only where needed

    opened = []

    def make(name="store", **options):
        store = MemoryStore.from_url(ENGINES[engine](tmp_path, name), **options)
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def no_blocking():
    """Fail when code of this package blocks the event loop that it runs in."""
    from blockbuster import blockbuster_ctx  # noqa: PLC0415 - only where needed

    with blockbuster_ctx("langchain_agentmemory"):
        yield


def pytest_collection_modifyitems(config, items):
    """Let tests that talk to services or kernels reach the network.

    Tests with a real model are left out unless `-m` asks for them.
    """
    if "local_llm" not in config.getoption("markexpr"):
        unasked = [item for item in items if item.get_closest_marker("local_llm")]
        items[:] = [item for item in items if item not in unasked]
        if unasked:
            config.hook.pytest_deselected(items=unasked)
    for item in items:
        path = Path(item.path)
        if "integration_tests" in path.parts or path.suffix == ".ipynb":
            item.add_marker(pytest.mark.enable_socket)
