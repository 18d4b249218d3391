"""Options that several commands share, and how errors are reported."""

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, ParamSpec, TypeVar

import typer

from langchain_agentmemory.errors import InvalidInput

P = ParamSpec("P")
T = TypeVar("T")

User = Annotated[
    str,
    typer.Option("--user", "-u", help="Whose memory.", envvar="AGENTMEMORY_USER"),
]
App = Annotated[
    str,
    typer.Option("--app", help="The application that the user belongs to."),
]
Url = Annotated[
    str | None,
    typer.Option(
        help="Where memories live, e.g. sqlite:///file.db or memory://. Default: "
        "memories.db in your data folder (shown by `chat`).",
        envvar="AGENTMEMORY_URL",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="A model of any OpenAI-compatible endpoint (OPENAI_API_KEY, "
        "OPENAI_BASE_URL), or 'offline'.",
        envvar="AGENTMEMORY_MODEL",
    ),
]
Embeddings = Annotated[
    bool | None,
    typer.Option(
        "--embeddings/--no-embeddings",
        help="Search by meaning, too, with the local embedder. Default: if it is "
        "installed (extra `local`) and the store's vectors are not another one's.",
        envvar="AGENTMEMORY_EMBEDDINGS",
        show_default=False,
    ),
]


class PolicyName(StrEnum):
    """The policies that can be named."""

    MERGE_SIMILAR = "merge-similar"
    PRESERVE_HISTORY = "preserve-history"
    APPEND_ONLY = "append-only"


Policy = Annotated[
    PolicyName | None,
    typer.Option(
        "--policy",
        help="What happens to what is known already. Default: that of the extractor.",
    ),
]
AssistantEpisodes = Annotated[
    bool,
    typer.Option(
        "--assistant-episodes",
        help="Also remember useful answers (a second call of the model per turn).",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON Lines instead of a table.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]


class Mode(StrEnum):
    """What a search goes by: `SearchOptions.mode`."""

    AUTO = "auto"
    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"


class Lang(StrEnum):
    """The languages of the demo."""

    EN = "en"
    ZH = "zh"


Language = Annotated[Lang, typer.Option("--lang", help="Language of the script.")]


def reported(command: Callable[P, T]) -> Callable[P, T]:
    """Make a command end in one clear line instead of a traceback.

    It exits with 2 after input that cannot be used, with 1 after any other error, and
    with 130 when interrupted. The decorator gives the command the option `--debug`,
    with which the error is raised as it is.
    """
    signature = inspect.signature(command)
    takes_debug = "debug" in signature.parameters

    @functools.wraps(command)
    def guarded(*args: P.args, **options: P.kwargs) -> T:
        debug = options.get("debug") if takes_debug else options.pop("debug", False)
        try:
            return command(*args, **options)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:  # `… | head` has seen enough
            raise typer.Exit(0) from None
        except Exception as error:
            if debug:
                raise
            from langchain_agentmemory.cli.screen import show_error

            show_error(error)
            raise typer.Exit(2 if isinstance(error, InvalidInput) else 1) from None

    if not takes_debug:
        option = inspect.Parameter(
            "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug
        )
        extended = [*signature.parameters.values(), option]
        # What typer reads to build the command.
        guarded.__signature__ = signature.replace(parameters=extended)  # type: ignore[attr-defined]
        guarded.__annotations__ = {**command.__annotations__, "debug": Debug}
    return guarded
