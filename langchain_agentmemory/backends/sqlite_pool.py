"""Connections to one SQLite file, kept and shared by threads, safe across a fork."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, get_args

from langchain_agentmemory.errors import BackendUnavailable, InvalidInput
from langchain_agentmemory.quoting import quoted

Synchronous = Literal["NORMAL", "FULL"]

_HEADER: Final = b"SQLite format 3\x00"

IDLE_CONNECTIONS: Final = 8
"""Connections kept open while nobody uses them."""

_LONGEST_WAIT: Final = 1_000_000  # SQLite counts milliseconds in 31 bits

PAGE_BYTES: Final = 8192
"""Page size of a new file. Three records with vectors of 384 dimensions fill such a
page; one fills half of SQLite's usual 4,096 bytes. So a file is a third smaller, and
all records of a user are read with a quarter less CPU. A write costs the same."""

_LEAST_PATIENCE: Final = 1.0
"""Seconds that a fork waits for each store, whatever others have used up."""
FORK_PATIENCE: Final = 5.0
"""Seconds that a fork waits for connections in use to be given back."""


class SQLitePool:
    """Hand out connections: readers side by side, one writer at a time.

    A database in memory (`path=":memory:"`) lives in one connection, which everyone
    takes turns to use.

    Args:
        path: The file, or `":memory:"`.
        timeout: Seconds to wait while another process writes.
        synchronous: `"NORMAL"` survives the death of the process, `"FULL"` also a
            power failure.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        timeout: float,
        synchronous: Synchronous,
    ) -> None:
        """Remember the settings; nothing is opened yet.

        Raises:
            InvalidInput: If one of them cannot be used.
        """
        _check_settings(path, synchronous, timeout)
        self.path = os.fspath(path)
        self.in_memory = self.path == ":memory:"
        self._timeout = timeout
        self._synchronous = synchronous
        self._closed = False
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._write_lock = threading.RLock()
        self._gate = threading.Condition()
        self._lent = 0
        self._forking = self._write_lock_held = False
        self._idle: list[sqlite3.Connection] = []

    def before_fork(self, until: float) -> None:
        """Close what is open, and let nobody open anything until the fork is done.

        SQLite keeps its locks per process. A child that inherits a connection takes
        the parent's locks for its own: it would wait for ever for a write of the
        parent, and the parent would delete a log that the child still writes to.

        Args:
            until: How long to wait for connections in use, by `time.monotonic`.
        """
        left = max(until - time.monotonic(), _LEAST_PATIENCE)
        self._write_lock_held = self._write_lock.acquire(timeout=left)
        with self._gate:
            self._forking = True
            left = max(until - time.monotonic(), _LEAST_PATIENCE)
            self._gate.wait_for(lambda: self._lent == 0, left)
        while self._idle and not self.in_memory:
            self._idle.pop().close()

    def after_fork_in_parent(self) -> None:
        """Let connections be opened again."""
        with self._gate:
            self._forking = False
            self._gate.notify_all()
        if self._write_lock_held:
            self._write_lock_held = False
            self._write_lock.release()

    def after_fork_in_child(self) -> None:
        """Start over with locks that nobody holds; a database in memory is copied."""
        inherited = self._idle
        self._reset()
        if self.in_memory:
            self._idle = inherited
        else:
            # Neither used nor closed in a process that did not open them.
            self._inherited = inherited

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading."""
        if self.in_memory:
            with self._lock(), self._borrowed() as connection:
                yield connection
        else:
            with self._borrowed() as connection:
                yield connection

    @contextmanager
    def writing(self, *, patient: bool = True) -> Iterator[sqlite3.Connection]:
        """Lend the connection of a transaction: committed at the end, or undone.

        Args:
            patient: Whether to wait while another process writes.
        """
        with self._lock(), self._borrowed() as connection:
            if not patient:
                connection.execute("PRAGMA busy_timeout = 0")
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            finally:
                if not patient:
                    wait = int(self._timeout * 1000)
                    connection.execute(f"PRAGMA busy_timeout = {wait}")

    def close(self) -> None:
        """Close all connections that nobody uses; the others when they come back."""
        with self._lock(closing=True):
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def check_open(self) -> None:
        """Refuse to go on after `close`.

        Raises:
            BackendUnavailable: If the pool was closed.
        """
        if self._closed:
            msg = "The store is closed: open it again with MemoryStore.from_url."
            raise BackendUnavailable(msg)

    def _lock(self, *, closing: bool = False) -> threading.RLock:
        if self._pid != os.getpid():
            self.after_fork_in_child()
        if not closing:
            self.check_open()
        return self._write_lock

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        self._lock()
        with self._gate:
            if self._forking:
                self._gate.wait_for(lambda: not self._forking)
            self._lent += 1
        try:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            finally:
                self._give_back(connection)
        except sqlite3.Error as error:
            raise BackendUnavailable(
                explain(error, self.path, self._timeout)
            ) from error
        finally:
            with self._gate:
                self._lent -= 1
                if self._forking:
                    self._gate.notify_all()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._closed or (not self.in_memory and len(self._idle) >= IDLE_CONNECTIONS):
            connection.close()
        else:
            self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        folder = Path(self.path).parent
        if not self.in_memory and not folder.is_dir():
            msg = f"The folder {str(folder)!r} does not exist: create it first."
            raise BackendUnavailable(msg)
        if not self.in_memory:
            _make_private(self.path)
        connection = sqlite3.connect(
            self.path,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a new file
            # Reads the header: a file that is no database is found out here, before
            # anything could write to it.
            connection.execute("PRAGMA schema_version").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def check_header(self) -> None:
        """Refuse a file that is no database.

        SQLite finds that out by itself, except for files of a few bytes, which it
        takes for empty and overwrites.

        Raises:
            BackendUnavailable: If there is something else in the file.
        """
        path = Path(self.path)
        if self.in_memory or not path.is_file():
            return
        start = _start_of(path)
        if start and start != _HEADER:
            raise BackendUnavailable(
                explain(
                    sqlite3.DatabaseError("file is not a database"),
                    self.path,
                    self._timeout,
                )
            )

    def use_wal(self) -> None:
        """Switch the file to write-ahead logging, so that readers never wait."""
        if self.in_memory:
            return
        give_up = time.monotonic() + self._timeout
        while True:
            try:
                with self._borrowed() as connection:
                    connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except BackendUnavailable as error:
                # Two processes that open a new file at once collide here, and SQLite
                # does not wait in this statement.
                cause = error.__cause__
                if not is_busy(cause) or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)
            else:
                return


_pools: "weakref.WeakSet[SQLitePool]" = weakref.WeakSet()


def _before_fork() -> None:
    until = time.monotonic() + FORK_PATIENCE  # for all of them together
    for pool in list(_pools):
        pool.before_fork(until)


def _after_fork_in_parent() -> None:
    for pool in list(_pools):
        pool.after_fork_in_parent()


def _after_fork_in_child() -> None:
    for pool in list(_pools):
        pool.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )


def _make_private(path: str) -> None:
    """Make a file that does not exist, for its owner only: memories are personal.

    SQLite gives its log and index the same permissions. The permissions of a file that
    exists are the decision of whoever made it.
    """
    with suppress(OSError):  # it exists, or SQLite says what is wrong
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _start_of(path: Path) -> bytes:
    """Return the first bytes of a file, none if SQLite has to say what is wrong."""
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER))
    except OSError:
        return b""


def _check_settings(path: object, synchronous: object, timeout: object) -> None:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        msg = f"path must be the name of a file, or ':memory:', not {quoted(path)}."
        raise InvalidInput(msg)
    name = os.fspath(path)
    if not name or "\x00" in name:
        msg = f"{quoted(name)} cannot be the name of a file."
        raise InvalidInput(msg)
    if synchronous not in get_args(Synchronous):
        msg = f"synchronous is NORMAL or FULL, not {quoted(synchronous)}."
        raise InvalidInput(msg)
    if (
        isinstance(timeout, bool)
        or not isinstance(timeout, int | float)
        or not 0 <= timeout <= _LONGEST_WAIT
    ):
        msg = (
            f"timeout is a number of seconds from 0 to {_LONGEST_WAIT:,}, not "
            f"{quoted(timeout)}."
        )
        raise InvalidInput(msg)


def is_busy(error: BaseException | None) -> bool:
    """Tell whether an error means that another process holds the file."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def explain(error: sqlite3.Error, path: str, timeout: float) -> str:
    """Say what an engine error means and what to do about it."""
    text = str(error)
    if "locked" in text:
        return (
            f"{path} was locked by another process for more than {timeout:g} s. "
            f"Nothing was written: try again, or raise timeout=…."
        )
    if "disk is full" in text or "full" in text:
        return f"The disk under {path} is full. Nothing was written: free some space."
    if "not a database" in text:
        return (
            f"{path} begins like a SQLite database, but is damaged or encrypted. It "
            f"was left untouched: restore a backup."
            if _start_of(Path(path)) == _HEADER
            else f"{path} is not a SQLite database. It was left untouched: choose "
            f"another file."
        )
    if "malformed" in text:
        return (
            f"{path} is damaged ({text}). Nothing was written: restore a backup. "
            f"PRAGMA integrity_check in the sqlite3 shell says what is broken, its "
            f".recover command salvages what can still be read."
        )
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be opened for writing ({text}): check its permissions."
    return f"SQLite refused ({path}): {text}. Nothing was written."
