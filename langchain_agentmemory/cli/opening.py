"""Which store and which model a command works with."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.quoting import masked
from langchain_agentmemory.store import MemoryStore
from langchain_agentmemory.urls import backend_from_url

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

OFFLINE: Final = "offline"
DEFAULT_MODEL: Final = "gpt-4.1-mini"

_FOLDER: Final = "langchain-agentmemory"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model and what to tell about it.

    Attributes:
        model: The model.
        label: What it is, for the banner.
        offline: It is the rule-based one.
    """

    model: "BaseChatModel"
    label: str
    offline: bool


def data_folder() -> Path:
    """Return the folder of this package in the user's data folder.

    `$XDG_DATA_HOME` or `~/.local/share` on Linux, `~/Library/Application Support` on
    macOS, `%LOCALAPPDATA%` on Windows.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / _FOLDER


def default_url() -> str:
    """Return the URL of the SQLite file in the user's data folder, which is created.

    Only its owner may look into the folder.
    """
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        msg = (
            f"Cannot create the folder {folder} for memories ({error.strerror}): "
            f"choose another place with --url sqlite:///file.db."
        )
        raise InvalidInput(msg) from error
    return f"sqlite:///{folder / 'memories.db'}"


def missing_file(url: str | None) -> Path | None:
    """Return the file that a URL names if there is none; nothing is created.

    Args:
        url: The store, `None` = in the user's data folder.
    """
    file: Path | None = getattr(backend_from_url(url or default_url()), "file", None)
    return None if file is None or file.exists() else file


def open_store(
    url: str | None,
    app_name: str,
    *,
    create: bool = True,
    soft_delete: bool = True,
    **options: Any,
) -> MemoryStore:
    """Open the store that the options of a command name.

    It has no limit: the person who types is the one who decides what is too much. The
    agent may delete only where that can be undone.

    Args:
        url: Where it is, `None` = in the user's data folder.
        app_name: The application.
        create: Make the file that `url` names if there is none. That in the user's data
            folder is always made: nobody can have misspelt it.
        soft_delete: Keep what is deleted.
        options: What else the constructor of `MemoryStore` takes.

    Raises:
        BackendUnavailable: If there is no such file and none is to be made.
    """
    if url and not create and (missing := missing_file(url)):
        msg = (
            f"There is no file {missing}: is --url (or AGENTMEMORY_URL) right? Adding "
            f"or importing memories creates it."
        )
        raise BackendUnavailable(msg)
    return MemoryStore.from_url(
        url or default_url(),
        app_name=app_name,
        memory_limit=None,
        soft_delete=soft_delete,
        enabled_tools={"memory_load": True, "memory_delete": soft_delete},
        **options,
    )


def choose_model(name: str | None) -> ChosenModel:
    """Return the model for a command.

    A real one if an endpoint is configured (`OPENAI_API_KEY`, or `OPENAI_BASE_URL` for
    a server that takes no key), the offline one otherwise, or if asked for.

    Raises:
        InvalidInput: If what a real model needs is not installed.
    """
    key, server = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
    if name == OFFLINE or not (key or server):
        return _offline(name)
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        msg = (
            "Real models need langchain-openai: pip install "
            "'langchain-agentmemory[openai]', or use --model offline."
        )
        raise InvalidInput(msg) from error
    from pydantic import SecretStr

    chosen = name or os.environ.get("OPENAI_MODEL") or DEFAULT_MODEL
    model = ChatOpenAI(
        model=chosen, base_url=server, api_key=SecretStr(key or "no-key-needed")
    )
    where = f" at {masked(server)}" if server else ""
    return ChosenModel(model, f"{chosen}{where}", offline=False)


def _offline(asked: str | None) -> ChosenModel:
    from langchain_agentmemory.offline import OfflineChatModel

    label = "offline: simple rules, no language model, nothing leaves this machine"
    if asked not in {None, OFFLINE}:
        label += f" (for {asked} set OPENAI_API_KEY or OPENAI_BASE_URL)"
    elif asked is None:
        label += " (set OPENAI_API_KEY for a real one)"
    return ChosenModel(OfflineChatModel(), label, offline=True)
