"""What a person reads is true: examples run, options exist, links lead somewhere."""

import contextlib
import io
import logging
import re
import shlex
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
import typer

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends.sqlite_schema import COLUMNS
from langchain_agentmemory.cli.app import app
from langchain_agentmemory.urls import backend_from_url

ROOT = Path(__file__).parents[2]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
PAGES = [*READMES, *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAM = "langchain-agentmemory"

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
UsageError = typer.BadParameter.__base__  # wherever typer keeps it: it varies

HEADING = re.compile(r"^(#+) ", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Fence:
    """A block of code in a page; `shown` is the output printed right below it."""

    language: str
    code: str
    line: int
    shown: str | None


def fences(text):
    found = []
    matches = list(FENCE.finditer(text))
    for match, after in pairwise([*matches, None]):
        follows = after is not None and not text[match.end() : after.start()].strip()
        shown = after[2] if follows and after[1] == "text" else None
        line = text.count("\n", 0, match.start(2))
        found.append(Fence(match[1], match[2], line, shown))
    return found


def prose(text):
    return FENCE.sub("", text)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def pages_with(language):
    return [
        pytest.param(page, id=name_of(page))
        for page in PAGES
        if any(fence.language == language for fence in fences(page.read_text("utf-8")))
    ]


@pytest.fixture
def stores(monkeypatch):
    """Close every store that an example leaves open."""
    opened = []
    init = MemoryStore.__init__

    def noted(self, *args, **options):
        init(self, *args, **options)
        opened.append(self)

    monkeypatch.setattr(MemoryStore, "__init__", noted)
    yield opened
    for store in opened:
        store.close()


@pytest.fixture
def quiet_afterwards():
    """Undo what an example sets for the whole process: the level of our logger."""
    logger = logging.getLogger("langchain_agentmemory")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.usefixtures("stores", "quiet_afterwards")
@pytest.mark.parametrize("page", pages_with("python"))
def test_examples_of_a_page_run_in_order_and_print_what_it_shows(
    page, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    for fence in fences(page.read_text("utf-8")):
        if fence.language != "python":
            continue
        printed = io.StringIO()
        # As many lines as there are above it, so that a traceback names the place.
        source = "\n" * fence.line + fence.code
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), module.__dict__)  # noqa: S102
        if fence.shown is not None:
            assert printed.getvalue() == fence.shown, f"{page}:{fence.line}"


def test_an_example_that_fails_is_found_out():
    page = "```python\n1 / 0\n```\n\n```python\nx\n```\n```text\n```"
    [first, second, _] = fences(page)
    assert (first.code, first.shown) == ("1 / 0\n", None)
    assert (second.code, second.shown) == ("x\n", "")


def calls(page):
    """Return every call of our program in a page, as lists of arguments."""
    text = page.read_text("utf-8")
    lines = [
        part
        for fence in fences(text)
        if fence.language == "bash"
        for line in fence.code.replace("\\\n", " ").splitlines()
        for part in re.split(r"&&|\|", line)
    ]
    lines += CODE_SPAN.findall(prose(text))
    found = []
    for line in lines:
        words = line.split(PROGRAM, 1)
        start = words[0].replace(".venv/bin/", "").strip()
        if len(words) == 2 and not start and words[1][:1] in {"", " "}:
            found.append(shlex.split(words[1], comments=True))
    return found


def parse(arguments):
    """Let the command line read the arguments, without doing anything."""
    command, context = typer.main.get_command(app), None
    name = PROGRAM
    while hasattr(command, "commands"):
        context = command.context_class(command, parent=context, info_name=name)
        name, *arguments = arguments
        if name not in command.commands:
            msg = f"no such command: {name}"
            raise UsageError(msg)
        command = command.commands[name]
    command.make_context(name, arguments, parent=context)


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name_of(page)) for page in PAGES if calls(page)]
)
def test_commands_in_a_page_exist_with_their_options(page):
    for arguments in calls(page):
        if arguments:
            parse(arguments)


@pytest.mark.parametrize(
    "arguments", [["remember"], ["chat", "--loud"], ["memories", "find", "x"]]
)
def test_a_command_that_does_not_exist_is_found_out(arguments):
    with pytest.raises(UsageError):
        parse(arguments)


def test_targets_of_make_exist():
    known = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    pages = [*PAGES, ROOT / "CONTRIBUTING.md"]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    named = set(re.findall(r"(?:`|^)make (\w+)", text, re.MULTILINE))
    assert named
    assert named <= set(known)


def test_urls_of_stores_can_be_read():
    pattern = re.compile(r"(?:sqlite|memory)://[^\s\"'`|,)，（]*")
    for page in PAGES:
        for url in pattern.findall(page.read_text("utf-8")):
            if "…" not in url:
                backend_from_url(url)


@pytest.mark.parametrize("page", [pytest.param(p, id=p.name) for p in READMES])
def test_links_of_a_readme_lead_to_files(page):
    for link in LINK.findall(prose(page.read_text("utf-8"))):
        if "://" not in link:
            assert (ROOT / link.split("#")[0]).is_file(), link


def test_both_readmes_have_the_same_content():
    english, chinese = (page.read_text("utf-8") for page in READMES)
    outlines = [HEADING.findall(prose(text)) for text in (english, chinese)]
    assert outlines[0] == outlines[1]
    languages = [[fence.language for fence in fences(t)] for t in (english, chinese)]
    assert languages[0] == languages[1]
    words = [set(CODE_SPAN.findall(prose(text))) for text in (english, chinese)]
    assert words[0] == words[1]


def test_architecture_names_every_room_and_every_column():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(CODE_SPAN.findall(prose(page)))
    package = ROOT / "langchain_agentmemory"
    rooms = {
        path.stem
        for path in package.iterdir()
        if not path.name.startswith("_") and (path.is_dir() or path.suffix == ".py")
    }
    assert rooms <= named
    assert set(COLUMNS) <= named
