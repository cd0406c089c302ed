"""A search index on disk: an SQLite file derived from other files, and never the only copy of anything.

A damaged, older or foreign file is thrown away and begun anew by whoever asks next; one that cannot be opened at all
(a read-only folder, a full disk) is kept in memory instead.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chatls_core.store.file_system import FILE_MODE, FOLDER_MODE

logger = logging.getLogger(__name__)

_BUSY_SECONDS = 5.0


class IndexFile:
    """See the module. Thread-safe: one thread at a time; several processes may use one file."""

    def __init__(self, path: Path | None, schema: Sequence[str], version: int) -> None:
        """``schema`` are the statements that make an empty index; ``version`` (not 0) is raised whenever what they mean
        changes. ``path`` ``None`` keeps the index in memory."""
        self._path = path
        self._schema = schema
        self._version = version
        self._guard = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The open database. Raises :class:`sqlite3.Error`; after damage the next use begins anew."""
        with self._guard:
            try:
                yield self._open()
            except sqlite3.DatabaseError as error:
                self._start_over(error)
                raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Like :meth:`reading`, in one transaction that is undone by an error."""
        with self._guard:
            try:
                connection = self._open()
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection
            except sqlite3.DatabaseError as error:
                self._start_over(error)
                raise

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if self._path is None:
            return self._prepared(":memory:")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            # SQLite would let everybody read it; its companion files take over the mode.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, FILE_MODE))
            return self._prepared(self._path)
        except (OSError, sqlite3.OperationalError) as error:
            logger.warning("The index %s cannot be used (%s); it is kept in memory", self._path, error)
            return self._prepared(":memory:")
        except sqlite3.DatabaseError as error:
            logger.warning("The index %s is damaged (%s); it is built again", self._path, error)
            _remove(self._path)
            return self._prepared(self._path)

    def _prepared(self, path: Path | str) -> sqlite3.Connection:
        """An open database with our schema; one of another version is emptied. Transactions are begun by hand."""
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            # What a person deletes does not stay in unused pages.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found != self._version:
                _empty(connection)
                for statement in self._schema:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {self._version}")
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _start_over(self, error: sqlite3.DatabaseError) -> None:
        """After an error that is no mere contention: close; a damaged file is thrown away, the next use builds anew."""
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return
        self.close()
        if self._path is not None and not isinstance(error, (sqlite3.OperationalError, sqlite3.ProgrammingError)):
            logger.warning("The index %s is damaged (%s); it is built again", self._path, error)
            _remove(self._path)


def _empty(connection: sqlite3.Connection) -> None:
    """Drop every table; a virtual table takes those that hold its data with it."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"
    ).fetchall()
    for (name,) in tables:
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
