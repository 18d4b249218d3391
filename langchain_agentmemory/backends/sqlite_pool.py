"""Connections to one SQLite file, kept and shared by threads, safe across a fork."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from langchain_agentmemory.errors import BackendUnavailable

Synchronous = Literal["NORMAL", "FULL"]

IDLE_CONNECTIONS: Final = 8
"""Connections kept open while nobody uses them."""


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

    def __init__(self, path: str, *, timeout: float, synchronous: Synchronous) -> None:
        """Remember the settings; nothing is opened yet."""
        self.path = path
        self.in_memory = path == ":memory:"
        self._timeout = timeout
        self._synchronous = synchronous
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._write_lock = threading.RLock()
        self._idle: list[sqlite3.Connection] = []

    def _after_fork(self) -> None:
        # A connection must not be used, nor closed, in a process that did not open
        # it: keep the inherited ones alive and unused.
        self._inherited = self._idle
        self._reset()

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
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection of a transaction: committed at the end, or undone."""
        with self._lock(), self._borrowed() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close all connections that nobody uses; the others when they come back."""
        with self._lock(closing=True):
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def _lock(self, *, closing: bool = False) -> threading.RLock:
        if self._pid != os.getpid():
            self._after_fork()
        if self._closed and not closing:
            msg = "The store is closed: open it again with MemoryStore.from_url."
            raise BackendUnavailable(msg)
        return self._write_lock

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        self._lock()
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
        connection = sqlite3.connect(
            self.path,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            # Reads the header: a file that is no database is found out here, before
            # anything could write to it.
            connection.execute("PRAGMA schema_version").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

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
            f"{path} is not a SQLite database. It was left untouched: choose another "
            f"file."
        )
    if "malformed" in text:
        return (
            f"{path} is damaged ({text}). Nothing was written: restore a backup, or "
            f"salvage it with the sqlite3 shell's .recover command."
        )
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be opened for writing ({text}): check its permissions."
    return f"SQLite refused ({path}): {text}. Nothing was written."
