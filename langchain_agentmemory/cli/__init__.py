"""The command line: `langchain-agentmemory`, also `python -m langchain_agentmemory`.

`chat` talks to an agent that remembers, `demo` proves recall across threads in a
minute, `memories` lists, finds, corrects, exports and imports, `worker` learns from the
turns that other processes have queued, `jobs` shows them. What it takes beyond the
package comes with the extra `cli`.
"""

import sys
from importlib.util import find_spec
from io import TextIOWrapper

_NEEDED = ("typer", "rich", "langchain")


def main() -> None:
    """Run the command line; exit with 0, 1 after an error, 2 after wrong usage."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"The command line needs {', '.join(missing)}: "
            f"pip install 'langchain-agentmemory[cli]'",
            file=sys.stderr,
        )
        sys.exit(1)
    from langchain_agentmemory.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without "→" gets a "?"
            stream.reconfigure(errors="replace")
    app()
